"""Storage levels: defaults, names, is_cached, unpersist, changing a level."""
from pyspark import SparkContext, StorageLevel

sc = SparkContext(appName="levels")
rdd = sc.parallelize(range(100), 4)
print(rdd.is_cached, rdd.getStorageLevel(), rdd.cache() is rdd, rdd.is_cached, rdd.getStorageLevel())
print(rdd.sum(), rdd.sum(), rdd.unpersist().is_cached, rdd.getStorageLevel())
for name in ("DISK_ONLY", "DISK_ONLY_2", "MEMORY_ONLY", "MEMORY_ONLY_2", "MEMORY_AND_DISK", "MEMORY_AND_DISK_2", "OFF_HEAP"):
    level = getattr(StorageLevel, name)
    print(name, level, repr(level))
for level in (StorageLevel.DISK_ONLY, StorageLevel.MEMORY_AND_DISK, StorageLevel.MEMORY_ONLY_2):
    kept = rdd.map(lambda x: x * 2).persist(level)
    print(kept.count(), kept.getStorageLevel(), kept.sum(), kept.unpersist(True).sum())
kept = rdd.map(str).persist()
try:
    kept.persist(StorageLevel.DISK_ONLY)
except Exception as e:
    print("Cannot change storage level of an RDD after it was already assigned a level" in str(e))
sc.stop()
