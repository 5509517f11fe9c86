"""The site of a running application: /api/v1, its port, and what cluster managers learn of it."""
import json
import os
import re
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest

from folders import BIN
from history_server_test import server
from sanitizers import TSAN


# Runs a job with a failing and a succeeding attempt, then waits for a line, or for a second job to be killed.
APPLICATION = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <unistd.h>

static int once(fst_task *task, int64_t in, fst_out *out)
{
        if (in == 3 && fst_task_attempt(task) == 0)
                return fst_fail(task, "the first attempt fails");
        fst_emit(out, in);
        return 0;
}

static int wait_long(fst_task *task, int64_t in, fst_out *out)
{
        while (!fst_task_interrupted(task))
                usleep(10000);
        fst_emit(out, in);
        return 0;
}

int main(int argc, char **argv)
{
        fst_context *sc = fst_context_new("observed");
        int64_t n = 0;
        fst_count(fst_map(fst_range_n(sc, 0, 8, 4), once, FST_I64), &n);
        printf("counted %lld\n", (long long)n);
        fflush(stdout);
        if (argc > 1) {
                int r = fst_count(fst_map(fst_range_n(sc, 0, 2, 2), wait_long, FST_I64), &n);
                printf("second job: %s\n", r ? "failed" : "ended");
        } else {
                getchar();
        }
        return fst_context_stop(sc);
}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("ui") / "observed.c"
    path.write_text(APPLICATION)
    return str(path)


