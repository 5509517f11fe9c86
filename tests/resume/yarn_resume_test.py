"""A second attempt on YARN goes on where the ApplicationMaster of the first one was killed (docs/guide/resuming.md)."""
import os
import re
import subprocess
import sys

import pytest

from conditions import wait_until
from folders import TESTS
from resume_test import Run, compile_application

sys.path.append(f"{TESTS}/yarn")
from yarn_submit import cache, submit, yarn  # noqa: E402,F401


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    return compile_application(tmp_path_factory.mktemp("application"))


class OnYarn(Run):
    """An application in cluster mode. All of its drivers have one log."""

    def __init__(self, submit, application, phase, settings=(), cluster=True):
        super().__init__(submit.folder, application, "yarn", phase)
        self.submit = submit
        self.command = submit.command(
            application, self.folder / "input", self.folder, phase, cluster=cluster,
            conf=["spark.firesteel.resume.enabled=true", f"spark.firesteel.resume.dir=file:{self.journals}", *settings])

    def start(self, command=None):
        with open(self.folder / "submit.log", "w", encoding="utf-8") as log:
            self.processes.append(subprocess.Popen(self.command, cwd=self.folder, env=self.submit.environment, stdout=log,
                                                   stderr=log, stdin=subprocess.DEVNULL, start_new_session=True))
        return self.processes[-1]

    def log(self, number=0):
        app = self.submit.yarn.last()
        return "".join(attempt.container.log("stdout") + attempt.container.log("stderr") for attempt in app.attempts)

    def kill_master(self, phase, job, maps=False):
        """Kills the first ApplicationMaster at the gate. Returns what had run, and the containers of executors by name."""
        process = self.start()
        wait_until(self.submit.yarn.submitted, "an application")
        self.wait_at_gate(phase, job, maps)
        before = self.ran()
        executors = {c.name: c.process.pid for c in self.submit.yarn.last().executors()}
        self.submit.yarn.last().attempt.container.kill(at_once=True)
        return process, before, executors

    def finish(self, process):
        """Opens the gate, checks the results, and returns the containers of executors that the second attempt has started."""
        self.open_gate()
        assert process.wait(timeout=120) == 0, (self.folder / "submit.log").read_text() + self.log()
        app = self.submit.yarn.last()
        assert len(app.attempts) == 2
        self.check(0, resumed="resumed 1")
        wait_until(lambda: not app.executors(), "the end of the containers")
        assert "as its driver number 2" in self.log()
        return app.attempts[1].containers


@pytest.fixture
def start(submit, application):
    made = []

    def make(*arguments, **options):
        made.append(OnYarn(submit, application, *arguments, **options))
        return made[-1]
    yield make
    for one in made:
        one.end()


# The gated phase, its job, and whether its tasks write map outputs.
@pytest.mark.parametrize("phase, job, maps", [(2, 1, False), (3, 2, True)])
def test_a_second_attempt_goes_on_with_the_containers_of_the_first(start, yarn, phase, job, maps):
    app = start(phase, settings=["spark.authenticate=true", "spark.io.encryption.enabled=true"] if maps else [])
    process, before, executors = app.kill_master(phase, job, maps)
    assert len(executors) == 2
    wait_until(lambda: app.log().count("of the earlier driver is back") == 2, lambda: f"the executors: {app.log()}")
    assert {c.name: c.process.pid for c in yarn.last().executors()} == executors
    assert app.finish(process) == []
    again = app.ran()[len(before):]
    assert {task for task in again if task.startswith(f"{phase}.")} == {f"{phase}.3"}
    assert not {task for task in again if task.startswith(tuple(f"{p}." for p in range(1, phase)))}
    app.check_adopted(phase, app.log())
    assert re.findall(r"still has executor (\d+) of an earlier attempt", app.log()) == ["1", "2"]


def test_a_container_that_ends_between_attempts_is_replaced(start, yarn):
    app = start(2)
    killed = []

    def before_registration(attempt):
        if attempt.number == 2 and not killed:
            killed.append(yarn.last().executors()[0])
            killed[0].kill(at_once=True)
            wait_until(lambda: killed[0].is_complete, "the end of a container")
    yarn.before_registration = before_registration
    process, _, executors = app.kill_master(2, 1)
    started = app.finish(process)
    assert len(executors) == 2 and len(killed) == 1
    assert len(started) == 1
    assert "--executor-id '3'" in " ".join(started[0].context.command)


def test_executors_that_may_not_wait_end_with_their_driver(start, yarn):
    app = start(2, settings=["spark.firesteel.resume.executorTimeout=0"])
    process, _, executors = app.kill_master(2, 1)
    assert not yarn.last().context.keep_containers_across_attempts
    assert len(app.finish(process)) == 2
    assert not any(os.path.exists(f"/proc/{pid}") for pid in executors.values())


def test_a_driver_in_client_mode_goes_on_with_new_containers(start, yarn):
    """With spark.authenticate and encrypted files, of which the next driver has no key: executors end with their driver."""
    app = start(3, cluster=False, settings=["spark.authenticate=true", "spark.authenticate.secret=hush-hush-hush-hush",
                                            "spark.io.encryption.enabled=true", "spark.firesteel.resume.id=app-1"])
    first = app.start()
    wait_until(yarn.submitted, "an application")
    app.wait_at_gate(3, 2, maps=True)
    executors = [c.process.pid for c in yarn.last().executors()]
    before = app.ran()
    assert app.epochs() and b"hush" not in b"".join(app.epochs())
    first.kill()
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in executors), "the end of the executors")
    app.open_gate()
    assert app.start().wait(timeout=120) == 0, app.log()
    text = (app.folder / "submit.log").read_text()
    assert "resumed 1" in text and "as its driver number 2" in text, text
    assert not {task for task in app.ran()[len(before):] if task[0] in "12"}
    assert app.left() == []
