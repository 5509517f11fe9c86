"""Map outputs in spark.firesteel.shuffle.store: they outlive executors and leave nothing behind."""
import signal
import threading

import pytest

from conditions import wait_until
from gated_application import Application, kill, sum_of
from standalone_cluster import Cluster

MASTER = "local-cluster[2,1,1024]"


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app").mkdir()
    return tmp_path / "app"


def objects(store):
    return sorted(path for path in store.rglob("*-*") if path.is_file())


# The first byte of the first record in an object (src/shuffle/remote/object_file.h), behind the header, the block's two
# numbers, the frame's header and LZ4's first token. Other bytes of compressed data may be changed without an effect.
FIRST_RECORD = 8 + 8 + 40 + 1


def lose_everybody(app):
    before = app.alive()
    kill(app.executors().values())
    wait_until(lambda: before <= set(app.removed()), "executors stay")
    app.until_alive(2)


def test_outputs_outlive_their_executors_three_times(store, folder):
    with Application(folder, MASTER, f"spark.firesteel.shuffle.store=file://{store}", "spark.io.encryption.enabled=true",
                     "spark.firesteel.task.isolation=process", allocation=False) as app:
        app.until_alive(2)
        app.open_gate()
        assert app.run(f"shuffle 6 {app.gate}")[0] == sum_of(6)
        for _ in range(3):
            lose_everybody(app)
            assert app.run("shuffled")[0] == sum_of(6)
        assert app.tasks("ShuffleMapTask") == 6
        assert 0 < len(objects(store)) <= 6
    assert not list(store.iterdir())


def test_outputs_of_the_last_executor_go_to_the_fallback_storage(store, folder):
    with Application(folder, "local-cluster[1,1,1024]", f"spark.storage.decommission.fallbackStorage.path=file://{store}",
                     "spark.decommission.enabled=true", "spark.storage.decommission.enabled=true", allocation=False) as app:
        app.until_alive(1)
        app.open_gate()
        assert app.run(f"shuffle 6 {app.gate}")[0] == sum_of(6)
        assert not objects(store)
        before = app.alive()
        kill(app.executors().values(), signal.SIGPWR)
        wait_until(lambda: before <= set(app.removed()), "the executor stays")
        assert len(objects(store)) == 1
        app.until_alive(1)
        assert app.run("shuffled")[0] == sum_of(6)
        assert app.tasks("ShuffleMapTask") == 6
    assert not list(store.iterdir())


def test_a_flipped_byte_in_a_bucket_runs_the_map_tasks_again(bucket, folder):
    with Application(folder, MASTER, *bucket.conf, "spark.firesteel.shuffle.store=s3a://bucket/store", allocation=False) as app:
        app.until_alive(2)
        app.open_gate()
        assert app.run(f"shuffle 6 {app.gate}")[0] == sum_of(6)
        assert app.run("shuffled")[0] == sum_of(6)
        assert app.tasks("ShuffleMapTask") == 6
        key = next(key for key in bucket.objects if "/shuffle-" in key)
        data = bytearray(bucket.objects[key])
        data[FIRST_RECORD] ^= 1
        bucket.objects[key] = bytes(data)
        lose_everybody(app)  # and what they keep of small objects
        assert app.run("shuffled")[0] == sum_of(6)
        assert 6 < app.tasks("ShuffleMapTask") <= 12
        assert f"from s3a://bucket/{key}: a damaged page" in app.log()
    assert not bucket.objects


def test_executors_of_a_standalone_cluster_leave_their_outputs_to_the_store(store, folder, tmp_path):
    (tmp_path / "cluster").mkdir()
    cluster = Cluster(tmp_path / "cluster")
    try:
        master = cluster.master()
        cluster.worker(master.url, cores=2, memory="2g")
        with Application(folder, master.url, f"spark.firesteel.shuffle.store=file://{store}",
                         "spark.dynamicAllocation.shuffleTracking.enabled=false", "spark.dynamicAllocation.initialExecutors=2") as app:
            app.open_gate()
            assert app.run(f"shuffle 2 {app.gate}")[0] == sum_of(2)
            app.until_alive(0)
            wait_until(lambda: cluster.executors() == {}, "executors stay")
            assert app.run("shuffled")[0] == sum_of(2)
            assert app.tasks("ShuffleMapTask") == 2
        assert not list(store.iterdir())
    finally:
        cluster.close()


