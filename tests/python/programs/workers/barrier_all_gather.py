"""allGather passes each task's message to all."""
from pyspark import BarrierTaskContext, SparkContext

sc = SparkContext(appName="allGather")


def gather(rows):
    context = BarrierTaskContext.get()
    first = context.allGather("task %d ß" % context.partitionId())
    second = context.allGather(str(sum(rows)))
    yield first, second


print(sc.parallelize(range(10), 2).barrier().mapPartitions(gather).collect())
sc.stop()
