"""foreach, foreachPartition with accumulators."""
from pyspark import SparkContext

sc = SparkContext(appName="foreach")
total, parts = sc.accumulator(0), sc.accumulator(0)
rdd = sc.parallelize(range(50), 5)
print(rdd.foreach(lambda x: total.add(x)), total.value)


def count_rows(rows):
    parts.add(1)
    for _ in rows:
        pass


rdd.foreachPartition(count_rows)
print(parts.value)
rdd.foreachPartition(lambda rows: None)
print(rdd.filter(lambda x: x > 100).foreach(print))
sc.stop()
