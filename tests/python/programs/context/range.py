"""range and parallelize of ranges, generators and other iterables."""
from pyspark import SparkContext

sc = SparkContext(appName="range")
print(sc.range(5).collect(), sc.range(2, 4).collect(), sc.range(1, 7, 2).collect(), sc.range(10, 0, -3).glom().collect())
print(sc.range(10, numSlices=3).glom().collect(), sc.parallelize(range(0, 10, 3), 2).glom().collect())
print(sc.parallelize((x * x for x in range(5)), 2).collect(), sorted(sc.parallelize({3, 1, 2}, 2).collect()), sc.parallelize({"a": 1, "b": 2}).collect())
print(sc.parallelize("abc").collect(), sc.parallelize((1, 2), 4).glom().collect(), sc.range(10 ** 6, numSlices=4).sum())
print(sc.parallelize(range(10 ** 12, 10 ** 12 + 3)).collect(), sc.range(0).collect())
sc.stop()
