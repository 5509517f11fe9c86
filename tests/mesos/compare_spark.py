#!/usr/bin/env python3
"""Compares what Firesteel asks of Mesos with what genuine Spark 3.5 asked (spark_3_5.json), in each of `configurations`.

    tests/mesos/compare_spark.py BUILD [NAME…]

Prints a line for each configuration that differs, and at last "N compared, M differ, K on purpose".
"""
import difflib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
from inherited_environment import inherited_environment  # noqa: E402
from mesos.configurations import ALL  # noqa: E402
from mesos.recorder import Recorder  # noqa: E402

RECORDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spark_3_5.json")
TOP = os.path.dirname(TESTS)

# A context, a job if tasks are wanted, and then nothing until it is killed.
APPLICATION = r"""
#include <firesteel/firesteel.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new(argv[2]);
        int64_t n, tasks = atoi(argv[1]);
        if (tasks)
                fst_count(fst_range_n(sc, 0, tasks, (int)tasks), &n);
        else
                while (sc)
                        sleep(1);
        return fst_context_stop(sc);
}
"""


def has_failed(folder):
    with open(f"{folder}/log", encoding="utf-8", errors="replace") as file:
        return "Error initializing SparkContext" in file.read()


def record(build, configuration, program, folder):
    """Runs an application with a configuration; returns what it asked, with "error" if it ended by itself."""
    conf = {"spark.app.name": "recorded", "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", **configuration.conf}
    with Recorder(configuration) as recorder, open(f"{folder}/log", "wb") as log:
        command = [f"{build}/src/spark-submit", "--master", f"mesos://{recorder.master.address}"]
        for key, value in conf.items():
            command += ["--conf", f"{key}={value}"]
        environment = dict(inherited_environment("SPARK_", "MESOS_"), **configuration.environment)
        process = subprocess.Popen([*command, program, str(configuration.tasks), conf["spark.app.name"]], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   env=environment, start_new_session=True)
        try:
            recorder.wait(lambda: process.poll() is not None or has_failed(folder))
            result = recorder.result([TOP, os.path.realpath(f"{build}/..")])
            if process.poll() is not None or has_failed(folder):
                result["error"] = "no context"
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it ended by itself
            process.wait()
    return result


# Intended differences (docs/differences.md): the program, its settings for the start, and a variable for workers of Python, which gets
# its value when such a worker starts.
PROGRAMS = (('/bin/spark-class" org.apache.spark.executor.CoarseGrainedExecutorBackend', '/bin/firesteel" executor'),
            ("/bin/spark-class org.apache.spark.executor.CoarseGrainedExecutorBackend", "/bin/firesteel executor"),
            ("/bin/spark-class org.apache.spark.executor.MesosExecutorBackend", "/bin/firesteel mesos-executor"))


# Configurations whose answers differ on purpose, with the reason.
INTENDED = {"cores_max_below_executor_cores": "is refused, since no executor could start",
            "constraint_range": "a value in a range matches",
            "dynamic_allocation": "the initial number is asked for before the first offer comes, so that offer is used"}


def comparable_text(text):
    for theirs, ours in PROGRAMS:
        text = text.replace(theirs, ours)
    return re.sub(r" --conf '?spark\.(driver\.port|blockManager\.port)=\d+'?", "", text)


def comparable_value(value):
    if isinstance(value, dict):
        return {key: sorted(comparable_value(entry)) if key == "environment" else comparable_value(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [comparable_value(entry) for entry in value
                if not (isinstance(entry, str) and entry.startswith("OMP_NUM_THREADS="))]
    return comparable_text(value) if isinstance(value, str) else value


def comparable_fine(answers):
    """In fine-grained mode the agent's executor starts with a task of its own (docs/differences.md): compares the executor, what a task
    takes, and the declines."""
    out = []
    for answer in answers:
        if "tasks" in answer:
            task = answer["tasks"][0]
            answer = {"agent": answer["agent"], "refuse_seconds": answer["refuse_seconds"], "executor": task.get("executor"),
                      "resources": task["resources"], "fields": sorted(set(task) - {"name", "task_id"})}
        if answer not in out:
            out.append(answer)
    return out


def first_answers(answers):
    """Returns the first answer to each agent: when later offers come depends on the time."""
    return [answer for i, answer in enumerate(answers) if answer["agent"] not in {earlier["agent"] for earlier in answers[:i]}]


def comparable(result, first_only):
    """Returns a result as lines. Answers to offers of several agents may come in any order."""
    if "error" in result or not result["answers"]:
        return ["nothing is launched"]
    answers = comparable_value(result["answers"])
    if any("executor" in task for answer in answers for task in answer.get("tasks", [])):
        answers = comparable_fine(answers)
    elif first_only:
        answers = first_answers(answers)
    answers.sort(key=lambda answer: (answer["agent"], "offer" in answer and "tasks" not in answer))
    framework = {key: value for key, value in (result["framework"] or {}).items() if value not in ("", None)}
    return json.dumps({"framework": framework, "answers": answers}, indent=1, sort_keys=True).splitlines()


def main():
    build, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    with open(RECORDS, encoding="utf-8") as file:
        genuine = json.load(file)
    compared = differing = intended = 0
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "recorded.c")
        with open(source, "w", encoding="utf-8") as out:
            out.write(APPLICATION)
        for configuration in ALL:
            if (names and configuration.name not in names) or configuration.name not in genuine:
                continue
            ours, theirs = (comparable(result, not configuration.failing) for result in (
                record(build, configuration, source, folder), genuine[configuration.name]))
            compared += 1
            if ours != theirs and configuration.name in INTENDED:
                intended += 1
                print(f"{configuration.name} differs on purpose: {INTENDED[configuration.name]}")
            elif ours != theirs:
                differing += 1
                print(f"--- {configuration.name} differs")
                print("\n".join(difflib.unified_diff(theirs, ours, "Spark 3.5", "Firesteel", lineterm="", n=1)))
            sys.stdout.flush()
    print(f"{compared} compared, {differing} differ, {intended} on purpose")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
