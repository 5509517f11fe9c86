"""Another driver goes on with shuffles in Apache Celeborn, whose servers are those of celeborn/server.py."""
import pytest

from celeborn.server import Celeborn
from conditions import wait_until
from executors_resume_test import Adopted, compile_adopted
from resume_test import Run, compile_application

MAPS = 7  # of the gated phase, whose last map waits


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    return compile_application(tmp_path_factory.mktemp("application"))


@pytest.fixture
def celeborn():
    with Celeborn(workers=2) as made:
        yield made


@pytest.fixture
def app(tmp_path, application, celeborn):
    made = Run(tmp_path, application, master="local-cluster[2,1,1024]", phase=3, settings=[
        "spark.shuffle.manager=celeborn", f"spark.celeborn.master.endpoints={celeborn.master}",
        "spark.celeborn.client.push.replicate.enabled=true"])
    yield made
    made.end()


@pytest.fixture
def adopted(tmp_path, celeborn):
    made = Adopted(tmp_path, compile_adopted(tmp_path), phase=2, settings=[
        "spark.shuffle.manager=celeborn", f"spark.celeborn.master.endpoints={celeborn.master}"])
    yield made
    made.end()


def kill(process):
    process.kill()
    process.wait(timeout=120)


def files_of(celeborn):
    return [name for worker in celeborn.workers for name in worker.files]


def of_phase_3(tasks):
    return {task for task in tasks if task[0] == "3"}


def test_maps_that_had_ended_do_not_run_again(app, celeborn):
    app.start()
    for driver in range(2):
        app.wait_at_gate(3, 2, maps=True)
        wait_until(lambda: driver == 0 or f"{MAPS} of {MAPS} map outputs of earlier drivers are in" in app.log(1), "the second driver", 60)
        kill(app.processes[-1])
        before = app.ran()
        if driver == 1:
            app.open_gate()
        app.resume()
    assert app.processes[-1].wait(timeout=120) == 0, app.log(2)
    app.check(2)
    assert f"{MAPS} of {MAPS} map outputs of earlier drivers are in" in app.log(2)
    assert not {task for task in app.ran()[len(before):] if task[0] in "12"}
    assert of_phase_3(app.ran()[len(before):]) == {"3.3"}
    assert celeborn.counts["ApplicationLost"] == 1
    assert not files_of(celeborn)


def test_executors_outlive_their_driver(celeborn, adopted):
    """Their cached partitions and map outputs are not computed again."""
    app = adopted
    app.start()
    app.wait_at_gate(2, 1, maps=True)
    executors = set(app.executors())
    before = app.kill()
    app.resume()
    wait_until(lambda: app.log(1).count("of the earlier driver is back") == 2, "the executors", 60)
    app.open_gate()
    assert app.processes[-1].wait(timeout=120) == 0, app.log(1)
    app.check(1)
    assert app.computed(before) <= {"2.3", *(f"3.{i}" for i in range(8))}, app.ran()[before:]
    assert app.processes_of_tasks(before) <= executors
    assert not files_of(celeborn)


def test_a_commit_that_had_begun_is_repeated(app, celeborn):
    celeborn.fault(at="CommitFiles", kind="delay", seconds=600, times=100)
    app.start()
    app.open_gate()
    wait_until(lambda: celeborn.counts["CommitFiles"] > 0 and len(of_phase_3(app.ran())) == 8, "the commit", 120)
    kill(app.processes[0])
    before = app.ran()
    celeborn.calm()
    assert app.resume().wait(timeout=120) == 0, app.log(1)
    app.check(1)
    assert "8 of 8 map outputs of earlier drivers are in" in app.log(1)
    assert not of_phase_3(app.ran()[len(before):])


def test_a_master_that_has_lost_its_state_learns_of_the_shuffles_again(app, celeborn):
    app.start()
    app.wait_at_gate(3, 2, maps=True)
    kill(app.processes[0])
    before = app.ran()
    celeborn.forget()
    app.resume()
    wait_until(lambda: celeborn.counts["ReviseLostShuffles"] > 0, "the registration", 60)
    celeborn.expire()
    app.open_gate()
    assert app.processes[-1].wait(timeout=120) == 0, app.log(1)
    app.check(1)
    assert of_phase_3(app.ran()[len(before):]) == {"3.3"}
    assert not files_of(celeborn)


def test_files_that_the_servers_have_lost_are_computed_again(app, celeborn):
    app.start()
    app.wait_at_gate(3, 2, maps=True)
    kill(app.processes[0])
    before = app.ran()
    for worker in celeborn.workers:
        worker.files.clear()
    app.open_gate()
    assert app.resume().wait(timeout=120) == 0, app.log(1)
    app.check(1)
    assert len(of_phase_3(app.ran()[len(before):])) == 8


@pytest.mark.parametrize("kept", [True, False])
def test_the_next_driver_proves_the_secret(tmp_path, application, kept):
    """It derives the secret from that of spark.authenticate. If this has ended with the earlier driver, since no executor waits
    for the next one, all maps run again."""
    with Celeborn(workers=2, authenticate=True) as celeborn:
        app = Run(tmp_path, application, master="local-cluster[2,1,1024]", phase=3, settings=[
            "spark.shuffle.manager=celeborn", f"spark.celeborn.master.endpoints={celeborn.master}",
            "spark.celeborn.auth.enabled=true", "spark.authenticate=true",
            *([] if kept else ["spark.firesteel.resume.executorTimeout=0"])])
        try:
            app.start()
            app.wait_at_gate(3, 2, maps=True)
            kill(app.processes[0])
            before = app.ran()
            assert not any(secret.encode() in epoch for secret in celeborn.secrets.values() for epoch in app.epochs())
            app.open_gate()
            assert app.resume().wait(timeout=120) == 0, app.log(1)
            app.check(1)
            assert of_phase_3(app.ran()[len(before):]) == ({"3.3"} if kept else {f"3.{i}" for i in range(8)})
            assert len(celeborn.secrets) == (1 if kept else 2)
        finally:
            app.end()


def test_authentication_without_a_secret_that_lasts_is_refused(app):
    app.command[3:3] = ["--conf", "spark.celeborn.auth.enabled=true"]
    assert app.start().wait(timeout=60) == 1
    assert "spark.authenticate is false: set it to true" in app.log(0)


def test_an_application_that_had_failed_begins_again_at_the_servers(app, celeborn):
    (app.folder / "plain5").mkdir()
    app.open_gate()
    assert app.start().wait(timeout=120) == 1, app.log(0)
    assert celeborn.counts["ApplicationLost"] == 1
    (app.folder / "plain5").rmdir()
    assert app.resume().wait(timeout=120) == 0, app.log(1)
    app.check(1)
    assert "Going on with" not in app.log(1)
    assert celeborn.counts["ApplicationLost"] == 2
    assert not files_of(celeborn)
