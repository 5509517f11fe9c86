"""Calls functions in C on RDDs of Python."""
import os
import re
import struct
from array import array

from pyspark import cloudpickle
from pyspark.rdd import RDD
from pyspark.serializers import FramedSerializer

__all__ = ["Elements", "rdd_native"]

# The kinds of a column by their names in Firesteel's types, and the types of Python that they hold.
_KINDS = {"I64": int, "F64": float, "BYTES": bytes}
_CODES = {int: "q", float: "d"}
_BATCH = 1024


class Struct:
    """A column of structs with fields (firesteel/struct.h), which are tuples in Python."""

    def __init__(self, name, fields, text):
        self.__name__ = name
        self.fields = fields  # (name, kind) of each
        self.text = text      # whether BYTES are str

    def loads(self, data):
        """The row that `data` encodes: src/structs/struct_row.h describes the form."""
        row, at = [], 0
        for number, (_, kind) in enumerate(self.fields):
            if kind == "BYTES":
                end = len(data) if number == len(self.fields) - 1 else at
                while end < len(data) and number < len(self.fields) - 1:
                    end = data.index(b"\0", end)
                    if data[end + 1] == 0:
                        break
                    end += 2
                piece = data[at:end]
                if number < len(self.fields) - 1:
                    piece = piece.replace(b"\0\xff", b"\0")
                    end += 2
                row.append(piece.decode("utf-8") if self.text else bytes(piece))
                at = end
                continue
            size = {"I32": 4, "BOOL": 1}.get(kind, 8)
            bits = int.from_bytes(data[at : at + size], "big")
            at += size
            if kind == "BOOL":
                row.append(bits != 0)
            elif kind == "F64":
                bits = bits ^ 1 << 63 if bits >> 63 else bits ^ (1 << 64) - 1
                row.append(struct.unpack(">d", bits.to_bytes(8, "big"))[0])
            else:
                row.append(bits - (1 << 8 * size - 1))
        return tuple(row)


class Elements(FramedSerializer):
    """Rows in the form of firesteel/list.h, many in each frame.

    `columns` has one type, or two for pairs: int, float, bytes or str; of rows that are only read also a Struct.
    """

    def __init__(self, columns):
        self.columns = columns

    def __repr__(self):
        return "Elements(%s)" % ", ".join(column.__name__ for column in self.columns)

    def type_name(self):
        """The type of the rows as Firesteel writes it, such as "PAIR(BYTES, I64)"."""
        names = ["I64" if c is int else "F64" if c is float else "BYTES" for c in self.columns]
        return names[0] if len(names) == 1 else "PAIR(%s, %s)" % tuple(names)

    def dumps(self, rows):
        if len(self.columns) == 1:
            column = self.columns[0]
            if column in _CODES:
                return array(_CODES[column], rows).tobytes()
            pieces = []
            for row in rows:
                data = row.encode("utf-8") if column is str else row
                pieces += (struct.pack("=I", len(data)), data)
            return b"".join(pieces)
        first, second = self.columns
        pieces = []
        for key, value in rows:
            key = key.encode("utf-8") if first is str else struct.pack(_CODES[first], key) if first in _CODES else key
            value = (
                value.encode("utf-8") if second is str
                else struct.pack(_CODES[second], value) if second in _CODES
                else value
            )
            if first not in _CODES:
                pieces.append(struct.pack("=I", len(key)))
            if second not in _CODES:
                pieces.append(struct.pack("=I", len(value)))
            pieces += (key, value)
        return b"".join(pieces)

    def loads(self, data):
        if len(self.columns) == 1 and self.columns[0] in _CODES:
            rows = array(_CODES[self.columns[0]])
            rows.frombytes(data)
            return rows.tolist()
        rows, at, end = [], 0, len(data)
        while at < end:
            lengths = []
            for column in self.columns:
                if column in _CODES:
                    lengths.append(8)
                else:
                    lengths += struct.unpack_from("=I", data, at)
                    at += 4
            row = []
            for column, length in zip(self.columns, lengths):
                piece = data[at : at + length]
                at += length
                row.append(
                    struct.unpack(_CODES[column], piece)[0] if column in _CODES
                    else column.loads(piece) if isinstance(column, Struct)
                    else piece.decode("utf-8") if column is str
                    else bytes(piece)
                )
            rows.append(row[0] if len(row) == 1 else tuple(row))
        return rows

    def dump_stream(self, iterator, stream):
        rows = []
        for row in iterator:
            rows.append(row)
            if len(rows) == _BATCH:
                self._write_with_length(rows, stream)
                rows = []
        if rows:
            self._write_with_length(rows, stream)

    def _load_stream_without_unbatching(self, stream):
        while True:
            try:
                yield self._read_with_length(stream)
            except EOFError:
                return

    def load_stream(self, stream):
        for rows in self._load_stream_without_unbatching(stream):
            yield from rows


