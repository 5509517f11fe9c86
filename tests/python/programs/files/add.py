"""addFile: SparkFiles on driver and executors, listFiles, a file of the same name, a directory."""
import os
import tempfile

from pyspark import SparkContext, SparkFiles

sc = SparkContext(appName="addFile")
folder = tempfile.mkdtemp()
path = os.path.join(folder, "table.txt")
with open(path, "w") as f:
    f.write("100")
sc.addFile(path)
with open(SparkFiles.get("table.txt")) as f:
    print(f.read())


def read(rows):
    with open(SparkFiles.get("table.txt")) as f:
        factor = int(f.read())
    return [x * factor for x in rows]


print(sc.parallelize([1, 2, 3], 2).glom().map(read).collect())
print([os.path.basename(name) for name in sc.listFiles])
for wrong in (folder, os.path.join(folder, "missing.txt")):
    try:
        sc.addFile(wrong)
    except Exception as e:
        print(type(e).__name__)
sc.stop()
