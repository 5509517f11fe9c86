"""Python programs on YARN in client mode, on the ResourceManager and NodeManagers of tests/yarn/fake_yarn.py.

Skipped if no interpreter has pyspark: FIRESTEEL_PYTHON, or python3.
"""
import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "yarn"))
from fake_yarn import FINAL_SUCCEEDED, FINISHED  # noqa: E402
from yarn_submit import cache, submit, yarn  # noqa: E402,F401

PYTHON = os.environ.get("FIRESTEEL_PYTHON", "python3")
FOUND = subprocess.run([PYTHON, "-c", "import os, py4j, pyspark, sys\nprint(os.path.realpath(sys.executable), pyspark.__path__[0], sep='\\n')"],
                       capture_output=True, text=True, check=False).stdout.splitlines()

pytestmark = pytest.mark.skipif(len(FOUND) != 2,
                                reason=f"{PYTHON} has no pyspark: set FIRESTEEL_PYTHON to an interpreter that has it")

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
    python = PYTHON if executors == "same" else FOUND[0]
    done = submit.run(*words_of_program(submit.folder), conf=(f"spark.pyspark.driver.python={PYTHON}", f"spark.pyspark.python={python}"))
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert f"found 1 2 3 words words inner {python} {FOUND[1]}" in lines, done.stdout
    assert sum(line.startswith("found") for line in lines) == 1
    assert "[('a', 1), ('b', 3), ('c', 1)]" in lines
    folders = next(line for line in lines if line.startswith("folders")).split()[1:-1]
    assert folders and all("container_" in folder for folder in folders)
    app = yarn.last()
    assert (app.state, app.final_status) == (FINISHED, FINAL_SUCCEEDED)
