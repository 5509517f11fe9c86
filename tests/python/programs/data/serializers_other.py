"""Contexts with MarshalSerializer, fixed batches and no batches."""
from pyspark import SparkContext
from pyspark.serializers import CloudPickleSerializer, CPickleSerializer, MarshalSerializer

for serializer, size in ((MarshalSerializer(), 0), (MarshalSerializer(), 3), (CPickleSerializer(), 1), (CPickleSerializer(), 100), (CPickleSerializer(), -1), (CloudPickleSerializer(), 2)):
    sc = SparkContext(appName="serializers", serializer=serializer, batchSize=size)
    rdd = sc.parallelize(range(50), 3).map(lambda x: (x % 4, [x, str(x)]))
    print(type(serializer).__name__, size, sorted(rdd.mapValues(len).reduceByKey(lambda a, b: a + b).collect()), rdd.take(1), rdd.union(rdd).count())
    sc.stop()
