"""Pi from seeded darts."""
import random

from pyspark import SparkContext

sc = SparkContext(appName="pi")


def hits(seed):
    dice = random.Random(seed)
    return sum(dice.random() ** 2 + dice.random() ** 2 <= 1 for _ in range(5000))


inside = sc.parallelize(range(8), 4).map(hits).reduce(lambda a, b: a + b)
print(inside, round(4 * inside / 40000, 3))
sc.stop()
