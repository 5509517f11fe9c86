"""What programs read from a Py4JJavaError: java_exception, its class and text."""
from py4j.protocol import Py4JJavaError

from pyspark import SparkContext

sc = SparkContext(appName="java exception")
try:
    sc.parallelize([1, 2], 2).map(lambda x: 1 / 0).collect()
except Py4JJavaError as e:
    name = e.java_exception.getClass().getName()
    print(name.startswith("org.apache.spark."), "division by zero" in e.java_exception.toString(), "division by zero" in e.java_exception.getMessage())
    print(str(e).startswith("An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.\n: org.apache.spark."))
    print(e.errmsg)
sc.stop()
