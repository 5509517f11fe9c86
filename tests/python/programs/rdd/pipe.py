"""pipe through a command, with an environment and a failing command."""
from pyspark import SparkContext

sc = SparkContext(appName="pipe")
rdd = sc.parallelize(["3", "1", "2", "größer"], 2)
print(rdd.pipe("cat").collect(), rdd.pipe("wc -l").map(str.strip).collect())
print(rdd.pipe("sh -c 'echo $WORD; cat > /dev/null'", {"WORD": "hello", "PATH": "/usr/bin:/bin"}).collect())
print(sc.parallelize([], 2).pipe("cat").collect())
print(rdd.pipe("grep 7").collect())
try:
    rdd.pipe("grep 7", checkCode=True).collect()
except Exception as e:
    print("exited with" in str(e) or "exit status" in str(e), "1" in str(e))
sc.stop()
