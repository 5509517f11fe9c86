"""cancelJobGroup ends the jobs of one group; others go on."""
import threading
import time

from pyspark import SparkContext

sc = SparkContext(appName="cancel a group")
result = {}


def run(group, seconds):
    sc.setJobGroup(group, "", interruptOnCancel=True)
    try:
        result[group] = sc.parallelize(range(2), 2).map(lambda x: time.sleep(seconds) or x).collect()
    except Exception as e:
        result[group] = "cancelled" in str(e)


threads = [threading.Thread(target=run, args=a) for a in (("slow", 60), ("fast", 0.2))]
[t.start() for t in threads]
tracker = sc.statusTracker()
while not tracker.getJobIdsForGroup("slow"):
    time.sleep(0.05)
time.sleep(0.5)
sc.cancelJobGroup("slow")
[t.join() for t in threads]
print(sorted(result.items()), sc.parallelize([1, 2]).sum())
sc.stop()
