"""A worker that exits or is killed fails its task, not the application."""
import os
import signal

from pyspark import SparkContext

sc = SparkContext(appName="crashed workers")


def leave(x):
    os._exit(3)


def kill(x):
    os.kill(os.getpid(), signal.SIGKILL)


for bad in (leave, kill):
    try:
        sc.parallelize([1, 2], 1).map(bad).collect()
    except Exception as e:
        text = str(e)
        print(type(e).__name__, "Python worker exited unexpectedly (crashed)" in text, "Job aborted due to stage failure" in text)
    print(sc.parallelize(range(4), 2).map(lambda x: x * x).collect())
sc.stop()
