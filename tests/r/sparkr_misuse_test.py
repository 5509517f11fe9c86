"""A client that misuses the backend of R programs, and workers that send anything: each call gets an answer, and the process lives on.

Needs no R. FIRESTEEL_MISUSE_CALLS is the number of calls (make check-r: 10,000). Any message of a sanitizer fails the tests.
"""
import os
import pathlib
import random
import re
import threading

import pytest

from folders import TOP
from sparkr_peer import Failed, Object, Session, number
from sparkr_test import OwnSession, place  # noqa: F401

CALLS = int(os.environ.get("FIRESTEEL_MISUSE_CALLS", "1500"))
THREADS = 4
ROOM = pathlib.Path(TOP) / "src" / "sparkr"

# Members that end the context, or that wait for R by design.
LEFT_OUT = {"stop", "getResult"}


def members():
    """[(class or None, name)] of the tables of members."""
    found = []
    for path in sorted(ROOM.glob("*_calls.c")):
        text = path.read_text()
        for class_name, name in re.findall(r'\.class_name =\s*("[\w.]+"|[A-Z_]+),\s*\.name =\s*"([\w<>]+)"', text):
            if not class_name.startswith('"'):
                class_name = re.search(rf'#define {class_name} ("[\w.]+")', text).group(1)
            found.append((class_name.strip('"'), name))
        found += [(None, name) for name in re.findall(r'(?:\.class = \w+, |BOTH\(|EACH\()\.name = "([\w<>]+)"', text)]
    return sorted({m for m in found if m[1] not in LEFT_OUT}, key=str)


MEMBERS = members()


def test_tables_are_read():
    names = {name for _, name in MEMBERS}
    assert len(MEMBERS) >= 100 and {"createSparkContext", "collectPartitions", "getJobTags", "_2", "setLogLevel", "persist", "id", "<init>"} <= names


class Misuse:
    """Calls members with arguments that do not fit, or that fit by chance."""

    def __init__(self, session, context, folder, seed):
        self.session, self.dice, self.objects = session, random.Random(seed), [context]
        self.texts = ["", "a", "\n", "é" * 999, "x" * 100_000, "/nowhere", f"{folder}/f{seed}", "byte", "string", "row", "-1", "0", "7", "99999999999999999999",
                      "spark.app.name", "java.util.ArrayList", "scala.Tuple2", "a,b", "%s%n%d", "../..", "hdfs://nowhere:1/x", "DISK_ONLY"]

    def argument(self, depth=0):
        dice = self.dice
        kind = dice.randrange(14 if depth < 3 else 9)
        if kind == 0:
            return None
        if kind == 1:
            return dice.choice([0, 1, 2, 3, -1, -2147483648, 2147483647, 1000000])
        if kind == 2:
            return dice.choice([0.0, 2.0, -1.5, float("nan"), float("inf"), 1e300])
        if kind == 3:
            return dice.choice([True, False])
        if kind in (4, 5):
            return dice.choice(self.texts)
        if kind == 6:
            return dice.choice([b"", b"upper", b"joined", b"first_letter", b"packages", b"\0\xff" * 50, dice.randbytes(20)])
        if kind in (7, 8):
            return dice.choice(self.objects) if dice.random() < 0.9 else Object(dice.choice(self.texts[:4] + ["-1", "123456789"]))
        if kind == 9:
            return {dice.choice(self.texts[:6]): self.argument(depth + 1) for _ in range(dice.randrange(4))}
        return [self.argument(depth + 1) for _ in range(dice.randrange(5))]

    def step(self):
        dice = self.dice
        class_name, name = dice.choice(MEMBERS)
        if dice.random() < 0.02:
            name = dice.choice(self.texts[:10])
        count = dice.choice([0, 0, 1, 1, 1, 2, 2, 3, 6, 7, 8, 20])
        static = class_name is not None
        target = class_name if static else dice.choice(self.objects)
        if name == "persist" and dice.random() < 0.5:
            target, count = dice.choice(self.objects), 1
        self.session.send(static, target, name, *[self.argument() for _ in range(count)])
        try:
            answer = self.session.answer()
        except Failed as failed:
            assert str(failed), (class_name, name)
            return
        if isinstance(answer, Object):
            self.objects.append(answer)
            if len(self.objects) > 60:
                self.session.static("SparkRHandler", "rm", str(self.objects.pop(dice.randrange(1, len(self.objects)))))


