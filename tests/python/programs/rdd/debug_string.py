"""toDebugString shows the lineage."""
import re

from pyspark import SparkContext

sc = SparkContext(appName="lineage")
rdd = sc.parallelize(range(10), 3).map(lambda x: (x % 2, x)).reduceByKey(lambda a, b: a + b)
text = rdd.toDebugString()
text = text.decode() if isinstance(text, bytes) else text
lines = [re.sub(r"\[\d+\]", "[n]", line) for line in text.split("\n")]
print(len(lines), [re.search(r"[A-Z]\w*RDD", line).group() for line in lines if re.search(r"[A-Z]\w*RDD", line)])
print(lines[0].startswith("(3)"), any("+-(3)" in line for line in lines))
cached = sc.parallelize(range(4), 2).setName("kept").cache()
cached.count()
text = cached.toDebugString()
text = text.decode() if isinstance(text, bytes) else text
print("kept" in text, "CachedPartitions: 2" in text, "[Memory Serialized 1x Replicated]" in text)
sc.stop()
