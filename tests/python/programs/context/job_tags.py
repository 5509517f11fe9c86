"""Job tags: add, remove, cancel by tag."""
import threading
import time

from pyspark import SparkContext

sc = SparkContext(appName="tags")
sc.addJobTag("one")
sc.addJobTag("two")
print(sorted(sc.getJobTags()))
sc.removeJobTag("one")
print(sorted(sc.getJobTags()))
sc.clearJobTags()
print(sorted(sc.getJobTags()))
for bad in ("", "a,b"):
    try:
        sc.addJobTag(bad)
    except Exception:
        print("refused", repr(bad))
result = []


def run():
    sc.addJobTag("cancel me")
    try:
        sc.parallelize(range(2), 2).map(lambda x: time.sleep(60)).collect()
        result.append("done")
    except Exception as e:
        result.append("cancelled" in str(e))


t = threading.Thread(target=run)
t.start()
while not sc.statusTracker().getActiveJobsIds():
    time.sleep(0.05)
time.sleep(0.5)
sc.cancelJobsWithTag("cancel me")
t.join()
print(result)
sc.stop()
