"""A generator that fails while a task reads, and one in parallelize."""
from pyspark import SparkContext

sc = SparkContext(appName="failing iterators")


def rows(it):
    for x in it:
        if x == 5:
            raise LookupError("five")
        yield x


rdd = sc.parallelize(range(10), 2).mapPartitions(rows)
print(rdd.take(3))
try:
    rdd.collect()
except Exception as e:
    print("LookupError: five" in str(e))


def broken():
    yield 1
    raise KeyError("driver")


try:
    sc.parallelize(broken(), 2)
except KeyError as e:
    print("KeyError", e)


def stop(x):
    raise StopIteration("from a map")


try:
    sc.parallelize([1]).map(stop).collect()
    print("no error")
except Exception as e:
    print("StopIteration" in str(e))
sc.stop()
