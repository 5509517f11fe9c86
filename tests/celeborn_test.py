"""A shuffle in Apache Celeborn, whose servers are those of celeborn/server.py."""
import socket
import struct

import pytest

from celeborn.messages import PUSH_DATA, RPC_REQUEST, Fields, bytes_field, frame, number_field, plain_message, read_message, text_of
from celeborn.server import HARD_SPLIT, MAP_ENDED, SOFT_SPLIT, Celeborn
from celeborn.storage import batches_of


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

    def push(self, partition, map_id, attempt, batch, data):
        body = struct.pack("<iiii", map_id, attempt, batch, len(data)) + data
        _, _, answer = self.ask(PUSH_DATA, b"\0" + text_of("app-0") + text_of(f"{partition}-0"), body)
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
