"""addFile of a directory, which needs recursive=True."""
import os
import tempfile

from pyspark import SparkContext, SparkFiles

sc = SparkContext(appName="addFile of a directory")
folder = os.path.join(tempfile.mkdtemp(), "sub")
os.makedirs(os.path.join(folder, "deeper"))
with open(os.path.join(folder, "deeper", "x.txt"), "w") as f:
    f.write("7")
sc.addFile(folder, True)


def read(rows):
    with open(os.path.join(SparkFiles.get("sub"), "deeper", "x.txt")) as f:
        extra = int(f.read())
    return [x + extra for x in rows]


print(sc.parallelize([1, 2, 3], 2).glom().map(read).collect())
print([os.path.basename(name.rstrip("/")) for name in sc.listFiles])
sc.stop()
