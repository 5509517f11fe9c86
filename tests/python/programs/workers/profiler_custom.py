"""A profiler class of our own."""
from pyspark import BasicProfiler, SparkConf, SparkContext

class Quiet(BasicProfiler):
    def show(self, id):
        self.shown = id
        print("shown")


sc = SparkContext(conf=SparkConf().setAppName("own profiler").set("spark.python.profile", "true"), profiler_cls=Quiet)
sc.parallelize(range(10), 2).map(lambda x: x).count()
sc.show_profiles()
print(type(sc.profiler_collector.profilers[0][1]).__name__ if sc.profiler_collector.profilers else "cleared")
sc.stop()
