"""Chained exceptions keep both tracebacks."""
from pyspark import SparkContext

sc = SparkContext(appName="chained")


def inner(x):
    raise KeyError("inner")


def outer(x):
    try:
        inner(x)
    except KeyError as e:
        raise RuntimeError("outer") from e


try:
    sc.parallelize([1], 1).map(outer).collect()
except Exception as e:
    text = str(e)
    print("KeyError: 'inner'" in text, "RuntimeError: outer" in text, "direct cause" in text, text.index("inner") < text.index("RuntimeError: outer"))
sc.stop()
