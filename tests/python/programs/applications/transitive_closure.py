"""The transitive closure of a graph by joins until nothing is new."""
import random

from pyspark import SparkContext

sc = SparkContext(appName="transitive closure")
dice = random.Random(42)
edges = {(dice.randrange(15), dice.randrange(15)) for _ in range(20)}
paths = sc.parallelize(sorted(edges), 2).cache()
turned = paths.map(lambda e: (e[1], e[0]))
size, rounds = 0, 0
while paths.count() != size:
    size, rounds = paths.count(), rounds + 1
    paths = paths.union(paths.join(turned).map(lambda kv: (kv[1][1], kv[1][0]))).distinct(2).cache()
print(size, rounds, sorted(paths.collect())[:5])
sc.stop()
