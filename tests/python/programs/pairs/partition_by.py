"""partitionBy with a function of our own; partitions of equal keys."""
from pyspark import SparkContext

sc = SparkContext(appName="partitionBy")
pairs = sc.parallelize([(i, str(i)) for i in range(12)], 3)
out = pairs.partitionBy(4, lambda k: k // 3)
print([sorted(p) for p in out.glom().collect()])
print([sorted(k for k, _ in p) for p in pairs.partitionBy(3, lambda k: -k).glom().collect()])
print([sorted(k for k, _ in p) for p in pairs.partitionBy(3, lambda k: k * 10 ** 12 + k).glom().collect()])
print(out.partitioner.numPartitions, out.mapValues(len).partitioner == out.partitioner, out.map(lambda kv: kv).partitioner)
print(out.partitionBy(4, out.partitioner.partitionFunc) is out, out.partitionBy(4) is out)
words = sc.parallelize([("apple", 1), ("pear", 2), ("fig", 3), ("kiwi", 4), (None, 5), ((1, "x"), 6), (True, 7), (2.5, 8)], 2)
print([sorted(v for _, v in p) for p in words.partitionBy(5).glom().collect()])
sc.stop()