class Application:
    def __init__(self, source, *options, arguments=()):
        self.process = subprocess.Popen([os.path.join(BIN, "spark-submit"), "--master", "local[2,3]", *options, source,
                                         *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "counted 8\n"
        self.log = ""
        while "Job 0 finished" not in self.log:
            line = self.process.stderr.readline()
            assert line
            self.log += line
        found = re.search(r"SparkUI: Bound SparkUI to 0.0.0.0, and started at http://localhost:(\d+)", self.log)
        self.port = int(found.group(1)) if found else None

    def ask(self, path, data=None, headers=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, headers or {})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def api(self, path):
        status, text = self.ask("/api/v1/applications" + path)
        assert status == 200, text
        return json.loads(text)

    def end(self):
        out, log = self.process.communicate("\n", timeout=120)
        return self.process.returncode, out, self.log + log

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


class Running(Application):
    """An application that somebody else started and ends."""

    def __init__(self, process):
        self.process = process
        self.port = None
        while self.port is None:
            line = process.stderr.readline()
            assert line
            found = re.search(r"started at http://[^:]+:(\d+)", line)
            self.port = int(found.group(1)) if found else None
        threading.Thread(target=process.stderr.read, daemon=True).start()


def wait_for(condition):
    end = time.monotonic() + 120
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError("the condition did not come true")


def test_running_application_answers(source):
    with Application(source) as app:
        listed = app.api("")
        assert [a["name"] for a in listed] == ["observed"] and not listed[0]["attempts"][0]["completed"]
        at = "/" + listed[0]["id"]
        job = wait_for(lambda: [j for j in app.api(at + "/jobs") if j["status"] == "SUCCEEDED"])[0]
        assert (job["numCompletedTasks"], job["numFailedTasks"]) == (4, 1)
        tasks = app.api(at + "/stages/0/0/taskList?status=failed")
        assert len(tasks) == 1 and "the first attempt fails" in tasks[0]["errorMessage"]
        assert app.api(at + "/stages/0/0/taskSummary")["quantiles"] == [0.05, 0.25, 0.5, 0.75, 0.95]
        assert [(x["id"], x["hostPort"]) for x in app.api(at + "/executors")] == [("driver", f"localhost:{app.port}")]
        assert "ui" in [t["threadName"] for t in app.api(at + "/executors/driver/threads")]
        assert ["spark.app.name", "observed"] in app.api(at + "/environment")["sparkProperties"]
        assert app.ask("/api/v1/applications/x/jobs") == (404, "no such app: x")
        status, metrics = app.ask("/metrics/json/")
        assert status == 200 and f"{listed[0]['id']}.driver.appStatus.tasks.completedTasks" in metrics
        assert app.end()[0] == 0


def stage_page(app):
    """Return the page of the first stage, once its events have come."""
    return wait_for(lambda: next((page for page in [app.ask("/stages/stage/?id=0&attempt=0")[1]] if "COMPLETE" in page), None))


def test_stages_link_to_their_source_lines(source):
    line = next(i for i, text in enumerate(APPLICATION.splitlines(), 1) if "8, 4), once" in text)
    with Application(source, "--conf", "spark.ui.port=0") as app:
        page = stage_page(app)
        assert f'<a href="/source/?file=observed.c&amp;line={line}#L{line}">observed.c:{line}</a>' in page
        assert f"<mark id=L{line}><i>{line}</i>        fst_count(fst_map(fst_range_n(sc, 0, 8, 4), once, FST_I64), &amp;n);</mark>" in page
        assert re.findall(r"<rect class=scope [^>]*></rect><text class=tick[^>]*>(\w+)<", page) == ["range", "map"]
        status, page = app.ask(f"/source/?file=observed.c&line={line}")
        assert status == 200 and "#include &lt;firesteel/firesteel.h&gt;" in page and f"<mark id=L{line}>" in page
        assert "is unknown" in app.ask("/source/?file=/etc/passwd")[1]
        assert app.end()[0] == 0
    with Application(source, "--conf", "spark.ui.port=0", "--conf", "spark.firesteel.ui.source=false") as app:
        page = stage_page(app)
        assert f"<code>count at observed.c:{line}</code>" in page and "/source/" not in page and "once, FST_I64" not in page
        assert "is unknown" in app.ask("/source/?file=observed.c")[1]
        assert app.end()[0] == 0


BUSY = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>

static int spin(fst_task *task, int64_t in, fst_out *out)
{
        while (!fst_task_interrupted(task))
                ;
        fst_emit(out, in);
        return 0;
}

int main(void)
{
        fst_context *sc = fst_context_new("busy");
        int64_t n = 0;
        fst_count(fst_map(fst_range_n(sc, 0, 1, 1), spin, FST_I64), &n);
        fst_context_stop(sc);
        return 0;
}
"""


@pytest.mark.skipif(TSAN, reason="TSan holds signals back from a thread that computes, so its stack cannot be taken")
@pytest.mark.parametrize("master, executor", [("local[1]", "driver"), ("local-cluster[1,1,1024]", "0")])
def test_threads_of_driver_and_executors(tmp_path, master, executor):
    (tmp_path / "busy.c").write_text(BUSY)
    (tmp_path / "logs").mkdir()
    process = subprocess.Popen([os.path.join(BIN, "spark-submit"), "--master", master, "--conf", "spark.ui.port=0", "--conf",
                                "spark.executor.heartbeatInterval=200ms", "--conf", "spark.eventLog.enabled=true", "--conf",
                                f"spark.eventLog.dir={tmp_path}/logs", tmp_path / "busy.c"], stderr=subprocess.PIPE, text=True)
    app = Running(process)
    try:
        at = "/" + app.api("")[0]["id"]
        task = wait_for(lambda: [t for t in app.api(f"{at}/stages/0/0/taskList") if t["status"] == "RUNNING"]
                        if app.ask(f"/api/v1/applications{at}/stages/0/0")[0] == 200 else None)[0]
        assert task["executorId"] == executor

        def busy_thread():
            found = [t for t in app.api(f"{at}/executors/{executor}/threads") if t["threadName"].endswith(f" (TID {task['taskId']})")]
            return found[0] if found and any(line.startswith("spin+") for line in found[0]["stackTrace"]["elems"]) else None

        thread = wait_for(busy_thread)
        assert thread["threadName"].startswith("task-slot-0") and thread["threadState"] == "RUNNABLE"
        assert any("(libfiresteel" in line for line in thread["stackTrace"]["elems"])
        one = app.api(f"{at}/threads?taskId={task['taskId']}&executorId={executor}")
        assert one["threadId"] == thread["threadId"]
        assert app.ask(f"/api/v1/applications{at}/threads?taskId=99&executorId={executor}") == (
            404, f"Task '99' is not running on Executor '{executor}' right now")
        assert "dag-scheduler" in [t["threadName"] for t in app.api(f"{at}/executors/driver/threads")]
        assert app.ask(f"/api/v1/applications{at}/executors/7/threads") == (404, "Executor does not exist.")
        page = app.ask(f"/executors/threadDump/?executorId={executor}")[1]
        assert "task-slot-0" in page and "TID" in page and "in <code>spin" in page
        assert "are unknown" in app.ask("/executors/threadDump/?executorId=7")[1]
        assert f'href="/executors/threadDump/?executorId={executor}"' in app.ask("/executors/")[1]
        assert wait_for(lambda: f"<h3>Executor {executor} on " in app.ask("/executors/")[1])
        assert "Used memory of the node, up to " in app.ask("/executors/")[1]
        assert wait_for(lambda: "Nodes during the Stage" in app.ask("/stages/stage/?id=0&attempt=0")[1])
        if executor != "driver":
            page = app.ask("/driver/")[1]
            assert re.search(r"received.HEARTBEAT<td[^>]*>\d+<td[^>]*>[0-9.]+/s", page) and "sent.LAUNCH_TASKS" in page
    finally:
        process.terminate()
        process.communicate(timeout=120)
    with server(tmp_path) as history: # the log has the nodes, too
        status, page = history.get(f"/history{at}/executors/")
        assert status == 200 and f"<h3>Executor {executor} on " in page and "Used memory of the node, up to " in page
        assert "Nodes during the Stage" in history.get(f"/history{at}/stages/stage/?id=0&attempt=0")[1]


def test_thread_dumps_may_be_off(source):
    with Application(source, "--conf", "spark.ui.port=0", "--conf", "spark.ui.threadDumpsEnabled=false") as app:
        at = "/" + app.api("")[0]["id"]
        wait_for(lambda: app.ask(f"/api/v1/applications{at}/executors/driver/threads") == (404, "No thread dump is available."))
        assert "spark.ui.threadDumpsEnabled is false" in app.ask("/executors/threadDump/?executorId=driver")[1]
        assert "threadDump" not in app.ask("/executors/")[1]
        assert app.end()[0] == 0


SCOPES = r"""
#include <firesteel/firesteel.h>

static int negative(fst_task *task, int64_t in, fst_out *out)
{
        fst_emit(out, -in);
        return 0;
}

static fst_rdd *sorted(fst_rdd *rdd)
{
        for (int i = 0; i < 2; i++)
                rdd = fst_sort_by(fst_repartition(rdd, 2), negative, FST_I64, FST_ASCENDING);
        return rdd;
}

int main(void)
{
        fst_context *sc = fst_context_new("scopes");
        int64_t n = 0;
        fst_count(sorted(fst_range_n(sc, 0, 8, 4)), &n);
        return fst_context_stop(sc);
}
"""


def test_rdds_of_one_call_share_a_scope(tmp_path):
    (tmp_path / "scopes.c").write_text(SCOPES)
    subprocess.run([os.path.join(BIN, "spark-submit"), "--master", "local[2]", "--conf", "spark.eventLog.enabled=true", "--conf",
                    f"spark.eventLog.dir={tmp_path}", "--conf", "spark.eventLog.rolling.enabled=false", "--conf",
                    "spark.eventLog.compress=false", tmp_path / "scopes.c"], check=True, timeout=120, stderr=subprocess.DEVNULL)
    rdds = {}
    for line in next(tmp_path.glob("local-*")).read_text().splitlines():
        event = json.loads(line)
        for info in event.get("Stage Infos", []):
            for rdd in info["RDD Info"]:
                scope = json.loads(rdd["Scope"])
                rdds[rdd["RDD ID"]] = (scope["name"], int(scope["id"]))
    found = [rdds[i] for i in sorted(rdds)]
    names = [name for name, _ in sorted(set(found), key=lambda scope: scope[1])]
    assert names == ["range", "repartition", "sort_by", "repartition", "sort_by"]
    assert found.count(found[-1]) > 1, "sort_by makes several RDDs"


def test_timelines_have_limits(source):
    with Application(source, "--conf", "spark.ui.port=0", "--conf", "spark.ui.timeline.tasks.maximum=2") as app:
        assert stage_page(app).count("<title>Task ") == 2
        page = app.ask("/stages/stage/?id=0&attempt=0&task.eventTimelinePageNumber=3")[1]
        assert page.count("<title>Task ") == 1 and "page 3 of 3, by launch time" in page
        assert app.end()[0] == 0
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", "local[1]", "--conf", "spark.ui.timeline.jobs.maximum=0",
                           source], capture_output=True, text=True, check=False, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode != 0 and "spark.ui.timeline.jobs.maximum is 0: write a number from 1 to 10000" in done.stderr


def test_taken_port_is_passed_over(source):
    with socket.create_server(("", 0)) as taken:
        port = taken.getsockname()[1]
        with Application(source, "--conf", f"spark.ui.port={port}") as app:
            assert app.port != port
            assert f"Service 'SparkUI' could not bind on port {port}. Attempting port {port + 1}." in app.log
            moved = f"http://localhost:{app.port}"
            assert f"WARN SparkUI: Port {port} is in use: the pages of this application are at {moved}" in app.log
            status, _, log = app.end()
            assert status == 0 and f"INFO SparkUI: Stopped Spark web UI at {moved}" in log


def test_explicit_port_that_is_taken_ends_the_application(source):
    with socket.create_server(("", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", "local", "--conf",
                               f"spark.ui.port={port}", "--conf", "spark.port.maxRetries=0", source],
                              capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode != 0
    assert f"Service 'SparkUI' failed after 0 retries (starting from {port})" in done.stderr


def test_site_may_be_off(source):
    with Application(source, "--conf", "spark.ui.enabled=false") as app:
        assert app.port is None
        assert app.end()[0] == 0


def test_kill_needs_a_form_of_the_site(source):
    with Application(source, "--conf", "spark.ui.port=0", arguments=["wait"]) as app:
        at = "/" + app.api("")[0]["id"]
        states = lambda: [j["status"] for j in app.api(at + "/jobs")]
        wait_for(lambda: states() == ["RUNNING", "SUCCEEDED"])  # the second job waits for input that never comes
        assert app.ask("/jobs/job/kill/?id=1")[0] == 405
        assert app.ask("/jobs/job/kill/?id=1", b"id=1")[0] == 403
        assert states() == ["RUNNING", "SUCCEEDED"]


def test_acls_protect_the_application(source):
    options = ["--conf", "spark.acls.enable=true", "--conf", "spark.ui.view.acls=ann", "--conf", "spark.ui.port=0",
               "--conf", "spark.ui.filters=firesteel.RemoteUserFilter"]
    with Application(source, *options) as app:
        assert app.ask("/api/v1/applications")[0] == 403
        assert app.ask("/api/v1/applications", headers={"X-Remote-User": "bob"})[0] == 403
        assert app.ask("/api/v1/applications", headers={"X-Remote-User": "ann"})[0] == 200
        assert app.end()[0] == 0


def test_paths_of_the_metrics_are_configured(source):
    with Application(source, "--conf", "spark.ui.port=0", "--conf", "spark.metrics.conf.*.sink.servlet.path=/m/json/",
                     "--conf", "spark.metrics.conf.driver.sink.prometheusServlet.path=/m") as app:
        status, text = app.ask("/m")
        assert status == 200 and "_driver_DAGScheduler_" in text and text.startswith("metrics_"), text
        status, text = app.ask("/m/json")
        assert status == 200 and "gauges" in json.loads(text), text
        assert app.ask("/metrics/json/")[0] == 404 and app.ask("/metrics/executors/prometheus/")[0] == 200
        assert app.end()[0] == 0
