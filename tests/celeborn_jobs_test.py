"""Jobs whose map outputs are in Apache Celeborn. The servers are those of celeborn/server.py."""
import pytest

from celeborn.server import Celeborn
from gated_application import Application, kill, sum_of, until

MASTER = "local-cluster[2,1,1024]"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app").mkdir()
    return tmp_path / "app"


def application(folder, celeborn, *conf, name="celeborn"):
    return Application(folder, MASTER, f"spark.shuffle.manager={name}", f"spark.celeborn.master.endpoints={celeborn.master}",
                       "spark.celeborn.client.requestCommitFiles.retryWait=100ms", *conf, allocation=False)


def shuffles_of(celeborn):
    return sorted(shuffle for _, shuffle in celeborn.shuffles)


def test_outputs_outlive_their_executors_and_end_with_the_application(folder):
    with Celeborn(workers=2) as celeborn:
        with application(folder, celeborn, name="org.apache.spark.shuffle.celeborn.SparkShuffleManager") as app:
            app.until_alive(2)
            app.open_gate()
            assert app.run(f"shuffle 6 {app.gate}")[0] == sum_of(6)
            before = app.alive()
            kill(app.executors().values())
            until(lambda: before <= set(app.removed()), "executors stay")
            app.until_alive(2)
            assert app.run("shuffled")[0] == sum_of(6)
            assert app.tasks("ShuffleMapTask") == 6
        counts = celeborn.count()
        assert counts["RequestSlots"] == 1
        assert counts["ApplicationLost"] == 1
        assert counts["Heartbeat"] >= 1


def test_shuffle_that_lost_its_files_is_computed_again_as_a_whole(folder):
    with Celeborn(workers=3) as celeborn:
        with application(folder, celeborn, "spark.celeborn.data.io.retryWait=100ms") as app:
            app.until_alive(2)
            app.open_gate()
            assert app.run(f"shuffle 6 {app.gate}")[0] == sum_of(6)
            celeborn.kill(0)
            assert app.run("shuffled")[0] == sum_of(6)
            assert shuffles_of(celeborn)[-1] == 1


def test_replica_is_read_when_a_worker_ends(folder):
    with Celeborn(workers=3) as celeborn:
        with application(folder, celeborn, "spark.celeborn.client.push.replicate.enabled=true",
                         "spark.celeborn.data.io.retryWait=100ms") as app:
            app.until_alive(2)
            app.open_gate()
            assert app.run(f"shuffle 6 {app.gate}")[0] == sum_of(6)
            celeborn.kill(0)
            assert app.run("shuffled")[0] == sum_of(6)
            assert shuffles_of(celeborn) == [0]
            assert app.tasks("ShuffleMapTask") == 6
