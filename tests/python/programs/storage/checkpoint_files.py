"""Checkpoints cut the lineage and can be read again."""
import os
import tempfile

from pyspark import SparkContext

sc = SparkContext(appName="checkpoint")
folder = tempfile.mkdtemp()
print(sc.getCheckpointDir())
sc.setCheckpointDir(folder)
print(os.path.basename(os.path.dirname(sc.getCheckpointDir())) == os.path.basename(folder))
rdd = sc.parallelize(range(10), 3).map(lambda x: x * x)
rdd.checkpoint()
print(rdd.isCheckpointed(), rdd.getCheckpointFile())
print(rdd.count(), rdd.isCheckpointed(), rdd.getCheckpointFile() is not None, rdd.collect())
print(rdd.map(lambda x: x + 1).sum())
again = sc._checkpointFile(rdd.getCheckpointFile(), rdd._jrdd_deserializer)
print(again.collect(), again.getNumPartitions())
sc.stop()
