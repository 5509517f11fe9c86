"""Updates count once for each action, and are there when the action returns; a failed task counts nothing."""
from pyspark import SparkContext

sc = SparkContext(appName="exactly once")
n = sc.accumulator(0)


def count(x):
    n.add(1)
    return x


rdd = sc.parallelize(range(40), 8).map(count)
for _ in range(5):
    rdd.count()
    print(n.value)
kept = sc.parallelize(range(10), 2).map(count).cache()
kept.count(), kept.count()
print(n.value)
pairs = sc.parallelize(range(10), 5).map(lambda x: (count(x) % 2, 1)).reduceByKey(lambda a, b: a + b)
print(sorted(pairs.collect()), n.value, sorted(pairs.collect()), n.value)


def fail(x):
    n.add(1000)
    raise RuntimeError("no")


try:
    sc.parallelize([1], 1).foreach(fail)
except Exception:
    print(n.value)
sc.stop()
