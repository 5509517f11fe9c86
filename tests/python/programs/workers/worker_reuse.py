"""Workers are reused by the next job; with reuse off they are not."""
import os
import time

from pyspark import SparkConf, SparkContext


def pids(sc):
    return set(sc.parallelize(range(4), 2).mapPartitions(lambda rows: [os.getpid(), time.sleep(0.5)][:1]).collect())


sc = SparkContext(appName="reuse")
first = pids(sc)
print(len(first), pids(sc) == first)
sc.stop()
sc = SparkContext(conf=SparkConf().setAppName("no reuse").set("spark.python.worker.reuse", "false"))
first = pids(sc)
print(len(first & pids(sc)))
sc.stop()
