"""Calls functions in C on RDDs of Python."""
import operator
import os
import re
import struct
from array import array

from pyspark import cloudpickle
from pyspark.rdd import RDD
from pyspark.serializers import FramedSerializer

__all__ = ["Elements", "Struct", "rdd_native"]

# The kinds of a column by their names in Firesteel's types, and the types of Python that they hold.
_KINDS = {"I64": int, "F64": float, "BYTES": bytes}
_CODES = {int: "q", float: "d"}
_BATCH = 1024


# The kinds of a struct's field by their types of Python; I32 is named by its text.
_FIELDS = {int: "I64", float: "F64", str: "BYTES", bytes: "BYTES", bool: "BOOL", "I32": "I32"}
_SIZES = {"I32": 4, "BOOL": 1}
_SIGN = 1 << 63


class Struct:
    """A column of structs with fields (firesteel/struct.h), which are tuples in Python.

        Struct("person", name=str, age=int, weight=float)

    The fields have the names and the order of FST_FIELDS in C. Their types are int (int64_t), "I32" (int32_t), float,
    bool, and str or bytes (fst_bytes).
    """

    def __init__(self, name, /, **fields):
        if not fields:
            raise ValueError("Struct needs the name and the type of each field, such as Struct('person', name=str, age=int)")
        for field, kind in fields.items():
            if kind not in _FIELDS:
                raise ValueError("the field %s of struct %s is int, 'I32', float, bool, str or bytes, not %r" % (field, name, kind))
        self.__name__ = name
        self.fields = [(field, _FIELDS[kind], kind is str) for field, kind in fields.items()]

    @classmethod
    def described(cls, name, fields, text):
        """A struct by the names of its kinds in Firesteel; BYTES are str if `text` is true."""
        made = cls.__new__(cls)
        made.__name__ = name
        made.fields = [(field, kind, text and kind == "BYTES") for field, kind in fields]
        return made

    def __eq__(self, other):
        return isinstance(other, Struct) and self.__dict__ == other.__dict__

    def __hash__(self):
        return hash(self.type_name())

    def type_name(self):
        return "STRUCT %s(%s)" % (self.__name__, ", ".join("%s %s" % field[:2] for field in self.fields))

    def dumps(self, row):
        """The bytes that encode `row`: src/structs/struct_row.h describes the form."""
        if not isinstance(row, (tuple, list)) or len(row) != len(self.fields):
            raise ValueError("%r is not a tuple of the %d fields of %s" % (row, len(self.fields), self.type_name()))
        pieces = []
        for number, ((name, kind, text), x) in enumerate(zip(self.fields, row)):
            try:
                pieces.append(self._field(kind, text, number == len(self.fields) - 1, x))
            except (TypeError, ValueError, OverflowError, AttributeError) as error:
                raise ValueError("%r is not a value of the field %s of %s: %s" % (x, name, self.type_name(), error)) from None
        return b"".join(pieces)

    @staticmethod
    def _field(kind, text, is_last, x):
        if kind == "BYTES":
            if not isinstance(x, str if text else (bytes, bytearray)):
                raise TypeError("it needs %s" % ("str" if text else "bytes"))
            data = x.encode("utf-8") if text else bytes(x)
            return data if is_last else data.replace(b"\0", b"\0\xff") + b"\0\0"
        if kind == "F64":
            if isinstance(x, (str, bytes)):
                raise TypeError("it needs a number")
            x = float(x)
            x = float("nan") if x != x else x + 0.0  # -0.0 is 0.0
            bits = 0x7FF8 << 48 if x != x else struct.unpack(">Q", struct.pack(">d", x))[0]
            return struct.pack(">Q", bits ^ (1 << 64) - 1 if bits & _SIGN else bits | _SIGN)
        if kind == "BOOL":
            if x not in (True, False):
                raise TypeError("it needs True or False")
            return b"\1" if x else b"\0"
        size = _SIZES.get(kind, 8)
        return (operator.index(x) + (1 << 8 * size - 1)).to_bytes(size, "big")

    def loads(self, data):
        """The row that `data` encodes."""
        row, at = [], 0
        for number, (_, kind, text) in enumerate(self.fields):
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
                row.append(piece.decode("utf-8") if text else bytes(piece))
                at = end
                continue
            size = _SIZES.get(kind, 8)
            bits = int.from_bytes(data[at : at + size], "big")
            at += size
            if kind == "BOOL":
                row.append(bits != 0)
            elif kind == "F64":
                bits = bits ^ _SIGN if bits & _SIGN else bits ^ (1 << 64) - 1
                row.append(struct.unpack(">d", bits.to_bytes(8, "big"))[0])
            else:
                row.append(bits - (1 << 8 * size - 1))
        return tuple(row)


