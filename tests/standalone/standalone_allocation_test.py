"""Changing executors in a standalone cluster: by load, by decommissioning of a worker, by kill -9. With the workers'
shuffle service, map outputs stay."""
import signal

import pytest

from conditions import wait_until
from free_ports import free_port
from gated_application import Application, map_outputs, sum_of
from standalone_cluster import Cluster


@pytest.fixture
def cluster(tmp_path):
    (tmp_path / "cluster").mkdir()
    c = Cluster(tmp_path / "cluster")
    yield c
    c.close()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app").mkdir()
    return tmp_path / "app"


def test_executors_follow_the_load_and_leave_their_outputs_to_the_worker(cluster, folder):
    master, port = cluster.master(), free_port()
    local = cluster.folder / "local"
    service = {"spark.shuffle.service.enabled": "true", "spark.shuffle.service.port": str(port),
               "spark.local.dir": str(local)}
    worker = cluster.worker(master.url, cores=4, memory="2g", **service)
    with Application(folder, master.url, "spark.shuffle.service.enabled=true", f"spark.shuffle.service.port={port}",
                     "spark.shuffle.io.retryWait=1s") as app:
        app.begin(f"shuffle 4 {app.gate}")
        app.until_alive(4)
        app.open_gate()
        assert app.answer()[0] == sum_of(4)
        assert len(map_outputs(local)) == 8
        app.until_alive(0)
        assert set(app.removed().values()) == {"Executor killed by driver."}
        wait_until(lambda: cluster.executors() == {}, "executors stay")
        assert app.run("shuffled")[0] == sum_of(4)
        assert app.tasks("ShuffleMapTask") == 4
    wait_until(lambda: map_outputs(local) == [], lambda: f"{map_outputs(local)} stay")


def test_a_worker_that_leaves_has_its_executors_move_what_they_have(cluster, folder):
    decommission = {"spark.decommission.enabled": "true"}
    master = cluster.master(**decommission)
    first = cluster.worker(master.url, cores=1, **decommission)
    second = cluster.worker(master.url, cores=1, **decommission)
    with Application(folder, master.url, "spark.decommission.enabled=true", "spark.storage.decommission.enabled=true",
                     "spark.storage.decommission.rddBlocks.enabled=true",
                     "spark.storage.decommission.shuffleBlocks.enabled=true", allocation=False) as app:
        app.until_alive(2)
        app.open_gate()
        assert app.run(f"cache 4 {app.gate}")[0] == 7998000
        assert app.run(f"shuffle 4 {app.gate}")[0] == sum_of(4)
        computed = app.run("cached")[1]
        first.process.send_signal(signal.SIGPWR)
        wait_until(lambda: len(app.removed()) == 1, "its executor stays")
        assert list(app.removed().values())[0].startswith(("Finished decommissioning", "Executor decommission: "))
        assert app.run("cached") == (7998000, computed)
        assert app.run("shuffled") == (sum_of(4), computed)
        assert app.tasks("ShuffleMapTask") == 4
    assert second.process.poll() is None


def test_a_second_service_on_a_host_is_told_that_one_is_enough(cluster):
    master = cluster.master()
    port = free_port()
    service = {"spark.shuffle.service.enabled": "true", "spark.shuffle.service.port": str(port)}
    cluster.worker(master.url, **service)
    second = cluster.daemon("worker", ["-c", "1", "-m", "1g", "-d", str(cluster.folder / "second"), master.url], service)
    assert second.end() == 1
    line, = (x for x in second.log().splitlines() if "ERROR" in x)
    assert f"port {port} (spark.shuffle.service.port) is in use" in line and "One service for each host is enough" in line
    assert "spark.shuffle.service.enabled=false" in line and "maxRetries" not in line
    cluster.worker(master.url, **{"spark.shuffle.service.port": str(port)})  # accepted without its own


def test_a_worker_that_is_killed_takes_its_outputs_with_it(cluster, folder):
    master = cluster.master()
    workers, ports = [], [free_port()]
    service = {"spark.shuffle.service.enabled": "true", "spark.shuffle.service.port": str(ports[0])}
    workers.append(cluster.worker(master.url, cores=2, memory="2g", **service))
    with Application(folder, master.url, "spark.shuffle.service.enabled=true", f"spark.shuffle.service.port={ports[0]}",
                     "spark.shuffle.io.maxRetries=1", "spark.shuffle.io.retryWait=100ms", allocation=False) as app:
        app.until_alive(2)
        app.open_gate()
        assert app.run(f"shuffle 4 {app.gate}")[0] == sum_of(4)
        workers[0].kill()
        wait_until(lambda: len(app.removed()) == 2, "executors outlive their worker")
        wait_until(lambda: "Shuffle files lost for host: " in app.log(), "outputs outlive their service")
        workers.append(cluster.worker(master.url, cores=2, memory="2g", **service))
        assert app.run("shuffled")[0] == sum_of(4)
        assert app.tasks("ShuffleMapTask") == 8
        # The second job knew it before it started.
        assert {e["Task End Reason"]["Reason"] for e in app.logged("TaskEnd")} == {"Success"}
