"""Metrics of drivers, executors and daemons, as sinks and pages report them. docs/metrics.md lists them."""
import collections
import os
import re
import subprocess

from folders import BIN, TOP


APPLICATION = r"""
#include <firesteel/firesteel.h>

static int parity(fst_task *task, int64_t i, fst_out *out) { fst_emit(out, i % 2, i); return 0; }

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("metrics");
        int64_t n;
        fst_count(fst_reduce_by_key(fst_flat_map(fst_range(sc, 0, 1000), parity, FST_PAIR(I64, I64)), fst_fn_sum), &n);
        return fst_context_stop(sc);
}
"""


def csv_metrics(tmp_path, *words, master="local-cluster[2,1,1024]", instance="*"):
    """Runs the application with a CSV sink: {executor: {metric: last value}}"""
    (tmp_path / "app.c").write_text(APPLICATION, encoding="utf-8")
    folder = tmp_path / "csv"
    folder.mkdir()
    (tmp_path / "metrics.properties").write_text(
        f"{instance}.sink.csv.class=org.apache.spark.metrics.sink.CsvSink\n*.sink.csv.directory={folder}\n",
        encoding="utf-8")
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", master, "--conf",
                           f"spark.metrics.conf={tmp_path}/metrics.properties", "--conf", "spark.metrics.namespace=ns",
                           "--conf", "spark.default.parallelism=4", "--conf",
                           "spark.scheduler.minRegisteredResourcesRatio=1", "--conf",
                           "spark.scheduler.maxRegisteredResourcesWaitingTime=600s", *words, str(tmp_path / "app.c")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    found = collections.defaultdict(dict)
    for name in os.listdir(folder):
        _, executor, metric = re.fullmatch(r"(ns)\.([^.]+)\.(.+)\.csv", name).groups()
        with open(folder / name, encoding="utf-8") as lines:
            found[executor][metric] = lines.read().splitlines()[-1].split(",")[1]
    return found


def test_executors_report_their_tasks_and_memory(tmp_path):
    found = csv_metrics(tmp_path)
    assert {"driver", "0", "1"} == set(found)
    executors = [found["0"], found["1"]]
    assert int(found["driver"]["DAGScheduler.messageProcessingTime"]) >= 3 + 2  # with a batch of each executor
    assert sum(int(x["executor.succeededTasks"]) for x in executors) == 8
    assert sum(int(x["executor.threadpool.completeTasks"]) for x in executors) == 8
    assert sum(int(x["executor.shuffleRecordsRead"]) for x in executors) == 8
    for x in executors:
        assert x["executor.threadpool.activeTasks"] == "0" and x["executor.threadpool.maxPool_size"] == "1"
        assert int(x["ExecutorMetrics.ProcessTreeOtherRSSMemory"]) > 1 << 20
        assert int(x["JVMCPU.jvmCpuTime"]) > 0


def test_sources_of_memory_can_be_off_and_sinks_belong_to_their_instance(tmp_path):
    found = csv_metrics(tmp_path, "--conf", "spark.metrics.executorMetricsSource.enabled=false", instance="executor")
    assert set(found) == {"0", "1"}
    assert not [name for name in found["0"] if name.startswith("ExecutorMetrics.")]


def test_an_invalid_sink_of_executors_is_named(tmp_path):
    (tmp_path / "app.c").write_text(APPLICATION, encoding="utf-8")
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", "local-cluster[1,1,1024]", "--conf",
                           "spark.metrics.conf.executor.sink.x.class=org.apache.spark.metrics.sink.GraphiteSink",
                           str(tmp_path / "app.c")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert done.returncode != 0
    assert "Executor self-exiting due to : Sink class org.apache.spark.metrics.sink.GraphiteSink cannot be " \
           "instantiated: Graphite sink requires 'host' property." in done.stderr


