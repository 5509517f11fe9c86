#!/usr/bin/env python3
"""Stands in for R in tests: the program Rscript with SparkR's protocols, in Python.

As a program it is what spark.r.command names. With a script of SparkR (daemon.R, worker.R) it is the daemon or a worker, whose
functions are the names of functions below. With any other file it runs that file as Python, which imports this module and
calls the backend by Session.
"""
import os
import random
import runpy
import signal
import socket
import struct
import sys
import time


def number(x):
    return struct.pack(">i", x)


def string(text):
    data = text.encode() + b"\0"
    return number(len(data)) + data


def exactly(connection, size):
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError(f"{len(data)} of {size} bytes")
        data += part
    return data


def read_number(connection):
    return struct.unpack(">i", exactly(connection, 4))[0]


def read_blob(connection):
    return exactly(connection, read_number(connection))


def connect(port, secret):
    """Opens a connection and proves to know the secret."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=120)
    connection.sendall(string(secret))
    answer = read_blob(connection).rstrip(b"\0")
    if answer != b"ok":
        raise PermissionError(answer.decode())
    return connection


# ------------------------------------------------------------------------------------------------------- the worker

def upper(partition, rows):
    return [row.upper() for row in rows]


def numbered(partition, rows):
    return [b"%d:%s" % (partition, row) for row in rows]


def lengths(partition, rows):
    return [str(len(row)) for row in rows]


def joined(partition, rows):
    return [b"+".join(sorted(rows))]


def first_letter(row):
    return row[0]


def reads_broadcast(partition, rows):
    return [row + b"/" + value for row in rows for _, value in sorted(BROADCASTS.items())]


def reads_file(partition, rows):
    with open(os.path.join(os.environ["SPARKR_SPARKFILES_ROOT_DIR"], "added.txt"), "rb") as added:
        return [row + b"/" + added.read().strip() for row in rows]


def sends_anything(partition, rows):
    """Sends valid items and random bytes in an order that the row decides, and ends, with or without a status."""
    dice = random.Random(rows[0])
    parts = [number(3) + b"abc", number(0), number(-1) + bytes(48), number(2147483647), number(-9), dice.randbytes(7), b"", number(1 << 20) + b"x" * 100]
    OUT.sendall(b"".join(dice.choice(parts) for _ in range(dice.randrange(6))))
    if dice.random() < 0.3:
        os.kill(os.getpid(), 9)
    os._exit(dice.randrange(2))


def library(partition, rows):
    return [os.path.basename(os.environ["SPARKR_RLIBDIR"]).encode() for _ in rows]


def fails(partition, rows):
    print("Error in f(x) : this function fails", file=sys.stderr, flush=True)
    os._exit(1)


def sends_garbage(partition, rows):
    OUT.sendall(number(-7))
    return []


def waits(partition, rows):
    """Writes its process id, and waits for the file "go" beside it."""
    folder = rows[0].decode()
    with open(os.path.join(folder, "pid.new"), "w", encoding="ascii") as pid:
        pid.write(str(os.getpid()))
    os.rename(os.path.join(folder, "pid.new"), os.path.join(folder, "pid"))
    while not os.path.exists(os.path.join(folder, "go")):
        time.sleep(0.02)
    return rows


BROADCASTS = {}
OUT = None


def read_all(connection):
    data = b""
    while part := connection.recv(65536):
        data += part
    return data


def rows_of(data, form):
    if form == "string":
        return data.splitlines()
    rows = []
    while data:
        size = struct.unpack(">i", data[:4])[0]
        rows.append(data[4:4 + size])
        data = data[4 + size:]
    return rows


def work(port, secret):
    global OUT
    came = connect(port, secret)
    OUT = connect(port, secret)
    partition = read_number(came)
    forms = [read_blob(came).rstrip(b"\0").decode() for _ in range(2)]
    assert read_blob(came) == b"packages"
    function = globals()[read_blob(came).decode()]
    for _ in range(read_number(came)):
        key = read_number(came)
        BROADCASTS[key] = read_blob(came)
    buckets = read_number(came)
    assert read_number(came) == 0, "only RDDs"
    rows = rows_of(read_all(came), forms[0]) if read_number(came) else []
    if buckets < 0:
        for row in function(partition, rows):
            OUT.sendall(string(row) if forms[1] == "string" else number(len(row)) + row)
    else:
        by_bucket = {}
        for row in rows:
            by_bucket.setdefault(function(row) % buckets, []).append(row)
        for bucket, some in by_bucket.items():
            content = b",".join(some)
            OUT.sendall(number(2) + number(bucket) + number(len(content)) + content)
    OUT.sendall(number(-1) + struct.pack(">6d", time.time(), 0, 0, 0, 0, 0) + number(0))


def daemon(port, secret):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    orders = connect(port, secret)
    orders.settimeout(None)
    while True:
        try:
            worker_port = read_number(orders)
        except EOFError:
            sys.exit(0)
        if os.fork() == 0:
            orders.close()
            work(worker_port, secret)
            os._exit(0)


# ------------------------------------------------------------------------------------------------------- the program

class Failed(Exception):
    """What R shows as an error."""


class Object(str):
    """An id."""


def value(x):
    """A typed value as SparkR writes it."""
    if x is None:
        return b"n"
    if isinstance(x, bool):
        return b"b" + number(x)
    if isinstance(x, int):
        return b"i" + number(x)
    if isinstance(x, float):
        return b"d" + struct.pack(">d", x)
    if isinstance(x, Object):
        return b"j" + string(x)
    if isinstance(x, str):
        return b"c" + string(x)
    if isinstance(x, bytes):
        return b"r" + number(len(x)) + x
    if isinstance(x, dict):
        names = b"c" + number(len(x)) + b"".join(string(name) for name in x)
        return b"e" + number(len(x)) + (names + number(len(x)) + b"".join(map(value, x.values())) if x else b"")
    kinds = {value(item)[:1] for item in x}
    if len(kinds) > 1:
        return b"l" + number(len(x)) + b"".join(map(value, x))
    return b"a" + (kinds.pop() if kinds else b"c") + number(len(x)) + b"".join(value(item)[1:] for item in x)


class Session:
    """A connection to the backend."""

    def __init__(self, port=None, secret=None):
        self.port = port or int(os.environ["EXISTING_SPARKR_BACKEND_PORT"])
        self.secret = secret or os.environ["SPARKR_BACKEND_AUTH_SECRET"]
        self.connection = connect(self.port, self.secret)
        self.waiting = lambda: None  # called for each sign of life

    def send(self, static, target, member, *arguments):
        body = number(static) + string(target) + string(member) + number(len(arguments)) + b"".join(map(value, arguments))
        self.connection.sendall(number(len(body)) + body)

    def answer(self):
        while (status := read_number(self.connection)) == 1:
            self.waiting()
        if status < 0:
            raise Failed(read_blob(self.connection).decode())
        return self.read_value(exactly(self.connection, 1))

    def read_value(self, kind):
        c = self.connection
        if kind == b"n":
            return None
        if kind == b"i":
            return read_number(c)
        if kind == b"b":
            return bool(read_number(c))
        if kind in (b"d", b"t"):
            return struct.unpack(">d", exactly(c, 8))[0]
        if kind in (b"c", b"D"):
            return read_blob(c).decode()
        if kind == b"j":
            return Object(read_blob(c).decode())
        if kind == b"r":
            return read_blob(c)
        if kind == b"a":
            of, n = exactly(c, 1), read_number(c)
            return [self.read_value(of) for _ in range(n)]
        if kind == b"l":
            return [self.read_value(exactly(c, 1)) for _ in range(read_number(c))]
        assert kind == b"e", kind
        return {read_blob(c).decode(): self.read_value(exactly(c, 1)) for _ in range(read_number(c))}

    def static(self, target, member, *arguments):
        self.send(1, target, member, *arguments)
        return self.answer()

    def call(self, target, member, *arguments):
        self.send(0, target, member, *arguments)
        return self.answer()

    def context(self, master="", **settings):
        settings = {name.replace("_", "."): setting for name, setting in settings.items()}
        return self.static("org.apache.spark.api.r.RRDD", "createSparkContext", master, "peer", "", [], settings,
                           {"LD_LIBRARY_PATH": "$LD_LIBRARY_PATH:"})

    def parallelize(self, sc, rows):
        return self.static("org.apache.spark.api.r.RRDD", "createRDDFromArray", sc, rows)

    def lapply(self, rdd, function, form="byte", broadcasts=()):
        made = self.static("org.apache.spark.api.r.RRDD", "<init>", self.call(rdd, "rdd"), function.encode(), form, "byte",
                           b"packages", list(broadcasts), self.call(rdd, "classTag"))
        return self.call(made, "asJavaRDD")

    def rows(self, listed):
        return [self.call(listed, "get", i) for i in range(self.call(listed, "size"))]

    def collect(self, rdd):
        return self.rows(self.call(rdd, "collect"))


def main():
    words = sys.argv[1:]
    if words[0] == "--vanilla":
        words = words[1:]
    name = os.path.basename(words[0])
    port, secret = os.environ.get("SPARKR_WORKER_PORT"), os.environ.get("SPARKR_WORKER_SECRET")
    if name == "daemon.R":
        daemon(int(port), secret)
    elif name == "worker.R":
        work(int(port), secret)
    else:
        sys.argv = words
        sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main()
