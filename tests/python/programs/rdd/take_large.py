"""take ends in the middle of a large partition, so the worker is stopped early."""
from pyspark import SparkContext

sc = SparkContext(appName="take of a large partition")
rdd = sc.parallelize(range(2), 2).flatMap(lambda i: (f"{i}:{k}:" + "x" * 200 for k in range(200000)))
print([row[:6] for row in rdd.take(3)])
print(len(rdd.take(10)), rdd.first()[:4], rdd.isEmpty())
print(sc.parallelize(range(500000), 2).map(lambda x: x + 1).take(2))
sc.stop()
