"""Local properties, job descriptions, call sites seen by tasks."""
from pyspark import SparkContext, TaskContext

sc = SparkContext(appName="local properties")
print(sc.getLocalProperty("key"))
sc.setLocalProperty("key", "value ß")
sc.setJobGroup("group 1", "a description")
print(sc.getLocalProperty("key"), sc.getLocalProperty("spark.jobGroup.id"), sc.getLocalProperty("spark.job.description"))
names = ("key", "spark.jobGroup.id", "spark.job.description", "none")
print(sc.parallelize([1], 1).map(lambda _: [TaskContext.get().getLocalProperty(n) for n in names]).collect())
sc.setLocalProperty("key", None)
sc.setJobDescription("another")
print(sc.parallelize([1], 1).map(lambda _: [TaskContext.get().getLocalProperty(n) for n in names]).collect())
sc.setJobDescription(None)
print(sc.getLocalProperty("spark.job.description"), sc.getLocalProperty("key"))
sc.stop()
