"""Python programs on YARN in client mode, on the ResourceManager and NodeManagers of tests/yarn/fake_yarn.py.

Skipped if no interpreter has pyspark (python/environments.py).
"""
import pathlib
import sys
import zipfile

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "yarn"))
from python_environment import MISSING, PYSPARK, PYTHON, REAL, pack  # noqa: E402
from fake_yarn import FINAL_SUCCEEDED, FINISHED  # noqa: E402
from yarn_submit import cache, submit, yarn  # noqa: E402,F401

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
