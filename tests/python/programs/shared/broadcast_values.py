"""Broadcast values: small, large, several, in closures of closures."""
from pyspark import SparkContext

sc = SparkContext(appName="broadcast")
table = sc.broadcast({"a": 1, "b": 2})
big = sc.broadcast(list(range(300000)))
print(table.value, sc.parallelize("abba", 3).map(lambda k: table.value[k]).collect())
print(sc.parallelize([0, 299999], 2).map(lambda i: big.value[i] + table.value["a"]).collect())
many = [sc.broadcast(i * i) for i in range(10)]
print(sc.parallelize(range(10), 4).map(lambda i: many[i].value).collect())
print(sc.parallelize([1], 1).map(lambda _: sum(big.value)).collect(), sc.broadcast(None).value)
text = sc.broadcast("é" * 1000)
print(sc.parallelize([5]).map(lambda i: text.value[:i]).collect())
sc.stop()
