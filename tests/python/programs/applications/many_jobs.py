"""Sixty small jobs in a row, with closures that change."""
from pyspark import SparkContext

sc = SparkContext(appName="many jobs")
rdd = sc.parallelize(range(10), 2)
total = 0
for i in range(60):
    total += rdd.map(lambda x: x * i).sum()
print(total)
sc.stop()