def seeds(session, context):
    """Objects of each kind, so that chance has something to call."""
    rdd = session.parallelize(context, [b"a", b"bc"])
    pairs = session.static("org.apache.spark.api.r.PairwiseRRDD", "<init>", session.call(rdd, "rdd"), 2, b"first_letter", "byte", b"packages", [], rdd)
    return [context, rdd, session.call(rdd, "rdd"), session.lapply(rdd, "upper"), pairs, session.call(pairs, "asJavaPairRDD"), session.call(rdd, "zip", rdd),
            session.call(rdd, "collect"), session.call(context, "sc"), session.call(context, "getConf"), session.call(context, "broadcast", b"v"),
            session.static("java.util.ArrayList", "<init>"), session.static("java.util.Properties", "<init>"),
            session.static("org.apache.spark.HashPartitioner", "<init>", 2), session.static("org.apache.spark.storage.StorageLevel", "DISK_ONLY"),
            session.static("org.apache.spark.sql.api.r.SQLUtils", "getOrCreateSparkSession", context, {}, False)]


def check(session, context):
    """The backend works as before."""
    rdd = session.lapply(session.parallelize(context, [b"a", b"bc"]), "upper")
    assert session.collect(rdd) == [b"A", b"BC"]


def memory_of(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) // 1024


def test_calls_of_any_kind_get_an_answer(place):  # noqa: F811
    failures = []
    with OwnSession(place, "--conf", "spark.r.backendConnectionTimeout=6000") as own:
        context = own.context()

        def run(seed):
            try:
                session = Session(own.port, own.secret)
                misuse = Misuse(session, context, place, seed)
                misuse.objects = seeds(session, context)
                for _ in range(CALLS // THREADS):
                    misuse.step()
            except BaseException as failure:  # the main thread tells
                failures.append((seed, failure))

        threads = [threading.Thread(target=run, args=(seed,)) for seed in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(1200)
        assert not any(thread.is_alive() for thread in threads), "a call has no answer"
        assert own.process.poll() is None, own.errors.read_text(errors="replace")[-4000:]
        assert not failures, failures
        check(own, context)
        assert "Sanitizer" not in own.errors.read_text(errors="replace") and "runtime error:" not in own.errors.read_text(errors="replace")
        assert memory_of(own.process) < 600, memory_of(own.process)


def test_requests_of_any_bytes_get_an_answer_or_end_their_connection(place):  # noqa: F811
    dice = random.Random(5)
    with OwnSession(place) as own:
        context = own.context()
        for i in range(200):
            session = Session(own.port, own.secret)
            body = dice.randbytes(dice.randrange(60)) if i % 2 else number(1) + number(dice.randrange(-9, 99)) + dice.randbytes(40)
            length = len(body) if i % 5 else dice.choice([-1, 2147483647, len(body) + 1])
            session.connection.sendall(number(length) + body)
            if length == len(body):
                with pytest.raises(Failed):
                    session.answer()
            session.connection.close()
        check(own, context)


def test_workers_that_send_any_bytes_fail_their_task_or_succeed(place):  # noqa: F811
    with OwnSession(place) as own:
        context = own.context()
        for seed in range(40):
            rdd = own.lapply(own.parallelize(context, [b"%d" % seed]), "sends_anything")
            try:
                own.collect(rdd)
            except Failed as failed:
                assert "Job aborted due to stage failure" in str(failed)
        check(own, context)
