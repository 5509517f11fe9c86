"""The files of a worker: what was pushed to one partition, in chunks, sorted by map on request."""
import struct

BATCH = struct.Struct("<iiii")  # map, attempt, batch, size


def batches_of(data):
    """Yields (map, attempt, batch, start, end) of each batch, whose data begin 16 bytes behind start."""
    at = 0
    while at < len(data):
        map_id, attempt, batch, size = BATCH.unpack_from(data, at)
        yield map_id, attempt, batch, at, at + BATCH.size + size
        at += BATCH.size + size


class PartitionFile:
    """One file of a partition, an epoch and a copy (0 primary, 1 replica)."""

    def __init__(self, threshold, hard):
        self.threshold, self.hard = threshold, hard
        self.bodies = []
        self.size = 0
        self.committed = False

    @property
    def full(self):
        return self.size > self.threshold

    def append(self, body):
        self.bodies.append(bytes(body))
        self.size += len(body)

    def chunks(self, chunk_size, start, end):
        """Returns the chunks of all bodies; or, sorted by map, of the batches of maps start … end - 1."""
        pieces = self.bodies
        if end < 0x7fffffff:
            cut = [(entry[0], body[entry[3]:entry[4]]) for body in self.bodies for entry in batches_of(body)]
            pieces = [data for map_id, data in sorted(cut, key=lambda entry: entry[0]) if start <= map_id < end]
        out, current = [], bytearray()
        for piece in pieces:
            current += piece
            if len(current) >= chunk_size:
                out.append(bytes(current))
                current = bytearray()
        return out + [bytes(current)] if current else out
