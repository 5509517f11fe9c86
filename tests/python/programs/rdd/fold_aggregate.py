"""fold, aggregate, reduce, treeReduce, treeAggregate."""
from operator import add

from pyspark import SparkContext

sc = SparkContext(appName="aggregate")
rdd = sc.parallelize(range(1, 101), 7)
print(rdd.fold(0, add), rdd.reduce(add), rdd.reduce(max))
print(rdd.aggregate((0, 0), lambda a, x: (a[0] + x, a[1] + 1), lambda a, b: (a[0] + b[0], a[1] + b[1])))
for depth in (1, 2, 3, 4):
    print(depth, rdd.treeReduce(add, depth), rdd.treeAggregate(0, add, add, depth))
print(rdd.fold(1, add))
print(sc.parallelize([[1], [2, 3]], 2).fold([], add))
sc.stop()
