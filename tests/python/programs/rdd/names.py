"""Names, ids, strings of RDDs, contexts."""
from pyspark import SparkContext

sc = SparkContext("local[2]", "names")
rdd = sc.parallelize(range(4), 2)
print(rdd.name(), rdd.setName("numbers").name(), rdd.id() < rdd.map(str).id())
print(rdd.context is sc, sc.appName, sc.master, sc.defaultParallelism, sc.defaultMinPartitions)
print(type(rdd).__name__, type(rdd.map(str)).__name__, type(sc.emptyRDD()).__name__)
print("ParallelCollectionRDD" in str(rdd), "PythonRDD" in str(rdd.map(str)))
print(sc.parallelize([1]).setName("größer").name())
sc.stop()
