"""Logistic regression by gradient descent on seeded points."""
import math
import random

from pyspark import SparkContext

sc = SparkContext(appName="logistic regression")
dice = random.Random(11)
data = []
for i in range(200):
    y = 1 if i % 2 else -1
    data.append((y, [dice.gauss(y * 0.7, 1) for _ in range(4)]))
points = sc.parallelize(data, 4).cache()
w = [0.0] * 4
for _ in range(5):
    def gradient(p):
        y, x = p
        scale = (1 / (1 + math.exp(-y * sum(a * b for a, b in zip(w, x)))) - 1) * y
        return [scale * v for v in x]

    g = points.map(gradient).treeReduce(lambda a, b: [x + y for x, y in zip(a, b)])
    w = [a - 0.05 * b for a, b in zip(w, g)]
print([round(v, 6) for v in w])
sc.stop()
