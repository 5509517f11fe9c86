"""Computes pi from random points in a square.

    spark-submit --master 'local[2]' examples/python/pi.py [TASKS]
"""
import random
import sys

from pyspark import SparkContext

POINTS = 100_000  # for each task


def hits(seed):
    """Counts the points of one task that fall into the circle."""
    dice = random.Random(seed)
    return sum(dice.random() ** 2 + dice.random() ** 2 <= 1 for _ in range(POINTS))


if __name__ == "__main__":
    tasks = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    sc = SparkContext(appName="pi")
    inside = sc.parallelize(range(tasks), tasks).map(hits).sum()
    print(f"Pi is roughly {4 * inside / (tasks * POINTS):.6f}")
    sc.stop()
