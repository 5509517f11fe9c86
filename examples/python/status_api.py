"""Follows a job of another thread with the status tracker.

    spark-submit --master 'local[2]' examples/python/status_api.py
"""
import threading
import time

from pyspark import SparkContext

GROUP, TASKS = "slow squares", 8


def slow_square(x):
    time.sleep(0.5)
    return x * x


def run(sc, results):
    sc.setJobGroup(GROUP, "squares, half a second for each number")
    results.append(sc.parallelize(range(TASKS), TASKS).map(slow_square).sum())


if __name__ == "__main__":
    sc = SparkContext(appName="status")
    results, tracker = [], sc.statusTracker()
    job = threading.Thread(target=run, args=(sc, results))
    job.start()
    while job.is_alive():
        for job_id in tracker.getJobIdsForGroup(GROUP):
            for stage_id in tracker.getJobInfo(job_id).stageIds:
                stage = tracker.getStageInfo(stage_id)
                if stage is not None:
                    print(f"stage {stage_id}: {stage.numCompletedTasks} of {stage.numTasks} tasks ended, {stage.numActiveTasks} run")
        job.join(0.5)
    print(f"The sum of the squares is {results[0]}")
    sc.stop()
