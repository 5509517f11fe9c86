"""flatMap with lists, generators and empty results."""
from pyspark import SparkContext

sc = SparkContext(appName="flatMap")
lines = sc.parallelize(["a b c", "", "d", "e f"], 3)
print(lines.flatMap(str.split).collect())
print(lines.flatMap(lambda line: (c for c in line if c != " ")).collect())
print(lines.flatMap(lambda line: []).collect())
print(lines.keyBy(len).flatMapValues(str.split).collect())
sc.stop()
