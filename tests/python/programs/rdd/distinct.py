"""distinct, subtract, intersection, groupBy."""
from pyspark import SparkContext

sc = SparkContext(appName="sets")
a = sc.parallelize([1, 2, 2, 3, 4, 4, 5, None, None], 3)
b = sc.parallelize([4, 5, 6, None], 2)
print(sorted(a.distinct().collect(), key=str), a.distinct(5).getNumPartitions())
print(sorted(a.subtract(b).collect(), key=str))
print(sorted(a.intersection(b).collect(), key=str))
print(sorted((k, sorted(v)) for k, v in sc.parallelize(range(10)).groupBy(lambda x: x % 3).collect()))
print(sorted(sc.parallelize(["b", "a", "b"]).distinct().collect()))
print(sorted(sc.parallelize([(1, "x"), (1, "x"), (2, ("y", None))]).distinct().collect()))
sc.stop()
