"""A part of check_node: programs in Python whose executors run in pods of an image with pyspark."""
import os
import subprocess
import sys

from cluster import TIMEOUT, expect

TAG = "firesteel-python:0.1.0"
PYTHON = os.environ.get("FIRESTEEL_PYTHON", "python3")

# Prints where tasks ran, and words counted after a shuffle.
PROGRAM = """import os, socket, sys
import helper
from pyspark import SparkContext
sc = SparkContext()
def place(x):
    return socket.gethostname(), sys.executable, helper.answer()
places = set(sc.parallelize(range(40), 20).map(place).collect())
print("places", sorted(host for host, _, _ in places))
print("answers", {answer for _, _, answer in places}, sys.argv[1:])
words = sc.parallelize(["to be", "or not to be"], 2).flatMap(str.split).map(lambda word: (word, 1))
print("words", words.reduceByKey(lambda a, b: a + b).sortByKey().collect(), flush=True)
if "fail" in sys.argv:
    sc.parallelize([1], 1).map(lambda x: x / 0).collect()
"""
WORDS = "words [('be', 2), ('not', 1), ('or', 1), ('to', 2)]"


def missing():
    """Why the part cannot run, or None."""
    done = subprocess.run([PYTHON, "-c", "import pyspark, py4j"], capture_output=True, check=False)
    return f"{PYTHON} has no pyspark: set FIRESTEEL_PYTHON to an interpreter that has it" if done.returncode else None


def build_image(check):
    program, helper = check.folder / "program.py", check.folder / "helper.py"
    program.write_text(PROGRAM)
    helper.write_text("def answer():\n    return 42\n")
    archive = check.folder / "python.tar"
    subprocess.run([check.build / "src" / "firesteel", "image", "build", "--tag", TAG, "--output", str(archive), f"--python={PYTHON}",
                    "--add", str(program), "--add", str(helper)], check=True, timeout=TIMEOUT)
    check.node.load(archive)
    archive.unlink()
    return program, helper


def run(check):
    reason = missing()
    if reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return
    program, helper = build_image(check)
    image = [f"spark.kubernetes.container.image={TAG}"]
    with check.namespace("python") as n:
        def cluster(*arguments, words=("--py-files", "local:///opt/app/helper.py")):
            done = n.submit("/opt/app/program.py", *arguments, conf=image, words=words)
            said = n.driver_log()
            n.forget()
            return done, said
        done, said = cluster("one", "two words")
        expect("a Python program runs in cluster mode", done.returncode == 0 and WORDS in said, done.stderr + said)
        expect("… its executors in pods, with --py-files", "answers {42} ['one', 'two words']" in said and "-exec-" in said, said)
        done, said = cluster("fail")
        expect("… its exception is in the driver's log, and its exit code the client's", done.returncode == 1 and
               "ZeroDivisionError: division by zero" in said and "ended with exit code 1" in done.stderr, done.stderr + said)
        done, said = cluster(words=("--py-files", "local:///opt/app/none.py"))
        expect("… a file that the image lacks is named", done.returncode == 1 and "/opt/app/none.py" in done.stderr + said, done.stderr + said)
        done = n.submit(str(program), "three", mode="client", words=["--py-files", str(helper)],
                        conf=[*image, f"spark.pyspark.driver.python={PYTHON}", "spark.pyspark.python=python3"])
        expect("it runs in client mode", done.returncode == 0 and WORDS in done.stdout, done.stdout + done.stderr)
        expect("… its executors in pods, with --py-files", "answers {42} ['three']" in done.stdout and
               "-exec-" in done.stdout and n.executors() == [], done.stdout + done.stderr)
