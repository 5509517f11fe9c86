"""Python programs on genuine YARN: their executors are in containers, and in cluster mode their drivers, too."""
import os
import subprocess
import sys
import zipfile

import native

sys.path.append(os.path.join(native.TOP, "tests"))
from python_environment import pack  # noqa: E402

PYTHON = os.environ.get("FIRESTEEL_PYTHON", "python3")

PROGRAM = """import os
from pyspark import SparkContext
import first, second
sc = SparkContext()
def look(_):
    import first, pyspark, second
    with open("words.txt") as words, open("packed/inner.txt") as inner:
        return first.number(), second.number(), words.read(), inner.read(), "/container_" in os.getcwd()
print("found", set(sc.parallelize(range(8), 8).map(look).collect()))
words = sc.textFile("hdfs:///python/in").flatMap(str.split).map(lambda word: (word, 1))
words.reduceByKey(lambda a, b: a + b).map(lambda pair: "%s %d" % pair).saveAsTextFile("hdfs:///python/out")
"""

# Writes what its driver and its tasks have, and counts words.
CLUSTER_PROGRAM = """import os, sys
from pyspark import SparkContext
import first, pyspark, second
sc = SparkContext()
def look(who):
    import first, pyspark, second
    with open("words.txt") as words, open("packed/inner.txt") as inner:
        in_container = "/container_" in os.getcwd()
        environment = "env" if "/env/bin/" in sys.executable and "/env/lib/" in pyspark.__file__ else "zip" if ".zip/" in pyspark.__file__ else "own"
        return " ".join(map(str, (who, first.number(), second.number(), words.read(), inner.read(), in_container, environment)))
rows = [look("driver"), *set(sc.parallelize(range(8), 8).map(lambda _: look("task")).collect())]
sc.parallelize(rows, 1).saveAsTextFile(sys.argv[1] + "/rows")
words = sc.textFile("hdfs:///python/in").flatMap(str.split).map(lambda word: (word, 1))
words.reduceByKey(lambda a, b: a + b).map(lambda pair: "%s %d" % pair).saveAsTextFile(sys.argv[1] + "/words")
sys.exit(int(sys.argv[2]))
"""

CLIENT_PROGRAM = """import sys
from pyspark import SparkContext
print(set(SparkContext().parallelize(range(4), 4).map(lambda _: "/env/bin/" in sys.executable).collect()))
"""


def lines_of(yarn, path):
    return sorted(filter(None, b"".join(yarn.read_folder(path).values()).decode().split("\n")))


def check_cluster_mode(yarn, client, application, words, real, expect):
    """With the Python that a variable names, with one that has no pyspark, and with one of an archive."""
    with open(os.path.join(application.folder, "cluster.py"), "w", encoding="utf-8") as file:
        file.write(CLUSTER_PROGRAM)
    with open(os.path.join(application.folder, "client.py"), "w", encoding="utf-8") as file:
        file.write(CLIENT_PROGRAM)
    archives = f"packed.zip#packed,{pack(os.path.join(application.folder, 'env.tar.gz'))}#env"
    packed = [archives if word == "packed.zip#packed" else word for word in words]
    for name, options, variables, found in (
            ("own", (*words, "--conf", f"spark.yarn.appMasterEnv.PYSPARK_PYTHON={PYTHON}"), {}, "own"),
            ("brought", (*words, "--conf", f"spark.pyspark.python={real}"), {"PYSPARK_DRIVER_PYTHON": PYTHON}, "zip"),
            ("archive", (*packed, "--conf", "spark.pyspark.python=./env/bin/python"), {}, "env")):
        done = application.run("--deploy-mode", "cluster", *options, "cluster.py", f"hdfs:///python/{name}", "0", **variables)
        rows = lines_of(yarn, f"/python/{name}/rows") if done.returncode == 0 else []
        expect(f"a Python program runs in cluster mode with pyspark: {name}", done.stderr + str(rows),
               rows == [f"driver 1 2 words inner True {found}", f"task 1 2 words inner True {found}"])
        expect("… it reads and writes HDFS", done.stderr, rows and lines_of(yarn, f"/python/{name}/words") == ["be 2", "not 1", "or 1", "to 2"])
        expect("… and has succeeded", done.stderr, client.call("wait", native.id_of(done)).startswith("FINISHED SUCCEEDED"))
    done = application.run("--deploy-mode", "cluster", *words, "--conf", f"spark.pyspark.python={PYTHON}", "cluster.py", "hdfs:///python/status", "3")
    expect("… its exit status fails it", done.stderr, done.returncode == 1 and "User application exited with status 3" in done.stderr)
    done = application.run(*packed, "--conf", "spark.pyspark.python=./env/bin/python", "--conf", f"spark.pyspark.driver.python={PYTHON}", "client.py")
    expect("the environment of an archive serves executors in client mode", done.stdout + done.stderr, done.returncode == 0 and "{True}" in done.stdout)


def interpreter():
    """Returns the file behind the links of the Python with pyspark, and why there is none, or None."""
    found = subprocess.run([PYTHON, "-c", "import os, py4j, pyspark, sys\nprint(os.path.realpath(sys.executable))"],
                           capture_output=True, text=True, check=False)
    missing = f"{PYTHON} has no pyspark: set FIRESTEEL_PYTHON to an interpreter that has it"
    return found.stdout.strip(), missing if found.returncode else None


def check(build, yarn, client, folder, expect):
    real, missing = interpreter()
    if missing:
        print(f"skipped: {missing}")
        return
    application = native.Application(build, yarn, folder)
    for name, text in (("program.py", PROGRAM), ("first.py", "def number():\n    return 1\n"), ("words.txt", "words")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    for name, entry, text in (("second.zip", "second/__init__.py", "def number():\n    return 2\n"), ("packed.zip", "inner.txt", "inner")):
        with zipfile.ZipFile(os.path.join(folder, name), "w") as archive:
            archive.writestr(entry, text)
    yarn.write_file("/python/in/a.txt", b"to be or not\nto be\n")
    words = ("--py-files", "first.py,second.zip", "--files", "words.txt", "--archives", "packed.zip#packed")
    done = application.run(*words, "--conf", f"spark.pyspark.driver.python={PYTHON}",
                           "--conf", f"spark.pyspark.python={real}", "program.py")
    expect("a Python program runs in client mode, its executors with the driver's pyspark and its modules, files and archives",
           done.stdout + done.stderr, done.returncode == 0 and "found {(1, 2, 'words', 'inner', True)}" in done.stdout)
    lines = b"".join(yarn.read_folder("/python/out").values()).decode().split("\n")
    expect("… it reads and writes HDFS", lines, sorted(filter(None, lines)) == ["be 2", "not 1", "or 1", "to 2"])
    expect("… and has succeeded", done.stderr, client.call("wait", native.id_of(done)).startswith("FINISHED SUCCEEDED"))
    check_cluster_mode(yarn, client, application, words, real, expect)
