"""Counts the words of a file by reduceByKey. Prints the seconds of the action, the number of words and of different words."""
import sys
import time
from operator import add

from pyspark import SparkContext

sc = SparkContext(appName="word count")
start = time.monotonic()
counts = sc.textFile(sys.argv[1], 4).flatMap(str.split).map(lambda word: (word, 1)).reduceByKey(add).values().collect()
print(f"job: {time.monotonic() - start:.3f}")
print(f"words: {sum(counts)} {len(counts)}")
sc.stop()
