"""Python programs on YARN in client and cluster mode, on the ResourceManager and NodeManagers of tests/yarn/fake_yarn.py.

Skipped if no interpreter has pyspark (python/environments.py). yarn/python_driver_checks.py has more of them.
"""
import os
import subprocess
import zipfile

import pytest

from conditions import wait_until
from fake_yarn import FINAL_SUCCEEDED, FINISHED
from python_environment import MISSING, PYSPARK, PYTHON, REAL, pack
from yarn_submit import cache, submit, yarn  # noqa: F401

pytestmark = pytest.mark.skipif(not PYSPARK, reason=MISSING)

# Prints where tasks run, and what they find: modules, a file, an archive, the package of pyspark.
PROGRAM = """import os, sys
from pyspark import SparkContext, SparkFiles
import first, second
sc = SparkContext()
sc.addPyFile("third.py")
def look(_):
    import first, pyspark, second, third
    with open("words.txt") as words, open(SparkFiles.get("words.txt")) as same, open("packed/inner.txt") as inner:
        return (first.number(), second.number(), third.number(), words.read(), same.read(), inner.read(), sys.executable,
                pyspark.__path__[0], os.getcwd())
rows = sc.parallelize(range(8), 8).map(look).collect()
for row in sorted({row[:-1] for row in rows}):
    print("found", *row)
print("folders", *{row[-1] for row in rows}, sc.master)
print(sc.parallelize(["a b", "b c b"], 2).flatMap(str.split).map(lambda w: (w, 1)).reduceByKey(lambda x, y: x + y).sortByKey().collect())
"""


# In cluster mode the driver runs in a container, too, and finds all in its directory.
CLUSTER_PROGRAM = """import os, sys
from pyspark import SparkContext, SparkFiles
import first, pyspark, second
sc = SparkContext()
sc.addPyFile("third.py")
def look(_):
    import first, pyspark, second, third
    with open("words.txt") as words, open(SparkFiles.get("words.txt")) as same, open("packed/inner.txt") as inner:
        return (first.number(), second.number(), third.number(), words.read(), same.read(), inner.read(), sys.executable,
                pyspark.__path__[0], os.getcwd())
assert "__firesteel__" not in os.environ["LD_LIBRARY_PATH"] + sc.parallelize([0], 1).map(lambda _: os.environ["LD_LIBRARY_PATH"]).first()
with open("words.txt") as words, open("packed/inner.txt") as inner:
    print("driver", words.read(), inner.read(), sys.argv, sys.executable, pyspark.__path__[0], sc.master, "/container_" in os.getcwd())
rows = sc.parallelize(range(8), 8).map(look).collect()
for row in sorted({row[:-1] for row in rows}):
    print("found", *row)
print("folders", *{row[-1] for row in rows})
print(sc.parallelize(["a b", "b c b"], 2).flatMap(str.split).map(lambda w: (w, 1)).reduceByKey(lambda x, y: x + y).sortByKey().collect())
"""


def words_of_program(folder):
    (folder / "program.py").write_text(PROGRAM)
    (folder / "first.py").write_text("def number():\n    return 1\n")
    (folder / "third.py").write_text("def number():\n    return 3\n")
    (folder / "words.txt").write_text("words")
    for name, entry, text in (("second", "second/__init__.py", "def number():\n    return 2\n"), ("packed", "inner.txt", "inner")):
        with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
            archive.writestr(entry, text)
    return ("--py-files", "first.py,second.zip", "--files", "words.txt", "--archives", "packed.zip#packed", "program.py")


@pytest.mark.parametrize("executors", ["same", "bare"])
def test_client_mode(submit, yarn, executors):
    """Executors whose Python has no pyspark use the driver's."""
    python = PYTHON if executors == "same" else REAL
    done = submit.run(*words_of_program(submit.folder), conf=(f"spark.pyspark.driver.python={PYTHON}", f"spark.pyspark.python={python}"))
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert f"found 1 2 3 words words inner {python} {PYSPARK}/pyspark" in lines, done.stdout
    assert sum(line.startswith("found") for line in lines) == 1
    assert "[('a', 1), ('b', 3), ('c', 1)]" in lines
    folders = next(line for line in lines if line.startswith("folders")).split()[1:-1]
    assert folders and all("container_" in folder for folder in folders)
    app = yarn.last()
    assert (app.state, app.final_status) == (FINISHED, FINAL_SUCCEEDED)


def test_an_environment_in_an_archive(submit):
    """Executors find ./env/bin/python, as the directory of their container has it."""
    words = words_of_program(submit.folder)
    archives = f"packed.zip#packed,{pack(submit.folder / 'env.tar.gz')}#env"
    done = submit.run(*words[:-2], archives, words[-1], conf=(f"spark.pyspark.driver.python={PYTHON}", "spark.pyspark.python=./env/bin/python"))
    assert done.returncode == 0, done.stdout + done.stderr
    found = [line.split() for line in done.stdout.splitlines() if line.startswith("found")]
    assert found and all(row[1:7] == ["1", "2", "3", "words", "words", "inner"] for row in found)
    assert all(row[7].endswith("/env/bin/python") and "/env/lib/" in row[8] for row in found), done.stdout


# ------------------------------------------------------------------------------------------------------- cluster mode

def driver_printed(yarn):
    """What the driver of the last attempt printed."""
    app = yarn.last()
    return app.attempt.container.log("stdout") + app.attempt.container.log("stderr")


