"""A union of RDDs with one partitioner keeps the partitions, so reduceByKey needs no shuffle."""
from pyspark import SparkContext

sc = SparkContext(appName="partitioner-aware union")
a = sc.parallelize([(i, i) for i in range(10)], 3).partitionBy(4)
b = sc.parallelize([(i, -i) for i in range(5)], 2).partitionBy(4, a.partitioner.partitionFunc)
union = a.union(b)
print(union.getNumPartitions(), union.partitioner == a.partitioner)
print([sorted(p) for p in union.glom().collect()])
print(sorted(union.reduceByKey(lambda x, y: x + y).collect()))
c = sc.parallelize([(1, 1)], 1).partitionBy(3)
print(a.union(c).getNumPartitions(), a.union(c).partitioner is None)
sc.stop()
