"""coalesce with and without shuffle, repartition."""
from pyspark import SparkContext

sc = SparkContext(appName="coalesce")
rdd = sc.parallelize(range(12), 6)
print(rdd.coalesce(3).glom().collect())
print(rdd.coalesce(1).glom().collect(), rdd.coalesce(10).getNumPartitions())
print(rdd.coalesce(4, shuffle=True).getNumPartitions(), sorted(rdd.coalesce(4, shuffle=True).collect()))
big = sc.parallelize(range(10000), 2).repartition(8)
sizes = [len(p) for p in big.glom().collect()]
print(len(sizes), sum(sizes), min(sizes) > 600, big.sum())
print(rdd.repartition(2).map(lambda x: x + 1).sum())
print(sc.parallelize([1], 1).repartition(4).getNumPartitions())
try:
    rdd.coalesce(0).collect()
except Exception as e:
    print(type(e).__name__)
sc.stop()
