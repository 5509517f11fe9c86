"""addArchive unpacks into the folder of SparkFiles."""
import os
import tempfile
import zipfile

from pyspark import SparkContext, SparkFiles

sc = SparkContext(appName="addArchive")
path = os.path.join(tempfile.mkdtemp(), "data.zip")
with zipfile.ZipFile(path, "w") as z:
    z.writestr("inner/value.txt", "41")
sc.addArchive(path + "#table")


def read(x):
    with open(os.path.join(SparkFiles.get("table"), "inner", "value.txt")) as f:
        return x + int(f.read())


print(sc.parallelize([1, 2], 2).map(read).collect(), len(sc.listArchives), read(1))
sc.stop()
