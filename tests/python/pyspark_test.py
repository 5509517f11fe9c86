"""Python programs with the genuine pyspark package, which runs without a JVM here.

Skipped if no interpreter has pyspark (python/environments.py).
"""
import os
import signal
import subprocess
import textwrap

import pytest

from conditions import wait_until
import environments
from folders import BIN, BUILD

FOUND = environments.find(BUILD)
PYTHON = FOUND[0] if FOUND else None

pytestmark = pytest.mark.skipif(FOUND is None, reason=environments.MISSING)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A Spark home with our spark-submit alone, and no java in PATH."""
    home = tmp_path_factory.mktemp("home")
    (home / "bin").mkdir()
    for name in ("spark-submit", "pyspark"):
        (home / "bin" / name).symlink_to(f"{BIN}/{name}")
    names = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_", "JAVA_"))}
    return names | {"SPARK_HOME": str(home), "PYSPARK_PYTHON": PYTHON, "PATH": "/usr/bin:/bin"}


@pytest.fixture
def run(environment, tmp_path):
    """Runs a program in one of the two ways to start, and returns what it printed."""
    def run_program(text, *arguments, submit=False, status=0, options=(), **changes):
        program = tmp_path / "program.py"
        program.write_text(textwrap.dedent(text))
        words = [PYTHON]
        if submit:
            words = [f"{environment['SPARK_HOME']}/bin/spark-submit", *options]
        ended = subprocess.run([*words, str(program), *arguments], env=environment | changes, cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=240, check=False)
        assert ended.returncode == status, ended.stdout + ended.stderr
        return ended.stdout
    return run_program


START = """
import sys
from pyspark import SparkContext
sc = SparkContext("local[2]", "test")
"""


@pytest.mark.parametrize("submit", [False, True], ids=["python", "spark-submit"])
def test_program_computes_with_functions_of_python(run, submit):
    printed = run(START + """
numbers = sc.parallelize(range(1, 101), 4)
print(numbers.map(lambda x: x * x).filter(lambda x: x % 2 == 0).sum())
words = sc.parallelize(["a b", "b c b"], 2).flatMap(str.split).map(lambda w: (w, 1)).reduceByKey(lambda x, y: x + y)
print(sorted(words.collect()), words.getNumPartitions())
print(numbers.take(3), numbers.first(), list(numbers.toLocalIterator())[-1], sys.argv[1:])
sc.stop()
""", "one", "two words", submit=submit)
    assert printed.splitlines() == ["171700", "[('a', 1), ('b', 3), ('c', 1)] 2",
                                    "[1, 2, 3] 1 100 ['one', 'two words']"]


def test_broadcast_accumulator_and_local_properties(run):
    printed = run(START + """
import threading
table = sc.broadcast({1: "one", 2: "two"})
seen = sc.accumulator(0)
def look(x):
    seen.add(1)
    return table.value.get(x)
print(sc.parallelize([1, 2, 3], 3).map(look).collect(), seen.value)
sc.setLocalProperty("mine", "main")
def other():
    print(sc.getLocalProperty("mine"))
thread = threading.Thread(target=other)
thread.start()
thread.join()
print(sc.getLocalProperty("mine"))
""")
    assert printed.splitlines() == ["['one', 'two', None] 3", "None", "main"]


def test_files_are_read_and_written(run, tmp_path):
    (tmp_path / "in.txt").write_text("käse\n\nbrot\n", encoding="utf-8")
    printed = run(START + """
lines = sc.textFile("in.txt")
print(lines.collect())
lines.map(str.upper).saveAsTextFile("out")
print(sorted(sc.textFile("out").collect()))
print([(path.rsplit("/", 1)[1], text) for path, text in sc.wholeTextFiles("in.txt").collect()])
""")
    assert printed.splitlines() == ["['käse', '', 'brot']", "['', 'BROT', 'KÄSE']",
                                    "[('in.txt', 'käse\\n\\nbrot\\n')]"]


def test_storage_levels_are_those_that_were_asked_for(run):
    printed = run(START.replace("import SparkContext", "import SparkContext, StorageLevel") + """
for level in (StorageLevel.MEMORY_AND_DISK_DESER, StorageLevel(False, True, False, True, 2), StorageLevel.MEMORY_AND_DISK):
    rows = sc.parallelize(range(6), 2).map(str).persist(level)
    print(rows.count(), rows.collect() == list("012345"), rows.getStorageLevel())
rows = sc.parallelize(range(6), 2).map(str)
rows.localCheckpoint()
print(rows.count(), rows.getStorageLevel())
""")
    assert printed.splitlines() == ["6 True Disk Memory Deserialized 1x Replicated", "6 True Memory Deserialized 2x Replicated",
                                    "6 True Disk Memory Serialized 1x Replicated", "6 Disk Memory Deserialized 1x Replicated"]


def test_failures_are_exceptions_that_name_the_cause(run):
    printed = run(START + """
