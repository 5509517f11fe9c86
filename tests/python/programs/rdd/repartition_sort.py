"""repartitionAndSortWithinPartitions."""
from pyspark import SparkContext

sc = SparkContext(appName="repartition and sort")
rdd = sc.parallelize([(0, 5), (3, 8), (2, 6), (0, 8), (3, 8), (1, 3), (7, 1), (4, 4)], 3)
out = rdd.repartitionAndSortWithinPartitions(2, lambda k: k % 2, True)
print([[k for k, _ in p] for p in out.glom().collect()])
out = rdd.repartitionAndSortWithinPartitions(3, lambda k: k, False)
print([[k for k, _ in p] for p in out.glom().collect()])
out = rdd.repartitionAndSortWithinPartitions(2, lambda k: k % 2, True, keyfunc=lambda k: -k)
print([[k for k, _ in p] for p in out.glom().collect()])
sc.stop()
