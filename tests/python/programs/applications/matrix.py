"""A sparse matrix times another by joins."""
from pyspark import SparkContext

sc = SparkContext(appName="matrix")
n = 12
a = sc.parallelize([(i, j, i + j) for i in range(n) for j in range(n) if (i * j) % 3 == 0], 3)
b = sc.parallelize([(i, j, i - j) for i in range(n) for j in range(n) if (i + j) % 2], 2)
product = (a.map(lambda t: (t[1], (t[0], t[2]))).join(b.map(lambda t: (t[0], (t[1], t[2]))))
           .map(lambda kv: ((kv[1][0][0], kv[1][1][0]), kv[1][0][1] * kv[1][1][1])).reduceByKey(lambda x, y: x + y))
print(product.count(), product.values().sum(), sorted(product.collect())[:3])
sc.stop()
