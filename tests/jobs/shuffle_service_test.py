"""The shuffle service as a process: map outputs outlive their executors, and are removed when unused."""
import re
import signal

import pytest

from conditions import wait_until
from gated_application import Application, kill, map_outputs, sum_of
from shuffle_service import Service

SECRET = "7d9f0c2a6b1e4835" * 2


@pytest.fixture
def service(tmp_path):
    running = Service(tmp_path)
    yield running
    if running.process.poll() is None:
        assert running.end() == 128 + signal.SIGTERM


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app").mkdir()
    return tmp_path / "app"


def shuffle_and_lose_everybody(app, lose):
    """Runs a second job on a shuffle after all executors of the first have ended."""
    app.open_gate()
    assert app.run(f"shuffle 4 {app.gate}")[0] == sum_of(4)
    before = app.alive()
    assert [n.split(".")[1] for n in map_outputs(app.local)] == ["data", "index"] * 4
    lose()
    wait_until(lambda: before <= set(app.removed()), "executors stay")
    assert app.run("shuffled")[0] == sum_of(4)
    assert app.tasks("ShuffleMapTask") == 4


@pytest.mark.parametrize("conf", [
    [], ["spark.io.encryption.enabled=true"], ["spark.firesteel.task.isolation=process"]],
    ids=["plain", "encrypted", "isolated"])
def test_outputs_of_executors_that_were_killed_are_read(service, folder, conf):
    with Application(folder, "local-cluster[2,1,1024]", *service.conf(), *conf, allocation=False) as app:
        app.until_alive(2)
        shuffle_and_lose_everybody(app, lambda: kill(app.executors().values()))
    assert not map_outputs(app.local)


def test_idle_executors_go_though_they_have_outputs(service, folder):
    with Application(folder, "local-cluster[4,1,1024]", "spark.dynamicAllocation.initialExecutors=2",
                     *service.conf()) as app:
        shuffle_and_lose_everybody(app, lambda: app.until_alive(0))


def test_a_decommissioned_executor_leaves_its_outputs_where_they_are(service, folder):
    with Application(folder, "local-cluster[2,1,1024]", *service.conf(), "spark.decommission.enabled=true",
                     "spark.storage.decommission.enabled=true", allocation=False) as app:
        app.until_alive(2)
        shuffle_and_lose_everybody(app, lambda: kill(app.executors().values(), signal.SIGPWR))


def test_a_service_that_was_killed_starts_again_and_serves(service, folder):
    with Application(folder, "local-cluster[2,1,1024]", *service.conf(), allocation=False) as app:
        app.until_alive(2)

        def lose():
            service.end(signal.SIGKILL)
            service.start()
            kill(app.executors().values())

        shuffle_and_lose_everybody(app, lose)
        assert "Restored the registrations of 2 executors" in service.log.read_text()


def test_outputs_are_made_again_when_nobody_serves_them(service, folder):
    with Application(folder, "local-cluster[2,1,1024]", *service.conf(), "spark.shuffle.io.maxRetries=0",
                     allocation=False) as app:
        app.until_alive(2)
        app.open_gate()
        assert app.run(f"shuffle 4 {app.gate}")[0] == sum_of(4)
        for path in app.local.rglob("shuffle_*_*"):  # the service cannot serve them
            path.unlink()
        before = app.alive()
        kill(app.executors().values())
        wait_until(lambda: before <= set(app.removed()), "executors stay")
        assert app.run("shuffled")[0] == sum_of(4)
        assert app.tasks("ShuffleMapTask") > 4


def test_executors_without_a_service_do_not_start(folder):
    with pytest.raises(AssertionError):
        with Application(folder, "local-cluster[1,1,1024]", "spark.shuffle.service.enabled=true",
                         "spark.shuffle.service.port=1", "spark.firesteel.localCluster.hosts=127.0.0.1", "spark.shuffle.registration.maxAttempts=2",
                         "spark.deploy.maxExecutorRetries=2", allocation=False) as app:
            app.open_gate()
            app.run(f"shuffle 4 {app.gate}")
    assert "will retry 1 more times" in app.log()
    assert re.search("Unable to register with external shuffle server at .*:1: .*refused", app.log())


def test_who_does_not_know_the_secret_is_served_nothing(tmp_path, folder):
    service = Service(tmp_path, "spark.authenticate=true", f"spark.authenticate.secret={SECRET}")
    try:
        conf = [*service.conf(), "spark.authenticate=true"]
        with Application(folder, "local-cluster[2,1,1024]", *conf, f"spark.authenticate.secret={SECRET}",
                         allocation=False) as app:
            app.until_alive(2)
            shuffle_and_lose_everybody(app, lambda: kill(app.executors().values()))
        assert "auth enabled = true" in service.log.read_text()
        other = tmp_path / "other"
        other.mkdir()
        with pytest.raises(AssertionError):
            with Application(other, "local-cluster[1,1,1024]", *conf, f"spark.authenticate.secret={SECRET[::-1]}",
                             "spark.shuffle.registration.maxAttempts=1", "spark.deploy.maxExecutorRetries=1",
                             allocation=False) as app:
                app.open_gate()
                app.run(f"shuffle 4 {app.gate}")
        assert "Unable to register with external shuffle server" in app.log()
    finally:
        service.end()
