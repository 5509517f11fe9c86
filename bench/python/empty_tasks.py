"""Runs rounds of empty Python tasks on workers that are reused. Prints the rate of each round.

A worker that has not read its input to the end is not used again, in genuine Spark neither: the function has to read its rows.
"""
import sys
import time

from pyspark import SparkContext

tasks, rounds = int(sys.argv[1]), int(sys.argv[2])
sc = SparkContext(appName="empty tasks")
rdd = sc.parallelize([], tasks)
for _ in range(rounds):
    start = time.monotonic()
    rdd.foreach(lambda row: None)
    print(f"rate: {tasks / (time.monotonic() - start):.1f} tasks/s", flush=True)
sc.stop()
