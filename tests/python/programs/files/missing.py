"""Missing input: the error names the path, when partitions are asked for or an action runs."""
import os
import tempfile

from pyspark import SparkContext

sc = SparkContext(appName="missing input")
path = os.path.join(tempfile.mkdtemp(), "missing.txt")
for action in (lambda: sc.textFile(path).count(), lambda: sc.textFile(path).getNumPartitions(), lambda: sc.wholeTextFiles(path).collect(),
               lambda: sc.binaryFiles(path).count(), lambda: sc.textFile(path + "*").first()):
    try:
        action()
        print("no error")
    except Exception as e:
        text = str(e)
        print(type(e).__name__, "InvalidInputException" in text or "FileNotFound" in text, "missing.txt" in text)
print(sc.parallelize([1]).collect())
sc.stop()
