"""Drivers submitted to a standalone master's own port, without a REST server: output and exit status of spark-submit."""
import os
import subprocess

import pytest

from folders import BIN, TOP

PI = os.path.join(TOP, "examples", "spark_pi.c")


def test_a_driver_that_is_taken_and_not_waited_for_is_no_failure(cluster):
    master = cluster.master()  # without workers the driver waits, so it cannot have ended
    client = cluster.submit(master.url, "--deploy-mode", "cluster", PI)
    client.says("Driver successfully submitted as driver-")
    client.says("spark-submit not configured to wait for completion")
    assert client.end() == 0


def test_a_driver_that_is_refused_is_one(cluster):
    master = cluster.master()
    jar = cluster.folder / "a.jar"
    jar.touch()
    client = cluster.submit(master.url, "--deploy-mode", "cluster", "--class", "A", jar)
    client.says(r"a\.jar cannot run on this cluster")
    assert client.end() == 255


@pytest.mark.parametrize("mode, rest", [("client", "false"), ("cluster", "false"), ("cluster", "true")])
def test_the_port_of_the_master_s_pages_is_said_to_be_none(cluster, mode, rest):
    """It fails at once. A client that waits would wait for an hour."""
    pages = cluster.master().says(r"Bound MasterWebUI to \S+, and started at http://(\S+)").group(1)
    client = cluster.submit(f"spark://{pages}", "--deploy-mode", mode, "--conf", f"spark.master.rest.enabled={rest}",
                            "--conf", "spark.firesteel.standalone.registrationTimeout=1h", PI)
    says = (f"{pages} is not a REST server" if rest == "true"
            else f"{pages} is an HTTP server, not a Firesteel master: use the master's port" if mode == "client"
            else f"{pages}.*it is an HTTP server, not a master: name the port of the master")
    client.says(says)
    assert client.end() == (0 if rest == "true" else 1)  # Spark does not treat a REST server's refusal as a failure


@pytest.mark.parametrize("operation", ["--kill", "--status"])
def test_the_port_of_the_master_is_that_of_no_rest_server(cluster, operation):
    client = cluster.start("submit", [os.path.join(BIN, "spark-submit"), "--master", cluster.master().url, operation, "driver-1"])
    client.says("this is not its REST server: a master's REST server is at port 6066, or at its spark.master.rest.port")
    assert client.end() == 1


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_a_master_url_without_a_port_says_how_it_is_written(cluster, mode):
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", "spark://127.0.0.1", "--deploy-mode", mode, PI],
                          env=cluster.environment, cwd=cluster.folder, text=True, capture_output=True, timeout=120,
                          check=False)
    assert done.returncode == 1, done.stderr
    assert "Invalid master URL: spark://127.0.0.1 (write spark://host:port)" in done.stderr
