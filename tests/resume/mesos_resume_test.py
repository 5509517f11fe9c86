"""Executors on Mesos outlive their driver, and the next one goes on with its framework (docs/guide/resuming.md)."""
import os
import pathlib
import signal

import pytest

from conditions import wait_until
from mesos.master import Master
from resume_test import BIN, Run, compile_application


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    return compile_application(tmp_path_factory.mktemp("application"))


@pytest.fixture
def master(tmp_path):
    with Master(tmp_path / "mesos") as made:
        for _ in range(2):
            made.add_agent("cpus:1;mem:2048")
        yield made


class OnMesos(Run):
    def __init__(self, folder, application, master, phase, settings=()):
        super().__init__(folder, application, f"mesos://{master.address}", phase, [
            "spark.cores.max=2", "spark.executor.cores=1", "spark.driver.host=127.0.0.1",
            f"spark.mesos.executor.home={pathlib.Path(BIN).parent.parent}", *settings])
        self.master = master

    def executors(self):
        """{task: pid of its process}"""
        with self.master.lock:
            return {task.id: task.executor.process.pid for agent in self.master.agents for task in agent.tasks.values() if not task.is_over}

    def kill(self, phase, job, maps=False):
        """Kills the first driver at the gate. Returns what had run, and its executors."""
        self.start()
        self.wait_at_gate(phase, job, maps)
        before, executors = self.ran(), self.executors()
        assert len(executors) == 2
        self.processes[0].kill()
        self.processes[0].wait(timeout=120)
        return before, executors

    def finish(self):
        self.open_gate()
        assert self.processes[-1].wait(timeout=120) == 0, self.log(1)
        self.check(1)
        wait_until(lambda: not self.executors(), "the end of the executors", 90)


@pytest.fixture
def start(tmp_path, application, master):
    made = []

    def make(*arguments, **options):
        made.append(OnMesos(tmp_path, application, master, *arguments, **options))
        return made[-1]
    yield make
    for one in made:
        one.end()


def test_the_next_driver_goes_on_with_the_framework_and_the_executors(start, master):
    app = start(3)
    before, executors = app.kill(3, 2, maps=True)
    app.resume()
    wait_until(lambda: app.log(1).count("of the earlier driver is back") == 2, "the executors", 60)
    assert app.executors() == executors
    app.finish()
    assert {task for task in app.ran()[len(before):] if task[0] in "123"} == {"3.3"}
    app.check_adopted(3, app.log(1))
    assert len(master.frameworks) == 1
    assert [len(accept["accept"]["offer_ids"]) for accept in master.calls_of("ACCEPT")] == [1, 1]


def test_a_task_that_ends_between_drivers_is_replaced(start, master):
    app = start(2)
    _, executors = app.kill(2, 1)
    os.killpg(executors["0"], signal.SIGKILL)
    wait_until(lambda: app.executors().keys() == {"1"}, "the end of a task", 90)
    app.resume()
    wait_until(lambda: app.log(1).count("of the earlier driver is back") == 1, "the executor", 60)
    wait_until(lambda: len(app.executors()) == 2, "another executor", 60)
    assert app.executors()["1"] == executors["1"] and min(int(task) for task in app.executors() if task != "1") > 100
    app.finish()
    assert len(master.frameworks) == 1


def test_a_driver_that_comes_too_late_has_a_framework_of_its_own(start, master):
    app = start(2, settings=["spark.firesteel.resume.executorTimeout=1s"])
    _, executors = app.kill(2, 1)
    wait_until(lambda: all(framework.removed for framework in master.frameworks.values()), "the end of the framework", 90)
    app.resume()
    app.finish()
    assert len(master.frameworks) == 2
    assert "The framework of the earlier driver cannot go on" in app.log(1)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in executors.values())
