"""A Py4J client that misuses the driver of Python programs: each command gets an answer, and the process lives on.

Needs no pyspark. Any message of a sanitizer fails the tests.
"""
import os
import socket
import struct
import subprocess
import threading

import pytest

from conditions import wait_until
from folders import BIN

ANSWER_SECONDS = 120

CLASSES = """org.apache.spark.SparkConf org.apache.spark.api.java.JavaSparkContext java.lang.System
java.lang.Class java.io.File
org.apache.spark.util.Utils org.apache.spark.SparkFiles org.apache.spark.api.python.PythonUtils
py4j.reflection.TypeUtil
scala.jdk.javaapi.CollectionConverters scala.collection.JavaConverters org.apache.spark.storage.StorageLevel
org.apache.spark.api.python.BytesToString org.apache.log4j.Level org.apache.log4j.LogManager
org.apache.spark.api.java.JavaDoubleRDD org.apache.spark.api.python.SerDeUtil
org.apache.spark.resource.ExecutorResourceRequests org.apache.spark.resource.TaskResourceRequests
org.apache.spark.resource.ResourceProfileBuilder org.apache.spark.api.python.PythonParallelizeServer
org.apache.spark.api.python.PythonRDD org.apache.spark.api.python.PairwiseRDD
org.apache.spark.api.python.SimplePythonFunction org.apache.spark.api.python.PythonPartitioner
org.apache.spark.api.python.PythonAccumulatorV2 java.util.ArrayList java.util.HashMap java.util.HashSet scala.Tuple2
java.lang.Object dev.firesteel.Native""".split()

# Members that end the context, or that wait for Python by design.
LEFT_OUT = {"stop", "close", "getResult", "waitTillDataReceived"}


class Client:
    """One connection. A value is a part as on the wire: "i7", "sx", "ro3"."""
    def __init__(self, gateway, secret=None):
        self.socket = socket.create_connection(("127.0.0.1", gateway.port), timeout=ANSWER_SECONDS)
        self.file = self.socket.makefile("rb")
        self.send("A", secret or gateway.secret)
        self.greeting = self.file.readline()

    def send(self, *lines):
        self.socket.sendall("".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape"))

    def answer(self):
        line = self.file.readline()
        assert line.startswith((b"!y", b"!x")) and line.endswith(b"\n"), line[:200]
        return line[1:-1].decode("utf-8", "replace")

    def ask(self, *lines):
        self.send(*lines, "e")
        return self.answer()

    def call(self, target, member, *values):
        return self.ask("c", target, member, *values)

    def new(self, name, *values):
        return self.made(self.ask("i", name, *values))

    def made(self, answer):
        """The id of an object, which may be an exception."""
        assert answer[2:3] == "o", answer
        return answer[2:]

    def members(self, kind, name):
        """The names that tab completion shows: of the object (m) or the class (s) @name."""
        answer = self.ask("d", kind, name)
        assert answer.startswith("ys"), answer
        return sorted({word for word in answer[2:].split("\\n") if word} - LEFT_OUT)

    def close(self):
        self.file.close()
        self.socket.close()


class Gateway:
    """The program as pyspark starts it."""
    def __init__(self, place):
        self.place = place
        info = place / "info"
        self.errors = open(place / "errors", "wb")
        names = {key: value for key, value in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))}
        self.process = subprocess.Popen(
            [f"{BIN}/spark-submit", "--conf", "spark.ui.enabled=false", "--conf", "spark.master=local[2]",
             "--conf", "spark.app.name=misuse", "--conf", "spark.python.authenticate.socketTimeout=1s",
             "pyspark-shell"], stdin=subprocess.PIPE, stdout=self.errors, stderr=self.errors, cwd=place,
            env=names | {"_PYSPARK_DRIVER_CONN_INFO_PATH": str(info), "TMPDIR": str(place)})
        wait_until(lambda: info.exists() or self.process.poll() is not None, "the gateway's port")
        data = info.read_bytes()
        self.port, length = struct.unpack(">ii", data[:8])
        self.secret = data[8:8 + length].decode()

    def log(self):
        return (self.place / "errors").read_text(errors="replace")

    def check(self):
        """The process lives and answers, and no sanitizer has complained."""
        assert self.process.poll() is None, self.log()[-4000:]
        client = Client(self)
        assert client.call("z:java.lang.System", "getProperty", "sfile.separator") == "ys/"
        client.close()
        for mark in ("AddressSanitizer", "runtime error:", "ThreadSanitizer"):
            assert mark not in self.log(), self.log()[-8000:]

    def context(self, client):
        return client.new("org.apache.spark.api.java.JavaSparkContext", "r" + client.new("org.apache.spark.SparkConf"))

    def frames(self, n):
        path = self.place / "frames"
        path.write_bytes(b"".join(struct.pack(">i", 4) + b"N.\x00\x00" for _ in range(n)))
        return f"s{path}"

    def end(self):
        """Python's end is the end of standard input."""
        children = self.children()
        self.process.stdin.close()
        status = self.process.wait(timeout=ANSWER_SECONDS)
        self.errors.close()
        wait_until(lambda: not any(os.path.exists(f"/proc/{child}") for child in children), "the children's end")
        return status

    def children(self):
        path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        with open(path, encoding="ascii") as file:
            return file.read().split()


