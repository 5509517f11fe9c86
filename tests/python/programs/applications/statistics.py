"""Mean and deviation by key with combineByKey, quantiles from a sort with zipWithIndex."""
import math

from pyspark import SparkContext

sc = SparkContext(appName="statistics by key")
rows = sc.parallelize([("abc"[i % 3], (i * 37 % 101) / 10) for i in range(300)], 5)
moments = rows.combineByKey(lambda v: (1, v, v * v), lambda a, v: (a[0] + 1, a[1] + v, a[2] + v * v), lambda a, b: tuple(x + y for x, y in zip(a, b)))
print(sorted((k, round(s / n, 4), round(math.sqrt(q / n - (s / n) ** 2), 4)) for k, (n, s, q) in moments.collect()))
ordered = rows.values().sortBy(lambda v: v).zipWithIndex().map(lambda vi: (vi[1], vi[0])).cache()
print([ordered.lookup(i)[0] for i in (0, 75, 150, 225, 299)])
sc.stop()
