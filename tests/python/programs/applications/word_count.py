"""The words of a generated file, counted, sorted and saved."""
import os
import tempfile

from pyspark import SparkContext

sc = SparkContext(appName="word count")
folder = tempfile.mkdtemp()
words = ["spark", "steel", "fire", "worker", "driver", "task", "stage"]
with open(os.path.join(folder, "text"), "w") as f:
    for i in range(3000):
        f.write(" ".join(words[(i * k) % 7] for k in range(1, 1 + i % 9)) + "\n")
counts = sc.textFile(os.path.join(folder, "text"), 4).flatMap(lambda line: line.split()).map(lambda w: (w, 1)).reduceByKey(lambda a, b: a + b)
print(sorted(counts.collect()))
counts.sortBy(lambda wc: (-wc[1], wc[0]), numPartitions=1).map(lambda wc: "%s %d" % wc).saveAsTextFile(os.path.join(folder, "out"))
print(open(os.path.join(folder, "out", "part-00000")).read().splitlines()[:3])
sc.stop()
