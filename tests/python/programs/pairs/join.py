"""join, leftOuterJoin, rightOuterJoin, fullOuterJoin."""
from pyspark import SparkContext

sc = SparkContext(appName="joins")
a = sc.parallelize([("a", 1), ("b", 4), ("a", 2), ("d", None)], 3)
b = sc.parallelize([("a", "x"), ("c", "y"), ("a", "z")], 2)
print(sorted(a.join(b).collect()))
print(sorted(a.leftOuterJoin(b).collect(), key=str))
print(sorted(a.rightOuterJoin(b).collect(), key=str))
print(sorted(a.fullOuterJoin(b).collect(), key=str))
print(a.join(b, 5).getNumPartitions(), sorted(a.subtractByKey(b).collect(), key=str))
print(sorted(a.join(a).collect(), key=str))
big = sc.parallelize(range(4000), 4).map(lambda x: (x % 400, x))
print(big.join(sc.parallelize(range(400)).map(lambda x: (x, -x))).map(lambda kv: kv[1][0] + kv[1][1]).sum())
sc.stop()
