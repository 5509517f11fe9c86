"""Three hundred tasks in one stage."""
from pyspark import SparkContext

sc = SparkContext(appName="many tasks")
print(sc.parallelize(range(300), 300).map(lambda x: x + 1).sum())
print(sc.parallelize(range(100), 300).mapPartitions(lambda rows: [sum(1 for _ in rows)]).sum())
sc.stop()
