"""Use of a stopped context; a second context; getOrCreate."""
from pyspark import SparkConf, SparkContext

sc = SparkContext(appName="first")
rdd = sc.parallelize([1, 2])
try:
    SparkContext(appName="second")
except ValueError as e:
    print("Cannot run multiple SparkContexts at once" in str(e))
print(SparkContext.getOrCreate() is sc, SparkContext.getOrCreate(SparkConf().setAppName("other")).appName)
sc.stop()
sc.stop()
for use in (lambda: rdd.collect(), lambda: sc.parallelize([1]), lambda: sc.broadcast(1)):
    try:
        use()
        print("no error")
    except Exception as e:
        print("error")
with SparkContext(appName="in a with") as other:
    print(other.parallelize(range(4)).sum(), other.appName)
print(SparkContext._active_spark_context)
