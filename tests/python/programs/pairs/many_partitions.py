"""A shuffle of 40 by 30 partitions."""
from operator import add

from pyspark import SparkContext

sc = SparkContext(appName="many partitions")
rdd = sc.parallelize(range(4000), 40).map(lambda x: (x % 97, x)).reduceByKey(add, 30)
print(rdd.getNumPartitions(), rdd.count(), rdd.values().sum(), sorted(rdd.collect())[:3])
print(len([1 for p in rdd.glom().collect() if p]))
print(rdd.mapValues(lambda v: v % 10).map(lambda kv: (kv[1], kv[0])).groupByKey(3).mapValues(len).values().sum())
sc.stop()
