"""wholeTextFiles: names and contents of a folder."""
import os
import tempfile

from pyspark import SparkContext

sc = SparkContext(appName="whole files")
folder = tempfile.mkdtemp()
for i in range(5):
    with open(os.path.join(folder, f"{i}.txt"), "w", encoding="utf-8") as f:
        f.write(f"file {i}\nmit ß\n" * i)
rdd = sc.wholeTextFiles(folder)
print(sorted((os.path.basename(name), len(text), name.startswith("file:/")) for name, text in rdd.collect()))
print(rdd.mapValues(lambda text: text.count("ß")).values().sum(), sc.wholeTextFiles(folder, 3).count())
print(sorted(sc.wholeTextFiles(os.path.join(folder, "[12].txt")).values().collect()))
print(sorted(sc.wholeTextFiles(folder, use_unicode=False).values().map(type).map(lambda t: t.__name__).distinct().collect()))
sc.stop()
