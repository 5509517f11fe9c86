"""Text of other scripts in rows, keys, names, job descriptions, files."""
import os
import tempfile

from pyspark import SparkContext

sc = SparkContext(appName="Größe 日本 😀")
rows = ["Größe", "日本語", "😀😀", "עברית", "a\u0000b", "tab\tline\\n", "\u2028"]
rdd = sc.parallelize(rows, 3)
print(rdd.collect() == rows, rdd.map(len).collect(), sorted(rdd.map(lambda s: (s, 1)).reduceByKey(max).keys().collect()) == sorted(rows))
sc.setJobDescription("Beschreibung: ß 😀")
print(sc.getLocalProperty("spark.job.description"), sc.appName)
folder = os.path.join(tempfile.mkdtemp(), "Ordner ü 日")
rdd.filter(lambda s: "\n" not in s and "\u2028" not in s).saveAsTextFile(folder)
print(sorted(sc.textFile(folder).collect()))
print(sorted(os.path.basename(name) for name, _ in sc.wholeTextFiles(folder).collect())[:2])
sc.stop()
