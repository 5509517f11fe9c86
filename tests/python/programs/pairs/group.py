"""groupByKey, groupWith, cogroup."""
from pyspark import SparkContext

sc = SparkContext(appName="groups")
a = sc.parallelize([("a", 1), ("b", 2), ("a", 3)], 2)
b = sc.parallelize([("a", "x"), ("c", "y")], 3)
c = sc.parallelize([("b", None)], 1)
print(sorted((k, sorted(v)) for k, v in a.groupByKey().collect()))
print(sorted((k, [sorted(s) for s in v]) for k, v in a.cogroup(b).collect()))
print(sorted((k, [sorted(s, key=str) for s in v]) for k, v in a.groupWith(b, c).collect()))
print(sorted((k, len(v)) for k, v in sc.parallelize([(i % 3, i) for i in range(3000)], 4).groupByKey(2).collect()))
print(a.groupByKey().mapValues(list).values().map(len).sum())
sc.stop()
