"""Python programs on genuine YARN in client mode: their executors are in containers."""
import os
import subprocess
import zipfile

import native

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


def check(build, yarn, client, folder, expect):
    found = subprocess.run([PYTHON, "-c", "import os, py4j, pyspark, sys\nprint(os.path.realpath(sys.executable))"],
                           capture_output=True, text=True, check=False)
    if found.returncode:
        print(f"skipped: {PYTHON} has no pyspark: set FIRESTEEL_PYTHON to an interpreter that has it")
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
                           "--conf", f"spark.pyspark.python={found.stdout.strip()}", "program.py")
    expect("a Python program runs in client mode, its executors with the driver's pyspark and its modules, files and archives",
           done.stdout + done.stderr, done.returncode == 0 and "found {(1, 2, 'words', 'inner', True)}" in done.stdout)
    lines = b"".join(yarn.read_folder("/python/out").values()).decode().split("\n")
    expect("… it reads and writes HDFS", lines, sorted(filter(None, lines)) == ["be 2", "not 1", "or 1", "to 2"])
    expect("… and has succeeded", done.stderr, client.call("wait", native.id_of(done)).startswith("FINISHED SUCCEEDED"))
