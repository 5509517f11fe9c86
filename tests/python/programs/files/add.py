"""addFile: SparkFiles on driver and executors, a folder, listFiles."""
import os
import tempfile

from pyspark import SparkContext, SparkFiles

sc = SparkContext(appName="addFile")
folder = tempfile.mkdtemp()
path = os.path.join(folder, "table.txt")
with open(path, "w") as f:
    f.write("100")
os.makedirs(os.path.join(folder, "sub", "deeper"))
with open(os.path.join(folder, "sub", "deeper", "x.txt"), "w") as f:
    f.write("7")
sc.addFile(path)
sc.addFile(os.path.join(folder, "sub"), True)
with open(SparkFiles.get("table.txt")) as f:
    print(f.read())


def read(rows):
    with open(SparkFiles.get("table.txt")) as f, open(os.path.join(SparkFiles.get("sub"), "deeper", "x.txt")) as g:
        factor, extra = int(f.read()), int(g.read())
    return [x * factor + extra for x in rows]


print(sc.parallelize([1, 2, 3], 2).glom().map(read).collect())
print(sorted(os.path.basename(name.rstrip("/")) for name in sc.listFiles))
try:
    sc.addFile(os.path.join(folder, "sub"))
except Exception as e:
    print(type(e).__name__, "directory" in str(e))
sc.stop()
