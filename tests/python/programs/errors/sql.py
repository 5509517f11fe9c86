"""Members that need SQL or Hadoop formats answer with an error and never hang, or work."""
from pyspark import SparkContext

sc = SparkContext(appName="unknown members")
try:
    sc._jvm.org.example.NoSuchClass()
except TypeError as e:
    print("TypeError", e)
try:
    sc._jvm.java.lang.System.noSuchMethod()
except Exception as e:
    print(type(e).__name__)
try:
    sc._jsc.noSuchMethod(1)
except Exception as e:
    print(type(e).__name__)
print(sc.parallelize([1]).collect())
sc.stop()
