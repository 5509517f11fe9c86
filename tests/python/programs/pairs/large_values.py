"""Values of some megabytes through a shuffle, a collect and a cache."""
from pyspark import SparkContext

sc = SparkContext(appName="large rows")
rdd = sc.parallelize(range(6), 3).map(lambda i: (i % 2, chr(97 + i) * (3 << 20)))
print([(k, len(v), v[0]) for k, v in sorted(rdd.collect())])
print(sorted((k, sorted((s[0], len(s)) for s in v)) for k, v in rdd.groupByKey().collect()))
kept = rdd.mapValues(lambda v: v.encode()).cache()
print(kept.values().map(len).sum(), kept.values().map(lambda b: b[-1]).collect())
print(sc.parallelize([bytearray(5 << 20), b"x" * 7]).map(len).collect())
sc.stop()
