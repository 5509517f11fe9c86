"""spark.python.use.daemon=false starts a process for each worker."""
from pyspark import SparkConf, SparkContext

sc = SparkContext(conf=SparkConf().setAppName("without a daemon").set("spark.python.use.daemon", "false"))
a = sc.accumulator(0)
rdd = sc.parallelize(range(6), 2).map(lambda x: a.add(1) or (x % 2, x))
print(sorted(rdd.reduceByKey(max).collect()), a.value)
sc.stop()
