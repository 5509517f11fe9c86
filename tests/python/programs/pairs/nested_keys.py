"""Keys of many kinds: tuples, floats, bools, strings of other scripts, None, long numbers."""
from pyspark import SparkContext

sc = SparkContext(appName="keys")
keys = [(1, 2), (1, (2, None)), 1.5, -1, True, "schön", "日本", "", None, 2 ** 70, frozenset([1]), b"bytes", 0.0, -0.0]
keys = [k for k in keys if not isinstance(k, frozenset)]
rdd = sc.parallelize([(k, 1) for k in keys for _ in range(3)], 4)
counts = rdd.reduceByKey(lambda a, b: a + b, 3).collect()
print(sorted(counts, key=str))
print(sum(n for _, n in counts), len(counts))
print(sorted(rdd.keys().distinct().map(repr).collect()))
sc.stop()
