"""TaskContext: ids, partition, attempt, cpus; None on the driver."""
from pyspark import SparkContext, TaskContext

sc = SparkContext(appName="task context")
print(TaskContext.get())
rdd = sc.parallelize(range(6), 3)
print(rdd.mapPartitions(lambda rows: [(TaskContext.get().partitionId(), TaskContext.get().attemptNumber(), TaskContext.get().cpus())]).collect())
stages = rdd.map(lambda x: TaskContext.get().stageId()).collect()
print(len(set(stages)), stages[0] < rdd.map(lambda x: TaskContext.get().stageId()).first())
ids = rdd.mapPartitions(lambda rows: [TaskContext.get().taskAttemptId()]).collect()
print(ids == [ids[0], ids[0] + 1, ids[0] + 2], rdd.map(lambda x: TaskContext.get().resources()).first())
shuffled = rdd.map(lambda x: (x % 2, (x, TaskContext.get().partitionId()))).groupByKey(2)
print(sorted((k, sorted(v), p) for k, v, p in shuffled.map(lambda kv: (kv[0], list(kv[1]), TaskContext.get().partitionId())).collect()))
sc.stop()
