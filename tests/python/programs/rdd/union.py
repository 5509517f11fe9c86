"""union of like and unlike serializers, of several RDDs, with itself."""
from pyspark import SparkContext
from pyspark.serializers import CPickleSerializer, AutoBatchedSerializer, BatchedSerializer

sc = SparkContext(appName="union")
a, b = sc.parallelize([1, 2, 3], 2), sc.parallelize(["x", None], 1)
print(a.union(b).collect(), (a + a).collect(), a.union(b).getNumPartitions())
print(sc.union([a, b, a.map(lambda x: -x)]).collect())
unlike = b._reserialize(BatchedSerializer(CPickleSerializer(), 1))
print(a.union(unlike).collect(), sc.union([a, unlike]).collect())
pairs = sc.parallelize([(1, "a"), (2, "b")], 2)
print(sorted(sc.union([pairs.mapValues(len), pairs.mapValues(lambda v: v * 2)]).groupByKey().mapValues(list).collect()))
try:
    a + 1
except TypeError:
    print("TypeError")
sc.stop()
