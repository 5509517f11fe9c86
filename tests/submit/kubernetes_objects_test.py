"""spark-submit --dry-run --output objects: the objects that a submission to Kubernetes would create."""
import os
import re
import subprocess

from dry_run import CLUSTER, PI, objects, refusal, run
from folders import TOP


def of_kind(items, kind):
    return next(item for item in items if item["kind"] == kind)


def test_a_driver_and_what_it_needs(tmp_path):
    items, _ = objects(tmp_path, *PI)
    assert [item["kind"] for item in items] == ["Pod", "Service", "NetworkPolicy", "ConfigMap"]
    pod = items[0]
    container, = pod["spec"]["containers"]
    assert container["image"] == "spark:1"
    assert container["args"] == ["driver", "--properties-file", "/opt/spark/conf/spark.properties", "--class",
                                 "org.example.Pi", "local:///opt/pi.jar", "10"]
    app_id = pod["metadata"]["labels"]["spark-app-selector"]
    assert re.fullmatch("spark-[0-9a-f]{32}", app_id)
    assert re.fullmatch("pi-[0-9a-f]{16,17}-driver", pod["metadata"]["name"])
    assert of_kind(items, "Service")["spec"]["selector"]["spark-app-selector"] == app_id
    properties = of_kind(items, "ConfigMap")["data"]["spark.properties"].splitlines()
    assert "spark.master=k8s\\://https\\://h\\:6443" in properties
    assert f"spark.app.id={app_id}" in properties
    assert not any("ownerReferences" in item["metadata"] for item in items)
    again, _ = objects(tmp_path, *PI)
    assert again[0]["metadata"]["name"] != pod["metadata"]["name"]


def test_a_template_is_yaml(tmp_path):
    template = tmp_path / "pod.yaml"
    template.write_text("apiVersion: v1\nkind: Pod\nspec:\n  priorityClassName: high\n  tolerations:\n"
                        "  - {key: spot, operator: Exists}\n  containers:\n  - name: main\n  - name: side\n")
    items, _ = objects(tmp_path, "--conf", f"spark.kubernetes.driver.podTemplateFile={template}", *PI)
    spec = items[0]["spec"]
    assert spec["priorityClassName"] == "high"
    assert spec["tolerations"] == [{"key": "spot", "operator": "Exists"}]
    assert [container["name"] for container in spec["containers"]] == ["side", "main"]


def test_files_of_the_configuration_travel(tmp_path):
    conf = tmp_path / "no-conf"
    conf.mkdir()
    (conf / "log4j2.properties").write_text("x = y\n")
    (conf / "spark-defaults.conf").write_text("spark.kubernetes.namespace jobs\n")
    items, _ = objects(tmp_path, *PI)
    files = of_kind(items, "ConfigMap")
    assert files["metadata"]["namespace"] == "jobs"
    assert files["data"]["log4j2.properties"] == "x = y\n"
    assert "spark-defaults.conf" not in files["data"]


def test_older_spellings_are_understood(tmp_path):
    """The command line of apache-spark-on-k8s 2.1, except for its registry."""
    items, told = objects(
        tmp_path, "--class", "org.apache.spark.examples.SparkPi", "--kubernetes-namespace", "spark-cluster",
        "--conf", "spark.executor.instances=5", "--conf", "spark.app.name=spark-pi",
        "--conf", "spark.kubernetes.driver.docker.image=driver:v2.1.0-kubernetes-0.3.1",
        "--conf", "spark.kubernetes.executor.docker.image=executor:v2.1.0-kubernetes-0.3.1",
        "--conf", "spark.kubernetes.driver.labels=team=a,stage=b",
        "local:///opt/spark/examples/jars/spark-examples_2.11-2.1.0-k8s-0.3.1-SNAPSHOT.jar")
    pod = items[0]
    assert pod["spec"]["containers"][0]["image"] == "driver:v2.1.0-kubernetes-0.3.1"
    assert pod["metadata"]["labels"]["stage"] == "b"
    properties = of_kind(items, "ConfigMap")["data"]["spark.properties"]
    assert "\nspark.kubernetes.executor.container.image=executor\\:v2.1.0-kubernetes-0.3.1\n" in properties
    assert "\nspark.kubernetes.namespace=spark-cluster\n" in properties
    assert "docker.image" not in properties
    for today in ("spark.kubernetes.namespace", "spark.kubernetes.driver.container.image",
                  "spark.kubernetes.executor.container.image", "spark.kubernetes.driver.label.NAME"):
        assert today in told


def test_rejects_submissions_without_image_and_unknown_output(tmp_path):
    done = run(tmp_path, *CLUSTER, "--class", "C", "local:///a.jar")
    assert done.returncode == 1
    assert "Error: Must specify the driver container image" in done.stderr
    done = run(tmp_path, "--output", "objects", "--master", "local", "--class", "C", "local:///a.jar")
    assert "Error: this submission creates no objects" in done.stderr
    assert "must be \"text\", \"json\" or \"objects\"" in run(tmp_path, "--output", "yaml", "x.so").stderr
    assert refusal(tmp_path, "--master", "k8s:/x", "--class", "C", "local:///a.jar")


def refused(folder, *words):
    done = run(folder, *CLUSTER, *words)
    assert done.returncode == 1
    return done.stderr.rpartition("Error: ")[2].rstrip("\n")


def build_step(folder):
    module = folder / "team_step.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-I", os.path.join(TOP, "include"), "-o", module,
                    os.path.join(TOP, "examples/team_step.c"), "-ljansson"], check=True)
    return module


def test_steps_of_ones_own(tmp_path):
    module = build_step(tmp_path)
    words = ("--conf", f"spark.kubernetes.driver.pod.featureSteps=local://{module}")
    items, _ = objects(tmp_path, *words, "--conf", "spark.example.team=data", *PI)
    app_id = items[0]["metadata"]["labels"]["spark-app-selector"]
    assert items[0]["metadata"]["annotations"]["example.com/team"] == "data"
    assert of_kind(items, "ResourceQuota")["metadata"]["name"] == f"data-{app_id}"
    assert "spark.example.quota=100" in of_kind(items, "ConfigMap")["data"]["spark.properties"].splitlines()
    assert refused(tmp_path, *words, *PI).endswith(
        f"feature step local://{module}: spark.example.team must say whose pods these are")
    left, _ = objects(tmp_path, *words, "--conf", f"spark.kubernetes.driver.pod.excludedFeatureSteps=local://{module}", *PI)
    assert "annotations" not in left[0]["metadata"]


def test_classes_of_java_are_no_steps(tmp_path):
    said = refused(tmp_path, "--conf", "spark.kubernetes.driver.pod.featureSteps=org.example.MyStep", *PI)
    assert said.startswith("Failed to initialize feature step: org.example.MyStep, please make sure your driver side")
    assert "name a shared object with its absolute path" in said
