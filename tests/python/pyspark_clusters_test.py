"""Python programs on local-cluster and on a standalone cluster: environments in archives, files and modules for executors.

Skipped if no interpreter has pyspark (python/environments.py).
"""
import os
import subprocess
import sys
import textwrap
import zipfile

import pytest

from folders import BIN
import profile_program
from python_environment import MISSING, PYSPARK, PYTHON, REAL, pack
from standalone_cluster import Cluster


pytestmark = pytest.mark.skipif(not PYSPARK, reason=MISSING)

LOCAL_CLUSTER = "local-cluster[1,2,1024]"  # each executor imports pyspark

# What executors have, once for each of their processes.
LOOK = """
import os, sys
from pyspark import SparkContext
sc = SparkContext()
def look(x):
    import os, pyspark, sys
    return os.getppid(), sys.executable, os.path.dirname(pyspark.__file__), os.environ.get("MARK")
found = sorted({row[1:] for row in sc.parallelize(range(20), 20).map(look).collect()})
print("driver", sys.executable)
for row in found:
    print("executor", *row)
print(sc.parallelize(["a b", "b c b"], 2).flatMap(str.split).map(lambda w: (w, 1)).reduceByKey(lambda x, y: x + y).sortByKey().collect())
"""
WORDS = "[('a', 1), ('b', 3), ('c', 1)]"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A Spark home with our programs alone, and no java in PATH."""
    home = tmp_path_factory.mktemp("home")
    (home / "bin").mkdir()
    (home / "bin" / "spark-submit").symlink_to(f"{BIN}/spark-submit")
    names = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_", "JAVA_"))}
    return names | {"SPARK_HOME": str(home), "PATH": "/usr/bin:/bin"}


@pytest.fixture(scope="module", params=["local-cluster", "standalone"])
def master(request, tmp_path_factory):
    """The URL of the master."""
    if request.param == "local-cluster":
        yield LOCAL_CLUSTER
        return
    cluster = Cluster(tmp_path_factory.mktemp("standalone"))
    try:
        url = cluster.master().url
        cluster.worker(url)
        yield url
    finally:
        cluster.close()


@pytest.fixture
def submit(environment, master, tmp_path):
    def submit_program(text, *options, status=0, **changes):
        program = tmp_path / "program.py"
        program.write_text(textwrap.dedent(text))
        ended = subprocess.run([f"{environment['SPARK_HOME']}/bin/spark-submit", "--master", master, "--executor-memory", "512m",
                                *options, str(program)], env=environment | changes, cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=240, check=False)
        assert ended.returncode == status, ended.stdout + ended.stderr
        return ended.stdout or ended.stderr
    return submit_program


@pytest.fixture(scope="module")
def environment_archive(tmp_path_factory):
    return pack(tmp_path_factory.mktemp("environment") / "env.tar.gz")


def executors(printed):
    return [line.split()[1:] for line in printed.splitlines() if line.startswith("executor ")]


def test_executors_use_the_python_of_an_archive(submit, master, environment_archive):
    """The name of its Python is a variable on one cluster, a setting on the other one."""
    options, changes = ["--archives", f"{environment_archive}#env"], {}
    if master == LOCAL_CLUSTER:
        changes = {"PYSPARK_PYTHON": "./env/bin/python", "PYSPARK_DRIVER_PYTHON": PYTHON}
    else:
        options += ["--conf", "spark.pyspark.python=./env/bin/python", "--conf", f"spark.pyspark.driver.python={PYTHON}"]
    printed = submit(LOOK, *options, **changes)
    assert WORDS in printed.splitlines()
    assert "/env/bin/python" not in printed.splitlines()[0]
    found = executors(printed)
    assert found and all(python.endswith("/env/bin/python") and "/env/lib/" in pyspark for python, pyspark, _ in found), printed


def test_executors_without_pyspark_get_that_of_the_driver(submit):
    printed = submit(LOOK, "--conf", "spark.executorEnv.MARK=mark", PYSPARK_PYTHON=REAL, PYSPARK_DRIVER_PYTHON=PYTHON)
    assert WORDS in printed.splitlines()
    found = executors(printed)
    assert found and all(row[1:] == [f"{PYSPARK}/pyspark", "mark"] for row in found), printed


def test_executors_of_a_profile_have_its_size(submit, master):
    if master == LOCAL_CLUSTER:
        pytest.skip("tests/jobs/resource_profiles_test.py")
    settings = [word for setting in profile_program.SETTINGS for word in ("--conf", setting)]
    printed = submit(profile_program.program(cores=1), *settings, PYSPARK_PYTHON=PYTHON)
    assert printed.splitlines() == profile_program.output(cores=1)


def failure(printed):
    """The first line of the failure that tells about executors."""
    return next(line for line in printed.splitlines() if line.startswith(": org.apache.spark.SparkException"))


def test_missing_python_of_executors_is_told_in_one_line(submit):
    printed = submit(LOOK, status=1, PYSPARK_PYTHON="./env/bin/python", PYSPARK_DRIVER_PYTHON=PYTHON)
    assert ('Cannot run program "./env/bin/python": No such file or directory. Set spark.pyspark.python or PYSPARK_PYTHON to a '
            "Python that executors have, or send one: --archives env.tar.gz#env and ./env/bin/python") in failure(printed)


@pytest.fixture
def bare(tmp_path):
    """An executor's Python that finds neither pyspark nor the directories of the driver's."""
    python = tmp_path / "bare.py"
    python.write_text(f"""#!{sys.executable} -IS
