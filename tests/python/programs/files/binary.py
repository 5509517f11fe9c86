"""binaryFiles and binaryRecords."""
import os
import struct
import tempfile

from pyspark import SparkContext

sc = SparkContext(appName="binary files")
folder = tempfile.mkdtemp()
for i in range(3):
    with open(os.path.join(folder, f"{i}.bin"), "wb") as f:
        f.write(bytes(range(256)) * (i + 1))
rdd = sc.binaryFiles(folder)
print(sorted((os.path.basename(name), len(data), data[:3]) for name, data in rdd.collect()))
print(rdd.values().map(sum).sum())
path = os.path.join(folder, "records")
with open(path, "wb") as f:
    f.write(b"".join(struct.pack(">IH", i, i * 2) for i in range(1000)))
records = sc.binaryRecords(path, 6)
print(records.count(), records.map(lambda r: struct.unpack(">IH", r)).take(3), records.map(len).distinct().collect())
sc.stop()
