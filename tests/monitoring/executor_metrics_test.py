"""spark.eventLog.logStageExecutorMetrics: the event log has the peaks of each executor in each stage."""
import glob
import json
import os
import subprocess

import pytest

from folders import BIN


APPLICATION = r"""
#include <firesteel/firesteel.h>
#include <unistd.h>

static int parity(fst_task *task, int64_t i, fst_out *out) { usleep(300000); fst_emit(out, i % 2, i); return 0; }

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("metrics");
        int64_t n;
        fst_count(fst_reduce_by_key(fst_flat_map(fst_range(sc, 0, 4), parity, FST_PAIR(I64, I64)), fst_fn_sum), &n);
        return fst_context_stop(sc);
}
"""


def events(tmp_path, *words, master="local[2]"):
    (tmp_path / "app.c").write_text(APPLICATION, encoding="utf-8")
    (tmp_path / "log").mkdir()
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", master, "--conf", "spark.eventLog.enabled=true",
                           "--conf", "spark.eventLog.dir=%s/log" % tmp_path, "--conf", "spark.eventLog.compress=false",
                           "--conf", "spark.eventLog.rolling.enabled=false", "--conf", "spark.default.parallelism=2",
                           "--conf", "spark.executor.heartbeatInterval=100ms",
                           "--conf", "spark.scheduler.minRegisteredResourcesRatio=1", "--conf",
                           "spark.scheduler.maxRegisteredResourcesWaitingTime=600s", *words, str(tmp_path / "app.c")],
                          stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    with open(glob.glob(str(tmp_path / "log/*"))[0], encoding="utf-8") as file:
        return [json.loads(line) for line in file]


METRICS = ("--conf", "spark.eventLog.logStageExecutorMetrics=true")


@pytest.mark.parametrize("master, listens", [("local[2]", False), ("local-cluster[2,1,1024]", True)])
def test_the_block_manager_of_a_driver_without_pages(tmp_path, master, listens):
    """Port 1 stands for none: a local driver serves no blocks. Executors fetch blocks from other drivers."""
    added = [event["Block Manager ID"] for event in events(tmp_path, "--conf", "spark.ui.enabled=false", master=master)
             if event["Event"] == "SparkListenerBlockManagerAdded"]
    [port] = [block_manager["Port"] for block_manager in added if block_manager["Executor ID"] == "driver"]
    assert (port > 1) == listens, added


@pytest.mark.parametrize("master,executors", [("local[2]", {"driver"}), ("local-cluster[2,1,1024]", {"0", "1"})])
def test_each_stage_has_the_peaks_of_its_executors(tmp_path, master, executors):
    log = events(tmp_path, *METRICS, master=master)
    names = [event["Event"] for event in log]
    peaks = [event for event in log if event["Event"] == "SparkListenerStageExecutorMetrics"]
    assert {event["Executor ID"] for event in peaks if event["Stage ID"] == 0} == executors
    assert {event["Stage ID"] for event in peaks} == {0, 1} and {event["Stage Attempt ID"] for event in peaks} == {0}
    task = next(event for event in log if event["Event"] == "SparkListenerTaskEnd")
    for event in peaks:
        assert list(event) == ["Event", "Executor ID", "Stage ID", "Stage Attempt ID", "Executor Metrics"]
        assert list(event["Executor Metrics"]) == list(task["Task Executor Metrics"])
        assert event["Stage ID"] == 1 or event["Executor Metrics"]["ProcessTreeOtherRSSMemory"] > 1 << 20
    last = len(names) - 1 - names[::-1].index("SparkListenerStageExecutorMetrics")
    completed = [i for i, event in enumerate(log) if event["Event"] == "SparkListenerStageCompleted"]
    assert names.index("SparkListenerStageExecutorMetrics") < completed[0] and last == completed[1] - 1


def test_log_has_no_peaks_by_default(tmp_path):
    assert "SparkListenerStageExecutorMetrics" not in [event["Event"] for event in events(tmp_path)]
