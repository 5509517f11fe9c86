"""unpersist keeps a broadcast usable, destroy does not."""
from pyspark import SparkContext

sc = SparkContext(appName="life of a broadcast")
b = sc.broadcast([1, 2, 3])
rdd = sc.parallelize(range(3), 2).map(lambda i: b.value[i])
print(rdd.collect())
b.unpersist()
print(rdd.collect())
b.unpersist(True)
print(rdd.sum(), b.value)
b.destroy()
try:
    print(sc.parallelize(range(3), 2).map(lambda i: b.value[i]).collect())
except Exception as e:
    print("destroyed" in str(e))
for i in range(30):
    again = sc.broadcast(i)
    assert sc.parallelize([1], 1).map(lambda x: x + again.value).collect() == [i + 1]
    again.destroy()
print("thirty")
sc.stop()
