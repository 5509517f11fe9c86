"""Tasks that print to standard output and error disturb nothing."""
import os
import sys

from pyspark import SparkContext

sc = SparkContext(appName="printing tasks")


def noisy(x):
    print("a line of the task", x)
    sys.stdout.write("no newline")
    sys.stdout.flush()
    os.write(1, b"\x00\x00\x00\x05bytes")
    print("to standard error", file=sys.stderr)
    return x + 1


print(sc.parallelize(range(8), 4).map(noisy).collect())
print(sc.parallelize(range(8), 4).map(noisy).map(lambda x: (x % 2, x)).reduceByKey(max).collectAsMap() == {0: 8, 1: 7})
sc.stop()
