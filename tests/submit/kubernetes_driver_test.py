"""The command of a driver's pod, run without a pod: spark-submit with the pod's arguments."""
import os
import subprocess

import pytest

from folders import BIN, TOP

TIMEOUT = 120
# spark.master is that of the submission, and the other key is the driver's.
DRIVER = ("--deploy-mode", "client", "--conf", "spark.kubernetes.submitInDriver=true", "--conf",
          "spark.kubernetes.container.image=x", "--conf", "spark.master=k8s://https://127.0.0.1:1", "--conf",
          "spark.kubernetes.driver.master=local[2]")


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    """A shared object where a command line names a jar."""
    path = tmp_path_factory.mktemp("image") / "spark-examples.jar"
    subprocess.run([f"{BIN}/firesteel", "compile", f"{TOP}/examples/spark_pi.c", "-o", str(path)], check=True, timeout=TIMEOUT)
    return path


def submit(folder, *words):
    return subprocess.run([f"{BIN}/spark-submit", *DRIVER, *words], cwd=folder, text=True, capture_output=True,
                          timeout=TIMEOUT, check=False,
                          env={k: v for k, v in os.environ.items() if not k.startswith("SPARK_")})


def test_a_program_of_the_image_runs_under_a_jar_s_name(application, tmp_path):
    done = submit(tmp_path, "--class", "org.apache.spark.examples.SparkPi", f"local://{application}", "4")
    assert done.returncode == 0 and "Pi is roughly 3.1" in done.stdout, done.stderr
    assert "Running Spark with local[2]" in done.stderr


def test_a_class_without_a_package_is_that_function(application, tmp_path):
    done = submit(tmp_path, "--class", "SparkPi", f"local://{application}", "4")
    assert done.returncode == 101 and "no such function" in done.stderr, done.stderr


def test_an_archive_is_java_s(tmp_path):
    (tmp_path / "x.jar").write_bytes(b"PK\x03\x04")
    done = submit(tmp_path, "--class", "org.x.Y", f"local://{tmp_path}/x.jar")
    assert done.returncode == 1 and "is a Java archive" in done.stderr, done.stderr


def test_driver_names_missing_application(tmp_path):
    """As in a pod's command, the application is also in spark.jars."""
    done = submit(tmp_path, "--jars", "local:///opt/app/none.so", "local:///opt/app/none.so")
    assert done.returncode == 1
    assert done.stderr.endswith("Error: local:///opt/app/none.so: the driver's container has no file /opt/app/none.so. A local: name "
                                "is a file of the image: add it to the image (firesteel image build --add), or correct the name\n")
