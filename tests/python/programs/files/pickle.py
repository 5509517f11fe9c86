"""saveAsPickleFile and pickleFile, with batches and several partitions."""
import os
import tempfile

from pyspark import SparkContext

sc = SparkContext(appName="pickle files")
folder = tempfile.mkdtemp()
rows = [1, "zwei", None, (3, [4.5]), {"k": b"v"}, {6}]
for size in (10, 1, 2):
    path = os.path.join(folder, "rows%d" % size)
    sc.parallelize(rows, 3).saveAsPickleFile(path, size)
    back = sc.pickleFile(path)
    print(sorted(back.collect(), key=str) == sorted(rows, key=str), sorted(os.listdir(path))[-3:])
path = os.path.join(folder, "many")
sc.parallelize(range(20000), 4).map(lambda x: (x, "v" * (x % 50))).saveAsPickleFile(path)
print(sc.pickleFile(path, 3).map(lambda kv: len(kv[1])).sum(), sc.pickleFile(path).count())
sc.parallelize([], 2).saveAsPickleFile(os.path.join(folder, "none"))
print(sc.pickleFile(os.path.join(folder, "none")).collect())
sc.stop()
