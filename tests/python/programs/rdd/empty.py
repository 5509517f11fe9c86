"""Empty RDDs and empty partitions in many operators."""
from pyspark import SparkContext

sc = SparkContext(appName="empty")
empty = sc.emptyRDD()
print(empty.collect(), empty.count(), empty.isEmpty(), empty.getNumPartitions(), empty.take(3))
rdd = sc.parallelize([], 4)
print(rdd.collect(), rdd.isEmpty(), rdd.getNumPartitions(), rdd.sum(), rdd.fold(7, lambda a, b: a + b))
print(rdd.map(lambda x: (x, 1)).reduceByKey(lambda a, b: a + b).collect())
print(rdd.union(sc.parallelize([1], 2)).collect(), sc.parallelize([1], 8).filter(lambda x: x > 1).isEmpty())
print(sorted(sc.parallelize([(1, 2)], 6).join(sc.parallelize([(1, 3)], 5)).collect()))
for action in (lambda: rdd.first(), lambda: rdd.reduce(lambda a, b: a), lambda: rdd.max()):
    try:
        print(action())
    except ValueError as e:
        print("ValueError", e)
sc.stop()
