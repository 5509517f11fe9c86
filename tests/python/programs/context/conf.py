"""SparkConf: set, get, contains, precedence, toDebugString."""
from pyspark import SparkConf, SparkContext

conf = SparkConf().setAppName("conf").set("spark.example", "x").setAll([("spark.a", "1"), ("spark.b", "2")]).setIfMissing("spark.a", "9")
conf.setExecutorEnv("NAME", "value").setExecutorEnv(pairs=[("A", "1")])
print(conf.get("spark.example"), conf.get("spark.none"), conf.get("spark.none", "d"), conf.contains("spark.a"), conf.contains("spark.none"))
sc = SparkContext(conf=conf)
got = dict(sc.getConf().getAll())
print([got.get(k) for k in ("spark.app.name", "spark.example", "spark.a", "spark.b", "spark.executorEnv.NAME")], sc.getConf().get("spark.master"))
print(sorted(k for k in got if k in ("spark.app.id", "spark.driver.host", "spark.executor.id", "spark.rdd.compress", "spark.app.startTime")))
print("spark.a=1" in sc.getConf().toDebugString().split("\n"))
empty = SparkConf(False)
print(empty.getAll(), empty.set("k", "v").getAll(), empty.toDebugString())
conf.set("spark.a", "changed")
print(sc.getConf().get("spark.a"))
sc.stop()
