"""Functions of RDDs that other programs leave out: a collect with a job group, shuffles that are removed, storage levels, broadcast files."""
import os
import tempfile
import warnings

from pyspark import RDD, SparkContext, StorageLevel
from pyspark.resource import ResourceProfileBuilder, TaskResourceRequests

sc = SparkContext(appName="rest of RDD")
rdd = sc.parallelize(range(10), 3)
print(rdd.collectWithJobGroup("a group", "a description"), sc.getLocalProperty("spark.jobGroup.id"))
print(rdd.collectWithJobGroup("a group", "a description", True), sc.getLocalProperty("spark.job.description"))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    if hasattr(RDD, "mapPartitionsWithSplit"):
        print(rdd.mapPartitionsWithSplit(lambda i, rows: [(i, sum(rows))]).collect())
        print(any("mapPartitionsWithIndex" in str(w.message) for w in caught))
pairs = rdd.map(lambda x: (x % 3, x)).reduceByKey(lambda a, b: a + b, 2)
print(sorted(pairs.collect()))
if hasattr(RDD, "cleanShuffleDependencies"):
    pairs.cleanShuffleDependencies()
    print(sorted(pairs.collect()))
    pairs.cleanShuffleDependencies(True)
    print(sorted(pairs.map(lambda pair: pair[1]).collect()))

levels = {name: getattr(StorageLevel, name) for name in sorted(dir(StorageLevel)) if name.isupper()}
for name, level in levels.items():
    other = sc.parallelize(range(6), 2)
    try:
        other.persist(level)
        print(name, level, other.count(), other.getStorageLevel(), other.is_cached)
        other.unpersist()
        print(other.getStorageLevel(), other.is_cached)
    except Exception as e:
        print(name, type(e).__name__, str(e).splitlines()[:2])
other = sc.parallelize(range(6), 2).persist(StorageLevel.MEMORY_ONLY)
try:
    other.persist(StorageLevel.DISK_ONLY)
except Exception as e:
    print(type(e).__name__, [line for line in str(e).splitlines() if "Exception" in line][:1])
print(other.persist(StorageLevel.MEMORY_ONLY).count(), other.getStorageLevel())

variable = sc.broadcast({"key": [1, 2, 3]})
path = os.path.join(tempfile.gettempdir(), "dumped")
with open(path, "wb") as file:
    variable.dump({"a": 1}, file)
print(variable.load_from_path(path))

requests = TaskResourceRequests().cpus(2)
profile = ResourceProfileBuilder().require(requests).build
print(profile.taskResources["cpus"].amount, profile.executorResources)
try:
    print(rdd.withResources(profile).count())
    print(rdd.getResourceProfile().taskResources["cpus"].amount)
except Exception as e:
    print(type(e).__name__, [line for line in str(e).splitlines() if "Exception" in line][:1])
builder = ResourceProfileBuilder().require(requests)
builder.clearTaskResourceRequests()
builder.clearExecutorResourceRequests()
print(builder.taskResources, builder.executorResources)
sc.stop()
