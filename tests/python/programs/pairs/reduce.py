"""reduceByKey, foldByKey, aggregateByKey, combineByKey, reduceByKeyLocally."""
from operator import add

from pyspark import SparkContext

sc = SparkContext(appName="by key")
rdd = sc.parallelize([("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", 5)], 3)
print(sorted(rdd.reduceByKey(add).collect()), rdd.reduceByKey(add, 7).getNumPartitions())
print(sorted(rdd.foldByKey(0, add).collect()), sorted(rdd.foldByKey(0, max).collect()))
print(sorted(rdd.aggregateByKey([], lambda a, v: a + [v], add).mapValues(sorted).collect()))
print(sorted(rdd.combineByKey(lambda v: {v}, lambda s, v: s | {v}, lambda s, t: s | t).mapValues(sorted).collect()))
print(sorted(rdd.reduceByKeyLocally(add).items()))
print(sorted(rdd.mapValues(lambda v: v * 2).flatMapValues(range).countByKey().items()))
sc.stop()
