"""Counts the words of a text and prints them, the most frequent first.

    spark-submit --master 'local[2]' examples/python/wordcount.py FILE
"""
import sys

from pyspark import SparkContext

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: wordcount.py FILE")
    sc = SparkContext(appName="wordcount")
    counts = sc.textFile(sys.argv[1]).flatMap(str.split).map(lambda word: (word, 1)).reduceByKey(lambda a, b: a + b)
    for word, count in counts.sortBy(lambda row: (-row[1], row[0])).collect():
        print(f"{word}: {count}")
    sc.stop()
