"""Collects ROWS rows of a mebibyte that tasks make. Prints the seconds of the action and the number of bytes."""
import sys
import time

from pyspark import SparkContext

rows = int(sys.argv[1])
sc = SparkContext(appName="collect")
sc.parallelize(range(2), 2).count()  # starts the workers
start = time.monotonic()
found = sc.parallelize(range(rows), 8).map(lambda i: bytes(1 << 20)).collect()
print(f"job: {time.monotonic() - start:.3f}")
print(f"bytes: {sum(map(len, found))}")
sc.stop()