def test_options_that_a_sink_lacks_are_named(tmp_path):
    (tmp_path / "app.c").write_text(APPLICATION, encoding="utf-8")
    sink = "spark.metrics.conf.driver.sink.x"
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", "local[1]", "--conf",
                           f"{sink}.class=org.apache.spark.metrics.sink.ConsoleSink", "--conf", f"{sink}.perod=5",
                           "--conf", f"{sink}.unit=minutes", "--conf", f"{sink}.regex=allJobs$", str(tmp_path / "app.c")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert done.returncode == 0
    assert done.stderr.count(" has no effect: ") == 1
    assert 'driver.sink.x.perod has no effect: "perod" is not an option of sink x. Did you mean period?' in done.stderr
    assert re.search(r"-- Gauges -+\n\S+\.driver\.DAGScheduler\.job\.allJobs\n {13}value = 1\n\n\n", done.stdout)


def last_values(folder):
    """{name of the file without .csv: last value}"""
    found = {}
    for name in os.listdir(folder):
        with open(folder / name, encoding="utf-8") as lines:
            found[name[:-len(".csv")]] = lines.read().splitlines()[-1].split(",")[1]
    return found


def run_in_cluster(cluster, tmp_path, *conf):
    """Runs the application in a cluster with a shuffle service, which ends then. Returns the directory of CSV files."""
    folder = tmp_path / "csv"
    folder.mkdir()
    (tmp_path / "app.c").write_text(APPLICATION, encoding="utf-8")
    (tmp_path / "conf" / "metrics.properties").write_text(
        "*.sink.csv.class=org.apache.spark.metrics.sink.CsvSink\n"
        f"*.sink.csv.directory={folder}\n*.sink.csv.period=1\n", encoding="utf-8")
    master = cluster.master()
    worker = cluster.worker(master.url, spark_shuffle_service_enabled="true", spark_shuffle_service_port="0")
    port = worker.says(r"Starting shuffle service on port (\d+)").group(1)
    run = cluster.submit(master.url, tmp_path / "app.c",
                         conf=["spark.shuffle.service.enabled=true", f"spark.shuffle.service.port={port}",
                               "spark.default.parallelism=4", *conf])
    assert run.end() == 0, run.log()
    master.says("Removing app app-")
    worker.says("Cleaning up local directories for application")  # it has heard of the executor's end
    for daemon in (worker, master):
        daemon.process.terminate()
        daemon.end()
    return folder


def test_daemons_report_their_last_values_when_they_end(cluster, tmp_path):
    found = last_values(run_in_cluster(cluster, tmp_path))
    assert [found[f"master.{name}"] for name in ("workers", "aliveWorkers", "apps", "waitingApps")][2:] == ["0", "0"]
    assert found["worker.executors"] == "0" and found["worker.coresFree"] == "2" and found["worker.memFree_MB"] == "1024"
    state = [name for name in found if re.fullmatch(r"application\.metrics\.\d+\.status", name)]
    assert [found[name] for name in state] == ["FINISHED"]
    assert int(found["shuffleService.registerExecutorRequestLatencyMillis"]) == 1
    assert int(found["shuffleService.openBlockRequestLatencyMillis"]) >= 0
    assert int(found["shuffleService.registeredExecutorsSize"]) >= 0
    executor = [name for name in found if name.endswith(".0.executor.succeededTasks")]
    assert [found[name] for name in executor] == ["8"]


def test_a_daemon_with_an_invalid_sink_ends(cluster, tmp_path):
    (tmp_path / "conf" / "metrics.properties").write_text("master.sink.x.class=my.Sink\n", encoding="utf-8")
    master = cluster.daemon("master", ["-p", "0"], {})
    assert master.end() == 1
    master.says("Sink class my.Sink cannot be instantiated: master.sink.x.class must name one of Firesteel's sinks: org.apache")


