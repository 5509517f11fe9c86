"""barrier: all tasks meet; addresses of all tasks."""
from pyspark import BarrierTaskContext, SparkContext, TaskContext

sc = SparkContext(appName="barrier")


def meet(rows):
    context = BarrierTaskContext.get()
    context.barrier()
    infos = context.getTaskInfos()
    context.barrier()
    yield context.partitionId(), sum(rows), len(infos), all(info.address for info in infos)


print(sc.parallelize(range(10), 2).barrier().mapPartitions(meet).collect())
print(sc.parallelize(range(10), 2).barrier().mapPartitionsWithIndex(lambda i, rows: [(i, sum(rows), isinstance(TaskContext.get(), BarrierTaskContext))]).collect())
print(sc.parallelize(range(4), 2).barrier().mapPartitions(lambda rows: rows).map(lambda x: (x % 2, x)).reduceByKey(max).collectAsMap() == {0: 2, 1: 3})
sc.stop()
