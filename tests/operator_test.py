"""firesteel operator against an API server in memory: schedules, leader election, probes."""
import contextlib
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from object_api_server import ObjectApiServer

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIRESTEEL = os.path.join(os.environ.get("FIRESTEEL_BIN", os.path.join(TOP, "bin")), "firesteel")
TIMEOUT = 60
LABEL = "sparkoperator.k8s.io/scheduled-app-name"


def wait_for(condition, what, seconds=TIMEOUT):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"timed out waiting for {what}")


class Operator:
    def __init__(self, server, folder, *flags):
        folder.mkdir(exist_ok=True)
        self.log = folder / "operator.log"
        env = {**os.environ, "KUBECONFIG": server.kubeconfig(folder), "TZ": "UTC"}
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([FIRESTEEL, "operator", "--health-probe-bind-address=127.0.0.1:0", *flags],
                                            env=env, stderr=log)

    def text(self):
        return self.log.read_text()

    def port(self, service):
        found = wait_for(lambda: re.search(service + r": Listening on port (\d+)", self.text()), f"{service}'s port")
        return int(found.group(1))

    def probe(self, path, service="HealthProbe"):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port(service)}{path}", timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(TIMEOUT)


@contextlib.contextmanager
def operator(server, folder, *flags):
    running = Operator(server, folder, *flags)
    try:
        yield running
        assert running.process.poll() is None, running.text()
        assert running.stop() == 0, running.text()
    finally:
        running.stop(signal.SIGKILL)


@pytest.fixture
def server():
    with ObjectApiServer() as running:
        yield running


def add_schedule(server, name="nightly", namespace="jobs", **spec):
    return server.insert("scheduledsparkapplications", namespace, {
        "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "ScheduledSparkApplication",
        "metadata": {"name": name, "labels": {"team": "a"}},
        "spec": {"schedule": "@every 1s", "template": {"type": "Scala", "mode": "cluster"}, **spec}})


def status_of(server, name="nightly", namespace="jobs"):
    return (server.get("scheduledsparkapplications", namespace, name) or {}).get("status") or {}


def finish(server, run, state="COMPLETED"):
    server.update("sparkapplications", run["metadata"]["namespace"], run["metadata"]["name"],
                  lambda item: item.update(status={"applicationState": {"state": state}}))


def runs_of(server, namespace="jobs"):
    return sorted(server.all("sparkapplications", namespace), key=lambda run: run["metadata"]["name"])


def test_schedule_starts_runs_and_keeps_history(server, tmp_path):
    schedule = add_schedule(server, concurrencyPolicy="Forbid")
    with operator(server, tmp_path):
        run = wait_for(lambda: runs_of(server), "a run")[0]
        metadata = run["metadata"]
        assert re.fullmatch(r"nightly-\d{19}", metadata["name"])
        assert metadata["labels"] == {"team": "a", LABEL: "nightly"}
        assert metadata["ownerReferences"] == [{
            "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "ScheduledSparkApplication", "name": "nightly",
            "uid": schedule["metadata"]["uid"], "blockOwnerDeletion": True}]
        assert run["spec"] == {"type": "Scala", "mode": "cluster"}
        wait_for(lambda: status_of(server).get("lastRunName") == metadata["name"], "the status")
        assert status_of(server)["scheduleState"] == "Scheduled"
        finish(server, run)
        second = wait_for(lambda: [r for r in runs_of(server) if r["metadata"]["name"] != metadata["name"]], "a second run")[0]
        wait_for(lambda: status_of(server).get("pastSuccessfulRunNames") == [metadata["name"]], "the history")
        finish(server, second, "FAILED")
        third = wait_for(lambda: [r for r in runs_of(server) if r["metadata"]["name"] > second["metadata"]["name"]], "a third run")[0]
        finish(server, third)
        wait_for(lambda: not server.get("sparkapplications", "jobs", metadata["name"]), "the end of the history")
        wait_for(lambda: status_of(server).get("pastFailedRunNames") == [second["metadata"]["name"]], "the failed run")


def test_schedules_of_other_namespaces_are_left_alone(server, tmp_path):
    add_schedule(server, namespace="jobs")
    add_schedule(server, namespace="more")
    add_schedule(server, namespace="others")
    with operator(server, tmp_path, "--namespaces=jobs,more"):
        wait_for(lambda: runs_of(server, "jobs") and runs_of(server, "more"), "runs")
    assert not runs_of(server, "others") and not status_of(server, namespace="others")


def test_invalid_schedule_is_told_and_recovers(server, tmp_path):
    add_schedule(server, schedule="61 * * * *")
    with operator(server, tmp_path):
        wait_for(lambda: status_of(server).get("scheduleState") == "FailedValidation", "the refusal")
        assert status_of(server)["reason"] == "end of range (61) above maximum (59): 61"
        server.update("scheduledsparkapplications", "jobs", "nightly", lambda item: item["spec"].update(schedule="0 3 * * *", timeZone="Asia/Tokyo"))
        wait_for(lambda: status_of(server).get("nextRun", "").endswith("T18:00:00Z"), "the next run")
        assert "reason" not in status_of(server)


