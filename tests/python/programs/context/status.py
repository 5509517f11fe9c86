"""The status tracker: ids, stages, counts of a finished and of a running job."""
import threading
import time

from pyspark import SparkContext

sc = SparkContext(appName="status tracker")
tracker = sc.statusTracker()
print(tracker.getActiveJobsIds(), tracker.getActiveStageIds(), tracker.getJobInfo(99), tracker.getStageInfo(99))
sc.setJobGroup("g", "")
sc.parallelize(range(10), 3).map(lambda x: (x % 2, x)).reduceByKey(lambda a, b: a + b).collect()
ids = tracker.getJobIdsForGroup("g")
job = tracker.getJobInfo(ids[0])
for _ in range(100):
    if tracker.getJobInfo(ids[0]).status == "SUCCEEDED":
        break
    time.sleep(0.05)
print(len(ids), tracker.getJobInfo(ids[0]).status, len(job.stageIds))
stages = [tracker.getStageInfo(s) for s in sorted(job.stageIds)]
print([(s.numTasks, s.numFailedTasks, s.currentAttemptId) for s in stages])


def run():
    sc.setJobGroup("slow", "")
    sc.parallelize(range(2), 2).map(lambda x: time.sleep(2)).count()


t = threading.Thread(target=run)
t.start()
while not tracker.getJobIdsForGroup("slow"):
    time.sleep(0.05)
print(tracker.getJobInfo(tracker.getJobIdsForGroup("slow")[0]).status, len(tracker.getActiveJobsIds()))
t.join()
print(tracker.getActiveJobsIds())
sc.stop()
