"""Errors by hour from a generated log, with cache, accumulators and broadcast."""
from pyspark import SparkContext

sc = SparkContext(appName="log mining")
levels = ("INFO", "WARN", "ERROR")
lines = ["%02d:%02d %s service%d message %d" % (i // 60 % 24, i % 60, levels[i * 7 % 3], i % 5, i) for i in range(2000)] + ["broken", ""]
bad = sc.accumulator(0)
names = sc.broadcast({"service%d" % i: "Service " + "ABCDE"[i] for i in range(5)})


def parse(line):
    parts = line.split()
    if len(parts) < 3:
        bad.add(1)
        return []
    return [(int(parts[0][:2]), parts[1], names.value[parts[2]])]


rows = sc.parallelize(lines, 4).flatMap(parse).cache()
print(rows.count(), bad.value)
print(sorted(rows.filter(lambda r: r[1] == "ERROR").map(lambda r: (r[0], 1)).reduceByKey(lambda a, b: a + b).take(100))[:4])
print(sorted(rows.map(lambda r: ((r[2], r[1]), 1)).reduceByKey(lambda a, b: a + b).collect())[:4])
sc.stop()
