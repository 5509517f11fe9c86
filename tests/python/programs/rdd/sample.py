"""sample, takeSample, randomSplit with seeds; they are Python's own samplers."""
from pyspark import SparkContext

sc = SparkContext(appName="sample")
rdd = sc.parallelize(range(100), 4)
print(rdd.sample(False, 0.1, 81).collect())
print(rdd.sample(True, 0.2, 7).collect())
print(rdd.takeSample(False, 5, 3), len(rdd.takeSample(True, 20, 1)), len(rdd.takeSample(False, 200, 2)))
a, b = rdd.randomSplit([2, 3], 17)
print(sorted(a.collect()), len(b.collect()), sorted(a.collect() + b.collect()) == list(range(100)))
pairs = rdd.map(lambda x: (("a", "b")[x % 2], x))
print(sorted(pairs.sampleByKey(False, {"a": 0.2, "b": 0.1}, 0).collect()))
for wrong in (lambda: rdd.takeSample(False, -1), lambda: rdd.sample(False, -0.5)):
    try:
        print(wrong().count())
    except Exception as e:
        print(type(e).__name__)
sc.stop()