def failed_log(done, yarn):
    return done.stdout + done.stderr + (driver_printed(yarn) if yarn.submitted() else "")


def cluster_words(folder):
    words = words_of_program(folder)
    (folder / "program.py").write_text(CLUSTER_PROGRAM)
    return (*words[:-1], "--files", "words.txt,third.py", "program.py")


def check_cluster_mode(submit, yarn, how):
    """The driver and executors use the Python that a setting or variable names."""
    variables = {"setting": {}, "appMasterEnv": {}, "environment": {"PYSPARK_PYTHON": PYTHON}}[how]
    conf = {"setting": [f"spark.pyspark.python={PYTHON}"], "appMasterEnv": [f"spark.yarn.appMasterEnv.PYSPARK_PYTHON={PYTHON}"],
            "environment": []}[how]
    done = submit.run(*cluster_words(submit.folder), "a b", "'$c\"", cluster=True, conf=conf, **variables)
    assert done.returncode == 0, failed_log(done, yarn)
    lines = driver_printed(yarn).splitlines()
    assert f"driver words inner ['program.py', 'a b', '\\'$c\"'] {PYTHON} {PYSPARK}/pyspark yarn True" in lines, lines
    assert f"found 1 2 3 words words inner {PYTHON} {PYSPARK}/pyspark" in lines, lines
    assert sum(line.startswith("found") for line in lines) == 1
    assert "[('a', 1), ('b', 3), ('c', 1)]" in lines
    folders = next(line for line in lines if line.startswith("folders")).split()[1:]
    assert folders and all("container_" in folder for folder in folders)
    app = yarn.last()
    assert (app.state, app.final_status) == (FINISHED, FINAL_SUCCEEDED)


def test_cluster_mode(submit, yarn):
    check_cluster_mode(submit, yarn, "appMasterEnv")


def test_cluster_mode_brings_pyspark(submit, yarn):
    """A Python without pyspark gets that of the machine that submits."""
    done = submit.run(*cluster_words(submit.folder), cluster=True, conf=[f"spark.pyspark.python={REAL}"], PYSPARK_DRIVER_PYTHON=PYTHON)
    assert done.returncode == 0, failed_log(done, yarn)
    lines = driver_printed(yarn).splitlines()
    assert any(line.startswith("driver words inner") and ".zip/pyspark yarn" in line for line in lines), lines
    assert any(line.startswith(f"found 1 2 3 words words inner {REAL} ") and line.endswith("/pyspark") for line in lines), lines


def check_exit_status(submit, yarn, text, code, reason):
    (submit.folder / "ends.py").write_text(text)
    done = submit.run("ends.py", cluster=True, conf=[f"spark.pyspark.python={PYTHON}", "spark.yarn.maxAppAttempts=1"])
    assert done.returncode == 1
    assert reason in done.stderr, failed_log(done, yarn)
    container = yarn.last().attempt.container
    wait_until(lambda: container.is_complete, "the end of the container")
    assert container.status == code, failed_log(done, yarn)


def test_cluster_mode_s_exit_status(submit, yarn):
    check_exit_status(submit, yarn, "raise SystemExit(3)", 3, "User application exited with status 3")


def check_leaves_no_python(submit, yarn, how):
    """Python ends with its ApplicationMaster: killed, or without a context in time."""
    context = "from pyspark import SparkContext\nSparkContext()\n" if how == "killed" else ""
    (submit.folder / "sleeps.py").write_text(f"{context}import os, time\nwith open('{submit.folder}/pid.new', 'w') as f:\n    f.write(str(os.getpid()))\n"
                                             f"os.rename('{submit.folder}/pid.new', '{submit.folder}/pid')\nprint('counted', flush=True)\ntime.sleep(1000)\n")
    command = submit.command("sleeps.py", cluster=True, conf=[f"spark.pyspark.python={PYTHON}", "spark.yarn.maxAppAttempts=1",
                                                              "spark.yarn.am.waitTime=2s" if how == "late" else "spark.yarn.tags=x"])
    with subprocess.Popen(command, cwd=submit.folder, env=submit.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_until((submit.folder / "pid").exists, "Python's start")
        if how == "killed":
            yarn.last().attempt.container.kill()
        assert process.wait(120) == 1
    pid = int((submit.folder / "pid").read_text())
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "Python's end")
    container = yarn.last().attempt.container
    wait_until(lambda: container.is_complete, "the end of the container")
    assert container.status in ((13,) if how == "late" else (137, 143))


def test_cluster_mode_leaves_no_python(submit, yarn):
    check_leaves_no_python(submit, yarn, "late")


def test_cluster_mode_of_spark_s_libraries_runs_a_jvm(submit, yarn):
    """With an archive of Spark's jars on the cluster, Spark's ApplicationMaster runs the program."""
    (submit.folder / "program.py").write_text("pass\n")
    for name in ("jars.zip", "pyspark.zip", "py4j-0.zip"):
        with zipfile.ZipFile(submit.folder / name, "w") as archive:
            archive.writestr("x", "")
    done = submit.run("program.py", cluster=True, conf=[f"spark.yarn.archive=file:{submit.folder}/jars.zip", "spark.yarn.maxAppAttempts=1"],
                      PYSPARK_ARCHIVES_PATH=f"{submit.folder}/pyspark.zip,{submit.folder}/py4j-0.zip")
    assert done.returncode == 1
    command = yarn.last().attempt.container.context.command
    assert command[0].endswith("/bin/java") and "org.apache.spark.deploy.yarn.ApplicationMaster" in command, command
