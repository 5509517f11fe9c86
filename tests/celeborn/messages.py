"""Celeborn's messages as bytes: protobuf fields, frames, and TransportMessages in the three forms that servers read and write."""
import struct

RPC_REQUEST, RPC_RESPONSE, RPC_FAILURE, ONE_WAY = 3, 4, 5, 9
CHUNK_SUCCESS, CHUNK_FAILURE, PUSH_DATA, PUSH_MERGED_DATA, HEARTBEAT = 1, 2, 11, 12, 22

# Java's serialization of a TransportMessage, around type and payload.
JAVA_CLASS = b"org.apache.celeborn.common.network.protocol.TransportMessage"
JAVA_VERSION = b"org.apache.celeborn.common.network.protocol.SerdeVersion"
JAVA_BYTES = bytes.fromhex("757200025b42acf317f8060854e00200007870")


def java_text(tag, text):
    return tag + struct.pack(">H", len(text)) + text


def java_message(kind, payload):
    """Returns a message as servers answer: in Java's serialization of 0.6."""
    fields = (java_text(b"I", b"messageTypeValue") + java_text(b"[", b"payload") + b"t" + struct.pack(">H", 2) + b"[B"
              + java_text(b"L", b"serdeVersion") + java_text(b"t", b"L" + JAVA_VERSION.replace(b".", b"/") + b";"))
    head = (bytes.fromhex("aced0005") + java_text(b"sr", JAVA_CLASS) + bytes.fromhex("d2c5b3edf7070f33") + b"\x02\0\x03"
            + fields + b"xp" + struct.pack(">i", kind))
    version = (java_text(b"~r", JAVA_VERSION) + bytes(8) + b"\x12\0\0" + java_text(b"xr", b"java.lang.Enum") + bytes(8)
               + b"\x12\0\0xp" + java_text(b"t", b"V1"))
    return head + JAVA_BYTES + struct.pack(">i", len(payload)) + payload + version


def java_exception(name, text):
    """Returns the start of an exception in Java's serialization: enough to see its class and its text."""
    return bytes.fromhex("aced0005") + java_text(b"sr", name.encode()) + bytes(8) + b"\x02\0\0xp" + java_text(b"t", text.encode())


def plain_message(kind, payload):
    """Returns a message as the ports for data exchange them."""
    return struct.pack(">ii", kind, len(payload)) + payload


def read_message(body):
    """Returns type and payload of a message in any form, without the envelope."""
    if body[:1] == b"\xff":
        kind, size = struct.unpack_from(">ii", body, 1)
        return kind, body[9:9 + size]
    if body[:2] == b"\xac\xed":
        if JAVA_CLASS not in body[:80]:
            raise ValueError("an object of another class")
        at = body.index(JAVA_BYTES)
        kind, = struct.unpack_from(">i", body, at - 4)
        at += len(JAVA_BYTES)
        size, = struct.unpack_from(">i", body, at)
        return kind, body[at + 4:at + 4 + size]
    kind, size = struct.unpack_from(">ii", body)
    return kind, body[8:8 + size]


def read_envelope(body):
    """Returns the endpoint's name, and the message behind the envelope of an RPC."""
    at = 0
    for _ in ("sender", "receiver"):
        at += 1
        if body[at - 1]:
            at += 2 + struct.unpack_from(">H", body, at)[0] + 4
    size, = struct.unpack_from(">H", body, at)
    return body[at + 2:at + 2 + size].decode(), body[at + 2 + size:]


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def number_field(field, number):
    return varint(field << 3) + varint(int(number)) if number else b""


def bytes_field(field, value):
    value = value.encode() if isinstance(value, str) else bytes(value)
    return varint(field << 3 | 2) + varint(len(value)) + value


def texts_field(field, values):
    return b"".join(bytes_field(field, value) for value in values)


def packed_field(field, numbers):
    return bytes_field(field, b"".join(varint(number) for number in numbers)) if numbers else b""


def read_varint(data, at):
    shift = number = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at


class Fields:
    """The fields of a protobuf message."""

    def __init__(self, data):
        self.fields = {}
        at = 0
        while at < len(data):
            key, at = read_varint(data, at)
            wire = key & 7
            if wire == 0:
                value, at = read_varint(data, at)
            else:
                size, at = read_varint(data, at) if wire == 2 else ({1: 8, 5: 4}[wire], at)
                value, at = data[at:at + size], at + size
            self.fields.setdefault(key >> 3, []).append(value)

    def all(self, field):
        return self.fields.get(field, [])

    def number(self, field):
        return self.all(field)[-1] if self.all(field) else 0

    def bytes(self, field):
        return self.all(field)[-1] if self.all(field) else b""

    def text(self, field):
        return self.bytes(field).decode()

    def texts(self, field):
        return [value.decode() for value in self.all(field)]

    def message(self, field):
        return Fields(self.bytes(field))

    def numbers(self, field):
        """Numbers of 32 bits, packed or not; negative ones as they are meant."""
        out = []
        for value in self.all(field):
            if isinstance(value, int):
                out.append(value)
                continue
            at = 0
            while at < len(value):
                number, at = read_varint(value, at)
                out.append(number)
        return [number - (1 << 64) if number >> 63 else number for number in out]


def frame(kind, head, body=b""):
    return struct.pack(">iBi", len(head), kind, len(body)) + head + body


def frame_text(head, at):
    size, = struct.unpack_from(">i", head, at)
    return head[at + 4:at + 4 + size].decode(), at + 4 + size


def text_of(text):
    data = text.encode()
    return struct.pack(">i", len(data)) + data
