"""Twelve jobs from a pool of six threads."""
from concurrent.futures import ThreadPoolExecutor

from pyspark import SparkContext

sc = SparkContext(appName="thread pool")


def job(i):
    rdd = sc.parallelize(range(100), 4).map(lambda x: (x % (i + 1), x))
    return i, rdd.reduceByKey(lambda a, b: a + b).count(), rdd.values().sum()


with ThreadPoolExecutor(6) as pool:
    print(list(pool.map(job, range(12))))
sc.stop()
