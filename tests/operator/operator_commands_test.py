"""firesteel operator: its commands, without a cluster and with an API server in memory."""
import concurrent.futures
import http.server
import json
import os
import re
import socket
import subprocess
import threading
import urllib.request

import pytest

from folders import FIRESTEEL, TOP
from object_api_server import ObjectApiServer


def operator(*words, env=None, text=None):
    return subprocess.run([FIRESTEEL, "operator", *words], capture_output=True, text=True, check=False, timeout=120,
                          input=text, env={**os.environ, **(env or {})})


def test_schedule_prints_next_runs():
    done = operator("schedule", "--time-zone", "Asia/Tokyo", "--count", "2", "30 2 1 1 *")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert [line[4:] for line in lines] == ["-12-31T17:30:00Z"] * 2
    assert int(lines[1][:4]) == int(lines[0][:4]) + 1


def test_schedule_names_the_mistake():
    for words, said, status in (
            (["61 * * * *"], "end of range (61) above maximum (59): 61", 1),
            (["0 0 30 2 *"], "'0 0 30 2 *' never occurs", 1),
            (["--time-zone", "Mars/Base", "@daily"], "unknown time zone Mars/Base", 1),
            (["@daily", "--count", "many"], "--count needs a number from 1 to 100000, not many", 2),
            (["0", "3", "*", "*", "*"], "more than one expression", 2),
            ([], "the expression is missing", 2)):
        done = operator("schedule", *words)
        assert said in done.stderr
        assert done.returncode == status


class Commands:
    """Commands against a server, in the namespace "jobs"."""

    def __init__(self, server, folder):
        self.server, self.env = server, {"KUBECONFIG": server.kubeconfig(folder, "jobs")}

    def __call__(self, *words, fails=None, text=None):
        done = operator(*words, env=self.env, text=text)
        if fails:
            assert done.returncode == 1 and fails in done.stderr, done.stderr
        else:
            assert done.returncode == 0, done.stderr
        return done.stdout

    def application(self, name="pi", namespace="jobs", **status):
        return self.server.insert("sparkapplications", namespace, {
            "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication", "metadata": {"name": name},
            "spec": {"type": "Scala"}, **({"status": status} if status else {})})

    def schedule(self, name="nightly"):
        return self.server.insert("scheduledsparkapplications", "jobs", {
            "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "ScheduledSparkApplication",
            "metadata": {"name": name, "labels": {"team": "a"}},
            "spec": {"schedule": "@daily", "template": {"type": "Scala"}}, "status": {"scheduleState": "Scheduled"}})


@pytest.fixture
def commands(tmp_path):
    with ObjectApiServer() as server:
        yield Commands(server, tmp_path)


RUNNING = {"applicationState": {"state": "RUNNING"}, "driverInfo": {"podName": "pi-driver"},
           "lastSubmissionAttemptTime": "2026-11-28T07:00:00Z", "executorState": {"pi-1f-exec-1": "RUNNING"},
           "executionAttempts": 1, "submissionAttempts": 2}


def test_list_and_get(commands):
    commands.application(**RUNNING)
    commands.application("new")
    commands.application("other", "team")
    lines = commands("list").splitlines()
    assert lines[0].split() == ["NAME", "STATE", "SUBMISSION", "AGE", "COMPLETION", "AGE"]
    assert [line.split()[:2] for line in lines[1:]] == [["new", "NEW"], ["pi", "RUNNING"]]
    assert commands("list", "-n", "team").splitlines()[1].split()[0] == "other"
    everywhere = commands("list", "--all-namespaces").splitlines()
    assert [line.split()[:2] for line in everywhere[1:]] == [["jobs", "new"], ["jobs", "pi"], ["team", "other"]]
    assert [i["metadata"]["name"] for i in json.loads(commands("list", "--output", "json"))["items"]] == ["new", "pi"]
    text = commands("get", "pi")
    for line in ("State:       RUNNING", "Attempts:    1 executions, 2 submissions", "Driver:      pi-driver",
                 "Executor:    pi-1f-exec-1 RUNNING"):
        assert line in text.splitlines()
    assert "State:       NEW (no operator has seen it: does one watch this namespace?)" in commands("get", "new").splitlines()
    assert json.loads(commands("get", "pi", "--output=json"))["metadata"]["name"] == "pi"
    commands("get", "missing", fails='there is no SparkApplication, ScheduledSparkApplication or SparkCluster "missing" in the namespace "jobs"')


