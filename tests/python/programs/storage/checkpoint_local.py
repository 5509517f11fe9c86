"""localCheckpoint keeps the rows on the executors."""
from pyspark import SparkContext

sc = SparkContext(appName="local checkpoint")
rdd = sc.parallelize(range(10), 2).map(lambda x: (x % 3, x)).groupByKey().mapValues(sorted)
rdd.localCheckpoint()
print(rdd.isLocallyCheckpointed(), rdd.isCheckpointed())
print(sorted(rdd.collect()), rdd.isLocallyCheckpointed(), rdd.isCheckpointed(), rdd.getCheckpointFile())
print(sorted(rdd.mapValues(len).collect()))
try:
    sc.parallelize([1]).checkpoint()
except Exception as e:
    print("Checkpoint directory has not been set" in str(e))
sc.stop()
