#!/usr/bin/env python3
"""The conformance suite of executor managers: every case of executor_manager_cases.py on every manager of
executor_managers.py. The managers run in parallel, because they mostly wait. It prints a line for each case:

    tests/standalone/executor_managers_test.py [MANAGER[:CASE]...]
"""
import concurrent.futures
import os
import pathlib
import sys
import tempfile

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from executor_manager_cases import CASES, run_cases  # noqa: E402
from executor_managers import MANAGERS  # noqa: E402


def cases_of(kind):
    """The names of the cases that apply to a manager."""
    return [case.__name__ for case in CASES if kind.cases is None or case.__name__ in kind.cases]


class Results:
    """The cases of each manager in @wanted ({manager: names of cases, empty for all}), which run in the background."""

    def __init__(self, wanted, folder):
        self.pool = concurrent.futures.ThreadPoolExecutor(len(MANAGERS))
        self.futures = {(kind.name, case): concurrent.futures.Future() for kind in MANAGERS if kind.name in wanted
                        for case in cases_of(kind) if not wanted[kind.name] or case in wanted[kind.name]}
        self.runs = [self.pool.submit(self.run_manager, kind, folder / kind.name) for kind in MANAGERS if kind.name in wanted]

    def run_manager(self, kind, folder):
        mine = {case: future for (name, case), future in self.futures.items() if name == kind.name}
        try:
            (folder / "manager").mkdir(parents=True)
            with kind(folder / "manager") as manager:
                for case, future in mine.items():
                    future.set_result(run_cases(manager, folder, [case])[case])
        except BaseException as error:
            for future in mine.values():
                if not future.done():
                    future.set_exception(error)
            raise

    def trace(self, manager, case):
        """Waits for the case. Returns None or the traceback."""
        return self.futures[manager, case].result()

    def close(self):
        """Waits for all. Raises what ended a manager."""
        self.pool.shutdown()
        for run in self.runs:
            run.result()


@pytest.fixture(scope="module")
def results(tmp_path_factory, request):
    """Runs only the selected cases."""
    wanted = {}
    for item in request.session.items:
        if item.module is request.module:
            wanted.setdefault(item.callspec.params["manager"], []).append(item.callspec.params["case"])
    made = Results(wanted, tmp_path_factory.mktemp("managers"))
    yield made
    made.close()


@pytest.mark.parametrize("manager, case", [(kind.name, case) for kind in MANAGERS for case in cases_of(kind)])
def test_executor_manager(results, manager, case):
    trace = results.trace(manager, case)
    if trace:
        pytest.fail(trace, pytrace=False)


def main(words):
    wanted = {}
    for manager, _, case in (word.partition(":") for word in words):
        wanted.setdefault(manager, []).extend([case] if case else [])
    with tempfile.TemporaryDirectory(prefix="executor-managers-") as folder:
        results = Results(wanted or {manager.name: [] for manager in MANAGERS}, pathlib.Path(folder))
        results.close()
    failed = sum(results.trace(*name) is not None for name in results.futures)
    print(f"{len(results.futures)} cases, {failed} failures")
    return 1 if failed or not results.futures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
