"""A cached partition is computed once, also below a shuffle and after take."""
from pyspark import SparkContext

sc = SparkContext(appName="computed once")
n = sc.accumulator(0)


def count(x):
    n.add(1)
    return x


rdd = sc.parallelize(range(30), 3).map(count).cache()
print(rdd.take(2), n.value)
print(rdd.count(), n.value, rdd.sum(), n.value, rdd.map(lambda x: (x % 3, 1)).reduceByKey(lambda a, b: a + b).count(), n.value)
rdd.unpersist(True)
print(rdd.count(), n.value)
sc.stop()
