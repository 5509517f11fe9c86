"""lookup with and without a partitioner, collectAsMap, keyBy."""
from pyspark import SparkContext

sc = SparkContext(appName="lookup")
pairs = sc.parallelize([(i % 5, i) for i in range(20)], 3)
print(sorted(pairs.lookup(3)), pairs.lookup(9))
hashed = pairs.partitionBy(4)
print(sorted(hashed.lookup(2)), hashed.lookup(100))
print(sc.parallelize([((1, "a"), "x")], 2).lookup((1, "a")))
print(sorted(sc.parallelize(["a", "bb"]).keyBy(len).collectAsMap().items()))
print(sorted(pairs.countByKey().items()), pairs.count())
sc.stop()