@pytest.fixture
def gateway(tmp_path):
    started = Gateway(tmp_path)
    yield started
    if started.process.poll() is None:
        started.check()
        assert started.end() == 0, started.log()[-4000:]
        assert "Sanitizer" not in started.log(), started.log()[-8000:]


def python_rdd(client, sc, frames):
    """An RDD of each class, and what they are made of."""
    python = "z:org.apache.spark.api.python.PythonRDD"
    accumulator = client.new("org.apache.spark.api.python.PythonAccumulatorV2", "s127.0.0.1", "i1", "sx")
    function = client.new("org.apache.spark.api.python.SimplePythonFunction", "jAAAA",
                          "r" + client.new("java.util.HashMap"), "r" + client.new("java.util.ArrayList"),
                          "s/bin/false", "s3.11", "r" + client.new("java.util.ArrayList"), "r" + accumulator)
    rdd = client.made(client.call(python, "readRDDFromFile", "r" + sc, frames, "i2"))
    computed = client.new("org.apache.spark.api.python.PythonRDD", "r" + rdd, "r" + function, "bfalse")
    pairs = client.new("org.apache.spark.api.python.PairwiseRDD", "r" + rdd)
    return [accumulator, function, rdd, computed, pairs]


def objects(gateway, client, sc):
    """One object of each class."""
    frames = gateway.frames(6)
    names = ("org.apache.spark.SparkConf", "java.util.ArrayList", "java.util.HashMap", "java.util.HashSet",
             "org.apache.spark.api.python.BytesToString", "org.apache.spark.resource.ExecutorResourceRequests",
             "org.apache.spark.resource.TaskResourceRequests", "org.apache.spark.resource.ResourceProfileBuilder")
    found = [sc] + [client.new(name) for name in names] + python_rdd(client, sc, frames)
    rdd = found[-3]
    listed = client.new("java.util.ArrayList")
    client.call(listed, "add", "sx")
    found += [
        client.new("org.apache.spark.api.python.PythonPartitioner", "i3", "L7"),
        client.new("scala.Tuple2", "i1", "n"),
        client.new("org.apache.spark.storage.StorageLevel", "btrue", "btrue", "bfalse", "bfalse", "i1"),
        client.made(client.ask("a", "c", "java.lang.Object", "i3")),
        client.made(client.call(listed, "iterator")),
        client.made(client.call(sc, "getCheckpointDir")),
        client.made(client.call(sc, "statusTracker")),
        client.made(client.call(found[1], "get", "sno.such.key")),  # an exception
        client.made(client.call(rdd, "getClass")),
        client.made(client.call("z:java.lang.Class", "forName", "sjava.x")),
        client.made(client.call("z:org.apache.log4j.LogManager", "getRootLogger")),
        client.made(client.ask("r", "m", "org.apache.log4j.Level", "WARN")),
        client.made(client.call("z:org.apache.spark.util.Utils", "createTempDir")),
        client.made(client.call("z:org.apache.spark.api.python.PythonRDD", "setupBroadcast", frames)),
        client.made(client.call(found[8], "build")),
        client.made(client.call("z:org.apache.spark.api.java.JavaDoubleRDD", "fromRDD", "r" + rdd)),
    ]
    variable = client.made(client.call(sc, "broadcast", "r" + found[-3]))
    return found + [variable]