def test_kill_deletes_the_driver(commands):
    commands.application(**RUNNING)
    commands.server.insert("pods", "jobs", {"metadata": {"name": "pi-driver"}})
    commands("kill", "pi")
    assert not commands.server.get("pods", "jobs", "pi-driver")
    commands.application("new")
    commands("kill", "new", fails='the application "new" has no driver: its state is NEW')


def test_restart_invalidates(commands):
    commands.application(**RUNNING)
    commands("restart", "pi")
    status = commands.server.get("sparkapplications", "jobs", "pi")["status"]
    assert status["applicationState"] == {"state": "INVALIDATING", "errorMessage": ""}
    assert status["driverInfo"] == {"podName": "pi-driver"}
    commands.application("new")
    commands("restart", "new", fails="was not submitted yet")


def test_reschedule_starts_a_run(commands):
    schedule = commands.schedule()
    name = commands("reschedule", "nightly").strip()
    run = commands.server.get("sparkapplications", "jobs", name)
    assert re.fullmatch(r"nightly-\d{19}", name)
    assert run["metadata"]["labels"] == {"team": "a", "sparkoperator.k8s.io/scheduled-app-name": "nightly"}
    assert run["metadata"]["ownerReferences"][0]["uid"] == schedule["metadata"]["uid"]
    assert run["spec"] == {"type": "Scala"}


def test_suspend_and_resume(commands):
    commands.application()
    commands.schedule()
    for resource, name in (("sparkapplications", "pi"), ("scheduledsparkapplications", "nightly")):
        for word, suspended in (("suspend", True), ("resume", False)):
            commands(word, name)
            assert commands.server.get(resource, "jobs", name)["spec"]["suspend"] is suspended


def test_logs_of_driver_and_executor(commands):
    commands.application(**RUNNING)
    commands.server.logs["jobs", "pi-driver"] = "Pi is roughly 3.14\n"
    commands.server.logs["jobs", "pi-1f-exec-1"] = "task 0\n"
    assert commands("logs", "pi") == "Pi is roughly 3.14\n"
    assert commands("logs", "pi", "--executor", "1") == "task 0\n"
    commands("logs", "pi", "--executor", "7", fails='the application "pi" has no executor 7')


