"""Drivers given to a standalone master at its own port, without a REST server: what spark-submit says, and its status."""
import os
import subprocess

import pytest

from standalone_cluster import BIN, Cluster

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PI = os.path.join(TOP, "examples", "spark_pi.c")


@pytest.fixture
def cluster(tmp_path):
    c = Cluster(tmp_path)
    yield c
    c.close()


def test_a_driver_that_is_taken_and_not_waited_for_is_no_failure(cluster):
    master = cluster.master()  # without workers the driver waits, so that it cannot have ended
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


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_a_master_url_without_a_port_says_how_it_is_written(cluster, mode):
    done = subprocess.run([os.path.join(BIN, "spark-submit"), "--master", "spark://127.0.0.1", "--deploy-mode", mode, PI],
                          env=cluster.environment, cwd=cluster.folder, text=True, capture_output=True, timeout=60,
                          check=False)
    assert done.returncode == 1, done.stderr
    assert "Invalid master URL: spark://127.0.0.1 (write spark://host:port)" in done.stderr
