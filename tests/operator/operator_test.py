"""firesteel operator against an API server in memory: schedules, leader election, probes."""
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from folders import FIRESTEEL
from object_api_server import ObjectApiServer

TIMEOUT = 120
LABEL = "sparkoperator.k8s.io/scheduled-app-name"


def wait_for(condition, what, seconds=TIMEOUT):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"timed out waiting for {what() if callable(what) else what}")


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
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port(service)}{path}", timeout=TIMEOUT) as answer:
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


def test_selected_namespaces_are_watched_while_they_have_the_label(server, tmp_path):
    server.insert("namespaces", None, {"metadata": {"name": "jobs", "labels": {"team": "a"}}})
    server.insert("namespaces", None, {"metadata": {"name": "later", "labels": {"team": "b"}}})
    add_schedule(server)
    add_schedule(server, namespace="later")
    with operator(server, tmp_path, "--namespace-selector=team=a") as running:
        wait_for(lambda: runs_of(server), "a run of a selected namespace")
        assert not runs_of(server, "later")
        server.update("namespaces", None, "later", lambda item: item["metadata"]["labels"].update(team="a"))
        wait_for(lambda: runs_of(server, "later"), "a run of a namespace that got the label")
        server.delete("namespaces", None, "jobs")
        wait_for(lambda: "Watches namespace jobs no longer" in running.text(), "the end of the watch")
        names = lambda namespace: {run["metadata"]["name"] for run in runs_of(server, namespace)}  # noqa: E731
        before = names("later")
        wait_for(lambda: names("later") - before, "a run elsewhere, after which no creation is under way")
        left, before = names("jobs"), names("later")
        wait_for(lambda: names("later") - before, "another run elsewhere")
        assert names("jobs") == left


def test_invalid_schedule_is_told_and_recovers(server, tmp_path):
    add_schedule(server, schedule="61 * * * *")
    with operator(server, tmp_path):
        wait_for(lambda: status_of(server).get("scheduleState") == "FailedValidation", "the refusal")
        assert status_of(server)["reason"] == "end of range (61) above maximum (59): 61"
        server.update("scheduledsparkapplications", "jobs", "nightly", lambda item: item["spec"].update(schedule="0 3 * * *", timeZone="Asia/Tokyo"))
        wait_for(lambda: status_of(server).get("nextRun", "").endswith("T18:00:00Z"), "the next run")
        assert "reason" not in status_of(server)


def test_failing_server_starts_no_run_twice(server, tmp_path):
    """A third of the writes fail, half of these after they were carried out, as if the answer were lost."""
    draw = random.Random(7)

    def fail(method, path, body):
        if method == "GET" or "sparkapplications" not in path or draw.random() > 0.33:
            return None
        if method == "POST" and draw.random() < 0.5:
            server.insert("sparkapplications", "jobs", body)
        return 503, "ServiceUnavailable"

    add_schedule(server, schedule="@every 2s", concurrencyPolicy="Allow", failedRunHistoryLimit=1000)
    server.failure = fail
    with operator(server, tmp_path):
        wait_for(lambda: len(runs_of(server)) >= 3, "three runs")
        server.failure = None
        newest = lambda: runs_of(server)[-1]["metadata"]["name"]
        wait_for(lambda: status_of(server).get("lastRunName") == newest(), "the status")
    times = [int(run["metadata"]["name"].split("-")[1]) for run in runs_of(server)]
    assert all(later - earlier >= 2_000_000_000 for earlier, later in zip(times, times[1:]))


def add_application(server, name="pi", namespace="jobs", **spec):
    return server.insert("sparkapplications", namespace, {
        "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication", "metadata": {"name": name},
        "spec": {"type": "Scala", "mode": "cluster", "sparkVersion": "4.0.0", "image": "spark:4", "mainClass": "org.example.Pi",
                 "mainApplicationFile": "local:///opt/pi.jar", "driver": {"cores": 1, "memory": "512m"},
                 "executor": {"instances": 1, "memory": "512m"}, **spec}})


def application_status(server, name="pi", namespace="jobs"):
    return (server.get("sparkapplications", namespace, name) or {}).get("status") or {}


def state_of(server, name="pi"):
    return application_status(server, name).get("applicationState", {}).get("state", "")


def wait_for_state(server, state, name="pi"):
    wait_for(lambda: state_of(server, name) == state, lambda: f"{state}, not {application_status(server, name)}")


