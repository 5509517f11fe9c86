#!/usr/bin/env python3
"""Writes what genuine Spark 3.5 asks of Mesos in each of `configurations`, as tests/mesos/spark_3_5.json.

    SPARK_HOME=… MESOS_CLASSES=… PYTHONPATH=… tests/mesos/record_spark.py [NAME…]

SPARK_HOME is a Spark 3.5, and MESOS_CLASSES has driver classes for Mesos that go before its jars. One JVM runs all configurations:
it makes a context for each, and ends it. Environment variables of a configuration take another JVM.
"""
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from mesos.configurations import ALL  # noqa: E402
from mesos.recorder import Recorder  # noqa: E402

RECORDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spark_3_5.json")


class Machine:
    """A JVM with Spark's classes."""

    def __init__(self, environment):
        from pyspark.java_gateway import launch_gateway
        os.environ["PYSPARK_SUBMIT_ARGS"] = f"--driver-class-path {os.environ['MESOS_CLASSES']} pyspark-shell"
        saved = dict(os.environ)
        os.environ.update(environment)
        self.gateway = launch_gateway()
        os.environ.clear()
        os.environ.update(saved)
        self.jvm = self.gateway.jvm

    def close(self):
        self.gateway.shutdown()
        self.gateway.proc.stdin.close()
        self.gateway.proc.wait(30)


def causes_of(error):
    """Returns the first lines of an exception of Java and of its causes."""
    cause, causes = getattr(error, "java_exception", None), []
    while cause is not None:
        causes.append(cause.toString().partition("\n")[0])
        cause = cause.getCause()
    return causes or [str(error)]


def run(machine, configuration, recorder):
    """Runs a context with a configuration; returns the text of the error that ended its start."""
    conf = machine.jvm.org.apache.spark.SparkConf(False)
    settings = {"spark.master": f"mesos://{recorder.master.address}", "spark.app.name": "recorded", "spark.ui.enabled": "false",
                "spark.driver.host": "127.0.0.1", "spark.mesos.coarse.shutdownTimeout": "1s", **configuration.conf}
    for key, value in settings.items():
        conf.set(key, value)
    outcome = {}

    def work():
        try:
            context = outcome["context"] = machine.jvm.org.apache.spark.api.java.JavaSparkContext(conf)
            if configuration.tasks:
                numbers = machine.jvm.java.util.ArrayList()
                for i in range(configuration.tasks):
                    numbers.add(i)
                context.parallelize(numbers, configuration.tasks).collectAsync()
        except Exception as e:  # py4j's, with the exception of Java
            outcome["error"] = causes_of(e)
    thread = threading.Thread(target=work)
    thread.start()
    recorder.wait(lambda: "error" in outcome)
    result = recorder.result([os.environ["SPARK_HOME"]])
    if "error" in outcome:
        result["error"] = outcome["error"]
    with recorder.master.lock:  # the executors end at once
        recorder.master.offering = False
    for framework in list(recorder.master.frameworks.values()):
        for agent in recorder.master.agents:
            with recorder.master.lock:
                for task in [task for task in agent.tasks.values() if task.state == "TASK_RUNNING"]:
                    agent.finish(task, "TASK_KILLED", "Command terminated with signal Terminated")
    if "context" not in outcome and "error" not in outcome:
        for framework in list(recorder.master.frameworks.values()):
            recorder.master.send(framework, {"type": "ERROR", "error": {"message": "recorded"}})
    thread.join(60)
    if "context" in outcome:
        outcome["context"].stop()
    return result


def save(records):
    with open(RECORDS, "w", encoding="utf-8") as out:
        json.dump({c.name: records[c.name] for c in ALL if c.name in records}, out, indent=1)
        out.write("\n")


def main():
    names = sys.argv[1:]
    records = {}
    if os.path.exists(RECORDS):
        with open(RECORDS, encoding="utf-8") as file:
            records = json.load(file)
    machines = {}
    for configuration in ALL:
        if names and configuration.name not in names:
            continue
        key = json.dumps(configuration.environment)
        if key not in machines:
            machines[key] = Machine(configuration.environment)
        began = time.monotonic()
        with Recorder(configuration) as recorder:
            records[configuration.name] = run(machines[key], configuration, recorder)
        print(f"{time.monotonic() - began:.1f}", configuration.name, len(records[configuration.name]["answers"]), records[configuration.name].get("error", ""), flush=True)
        save(records)
    for machine in machines.values():
        machine.close()


if __name__ == "__main__":
    main()
