"""In local mode a task has one attempt; what failed is not cached or counted."""
import os
import tempfile

from pyspark import SparkContext, TaskContext

sc = SparkContext(appName="attempts")
folder = tempfile.mkdtemp()


def once(i, rows):
    name = os.path.join(folder, "%d-%d" % (i, TaskContext.get().attemptNumber()))
    open(name, "w").close()
    if i == 1:
        raise RuntimeError("always")
    return rows


try:
    sc.parallelize(range(4), 2).mapPartitionsWithIndex(once).collect()
except Exception as e:
    print("RuntimeError: always" in str(e))
print([name for name in os.listdir(folder) if name.startswith("1-")] == ["1-0"] or sorted(name for name in os.listdir(folder) if name.startswith("1-")))
sc.stop()
