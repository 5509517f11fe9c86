"""cancelAllJobs ends a job that runs in another thread."""
import threading
import time

from pyspark import SparkContext

sc = SparkContext(appName="cancel all")
result = []


def run():
    try:
        sc.parallelize(range(4), 2).map(lambda x: time.sleep(60)).count()
    except Exception as e:
        result.append("cancelled" in str(e))


t = threading.Thread(target=run)
t.start()
while not sc.statusTracker().getActiveJobsIds():
    time.sleep(0.05)
time.sleep(0.5)
sc.cancelAllJobs()
t.join()
print(result, sc.parallelize(range(5)).map(lambda x: x).count())
sc.stop()