def values(ids):
    """Lists of arguments of every type, count and extreme."""
    single = ["n", "btrue", "i0", "i-1", "i2147483647", "L-9223372036854775808", "L9223372036854775807", "dNaN",
              "d-1e308", "D1e999", "s", "sx", "s\x00a\x00", "s" + "y" * 5000, "jAAAA", "j", "fp0;x;y"]
    lists = [[]] + [[value] for value in single] + [["r" + one] for one in ids]
    lists += [[a, b] for a in ("n", "i-1", "sx", "r" + ids[0], "r" + ids[-1])
              for b in ("n", "i2147483647", "sx", "dNaN")]
    return lists + [["n"] * 3, ["sx"] * 3, ["i-1"] * 3, ["r" + ids[0], "sx", "i-1"], ["r" + ids[0], "n", "n"],
                    ["btrue"] * 4 + ["i-1"], ["n"] * 7, ["sx"] * 9, ["r" + ids[1]] * 9]


def test_every_member_answers_every_kind_of_argument(gateway):
    client = Client(gateway)
    sc = gateway.context(client)
    ids = objects(gateway, client, sc)
    calls = 0
    for arguments in values(ids):
        for name in CLASSES:
            for member in client.members("s", name):
                client.call("z:" + name, member, *arguments)
            if name != "org.apache.spark.api.java.JavaSparkContext":
                client.ask("i", name, *arguments)
            calls += 1
        for one in ids:
            for member in client.members("m", one):
                client.call(one, member, *arguments)
                calls += 1
    assert calls > 10000
    gateway.check()
    client.call(sc, "stop")
    for one in ids:  # the same objects without their context
        for member in client.members("m", one):
            client.call(one, member)
            client.call(one, member, "r" + ids[0])
    client.close()


@pytest.mark.parametrize("stopped", [False, True], ids=["running", "stopped"])
def test_commands_that_are_none_get_an_error(gateway, stopped):
    client = Client(gateway)
    sc = gateway.context(client)
    if stopped:
        client.call(sc, "stop")
    for lines in (["c", "o99999999999999999999999", "x"], ["c", "", ""], ["c", sc, "\x00"], ["c", sc, "x", "z1"],
                  ["c", sc, "x", "i99999999999"], ["c", sc, "x", "i"], ["c", sc, "x", "L99999999999999999999"],
                  ["c", sc, "x", "dx"], ["c", sc, "x", "j%%%"], ["c", sc, "x", "r"], ["c", sc, "x", "ro999999"],
                  ["i", "no.such.Class"], ["i", ""], ["i", "org.apache.spark.sql.SparkSession"], ["p"], ["p", "n"],
                  ["p", "r" + sc], ["p", "p"], ["a", "c", "X", "i-1"], ["a", "c", "X", "i2147483647"],
                  ["a", "g", sc, "i0"],
                  ["a", "g", "", "i-1"], ["a", "e", "o0"], ["l", "l", sc, "i1"], ["l", "s", sc], ["a", "z", sc],
                  ["r", "m", "", ""], ["r", "z", "a", "b"], ["f", "g", sc, "x"], ["j", "x"], ["h", "o", sc], ["z"],
                  ["c", sc, "setLogLevel", *["sx"] * 70000]):
        own = Client(gateway)  # which may be closed after an error of the protocol
        assert own.ask(*lines)[0] in "xy", lines
        own.close()
    for noise in ("longer than a letter", "", "é"):
        own = Client(gateway)
        own.send(noise)
        assert own.answer()[0] == "x"
        own.close()
    assert client.ask("m", "d", "o99999") == "yv"  # an id that nobody has
    assert client.call("z:java.lang.System", "setProperty", "sa\x00b", "sc\x00d")[0] == "y"
    client.close()


