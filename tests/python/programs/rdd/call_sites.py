"""Names, places and scopes of RDDs, jobs and stages, in toDebugString and in the event log."""
import json
import os
import re
import tempfile

from pyspark import SparkConf, SparkContext

folder = tempfile.mkdtemp()
text = os.path.join(folder, "in.txt")
with open(text, "w") as f:
    f.write("a b\nb c\n")
conf = SparkConf().setAppName("call sites").set("spark.eventLog.enabled", "true").set("spark.eventLog.dir", "file:" + folder)
conf.set("spark.eventLog.compress", "false").set("spark.eventLog.rolling.enabled", "false")
sc = SparkContext(conf=conf)


def plain(line):
    """Without ids, folders, lines of Spark's own source and sizes."""
    line = re.sub(r"\[\d+\]", "[n]", line.replace(folder, "FOLDER").replace(os.path.dirname(os.path.abspath(__file__)), "HERE"))
    line = re.sub(r"\.scala:\d+", ".scala:N", line)
    return re.sub(r"(MemorySize|DiskSize): [0-9.]+ \w+", r"\1: N", line)


def show(name, rdd):
    lines = rdd.toDebugString()
    print("--", name, plain(rdd.name() or ""))
    print(plain(lines.decode() if isinstance(lines, bytes) else lines))


numbers = sc.parallelize(range(6), 2)
pairs = numbers.map(lambda x: (x % 2, x))
sums = pairs.reduceByKey(lambda a, b: a + b)
lines = sc.textFile(text, 1)
show("reduceByKey", sums)
show("join", pairs.join(sums))
show("union", sums.union(pairs))
show("partitions united", sums.union(sums))
show("cartesian", numbers.cartesian(numbers))
show("zip", numbers.zip(pairs))
show("coalesce", numbers.coalesce(1))
show("textFile", lines.flatMap(str.split))
show("wholeTextFiles", sc.wholeTextFiles(text, 1))
show("binaryFiles", sc.binaryFiles(text, 1))
show("binaryRecords", sc.binaryRecords(text, 4))
show("emptyRDD", sc.emptyRDD())
kept = numbers.map(str).setName("kept").cache()
show("before it is cached", kept)
kept.count()
show("cached", kept)
show("of a cached RDD", kept.map(len))
sc.setCheckpointDir(folder)
saved = numbers.map(str)
saved.checkpoint()
saved.count()
show("checkpoint", saved)

sums.collect()
sums.take(1)
kept.reduce(max)
kept.foreach(len)
list(kept.toLocalIterator())
kept.saveAsTextFile(os.path.join(folder, "out"))
sc.setJobDescription("described")
sums.union(pairs).zip(sums.union(pairs)).count()
sc.setLocalProperty("callSite.short", "my own place")
sums.count()
name = sc.applicationId
sc.stop()

print("-- jobs and stages")
made = {}
with open(os.path.join(folder, name)) as events:
    for event in map(json.loads, events):
        if event["Event"] == "SparkListenerJobStart":
            properties = event["Properties"]
            print("job", plain(properties.get("callSite.short", "")), properties.get("spark.job.description"),
                  json.loads(properties.get("spark.rdd.scope", "{}")).get("name"))
        elif event["Event"] == "SparkListenerStageSubmitted":
            stage = event["Stage Info"]
            print("stage", plain(stage["Stage Name"]), stage["Number of Tasks"])
            for rdd in sorted(stage["RDD Info"], key=lambda rdd: rdd["RDD ID"]):
                scope = json.loads(rdd.get("Scope", "{}")).get("name")
                if scope == "saveAsTextFile":  # Spark's own, which formats the lines
                    continue
                if rdd["RDD ID"] not in made:
                    made[rdd["RDD ID"]] = len(made)
                print("   ", made[rdd["RDD ID"]], plain(rdd["Name"]), "|", plain(rdd["Callsite"]), "|", scope, rdd["Number of Partitions"],
                      [made.get(parent, "before") for parent in rdd["Parent IDs"]])
