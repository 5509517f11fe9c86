"""Environment of executors: executorEnv, environment of the context, PYTHONHASHSEED."""
import os

from pyspark import SparkConf, SparkContext

conf = SparkConf().setAppName("environment").set("spark.executorEnv.FROM_CONF", "conf").setExecutorEnv("FROM_SETTER", "setter")
sc = SparkContext(conf=conf, environment={"FROM_CONTEXT": "context"})
print(sc.parallelize([1], 1).map(lambda _: [os.environ.get(k) for k in ("FROM_CONF", "FROM_SETTER", "FROM_CONTEXT")]).collect())
print(sc.environment["FROM_CONTEXT"], sc.parallelize([1]).map(lambda _: os.environ.get("PYTHONHASHSEED")).collect())
print(sc.parallelize(["a", "b"], 2).map(lambda s: hash(s)).collect() == [hash("a"), hash("b")])
sc.stop()
