"""take, first, top, takeOrdered and how many partitions they visit."""
from pyspark import SparkContext

sc = SparkContext(appName="take")
rdd = sc.parallelize(range(100), 10)
print(rdd.take(0), rdd.take(3), rdd.take(15), len(rdd.take(1000)), rdd.first())
print(rdd.filter(lambda x: x >= 95).take(2), rdd.filter(lambda x: x > 100).take(2))
print(rdd.top(3), rdd.top(3, key=lambda x: -x), rdd.takeOrdered(4), rdd.takeOrdered(2, key=lambda x: x % 7))
visited = sc.accumulator(0)


def visit(rows):
    visited.add(1)
    return rows


rdd.mapPartitions(visit).take(5)
print(visited.value)
rdd.mapPartitions(visit).take(15)
print(visited.value)
sc.stop()
