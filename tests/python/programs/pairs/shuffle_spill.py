"""A shuffle whose workers spill: more groups than spark.python.worker.memory holds."""
from pyspark import SparkConf, SparkContext

sc = SparkContext(conf=SparkConf().setAppName("spill").set("spark.python.worker.memory", "1m"))
n = 60000
rdd = sc.parallelize(range(n), 2).map(lambda x: (x % 20000, "v%08d" % x))
groups = rdd.groupByKey(2).mapValues(len)
print(groups.count(), groups.values().sum(), groups.values().max())
print(rdd.reduceByKey(max, 2).values().max())
ordered = rdd.sortByKey(numPartitions=2).keys().collect()
print(ordered == sorted(ordered), len(ordered))
sc.stop()
