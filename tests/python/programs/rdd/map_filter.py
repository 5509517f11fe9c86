"""Narrow steps in a chain, with closures and default slices."""
from pyspark import SparkContext

sc = SparkContext(appName="map and filter")
factor = 3
rdd = sc.parallelize(range(20)).map(lambda x: x * factor).filter(lambda x: x % 2 == 0).map(lambda x: (x, str(x)))
print(rdd.collect())
print(rdd.count(), rdd.getNumPartitions())
print(rdd.keys().sum(), rdd.values().map(len).max(), rdd.keys().min())
sc.stop()
