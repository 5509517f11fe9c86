"""A second attempt on YARN goes on where the ApplicationMaster of the first one was killed (docs/guide/resuming.md)."""
import pathlib
import subprocess
import sys

import pytest

from resume_test import Run, compile_application

sys.path.append(str(pathlib.Path(__file__).resolve().parent / "yarn"))
from fake_node import wait_until  # noqa: E402
from yarn_submit import cache, submit, yarn  # noqa: E402,F401


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    return compile_application(tmp_path_factory.mktemp("application"))


class OnYarn(Run):
    """An application in cluster mode. All of its drivers have one log."""

    def __init__(self, submit, application, phase):
        super().__init__(submit.folder, application, "yarn", phase)
        self.submit = submit
        self.command = submit.command(
            application, self.folder / "input", self.folder, phase, cluster=True,
            conf=["spark.firesteel.resume.enabled=true", f"spark.firesteel.resume.dir=file:{self.journals}"])

    def start(self, command=None):
        with open(self.folder / "submit.log", "w", encoding="utf-8") as log:
            self.processes.append(subprocess.Popen(self.command, cwd=self.folder, env=self.submit.environment, stdout=log,
                                                   stderr=log, stdin=subprocess.DEVNULL, start_new_session=True))
        return self.processes[-1]

    def log(self, number=0):
        app = self.submit.yarn.last()
        return "".join(attempt.container.log("stdout") + attempt.container.log("stderr") for attempt in app.attempts)


def test_a_second_attempt_goes_on(submit, yarn, application):
    app = OnYarn(submit, application, 2)
    try:
        process = app.start()
        wait_until(yarn.submitted, "an application")
        app.wait_at_gate(2, 1)
        before = app.ran()
        yarn.last().attempt.container.kill(at_once=True)
        app.open_gate()
        assert process.wait(timeout=120) == 0, (app.folder / "submit.log").read_text()
        assert len(yarn.last().attempts) == 2
        app.check(0, resumed="resumed 1")
        assert "as its driver number 2" in app.log()
        assert {task for task in app.ran()[len(before):] if task.startswith("2.")} == {"2.3"}
        assert not {task for task in app.ran()[len(before):] if task.startswith("1.")}
    finally:
        app.end()
