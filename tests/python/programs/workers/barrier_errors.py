"""Too many barrier tasks, a failing barrier task, barrier outside."""
from pyspark import BarrierTaskContext, SparkConf, SparkContext

sc = SparkContext(conf=SparkConf().setAppName("barrier errors").set("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "1s")
                  .set("spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures", "1"))
try:
    sc.parallelize(range(8), 8).barrier().mapPartitions(lambda rows: rows).collect()
except Exception as e:
    print("SPARK-24819" in str(e) or "more slots" in str(e))


def fail(rows):
    context = BarrierTaskContext.get()
    if context.partitionId() == 1:
        raise ValueError("one leaves")
    context.barrier()
    return rows


try:
    sc.parallelize(range(4), 2).barrier().mapPartitions(fail).collect()
except Exception as e:
    print("one leaves" in str(e) or "Could not recover from a failed barrier" in str(e))
try:
    sc.parallelize([1], 1).map(lambda x: BarrierTaskContext.get()).collect()
except Exception as e:
    print("barrier stage" in str(e))
try:
    sc.parallelize(range(4), 2).barrier().mapPartitions(lambda rows: rows).coalesce(1).collect()
    print("no error")
except Exception as e:
    print("SPARK-24820" in str(e) or type(e).__name__)
print(sc.parallelize(range(4), 2).sum())
sc.stop()
