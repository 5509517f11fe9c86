"""local and local[3] given by the program."""
from pyspark import SparkContext

for master in ("local", "local[1]", "local[3]"):
    sc = SparkContext(master, "masters")
    print(sc.master, sc.defaultParallelism, sc.parallelize(range(7)).map(lambda x: x + 1).glom().collect())
    sc.stop()
try:
    SparkContext("nonsense", "bad master")
except Exception as e:
    print("Could not parse Master URL" in str(e) or "nonsense" in str(e))
