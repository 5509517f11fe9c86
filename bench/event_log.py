"""Writes event logs of any number of tasks, in the form of Spark 4.3.

A task costs some 3,000 bytes in two lines.
Each job has one stage of at most 20,000 tasks. Numbers vary from task to task.
"""
import json

STAGE_TASKS = 20_000
START_MS = 1_700_000_000_000
EXECUTORS = 20
PEAKS = ["JVMHeapMemory", "JVMOffHeapMemory", "OnHeapExecutionMemory", "OffHeapExecutionMemory", "OnHeapStorageMemory",
         "OffHeapStorageMemory", "OnHeapUnifiedMemory", "OffHeapUnifiedMemory", "DirectPoolMemory", "MappedPoolMemory",
         "ProcessTreeJVMVMemory", "ProcessTreeJVMRSSMemory", "ProcessTreePythonVMemory", "ProcessTreePythonRSSMemory",
         "ProcessTreeOtherVMemory", "ProcessTreeOtherRSSMemory", "MinorGCCount", "MinorGCTime", "MajorGCCount",
         "MajorGCTime", "TotalGCTime", "ConcurrentGCCount", "ConcurrentGCTime"]
ACCUMULATORS = ["executorDeserializeTime", "executorRunTime", "resultSize"]


def text(value):
    """Compact JSON, in which "@name" becomes the number %(name)d."""
    out = json.dumps(value, separators=(",", ":")).replace("%", "%%")
    for name in ("id", "index", "launch", "finish", "stage", "run", "cpu", "size", "total"):
        out = out.replace(f'"@{name}"', f"%({name})d")
    return out.replace('"@executor"', '"%(executor)d"') + "\n"


def task_lines():
    info = {"Task ID": "@id", "Index": "@index", "Attempt": 0, "Partition ID": "@index", "Launch Time": "@launch",
            "Executor ID": "@executor", "Host": "127.0.0.1", "Locality": "PROCESS_LOCAL", "Speculative": False,
            "Getting Result Time": 0, "Finish Time": 0, "Failed": False, "Killed": False, "Accumulables": []}
    start = {"Event": "SparkListenerTaskStart", "Stage ID": "@stage", "Stage Attempt ID": 0, "Task Info": info}
    accumulables = [{"ID": 300 + i, "Name": "internal.metrics." + name, "Update": "@size", "Value": "@total",
                     "Internal": True, "Count Failed Values": True} for i, name in enumerate(ACCUMULATORS)]
    push = {name: 0 for name in ("Corrupt Merged Block Chunks", "Merged Fetch Fallback Count",
                                 "Merged Remote Blocks Fetched", "Merged Local Blocks Fetched",
                                 "Merged Remote Chunks Fetched", "Merged Local Chunks Fetched",
                                 "Merged Remote Bytes Read", "Merged Local Bytes Read", "Merged Remote Requests Duration")}
    metrics = {"Executor Deserialize Time": 3, "Executor Deserialize CPU Time": "@cpu", "Executor Run Time": "@run",
               "Executor CPU Time": "@cpu", "Peak Execution Memory": 0, "Peak On Heap Execution Memory": 0,
               "Peak Off Heap Execution Memory": 0, "Result Size": "@size", "JVM GC Time": 0,
               "Result Serialization Time": 0, "Memory Bytes Spilled": 0, "Disk Bytes Spilled": 0,
               "Shuffle Read Metrics": {"Remote Blocks Fetched": 0, "Local Blocks Fetched": 4, "Fetch Wait Time": 0,
                                        "Remote Bytes Read": 0, "Remote Bytes Read To Disk": 0,
                                        "Local Bytes Read": "@size", "Total Records Read": "@size",
                                        "Remote Requests Duration": 0, "Push Based Shuffle": push},
               "Shuffle Write Metrics": {"Shuffle Bytes Written": "@size", "Shuffle Write Time": "@cpu",
                                         "Shuffle Records Written": "@run"},
               "Input Metrics": {"Bytes Read": 0, "Records Read": 0},
               "Output Metrics": {"Bytes Written": 0, "Records Written": 0}, "Updated Blocks": []}
    end = {"Event": "SparkListenerTaskEnd", "Stage ID": "@stage", "Stage Attempt ID": 0, "Task Type": "ShuffleMapTask",
           "Task End Reason": {"Reason": "Success"},
           "Task Info": {**info, "Finish Time": "@finish", "Accumulables": accumulables},
           "Task Executor Metrics": {name: 123456 * i for i, name in enumerate(PEAKS)}, "Task Metrics": metrics}
    return text(start) + text(end)


