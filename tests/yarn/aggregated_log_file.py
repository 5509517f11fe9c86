"""Writes a file of YARN's log aggregation (Hadoop's TFile) for one node: records of containers in one block.

    write(path, {"container_1_0001_01_000001": {"stderr": b"…"}}, compression="gz")
"""
import struct
import zlib

MAGIC = bytes.fromhex("d111d36891b5d7b639df414092bae150")
CHUNK = 1000


def number(n):
    """Hadoop's VLong of TFiles."""
    if -32 <= n < 128:
        return struct.pack("b", n)
    if -20 << 8 <= n < 20 << 8:
        return struct.pack("bB", (n >> 8) - 52, n & 0xff)
    if -16 << 16 <= n < 16 << 16:
        return struct.pack(">bH", (n >> 16) - 88, n & 0xffff)
    return struct.pack(">bi", 4 - 129, n)


def text(word):
    return number(len(word)) + word.encode()


def utf(word):
    return struct.pack(">H", len(word.encode())) + word.encode()


def record(key, value):
    """A record whose value comes in chunks: a negative size means that others follow."""
    out = number(len(utf(key))) + utf(key)
    while len(value) > CHUNK:
        out += number(-CHUNK) + value[:CHUNK]
        value = value[CHUNK:]
    return out + number(len(value)) + value


def encode(containers, compression="none", owner="alice"):
    def packed(data):
        return zlib.compress(data) if compression == "gz" else data
    records = record("VERSION", struct.pack(">i", 1)) + record("APPLICATION_OWNER", utf(owner))
    for name, logs in containers.items():
        records += record(name, b"".join(utf(file) + utf(str(len(data))) + data for file, data in logs.items()))
    block = packed(records)
    index = packed(text(compression) + number(1) + number(0) + number(len(block)) + number(len(records)))
    meta = number(1) + text("data:BCFile.index") + text(compression) + number(len(block)) + number(len(index)) + number(len(index))
    return block + index + meta + struct.pack(">qhh", len(block) + len(index), 1, 0) + MAGIC


def write(path, containers, compression="none", owner="alice"):
    with open(path, "wb") as file:
        file.write(encode(containers, compression, owner))
