"""Several shuffles in one job: count, invert, sort, join with itself."""
from operator import add

from pyspark import SparkContext

sc = SparkContext(appName="chain of shuffles")
text = ["to be or not to be that is the question", "whether tis nobler in the mind to suffer", "to die to sleep no more"]
counts = sc.parallelize(text, 3).flatMap(str.split).map(lambda w: (w, 1)).reduceByKey(add)
top = counts.map(lambda wc: (wc[1], wc[0])).sortByKey(False).take(2)
print(top)
lengths = counts.map(lambda wc: (len(wc[0]), wc[1])).reduceByKey(add)
print(sorted(counts.keyBy(lambda wc: len(wc[0])).join(lengths).mapValues(lambda p: p[0][0]).distinct().groupByKey().mapValues(sorted).collect()))
sc.stop()
