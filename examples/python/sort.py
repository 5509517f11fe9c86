"""Sorts the integers of a text file, one or several on a line.

    spark-submit --master 'local[2]' examples/python/sort.py FILE
"""
import sys

from pyspark import SparkContext

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: sort.py FILE")
    sc = SparkContext(appName="sort")
    numbers = sc.textFile(sys.argv[1]).flatMap(str.split).map(int)
    for number in numbers.sortBy(lambda n: n).toLocalIterator():
        print(number)
    sc.stop()
