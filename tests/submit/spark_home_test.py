"""bin/ as SPARK_HOME of kubeflow's operator: $SPARK_HOME/bin/spark-submit with the words that it passes."""
import json
import os
import subprocess

import pytest

from folders import FIRESTEEL
from object_api_server import ObjectApiServer

LABEL = "sparkoperator.k8s.io/"


@pytest.fixture
def server():
    with ObjectApiServer() as running:
        yield running


@pytest.fixture
def spark_home(tmp_path):
    """A folder with nothing but bin/spark-submit: no jars, and no Java in PATH."""
    home = tmp_path / "spark"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "spark-submit").symlink_to(os.path.realpath(FIRESTEEL))
    return home


def words(server, folder):
    """What kubeflow's operator passes for an application with the defaults, in its order."""
    template = {"apiVersion": "v1", "kind": "Pod", "metadata": {"ownerReferences": [
        {"apiVersion": LABEL + "v1beta2", "kind": "SparkApplication", "name": "pi", "uid": "u-1", "controller": True, "blockOwnerDeletion": True}]},
        "spec": {"containers": [{"name": "spark-kubernetes-driver"}]}}
    for role in ("driver", "executor"):
        template["spec"]["containers"][0]["name"] = f"spark-kubernetes-{role}"
        (folder / f"{role}.yaml").write_text(json.dumps(template))
    conf = [("spark.kubernetes.namespace", "jobs"), ("spark.kubernetes.container.image", "spark:4"),
            ("spark.kubernetes.submission.waitAppCompletion", "false"), ("spark.my.value", "two words"), ("spark.kubernetes.driver.pod.name", "pi-driver")]
    for role in ("driver", "executor"):
        conf += [(f"spark.kubernetes.{role}.label.{LABEL}app-name", "pi"), (f"spark.kubernetes.{role}.label.{LABEL}launched-by-spark-operator", "true"),
                 (f"spark.kubernetes.{role}.label.{LABEL}mutated-by-spark-operator", "true"), (f"spark.kubernetes.{role}.label.{LABEL}submission-id", "id-1"),
                 (f"spark.{role}.cores", "1"), (f"spark.{role}.memory", "512m")]
    conf += [("spark.executor.instances", "1"), ("spark.kubernetes.authenticate.driver.serviceAccountName", "spark"),
             ("spark.kubernetes.driver.podTemplateFile", str(folder / "driver.yaml")), ("spark.kubernetes.executor.podTemplateFile", str(folder / "executor.yaml"))]
    return ["--master", f"k8s://{server.url}", "--deploy-mode", "cluster", "--class", "org.example.Pi", "--name", "pi",
            *(word for key, value in conf for word in ("--conf", f"{key}={value}")), "local:///opt/pi.jar", "10"]


def submit(server, spark_home, folder):
    env = {"SPARK_HOME": str(spark_home), "PATH": "/nonexistent", "HOME": str(folder), "KUBECONFIG": server.kubeconfig(folder)}
    return subprocess.run([spark_home / "bin" / "spark-submit", *words(server, folder)], env=env, capture_output=True, text=True, check=False, timeout=120)


def test_operator_submits_with_our_bin(server, spark_home, tmp_path):
    done = submit(server, spark_home, tmp_path)
    assert done.returncode == 0, done.stderr
    pod = server.get("pods", "jobs", "pi-driver")
    assert pod["metadata"]["labels"][LABEL + "submission-id"] == "id-1"
    assert [owner["uid"] for owner in pod["metadata"]["ownerReferences"]] == ["u-1"]
    assert pod["spec"]["serviceAccountName"] == "spark"
    container = next(c for c in pod["spec"]["containers"] if c["name"] == "spark-kubernetes-driver")
    assert container["image"] == "spark:4" and container["args"][-2:] == ["local:///opt/pi.jar", "10"]
    maps = [m for m in server.all("configmaps", "jobs") if "spark.properties" in m["data"]]
    assert "spark.my.value=two words" in maps[0]["data"]["spark.properties"].replace("\\ ", " ")


def test_operator_recognizes_a_pod_that_exists(server, spark_home, tmp_path):
    """It looks for this code in the standard error."""
    assert submit(server, spark_home, tmp_path).returncode == 0
    done = submit(server, spark_home, tmp_path)
    assert done.returncode != 0 and "code=409" in done.stderr
