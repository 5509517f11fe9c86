"""toLocalIterator with and without prefetch; ended early; with large partitions."""
from pyspark import SparkContext

sc = SparkContext(appName="toLocalIterator")
rdd = sc.parallelize(range(10), 4)
print(list(rdd.toLocalIterator()), list(rdd.toLocalIterator(prefetchPartitions=True)))
print([x for x in sc.parallelize([], 3).toLocalIterator()])
it = rdd.map(lambda x: x * x).toLocalIterator()
print(next(it), next(it), next(it))
del it
big = sc.parallelize(range(3), 3).flatMap(lambda i: ("%d" % i * 1000 for _ in range(2000)))
print(sum(len(s) for s in big.toLocalIterator()), sum(1 for _ in big.toLocalIterator(True)))


def fail(x):
    if x == 7:
        raise ValueError("seven is not wanted")
    return x


seen = []
try:
    for x in rdd.map(fail).toLocalIterator():
        seen.append(x)
except Exception as e:
    print(seen, "seven is not wanted" in str(e))
sc.stop()
