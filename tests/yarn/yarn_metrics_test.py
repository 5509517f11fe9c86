"""Metrics of the ApplicationMaster of native applications, on tests/yarn/fake_yarn.py."""
import os
import re

import pytest

from conditions import wait_until
from folders import TOP
from monitoring.metrics_test import documented_metrics
from yarn_submit import UNMANAGED, cache, submit, yarn  # noqa: F401

MODES = {"client": ((), False), "unmanaged": ((UNMANAGED,), False), "cluster": ((), True)}
SINK = "spark.metrics.conf.applicationMaster.sink.csv"


def last_value(folder, name):
    try:
        lines = (folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return None
    return lines[-1].split(",")[1] if len(lines) > 1 else None


@pytest.mark.parametrize("mode", MODES)
def test_the_application_master_reports_its_containers(submit, yarn, mode, tmp_path):
    more, cluster = MODES[mode]
    folder = tmp_path / "csv"
    folder.mkdir()
    conf = [f"{SINK}.class=org.apache.spark.metrics.sink.CsvSink", f"{SINK}.directory={folder}", f"{SINK}.period=1",
            f"{SINK}.unit=seconds", *more]
    with submit.waiting(conf=conf, cluster=cluster) as (process, app):
        def value(name):
            return last_value(folder, f"{app.name}.applicationMaster.{name}")
        names = ("numExecutorsRunning", "numExecutorsFailed", "numReleasedContainers", "numContainersPendingAllocate",
                 "numLocalityAwareTasks")
        wait_until(lambda: [value(name) for name in names] == ["2", "0", "0", "0", "0"],  # a report writes one file after another
                   lambda: {name: value(name) for name in names})
        app.executors()[0].kill(1, "it broke")
        wait_until(lambda: value("numExecutorsFailed") == "1", "the failure")
        assert submit.open(process) == 0, submit.log()
    documented = {name.rpartition(".")[2] for name in documented_metrics() if "applicationMaster" in name}
    assert documented == {re.sub(r".*\.(\w+)\.csv", r"\1", name) for name in os.listdir(folder)}


def test_a_namespace_replaces_the_application_s_id(submit, yarn, tmp_path):
    done = submit.run(os.path.join(TOP, "examples", "spark_pi.c"), "2", conf=[
        UNMANAGED, "spark.yarn.metrics.namespace=orders", f"{SINK}.class=org.apache.spark.metrics.sink.CsvSink",
        f"{SINK}.directory={tmp_path}"])
    assert done.returncode == 0, done.stderr
    assert last_value(tmp_path, "orders.applicationMaster.numExecutorsRunning") == "2"


def test_an_invalid_sink_ends_the_application(submit, yarn):
    done = submit.run(os.path.join(TOP, "examples", "spark_pi.c"), "2",
                      conf=[UNMANAGED, f"{SINK}.class=org.example.NoSink"])
    assert done.returncode == 1 and "org.example.NoSink" in done.stderr, done.stderr
