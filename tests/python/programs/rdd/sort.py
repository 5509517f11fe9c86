"""sortBy and sortByKey: ascending, descending, keys by function, several partitions."""
from pyspark import SparkContext

sc = SparkContext(appName="sort")
words = "the quick brown fox jumps over the lazy dog".split()
rdd = sc.parallelize(words, 3)
print(rdd.sortBy(lambda w: w).collect())
print(rdd.sortBy(lambda w: (len(w), w), ascending=False).collect())
pairs = rdd.map(lambda w: (w, len(w)))
print(pairs.sortByKey().keys().collect(), pairs.sortByKey(False, 2).glom().map(len).sum())
print(pairs.sortByKey(True, 3, lambda k: k[::-1]).keys().collect())
import random
numbers = list(range(5000))
random.Random(5).shuffle(numbers)
ordered = sc.parallelize(numbers, 4).sortBy(lambda x: -x, numPartitions=5)
print(ordered.getNumPartitions(), ordered.collect() == sorted(numbers, reverse=True), ordered.take(3))
print(sc.parallelize([(3, "x"), (1, "y"), (2, None)], 1).sortByKey().collect(), sc.parallelize([]).sortBy(lambda x: x).collect())
sc.stop()
