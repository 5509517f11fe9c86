"""All tests exist that docs/suites.md names for cases of Spark's suites."""
import glob
import os
import re
import sys

import pytest

from folders import TOP

NAMED = re.compile(r"`([a-z0-9_/]+(?:\.py)?) ([a-z0-9_]+)`")


def rows():
    """(suite, Spark's case, our tests), in order."""
    suite, found = None, []
    with open(os.path.join(TOP, "docs", "suites.md"), encoding="utf-8") as page:
        for line in page:
            if line.startswith("## "):
                suite = line[3:].strip()
            elif line.startswith("| ") and not line.startswith("| Spark"):
                spark, ours = (cell.strip() for cell in line.strip().strip("|").split(" | "))
                found.append((suite, spark, ours))
    return found


def unit_test(name):
    """The file of Meson's test ROOM/NOUN: in the room, in one of its sub-rooms, or in tests/ (api/NOUN)."""
    room, noun = name.split("/")
    found = glob.glob(os.path.join(TOP, "src", room, "**", noun + "_test.c"), recursive=True)
    found += glob.glob(os.path.join(TOP, "tests", room, noun + "_test.c"))
    return found[0] if len(found) == 1 else None


def is_there(place, name):
    if place.endswith(".py"):
        path, defined = os.path.join(TOP, "tests", place), rf"^def {name}\("
    else:
        # The compiler rejects cases in no list, because they are unused.
        path, defined = unit_test(place), rf"^static void {name}\(void \*\*state\)"
    if not path or not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        return re.search(defined, file.read(), re.MULTILINE) is not None


@pytest.mark.parametrize("suite", sorted({suite for suite, _, _ in rows()}))
def test_named_cases_are_there(suite):
    for _, spark, ours in (row for row in rows() if row[0] == suite):
        named = NAMED.findall(ours)
        assert named or ours.startswith("none: "), f"{spark}: {ours}"
        for place, name in named:
            assert is_there(place, name), f"{spark}: there is no {place} {name}"


def test_every_suite_has_its_cases():
    assert list(dict.fromkeys(suite for suite, _, _ in rows())) == [
        "RDDSuite", "PairRDDFunctionsSuite", "SortingSuite", "ShuffleSuite", "CheckpointSuite", "AccumulatorSuite",
        "ContextCleanerSuite", "MemoryManagerSuite", "BlockManagerSuite", "YarnAllocatorSuite", "ResourceRequestHelperSuite",
        "ApplicationMasterSuite", "ExecutorRunnableSuite", "ClientSuite", "ClientDistributedCacheManagerSuite",
        "YarnSparkHadoopUtilSuite", "YarnClusterSuite", "YarnShuffleServiceSuite", "MesosClusterSchedulerSuite",
        "MesosClusterManagerSuite", "MesosRestServerSuite", "MesosClusterDispatcherSuite",
        "MesosClusterDispatcherArgumentsSuite"]


def test_what_the_comparison_with_spark_submit_excuses_is_a_difference_that_is_told():
    """Detects a renamed row of docs/differences.md before `make check-spark` does."""
    sys.path.insert(1, os.path.join(TOP, "tests", "spark"))
    from submit import compare
    assert {subject for subject, *_ in compare.EXCUSED} == compare.excused_subjects()
