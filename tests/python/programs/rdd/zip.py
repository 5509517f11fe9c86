"""zip, zipWithIndex, zipWithUniqueId, and unequal sides."""
from pyspark import SparkContext

sc = SparkContext(appName="zip")
a = sc.parallelize(range(10), 3)
b = a.map(lambda x: chr(97 + x))
print(a.zip(b).collect())
print(b.zip(b.zip(a)).collect()[:3])
print(b.zipWithIndex().collect())
print(b.zipWithUniqueId().collect())
print(sc.parallelize([None, 1], 1).zip(sc.parallelize(["x", None], 1)).collect())
print(sc.parallelize(range(5000), 2).zip(sc.parallelize(range(5000), 2).map(str)).map(lambda p: p[0] == int(p[1])).distinct().collect())
try:
    a.zip(sc.parallelize(range(10), 2))
except ValueError as e:
    print("ValueError:", str(e).split("(")[0])
try:
    sc.parallelize(range(9), 3).zip(a).count()
except Exception as e:
    print(type(e).__name__)
sc.stop()
