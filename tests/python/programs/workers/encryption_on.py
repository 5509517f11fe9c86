"""spark.io.encryption.enabled: parallelize, broadcast, shuffle, collect."""
from pyspark import SparkConf, SparkContext

sc = SparkContext(conf=SparkConf().setAppName("encryption").set("spark.io.encryption.enabled", "true"))
b = sc.broadcast(list(range(1000)))
rdd = sc.parallelize(range(2000), 4).map(lambda x: (x % 10, b.value[x % 1000]))
print(sorted(rdd.reduceByKey(lambda x, y: x + y).collect()))
print(b.value[5], sc.parallelize([None, "ü"], 2).collect(), list(sc.parallelize(range(5), 2).toLocalIterator()), sc.parallelize(range(10)).take(2))
sc.stop()
