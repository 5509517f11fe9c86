"""runJob on a subset of partitions, in the order asked for."""
from pyspark import SparkContext

sc = SparkContext(appName="runJob")
rdd = sc.parallelize(range(12), 6)
print(sc.runJob(rdd, lambda rows: [sum(rows)]))
print(sc.runJob(rdd, lambda rows: list(rows), [4, 1]))
print(sc.runJob(rdd, lambda rows: [len(list(rows))], [2, 2]))
print(sc.runJob(rdd, lambda rows: rows, []))
print(sc.runJob(rdd.map(lambda x: x * x), lambda rows: rows, [5]))
sc.stop()
