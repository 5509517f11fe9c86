"""k-means on points of two dimensions, without numpy."""
import random

from pyspark import SparkContext

sc = SparkContext(appName="kmeans")
dice = random.Random(3)
points = sc.parallelize([(dice.gauss(x, 0.3), dice.gauss(y, 0.3)) for x, y in ((0, 0), (5, 5), (0, 6)) for _ in range(60)], 4).cache()
centres = [(1.0, 1.0), (4.0, 4.0), (1.0, 5.0)]
for _ in range(6):
    given = sc.broadcast(centres)

    def nearest(p):
        return min(range(3), key=lambda i: (p[0] - given.value[i][0]) ** 2 + (p[1] - given.value[i][1]) ** 2)

    sums = points.map(lambda p: (nearest(p), (p[0], p[1], 1))).reduceByKey(lambda a, b: tuple(x + y for x, y in zip(a, b))).collectAsMap()
    centres = [(sums[i][0] / sums[i][2], sums[i][1] / sums[i][2]) for i in range(3)]
print([(round(x, 4), round(y, 4)) for x, y in centres], [sums[i][2] for i in range(3)])
sc.stop()
