"""A function above the threshold (1 MiB) travels as a broadcast."""
from pyspark import SparkContext

sc = SparkContext(appName="large function")
data = bytes(range(256)) * 16000
print(len(data), sc.parallelize([1, 2, 1000], 2).map(lambda i: data[i]).collect())
print(sc.parallelize(range(4), 2).map(lambda x: (x % 2, len(data))).reduceByKey(lambda a, b: a + b).collectAsMap() == {0: 2 * len(data), 1: 2 * len(data)})
sc.stop()
