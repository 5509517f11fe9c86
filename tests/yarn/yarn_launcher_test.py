"""Launchers of native applications on YARN: the launcher socket and the library that submits."""
import os
import re
import signal
import socket
import threading

import pytest

from conditions import wait_until
from fake_yarn import ACCEPTED, KILLED, RUNNING
from hadoop_server import RpcError
from sanitizers import SANITIZED
from submitter import Submitter
from yarn_submit import cache, submit, yarn  # noqa: F401

# LauncherProtocol$Stop, as Java serializes it for SparkAppHandle.stop().
STOP = bytes.fromhex(
    "aced00057372002f6f72672e6170616368652e737061726b2e6c61756e636865722e4c61756e6368657250726f746f636f6c2453746f701805482f"
    "54cd2301020000787200326f72672e6170616368652e737061726b2e6c61756e636865722e4c61756e6368657250726f746f636f6c244d65737361"
    "6765ba91306956ca88350200007870")


class Launcher:
    """Spark's launcher socket: collects what an application sends."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port, self.received, self.connection = self.socket.getsockname()[1], b"", None
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        self.connection, _ = self.socket.accept()
        with self.connection:
            while True:
                data = self.connection.recv(65536)
                if not data:
                    return
                self.received += data

    def words(self):
        """States and ids, in the order of their first appearance."""
        return [w.decode() for w in re.findall(rb"application_\d+_\d+|SUBMITTED|RUNNING|FINISHED|FAILED|KILLED|LOST", self.received)]


@pytest.mark.parametrize("cluster, status, states", [
    (False, "0", ["RUNNING", "FINISHED"]), (True, "0", ["SUBMITTED", "RUNNING", "FINISHED"]), (True, "3", ["SUBMITTED", "RUNNING", "FAILED"])])
def test_the_launcher_gets_id_and_states(submit, yarn, cluster, status, states):
    launcher = Launcher()
    with submit.waiting(status, cluster=cluster, conf=["spark.yarn.maxAppAttempts=1", "spark.yarn.submit.waitAppCompletion=false"],
                        _SPARK_LAUNCHER_PORT=str(launcher.port), _SPARK_LAUNCHER_SECRET="s") as (process, app):
        wait_until(lambda: "RUNNING" in launcher.words(), launcher.words)
        submit.open(process)
        launcher.thread.join(120)
        found = [w for w in launcher.words() if w != app.name]
        assert app.name in launcher.words()
        assert [w for w in found if w != "SUBMITTED" or cluster] == states, launcher.words()


@pytest.mark.parametrize("cluster", [False, True], ids=["client", "cluster"])
def test_the_launcher_stops_the_application(submit, yarn, cluster):
    launcher = Launcher()
    with submit.waiting("0", cluster=cluster, conf=["spark.yarn.maxAppAttempts=1"], _SPARK_LAUNCHER_PORT=str(launcher.port),
                        _SPARK_LAUNCHER_SECRET="s") as (process, app):
        wait_until(lambda: "RUNNING" in launcher.words(), launcher.words)
        launcher.connection.sendall(STOP)
        assert process.wait(120) == (1 if cluster else 128 + signal.SIGTERM), submit.log()
        launcher.thread.join(120)
        if cluster:  # in client mode the driver ends by itself
            assert app.state == KILLED and f"Application {app.name} is killed" in submit.log()
            assert "KILLED" in launcher.words()


@pytest.fixture
def submitter(submit, monkeypatch):
    for name in list(os.environ):
        if name.startswith(("SPARK_", "_SPARK_", "MASTER", "DEPLOY_MODE", "HADOOP_", "YARN_")):
            monkeypatch.delenv(name)
    for name in ("XDG_CACHE_HOME", "HADOOP_CONF_DIR", "HADOOP_USER_NAME", "SPARK_CONF_DIR", "HOME"):
        monkeypatch.setenv(name, submit.environment[name])
    made = Submitter()
    yield made
    made.close()


def api_application(submit, submitter, *arguments, cluster=True, conf=()):
    words = submit.command(submit.folder / "waiting.c", submit.gate, *arguments, cluster=cluster, conf=conf)[1:]
    app = submitter.new(*words)
    assert app.parsed == 0 and app.call("set_watch", 20) == 0
    return app.listen()


@pytest.mark.skipif(SANITIZED, reason="a library with a sanitizer cannot be loaded into Python")
@pytest.mark.parametrize("status, state", [("0", "FINISHED"), ("3", "FAILED")])
def test_the_library_submits_to_a_cluster(submit, submitter, yarn, status, state):
    app = api_application(submit, submitter, status, conf=["spark.yarn.maxAppAttempts=1"])
    assert app.call("start") == 0
    submitter.dispatch_until(lambda: app.state() == "RUNNING")
    assert app.text("id") == yarn.last().name
    submit.gate.touch()
    assert app.end() == state
    assert ("User application exited with status 3" in app.text("error")) == (status == "3"), app.text("error")
    assert app.heard[-1] == state and "id" in app.heard


@pytest.mark.skipif(SANITIZED, reason="a library with a sanitizer cannot be loaded into Python")
def test_the_library_kills_and_fails(submit, submitter, yarn):
    app = api_application(submit, submitter)
    assert app.call("start") == 0
    submitter.dispatch_until(lambda: app.state() == "RUNNING")
    assert app.call("stop") == 0
    assert app.end() == "KILLED" and yarn.last().state == KILLED
    app = api_application(submit, submitter, conf=["spark.yarn.queue=nowhere"])
    assert app.call("start") == 0
    assert app.end() == "FAILED" and "unknown queue: nowhere" in app.text("error")


@pytest.mark.skipif(SANITIZED, reason="a library with a sanitizer cannot be loaded into Python")
def test_many_submissions_ask_together_whether_they_are_accepted(submit, submitter, yarn):
    yarn.undecided_s = 3600
    apps = []
    for _ in range(20):
        words = submit.command(submit.folder / "waiting.c", submit.gate, cluster=True)[1:]
        apps.append(submitter.new(*words).listen())
        assert apps[-1].call("set_watch", 0) == 0 and apps[-1].call("start") == 0
    submitter.dispatch_until(lambda: all("id" in app.heard for app in apps))
    assert all(app.state() == "UNKNOWN" for app in apps), "the ids are known before the ResourceManager has decided"
    wait_until(lambda: yarn.lists > 3, "questions for all")
    yarn.undecided_s = 0
    submitter.dispatch_until(lambda: all(app.state() == "SUBMITTED" for app in apps))
    assert {app.text("id") for app in apps} == {app.name for app in yarn.submitted()}
    assert len(yarn.applications) <= len(apps) + 33, "ids are asked for at most 32 submissions ahead"
    assert yarn.lists > 0 and yarn.reports <= 3 * len(apps), (yarn.lists, yarn.reports)
    submit.gate.touch()


class HeldSubmissions:
    """Keeps the ResourceManager from answering submitApplication until `gate` is set."""

    def __init__(self, yarn):
        self.gate, self.arrived = threading.Event(), 0
        yarn.before_submission = self.hold

    def hold(self, _context):
        self.arrived += 1
        assert self.gate.wait(300)


@pytest.mark.skipif(SANITIZED, reason="a library with a sanitizer cannot be loaded into Python")
def test_a_submission_that_is_on_its_way_can_be_killed(submit, submitter, yarn):
    held = HeldSubmissions(yarn)
    app = api_application(submit, submitter)
    assert app.call("start") == 0
    wait_until(lambda: held.arrived == 1, "the submission")
    assert app.state() == "UNKNOWN" and app.call("kill") == 0
    held.gate.set()
    assert app.end() == "KILLED" and yarn.last().state == KILLED


@pytest.mark.skipif(SANITIZED, reason="a library with a sanitizer cannot be loaded into Python")
def test_a_submitter_closes_while_submissions_are_on_their_way(submit, submitter, yarn):
    held, other = HeldSubmissions(yarn), Submitter()
    apps = []
    for made in (submitter, other):
        for _ in range(3):
            apps.append(made.new(*submit.command(submit.folder / "waiting.c", submit.gate, cluster=True)[1:]).listen())
            assert apps[-1].call("start") == 0
    wait_until(lambda: held.arrived > 0, "the submissions")
    closing = threading.Thread(target=other.close, daemon=True)
    closing.start()
    closing.join(120)
    assert not closing.is_alive(), "it waits for the ResourceManager"
    held.gate.set()
    submitter.dispatch_until(lambda: all(app.state() in ("SUBMITTED", "RUNNING") for app in apps[:3]))
    submit.gate.touch()
    assert [app.end() for app in apps[:3]] == ["FINISHED"] * 3


@pytest.mark.skipif(SANITIZED, reason="a library with a sanitizer cannot be loaded into Python")
def test_a_refused_submission_leaves_no_staging_directory(submit, submitter, yarn):
    def refuse(_context):
        assert list(staging.rglob("application_*")), "the directory exists meanwhile"
        raise RpcError("org.apache.hadoop.security.AccessControlException", "alice may not submit")
    staging = submit.folder / "staging"
    yarn.before_submission = refuse
    app = api_application(submit, submitter, conf=[f"spark.yarn.stagingDir=file:{staging}"])
    assert app.call("start") == 0
    assert app.end() == "FAILED"
    assert re.fullmatch(r"Failed to submit application_\d+_0001 to YARN : AccessControlException: alice may not submit", app.text("error"))
    assert not list(staging.rglob("application_*"))
    assert app.call("kill") < 0


@pytest.mark.skipif(SANITIZED, reason="a library with a sanitizer cannot be loaded into Python")
def test_the_library_runs_a_child_in_client_mode(submit, submitter, yarn):
    app = api_application(submit, submitter, cluster=False)
    assert app.call("start") == 0
    submitter.dispatch_until(lambda: app.state() == "RUNNING")
    assert app.text("id") == yarn.last().name and yarn.last().state in (ACCEPTED, RUNNING)
    submit.gate.touch()
    assert app.end() == "FINISHED" and app.call("exit_status") == 0
