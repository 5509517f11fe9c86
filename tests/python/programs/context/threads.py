"""Each thread has local properties of its own; jobs run at the same time."""
import threading

from pyspark import InheritableThread, SparkContext, TaskContext

sc = SparkContext(appName="threads")
sc.setLocalProperty("name", "main")
seen = {}


def work(i):
    before = sc.getLocalProperty("name")
    sc.setLocalProperty("name", "thread %d" % i)
    sc.setJobGroup("group %d" % i, "")
    rows = sc.parallelize(range(i + 1), 2).map(lambda x: (x, TaskContext.get().getLocalProperty("name"))).collect()
    seen[i] = (before, rows[0][1], len(rows), sc.getLocalProperty("spark.jobGroup.id"))


threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print(sorted((i, s[1:]) for i, s in seen.items()), sc.getLocalProperty("name"), sc.getLocalProperty("spark.jobGroup.id"))
seen.clear()
t = InheritableThread(target=work, args=(9,))
t.start()
t.join()
print(seen)
sc.stop()
