"""A supervised driver on a standalone cluster that is killed goes on where it was (docs/guide/resuming.md)."""
import os
import re
import signal

import pytest

from resume_test import Run, compile_application, stored
from standalone_cluster import Cluster, wait_for


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    return compile_application(tmp_path_factory.mktemp("application"))


@pytest.fixture
def cluster(tmp_path):
    c = Cluster(tmp_path)
    yield c
    c.close()


class Supervised(Run):
    """An application in cluster mode. Each of its drivers has the same log."""

    def __init__(self, cluster, application, master, phase, settings=()):
        super().__init__(cluster.folder, application, master, phase, settings)
        self.cluster = cluster
        at = self.command.index("--master") + 2
        self.command[at:at] = ["--deploy-mode", "cluster", "--supervise", "--conf", "spark.master.rest.enabled=false",
                               "--conf", "spark.standalone.submit.waitAppCompletion=true", "--conf", "spark.driver.memory=300m",
                               "--conf", "spark.executor.memory=300m", "--conf", "spark.executor.cores=1",
                               "--conf", "spark.firesteel.submit.reportInterval=50ms"]

    def start(self, command=None):
        self.submit = self.cluster.start("submit", command or self.command)
        self.processes.append(self.submit.process)
        return self.submit

    def log(self, number=0):
        """The output of all drivers."""
        return "".join(path.read_text() for path in self.folder.glob("work-*/driver-*/std???"))

    def driver(self):
        found = [pid for pid, line in self.cluster.marked().items() if line.startswith("firesteel driver ")]
        return found[0] if len(found) == 1 else None

    def kill(self):
        pid = wait_for(self.driver, "the driver's process")
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: self.driver() != pid, "the end of the driver")

    def ids(self):
        """The id of the application, as each driver got it from the master."""
        return re.findall(r"with app ID (\S+)", self.log())

    def check_end(self, drivers):
        assert self.submit.end() == 0, self.submit.log() + self.log()
        self.check(0, resumed=f"resumed {int(drivers > 1)}")
        assert f"as its driver number {drivers}" in self.log() or drivers == 1
        wait_for(lambda: not self.cluster.executors(), "the end of the executors")


@pytest.mark.parametrize("phase, job, maps", [(2, 1, False), (6, 5, False), (3, 2, True)])
def test_a_killed_driver_goes_on(cluster, application, phase, job, maps):
    master = cluster.master()
    cluster.worker(master.url, cores=4, memory="3g")
    app = Supervised(cluster, application, master.url, phase, stored(cluster.folder) if maps else ())
    app.start()
    app.wait_at_gate(phase, job, maps)
    app.kill()
    before = app.ran()
    wait_for(lambda: app.log().count("of the earlier driver is back") == 3, lambda: f"the executors: {app.log()}")
    app.open_gate()  # not before: an executor may send an outcome to the dead driver until it notices the end of the connection
    app.check_end(2)
    assert {task for task in app.ran()[len(before):] if task.startswith(f"{phase}.")} == {f"{phase}.3"}
    assert len(set(app.ids())) == 1 and len(app.ids()) == 2, app.ids()
    assert f"Driver 2 of application {app.ids()[0]} has registered" in master.log()
    assert app.log().count("of the earlier driver is back") == master.log().count("Launching executor") == 3
    app.check_adopted(phase, app.log())


def test_a_driver_goes_on_when_its_worker_is_lost(cluster, application):
    master = cluster.master(spark_worker_timeout="30")
    first = cluster.worker(master.url, cores=4, memory="3g")
    app = Supervised(cluster, application, master.url, 2)
    app.start()
    app.wait_at_gate(2, 1)
    before = app.ran()
    cluster.worker(master.url, cores=4, memory="3g")
    first.kill()
    master.says("Re-launching driver-")
    app.open_gate()
    app.check_end(2)
    master.says(r"Removing driver: driver-\d{14}-0001 \(FINISHED\)")
    assert {task for task in app.ran()[len(before):] if task.startswith("2.")} == {"2.3"}


def test_a_stuck_driver_that_wakes_up_changes_nothing(cluster, application):
    master = cluster.master()
    cluster.worker(master.url, cores=4, memory="3g")
    app = Run(cluster.folder, application, master.url, phase=6, settings=[
        "spark.firesteel.resume.id=app-1", "spark.cores.max=2", "spark.executor.cores=1", "spark.executor.memory=300m"])
    try:
        old = app.start()
        app.wait_at_gate(6, 5)
        old.send_signal(signal.SIGSTOP)
        app.open_gate()
        assert app.start().wait(timeout=120) == 0, app.log(1)
        app.check(1)
        before = {path: path.stat().st_mtime_ns for path in app.folder.glob("*[45]/*")}
        old.send_signal(signal.SIGCONT)
        assert old.wait(timeout=60) == 1, app.log(0)
        # It notices it itself, or the master tells it.
        assert re.search("Another driver has taken over application|driver number 2 has taken it over", app.log(0))
        assert before == {path: path.stat().st_mtime_ns for path in app.folder.glob("*[45]/*")}
    finally:
        app.end()
