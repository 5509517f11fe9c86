"""Contexts one after another in one process."""
from pyspark import SparkConf, SparkContext

for i in range(4):
    sc = SparkContext(conf=SparkConf().setAppName("context %d" % i).set("spark.default.parallelism", str(i + 1)))
    a = sc.accumulator(0)
    b = sc.broadcast(i)
    sc.parallelize(range(10)).foreach(lambda x: a.add(x + b.value))
    print(i, sc.defaultParallelism, sc.parallelize([1, 2, 3]).getNumPartitions(), a.value, sc.appName)
    sc.stop()
