"""Runs one of pyspark's own test modules, or the doctests of one of its modules, and prints a line for each test.

    PYTHON run_suite.py pyspark.tests.test_rdd [SKIPPED TEST...]      unittest
    PYTHON run_suite.py --doctests pyspark.core.rdd [SKIPPED TEST...]

Lines: `begin NAME` before a test, `result NAME ok|failed|skipped`, then for a failure its text on standard error.
check_suites starts this program on genuine Spark and on Firesteel.
"""
import doctest
import importlib
import os
import sys
import tempfile
import types
import unittest


def say(*words):
    print(*words, file=sys.__stdout__, flush=True)


class Result(unittest.TestResult):
    """Prints results as they come."""

    def __init__(self):
        super().__init__()
        self.outcome = None

    def startTest(self, test):
        super().startTest(test)
        self.outcome = "ok"
        say("begin", test.id())

    def stopTest(self, test):
        super().stopTest(test)
        if self.outcome == "failed" and not hasattr(type(test), "sc"):  # the next test makes a context of its own
            from pyspark import SparkContext
            if SparkContext._active_spark_context is not None:
                SparkContext._active_spark_context.stop()
        say("result", test.id(), self.outcome)

    def failed(self, test, error):
        self.outcome = "failed"
        print("FAILED", test.id(), "\n", self._exc_info_to_string(error, test), file=sys.stderr, flush=True)

    def addError(self, test, err):
        self.failed(test, err)
        if not isinstance(test, unittest.TestCase):  # a class that could not be set up
            say("result", test.id().replace(" ", "_"), "failed")

    def addFailure(self, test, err):
        self.failed(test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.failed(test, err)

    def addSkip(self, test, reason):
        self.outcome = "skipped"
        if not isinstance(test, unittest.TestCase):
            say("result", test.id().replace(" ", "_"), "skipped")

    def addExpectedFailure(self, test, err):
        pass


def without(suite, skipped):
    """A suite without some tests, whatever it is nested in."""
    parts = [without(t, skipped) if isinstance(t, unittest.TestSuite) else t for t in suite]
    return unittest.TestSuite(t for t in parts if isinstance(t, unittest.TestSuite) or t.id() not in skipped)


def run_doctests(name, skipped):
    """Runs each docstring of the module as one test, with `sc`, `spark.sparkContext` and `tempdir` as pyspark's own
    _test() functions give them: one context for all. A docstring that makes a context finds none."""
    from pyspark import SparkContext
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    for test in doctest.DocTestFinder(recurse=True).find(module):
        if not test.examples or test.name in skipped:
            continue
        say("begin", test.name)
        own = name.rsplit(".")[-1] == "conf" or any("SparkContext(" in e.source for e in test.examples)
        context = SparkContext._active_spark_context
        if own and context is not None:
            context.stop()
        context = None if own else context or SparkContext("local[4]", "PythonTest")
        with tempfile.TemporaryDirectory() as folder:
            if context is not None:
                context.setCheckpointDir(folder)
            test.globs.update(sc=context, spark=types.SimpleNamespace(sparkContext=context), tempdir=folder)
            failed = runner.run(test, out=sys.stderr.write, clear_globs=True).failed
        say("result", test.name, "failed" if failed else "ok")
        if failed and SparkContext._active_spark_context is not None:
            SparkContext._active_spark_context.stop()


def main():
    if sys.argv[1] == "--doctests":
        run_doctests(sys.argv[2], sys.argv[3:])
    else:
        without(unittest.defaultTestLoader.loadTestsFromName(sys.argv[1]), sys.argv[2:]).run(Result())
    sys.stderr.flush()
    os._exit(0)  # a test may leave threads behind


if __name__ == "__main__":
    main()