@pytest.mark.parametrize("status, remedy", [(403, "let the user of the executors write there"), (507, "free space there")])
def test_a_store_that_refuses_is_named(bucket, folder, status, remedy):
    app = Application(folder, MASTER, *bucket.conf, "spark.firesteel.shuffle.store=s3a://bucket/store", allocation=False)
    app.until_alive(2)
    app.open_gate()
    bucket.refuses = status
    assert app.run(f"shuffle 2 {app.gate}")[0] == -1
    bucket.refuses = 0
    assert app.run(f"shuffle 2 {app.gate}")[0] == sum_of(2)
    app.process.stdin.close()
    assert app.process.wait(60) == 1
    app.process.stdout.close()
    assert "cannot store map outputs of shuffle 0 in s3a://bucket/store/firesteel-shuffle-" in app.log()
    assert remedy in app.log()
    assert not bucket.objects


def test_the_next_task_computes_while_outputs_are_stored(bucket, folder):
    with Application(folder, "local-cluster[1,1,1024]", *bucket.conf, "spark.firesteel.shuffle.store=s3a://bucket/store",
                     allocation=False) as app:
        app.until_alive(1)
        app.open_gate()
        bucket.held = ("/shuffle-", threading.Event())
        app.begin(f"shuffle 4 {app.gate}")
        wait_until(lambda: app.log().count(" Starting task ") == 2, "the core stays with a task whose output is being stored")
        assert " Finished task " not in app.log()
        bucket.held[1].set()
        assert app.answer()[0] == sum_of(4)
        assert app.tasks("ShuffleMapTask") == 4
        stored = next(key for key in bucket.objects if "/shuffle-" in key)
        bucket.uploads = {f"{stored}-of-a-killed-executor": "1&+ é", "others": "2"}
    assert bucket.uploads == {"others": "2"}


def test_an_executor_reads_what_it_has_stored_from_memory(bucket, folder):
    with Application(folder, "local-cluster[1,1,1024]", *bucket.conf, "spark.firesteel.shuffle.store=s3a://bucket/store",
                     allocation=False) as app:
        app.until_alive(1)
        app.open_gate()
        assert app.run(f"shuffle 4 {app.gate}")[0] == sum_of(4)
        stored = {key: data for key, data in bucket.objects.items() if "/shuffle-" in key}
        for key in stored:
            del bucket.objects[key]
        assert app.run("shuffled")[0] == sum_of(4)
        bucket.objects.update(stored)
        before = app.alive()
        kill(app.executors().values())
        wait_until(lambda: before <= set(app.removed()), "the executor stays")
        app.until_alive(1)
        assert app.run("shuffled")[0] == sum_of(4)
        assert app.tasks("ShuffleMapTask") == 4


def test_directories_of_dead_drivers_are_swept(store, folder, tmp_path):
    conf = [f"spark.firesteel.shuffle.store=file://{store}", "spark.firesteel.shuffle.store.lease=1s"]
    (store / "other").mkdir(parents=True)
    dead = Application(folder, MASTER, *conf, allocation=False)
    dead.until_alive(2)
    dead.open_gate()
    assert dead.run(f"shuffle 2 {dead.gate}")[0] == sum_of(2)
    left, = store.glob("firesteel-shuffle-*")
    dead.process.send_signal(signal.SIGKILL)
    dead.process.wait()
    dead.process.stdin.close()
    dead.process.stdout.close()
    wait_until(lambda: not dead.processes(), "executors stay")
    living = tmp_path / "living"
    living.mkdir()
    with Application(living, MASTER, *conf, allocation=False) as app:
        app.until_alive(2)
        app.open_gate()
        assert app.run(f"shuffle 2 {app.gate}")[0] == sum_of(2)
        wait_until(lambda: not left.exists(), "the directory stays")
        assert app.run("shuffled")[0] == sum_of(2)
    assert [path.name for path in store.iterdir()] == ["other"]


def test_a_lease_whose_first_request_gets_no_answer_is_written_again(bucket, folder):
    bucket.drops = 2
    with Application(folder, MASTER, *bucket.conf, "spark.firesteel.shuffle.store=s3a://bucket/store", allocation=False) as app:
        app.until_alive(2)
        assert bucket.drops == 0
        app.open_gate()
        assert app.run(f"shuffle 2 {app.gate}")[0] == sum_of(2)
        assert "writing the lease of this application's map outputs again: s3a://bucket/store/firesteel-shuffle-" in app.log()
    assert not bucket.objects


def test_a_store_that_cannot_be_used_is_refused_at_once(tmp_path, folder):
    file = tmp_path / "file"
    file.write_text("")
    app = Application(folder, MASTER, f"spark.firesteel.shuffle.store=file://{file}", allocation=False)
    app.process.stdin.close()
    assert app.process.wait(60) != 0
    app.process.stdout.close()
    assert f"spark.firesteel.shuffle.store=file://{file} cannot be used" in app.log()
