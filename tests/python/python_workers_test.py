"""Workers of the genuine pyspark package, driven through the C interface (python_workers/frames.py).

Skipped if no interpreter has pyspark (python/environments.py).
"""
import glob
import os
import subprocess
import textwrap

import pytest

import environments
from folders import BUILD, TOP
from jobs.control_groups_test import group  # noqa: F401 (a fixture)

FOUND = environments.find(BUILD)
PYTHON = FOUND[0] if FOUND else None

pytestmark = pytest.mark.skipif(FOUND is None, reason=environments.MISSING)


@pytest.fixture
def run(tmp_path):
    """Runs a program and returns its output and its errors."""
    def run_program(text, **popen):
        program = tmp_path / "program.py"
        program.write_text("import os, sys, time\nfrom frames import *\n" + textwrap.dedent(text))
        environment = os.environ | {"FIRESTEEL_LIBRARY": glob.glob(f"{BUILD}/src/libfiresteel.so")[0],
                                    "PYTHONPATH": f"{TOP}/tests/python_workers"}
        ended = subprocess.run([PYTHON, str(program)], env=environment, cwd=tmp_path, capture_output=True, text=True,
                               timeout=240, check=False, **popen)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout, ended.stderr
    return run_program


@pytest.mark.parametrize("settings", [
    {}, {"spark.python.unix.domain.socket.enabled": "true"}, {"spark.python.use.daemon": "false"},
    {"spark.python.worker.reuse": "false"}, {"spark.io.encryption.enabled": "true"},
    {"spark.firesteel.task.isolation": "process"}], ids=lambda s: next(iter(s), "default"))
def test_computes_with_broadcast_variables(run, settings):
    printed, _ = run(f"""
        c = Context("local[2]", **{settings!r})
        first, second = c.broadcast(list(range(100000))), c.broadcast([1, 2])
        def use(index, rows):
            from pyspark.broadcast import _broadcastRegistry as known
            yield index, sum(rows), [(i, len(known[i].value)) for i in sorted(known)]
        rows = c.parallelize(range(10), 3)
        print(c.collect(c.map(rows, use)) == [(i, s, [(first, 100000), (second, 2)])
                                              for i, s in enumerate([3, 12, 30])])
        c.broadcasts.pop(0)
        print(c.collect(c.map(rows, use)) == [(i, s, [(second, 2)]) for i, s in enumerate([3, 12, 30])])
        c.stop()
    """)
    assert printed == "True\nTrue\n"


def test_executors_have_files_accumulators_and_barriers(run):
    printed, _ = run("""
        import pickle, zipfile
        with zipfile.ZipFile("packed.zip", "w") as file:
            file.writestr("packed_module.py", "X = 42")
        with open("plain_module.py", "w") as file:
            file.write("Y = 7")
        c = Context("local-cluster[2,1,1024]")
        c.add_file("packed.zip")
        c.add_file("plain_module.py")
        c.includes = ["packed.zip"]
        c.accumulate()
        def use(index, rows):
            from pyspark.accumulators import Accumulator, INT_ACCUMULATOR_PARAM, _accumulatorRegistry
            import packed_module, plain_module
            sum_of_rows = _accumulatorRegistry[5] = Accumulator(5, 0, INT_ACCUMULATOR_PARAM)
            for x in rows:
                sum_of_rows += x
            yield packed_module.X, plain_module.Y
        print(c.collect(c.map(c.parallelize(range(100), 4), use)))
        print(len(c.updates), sum(pickle.loads(update)[1] for task in c.updates for update in task))
        def meet(index, rows):
            from pyspark import BarrierTaskContext
            task = BarrierTaskContext.get()
            task.barrier()
            yield task.allGather(str(index)), len(task.getTaskInfos())
        print(c.collect(c.map(c.parallelize(range(2), 2), meet, barrier=True)))
        c.stop()
    """)
    assert printed == ("[(42, 7), (42, 7), (42, 7), (42, 7)]\n4 4950\n"
                       "[(['0', '1'], 2), (['0', '1'], 2)]\n")


@pytest.mark.parametrize("daemon", ["true", "false"])
def test_reports_what_ended_a_worker(run, daemon):
    printed, errors = run(f"""
        c = Context("local[2]", **{{"spark.python.worker.faulthandler.enabled": "true",
                                   "spark.python.use.daemon": "{daemon}",
                                   "spark.executor.pyspark.memory": "300m"}})
        rows = c.parallelize(range(2), 1)
        def raises(index, rows):
            raise ValueError("nö")
        def lacks(index, rows):
            import no_such_module
        def exhausts(index, rows):
            yield len(bytearray(600 << 20))
        def segfault(index, rows):
            import ctypes
            yield ctypes.string_at(0)
        def kills_daemon(index, rows):
            if "pyspark.daemon" in open(f"/proc/{{os.getppid()}}/cmdline").read():
                os.kill(os.getppid(), 9)
            return rows
        for function in raises, lacks, exhausts, segfault, kills_daemon, kills_daemon:
            print(function.__name__, c.collect(c.map(rows, function)), flush=True)
        c.stop()
    """)
    assert printed == ("raises -5\nlacks -5\nexhausts -5\nsegfault -5\nkills_daemon [0, 1]\nkills_daemon [0, 1]\n")
    for text in ("PythonException: Traceback (most recent call last):", "ValueError: nö", "MemoryError",
                 "No module named 'no_such_module'", "(crashed): Fatal Python error: Segmentation fault"):
        assert text in errors


@pytest.mark.parametrize("settings, reasons", [({"spark.executor.pyspark.memory": "250m"}, ["MemoryError"]),
                                               ({}, ["because memory is short", "exited unexpectedly (crashed)"])], ids=["limited", "unlimited"])
def test_memory_in_a_small_control_group(run, group, settings, reasons):  # noqa: F811
    """With spark.executor.pyspark.memory the worker gets an exception. Without, the executor ends it, or the kernel. The application goes on."""
    small = group(400)
    printed, errors = run(f"""
        c = Context("local[2]", **{settings!r})
        rows = c.parallelize(range(2), 1)
        print(c.collect(c.map(rows, lambda index, rows: [len(b"x" * (600 << 20))])))
        print(c.collect(c.map(rows, lambda index, rows: rows)))
        c.stop()
    """, preexec_fn=small.join)
    assert printed == "-5\n[0, 1]\n"
    assert any(reason in errors for reason in reasons)
    assert not settings or small.killed() == 0


def test_a_stopped_task_frees_its_core(run):
    printed, _ = run("""
        c = Context("local[2]", **{"spark.python.task.killTimeout": "100ms"})
        rows = c.parallelize(range(2), 2)
        def fails(index, rows):
            if index == 0:
                time.sleep(600)
            raise ValueError
        print(c.collect(c.map(rows, fails)), c.collect(c.map(rows, lambda index, rows: rows)))
        print(len(c.collect(c.map(c.parallelize(range(1000), 1000), lambda index, rows: rows))))
        c.stop()
    """)
    assert printed == "-5 [0, 1]\n1000\n"
