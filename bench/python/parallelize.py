"""Makes an RDD of ROWS rows of a mebibyte of the driver, and counts it. Prints the seconds of both, and the number of rows."""
import sys
import time

from pyspark import SparkContext

rows = [bytes(1 << 20) for _ in range(int(sys.argv[1]))]
sc = SparkContext(appName="parallelize")
sc.parallelize(range(2), 2).count()  # starts the workers
start = time.monotonic()
rdd = sc.parallelize(rows, 8)
counted = rdd.count()
print(f"job: {time.monotonic() - start:.3f}")
print(f"rows: {counted}")
sc.stop()
