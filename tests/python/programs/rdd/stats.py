"""sum, mean, variance, stdev, sampleStdev, stats, histogram."""
from pyspark import SparkContext

sc = SparkContext(appName="statistics")
rdd = sc.parallelize([1.0, 2.5, 3.5, 10.0, -4.0, 0.0], 3)
print(rdd.sum(), round(rdd.mean(), 6), round(rdd.variance(), 6), round(rdd.stdev(), 6))
print(round(rdd.sampleVariance(), 6), round(rdd.sampleStdev(), 6))
s = rdd.stats()
print(s.count(), s.max(), s.min(), round(s.sum(), 6))
print(rdd.histogram(2), rdd.histogram([-5, 0, 5, 11]))
print(sc.parallelize(["ab", "ac", "b", "bd", "ef"], 2).histogram(("a", "b", "c")))
print(sc.parallelize(range(51), 2).histogram([0, 10, 20, 30, 40, 50]))
print(rdd.countByValue()[2.5], sorted(sc.parallelize("abca").countByValue().items()))
sc.stop()
