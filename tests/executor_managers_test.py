#!/usr/bin/env python3
"""The conformance suite of executor managers: every case of executor_manager_cases.py on every manager of
executor_managers.py. The managers run in parallel, because they mostly wait. It prints a line for each case:

    tests/executor_managers_test.py [MANAGER[:CASE]...]
"""
import concurrent.futures
import os
import pathlib
import sys
import tempfile

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from executor_manager_cases import CASES, run_cases  # noqa: E402
from executor_managers import MANAGERS  # noqa: E402


def run_manager(kind, folder, names=()):
    """Returns {case: None or the traceback}."""
    folder = folder / kind.name
    (folder / "manager").mkdir(parents=True)
    with kind(folder / "manager") as manager:
        return run_cases(manager, folder, names)


def run_managers(wanted, folder):
    """Returns {(manager, case): None or the traceback}. @wanted is {manager: names of cases, empty for all}."""
    with concurrent.futures.ThreadPoolExecutor(len(MANAGERS)) as pool:
        runs = {kind.name: pool.submit(run_manager, kind, folder, wanted[kind.name]) for kind in MANAGERS if kind.name in wanted}
        return {(name, case): trace for name, run in runs.items() for case, trace in run.result().items()}


@pytest.fixture(scope="module")
def results(tmp_path_factory, request):
    """Runs only the selected cases."""
    wanted = {}
    for item in request.session.items:
        if item.module is request.module:
            wanted.setdefault(item.callspec.params["manager"], []).append(item.callspec.params["case"])
    return run_managers(wanted, tmp_path_factory.mktemp("managers"))


@pytest.mark.parametrize("case", [case.__name__ for case in CASES])
@pytest.mark.parametrize("manager", [manager.name for manager in MANAGERS])
def test_executor_manager(results, manager, case):
    trace = results[manager, case]
    if trace:
        pytest.fail(trace, pytrace=False)


def main(words):
    wanted = {}
    for manager, _, case in (word.partition(":") for word in words):
        wanted.setdefault(manager, []).extend([case] if case else [])
    with tempfile.TemporaryDirectory(prefix="executor-managers-") as folder:
        found = run_managers(wanted or {manager.name: [] for manager in MANAGERS}, pathlib.Path(folder))
    failed = sum(trace is not None for trace in found.values())
    print(f"{len(found)} cases, {failed} failures")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
