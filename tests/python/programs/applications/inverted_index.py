"""An inverted index of whole files."""
import os
import tempfile

from pyspark import SparkContext

sc = SparkContext(appName="inverted index")
folder = tempfile.mkdtemp()
for name, text in (("a", "red green blue red"), ("b", "green yellow"), ("c", "blue blue")):
    with open(os.path.join(folder, name), "w") as f:
        f.write(text)
index = (sc.wholeTextFiles(folder, 2).flatMap(lambda kv: [(w, os.path.basename(kv[0])) for w in kv[1].split()])
         .map(lambda pair: (pair, 1)).reduceByKey(lambda a, b: a + b).map(lambda kv: (kv[0][0], (kv[0][1], kv[1]))).groupByKey().mapValues(sorted).sortByKey())
for row in index.collect():
    print(row)
sc.stop()
