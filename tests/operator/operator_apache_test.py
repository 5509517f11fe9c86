"""SparkApplications and SparkClusters of spark.apache.org: `render` prints their objects, and the operator runs them on an API server in memory."""
import json
import os
import subprocess

import pytest

from folders import BIN
from object_api_server import ObjectApiServer
from operator_crd_test import differences
from operator_test import TIMEOUT, Operator, operator, wait_for

GENUINE_CRDS = os.environ.get("FIRESTEEL_GENUINE_APACHE_CRDS")  # the folder of Apache's definitions

PI = """
apiVersion: spark.apache.org/v1
kind: SparkApplication
metadata: {name: pi}
spec:
  mainClass: org.apache.spark.examples.SparkPi
  jars: local:///opt/spark/examples/jars/spark-examples.jar
  sparkConf:
    spark.kubernetes.authenticate.driver.serviceAccountName: spark
    spark.kubernetes.container.image: apache/spark:{{SPARK_VERSION}}-scala
  applicationTolerations: {resourceRetainPolicy: OnFailure, ttlAfterStopMillis: 10000}
  runtimeVersions: {sparkVersion: "4.2.0"}
"""


def render(text, *arguments, status=0):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("KUBERNETES_SERVICE")}
    result = subprocess.run([f"{BIN}/firesteel", "operator", "render", "--output", "json", *arguments, "-"], input=text,
                            timeout=120, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == status, result.stderr
    return result


def test_render_prints_the_objects_of_an_application():
    result = render(PI, "--namespace", "jobs")
    items = json.loads(result.stdout)["items"]
    assert not result.stderr
    assert {item["metadata"]["namespace"] for item in items} == {"jobs"}
    pod, = [item for item in items if item["kind"] == "Pod"]
    assert pod["metadata"]["name"] == "pi-0-driver"
    assert pod["metadata"]["ownerReferences"][0]["apiVersion"] == "spark.apache.org/v1"
    assert pod["spec"]["containers"][0]["image"] == "apache/spark:4.2.0-scala"
    assert pod["spec"]["serviceAccountName"] == "spark"
    labels = pod["metadata"]["labels"]
    assert labels["spark.operator/spark-app-name"] == "pi" and labels["spark-version"] == "4.2.0"
    assert all(labels.items() <= item["metadata"]["labels"].items() for item in items if item is not pod)


def test_render_reports_what_is_wrong():
    result = render(PI.replace("  jars:", "  jar:"))
    assert "Warning: pi: spec.jar: unknown field" in result.stderr
    result = render(PI.replace("spec:\n", "spec:\n  deploymentMode: ClientMode\n"), status=1)
    assert "SparkApplication pi: Client mode is not supported yet." in result.stderr
    result = render(PI.replace("OnFailure", "Sometimes"), status=1)
    assert "is not one of Always|Never|OnFailure" in result.stderr
    result = render(PI.replace("org/v1", "org/v2"), status=1)
    assert "use spark.apache.org/v1" in result.stderr


# ------------------------------------------------------------------------------------------------------ the operator

APPLICATIONS = "sparkapplications.spark.apache.org"
FLAG = "--enable-apache-applications"


@pytest.fixture
def server():
    with ObjectApiServer() as running:
        yield running


def add(server, name="pi", tolerations=None, **spec):
    return server.insert(APPLICATIONS, "jobs", {
        "apiVersion": "spark.apache.org/v1", "kind": "SparkApplication", "metadata": {"name": name},
        "spec": {"mainClass": "Pi", "jars": "local:///pi.jar", "runtimeVersions": {"sparkVersion": "4.2.0"},
                 "sparkConf": {"spark.kubernetes.container.image": "spark:4"},
                 "applicationTolerations": tolerations or {}, **spec}})


def status_of(server, name="pi"):
    return (server.get(APPLICATIONS, "jobs", name) or {}).get("status") or {}


def state_of(server, name="pi"):
    return status_of(server, name).get("currentState", {}).get("currentStateSummary")


def wait_for_state(server, state, name="pi"):
    wait_for(lambda: state_of(server, name) == state, lambda: f"{name} to be {state}: {status_of(server, name)}")


def states_of(history):
    return [history[number]["currentStateSummary"] for number in sorted(history, key=int)]


def set_driver(server, pod, phase, ready=False, exit_code=None):
    state = {"terminated": {"exitCode": exit_code}} if exit_code is not None else {"running": {}}
    status = {"phase": phase, "conditions": [{"type": "Ready", "status": str(ready)}],
              "containerStatuses": [{"name": "spark-kubernetes-driver", "ready": ready, "restartCount": 0, "state": state}]}
    server.update("pods", "jobs", pod, lambda item: item.update(status=status))


def driver(server, name):
    return wait_for(lambda: server.get("pods", "jobs", name), f"the pod {name}")


def test_application_runs_and_its_resources_are_released(server, tmp_path):
    application = add(server, configMapSpecs=[{"name": "extra", "data": {"a": "b"}}])
    with operator(server, tmp_path, FLAG):
        pod = driver(server, "pi-0-driver")
        wait_for_state(server, "DriverRequested")
        assert pod["metadata"]["ownerReferences"][0]["uid"] == application["metadata"]["uid"]
        assert server.get("configmaps", "jobs", "extra")["metadata"]["ownerReferences"][0]["uid"] == pod["metadata"]["uid"]
        set_driver(server, "pi-0-driver", "Running", ready=True)
        wait_for_state(server, "RunningHealthy")
        set_driver(server, "pi-0-driver", "Succeeded", exit_code=0)
        wait_for_state(server, "ResourceReleased")
        wait_for(lambda: not server.all("pods") and not server.all("configmaps"), "the driver and its objects to go")
    status = status_of(server)
    assert states_of(status["stateTransitionHistory"]) == [
        "Submitted", "DriverRequested", "DriverStarted", "DriverReady", "RunningHealthy", "Succeeded", "ResourceReleased"]
    assert status["currentAttemptSummary"] == {"attemptInfo": {
        "id": 0, "restartCounter": 0, "failureRestartCounter": 0, "schedulingFailureRestartCounter": 0}}
    events = [(e["reason"], e["regarding"]["apiVersion"]) for e in server.all("events")]
    assert ("Succeeded", "spark.apache.org/v1") in events


def test_failed_driver_is_restarted_and_its_status_recorded(server, tmp_path):
    add(server, tolerations={"restartConfig": {"restartPolicy": "OnFailure", "restartBackoffMillis": 100, "maxRestartAttempts": 1},
                             "resourceRetainPolicy": "OnFailure"})
    with operator(server, tmp_path, FLAG):
        driver(server, "pi-0-driver")
        wait_for_state(server, "DriverRequested")
        set_driver(server, "pi-0-driver", "Failed", exit_code=3)
        driver(server, "pi-1-driver")
        wait_for_state(server, "DriverRequested")
        status = status_of(server)
        previous = status["previousAttemptSummary"]["stateTransitionHistory"]
        assert states_of(previous) == ["Submitted", "DriverRequested", "Failed"]
        assert previous["2"]["lastObservedDriverStatus"]["phase"] == "Failed"
        assert previous["2"]["message"] == "The driver failed with exit code 3."
        assert states_of(status["stateTransitionHistory"]) == ["ScheduledToRestart", "DriverRequested"]
        assert status["currentAttemptSummary"]["attemptInfo"]["restartCounter"] == 1
        set_driver(server, "pi-1-driver", "Failed", exit_code=3)
        wait_for_state(server, "TerminatedWithoutReleaseResources")
        assert server.get("pods", "jobs", "pi-1-driver")


def test_executors_are_counted_and_ended_applications_deleted(server, tmp_path):
    add(server, tolerations={"instanceConfig": {"initExecutors": 1, "minExecutors": 1, "maxExecutors": 2}, "ttlAfterStopMillis": 1})
    with operator(server, tmp_path, FLAG):
        pod = driver(server, "pi-0-driver")
        set_driver(server, "pi-0-driver", "Running", ready=True)
        wait_for_state(server, "DriverReady")
        for i, state in ((1, "RunningWithPartialCapacity"), (2, "RunningHealthy")):
            labels = {**pod["metadata"]["labels"], "spark-role": "executor"}
            server.insert("pods", "jobs", {"metadata": {"name": f"exec-{i}", "labels": labels}, "status": {
                "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})
            wait_for_state(server, state)
        server.delete("pods", "jobs", "exec-1")
        wait_for_state(server, "RunningWithPartialCapacity")
        set_driver(server, "pi-0-driver", "Succeeded", exit_code=0)
        wait_for(lambda: not server.get(APPLICATIONS, "jobs", "pi"), "the application to be deleted")


def test_refused_driver_is_a_scheduling_failure(server, tmp_path):
    server.failure = lambda method, path, body: ((403, "Forbidden", "exceeded quota")
                                                 if method == "POST" and path.endswith("/pods") else None)
    add(server)
    add(server, name="invalid", deploymentMode="ClientMode")
    with operator(server, tmp_path, FLAG):
        wait_for_state(server, "ResourceReleased")
        failure = status_of(server)["stateTransitionHistory"]["1"]
        assert failure["currentStateSummary"] == "SchedulingFailure" and "exceeded quota" in failure["message"]
        wait_for_state(server, "ResourceReleased", "invalid")
        assert status_of(server, "invalid")["stateTransitionHistory"]["1"]["message"] == "Client mode is not supported yet."


def test_deleted_driver_is_a_failure(server, tmp_path):
    add(server)
    with operator(server, tmp_path, FLAG):
        driver(server, "pi-0-driver")
        wait_for_state(server, "DriverRequested")
        server.delete("pods", "jobs", "pi-0-driver")
        wait_for_state(server, "ResourceReleased")
    assert "was deleted" in status_of(server)["stateTransitionHistory"]["2"]["message"]


def test_killed_operators_submit_nothing_twice(server, tmp_path):
    names = [f"pi-{i}" for i in range(20)]
    for name in names:
        add(server, name=name)
    for i in range(4):
        running = Operator(server, tmp_path / str(i), FLAG)
        wait_for(lambda: len(server.all("pods")) > 4 * i, "some drivers")  # noqa: B023
        running.process.kill()
        running.process.wait(TIMEOUT)
    with operator(server, tmp_path, FLAG):
        for name in names:
            wait_for_state(server, "DriverRequested", name)
    created = [change for change in server.changes if change[1] == "ADDED" and change[2] == "pods"]
    assert len(created) == len(names) == len(server.all("pods"))
    for name in names:
        assert states_of(status_of(server, name)["stateTransitionHistory"]) == ["Submitted", "DriverRequested"]
        assert server.get("services", "jobs", f"{name}-0-driver-svc")


def test_without_the_flag_applications_are_left_alone(server, tmp_path):
    add(server)
    server.insert("sparkapplications", "jobs", {
        "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication", "metadata": {"name": "other"}, "spec": {}})
    with operator(server, tmp_path):
        wait_for(lambda: server.get("sparkapplications", "jobs", "other").get("status"), "the other kind")
    assert not status_of(server) and not server.all("pods")


def test_metrics_count_applications_under_a_label_of_their_own(server, tmp_path):
    """One succeeds, one is refused, and one runs with an executor. The operator saw the first before it began."""
    add(server)
    with operator(server, tmp_path, FLAG, "--enable-metrics", "--metrics-bind-address=127.0.0.1:0", "--metrics-labels=team") as running:
        def has(*lines):
            api = '{team="Unknown",api="spark.apache.org"}'
            wanted = [line.replace("{}", api) for line in lines]
            wait_for(lambda: set(wanted) <= set(running.probe("/metrics", "Metrics")[1].splitlines()),
                     lambda: f"{wanted} in\n" + running.probe("/metrics", "Metrics")[1])

        pod = driver(server, "pi-0-driver")
        set_driver(server, "pi-0-driver", "Running", ready=True)
        wait_for_state(server, "RunningHealthy")
        add(server, name="invalid", deploymentMode="ClientMode")
        server.insert("pods", "jobs", {"metadata": {"name": "exec-1", "labels": {**pod["metadata"]["labels"], "spark-role": "executor"}},
                                       "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})
        has("spark_application_count{} 1", "spark_application_submit_count{} 1", "spark_application_running_count{} 1",
            "spark_executor_running_count{} 1", "spark_application_failure_count{} 1", "spark_application_start_latency_seconds_count{} 1")
        set_driver(server, "pi-0-driver", "Succeeded", exit_code=0)
        has("spark_application_success_count{} 1", "spark_application_running_count{} 0",
            "spark_application_success_execution_time_seconds_count{} 1")


CLUSTERS = "sparkclusters.spark.apache.org"


def cluster(name="prod", workers=(2, 1, 3), **spec):
    return {"apiVersion": "spark.apache.org/v1", "kind": "SparkCluster", "metadata": {"name": name},
            "spec": {"runtimeVersions": {"sparkVersion": "4.2.0"},
                     "sparkConf": {"spark.kubernetes.container.image": "apache/spark:{{SPARK_VERSION}}"},
                     "clusterTolerations": {"instanceConfig": dict(zip(("initWorkers", "minWorkers", "maxWorkers"), workers))}, **spec}}


def cluster_states(server, name="prod"):
    return states_of((server.get(CLUSTERS, "jobs", name).get("status") or {}).get("stateTransitionHistory") or {})


def test_render_prints_the_objects_of_a_cluster():
    items = json.loads(render(json.dumps(cluster()), "--namespace", "jobs").stdout)["items"]
    assert [(i["kind"], i["metadata"]["name"]) for i in items] == [
        ("Service", "prod-master-svc"), ("Service", "prod-worker-svc"), ("StatefulSet", "prod-master"), ("StatefulSet", "prod-worker"),
        ("NetworkPolicy", "prod-worker"), ("HorizontalPodAutoscaler", "prod-worker-hpa"), ("PodDisruptionBudget", "prod-worker-pdb")]
    assert {i["metadata"]["namespace"] for i in items} == {"jobs"}
    assert "are not in order" in render(json.dumps(cluster(workers=(1, 2, 1))), status=1).stderr


def test_cluster_is_applied_and_goes_with_its_object(server, tmp_path):
    server.insert(CLUSTERS, "jobs", cluster())
    server.insert(CLUSTERS, "jobs", cluster(name="wrong", workers=(1, 2, 1)))
    with operator(server, tmp_path, FLAG):
        wait_for(lambda: cluster_states(server) == ["Submitted", "RunningHealthy"], lambda: cluster_states(server))
        wait_for(lambda: cluster_states(server, "wrong") == ["Submitted", "Failed"], lambda: cluster_states(server, "wrong"))
        assert server.get("statefulsets", "jobs", "prod-worker")["spec"]["replicas"] == 2
        assert server.get("horizontalpodautoscalers", "jobs", "prod-worker-hpa")
        assert not server.get("statefulsets", "jobs", "wrong-master")
        server.delete(CLUSTERS, "jobs", "prod")
        assert not server.all("statefulsets") and not server.all("services")


def test_refused_cluster_is_a_scheduling_failure(server, tmp_path):
    server.failure = lambda method, path, body: ((403, "Forbidden", "no stateful sets here")
                                                 if method == "PATCH" and "/statefulsets/" in path else None)
    server.insert(CLUSTERS, "jobs", cluster())
    with operator(server, tmp_path, FLAG):
        wait_for(lambda: cluster_states(server) == ["Submitted", "SchedulingFailure"], lambda: cluster_states(server))
    assert "no stateful sets here" in server.get(CLUSTERS, "jobs", "prod")["status"]["currentState"]["message"]


def test_refused_cluster_is_applied_once_the_cause_is_gone(server, tmp_path):
    refusals = []

    def failure(method, path, body):
        if method == "PATCH" and "/statefulsets/" in path and len(refusals) < 3:
            refusals.append(path)
            return 403, "Forbidden", "no stateful sets here"
        return None
    server.failure = failure
    server.insert(CLUSTERS, "jobs", cluster())
    server.insert(CLUSTERS, "jobs", cluster(name="wrong", workers=(1, 2, 1)))
    with operator(server, tmp_path, FLAG):
        wait_for(lambda: cluster_states(server) == ["Submitted", "SchedulingFailure", "RunningHealthy"], lambda: cluster_states(server))
        wait_for(lambda: cluster_states(server, "wrong") == ["Submitted", "Failed"], lambda: cluster_states(server, "wrong"))
        server.update(CLUSTERS, "jobs", "wrong", lambda item: item["spec"].update(cluster()["spec"]))
        wait_for(lambda: cluster_states(server, "wrong") == ["Submitted", "Failed", "Submitted", "RunningHealthy"],
                 lambda: cluster_states(server, "wrong"))


def test_definitions_have_the_groups_names():
    crds = json.loads(subprocess.run([f"{BIN}/firesteel", "operator", "crds", "--group", "spark.apache.org", "--output=json"],
                                     check=True, capture_output=True, text=True, timeout=120).stdout)["items"]
    assert [crd["metadata"]["name"] for crd in crds] == ["sparkapplications.spark.apache.org", "sparkclusters.spark.apache.org"]
    for crd in crds:
        assert [(v["name"], v["storage"]) for v in crd["spec"]["versions"]] == [("v1", True), ("v1beta1", False)]
    wrong = subprocess.run([f"{BIN}/firesteel", "operator", "crds", "--group", "x"], capture_output=True, text=True, timeout=120,
                           check=False)
    assert wrong.returncode == 2 and "--group needs" in wrong.stderr


@pytest.mark.skipif(not GENUINE_CRDS, reason="FIRESTEEL_GENUINE_APACHE_CRDS is not set")
def test_definitions_accept_what_apaches_accept():
    yaml = pytest.importorskip("yaml")
    crds = json.loads(subprocess.run([f"{BIN}/firesteel", "operator", "crds", "--group", "spark.apache.org", "--output=json"],
                                     check=True, capture_output=True, text=True, timeout=120).stdout)["items"]
    for ours in crds:
        with open(f"{GENUINE_CRDS}/{ours['metadata']['name']}-v1.yaml", encoding="utf-8") as file:
            genuine = yaml.safe_load(file)
        for theirs in genuine["spec"]["versions"]:
            own, = [v for v in ours["spec"]["versions"] if v["name"] == theirs["name"]]
            for key in ("served", "storage", "subresources", "additionalPrinterColumns"):
                assert own[key] == theirs[key]
            found = differences(theirs["schema"]["openAPIV3Schema"], own["schema"]["openAPIV3Schema"], theirs["name"])
            # Apache's integers have no format, and are Java's long or int.
            assert not [d for d in found if not d.endswith("format int64")]