def test_a_driver_reports_its_scheduler_listeners_and_tasks(tmp_path):
    (tmp_path / "log").mkdir()
    found = csv_metrics(tmp_path, "--conf", "spark.eventLog.enabled=true", "--conf", f"spark.eventLog.dir={tmp_path}/log",
                        master="local[2]")
    assert set(found) == {"driver"}
    driver = found["driver"]
    assert driver["DAGScheduler.job.allJobs"] == "1" and driver["DAGScheduler.job.activeJobs"] == "0"
    assert driver["DAGScheduler.stage.waitingStages"] == driver["DAGScheduler.stage.failedStages"] == "0"
    assert int(driver["DAGScheduler.messageProcessingTime"]) > 0
    for name in ("AppStatusListener", "EventLoggingListener"):
        place = "status" if name == "AppStatusListener" else "scheduler"
        assert int(driver[f"LiveListenerBus.listenerProcessingTime.org.apache.spark.{place}.{name}"]) > 0
    for queue in ("appStatus", "eventLog"):
        assert driver[f"LiveListenerBus.queue.{queue}.size"] == "0"
        assert driver[f"LiveListenerBus.queue.{queue}.numDroppedEvents"] == "0"
        assert int(driver[f"LiveListenerBus.queue.{queue}.listenerProcessingTime"]) > 0
    assert "LiveListenerBus.queue.shared.size" not in driver
    assert driver["executor.succeededTasks"] == driver["appStatus.tasks.completedTasks"] == "8"
    assert driver["executor.threadpool.maxPool_size"] == "2"
    assert int(driver["ExecutorMetrics.ProcessTreeOtherRSSMemory"]) > 1 << 20
    assert not [name for name in driver if name.startswith("ExecutorAllocationManager.")]


def test_dynamic_allocation_reports_its_numbers(tmp_path):
    driver = csv_metrics(tmp_path, "--conf", "spark.dynamicAllocation.enabled=true", "--conf",
                         "spark.dynamicAllocation.shuffleTracking.enabled=true", "--conf",
                         "spark.dynamicAllocation.minExecutors=1", "--conf", "spark.dynamicAllocation.maxExecutors=2",
                         instance="driver")["driver"]
    names = {name.split(".")[-1]: int(value) for name, value in driver.items()
             if name.startswith("ExecutorAllocationManager.executors.")}
    assert set(names) == {"numberAllExecutors", "numberExecutorsPendingToRemove", "numberExecutorsToAdd",
                          "numberMaxNeededExecutors", "numberTargetExecutors", "numberExecutorsDecommissionUnfinished",
                          "numberExecutorsExitedUnexpectedly", "numberExecutorsGracefullyDecommissioned",
                          "numberExecutorsKilledByDriver"}
    assert names["numberTargetExecutors"] >= 1 and names["numberMaxNeededExecutors"] == 0


def documented_metrics():
    """{name: kind} of docs/metrics.md"""
    with open(os.path.join(TOP, "docs", "metrics.md"), encoding="utf-8") as page:
        rows = re.findall(r"^\| `([A-Za-z_.<>]+)` \| [^|]+ \| (\w+) \|", page.read(), re.M)
    assert len(dict(rows)) == len(rows) > 80
    return dict(rows)


KINDS = {"t,value": "gauge", "t,count": "counter", "t,count,mean_rate,m1_rate,m5_rate,m15_rate,rate_unit": "meter"}


def test_the_documentation_lists_all_metrics(cluster, tmp_path):
    (tmp_path / "log").mkdir()
    folder = run_in_cluster(cluster, tmp_path, "spark.dynamicAllocation.enabled=true", "spark.eventLog.enabled=true",
                            f"spark.eventLog.dir={tmp_path}/log")
    patterns = {name: re.compile(re.sub(r"<\w+>", ".+", re.escape(name).replace(r"\<", "<").replace(r"\>", ">")))
                for name in documented_metrics()}
    elsewhere = ("applicationMaster", "mesos_cluster")  # yarn_metrics_test.py, mesos_dispatcher_test.py
    missing = {name: kind for name, kind in documented_metrics().items() if not any(word in name for word in elsewhere)}
    for path in os.listdir(folder):
        with open(folder / path, encoding="utf-8") as lines:
            head = lines.readline().strip()
        name = re.sub(r"^app-\d+-\d+\.(driver|\d+)\.", "", path[:-len(".csv")])
        matching = [known for known, pattern in patterns.items() if pattern.fullmatch(name)]
        assert matching, f"docs/metrics.md has no {name}"
        known = max(matching, key=len)
        assert KINDS.get(head, "timer") == documented_metrics()[known], name
        missing.pop(known, None)
    assert not missing, "docs/metrics.md lists what no process reports"
