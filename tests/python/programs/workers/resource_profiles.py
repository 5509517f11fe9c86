"""Resource profiles: requests and what an RDD answers."""
from pyspark import SparkContext
from pyspark.resource import ExecutorResourceRequests, ResourceProfileBuilder, TaskResourceRequests

sc = SparkContext(appName="profiles")
executor = ExecutorResourceRequests().cores(2).memory("1g").pysparkMemory("256m").resource("gpu", 1)
task = TaskResourceRequests().cpus(1).resource("gpu", 0.5)
builder = ResourceProfileBuilder().require(executor).require(task)
profile = builder.build
print(sorted((k, v.amount) for k, v in profile.executorResources.items()))
print(sorted((k, v.amount) for k, v in profile.taskResources.items()))
print(sorted(builder.taskResources), sorted(builder.executorResources))
builder.clearExecutorResourceRequests()
print(sorted(builder.executorResources), sc.parallelize([1]).getResourceProfile())
sc.stop()
