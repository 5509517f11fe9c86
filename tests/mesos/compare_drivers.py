#!/usr/bin/env python3
"""Compares the tasks that our dispatcher makes for drivers with those of a dispatcher of genuine Spark 3.5 (spark_3_5_drivers.json).

    tests/mesos/compare_drivers.py BUILD [NAME…]
    SPARK_HOME=… MESOS_CLASSES=… tests/mesos/compare_drivers.py --record [NAME…]       # writes the records

Both run on a scripted master whose agent starts nothing. SPARK_HOME is a Spark 3.5, and MESOS_CLASSES has driver classes for Mesos that
go before its jars. Prints a line for each driver that differs, and at last "N compared, M differ, K on purpose".
"""
import contextlib
import difflib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
from conditions import wait_until  # noqa: E402
from inherited_environment import inherited_environment  # noqa: E402
from mesos.driver_configurations import DRIVERS  # noqa: E402
from mesos.master import Master  # noqa: E402
from mesos.normal_form import Names, flat_resources, normal_task  # noqa: E402

RECORDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spark_3_5_drivers.json")
HOME = "/opt/dispatcher-home"  # of our dispatcher
QUIET_S = 0.4

# Drivers whose tasks differ on purpose, with the reason.
INTENDED = {"secret_by_value": "the value of a secret is not in the command",
            "image_with_python_files": "$MESOS_SANDBOX in --py-files is expanded"}


class Dispatcher:
    """A dispatcher as a process on @master."""

    def __init__(self, command, environment, master, conf, folder):
        settings = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
        self.log = f"{folder}/log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*command, "--master", f"mesos://{master.address}", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0", *settings],
                env={**inherited_environment("SPARK_", "MESOS_"), "SPARK_CONF_DIR": folder, **environment}, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(60)

    def started(self):
        assert self.process.poll() is None, self.text()
        return re.search(r"Started REST server for submitting applications on \S+ with port (\d+)", self.text())

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def ask(self, path, body):
        port = wait_until(self.started, "the port of the REST server")[1]
        request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/submissions/{path}", method="POST", data=json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json;charset=UTF-8"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)


def answer_to(driver_id, fits, master, first):
    """Returns what the dispatcher did for the driver since call number @first: its task, or how long it declined the offer that it asked
    for."""
    revived = False
    with master.lock:
        for call in master.calls[first:]:
            body = call.get(call["type"].lower(), {})
            revived = revived or call["type"] == "REVIVE"
            for operation in body.get("operations", []):
                for task in operation.get("launch", {}).get("task_infos", []):
                    if task["task_id"]["value"] == driver_id:
                        return {"task": task, "refuse_seconds": body.get("filters", {}).get("refuse_seconds", "default")}
            if call["type"] == "DECLINE" and revived and not fits:
                return {"task": None, "refuse_seconds": body["filters"]["refuse_seconds"]}
    return None


def settle(master):
    """Waits until nothing is offered and nothing is asked any more: a decline that crosses a REVIVE would hide the next offer for long."""
    calls, since = -1, 0.0

    def is_quiet():
        nonlocal calls, since
        with master.lock:
            if master.offers or len(master.calls) != calls:
                calls, since = len(master.calls), time.monotonic()
        return time.monotonic() - since > QUIET_S
    wait_until(is_quiet, "the end of calls")


def run_driver(driver, dispatcher, master, homes):
    """Submits the driver, returns what became of it, and kills it."""
    settle(master)
    with master.lock:
        first = len(master.calls)
    created = dispatcher.ask("create", driver.submission("3.5.6"))
    assert created.get("success"), (driver.name, created)
    driver_id = created["submissionId"]
    answer = wait_until(lambda: answer_to(driver_id, driver.fits, master, first), f"the task of {driver.name}")
    framework, = master.frameworks.values()
    names = Names(master, homes, framework.id)
    names.texts += [(driver_id, "$DRIVER_ID"), (master.address, "$MASTER")]
    result = {"task": answer["task"] and normal_task(answer["task"], names), "refuse_seconds": answer["refuse_seconds"],
              "offer": flat_resources(master.agents[0].entries)}
    dispatcher.ask(f"kill/{driver_id}", {})
    with master.lock:
        for task in list(master.agents[0].tasks.values()):
            if task.id == driver_id and not task.is_over and not task.killed:
                master.agents[0].finish(task, "TASK_KILLED", "killed")
    return result


def run_group(drivers, command, environment, homes):
    """Runs drivers of one dispatcher; yields each with its result."""
    with tempfile.TemporaryDirectory() as folder, Master(folder) as master:
        master.add_agent(*drivers[0].agent, idle=True, pretend_containers=True)
        with Dispatcher(command, environment, master, drivers[0].dispatcher, folder) as dispatcher:
            wait_until(dispatcher.started, "the REST server", 300)
            for driver in drivers:
                yield driver, run_driver(driver, dispatcher, master, homes)


def run_all(names, command, environment, homes):
    groups = {}
    for driver in DRIVERS:
        if not names or driver.name in names:
            groups.setdefault(json.dumps([driver.dispatcher, driver.agent]), []).append(driver)
    for drivers in groups.values():
        yield from run_group(drivers, command, environment, homes)


def save(records):
    with open(RECORDS, "w", encoding="utf-8") as out:
        json.dump({driver.name: records[driver.name] for driver in DRIVERS if driver.name in records}, out, indent=1)
        out.write("\n")


def record(names):
    home = os.environ["SPARK_HOME"]
    records = {}
    if names and os.path.exists(RECORDS):
        with open(RECORDS, encoding="utf-8") as file:
            records = json.load(file)
    command = [f"{home}/bin/spark-class", "org.apache.spark.deploy.mesos.MesosClusterDispatcher"]
    environment = {"SPARK_HOME": home, "SPARK_DAEMON_CLASSPATH": os.environ["MESOS_CLASSES"]}
    for driver, result in run_all(names, command, environment, [home]):
        records[driver.name] = result
        save(records)
        print(driver.name, "launched" if result["task"] else "declined", flush=True)
    return 0


def comparable(result):
    """Returns a result as lines. Our whole numbers of cores have no fraction (docs/differences.md). The order of variables and a blank at the
    end of a command have no meaning."""
    result = json.loads(json.dumps(result))
    if result["task"]:
        command = result["task"]["command"]
        command["environment"].sort()
        command["value"] = re.sub(r"(--driver-cores \d+)\.0 ", r"\1 ", command["value"]).rstrip(" ")
    return json.dumps(result, indent=1, sort_keys=True).splitlines()


def compare(build, names):
    with open(RECORDS, encoding="utf-8") as file:
        genuine = json.load(file)
    compared = differing = intended = 0
    command = [f"{os.path.abspath(build)}/src/firesteel", "mesos-dispatcher"]
    for driver, result in run_all(names, command, {"SPARK_HOME": HOME}, [HOME]):
        ours, theirs = comparable(result), comparable(genuine[driver.name])
        compared += 1
        if ours != theirs and driver.name in INTENDED:
            intended += 1
            print(f"{driver.name} differs on purpose: {INTENDED[driver.name]}")
        elif ours != theirs:
            differing += 1
            print(f"--- {driver.name} differs")
            print("\n".join(difflib.unified_diff(theirs, ours, "Spark 3.5", "Firesteel", lineterm="", n=1)))
        sys.stdout.flush()
    print(f"{compared} drivers compared, {differing} differ, {intended} on purpose")
    return 1 if differing or not compared else 0


if __name__ == "__main__":
    sys.exit(record(sys.argv[2:]) if sys.argv[1] == "--record" else compare(sys.argv[1], sys.argv[2:]))
