"""Runs rounds of empty Python tasks on workers that are reused. Prints the rate of each round."""
import sys
import time

from pyspark import SparkContext

tasks, rounds = int(sys.argv[1]), int(sys.argv[2])
sc = SparkContext(appName="empty tasks")
rdd = sc.parallelize([], tasks).mapPartitions(lambda rows: rows)
for _ in range(rounds):
    start = time.monotonic()
    rdd.foreachPartition(lambda rows: None)
    print(f"rate: {tasks / (time.monotonic() - start):.1f} tasks/s")
sc.stop()