def stage_info(stage, tasks, **more):
    return {"Stage ID": stage, "Stage Attempt ID": 0, "Stage Name": f"count at Job.scala:{stage}", "Number of Tasks": tasks,
            "RDD Info": [{"RDD ID": stage, "Name": "MapPartitionsRDD", "Callsite": "map at Job.scala:1", "Parent IDs": [],
                          "Storage Level": {"Use Disk": False, "Use Memory": False, "Use Off Heap": False,
                                            "Deserialized": False, "Replication": 1},
                          "Barrier": False, "DeterministicLevel": "DETERMINATE", "Number of Partitions": tasks,
                          "Number of Cached Partitions": 0, "Memory Size": 0, "Disk Size": 0}],
            "Parent IDs": [], "Details": "org.apache.spark.rdd.RDD.count(RDD.scala:1296)", "Accumulables": [],
            "Resource Profile Id": 0, "Shuffle Push Enabled": False, "Shuffle Push Mergers Count": 0,
            "Submission Time": START_MS + stage * 1000, **more}


def head(app):
    yield {"Event": "SparkListenerLogStart", "Spark Version": "4.3.0"}
    yield {"Event": "SparkListenerApplicationStart", "App Name": f"bench {app}", "App ID": app, "Timestamp": START_MS,
           "User": "bench"}
    yield {"Event": "SparkListenerEnvironmentUpdate", "JVM Information": {}, "System Properties": {},
           "Spark Properties": {"spark.app.name": "bench", "spark.master": "local-cluster[20,4,1024]"},
           "Hadoop Properties": {f"hadoop.key.{i}": "value " * 5 for i in range(300)}, "Metrics Properties": {},
           "Classpath Entries": {f"/spark/jars/library-{i}.jar": "System Classpath" for i in range(250)}}
    for i in range(EXECUTORS):
        yield {"Event": "SparkListenerExecutorAdded", "Timestamp": START_MS, "Executor ID": str(i),
               "Executor Info": {"Host": "127.0.0.1", "Total Cores": 4, "Log Urls": {}, "Attributes": {}, "Resources": {},
                                 "Resource Profile Id": 0}}


def write_events(file, events):
    for event in events:
        file.write((json.dumps(event, separators=(",", ":")) + "\n").encode())


def write_log(path, app, tasks):
    """Returns the number of bytes."""
    template = task_lines()
    with open(path, "wb", buffering=1 << 20) as file:
        write_events(file, head(app))
        stages = -(-tasks // STAGE_TASKS)
        for stage in range(stages):
            n = min(STAGE_TASKS, tasks - stage * STAGE_TASKS)
            write_events(file, [
                {"Event": "SparkListenerJobStart", "Job ID": stage, "Submission Time": START_MS + stage * 1000,
                 "Stage Infos": [stage_info(stage, n)], "Stage IDs": [stage], "Properties": {}},
                {"Event": "SparkListenerStageSubmitted", "Stage Info": stage_info(stage, n), "Properties": {}}])
            lines = []
            for index in range(n):
                run = 10 + (index * 7919) % 500
                launch = START_MS + stage * 1000 + index // 80
                lines.append(template % {"id": stage * STAGE_TASKS + index, "index": index, "launch": launch,
                                         "finish": launch + run + 5, "stage": stage, "run": run, "cpu": run * 900_000,
                                         "size": 1000 + run, "total": 1000 * (index + 1),
                                         "executor": index % EXECUTORS})
                if len(lines) == 1000:
                    file.write("".join(lines).encode())
                    lines = []
            file.write("".join(lines).encode())
            write_events(file, [
                {"Event": "SparkListenerStageCompleted",
                 "Stage Info": stage_info(stage, n, **{"Completion Time": START_MS + stage * 1000 + 900})},
                {"Event": "SparkListenerJobEnd", "Job ID": stage, "Completion Time": START_MS + stage * 1000 + 950,
                 "Job Result": {"Result": "JobSucceeded"}}])
        write_events(file, [{"Event": "SparkListenerApplicationEnd", "Timestamp": START_MS + stages * 1000}])
        return file.tell()