def test_collections_nest_deeply_and_contain_themselves(gateway):
    client = Client(gateway)
    outer = last = client.new("java.util.ArrayList")
    for _ in range(3000):  # into the innermost, which sees no depth
        inner = client.new("java.util.ArrayList")
        assert client.call(last, "add", "r" + inner) == "ybtrue"
        if last != outer:
            client.ask("m", "d", last)
        last = inner
    assert client.call(outer, "toString").startswith("ys[[[[")
    assert client.call(outer, "add", "r" + outer)[0] == "x"
    assert client.ask("m", "d", last) == client.ask("m", "d", outer) == "yv"  # frees 3,000 lists in one another
    gateway.check()
    last = client.new("java.util.ArrayList")
    wide = last
    for _ in range(20):
        inner = client.new("java.util.ArrayList")
        for _ in range(10):
            client.call(last, "add", "r" + inner)
        last = inner
    assert len(client.call(wide, "toString")) < 4 << 20  # not 10 to the power of 16
    client.close()


def test_connections_change_and_release_what_others_use(gateway):
    client = Client(gateway)
    sc = gateway.context(client)
    shared, failures = client.new("java.util.ArrayList"), []
    array = client.made(client.ask("a", "c", "java.lang.Object", "i1"))
    rdd = client.made(client.call("z:org.apache.spark.api.python.PythonRDD", "readRDDFromFile", "r" + sc,
                                  gateway.frames(4), "i2"))

    def repeat(action):
        own = Client(gateway)
        try:
            for i in range(300):
                action(own, i)
        except (AssertionError, OSError) as error:
            failures.append(error)
        own.close()

    def release_made(own, _):
        made = int(own.new("java.util.HashMap")[1:])
        for guess in range(made, made + 8):  # of other connections, too
            own.ask("m", "d", f"o{guess}")

    python = "z:org.apache.spark.api.python.PythonRDD"
    actions = [lambda own, i: own.call(shared, "add", f"s{i}"), lambda own, _: own.call(shared, "clear"),
               lambda own, _: own.call(shared, "toString"), lambda own, i: own.ask("a", "s", array, "i0", f"s{i}"),
               lambda own, _: own.ask("a", "g", array, "i0"), release_made,
               lambda own, _: own.call(python, "runJob", "r" + sc, "r" + rdd, "r" + shared),
               lambda own, _: own.call(sc, "union", "r" + array), lambda own, _: own.call(rdd, "toDebugString"),
               lambda own, i: own.call(rdd, "setName", f"s{i}"), lambda own, _: own.call(rdd, "name"),
               lambda own, i: own.call(sc, "setCheckpointDir", f"s{gateway.place}/{i % 3}"),
               lambda own, _: own.call(sc, "getCheckpointDir")]
    threads = [threading.Thread(target=repeat, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    client.close()


def test_context_stops_while_connections_use_it(gateway):
    for _ in range(3):
        client = Client(gateway)
        sc = gateway.context(client)
        tracker = client.made(client.call(sc, "statusTracker"))
        rdd = python_rdd(client, sc, gateway.frames(50))[2]
        stopped, failures, begun = threading.Event(), [], []

        def use(target, member, *arguments):
            own = Client(gateway)
            try:
                while not stopped.is_set():
                    own.call(target, member, *arguments)
                    begun.append(member)
            except (AssertionError, OSError) as error:
                failures.append(error)
            own.close()

        uses = [(tracker, "getActiveJobIds"), (tracker, "getJobInfo", "i0"), (sc, "defaultParallelism"),
                (rdd, "toDebugString"), (sc, "textFile", "sframes"), ("z:org.apache.spark.SparkFiles", "get", "sx"),
                ("z:org.apache.spark.api.python.PythonRDD", "collectAndServe", "r" + rdd)]
        threads = [threading.Thread(target=use, args=arguments) for arguments in uses]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(set(begun)) == len(uses), "a call of each kind")
        assert client.call(sc, "stop") == "yv"
        stopped.set()
        for thread in threads:
            thread.join()
        assert not failures, failures
        assert "stopped SparkContext" in client.ask("p", client.call(sc, "applicationId")[1:])
        assert client.ask("a", "e", client.made(client.call(tracker, "getActiveJobIds"))) == "yi0"
        assert client.call(tracker, "getJobInfo", "i0") == "yn"
        assert "was given a context" not in gateway.log()
        client.close()
        gateway.check()


def test_extreme_numbers_of_partitions_get_an_error(gateway):
    client = Client(gateway)
    sc = gateway.context(client)
    python = "z:org.apache.spark.api.python.PythonRDD"
    frames = gateway.frames(4)
    rdd = client.made(client.call(python, "readRDDFromFile", "r" + sc, frames, "i2"))
    pairs = client.new("org.apache.spark.api.python.PairwiseRDD", "r" + rdd)
    for n in ("i2147483647", "i-1", "i-2147483648", "L9223372036854775807"):
        made = [client.call(python, "readRDDFromFile", "r" + sc, frames, n), client.call(rdd, "coalesce", n, "btrue")]
        partitioner = client.new("org.apache.spark.api.python.PythonPartitioner", n, "L1")
        made.append(client.call(pairs, "partitionBy", "r" + partitioner))
        for answer in made:  # an RDD whose partitions nobody can list, or an exception
            one = client.made(answer)
            assert answer[0] == "x" or client.call(one, "partitions")[0] == "x"
    client.close()


def test_sockets_without_a_client_close_in_time(gateway):
    client = Client(gateway)
    sc = gateway.context(client)
    rdd = client.made(client.call("z:org.apache.spark.api.python.PythonRDD", "readRDDFromFile", "r" + sc,
                                  gateway.frames(4), "i2"))
    python = "z:org.apache.spark.api.python.PythonRDD"
    count = lambda: len(os.listdir(f"/proc/{gateway.process.pid}/fd"))
    client.call(python, "collectAndServe", "r" + rdd)
    before = count()
    for _ in range(20):
        client.call(python, "collectAndServe", "r" + rdd)
        client.call(python, "toLocalIteratorAndServe", "r" + rdd, "btrue")
    wait_until(lambda: count() <= before, "the sockets' end")
    variable = client.made(client.call(python, "setupBroadcast", "sx"))
    client.call(variable, "setupEncryptionServer")
    assert client.call(variable, "setupEncryptionServer")[0] == "x"
    assert client.ask("m", "d", variable) == "yv"  # waits for nobody
    wait_until(lambda: count() <= before, "the stream's end")
    client.close()


def test_connection_that_reads_nothing_holds_up_no_other(gateway):
    client = Client(gateway)
    client.call("z:java.lang.System", "setProperty", "slong", "s" + "x" * 1000000)
    stalled = Client(gateway)
    for _ in range(60):
        stalled.send("c", "z:java.lang.System", "getProperty", "slong", "e")
    assert client.call("z:java.lang.System", "getProperty", "slong")[2:] == "x" * 1000000
    gateway.check()
    stalled.close()
    assert b"!x" in Client(gateway, secret="0" * 64).greeting
    half = socket.create_connection(("127.0.0.1", gateway.port))
    half.sendall(b"A\nhalf")
    gateway.check()
    half.close()
    client.close()
