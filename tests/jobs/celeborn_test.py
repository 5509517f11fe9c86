"""A shuffle in Apache Celeborn, whose servers are those of celeborn/server.py."""
import collections
import os
import random
import re
import socket
import struct
import subprocess

import pytest

from celeborn.messages import PUSH_DATA, RPC_REQUEST, Fields, bytes_field, frame, number_field, plain_message, read_message, text_of
from celeborn.server import HARD_SPLIT, MAP_ENDED, SOFT_SPLIT, Celeborn, Fault, Location
from celeborn.storage import batches_of
from conditions import wait_until
from folders import BIN, TOP
from gated_application import Application, kill, sum_of
from inherited_environment import inherited_environment

MASTER = "local-cluster[2,1,1024]"


@pytest.fixture
def celeborn():
    with Celeborn(workers=2, chunk_size=4096) as made:
        yield made


class Client:
    """One connection to a port for data."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.stream = self.socket.makefile("rb")
        self.request = 0

    def ask(self, kind, head, body):
        self.request += 1
        self.socket.sendall(frame(kind, struct.pack(">q", self.request) + head, body))
        head_size, kind, body_size = struct.unpack(">iBi", self.stream.read(9))
        return kind, self.stream.read(head_size), self.stream.read(body_size)

    def push(self, partition, map_id, attempt, batch, data, epoch=0):
        body = struct.pack("<iiii", map_id, attempt, batch, len(data)) + data
        _, _, answer = self.ask(PUSH_DATA, b"\0" + text_of("app-0") + text_of(f"{partition}-{epoch}"), body)
        return answer[0] if answer else 0

    def message(self, number, payload):
        body = plain_message(number, payload)
        return self.ask(RPC_REQUEST, struct.pack(">i", len(body)), body)


def test_the_scripted_server_splits_sorts_and_ends(celeborn):
    first, = celeborn.register("app", 0, [0], threshold=5000)
    worker = celeborn.workers[first["worker"]]
    pusher = Client(worker.push)
    answers = [pusher.push(0, 2 - i % 3, 0, i, bytes(1000)) for i in range(6)]
    assert answers == [0, 0, 0, 0, SOFT_SPLIT, SOFT_SPLIT]
    assert celeborn.end("app", 0, [0, 0, -1]) == [[0, 0, 0, worker.index]]
    assert pusher.push(0, 0, 1, 9, b"late") == MAP_ENDED
    assert pusher.push(0, 2, 1, 9, b"late") == HARD_SPLIT
    reader = Client(worker.fetch)
    payload = bytes_field(1, "app-0") + bytes_field(2, "0-0-0") + number_field(4, 3)
    stream = Fields(read_message(reader.message(51, payload)[2])[1])
    maps = []
    for chunk in range(stream.number(2)):
        slice_ = number_field(1, stream.number(1)) + number_field(2, chunk) + number_field(4, 0x7fffffff)
        maps += [entry[0] for entry in batches_of(reader.message(63, bytes_field(1, slice_))[2])]
    assert (stream.number(2), maps) == (2, [0, 0, 1, 1, 2, 2])
    celeborn.kill(worker.index)
    assert reader.stream.read() == b""


def test_the_scripted_server_replicates_what_a_driver_reserves_and_spares_the_last_copy(celeborn):
    first, second = celeborn.workers
    primary = Location(0, 1, 0, first)
    primary.peer = Location(0, 1, 1, second)
    shuffle = bytes_field(1, "app") + number_field(2, 0)
    celeborn.call(lambda: first.reserve(Fields(shuffle + bytes_field(3, primary.encode())), Fault()))
    celeborn.call(lambda: second.reserve(Fields(shuffle + bytes_field(4, primary.peer.encode(False))), Fault()))
    assert Client(first.push).push(0, 3, 0, 0, b"abc", epoch=1) == 0
    assert sorted(celeborn.stored("app", 0)) == [[0, 1, 0, 3, 0, 0, 3], [0, 1, 1, 3, 0, 0, 3]]
    assert celeborn.kill_redundant(lambda workers: workers[0]) == first.index
    celeborn.add()
    assert celeborn.kill_redundant(lambda workers: workers[0]) is None


def conf_of(celeborn, *more):
    return ["spark.shuffle.manager=org.apache.spark.shuffle.celeborn.SparkShuffleManager",
            f"spark.celeborn.master.endpoints={celeborn.master}", "spark.celeborn.data.io.retryWait=10ms", *more]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app").mkdir()
    return tmp_path / "app"


def application(folder, celeborn, *more):
    return Application(folder, MASTER, *conf_of(celeborn, *more), allocation=False)


def submit(tmp_path, celeborn, program, *words, conf=(), status=0):
    command = [os.path.join(BIN, "spark-submit"), "--master", MASTER]
    for setting in conf_of(celeborn, *conf):
        command += ["--conf", setting]
    done = subprocess.run([*command, os.path.join(TOP, "examples", program), *map(str, words)], capture_output=True, text=True,
                          timeout=120, env={**inherited_environment("SPARK_", "MASTER"), "XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert done.returncode == status, done.stderr
    return done.stderr


def lines_of(out):
    return [line for part in sorted(out.glob("part-*")) for line in part.read_text().splitlines()]


def write_words(path, count):
    made = random.Random(5)
    lines = [" ".join(f"word{made.randrange(20000)}" for _ in range(10)) for _ in range(count)]
    path.write_text("\n".join(lines) + "\n")
    return lines


def files_of(celeborn):
    return [name for worker in celeborn.workers for name in worker.files]


def test_outputs_outlive_executors_and_end_with_the_application(celeborn, folder):
    with application(folder, celeborn) as app:
        app.until_alive(2)
        app.open_gate()
        assert app.run(f"shuffle 6 {app.gate}")[0] == sum_of(6)
        before = app.alive()
        kill(app.executors().values())
        wait_until(lambda: before <= set(app.removed()), "executors stay")
        app.until_alive(2)
        celeborn.fault(at="ChunkFetch", kind="flip", offset=60)
        assert app.run("shuffled")[0] == sum_of(6)
        assert app.tasks("ShuffleMapTask") == 6
        assert "from the primary copy again" in app.log()
    assert celeborn.counts["ApplicationLost"] == 1
    assert not files_of(celeborn)


def test_a_killed_worker_costs_nothing_with_replicas_and_the_map_stage_without(celeborn, folder, tmp_path):
    with application(folder, celeborn, "spark.celeborn.client.push.replicate.enabled=true") as app:
        app.until_alive(2)
        app.open_gate()
        assert app.run(f"shuffle 6 {app.gate}")[0] == sum_of(6)
        celeborn.kill(0)
        assert app.run("shuffled")[0] == sum_of(6)
        assert app.tasks("ShuffleMapTask") == 6
    other = tmp_path / "other"
    other.mkdir()
    with Celeborn(workers=2) as fresh, application(other, fresh) as app:
        app.until_alive(2)
        app.open_gate()
        assert app.run(f"shuffle 6 {app.gate}")[0] == sum_of(6)
        fresh.kill(0)
        assert app.run("shuffled")[0] == sum_of(6)
        assert app.tasks("ShuffleMapTask") == 12


def test_a_master_that_starts_again_keeps_the_shuffles(celeborn, folder):
    with application(folder, celeborn, "spark.celeborn.client.application.heartbeatInterval=100ms") as app:
        app.until_alive(2)
        app.open_gate()
        assert app.run(f"shuffle 6 {app.gate}")[0] == sum_of(6)
        before = app.alive()
        kill(app.executors().values())  # with their copies of the map outputs
        wait_until(lambda: before <= set(app.removed()), "executors stay")
        celeborn.forget()
        wait_until(lambda: celeborn.counts["ReviseLostShuffles"], "the shuffles are not registered again")
        celeborn.expire()
        app.until_alive(2)
        assert app.run("shuffled")[0] == sum_of(6)
        assert app.tasks("ShuffleMapTask") == 6


STREAMING = r"""
#include <firesteel/firesteel.h>
#include <stdio.h>
#include <unistd.h>