def attempt(action):
    try:
        action()
    except Exception as error:
        return type(error).__name__ + ": " + str(error)
def fail(x):
    raise ValueError("no such käse")
text = attempt(lambda: sc.parallelize([1], 1).map(fail).collect())
print("Py4JJavaError" in text, "PythonException" in text, "ValueError: no such käse" in text)
print("Input path does not exist: file:/no/such" in attempt(lambda: sc.textFile("/no/such").count()))
print("Firesteel has no Hadoop input" in attempt(lambda: sc.sequenceFile("/x")))
print("Firesteel has no SQL" in attempt(lambda: __import__("pyspark.sql").sql.SparkSession.builder.getOrCreate()))
print("does not exist" in attempt(lambda: sc._jsc.noSuchMethod(1)))
print("NullPointerException" in attempt(lambda: sc._jvm.java.lang.String(None)), sc._jvm.java.lang.String("text"))
sc._jvm.java.lang.System.gc()
print(str(sc.emptyRDD()).split("[")[0], sc.parallelize([1, 2, 3, 4], 2)._jrdd.count())
print(sc.parallelize([1, 2]).count())
""")
    assert printed.splitlines() == ["True True True", "True", "True", "True", "True", "True text", "EmptyRDD 2", "2"]


def test_updates_that_the_driver_does_not_take_fail_their_job(run):
    printed = run("""
import os, sys, threading
from pyspark import SparkConf, SparkContext
from pyspark.accumulators import AccumulatorParam

conf = SparkConf().setMaster("local[2]").setAppName("test")
conf.set("spark.network.timeout", "1s").set("spark.executor.heartbeatInterval", "500ms")
sc = SparkContext(conf=conf)
driver, go_on = os.getpid(), threading.Event()

class Refuses(AccumulatorParam):
    def zero(self, value):
        return 0
    def addInPlace(self, one, other):
        if os.getpid() == driver and other == 13:
            raise ValueError("thirteen")
        if os.getpid() == driver and other == 14:
            sys.modules["__main__"].go_on.wait()
        return one + other

sum = sc.accumulator(0, Refuses())

def fails(x):
    try:
        sc.parallelize([x], 1).foreach(lambda x: sum.add(x))
        return "nothing"
    except Exception as e:
        return str(e)

print("EOF reached before Python server acknowledged" in fails(13))
print(fails(2), sum.value)
print("did not acknowledge the updates of a task within 1 s" in fails(14))
go_on.set()
print(fails(3), sum.value)
sc.stop()
""")
    assert printed.splitlines() == ["True", "nothing 2", "True", "nothing 19"]


def test_signal_to_the_shell_reaches_its_interpreter(tmp_path):
    program = tmp_path / "interpreter"
    program.write_text("#!/bin/sh\ntrap 'echo ended; exit 9' TERM\necho started\nfor i in $(seq 600); do sleep 0.1; done\n")
    program.chmod(0o755)
    with subprocess.Popen([f"{BIN}/pyspark"], env=dict(os.environ, PYSPARK_DRIVER_PYTHON=str(program)), stdout=subprocess.PIPE,
                          text=True) as shell:
        assert shell.stdout.readline() == "started\n"
        shell.terminate()
        assert shell.stdout.read() == "ended\n"
    assert shell.returncode == 9


def test_exit_status_of_program_is_that_of_spark_submit(run):
    assert run("import sys\nprint('bye')\nsys.exit(7)", submit=True, status=7) == "bye\n"
    printed = run(START + "raise ValueError('unhandled')", submit=True, status=1)
    assert "ValueError: unhandled" in printed  # Spark copies both streams to standard output


def test_options_of_spark_submit_reach_the_context(run, tmp_path):
    (tmp_path / "helper.py").write_text("def answer():\n    return 42\n")
    printed = run("""
from pyspark import SparkContext
import helper
sc = SparkContext()
print(sc.master, sc.appName, sc.getConf().get("spark.my.key"), helper.answer())
print(sc.parallelize([1], 1).map(lambda x: helper.answer() + x).collect())
""", submit=True, options=["--master", "local[1]", "--name", "given", "--conf", "spark.my.key=v",
                           "--py-files", str(tmp_path / "helper.py")])
    assert printed.splitlines() == ["local[1] given v 42", "[43]"]


def test_interrupt_cancels_the_job_and_keeps_the_program(environment, tmp_path):
    program = tmp_path / "program.py"
    # The signal handler of pyspark 3.5 reads an answer while the interrupted call reads one, which Python refuses: the job
    # is cancelled, but the program gets an error of Py4J.
    program.write_text(START + """
import pathlib, time
from py4j.protocol import Py4JError
began = sys.argv[1]
def wait(x):
    pathlib.Path(began).touch()
    time.sleep(600)
try:
    sc.parallelize([1], 1).foreach(wait)
except (KeyboardInterrupt, Py4JError):
    print("interrupted")
