"""spark.python.profile: a profile for each RDD, shown and dumped."""
import os
import tempfile

from pyspark import BasicProfiler, SparkConf, SparkContext

sc = SparkContext(conf=SparkConf().setAppName("profiler").set("spark.python.profile", "true"))


def heavy(x):
    return sum(range(x * 1000))


rdd = sc.parallelize(range(20), 4).map(heavy)
rdd.count()
rdd.count()
folder = tempfile.mkdtemp()
print(isinstance(sc.profiler_collector.profilers[0][1], BasicProfiler), len(sc.profiler_collector.profilers) >= 1)
stats = sc.profiler_collector.profilers[0][1].stats()
print(any(name == "heavy" for _, _, name in stats.stats), [n[0] for (_, _, name), n in stats.stats.items() if name == "heavy"])
sc.dump_profiles(folder)
print(all(name.startswith("rdd_") and name.endswith(".pstats") for name in os.listdir(folder)), len(os.listdir(folder)) >= 1)
sc.stop()
