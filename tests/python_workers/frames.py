"""RDDs of Python through the C interface, with genuine pyspark's pickles and workers but without its driver.

A program imports this module in the interpreter that has pyspark. FIRESTEEL_LIBRARY is libfiresteel.so.
"""
import ctypes
import os
import socket
import struct
import sys
import tempfile

from pyspark.serializers import AutoBatchedSerializer, BatchedSerializer, CloudPickleSerializer, CPickleSerializer

LIBRARY = ctypes.CDLL(os.environ["FIRESTEEL_LIBRARY"], mode=ctypes.RTLD_GLOBAL)
POINTER = ctypes.c_void_p
ROWS = AutoBatchedSerializer(CPickleSerializer())


class Site(ctypes.Structure):
    _fields_ = [("operation", ctypes.c_char_p), ("file", ctypes.c_char_p), ("line", ctypes.c_int)]


class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Broadcast(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int64), ("size", ctypes.c_uint64)]


class Accumulator(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int64), ("kind", ctypes.c_uint32), ("size", ctypes.c_uint32)]


class Function(ctypes.Structure):
    _fields_ = [("command", Bytes), ("environment", ctypes.POINTER(ctypes.c_char_p)),
                ("includes", ctypes.POINTER(ctypes.c_char_p)), ("exec", ctypes.c_char_p), ("version", ctypes.c_char_p),
                ("package_path", ctypes.c_char_p), ("broadcasts", ctypes.POINTER(Broadcast)),
                ("n_broadcasts", ctypes.c_size_t), ("accumulator", Accumulator)]


RECEIVE = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, ctypes.POINTER(Bytes), ctypes.c_size_t)

for name, result, arguments in [
        ("fst_conf_new", POINTER, []), ("fst_conf_set", None, [POINTER, ctypes.c_char_p, ctypes.c_char_p]),
        ("fst_context_new_conf_at", POINTER, [POINTER, Site]), ("fst_context_stop", ctypes.c_int, [POINTER]),
        ("fst_frames_from_file_at", POINTER, [POINTER, ctypes.c_char_p, ctypes.c_int, Site]),
        ("fst_python_rdd_at", POINTER, [POINTER, ctypes.POINTER(Function), ctypes.c_size_t, ctypes.c_bool, ctypes.c_bool,
                                        Site]),
        ("fst_serve_rows_at", ctypes.c_int, [POINTER, POINTER, ctypes.c_size_t, ctypes.POINTER(POINTER), Site]),
        ("fst_served_port", ctypes.c_int, [POINTER]), ("fst_served_secret", ctypes.c_char_p, [POINTER]),
        ("fst_served_path", ctypes.c_char_p, [POINTER]), ("fst_served_release", None, [POINTER]),
        ("fst_broadcast_file", Broadcast, [POINTER, ctypes.c_char_p]),
        ("fst_accumulator_list", Accumulator, [POINTER, ctypes.c_char_p, RECEIVE, POINTER]),
        ("fst_add_file", ctypes.c_int, [POINTER, ctypes.c_char_p])]:
    getattr(LIBRARY, name).restype = result
    getattr(LIBRARY, name).argtypes = arguments


def site(operation):
    return Site(operation.encode(), b"program.py", 1)


def strings(words):
    return ctypes.cast((ctypes.c_char_p * (len(words) + 1))(*[w.encode() for w in words], None),
                       ctypes.POINTER(ctypes.c_char_p))


class Context:
    """A context, and what its functions of Python have."""

    def __init__(self, master, **settings):
        conf = LIBRARY.fst_conf_new()
        for key, value in {"spark.master": master, "spark.app.name": "test", "spark.log.level": "ERROR",
                           **settings}.items():
            LIBRARY.fst_conf_set(conf, key.encode(), value.encode())
        self.context = LIBRARY.fst_context_new_conf_at(conf, site("context"))
        self.accumulator, self.broadcasts, self.includes = Accumulator(), [], []
        self.updates = []  # one list of pickles for each task
        self.receive = RECEIVE(self.on_updates)

    def on_updates(self, _data, blobs, n):
        self.updates.append([ctypes.string_at(blobs[i].data, blobs[i].len) for i in range(n)])
        return 0

    def accumulate(self):
        self.accumulator = LIBRARY.fst_accumulator_list(self.context, b"updates", self.receive, None)

    def broadcast(self, value):
        with tempfile.NamedTemporaryFile() as file:
            file.write(CPickleSerializer().dumps(value))
            file.flush()
            self.broadcasts.append(LIBRARY.fst_broadcast_file(self.context, file.name.encode()))
        return self.broadcasts[-1].id

    def add_file(self, path):
        assert LIBRARY.fst_add_file(self.context, str(path).encode()) == 0

    def parallelize(self, rows, slices):
        with tempfile.NamedTemporaryFile() as file:
            BatchedSerializer(CPickleSerializer(), 1).dump_stream(iter(rows), file)
            file.flush()
            return LIBRARY.fst_frames_from_file_at(self.context, file.name.encode(), slices, site("parallelize"))

    def map(self, rdd, function, barrier=False):
        """The RDD that function(index, iterator) makes of each partition."""
        command = CloudPickleSerializer().dumps((function, None, BatchedSerializer(CPickleSerializer()), ROWS))
        broadcasts = (Broadcast * max(1, len(self.broadcasts)))(*self.broadcasts)
        f = Function(Bytes(ctypes.cast(ctypes.c_char_p(command), POINTER), len(command)), strings(["PYTHONHASHSEED=0"]),
                     strings(self.includes), sys.executable.encode(), b"%d.%d" % sys.version_info[:2], None,
                     ctypes.cast(broadcasts, ctypes.POINTER(Broadcast)), len(self.broadcasts), self.accumulator)
        return LIBRARY.fst_python_rdd_at(rdd, ctypes.byref(f), ctypes.sizeof(f), False, barrier, site("python"))

    def collect(self, rdd):
        """The rows, or the status of the job if that failed."""
        served = POINTER()
        status = LIBRARY.fst_serve_rows_at(rdd, None, 0, ctypes.byref(served), site("collect"))
        if status:
            return status
        path = LIBRARY.fst_served_path(served)
        if path:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(path)
            stream = connection.makefile("rb")
        else:
            connection = socket.create_connection(("127.0.0.1", LIBRARY.fst_served_port(served)))
            secret = LIBRARY.fst_served_secret(served)
            connection.sendall(struct.pack(">i", len(secret)) + secret)
            stream = connection.makefile("rb")
            assert stream.read(6) == b"\0\0\0\2ok"
        rows = list(ROWS.load_stream(stream))
        connection.close()
        LIBRARY.fst_served_release(served)
        return rows

    def stop(self):
        LIBRARY.fst_context_stop(self.context)
