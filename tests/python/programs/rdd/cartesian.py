"""cartesian, nested cartesians, and with batches of unlike size."""
from pyspark import SparkContext

sc = SparkContext(appName="cartesian")
a, b = sc.parallelize([1, 2], 2), sc.parallelize("xyz", 2)
print(a.cartesian(b).getNumPartitions(), sorted(a.cartesian(b).collect()))
print(sorted(a.cartesian(b).cartesian(a).collect()))
print(sorted(a.cartesian(a.cartesian(b)).map(lambda t: t[0] * t[1][0]).collect()))
print(a.cartesian(sc.parallelize([], 2)).collect())
print(a.cartesian(b).filter(lambda p: p[0] == 2).map(lambda p: p[1]).collect())
big = sc.parallelize(range(300), 3)
print(big.cartesian(big).map(lambda p: p[0] * p[1]).sum())
print(a.zip(a).cartesian(b).count(), sorted(a.cartesian(b).union(a.zip(a)).collect(), key=str))
sc.stop()
