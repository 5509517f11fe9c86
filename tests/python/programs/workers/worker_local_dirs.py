"""The program's local folders: workers see SPARK_LOCAL_DIRS and write there."""
import os

from pyspark import SparkContext

sc = SparkContext(appName="local dirs")
print(sc.parallelize([1], 1).map(lambda _: [os.path.isdir(d) for d in os.environ["SPARK_LOCAL_DIRS"].split(",")]).first()[0])
print(sc.parallelize([1], 1).map(lambda _: os.environ.get("SPARK_REUSE_WORKER")).collect(), sc.parallelize([1], 1).map(lambda _: os.environ.get("SPARK_BUFFER_SIZE")).collect())
sc.stop()
