"""Firesteel: Spark's engine and spark-submit without a JVM, for PySpark programs.

    import firesteel
    firesteel.install()

    from pyspark import SparkContext
    sc = SparkContext("local[*]")

install() sets SPARK_HOME to the copy of Firesteel in this package, which makes pyspark of the same environment start
Firesteel instead of a JVM. rdd_native calls functions in C on RDDs, and Struct describes rows that are structs there.
"""
import os

__all__ = ["Struct", "home", "install", "rdd_native"]


def home():
    """The folder that holds bin/spark-submit."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "home")


def install():
    """Makes pyspark start Firesteel: sets SPARK_HOME. Call it before the first SparkContext. Returns SPARK_HOME."""
    from pyspark import SparkContext

    if SparkContext._gateway is not None and os.environ.get("SPARK_HOME") != home():
        raise RuntimeError("pyspark has started its engine already: call firesteel.install() before the first SparkContext")
    os.environ["SPARK_HOME"] = home()
    return home()


def __getattr__(name):
    """What needs pyspark."""
    if name in ("Struct", "rdd_native"):
        from firesteel import native

        return getattr(native, name)
    raise AttributeError("module 'firesteel' has no attribute %r" % name)