def set_phase(server, pod, phase, exit_code=None):
    container = {"name": "spark-kubernetes-driver" if pod["metadata"]["labels"]["spark-role"] == "driver" else "spark-kubernetes-executor"}
    if exit_code is None:
        container["state"] = {"running": {}} if phase == "Running" else {"waiting": {}}
    else:
        container["state"] = {"terminated": {"exitCode": exit_code, "reason": "Completed" if exit_code == 0 else "Error"}}
    server.update("pods", pod["metadata"]["namespace"], pod["metadata"]["name"],
                  lambda item: item.update(status={"phase": phase, "containerStatuses": [container]}))


def driver_of(server, name="pi"):
    return wait_for(lambda: server.get("pods", "jobs", f"{name}-driver"), "the driver's pod")


def test_application_runs_and_completes(server, tmp_path):
    application = add_application(server)
    with operator(server, tmp_path, "--enable-metrics", "--metrics-bind-address=127.0.0.1:0") as running:
        wait_for_state(server, "SUBMITTED")
        pod = driver_of(server)
        labels = pod["metadata"]["labels"]
        assert labels["sparkoperator.k8s.io/app-name"] == "pi" and labels["spark-role"] == "driver"
        assert any(owner["uid"] == application["metadata"]["uid"] and owner["controller"] for owner in pod["metadata"]["ownerReferences"])
        status = application_status(server)
        assert status["submissionID"] == labels["sparkoperator.k8s.io/submission-id"]
        assert (status["submissionAttempts"], status["executionAttempts"]) == (1, 1)
        assert status["driverInfo"]["podName"] == "pi-driver"
        wait_for(lambda: application_status(server)["driverInfo"].get("webUIServiceName") == "pi-ui-svc", "the UI's service")
        assert server.get("services", "jobs", "pi-ui-svc")["spec"]["selector"]["spark-role"] == "driver"
        set_phase(server, pod, "Running")
        wait_for_state(server, "RUNNING")
        executor = server.insert("pods", "jobs", {"metadata": {
            "name": "pi-exec-1", "labels": {**labels, "spark-role": "executor", "spark-exec-id": "1"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "pi-driver", "uid": pod["metadata"]["uid"]}]}})
        set_phase(server, executor, "Running")
        wait_for(lambda: application_status(server).get("executorState") == {"pi-exec-1": "RUNNING"}, "the executor")
        assert application_status(server)["sparkApplicationId"] == labels["spark-app-selector"]
        set_phase(server, executor, "Succeeded", 0)
        set_phase(server, driver_of(server), "Succeeded", 0)
        wait_for_state(server, "COMPLETED")
        assert application_status(server)["terminationTime"]
        wait_for(lambda: {"SparkApplicationSubmitted", "SparkDriverRunning", "SparkExecutorRunning", "SparkApplicationCompleted"} <=
                 {event["reason"] for event in server.all("events", "jobs")}, "the events")
        metrics = lambda: set(running.probe("/metrics", "Metrics")[1].splitlines())
        wait_for(lambda: {"spark_application_submit_count 1", "spark_application_success_count 1", "spark_application_running_count 0"} <=
                 metrics(), lambda: f"the metrics of an ended application: {metrics()}")