class Echo(http.server.BaseHTTPRequestHandler):
    """A page that has its path and the request's body, or @path bytes."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        text = b"x" * int(self.path[1:]) if self.path[1:].isdigit() else self.path.encode() + b" " + body
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Forward:
    """`firesteel operator forward` of the application "pi", whose driver's pod serves Echo at port 4040."""

    def __init__(self, commands, *words):
        commands.application(**RUNNING)
        commands.server.insert("pods", "jobs", {"metadata": {"name": "pi-driver"}, "status": {"phase": "Running"}})
        self.pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
        threading.Thread(target=self.pages.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        commands.server.ports["jobs", "pi-driver", 4040] = self.pages.server_port
        self.process = subprocess.Popen([FIRESTEEL, "operator", "forward", "pi", *words], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env={**os.environ, **commands.env})
        self.line = self.process.stdout.readline()
        self.url = self.line.split(" ", 1)[0]

    def post(self, path, body=b""):
        with urllib.request.urlopen(self.url + path, body, timeout=120) as answer:
            return answer.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        self.pages.shutdown()
        self.pages.server_close()


def test_forward_serves_the_ui(commands):
    with Forward(commands, "--port", "0") as forward:
        assert re.fullmatch(r'http://127.0.0.1:\d+ leads to port 4040 of the pod "pi-driver" until the driver ends .*\n', forward.line)
        assert forward.post("/jobs/", b"asked") == b"/jobs/ asked"
        assert forward.post("/long", b"y" * 300_000) == b"/long " + b"y" * 300_000
        assert len(forward.post("/3000000")) == 3_000_000
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            assert list(pool.map(lambda i: forward.post(f"/{i}", b"z"), range(100, 140))) == [b"x" * i for i in range(100, 140)]
        commands.server.update("pods", "jobs", "pi-driver", lambda pod: pod["status"].update(phase="Succeeded"))
        out, log = forward.process.communicate(timeout=120)
        assert (forward.process.returncode, out, log) == (0, 'The driver of "pi" has ended.\n', "")


def test_forward_explains_what_fails(commands):
    with Forward(commands, "--port", "0:18080") as forward:
        with pytest.raises(OSError):  # nothing listens at 18080 in the pod
            forward.post("/x")
        assert forward.process.stderr.readline() == "Error: failed to connect to localhost:18080 inside namespace: connection refused\n"
        commands.server.failure = lambda method, path, _: (
            (403, "Forbidden", 'User "u" cannot create resource "pods/portforward"') if "portforward" in path else None)
        with pytest.raises(OSError):
            forward.post("/x")
        assert forward.process.stderr.readline() == (
            'Error: cannot forward to pod "pi-driver": User "u" cannot create resource "pods/portforward"\n')
        commands.server.failure = None
        commands.server.delete("pods", "jobs", "pi-driver")
        assert forward.process.wait(timeout=120) == 0
    commands.application("new")
    commands("forward", "new", fails='the application "new" has no driver: its state is NEW')
    for port in ("70000", "-1", "x", "80:", "80:0", "80:x"):
        commands("forward", "pi", "--port", port, fails=f"--port {port}: it needs a port from 0 to 65535")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        commands("forward", "pi", "--port", str(port), fails=f"port {port} of 127.0.0.1 is in use: choose another one with --port")


def test_events_are_in_order(commands):
    for name, time, of in (("b", "2026-11-28T07:00:02Z", "pi"), ("a", "2026-11-28T07:00:01Z", "pi"), ("c", "2026-11-28T07:00:00Z", "other")):
        commands.server.insert("events", "jobs", {
            "metadata": {"name": name}, "type": "Normal", "reason": "Reason" + name, "message": "it happened",
            "lastTimestamp": time, "involvedObject": {"kind": "SparkApplication", "name": of}})
    lines = commands("events", "pi").splitlines()
    assert [line.split()[1] for line in lines] == ["REASON", "Reasona", "Reasonb"]


def test_followed_events_are_printed_once_though_old_ones_expire(commands):
    def add(name, time):
        commands.server.insert("events", "jobs", {
            "metadata": {"name": name}, "type": "Normal", "reason": name, "message": "it happened",
            "lastTimestamp": f"2026-11-28T07:00:{time:02d}Z", "involvedObject": {"kind": "SparkApplication", "name": "pi"}})

    add("First", 1)
    add("Second", 2)
    with subprocess.Popen([FIRESTEEL, "operator", "events", "pi", "--follow"], env={**os.environ, **commands.env}, text=True,
                          stdout=subprocess.PIPE) as process:
        try:
            assert [process.stdout.readline().split()[1] for _ in range(2)] == ["First:", "Second:"]
            with commands.server.lock:
                commands.server.delete("events", "jobs", "First")
                add("Third", 3)
                add("Earlier", 0)
            assert sorted(process.stdout.readline().split()[1] for _ in range(2)) == ["Earlier:", "Third:"]
            commands.server.update("events", "jobs", "Second", lambda item: item.update(message="it happened again"))
            assert process.stdout.readline() == "Normal Second: it happened again\n"
        finally:
            process.kill()


def test_help_has_every_flag():
    with open(os.path.join(TOP, "src/operator/shell/operator_conf.c"), encoding="utf-8") as source:
        flags = re.findall(r'FLAG\("([a-z-]+)"', source.read())
    text = operator("--help").stdout
    assert len(flags) > 30 and [flag for flag in flags if f"--{flag}" not in text] == []


def test_create_and_delete(commands, tmp_path):
    file = tmp_path / "app.yaml"
    file.write_text("apiVersion: sparkoperator.k8s.io/v1beta2\nkind: SparkApplication\nmetadata: {name: yaml}\nspec: {type: Scala}\n"
                    "---\napiVersion: sparkoperator.k8s.io/v1beta2\nkind: ScheduledSparkApplication\n"
                    "metadata: {name: daily, namespace: team}\nspec: {schedule: '@daily', template: {type: Scala}}\n")
    commands("create", str(file))
    assert commands.server.get("sparkapplications", "jobs", "yaml")["spec"] == {"type": "Scala"}
    assert commands.server.get("scheduledsparkapplications", "team", "daily")
    commands("create", str(file), fails="AlreadyExists")
    commands("delete", "daily", "--namespace", "team")
    assert not commands.server.get("scheduledsparkapplications", "team", "daily")
    commands.schedule()
    commands("create", "once", "--from", "nightly")
    assert "ownerReferences" not in commands.server.get("sparkapplications", "jobs", "once")["metadata"]
    commands("create", "-", text="apiVersion: v1\nkind: Pod\n", fails="it has no SparkApplication, ScheduledSparkApplication or SparkCluster, but a 'Pod'")
    commands("create", "-", text="kind: SparkApplication\n", fails="document 1 has no kind or no apiVersion")
    commands("create", "-", text="a: [\n", fails="-: line")
    commands("create", str(tmp_path / "missing.yaml"), fails="missing.yaml: No such file")


def test_create_makes_what_stands_beside_an_application(commands):
    commands("create", "-", text="{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}\n---\n"
             "{apiVersion: sparkoperator.k8s.io/v1beta2, kind: SparkApplication, metadata: {name: pi}, spec: {type: Scala}}\n")
    assert commands.server.get("configmaps", "jobs", "settings")["data"] == {"a": "b"}
    assert commands.server.get("sparkapplications", "jobs", "pi")


def test_create_of_a_c_file(commands, tmp_path):
    source = tmp_path / "Word_Count.c"
    source.write_text("int main(void) { return 0; }\n")
    commands("create", str(source), fails="name the image that has it with --image")
    shown = json.loads(commands("create", str(source), "--image", "r/x:1", "--output", "json"))
    assert shown["metadata"]["name"] == "word-count" and not commands.server.all("sparkapplications")
    commands("create", str(source), "--image", "r/x:1")
    spec = commands.server.get("sparkapplications", "jobs", "word-count")["spec"]
    assert spec["mainApplicationFile"] == "local:///opt/app/Word_Count.so" and spec["image"] == "r/x:1"


@pytest.mark.parametrize("words,said", [
    (["list", "--colour"], "unknown option --colour"),
    (["get"], "it needs the name"),
    (["list", "x"], "unexpected argument x"),
    (["list", "--output", "xml"], "--output can only be json, not xml"),
    (["logs", "pi", "--executor"], "a value is missing for --executor"),
    (["lisst"], "unknown command lisst"),
])
def test_wrong_words_are_named(words, said):
    done = operator(*words)
    assert done.returncode == 2 and said in done.stderr


APACHE, CLUSTERS = "sparkapplications.spark.apache.org", "sparkclusters.spark.apache.org"


def states(*names):
    """Returns the status of an attempt with these states, a minute each."""
    entries = [{"currentStateSummary": n, "lastTransitionTime": f"2026-11-28T07:{i:02}:00.000Z", "message": f"It is {n}."} for i, n in enumerate(names)]
    return {"currentState": entries[-1], "stateTransitionHistory": {str(i): e for i, e in enumerate(entries)},
            "currentAttemptSummary": {"attemptInfo": {"id": 1, "restartCounter": 1}}, "previousAttemptSummary": {}}


def apache(commands, kind="SparkApplication", name="pi", status=None, **spec):
    return commands.server.insert(CLUSTERS if kind == "SparkCluster" else APACHE, "jobs", {
        "apiVersion": "spark.apache.org/v1", "kind": kind, "metadata": {"name": name}, "spec": {"mainClass": "Pi", **spec},
        **({"status": status} if status else {})})


def test_kinds_of_spark_apache_org_are_listed_and_described(commands):
    apache(commands, status=states("ScheduledToRestart", "DriverRequested", "DriverStarted", "Failed"))
    assert commands("list").splitlines()[1].split()[-1] == "SparkApplication.spark.apache.org"  # the only objects
    commands.application("other", **RUNNING)
    apache(commands, "SparkCluster", "prod", states("Submitted", "RunningHealthy"))
    apache(commands, name="new")
    rows = [line.split() for line in commands("list").splitlines()]
    assert rows[0][-1] == "KIND"
    assert sorted((row[0], row[1], row[-1]) for row in rows[1:]) == [
        ("new", "NEW", "SparkApplication.spark.apache.org"), ("other", "RUNNING", "SparkApplication"),
        ("pi", "Failed", "SparkApplication.spark.apache.org"), ("prod", "RunningHealthy", "SparkCluster.spark.apache.org")]
    assert {i["metadata"]["name"] for i in json.loads(commands("list", "--output=json"))["items"]} == {"new", "other", "pi", "prod"}
    text = commands("get", "pi").splitlines()
    for line in ("State:       Failed", "Reason:      It is Failed.", "Submitted:   2026-11-28T07:01:00.000Z", "Ended:       2026-11-28T07:03:00.000Z",
                 "Restarts:    1", "Id:          pi-1", "Driver:      pi-1-driver"):
        assert line in text, text
    assert "State:       RunningHealthy" in commands("get", "prod").splitlines()


def test_objects_of_spark_apache_org_that_may_not_be_read_are_left_out(commands):
    commands.application(**RUNNING)
    commands.server.failure = lambda method, path, body: (403, "Forbidden", "no") if "/spark.apache.org/" in path else None
    assert [line.split()[0] for line in commands("list").splitlines()] == ["NAME", "pi"]
    commands("get", "missing", fails="there is no SparkApplication, ScheduledSparkApplication or SparkCluster")


def test_applications_of_spark_apache_org_are_killed_and_deleted(commands):
    apache(commands, status=states("Submitted", "DriverRequested"))
    apache(commands, name="new", status=states("Submitted"))
    apache(commands, "SparkCluster", "prod", states("Submitted", "RunningHealthy"))
    commands.server.insert("pods", "jobs", {"metadata": {"name": "pi-1-driver"}})
    commands("kill", "pi")
    assert not commands.server.get("pods", "jobs", "pi-1-driver")
    commands("kill", "new", fails='the application "new" has no driver: its state is Submitted')
    commands("kill", "prod", fails='there is no SparkApplication "prod"')
    commands("restart", "pi", fails="which runs once: delete it and create it again")
    commands("suspend", "prod", fails='"prod" is a SparkCluster, which cannot be suspended')
    commands("delete", "pi")
    commands("delete", "prod")
    assert not commands.server.get(APACHE, "jobs", "pi") and not commands.server.get(CLUSTERS, "jobs", "prod")


def test_create_makes_clusters(commands, tmp_path):
    file = tmp_path / "objects.yaml"
    file.write_text("{apiVersion: spark.apache.org/v1, kind: SparkCluster, metadata: {name: prod}, spec: {}}\n---\n"
                    "{apiVersion: spark.apache.org/v1, kind: SparkApplication, metadata: {name: pi}, spec: {}}\n")
    commands("create", str(file))
    assert commands.server.get(CLUSTERS, "jobs", "prod") and commands.server.get(APACHE, "jobs", "pi")
    assert not commands.server.get("sparkapplications", "jobs", "pi")