print(sc.parallelize([1, 2, 3], 1).count())
""")
    began = tmp_path / "began"
    with subprocess.Popen([PYTHON, str(program), str(began)], env=environment, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(began.exists, "the task began")
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=120)[0].splitlines() == ["interrupted", "3"]
        finally:
            process.kill()


def test_executors_null_strings_and_groups_cancelled_for_good(run):
    printed = run(START + """
from pyspark.rdd import RDD
from pyspark.serializers import UTF8Deserializer
print(RDD(sc._jvm.PythonUtils.generateRDDWithNull(sc._jsc), sc, UTF8Deserializer()).collect())
info, = sc._jsc.statusTracker().getExecutorInfos()
print(bool(info.host()), info.port() > 0, info.numRunningTasks(), info.totalOnHeapStorageMemory() > 0)
sc.setJobGroup("gone", "")
sc._jsc.sc().cancelJobGroupAndFutureJobs("gone")
try:
    sc.parallelize([1]).count()
except Exception as e:
    print("cancelled part of cancelled job group gone" in str(e))
sc.setJobGroup("other", "")
print(sc.parallelize([1]).count())
""")
    assert printed.splitlines() == ["['a', None, 'b']", "True True 0 True", "True", "1"]


def test_executors_end_quietly_with_a_program_that_does_not_stop(environment, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(START.replace("local[2]", "local-cluster[1,1,1024]") + "print(sc.parallelize([1, 2], 1).count())\n")
    ended = subprocess.run([PYTHON, str(program)], env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True, timeout=240, check=False)
    assert ended.stdout == "2\n" and "Driver commanded a shutdown" in ended.stderr, ended.stderr
    assert "disassociated" not in ended.stderr


def test_engine_ends_when_python_is_killed(environment, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(START + """
import time
print(sc._gateway.proc.pid, flush=True)
time.sleep(600)
""")
    with subprocess.Popen([PYTHON, str(program)], env=environment, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL) as process:
        engine = int(process.stdout.readline())
        process.kill()
        wait_until(lambda: not os.path.exists(f"/proc/{engine}") or open(f"/proc/{engine}/stat").read().split()[2] == "Z",
                   "the engine ended")


def test_shell_has_a_context(environment, tmp_path):
    shell = subprocess.run([f"{environment['SPARK_HOME']}/bin/pyspark", "--master", "local[1]", "--conf", "spark.my.key=two words"],
                           input="print('sum', sc.parallelize([1, 2, 3]).sum(), sc.getConf().get('spark.my.key'))\n",
                           env=environment | {"PYSPARK_DRIVER_PYTHON_OPTS": "-i"}, cwd=tmp_path, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=240, check=False)
    assert "Spark context available as 'sc' (master = local[1]" in shell.stdout, shell.stdout + shell.stderr
    assert "sum 6 two words" in shell.stdout, shell.stdout + shell.stderr


def test_encryption_leaves_no_data_of_python_in_files(run):
    printed = run(START.replace('"test")', '"test", conf=SparkConf().set("spark.io.encryption.enabled", "true"))')
                  .replace("import SparkContext", "import SparkConf, SparkContext") + """
shared = sc.broadcast(["a", "b"])
print(sc.parallelize([0, 1, None], 2).map(lambda i: shared.value[i or 0]).collect(), shared.value)
""")
    assert printed == "['a', 'b', 'a'] ['a', 'b']\n"


def test_context_has_the_configuration_that_python_changes_later(run):
    printed = run(START + """
sc._conf.set("spark.my.key", "later")
print(sc._jsc.sc().conf().get("spark.my.key"), sc.getConf().get("spark.my.key"))
level = sc._jvm.org.apache.log4j.Level.ERROR
sc._jvm.org.apache.log4j.LogManager.getRootLogger().setLevel(level)
print(sc._jvm.org.apache.log4j.LogManager.getRootLogger().getLevel().toString())
shared = sc.broadcast(1)
shared.destroy()
try:
    sc.parallelize([1], 1).map(lambda x: shared.value).collect()
except Exception as error:
    print("destroyed" in str(error))
""")
    assert printed.splitlines() == ["later later", "ERROR", "True"]


def test_added_directory_has_its_name_on_executors(run, tmp_path):
    (tmp_path / "table" / "deep").mkdir(parents=True)
    (tmp_path / "table" / "deep" / "x.txt").write_text("7")
    printed = run(START + """
import os
from pyspark import SparkFiles
sc.addFile(sys.argv[1], recursive=True)
print(sc.parallelize([1], 1).map(lambda x: open(os.path.join(SparkFiles.get("table"), "deep", "x.txt")).read()).collect())
print([os.path.basename(name) for name in sc.listFiles], sc.listArchives)
try:
    sc.addFile(sys.argv[1])
except Exception as error:
    print("is a directory" in str(error))
""", str(tmp_path / "table"))
    assert printed.splitlines() == ["['7']", "['table'] []", "True"]
