"""Messages of .proto files (proto2, without enums), read and written by hand.

    schema = Schema("src/yarn/protocol/yarn.proto")
    message = schema.new("ApplicationId", id=1)
    message.cluster_timestamp             # None: not set; repeated fields are lists
    schema.read("ApplicationId", schema.write(message))
"""
import re
import struct

FIELD = re.compile(r"(optional|required|repeated) (\w+) (\w+) = (\d+);")
BYTES = ("string", "bytes")
VARINTS = ("int32", "int64", "uint32", "uint64", "bool")


class Message:
    def __init__(self, name, fields):
        self._name = name
        for field in fields:
            setattr(self, field.name, [] if field.label == "repeated" else None)

    def __repr__(self):
        values = {k: v for k, v in vars(self).items() if k != "_name" and v not in (None, [])}
        return f"{self._name}({values})"

    def __eq__(self, other):
        return isinstance(other, Message) and vars(self) == vars(other)

    def __hash__(self):
        return hash(repr(self))


class Field:
    def __init__(self, label, kind, name, number):
        self.label, self.kind, self.name, self.number = label, kind, name, int(number)


def write_varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data, at):
    """Returns (value, the next position)."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def delimited(data):
    return write_varint(len(data)) + data


class Schema:
    def __init__(self, *paths):
        self.messages = {}
        for path in paths:
            with open(path, encoding="utf-8") as file:
                text = re.sub(r"//.*", "", file.read())
            for name, body in re.findall(r"message (\w+) \{([^}]*)\}", text):
                self.messages[name] = [Field(*words) for words in FIELD.findall(body)]

    def new(self, name, /, **values):
        message = Message(name, self.messages[name])
        for key, value in values.items():
            assert hasattr(message, key), f"{name} has no field {key}"
            setattr(message, key, value)
        return message

    def write(self, message):
        out = b""
        for field in self.messages[message._name]:
            values = getattr(message, field.name)
            for value in values if field.label == "repeated" else [] if values is None else [values]:
                out += self.write_field(field, value)
        return out

    def write_field(self, field, value):
        if field.kind in VARINTS:
            return write_varint(field.number << 3) + write_varint(int(value))
        if field.kind == "sint32":
            return write_varint(field.number << 3) + write_varint((value << 1) ^ (value >> 31))
        if field.kind == "float":
            return write_varint(field.number << 3 | 5) + struct.pack("<f", value)
        data = value.encode() if field.kind == "string" else value if field.kind == "bytes" else self.write(value)
        return write_varint(field.number << 3 | 2) + delimited(data)

    def read(self, name, data):
        fields = {field.number: field for field in self.messages[name]}
        message, at = self.new(name), 0
        while at < len(data):
            tag, at = read_varint(data, at)
            if tag & 7 == 0:
                value, at = read_varint(data, at)
            elif tag & 7 == 2:
                length, at = read_varint(data, at)
                value, at = data[at:at + length], at + length
            else:
                size = {1: 8, 5: 4}[tag & 7]
                value, at = data[at:at + size], at + size
            field = fields.get(tag >> 3)
            if field:
                value = self.value_of(field, value)
                if field.label == "repeated":
                    getattr(message, field.name).append(value)
                else:
                    setattr(message, field.name, value)
        return message

    def value_of(self, field, value):
        if field.kind in ("int32", "int64"):
            return value - (1 << 64) if value >> 63 else value
        if field.kind == "sint32":
            return (value >> 1) ^ -(value & 1)
        if field.kind == "bool":
            return bool(value)
        if field.kind == "float":
            return struct.unpack("<f", value)[0]
        if field.kind == "string":
            return value.decode(errors="replace")
        return value if field.kind in (*VARINTS, "bytes") else self.read(field.kind, value)
