"""sys.exit in a task."""
import sys

from pyspark import SparkContext

sc = SparkContext(appName="sys.exit")
try:
    sc.parallelize([1, 2], 2).map(lambda x: sys.exit(4)).collect()
    print("no error")
except Exception as e:
    print(type(e).__name__)
print(sc.parallelize([1, 2], 2).map(lambda x: x + 1).collect())
sc.stop()
