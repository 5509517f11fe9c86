"""mapPartitions, mapPartitionsWithIndex, glom, and how parallelize slices."""
from pyspark import SparkContext

sc = SparkContext(appName="partitions")
for n, slices in ((10, 3), (2, 5), (0, 2), (7, 7), (1000, 4)):
    rdd = sc.parallelize(range(n), slices)
    print(n, slices, [len(p) for p in rdd.glom().collect()])
rdd = sc.parallelize(list("abcdefghij"), 4)
print(rdd.glom().collect())
print(rdd.mapPartitions(lambda rows: ["".join(rows)]).collect())
print(rdd.mapPartitionsWithIndex(lambda i, rows: [(i, list(rows))]).collect())
print(rdd.mapPartitions(lambda rows: iter(())).collect())
sc.stop()
