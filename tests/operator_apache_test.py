"""SparkApplications of spark.apache.org: `firesteel operator render` prints their objects."""
import json
import os
import subprocess

BIN = os.environ["FIRESTEEL_BIN"]

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
