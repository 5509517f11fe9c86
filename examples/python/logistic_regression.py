"""Fits a plane between two classes of points by gradient descent. A line of the file is "LABEL X…" with the label 1 or -1.

    spark-submit --master 'local[2]' examples/python/logistic_regression.py FILE [ROUNDS]
"""
import math
import sys

from pyspark import SparkContext


def parse(line):
    label, *coordinates = map(float, line.split())
    return label, coordinates


def gradient(point, weights):
    label, x = point
    scale = (1 / (1 + math.exp(-label * sum(a * b for a, b in zip(weights, x)))) - 1) * label
    return [scale * value for value in x]


def add(a, b):
    return [x + y for x, y in zip(a, b)]


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: logistic_regression.py FILE [ROUNDS]")
    sc = SparkContext(appName="logistic regression")
    points = sc.textFile(sys.argv[1]).map(parse).cache()
    weights = [0.0] * len(points.first()[1])
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 10):
        change = points.map(lambda point: gradient(point, weights)).treeReduce(add)
        weights = [w - c / points.count() for w, c in zip(weights, change)]
    print(" ".join(f"{w:.6f}" for w in weights))
    sc.stop()
