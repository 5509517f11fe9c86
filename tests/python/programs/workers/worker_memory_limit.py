"""spark.executor.pyspark.memory limits the address space of workers."""
import resource

from pyspark import SparkConf, SparkContext

sc = SparkContext(conf=SparkConf().setAppName("memory limit").set("spark.executor.pyspark.memory", "2g"))
print(sc.parallelize([1], 1).map(lambda _: resource.getrlimit(resource.RLIMIT_AS)[0] >> 20).collect())
try:
    sc.parallelize([1], 1).map(lambda _: len(bytearray(3 << 30))).collect()
    print("no error")
except Exception as e:
    print("MemoryError" in str(e))
print(sc.parallelize([1], 1).map(lambda x: x).collect())
sc.stop()