def _column_name(column):
    """A column's type as Firesteel writes it."""
    return column.type_name() if isinstance(column, Struct) else "I64" if column is int else "F64" if column is float else "BYTES"


def _column_dumps(column, x):
    if column in _CODES:
        return struct.pack(_CODES[column], x)
    return column.dumps(x) if isinstance(column, Struct) else x.encode("utf-8") if column is str else x


class Elements(FramedSerializer):
    """Rows in the form of firesteel/list.h, many in each frame.

    `columns` has one type, or two for pairs: int, float, bytes, str or a Struct.
    """

    def __init__(self, columns):
        self.columns = columns

    def __repr__(self):
        return "Elements(%s)" % ", ".join(column.__name__ for column in self.columns)

    def type_name(self):
        """The type of the rows as Firesteel writes it, such as "PAIR(BYTES, I64)"."""
        names = [_column_name(column) for column in self.columns]
        return names[0] if len(names) == 1 else "PAIR(%s, %s)" % tuple(names)

    def has_text(self):
        """Whether BYTES that functions make of these rows are str."""
        return any(c is str or isinstance(c, Struct) and any(text for _, _, text in c.fields) for c in self.columns)

    def dumps(self, rows):
        if len(self.columns) == 1:
            column = self.columns[0]
            if column in _CODES:
                return array(_CODES[column], rows).tobytes()
            pieces = []
            for row in rows:
                data = _column_dumps(column, row)
                pieces += (struct.pack("=I", len(data)), data)
            return b"".join(pieces)
        first, second = self.columns
        pieces = []
        for key, value in rows:
            key, value = _column_dumps(first, key), _column_dumps(second, value)
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
    if not 1 <= len(columns) <= 2 or any(c not in (int, float, bytes, str) and not isinstance(c, Struct) for c in columns):
        raise ValueError("%s of rdd_native is int, float, bytes, str, a Struct, or a pair of these such as (str, int), not %r"
                         % (what, types))
    return columns


def _columns_of(type_name, text):
    """The types of Python for rows that Firesteel calls `type_name`; BYTES are text if `text` is true."""
    columns = []
    for name, fields, kind in re.findall(r"STRUCT (\w+)\(([^)]*)\)|(I64|F64|BYTES|FIXED)", type_name):
        if name:
            columns.append(Struct.described(name, [tuple(field.split(" ")) for field in fields.split(", ")], text))
        else:
            columns.append(bytes if kind == "FIXED" else str if kind == "BYTES" and text else _KINDS[kind])
    return tuple(columns)


def rdd_native(rdd, file, function, *arguments, input=None, output=None):
    """Calls a function in C on an RDD, and returns the RDD that it makes.

    `file` is a C file, which Firesteel compiles, or a shared object. `function` is the name of a function

        fst_rdd *words(fst_rdd *lines, int argc, char **argv)

    that builds on `lines` with the operators of firesteel/firesteel.h: fst_flat_map, fst_reduce_by_key, … Its functions
    run in C on the executors. It gets `arguments` as text.

    `input` is the type of the elements of `rdd`: int, float, bytes, str, a Struct, or a pair of these such as (str, int).
    Without it they are str, or what another call of rdd_native made. The elements of the result have the type that the
    function gives them. `output` says so if it has texts and bytes; without it BYTES are str if `input` has str.

    Structs with fields (firesteel/struct.h) are tuples of their fields. Rows that become structs need a Struct as
    `input`, whose fields are those of FST_FIELDS in `file`:

        >>> people = sc.parallelize([("Ann", 30, 61.5)])
        >>> rdd_native(people, "app.c", "heaviest", input=Struct("person", name=str, age=int, weight=float))

        >>> rdd_native(lines, "app.c", "count_words").collect()
        [('be', 2), ('not', 1), …]
    """
    known = rdd._jrdd_deserializer
    taken = known if input is None and isinstance(known, Elements) else Elements(_columns(input or str, "input"))
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
    columns = _columns(output, "output") if output is not None else _columns_of(made, taken.has_text())
    result = Elements(columns)
    if result.type_name() != made and "FIXED" not in made and "STRUCT" not in made:
        raise ValueError("%s returns rows of %s, which cannot be read as %r" % (function, made, output))
    return RDD(jrdd, sc, result)


# Executors on other machines need not have this module.
import sys  # noqa: E402

cloudpickle.register_pickle_by_value(sys.modules[__name__])