def test_metrics_have_the_labels_of_applications_and_count_executors(server, tmp_path):
    add_application(server)
    server.update("sparkapplications", "jobs", "pi", lambda item: item["metadata"].update(labels={"app-team": "a", "x": "y"}))
    with operator(server, tmp_path, "--enable-metrics", "--metrics-bind-address=127.0.0.1:0", "--metrics-labels=app-team,zone",
                  "--metrics-prefix=my-op") as running:
        def metric(name, value, more=""):
            line = f'my_op_{name}{{app_team="a",zone="Unknown"{more}}} {value}'
            wait_for(lambda: line in running.probe("/metrics", "Metrics")[1].splitlines(), lambda: f"{line} in\n" + running.probe("/metrics", "Metrics")[1])

        wait_for_state(server, "SUBMITTED")
        pod = driver_of(server)
        set_phase(server, pod, "Running")
        for number in (1, 2):
            executor = server.insert("pods", "jobs", {"metadata": {
                "name": f"pi-exec-{number}", "labels": {**pod["metadata"]["labels"], "spark-role": "executor"},
                "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "pi-driver", "uid": pod["metadata"]["uid"]}]}})
            set_phase(server, executor, "Running")
        metric("spark_application_submit_count", 1)
        metric("spark_application_running_count", 1)
        metric("spark_executor_running_count", 2)
        set_phase(server, server.get("pods", "jobs", "pi-exec-1"), "Failed", 1)
        metric("spark_executor_failure_count", 1)
        metric("spark_executor_running_count", 1)
        set_phase(server, server.get("pods", "jobs", "pi-exec-2"), "Succeeded", 0)
        metric("spark_executor_success_count", 1)
        metric("spark_executor_running_count", 0)
        metric("spark_application_submit_latency_seconds_histogram_bucket", 1, ',le="+Inf"')
        assert "no effect" not in running.text()


def test_fields_without_effect_are_told(server, tmp_path):
    add_application(server, failureRetries=3)
    with operator(server, tmp_path):
        wait_for(lambda: events_of(server, "SparkApplicationFieldsWithoutEffect"), "the event")
        assert "spec.failureRetries" in events_of(server, "SparkApplicationFieldsWithoutEffect")[0]


def test_failed_driver_is_retried(server, tmp_path):
    add_application(server, restartPolicy={"type": "OnFailure", "onFailureRetries": 1, "onFailureRetryInterval": 1,
                                           "onSubmissionFailureRetryInterval": 1})
    with operator(server, tmp_path):
        for attempt in (1, 2):
            wait_for(lambda: state_of(server) == "SUBMITTED" and application_status(server)["executionAttempts"] == attempt, "a submission")
            pod = driver_of(server)
            set_phase(server, pod, "Running")
            wait_for_state(server, "RUNNING")
            set_phase(server, pod, "Failed", 3)
        wait_for_state(server, "FAILED")
        assert application_status(server)["applicationState"]["errorMessage"] == "driver container failed with ExitCode: 3, Reason: Error"


def test_changed_spec_restarts_and_suspend_stops(server, tmp_path):
    add_application(server)
    with operator(server, tmp_path):
        wait_for_state(server, "SUBMITTED")
        first = driver_of(server)["metadata"]["uid"]
        server.update("sparkapplications", "jobs", "pi", lambda item: item["spec"].update(arguments=["7"]))
        wait_for(lambda: driver_of(server)["metadata"]["uid"] != first, "another driver")
        wait_for_state(server, "SUBMITTED")
        assert driver_of(server)["spec"]["containers"][0]["args"][-1] == "7"
        server.update("sparkapplications", "jobs", "pi", lambda item: item["spec"].update(suspend=True))
        wait_for_state(server, "SUSPENDED")
        assert not server.get("pods", "jobs", "pi-driver")
        server.update("sparkapplications", "jobs", "pi", lambda item: item["spec"].update(suspend=False))
        wait_for_state(server, "SUBMITTED")


def test_refused_application_says_why(server, tmp_path):
    add_application(server, sparkConf={"spark.master": "local"})
    with operator(server, tmp_path):
        wait_for_state(server, "FAILED")
        assert "spark.master" in application_status(server)["applicationState"]["errorMessage"]


def test_killed_operator_submits_nothing_twice(server, tmp_path):
    """Operators die at moments that differ; the next one completes each submission."""
    for i in range(30):
        add_application(server, f"app-{i}")
    for turn in range(12):
        running = Operator(server, tmp_path / str(turn))
        wait_for(lambda: "All objects are known" in running.text(), "the operator")
        time.sleep(0.004 * turn)
        running.stop(signal.SIGKILL)
    with operator(server, tmp_path):
        for i in range(30):
            wait_for_state(server, "SUBMITTED", f"app-{i}")
    assert len(server.all("pods")) == 30
    created = [change for change in server.changes if change[1] == "ADDED" and change[2] == "pods"]
    assert len(created) == 30
    for i in range(30):
        assert application_status(server, f"app-{i}")["submissionAttempts"] == 1


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
    add_schedule(server, concurrencyPolicy="Allow", failedRunHistoryLimit=1000)
    flags = ("--leader-election", "--leader-election-lease-duration=10s", "--leader-election-renew-deadline=8s",
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


def test_pod_of_another_owner_does_not_replace_the_driver(server, tmp_path):
    add_application(server)
    with operator(server, tmp_path):
        wait_for_state(server, "SUBMITTED")
        pod = driver_of(server)
        set_phase(server, pod, "Running")
        wait_for_state(server, "RUNNING")
        server.insert("pods", "jobs", {
            "metadata": {"name": "old-driver",
                         "labels": {**pod["metadata"]["labels"], "sparkoperator.k8s.io/submission-id": "x"},
                         "ownerReferences": [{"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
                                              "name": "pi", "uid": "other"}]},
            "status": {"phase": "Failed"}})
        set_phase(server, driver_of(server), "Succeeded", 0)
        wait_for_state(server, "COMPLETED")


def test_driver_deleted_in_a_gap_of_the_watch_is_lost(server, tmp_path):
    add_application(server)
    with operator(server, tmp_path):
        wait_for_state(server, "SUBMITTED")
        set_phase(server, driver_of(server), "Running")
        wait_for_state(server, "RUNNING")
        with server.lock:
            pod = server.objects.pop(("pods", "jobs", "pi-driver"))  # without an event; then the watch is too old
            server.version += 2
            status = {"kind": "Status", "code": 410, "message": "too old",
                      "metadata": {"labels": pod["metadata"]["labels"], "resourceVersion": str(server.version)}}
            server.changes.append((server.version, "ERROR", "pods", "jobs", json.dumps(status)))
            server.lock.notify_all()
        wait_for_state(server, "FAILED")


def refuse(resource, name, code=403, reason="Forbidden"):
    """Returns a server.failure for the creation and change of one object."""
    return lambda method, path, body: (
        (code, reason, f"{resource} refused here")
        if (method == "POST" and path.split("?")[0].endswith("/" + resource) and body["metadata"]["name"] == name) or
        (method == "PATCH" and f"/{resource}/{name}" in path) else None)


def events_of(server, reason):
    return [event["note"] for event in server.all("events", "jobs") if event["reason"] == reason]


def test_refused_ui_service_does_not_hide_the_driver(server, tmp_path):
    server.failure = refuse("services", "pi-ui-svc")
    add_application(server)
    with operator(server, tmp_path):
        wait_for_state(server, "SUBMITTED")
        set_phase(server, driver_of(server), "Running")
        wait_for_state(server, "RUNNING")
        wait_for(lambda: events_of(server, "SparkApplicationExposeFailed"), "the event")
        assert "services refused here" in events_of(server, "SparkApplicationExposeFailed")[0]
        set_phase(server, driver_of(server), "Succeeded", 0)
        wait_for_state(server, "COMPLETED")


def test_ui_service_that_fails_for_a_while_is_created_later(server, tmp_path):
    refused = refuse("services", "pi-ui-svc", 503, "ServiceUnavailable")
    failing = [True]
    server.failure = lambda *request: refused(*request) if failing[0] else None
    add_application(server)
    with operator(server, tmp_path):
        wait_for_state(server, "SUBMITTED")
        set_phase(server, driver_of(server), "Running")
        wait_for_state(server, "RUNNING")
        failing[0] = False
        wait_for(lambda: application_status(server)["driverInfo"].get("webUIServiceName") == "pi-ui-svc", "the UI's service")


def test_missing_batch_scheduler_is_named(server, tmp_path):
    server.failure = lambda method, path, body: (404, "NotFound", "404 page not found") if "/podgroups" in path else None
    add_application(server, batchScheduler="volcano")
    with operator(server, tmp_path, "--enable-batch-scheduler"):
        wait_for(lambda: application_status(server).get("applicationState", {}).get("state") == "FAILED", lambda: application_status(server))
    said = application_status(server)["applicationState"]["errorMessage"]
    assert "does not know PodGroup of scheduling.volcano.sh/v1beta1: install the batch scheduler and its definitions" in said


def test_refused_object_before_the_pod_is_told(server, tmp_path):
    server.failure = refuse("configmaps", "pi-prom-conf")
    add_application(server, monitoring={"exposeDriverMetrics": True, "exposeExecutorMetrics": False,
                                        "prometheus": {"jmxExporterJar": "/prometheus/jmx.jar"}},
                    restartPolicy={"type": "OnFailure", "onFailureRetries": 0, "onFailureRetryInterval": 1,
                                   "onSubmissionFailureRetries": 1, "onSubmissionFailureRetryInterval": 1})
    with operator(server, tmp_path):
        wait_for_state(server, "FAILED")
        status = application_status(server)
        assert "configmaps refused here" in status["applicationState"]["errorMessage"]
        assert (status["submissionAttempts"], status.get("executionAttempts", 0)) == (2, 0)
        assert not server.all("pods")


def test_corrected_application_is_submitted(server, tmp_path):
    add_application(server, sparkConf={"spark.master": "local"})
    with operator(server, tmp_path / "first"):
        wait_for_state(server, "FAILED")
        server.update("sparkapplications", "jobs", "pi", lambda item: item["spec"].update(sparkConf={"spark.master": "yarn"}))
        wait_for(lambda: application_status(server).get("observedGeneration") == 2 and state_of(server) == "FAILED", "the second refusal")
    server.update("sparkapplications", "jobs", "pi", lambda item: item["spec"].update(sparkConf={}))
    with operator(server, tmp_path / "second"):
        wait_for_state(server, "SUBMITTED")


def test_submission_does_not_read_the_observed_object_again(server, tmp_path):
    """The object as the list or a later event showed it is submitted."""
    add_application(server)
    with operator(server, tmp_path) as running:
        wait_for_state(server, "SUBMITTED")
        add_application(server, name="late")
        wait_for_state(server, "SUBMITTED", name="late")
        assert not [path for method, path in server.requests if method == "GET" and re.search(r"/sparkapplications/", path)], running.text()


def test_server_that_does_not_know_the_operator_yet_fails_nothing(server, tmp_path):
    """An API server that has just started forbids everything until it has read the rights."""
    closed = [True]

    def fail(method, path, body):
        if closed[0] and (method == "POST" and path.endswith("/pods") or method == "GET" and "/sparkapplications/pi" in path):
            return 403, "Forbidden"
        return None

    server.failure = fail
    with operator(server, tmp_path):
        add_application(server)
        wait_for(lambda: any(method == "GET" and "/sparkapplications/pi" in path for method, path in server.requests), "a look at the application")
        closed[0] = False
        wait_for_state(server, "SUBMITTED")
        assert application_status(server)["submissionAttempts"] == 1


def test_driver_that_is_being_deleted_is_not_taken_over(server, tmp_path):
    """The pod of an interrupted submission is deleted meanwhile. The submission waits until it is gone."""
    asked = []

    def fail(method, path, body):
        if method == "POST" and path.endswith("/pods"):
            asked.append(body)
            if len(asked) == 1:
                body["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
                server.insert("pods", "jobs", body)
        return None

    server.failure = fail
    add_application(server)
    with operator(server, tmp_path):
        wait_for(lambda: any(method == "GET" and path.endswith("/pods/pi-driver") for method, path in server.requests),
                 "a look at the pod that exists")
        server.delete("pods", "jobs", "pi-driver")
        wait_for_state(server, "SUBMITTED")
        assert len(asked) == 2
        assert "deletionTimestamp" not in driver_of(server)["metadata"]
        assert application_status(server)["submissionAttempts"] == 1


def test_unreadable_namespace_does_not_block_the_others(server, tmp_path):
    closed = [True]
    server.failure = lambda method, path, body: (403, "Forbidden") if closed[0] and "/namespaces/closed/" in path else None
    add_application(server)
    add_application(server, namespace="closed")
    with operator(server, tmp_path, "--namespaces=closed,jobs", "--cache-sync-timeout=1h") as running:
        wait_for_state(server, "SUBMITTED")
        assert running.probe("/readyz")[0] == 200
        assert not application_status(server, namespace="closed")
        closed[0] = False
        wait_for(lambda: application_status(server, namespace="closed").get("applicationState", {}).get("state") == "SUBMITTED",
                 "the application of the other namespace")


def test_namespace_that_does_not_answer_is_set_aside(server, tmp_path):
    server.failure = lambda method, path, body: (503, "ServiceUnavailable") if "/namespaces/closed/" in path else None
    add_application(server)
    with operator(server, tmp_path, "--namespaces=closed,jobs", "--cache-sync-timeout=1s") as running:
        wait_for_state(server, "SUBMITTED")
        assert "namespace closed could not be read within --cache-sync-timeout" in running.text()


def test_operator_that_can_read_nothing_is_not_ready(server, tmp_path):
    server.failure = lambda method, path, body: (403, "Forbidden")
    with operator(server, tmp_path, "--namespaces=closed", "--cache-sync-timeout=1s") as running:
        wait_for(lambda: "within --cache-sync-timeout" in running.text(), "the error")
        assert running.probe("/readyz")[0] == 500
        server.failure = None
        wait_for(lambda: running.probe("/readyz")[0] == 200, "readiness")


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
    (["--namespace-selector=team=a,"], "--namespace-selector: 'team=a,' is not of the form LABEL=VALUE"),
    (["--namespace-selector==a"], "is not of the form LABEL=VALUE"),
    (["--namespace-selector=team=a", "--namespaces=jobs"], "exclude each other"),
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