def test_failing_server_starts_no_run_twice(server, tmp_path):
    """Every second write fails after it was carried out, as if its answer were lost; the others before."""
    turn = [0]

    def fail(method, path, body):
        if method == "GET":
            return None
        turn[0] += 1
        if turn[0] % 4 == 1 and method == "POST":
            server.insert("sparkapplications", "jobs", body)
        return (503, "ServiceUnavailable") if turn[0] % 2 else None

    add_schedule(server, schedule="@every 2s", concurrencyPolicy="Allow")
    server.failure = fail
    with operator(server, tmp_path):
        wait_for(lambda: len(runs_of(server)) >= 3, "three runs")
        server.failure = None
        newest = lambda: runs_of(server)[-1]["metadata"]["name"]
        wait_for(lambda: status_of(server).get("lastRunName") == newest(), "the status")
    times = [int(run["metadata"]["name"].split("-")[1]) for run in runs_of(server)]
    assert all(later - earlier >= 2_000_000_000 for earlier, later in zip(times, times[1:]))


def test_probes_and_metrics(server, tmp_path):
    blocked = [True]
    server.failure = lambda method, path, body: (503, "ServiceUnavailable") if blocked[0] else None
    with operator(server, tmp_path, "--enable-metrics", "--metrics-bind-address=127.0.0.1:0") as running:
        assert running.probe("/healthz") == (200, "ok")
        assert running.probe("/readyz")[0] == 500
        blocked[0] = False
        wait_for(lambda: running.probe("/readyz")[0] == 200, "readiness")
        status, text = running.probe("/metrics", "Metrics")
        assert status == 200 and 'workqueue_depth{name="sparkapplication"} 0' in text
        assert running.probe("/other")[0] == 404


def lease_holder(server):
    return ((server.get("leases", "default", "spark-operator-lock") or {}).get("spec") or {}).get("holderIdentity")


def test_one_of_two_operators_acts(server, tmp_path):
    add_schedule(server, concurrencyPolicy="Allow", successfulRunHistoryLimit=1000)
    flags = ("--leader-election", "--leader-election-lease-duration=3s", "--leader-election-renew-deadline=2s",
             "--leader-election-retry-period=500ms")
    first = Operator(server, tmp_path / "first", *flags)
    try:
        holder = wait_for(lambda: lease_holder(server), "a leader")
        with operator(server, tmp_path / "second", *flags) as second:
            wait_for(lambda: runs_of(server), "a run")
            wait_for(lambda: "All objects are known" in second.text(), "the second operator")
            assert lease_holder(server) == holder
            first.stop(signal.SIGKILL)
            wait_for(lambda: lease_holder(server) not in (holder, None, ""), "another leader")
            known = len(runs_of(server))
            wait_for(lambda: len(runs_of(server)) > known + 1, "runs of the second operator")
        assert lease_holder(server) == ""  # it gave the lease up
    finally:
        first.stop(signal.SIGKILL)
    times = [int(run["metadata"]["name"].split("-")[1]) for run in runs_of(server)]
    assert len(set(times)) == len(times)


def test_lost_lease_ends_the_operator(server, tmp_path):
    running = Operator(server, tmp_path, "--leader-election", "--leader-election-lease-duration=2s",
                       "--leader-election-renew-deadline=1s", "--leader-election-retry-period=200ms")
    try:
        wait_for(lambda: lease_holder(server), "a leader")
        server.failure = lambda method, path, body: (503, "ServiceUnavailable") if "leases" in path else None
        assert running.process.wait(TIMEOUT) == 1
        assert "leader election lost" in running.text()
    finally:
        running.stop(signal.SIGKILL)


@pytest.mark.parametrize("flags,said", [
    (["--namespacse=a"], "unknown flag --namespacse; did you mean --namespaces?"),
    (["--controller-threads=many"], "--controller-threads: 'many' is not a number"),
    (["--leader-election-lease-duration=5s"], "--leader-election-renew-deadline must be less"),
    (["--enable-metrics=perhaps"], "--enable-metrics: 'perhaps' is neither true nor false"),
    (["--namespaces"], "--namespaces needs a value"),
    (["--feature-gates=PartialRestart"], "is not NAME=true or NAME=false"),
    (["--scheduled-spark-application-timestamp-precision=hours"], "none of nanos, micros"),
])
def test_wrong_flags_are_named(flags, said):
    done = subprocess.run([FIRESTEEL, "operator", *flags], capture_output=True, text=True, check=False, timeout=TIMEOUT)
    assert done.returncode == 2 and said in done.stderr


def test_missing_api_server_is_told(tmp_path):
    env = {k: v for k, v in os.environ.items() if not k.startswith("KUBERNETES_")}
    env.update(KUBECONFIG="", HOME=str(tmp_path))
    done = subprocess.run([FIRESTEEL, "operator", "--health-probe-bind-address=0"], env=env, capture_output=True, text=True,
                          check=False, timeout=TIMEOUT)
    assert done.returncode == 1 and "no API server" in done.stderr
