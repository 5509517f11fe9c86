"""Rows of all sizes, so that batches grow and shrink."""
from pyspark import SparkContext

sc = SparkContext(appName="batches")
rdd = sc.parallelize(range(3000), 3).map(lambda i: "x" * (i * 37 % 5000 if i % 100 else 200000))
print(rdd.map(len).sum(), sum(len(s) for s in rdd.collect()), rdd.filter(len).count())
print(sc.parallelize([b"\x00" * n for n in (0, 1, 127, 128, 65535, 65536, 1000000)], 3).map(len).collect())
print(sc.parallelize(range(100000), 2).map(lambda x: None).distinct().collect(), sc.parallelize([None] * 1000, 3).count())
sc.stop()
