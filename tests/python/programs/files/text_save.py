"""saveAsTextFile: parts, _SUCCESS, codecs, non-string rows, an existing folder."""
import gzip
import os
import tempfile

from pyspark import SparkContext

sc = SparkContext(appName="save text")
folder = tempfile.mkdtemp()
rdd = sc.parallelize(["a", 1, None, ("x", 2.5), "größer", b"bytes"], 3)
path = os.path.join(folder, "out")
rdd.saveAsTextFile(path)
print(sorted(name for name in os.listdir(path) if not name.startswith(".")))
for i in range(3):
    print(open(os.path.join(path, "part-0000%d" % i), encoding="utf-8").read().split("\n"))
packed = os.path.join(folder, "packed")
sc.parallelize(["foo", "bar"], 1).saveAsTextFile(packed, "org.apache.hadoop.io.compress.GzipCodec")
print([name for name in os.listdir(packed) if name.startswith("part")], gzip.open(os.path.join(packed, "part-00000.gz")).read())
print(sc.textFile(packed).collect())
try:
    rdd.saveAsTextFile(path)
except Exception as e:
    print("FileAlreadyExistsException" in str(e), "already exists" in str(e))
sc.parallelize([], 2).saveAsTextFile(os.path.join(folder, "none"))
print(sc.textFile(os.path.join(folder, "none")).collect())
sc.stop()