def _columns(types, what):
    columns = tuple(types) if isinstance(types, (tuple, list)) else (types,)
    if not 1 <= len(columns) <= 2 or any(column not in (int, float, bytes, str) for column in columns):
        raise ValueError("%s of rdd_native is int, float, bytes, str, or a pair of these such as (str, int), not %r"
                         % (what, types))
    return columns


def _columns_of(type_name, text):
    """The types of Python for rows that Firesteel calls `type_name`; BYTES are text if `text` is true."""
    columns = []
    for name, fields, kind in re.findall(r"STRUCT (\w+)\(([^)]*)\)|(I64|F64|BYTES|FIXED)", type_name):
        if name:
            columns.append(Struct(name, [tuple(field.split(" ")) for field in fields.split(", ")], text))
        else:
            columns.append(bytes if kind == "FIXED" else str if kind == "BYTES" and text else _KINDS[kind])
    return tuple(columns)


def rdd_native(rdd, file, function, *arguments, input=str, output=None):
    """Calls a function in C on an RDD, and returns the RDD that it makes.

    `file` is a C file, which Firesteel compiles, or a shared object. `function` is the name of a function

        fst_rdd *words(fst_rdd *lines, int argc, char **argv)

    that builds on `lines` with the operators of firesteel/firesteel.h: fst_flat_map, fst_reduce_by_key, … Its functions
    run in C on the executors. It gets `arguments` as text.

    `input` is the type of the elements of `rdd`: int, float, bytes, str, or a pair of these such as (str, int). The
    elements of the result have the type that the function gives them. `output` says so if it has texts and bytes;
    without it BYTES are str if `input` has str. Structs with fields (firesteel/struct.h) are tuples of their fields.

        >>> rdd_native(lines, "app.c", "count_words").collect()
        [('be', 2), ('not', 1), …]
    """
    taken = Elements(_columns(input, "input"))
    sc = rdd.ctx
    native = sc._jvm.dev.firesteel.Native
    if not hasattr(native, "call") or type(native).__name__ != "JavaClass":
        raise RuntimeError("rdd_native needs Firesteel: call firesteel.install() before the first SparkContext is made")
    packed = rdd._reserialize(taken)
    jrdd, made = native.call(
        packed._jrdd, os.path.abspath(file), function, [str(argument) for argument in arguments], taken.type_name()
    )
    if output is not None and "STRUCT" in made:
        raise ValueError("%s returns rows of %s: leave out `output`, structs are tuples" % (function, made))
    columns = _columns(output, "output") if output is not None else _columns_of(made, str in taken.columns)
    result = Elements(columns)
    if result.type_name() != made and "FIXED" not in made and "STRUCT" not in made:
        raise ValueError("%s returns rows of %s, which cannot be read as %r" % (function, made, output))
    return RDD(jrdd, sc, result)


# Executors on other machines need not have this module.
import sys  # noqa: E402

cloudpickle.register_pickle_by_value(sys.modules[__name__])
