"""HTTP of Mesos's v1 API: a call in a POST, events as records of an answer that goes on."""
import collections
import os
import select
import struct

from local_server import QuietHandler
from mesos.wire import JSON, PROTOBUF, read_body, record

KINDS = (JSON, PROTOBUF)


class Stream:
    """The events for one subscriber. Any thread sends and closes; the thread of its request writes."""

    def __init__(self, kind, message, piece=0):
        self.kind, self.message, self.piece = kind, message, piece  # piece: bytes of a chunk at most; 0: a record in one chunk
        self.chunks, self.ended = collections.deque(), False
        self.wake_read, self.wake = os.pipe()

    def send(self, event):
        self.send_bytes(record(self.kind, self.message, event))

    def send_bytes(self, data):
        if self.ended:
            return
        step = self.piece or len(data)
        self.chunks.extend(data[at:at + step] for at in range(0, len(data), step))
        os.write(self.wake, b"+")

    def close(self):
        """Ends the answer after what was sent."""
        if not self.ended:
            self.ended = True
            os.write(self.wake, b".")

    def write_to(self, connection):
        """Writes chunks until the stream is closed or the client has gone."""
        try:
            while True:
                while self.chunks:
                    data = self.chunks.popleft()
                    connection.sendall(b"%x\r\n" % len(data) + data + b"\r\n")
                if self.ended:
                    connection.sendall(b"0\r\n\r\n")
                    return
                readable, _, _ = select.select([connection, self.wake_read], [], [])
                if connection in readable:
                    return  # subscribers send nothing more
                os.read(self.wake_read, 1 << 16)
        except OSError:
            pass

    def free(self):
        self.ended = True
        os.close(self.wake)
        os.close(self.wake_read)


class ApiHandler(QuietHandler):
    """A request of the API. `answer` and `stream` finish it."""
    disable_nagle_algorithm = True

    def answer(self, status, text="", **headers):
        data = text.encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def read_call(self, name, what):
        """Returns the call of the request, or None after an answer that refuses it. @what is its name in answers."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kind = self.headers.get("Content-Type", "").partition(";")[0]
        if kind not in KINDS:
            self.answer(415, f"Expecting 'Content-Type' of {' or '.join(KINDS)}")
            return None
        if self.accepted() is None:
            self.answer(406, f"Expecting 'Accept' to allow {' or '.join(KINDS)}")
            return None
        try:
            call = read_body(kind, name, body)
        except (ValueError, IndexError, struct.error) as e:
            self.answer(400, f"Failed to parse body into {'JSON' if kind == JSON else 'Call protobuf'}: {e}")
            return None
        if "type" not in call:
            self.answer(400, f"Failed to validate {what}: Expecting 'type' to be present")
            return None
        return call

    def accepted(self):
        """Returns the type of the answer that the client takes, or None."""
        accept = self.headers.get("Accept", "*/*")
        return next((kind for kind in KINDS if kind in accept or "*/*" in accept), None)

    def stream(self, stream, **headers):
        """Answers with @stream, until it ends."""
        self.close_connection = True
        try:
            self.send_response(200)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Type", stream.kind)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
        except OSError:
            return
        stream.write_to(self.connection)
