"""System properties, the rest of SparkConf, what the tracker knows of executors, CPUs of a task."""
from decimal import Decimal

from pyspark import SparkConf, SparkContext, SparkFiles, TaskContext

SparkContext.setSystemProperty("spark.example.property", "a value")
conf = SparkConf().setMaster("local[2]").setSparkHome("/a/home").setAppName("properties")
print(conf.get("spark.example.property"), conf.get("spark.master"), conf.get("spark.home"), conf.contains("spark.no.key"))
sc = SparkContext(conf=conf)
print(sc.getConf().get("spark.example.property"), sc.master, sc.sparkHome, sc.getConf().get("spark.home"))
if hasattr(SparkContext, "getSystemProperty"):
    print(SparkContext.getSystemProperty("spark.example.property"), SparkContext.getSystemProperty("no.such.property"))
    print(SparkContext.getSystemProperty("spark.master"), SparkContext.getSystemProperty("SPARK_SUBMIT"))
print(SparkFiles.getRootDirectory() == sc.parallelize([0], 1).map(lambda _: SparkFiles.getRootDirectory()).first())
tracker = sc.statusTracker()
if hasattr(tracker, "getExecutorInfos"):
    sc.parallelize(range(1000), 2).cache().count()
    infos = tracker.getExecutorInfos()
    print(len(infos), [(type(i.host).__name__, i.port > 0, i.numRunningTasks, i.usedOffHeapStorageMemory, i.totalOffHeapStorageMemory,
                        0 <= i.usedOnHeapStorageMemory < i.totalOnHeapStorageMemory) for i in infos])


def cpus(_):
    task = TaskContext.get()
    amount = task.cpuAmount() if hasattr(task, "cpuAmount") else Decimal(1)
    return task.cpus(), str(amount), type(amount).__name__


print(sc.parallelize(range(2), 2).map(cpus).collect())
sc.stop()
if hasattr(TaskContext, "cpuAmount"):
    for amount in ("1", "2"):
        try:
            sc = SparkContext(conf=SparkConf().setMaster("local[2]").setAppName("cpus").set("spark.task.cpus", amount))
            print(amount, sc.parallelize(range(2), 2).map(cpus).collect())
            sc.stop()
        except Exception as e:
            print(amount, type(e).__name__, [line for line in str(e).splitlines() if "Exception" in line][:1])
sc = SparkContext(appName="after")
print(sc.getConf().get("spark.example.property"), sc.getConf().get("spark.home"))
sc.stop()
