"""Finds K centres of the points of a file, a point on a line, its coordinates separated by blanks.

    spark-submit --master 'local[2]' examples/python/kmeans.py FILE K [DISTANCE]

Ends when the centres together move less than DISTANCE (0.01).
"""
import sys

from pyspark import SparkContext


def squared_distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b))


def add(a, b):
    """Adds two pairs (sum of points, number of points)."""
    return [x + y for x, y in zip(a[0], b[0])], a[1] + b[1]


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: kmeans.py FILE K [DISTANCE]")
    k, limit = int(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 0.01
    sc = SparkContext(appName="kmeans")
    points = sc.textFile(sys.argv[1]).map(lambda line: [float(x) for x in line.split()]).cache()
    centres, moved = points.takeSample(False, k, 1), limit
    while moved >= limit:
        shared = sc.broadcast(centres)
        nearest = points.map(lambda p: (min(range(k), key=lambda i: squared_distance(p, shared.value[i])), (p, 1)))
        means = nearest.reduceByKey(add).mapValues(lambda sum: [x / sum[1] for x in sum[0]]).collectAsMap()
        moved = sum(squared_distance(centres[i], means[i]) for i in means)
        centres = [means.get(i, centres[i]) for i in range(k)]
        shared.destroy()
    for centre in sorted(centres):
        print(" ".join(f"{x:.4f}" for x in centre))
    sc.stop()