import sys
code, sys.argv = sys.argv[2], ["-c", *sys.argv[3:5], "", *sys.argv[6:]]
exec(code)
""")
    python.chmod(0o700)
    return python


def test_executors_get_pyspark_from_the_driver(submit, bare):
    """Their Python has none, and the driver's directories are not on their machine."""
    printed = submit(LOOK, "--files", str(bare), PYSPARK_PYTHON="./bare.py", PYSPARK_DRIVER_PYTHON=PYTHON)
    found = executors(printed)
    assert found and all(row[1].endswith("/.pyspark.zip/pyspark") for row in found), printed


def test_executors_with_another_version_use_the_driver_s(submit, master, tmp_path):
    """Two tasks of one executor, so that the second one begins with what the first one found out. One cluster has a daemon."""
    daemon = "true" if master == LOCAL_CLUSTER else "false"
    other = tmp_path / "other" / "pyspark"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("raise RuntimeError('the pyspark of the executor')\n")
    (other / "version.py").write_text('__version__: str = "3.3.0"\n')
    printed = submit("""
        from pyspark import SparkContext
        def look(_):
            import pyspark
            return pyspark.__file__
        print(*SparkContext().parallelize(range(2), 2).map(look).collect())
        """, "--conf", f"spark.executorEnv.PYTHONPATH={other.parent}", "--conf", f"spark.python.use.daemon={daemon}",
                     "--conf", "spark.cores.max=1", PYSPARK_PYTHON=PYTHON)
    assert all(path.endswith("/.pyspark.zip/pyspark/__init__.py") for path in printed.split()) and len(printed.split()) == 2, printed


def test_python_without_pyspark_is_told_in_one_line(submit, tmp_path, bare):
    """The driver's pyspark has no archive: only pip installs one."""
    package = tmp_path / "path" / "pyspark"
    package.mkdir(parents=True)
    for entry in os.listdir(f"{PYSPARK}/pyspark"):
        if entry not in ("python", "__pycache__"):
            (package / entry).symlink_to(f"{PYSPARK}/pyspark/{entry}")
    printed = submit(LOOK, "--files", str(bare), status=1, PYSPARK_PYTHON="./bare.py", PYSPARK_DRIVER_PYTHON=PYTHON,
                     PYTHONPATH=str(package.parent))
    said = failure(printed)
    assert "/bare.py cannot import pyspark (ModuleNotFoundError: No module named 'pyspark')." in said
    assert "Install the driver's version of pyspark where executors run, or send it with --archives and set spark.pyspark.python" in said


def test_modules_reach_executors(submit, tmp_path):
    (tmp_path / "first.py").write_text("def number():\n    return 1\n")
    (tmp_path / "third.py").write_text("def number():\n    return 3\n")
    for name in ("second", "fourth"):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.writestr(f"{name}/__init__.py", f"def number():\n    return {2 if name == 'second' else 4}\n")
    printed = submit("""
        from pyspark import SparkContext
        import first, second
        sc = SparkContext()
        sc.addPyFile("third.py")
        sc.addPyFile("fourth.zip")
        import third, fourth
        def numbers(_):
            import first, second, third, fourth
            return [m.number() for m in (first, second, third, fourth)]
        print(sc.parallelize(range(2), 2).map(numbers).collect())
        """, "--py-files", f"{tmp_path}/first.py,{tmp_path}/second.zip", PYSPARK_PYTHON=PYTHON)
    assert printed.splitlines() == ["[[1, 2, 3, 4], [1, 2, 3, 4]]"]


def test_files_and_archives_reach_executors(submit, tmp_path):
    (tmp_path / "words.txt").write_text("käse", encoding="utf-8")
    (tmp_path / "late.txt").write_text("late")
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("inside.txt", "inside")
    printed = submit("""
        from pyspark import SparkContext, SparkFiles
        sc = SparkContext()
        sc.addFile("late.txt")
        def texts(_):
            return [open(SparkFiles.get(name), encoding="utf-8").read() for name in ("words.txt", "data/inside.txt", "late.txt")]
        print(sc.parallelize(range(2), 2).map(texts).collect())
        """, "--files", "words.txt", "--archives", "data.zip#data", PYSPARK_PYTHON=PYTHON)
    assert printed.splitlines() == ["[['käse', 'inside', 'late'], ['käse', 'inside', 'late']]"]


def test_standalone_cluster_mode_refuses_programs_in_python(submit, master):
    if master == LOCAL_CLUSTER:
        pytest.skip("local-cluster has no cluster mode")
    said = submit("raise SystemExit(0)", "--deploy-mode", "cluster", status=1)
    assert "Cluster deploy mode is currently not supported for python applications on standalone clusters." in said
