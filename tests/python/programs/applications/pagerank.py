"""Ranks of a small web in ten rounds, links cached and joined with ranks."""
from pyspark import SparkContext

sc = SparkContext(appName="pagerank")
edges = [("a", "b"), ("a", "c"), ("b", "c"), ("c", "a"), ("d", "c"), ("e", "a"), ("e", "d")]
links = sc.parallelize(edges, 3).distinct().groupByKey(3).cache()
ranks = links.mapValues(lambda _: 1.0)
for _ in range(10):
    shares = links.join(ranks).flatMap(lambda kv: [(to, kv[1][1] / len(kv[1][0])) for to in kv[1][0]])
    ranks = shares.reduceByKey(lambda a, b: a + b, 3).mapValues(lambda r: 0.15 + 0.85 * r)
print(sorted((k, round(r, 6)) for k, r in ranks.collect()))
sc.stop()
