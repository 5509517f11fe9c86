"""textFile: partitions, line ends, folders, patterns, several paths, empty lines."""
import os
import tempfile

from pyspark import SparkContext

sc = SparkContext(appName="text files")
folder = tempfile.mkdtemp()
for name, data in (("a.txt", b"one\ntwo\n\nfour"), ("b.txt", b"five\r\nsix\rseven\n"), ("empty.txt", b""), (".hidden", b"no"), ("_no", b"no")):
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)
print(sorted(sc.textFile(folder).collect()))
print(sc.textFile(os.path.join(folder, "a.txt")).collect(), sc.textFile(os.path.join(folder, "b.txt"), 1).collect())
print(sorted(sc.textFile(os.path.join(folder, "[ab].txt"), 4).collect()), sc.textFile("file://" + os.path.join(folder, "a.txt")).count())
print(sorted(sc.textFile(f"{folder}/a.txt,{folder}/b.txt").collect()), sc.textFile(os.path.join(folder, "empty.txt")).collect())
print(sc.textFile(os.path.join(folder, "a.txt"), use_unicode=False).collect())
with open(os.path.join(folder, "big.txt"), "w") as f:
    f.writelines(f"line {i}\n" for i in range(50000))
big = sc.textFile(os.path.join(folder, "big.txt"), 5)
print(big.getNumPartitions() >= 5, big.count(), big.first(), big.map(lambda s: int(s.split()[1])).sum())
sc.stop()
