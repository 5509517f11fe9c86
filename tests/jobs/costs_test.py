"""No allocation and no lock for each row; few for each task, and fewer locks that move from thread to thread.

tests/costs/count_calls.c counts them in all processes. `FIRESTEEL_BIN=$PWD/build/src PYTHONPATH=tests python3
tests/jobs/costs_test.py` prints the costs of one row and of one task, on one cpu and on two.
"""
import os
import subprocess
import tempfile

import pytest

from folders import BIN, TESTS
from sanitizers import SANITIZED

NAMES = ("allocations of slots", "locks of slots", "other allocations", "other locks", "handovers of slots")

# Pages and batches of rows are made and locked; a page holds more than 10,000 of these rows.
ROW_LIMIT = 0.001
# Result tasks are reported in batches, and a driver with executors keeps the result of each. A map task reserves memory
# for its table and pages, and has an output that others find.
TASK_LIMITS = {"task": (0.1, 0.5, 1.5, 1, 0.2), "map_task": (5, 16, 1, 3, 2)}

pytestmark = pytest.mark.skipif(SANITIZED, reason="nothing can be loaded before the sanitizer")


def costs(folder, master, of, cpus=1):
    """The costs of one row or task, by the name of the job: five numbers, in the order of NAMES.

    On one cpu, where threads interleave in the same way however busy the others are.
    """
    library, counts = os.path.join(folder, "count_calls.so"), os.path.join(folder, "counts")
    os.mkdir(counts)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, f"{TESTS}/costs/count_calls.c", "-ldl"], check=True)
    done = subprocess.run(
        [os.path.join(BIN, "spark-submit"), "--master", master, "--conf", "spark.log.level=WARN",
         "--conf", "spark.ui.enabled=false", f"{TESTS}/costs/costs.c", of],
        env=os.environ | {"LD_PRELOAD": library, "COUNTED_CALLS": counts}, capture_output=True, text=True, timeout=120,
        preexec_fn=lambda: os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cpus]), check=False)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    return {words[0]: [float(word) for word in words[2:]] for words in lines}


def too_dear(seen, limits):
    return [f"{seen[i]} {NAMES[i]}, allowed are {limits[i]}" for i in range(5) if seen[i] > limits[i]]


def test_rows_neither_allocate_nor_lock(tmp_path):
    seen = costs(tmp_path, "local[1]", "rows")
    assert len(seen) == 5
    assert {name: too_dear(cost, [ROW_LIMIT] * 5) for name, cost in seen.items()} == {name: [] for name in seen}


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[1,2,1024]"])
def test_tasks_allocate_and_lock_little(tmp_path, master):
    seen = costs(tmp_path, master, "tasks")
    assert {name: too_dear(seen[name], limits) for name, limits in TASK_LIMITS.items()} == {name: [] for name in TASK_LIMITS}


def main():
    for master, of, cpus in (("local[1]", "rows", 1), ("local[2]", "tasks", 1), ("local[2]", "tasks", 2),
                             ("local-cluster[1,2,1024]", "tasks", 1), ("local-cluster[1,2,1024]", "tasks", 2)):
        with tempfile.TemporaryDirectory() as folder:
            print(f"{f'{master}, {cpus} cpus':24}{''.join(f'{name:>24}' for name in NAMES)}")
            for name, cost in costs(folder, master, of, cpus).items():
                print(f"  {name:22}{''.join(f'{number:24.4f}' for number in cost)}")


if __name__ == "__main__":
    main()
