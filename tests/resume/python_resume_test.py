"""Another driver goes on with a Python program whose driver was killed (docs/guide/resuming.md)."""
import os
import subprocess

import pytest

from full_number import FULL
from python.python_programs_test import BUILD, FOUND, environments, programs
from resume_test import BIN, PARTITIONS, Run

# Each task writes its phase and partition to DIR/runs; one of the phase GATE waits for DIR/go. Functions use a class, a set, an accumulator and a
# broadcast variable. A class of the program gets a random number in each run.
PROGRAM = """
import os, sys, time, uuid
from pyspark import SparkContext

folder, gate, capture = sys.argv[2], int(sys.argv[3]), sys.argv[4:]
sc = SparkContext(appName="resumed")
rows, more = sc.accumulator(0), sc.broadcast({"b": 2})
names = {"x", "y", "zz", "w"}
varies = uuid.uuid4().hex if capture else "same"


class Point:
    def __init__(self, x):
        self.x = x


def traced(phase):
    def trace(partition, part):
        with open(folder + "/runs", "a") as runs:
            runs.write(f"{phase}.{partition}\\n")
        while phase == gate and partition == 3 and not os.path.exists(folder + "/go"):
            time.sleep(0.002)
        for x in part:
            rows.add(1)
            assert varies not in names
            yield Point(x).x + more.value["b"]
    return sc.parallelize(range(80), 8).mapPartitionsWithIndex(trace)


print("count", traced(1).filter(lambda x: str(x) not in names).count())
print("sum", traced(2).sum())
print("keys", sorted(traced(3).map(lambda x: (x % 5, x)).reduceByKey(lambda a, b: a + b, 3).collect()))
traced(4).saveAsTextFile(folder + "/out")
print("rows", rows.value)
sc.stop()
"""
PRINTED = ("count 80\nsum 3320\nkeys [(0, 680), (1, 696), (2, 632), (3, 648), (4, 664)]\nrows 320\n")
pytestmark = pytest.mark.skipif(FOUND is None, reason=environments.MISSING)


class PythonRun(Run):
    def __init__(self, folder, monkeypatch, master, phase, arguments=()):
        (folder / "app.py").write_text(PROGRAM)
        super().__init__(folder, folder / "app.py", master, phase)
        self.command += arguments
        sides = programs.firesteel(FOUND[0], programs.home_of_build(BUILD, str(folder)), str(folder))
        for name, value in {**sides.environment, "PYSPARK_PYTHON": FOUND[0]}.items():
            monkeypatch.setenv(name, value)

    def check(self, number, resumed=None):
        printed = self.log(number)
        assert all(line in printed.splitlines() for line in PRINTED.splitlines()), printed
        parts = sorted(os.listdir(self.folder / "out"))
        assert parts == ["_SUCCESS", *[f"part-{i:05}" for i in range(PARTITIONS)]], parts
        lines = [line for part in parts for line in (self.folder / "out" / part).read_text().split()]
        assert lines == [str(x + 2) for x in range(80)]
        assert self.left() == []


@pytest.fixture
def run(tmp_path, monkeypatch):
    made = []

    def make(*args, **options):
        made.append(PythonRun(tmp_path, monkeypatch, *args, **options))
        return made[-1]
    yield make
    for one in made:
        one.end()


def kill_at_gate(app, phase, job):
    app.start()
    app.wait_at_gate(phase, job)
    app.processes[0].kill()
    app.processes[0].wait(timeout=120)
    app.open_gate()
    return app.ran()


in_full = pytest.mark.skipif(not FULL, reason="this is a part of make check-long")


@pytest.mark.parametrize("master, phase, job", [("local[2]", 2, 1), pytest.param("local-cluster[2,1,1024]", 4, 3, marks=in_full)])
def test_another_driver_goes_on(run, master, phase, job):
    app = run(master, phase)
    before = kill_at_gate(app, phase, job)
    assert app.resume().wait(timeout=120) == 0, app.log(1)
    app.check(1)
    again = app.ran()[len(before):]
    assert f"{phase}.3" in again
    assert not [task for task in again if task[0] < str(phase)], again
    assert {task for task in again if task[0] == str(phase)} == {f"{phase}.3"}


@in_full
def test_a_function_that_captures_a_random_number_runs_again(run):
    app = run("local[2]", 2, ["random"])
    kill_at_gate(app, 2, 1)
    assert app.resume().wait(timeout=120) == 0, app.log(1)
    app.check(1)
    assert "the operators, captured values or settings of job 0" in app.log(1)


@in_full
def test_python_that_started_its_driver_must_be_started_again(run):
    app = run("local[2]", 2)
    python = [FOUND[0], str(app.folder / "app.py"), *app.command[app.command.index(str(app.folder / "app.py")) + 1:]]
    words = app.command[1:app.command.index(str(app.folder / "app.py"))] + ["--conf", "spark.firesteel.resume.id=app-1"]
    environment = dict(os.environ, PYSPARK_SUBMIT_ARGS=" ".join(words + ["pyspark-shell"]), PYTHONHASHSEED="0")
    with open(app.folder / "log0", "w", encoding="utf-8") as log:
        first = subprocess.Popen(python, env=environment, stdout=log, stderr=log, cwd=app.folder, start_new_session=True)
    app.processes.append(first)
    app.wait_at_gate(2, 1)
    driver = int(subprocess.run(["pgrep", "-P", str(first.pid)], capture_output=True, text=True, check=True).stdout.split()[0])
    os.kill(driver, 9)
    assert first.wait(timeout=60) != 0
    before = app.ran()
    app.open_gate()
    refused = subprocess.run([f"{BIN}/firesteel", "resume", "--dir", str(app.journals), "app-1"], capture_output=True, text=True,
                             timeout=60, check=False)
    assert refused.returncode != 0
    assert "Python started the driver of app-1: run the Python program again with spark.firesteel.resume.id=app-1" in refused.stderr
    with open(app.folder / "log1", "w", encoding="utf-8") as log:
        assert subprocess.run(python, env=environment, stdout=log, stderr=log, cwd=app.folder, timeout=120, check=False).returncode == 0
    app.check(1)
    assert not [task for task in app.ran()[len(before):] if task[0] == "1"]
