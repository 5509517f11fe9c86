"""A Python program with executors of two resource profiles, for tests on several clusters."""

TEXT = """
import json, os, resource, socket, sys, time, urllib.request
from pyspark import SparkContext
from pyspark.resource import ExecutorResourceRequests, ResourceProfileBuilder, TaskResourceRequests
sc = SparkContext()
executor = ExecutorResourceRequests().cores({cores}).memory("400m").memoryOverhead("50m").pysparkMemory("300m")
profile = ResourceProfileBuilder().require(executor).require(TaskResourceRequests().cpus(1)).build
def limit(rows):
    place = socket.gethostname(), os.getppid()
    yield place, os.environ.get("PYSPARK_EXECUTOR_MEMORY_MB"), resource.getrlimit(resource.RLIMIT_AS)[0] >> 20
one, = sc.parallelize([1], 1).mapPartitions(limit).collect()
two, = sc.parallelize([1], 1).withResources(profile).mapPartitions(limit).collect()
print(one[1:], two[1:], one[0] != two[0])
sums = sc.parallelize(range(100), 2).map(lambda x: (x % 3, x)).reduceByKey(lambda a, b: a + b, 1)
print(sorted(sums.mapValues(lambda x: (x, os.environ.get("PYSPARK_EXECUTOR_MEMORY_MB"))).withResources(profile).collect()))
url = f"http://localhost:{{sc.uiWebUrl.rsplit(':', 1)[1]}}/api/v1/applications/{{sc.applicationId}}/"
profiles = json.load(urllib.request.urlopen(url + "environment"))["resourceProfiles"]
print([sorted((name, amount["amount"]) for name, amount in each["executorResources"].items()) for each in profiles][1])
print(sorted((e["totalCores"], e["resourceProfileId"]) for e in json.load(urllib.request.urlopen(url + "executors")) if e["id"] != "driver"), flush=True)
while len(sys.argv) > 1 and not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
sc.stop()
"""

# One executor of each profile. Those of the default one have one core.
SETTINGS = ("spark.dynamicAllocation.enabled=true", "spark.dynamicAllocation.shuffleTracking.enabled=true", "spark.executor.cores=1",
            "spark.dynamicAllocation.maxExecutors=1", "spark.executor.pyspark.memory=200m", "spark.ui.port=0")


def program(cores):
    """Returns its text. Executors of the second profile have so many @cores, and 400 + 50 + 300 MiB. It waits for a file that an
    argument names."""
    return TEXT.format(cores=cores)


def output(cores):
    """The lines that it prints. The workers of an executor share its memory for Python."""
    limit = 300 // cores
    return [f"('200', 200) ('{limit}', {limit}) True",
            f"[(0, (1683, '{limit}')), (1, (1617, '{limit}')), (2, (1650, '{limit}'))]",
            f"[('cores', {cores}), ('memory', 400), ('memoryOverhead', 50), ('pyspark.memory', 300)]",
            f"[(1, 0), ({cores}, 1)]"]
