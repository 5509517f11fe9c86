"""Ranks pages by the links between them. A line of the file is "PAGE PAGE": the first links to the second.

    spark-submit --master 'local[2]' examples/python/pagerank.py FILE [ROUNDS]
"""
import sys

from pyspark import SparkContext

DAMPING = 0.85


def shares(page):
    """Divides the rank of a page among the pages that it links to."""
    targets, rank = page[1]
    return [(target, rank / len(targets)) for target in targets]


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: pagerank.py FILE [ROUNDS]")
    sc = SparkContext(appName="pagerank")
    edges = sc.textFile(sys.argv[1]).map(lambda line: tuple(line.split()[:2]))
    links = edges.distinct().groupByKey().mapValues(list).cache()  # every round joins them
    ranks = links.mapValues(lambda targets: 1.0)
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 10):
        ranks = links.join(ranks).flatMap(shares).reduceByKey(lambda a, b: a + b).mapValues(lambda sum: 1 - DAMPING + DAMPING * sum)
    for page, rank in sorted(ranks.collect()):
        print(f"{page} {rank:.6f}")
    sc.stop()
