"""`firesteel operator render` prints the objects of SparkApplications without a cluster."""
import json
import os
import subprocess

import pytest

from folders import BIN


APPLICATION = """
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
metadata:
  name: pi
spec:
  type: Python
  pythonVersion: "3"
  mode: cluster
  image: spark:4
  mainApplicationFile: local:///opt/pi.py
  sparkVersion: 4.0.0
  driver:
    serviceAccount: spark
    env: [{name: A, value: "1"}]
  executor:
    instances: 2
    env: [{name: B, value: "2"}]
"""


def render(text, *arguments, status=0):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("KUBERNETES_SERVICE")}
    result = subprocess.run([f"{BIN}/firesteel", "operator", "render", *arguments, "-"], input=text, timeout=120,
                            capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == status, result.stderr
    return result


def objects(text, *arguments):
    return json.loads(render(text, "--output", "json", *arguments).stdout)["items"]


def by_kind(items, kind):
    return [item for item in items if item["kind"] == kind]


def test_objects_of_an_application():
    items = objects(APPLICATION, "--namespace", "jobs")
    assert {item["metadata"]["namespace"] for item in items} == {"jobs"}
    pod, = by_kind(items, "Pod")
    assert pod["metadata"]["name"] == "pi-driver"
    assert pod["metadata"]["labels"]["sparkoperator.k8s.io/app-name"] == "pi"
    assert {"name": "A", "value": "1"} in pod["spec"]["containers"][0]["env"]
    templates = [m["data"]["podspec-configmap-key"] for m in by_kind(items, "ConfigMap")
                 if "podspec-configmap-key" in m["data"]]
    assert len(templates) == 1 and "name: B" in templates[0]
    assert any(s["metadata"]["name"] == "pi-ui-svc" for s in by_kind(items, "Service"))


def test_output_is_the_same_each_time_apart_from_the_time():
    def stable(text):
        return [line for line in text.splitlines() if "submitTime" not in line and "#" not in line]

    assert stable(render(APPLICATION).stdout) == stable(render(APPLICATION).stdout)


def test_yaml_equals_json():
    yaml = pytest.importorskip("yaml")
    documents = list(yaml.safe_load_all(render(APPLICATION).stdout))
    assert [d["kind"] for d in documents] == [i["kind"] for i in objects(APPLICATION)]
    assert list(documents[0])[:3] == ["apiVersion", "kind", "metadata"]


SCHEDULE = {"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "ScheduledSparkApplication",
            "metadata": {"name": "daily", "namespace": "n"},
            "spec": {"schedule": "@daily", "template": {
                "type": "Scala", "sparkVersion": "4.0.0", "image": "i", "mainApplicationFile": "local:///a.jar",
                "mainClass": "A", "driver": {}, "executor": {}}}}


def test_schedules_render_a_run():
    pod, = by_kind(objects(json.dumps(SCHEDULE)), "Pod")
    assert pod["metadata"]["name"] == "daily-run-driver"


@pytest.mark.parametrize("spec,message", [
    ({"schedule": "61 * * * *"}, "ScheduledSparkApplication daily: spec.schedule: end of range (61) above maximum (59)"),
    ({"schedule": ""}, "ScheduledSparkApplication daily: spec.schedule"),
    ({"timeZone": "Europe/Nowhere"}, "Europe/Nowhere"),
])
def test_wrong_schedules_are_refused(spec, message):
    result = render(json.dumps({**SCHEDULE, "spec": {**SCHEDULE["spec"], **spec}}), status=1)
    assert message in result.stderr and not result.stdout, result.stderr


def test_other_kinds_are_skipped_with_a_note():
    result = render("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: spark}\n---\n" + APPLICATION, "--output=json")
    assert "Note: ServiceAccount spark is skipped" in result.stderr
    assert by_kind(json.loads(result.stdout)["items"], "Pod") and not by_kind(json.loads(result.stdout)["items"], "ServiceAccount")


def test_driver_has_the_version_of_its_spark():
    pod, = by_kind(objects(APPLICATION), "Pod")
    assert pod["metadata"]["labels"]["spark-version"] == "4.0.0"
    service = [item for item in by_kind(objects(APPLICATION), "Service") if item["spec"].get("clusterIP") == "None"][0]
    assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    pod, = by_kind(objects(APPLICATION.replace("4.0.0", "my build")), "Pod")
    assert pod["metadata"]["labels"]["spark-version"] == "4.3.0"  # no valid label


def test_prometheus_reaches_exposed_executors():
    text = APPLICATION + """
  monitoring:
    exposeDriverMetrics: true
    exposeExecutorMetrics: true
    prometheus: {jmxExporterJar: /jmx.jar, port: 9095}
"""
    policy, = by_kind(objects(text), "NetworkPolicy")
    assert {"ports": [{"port": 9095, "protocol": "TCP"}]} in policy["spec"]["ingress"]
    policy, = by_kind(objects(text.replace("exposeExecutorMetrics: true", "exposeExecutorMetrics: false")), "NetworkPolicy")
    assert len(policy["spec"]["ingress"]) == 1


def test_unknown_fields_are_reported():
    result = render(APPLICATION.replace("instances: 2", "instances: 2\n    memryLimit: 2g"))
    assert "Warning: pi: spec.executor.memryLimit: unknown field; did you mean memoryLimit?" in result.stderr


def test_a_c_file_is_refused_with_the_way_to_its_object(tmp_path):
    result = subprocess.run([f"{BIN}/firesteel", "operator", "render", "x.c"], timeout=120, capture_output=True, text=True, check=False)
    assert result.returncode == 1 and "`firesteel operator create x.c --image IMAGE --output json`" in result.stderr


def test_refusals():
    for text, message in (
            ("kind: Pod", "it has no SparkApplication and no ScheduledSparkApplication"),
            ("", "it has no SparkApplication"),
            ("# nothing\n---\n", "it has no SparkApplication"),
            ("a: b", "a SparkApplication is needed"),
            (APPLICATION.replace("image: spark:4", "image: 4"), "spec.image: 4 is not a text"),
            (APPLICATION.replace("name: pi", "name: Pi"), "invalid SparkApplication name"),
            (APPLICATION.replace("mode: cluster", "mode: client"), "spec.mode"),
            ("a: [", "line"),
            (APPLICATION.replace("local:///opt/pi.py", "/opt/pi.py"), "spark.kubernetes.file.upload.path")):
        result = render(text, status=1)
        assert message in result.stderr and not result.stdout, result.stderr


def test_wrong_options():
    for arguments in (["--output", "xml"], ["--nonsense"], ["--enable-ui-service=maybe"], ["x.yaml"]):
        assert "Error: " in render("", *arguments, status=2).stderr
