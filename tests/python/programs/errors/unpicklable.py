"""What cannot be pickled fails on the driver or in the task, by name."""
import threading

from pyspark import SparkContext

sc = SparkContext(appName="not picklable")
lock = threading.Lock()
for bad in (lambda x: lock, lambda x: sc.parallelize([x]).count()):
    try:
        sc.parallelize([1]).map(bad).collect()
        print("no error")
    except Exception as e:
        print(type(e).__name__, "lock" in str(e) or "SPARK-5063" in str(e) or "CONTEXT_ONLY_VALID_ON_DRIVER" in str(e))
rdd = sc.parallelize([1])
try:
    sc.parallelize([1]).map(lambda x: rdd.count()).collect()
except Exception as e:
    print(type(e).__name__)
try:
    sc.parallelize([1]).map(lambda x: threading.Lock()).collect()
except Exception as e:
    print("cannot pickle" in str(e))
try:
    sc.parallelize([threading.Lock()])
except Exception as e:
    print("cannot pickle" in str(e))
sc.stop()
