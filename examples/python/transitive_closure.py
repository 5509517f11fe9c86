"""Computes which nodes of a random graph can be reached from which, by joins until no pair is new.

    spark-submit --master 'local[2]' examples/python/transitive_closure.py [PARTITIONS]
"""
import random
import sys

from pyspark import SparkContext

EDGES, NODES = 200, 100


def random_edges():
    dice, edges = random.Random(42), set()
    while len(edges) < EDGES:
        start, end = dice.randrange(NODES), dice.randrange(NODES)
        if start != end:
            edges.add((start, end))
    return sorted(edges)


if __name__ == "__main__":
    partitions = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    sc = SparkContext(appName="transitive closure")
    paths = sc.parallelize(random_edges(), partitions).cache()
    edges_by_end = paths.map(lambda edge: (edge[1], edge[0]))  # joined with paths by their start
    before, now = 0, paths.count()
    while now != before:
        longer = paths.join(edges_by_end).map(lambda row: (row[1][1], row[1][0]))
        paths = paths.union(longer).distinct(partitions).cache()
        before, now = now, paths.count()
    print(f"TC has {now} edges")
    sc.stop()
