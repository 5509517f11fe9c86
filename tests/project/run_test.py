"""tests/run, the program that adds up all ordinary tests."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys

from folders import TESTS

CASES = """
import pytest

def test_passes(): pass

def test_fails(): assert False

@pytest.mark.skipif(True, reason="this machine has no quantum computer")
@pytest.mark.parametrize("bits", [1, 2])
def test_needs_a_machine(bits): pass

def test_needs_a_right():
    pytest.skip("needs root")
"""


def load_run():
    path = os.path.join(TESTS, "run")
    loader = importlib.machinery.SourceFileLoader("tests_run", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tests_run", loader))
    write_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = write_bytecode
    return module


def test_skipped_cases_are_counted_by_reason(tmp_path, capsys):
    (tmp_path / "some_test.py").write_text(CASES)
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml", "out.xml", "some_test.py"],
                   cwd=tmp_path, stdout=subprocess.DEVNULL, check=False)
    tally = load_run().Tally()
    assert tally.junit(tmp_path / "out.xml", lambda case: case.get("name")) == ["test_fails"]
    assert (tally.passed, tally.failed, tally.skipped) == (1, 1, 3)
    tally.add_skipped("tests/other/other_test.py", None)
    tally.print_skipped()
    assert capsys.readouterr().out == (
        "4 skipped cases, by reason:\n"
        "     2  this machine has no quantum computer (test_needs_a_machine[1], …)\n"
        "     1  needs root (test_needs_a_right)\n"
        "     1  no reason given (tests/other/other_test.py)\n")
