"""Attributes of the context."""
import getpass

from pyspark import SparkContext, __version__

sc = SparkContext(appName="attributes", sparkHome=None, batchSize=2)
print(sc.version == __version__, sc.sparkUser() == getpass.getuser(), sc.startTime > 1.5e12, len(sc.applicationId) > 5)
print(sc.defaultParallelism, sc.defaultMinPartitions, sc.uiWebUrl, sc.pythonVer.count("."))
print(sc.resources, sc.serializer is not None, sc.parallelize(range(5), 1).map(lambda x: x).collect())
print(repr(sc).startswith("<SparkContext master=local[2] appName=attributes>"))
sc.setLogLevel("ERROR")
sc.setInterruptOnCancel(True)
try:
    sc.setLogLevel("LOUD")
except Exception as e:
    print("error")
sc.stop()