/* Emits five megabytes that cannot be compressed, waits for the gate, and leaves a mark when it ends. */
static int spread(fst_task *task, int64_t x, fst_out *out)
{
        char text[1000];
        uint32_t state = (uint32_t)x + 1;
        for (int64_t i = 0; i < 5000; i++) {
                for (size_t at = 0; at < sizeof(text); at++)
                        text[at] = (char)((state = state * 1664525 + 1013904223) >> 24);
                fst_emit(out, i * 7 + x, ((fst_bytes){text, sizeof(text)}));
        }
        while (access("GATE", F_OK) && !fst_task_interrupted(task))
                usleep(10000);
        FILE *mark = fopen(x ? "GATE.ended1" : "GATE.ended0", "w");
        return mark ? fclose(mark) : fst_fail(task, "no mark");
}

int main(void)
{
        fst_context *sc = fst_context_new("streaming");
        int64_t rows;
        fst_count(fst_partition_by(fst_flat_map(fst_range_n(sc, 0, 2, 2), spread, FST_PAIR(I64, BYTES)), 3), &rows);
        printf("rows %lld\n", (long long)rows);
        return fst_context_stop(sc);
}
"""


def test_pages_are_pushed_while_their_task_computes(celeborn, tmp_path):
    gate, source = tmp_path / "gate", tmp_path / "streaming.c"
    source.write_text(STREAMING.replace("GATE", str(gate)))
    command = [os.path.join(BIN, "spark-submit"), "--master", MASTER]
    for setting in conf_of(celeborn):
        command += ["--conf", setting]
    with subprocess.Popen([*command, source], stdout=subprocess.PIPE, text=True,
                          env={**inherited_environment("SPARK_", "MASTER"), "XDG_CACHE_HOME": str(tmp_path / "cache")}) as running:
        try:
            wait_until(lambda: celeborn.counts["PushData"] + celeborn.counts["PushMergedData"] >= 4, lambda: f"no pages come: {celeborn.counts}")
            assert not list(tmp_path.glob("gate.ended*"))
        finally:
            gate.touch()
        assert running.communicate(timeout=60)[0].split() == ["rows", "10000"] and running.returncode == 0
        assert len(list(tmp_path.glob("gate.ended*"))) == 2


def test_failed_attempts_leave_no_rows(celeborn, folder):
    with application(folder, celeborn, "spark.celeborn.client.push.revive.maxRetries=0") as app:
        app.until_alive(2)
        app.open_gate()
        celeborn.fault(at="PushMergedData", kind="close_after", times=2)
        assert app.run(f"shuffle 6 {app.gate}")[0] == sum_of(6)
        failed = [e for e in app.logged("TaskEnd") if e["Task End Reason"]["Reason"] != "Success"]
        assert failed and app.tasks("ShuffleMapTask") == 6


def test_wordcount_and_sort_with_splits(celeborn, tmp_path):
    lines = write_words(tmp_path / "in", 20000)
    words = collections.Counter(word for line in lines for word in line.split())
    for mode in ("HARD", "SOFT"):
        conf = ["spark.celeborn.client.shuffle.partitionSplit.threshold=50k", f"spark.celeborn.client.shuffle.partitionSplit.mode={mode}",
                "spark.celeborn.client.shuffle.batchHandleChangePartition.interval=5ms"]
        before = celeborn.counts["ReserveSlots"]
        submit(tmp_path, celeborn, "sort.c", tmp_path / "in", tmp_path / mode, 3, conf=conf)
        assert lines_of(tmp_path / mode) == sorted(lines)
        assert mode == "SOFT" or celeborn.counts["ReserveSlots"] > before + 2  # more than the first files at two workers
    submit(tmp_path, celeborn, "wordcount.c", tmp_path / "in", tmp_path / "counts")
    assert sorted(lines_of(tmp_path / "counts")) == sorted(f"({word},{n})" for word, n in words.items())


def test_connections_prove_the_secret_of_the_application(tmp_path):
    lines = write_words(tmp_path / "in", 3000)
    with Celeborn(workers=2, authenticate=True) as celeborn:
        submit(tmp_path, celeborn, "sort.c", tmp_path / "in", tmp_path / "out", 3, conf=["spark.celeborn.auth.enabled=true"])
        assert lines_of(tmp_path / "out") == sorted(lines)
        assert len(celeborn.secrets) == 1 and {"master", "rpc", "push", "fetch"} <= celeborn.authenticated.keys()


def test_a_refused_secret_is_named(tmp_path):
    few = ["spark.celeborn.client.registerShuffle.maxRetries=0", "spark.task.maxFailures=1"]
    write_words(tmp_path / "in", 10)
    with Celeborn(workers=2, authenticate=True) as celeborn:
        celeborn.wrong_secrets = True
        said = submit(tmp_path, celeborn, "sort.c", tmp_path / "in", tmp_path / "out", 3,
                      conf=["spark.celeborn.auth.enabled=true", *few], status=1)
        assert re.search(r"Celeborn refuses the secret of application [\w-]+: .*Mismatched response", said)
        said = submit(tmp_path, celeborn, "sort.c", tmp_path / "in", tmp_path / "out", 3, conf=few, status=1)
        assert "set spark.celeborn.auth.enabled to true" in said


@pytest.mark.parametrize("setting,problem", [
    ("spark.io.encryption.enabled=true", "spark.io.encryption.enabled is true, but Celeborn would store map outputs in the clear"),
    ("spark.celeborn.client.shuffle.dynamicResourceFactor=2", "dynamicResourceFactor is 2: set it to a share from 0 to 1"),
])
def test_settings_that_do_not_go_with_celeborn_are_refused(celeborn, tmp_path, setting, problem):
    assert problem in submit(tmp_path, celeborn, "spark_pi.c", 2, conf=[setting], status=1)
