"""arrow_peers.py LIBRARY TABLES - random tables of pyarrow, polars and duckdb, as Arrow streams and as CSV.

Each table has columns of many types, with nulls, slices of longer arrays, dictionaries and several batches.  The stream is
handed to peers_compare of tests/arrow_peers.c by its address; the CSV is written by the library itself where it writes
what is meant, else here: 32-bit floats with all the digits of their value, NaN as an empty field.
"""
import ctypes
import datetime
import decimal
import json
import os
import random
import sys
import tempfile

import duckdb
import polars
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

library, tables = ctypes.CDLL(sys.argv[1]), int(sys.argv[2])
library.peers_compare.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int,
                                  ctypes.c_char_p, ctypes.c_size_t]
address = ctypes.pythonapi.PyCapsule_GetPointer
address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

WORDS = ["red", "green", "a word of more than sixteen bytes", "blue, \"light\"", "é", " two  blanks ", "", "7", "x\ny"]
EPOCH = datetime.date(1970, 1, 1)
INTEGERS = {"int8": 7, "int16": 15, "int32": 31, "int64": 63, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}


def integer(rng, name):
    bits = INTEGERS[name]
    low = 0 if name[0] == "u" else -2 ** bits
    return rng.choice([low, 2 ** bits - 1, 0, 1, rng.randrange(low, 2 ** bits), rng.randrange(low, 2 ** bits)])


def values(rng, name, n):
    if name in INTEGERS:
        return [integer(rng, name) for _ in range(n)]
    if name in ("float16", "float32", "float64"):
        return [rng.choice([0.0, 1.0, rng.uniform(-9, 9), rng.gauss(0, 1) * 10 ** rng.randint(-9, 0)]) for _ in range(n)]
    if name == "decimal":
        return [decimal.Decimal(rng.randrange(-10 ** 12, 10 ** 12)).scaleb(-4) for _ in range(n)]
    if name == "bool":
        return [rng.random() < 0.5 for _ in range(n)]
    if name == "date":
        return [EPOCH + datetime.timedelta(days=rng.randrange(-20000, 40000)) for _ in range(n)]
    if name == "time":
        return [rng.randrange(-10 ** 15, 4 * 10 ** 15) for _ in range(n)]  # microseconds
    return [rng.choice(WORDS) for _ in range(n)]


class Column:
    """name, Arrow array, what the schema says of it, texts of a CSV"""

    def __init__(self, rng, name, n, label=False):
        kinds = list(INTEGERS) + ["float16", "float32", "float64", "decimal", "bool", "date", "time", "text", "text", "text"]
        self.name, self.kind = name, rng.choice(["text", "bool", "int8"] if label else kinds)
        self.plain = True  # the libraries' own CSV means the same
        small = rng.sample(range(-9, 9), 4) if self.kind in INTEGERS and self.kind[0] == "i" else None
        category = label or self.kind in ("bool", "text") or (self.kind in ("date",) + tuple(INTEGERS) and rng.random() < 0.3)
        v = values(rng, self.kind, n)
        if category and self.kind in INTEGERS:
            v = [rng.choice(small or [0, 1, 2, 100]) for _ in range(n)]
        if category and self.kind == "date":
            days = values(rng, "date", 3)
            v = [rng.choice(days) for _ in range(n)]
        if label:
            v = [rng.choice(WORDS[:3]) for _ in range(n)] if self.kind == "text" else v
        elif rng.random() < 0.5:
            v = [None if rng.random() < 0.2 else x for x in v]
        if self.kind in ("float16", "float32", "float64") and rng.random() < 0.2:
            v = [float("nan") if x is not None and rng.random() < 0.1 else x for x in v]
        self.array = self.make(rng, v)
        self.texts = self.text()
        self.schema = self.declare(rng, category, label)

    def make(self, rng, v):
        types = {"decimal": pa.decimal128(20, 4), "date": rng.choice([pa.date32(), pa.date64()]), "bool": pa.bool_(),
                 "text": rng.choice([pa.string(), pa.large_string(), pa.string_view()]), "float16": pa.float16(),
                 "float32": pa.float32(), "float64": pa.float64()}
        if self.kind == "time":
            unit, zone = rng.choice("s ms us ns".split()), rng.choice([None, "UTC", "Europe/Berlin"])
            scale = {"s": 10 ** 6, "ms": 10 ** 3, "us": 1, "ns": 1}[unit]
            v = [None if x is None else x // scale * (1000 if unit == "ns" else 1) for x in v]
            a = pa.array(v, pa.int64()).cast(pa.timestamp(unit, tz=zone))
        elif self.kind == "float16":
            import numpy
            a = pa.array([None if x is None else numpy.float16(x) for x in v], pa.float16())
        else:
            a = pa.array(v, types.get(self.kind) or getattr(pa, self.kind)())
        if self.kind in ("text", "int32", "date") and rng.random() < 0.4 and a.type != pa.string_view():
            a = a.dictionary_encode()
        return a

    def text(self):
        a = self.array.dictionary_decode() if pa.types.is_dictionary(self.array.type) else self.array
        if self.kind == "time":
            naive = a.cast(pa.timestamp(a.type.unit, tz="UTC") if a.type.tz else a.type)
            return [None if x is None else x for x in pc.strftime(naive, format="%Y-%m-%d %H:%M:%S").to_pylist()]
        out = []
        for x in a.to_pylist():
            if x is None:
                out.append(None)
            elif self.kind == "bool":
                out.append("true" if x else "false")
            elif self.kind.startswith("float"):
                x = float(x)
                self.plain = self.plain and self.kind == "float64" and x == x
                out.append(repr(x) if x == x else None)
            elif self.kind == "decimal":
                out.append(format(x, "f"))
            elif self.kind == "date":
                out.append(x.isoformat()[:10])
            else:
                out.append(str(x))
        return out

    def declare(self, rng, category, label):
        out = {"name": self.name, "type": "label" if label else "category" if category else "number"}
        seen = sorted({x for x in self.texts if x})
        if category:
            others = ["other", "none of them"]
            out["values"] = seen + others[:max(0, 2 - len(seen))] if label else (seen + others)
            return out
        if self.kind in ("date", "time") and rng.random() < 0.5:
            return dict(out, type="date", min="1900-01-01", max="2200-01-01", missing=rng.choice(["zero", "middle"]))
        low, high = {"date": (-40000, 90000), "time": (-40000, 90000)}.get(self.kind, (-10, 10))
        if self.kind in INTEGERS or self.kind == "decimal":
            low, high = -2.0 ** 63, 2.0 ** 64
        if rng.random() < 0.2:
            high = low + (high - low) / 3
            out["outside"] = rng.choice(["clamp", "missing"])
        return dict(out, min=low, max=high, missing=rng.choice(["zero", "middle"]))


def quote(text):
    return "" if text is None else "\"" + text.replace("\"", "\"\"") + "\""


def write_csv(path, columns):
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(",".join(quote(c.name) for c in columns) + "\n")
        for row in zip(*(c.texts for c in columns)):
            f.write(",".join(quote(x) for x in row) + "\n")


def batched(rng, table):
    """The same rows in batches, some empty, some slices of what they came from."""
    out, at = [], 0
    while at < table.num_rows:
        n = min(rng.choice([0, 1, 7, 64, 65, 300]), table.num_rows - at)
        out += table.slice(at, n).combine_chunks().to_batches() if rng.random() < 0.5 else table.slice(at, n).to_batches()
        at += n
    return pa.RecordBatchReader.from_batches(table.schema, [b for b in out if b.schema.equals(table.schema)])


def producer(rng, table, path, columns):
    """who, an object with a stream, and the CSV written"""
    who = rng.choice(["pyarrow", "pyarrow", "polars", "duckdb"])
    odd = any(c.kind in ("float16", "decimal") or "date64" in str(c.array.type) for c in columns)  # they change these
    times = any(c.kind == "time" for c in columns)
    plain = all(c.plain for c in columns)
    if who == "polars" and not odd:
        frame = polars.from_arrow(table)
        write_csv(path, columns) if not plain or times else frame.write_csv(path, quote_style="non_numeric")  # blanks around a bare field do not count
        return who, frame
    if who == "duckdb" and not odd and not any(pa.types.is_string_view(c.array.type) for c in columns):
        relation = duckdb.connect().from_arrow(table)
        write_csv(path, columns)
        return who, relation.to_arrow_table() if rng.random() < 0.5 else relation.to_arrow_reader(64)
    if plain and not odd and rng.random() < 0.5:
        try:
            decoded = [a.cast(a.type.value_type) if pa.types.is_dictionary(a.type) else a for a in table.columns]
            pyarrow.csv.write_csv(pa.table(decoded, names=table.column_names), path)
            return "pyarrow's CSV", batched(rng, table)
        except pa.ArrowInvalid:
            pass
    write_csv(path, columns)
    return "pyarrow", batched(rng, table)


def main():
    folder, why = tempfile.mkdtemp(), ctypes.create_string_buffer(1024)
    path, key = os.path.join(folder, "t.csv"), os.path.join(folder, "key")
    counted = {}
    for seed in range(tables):
        rng = random.Random(seed)
        extra, n = rng.randint(0, 9), rng.choice([1, 2, 63, 64, 65, 200, 700])
        columns = [Column(rng, "c%d" % i, extra + n) for i in range(rng.randint(1, 9))]
        columns.insert(rng.randint(0, len(columns)), Column(rng, "y", extra + n, True))
        for c in columns:
            c.array, c.texts = c.array.slice(extra), c.texts[extra:]
        table = pa.table([c.array for c in columns], names=[c.name for c in columns])
        schema = json.dumps({"columns": [c.schema for c in columns]})
        who, source = producer(rng, table, path, columns)
        capsule = source.__arrow_c_stream__()
        if library.peers_compare(address(capsule, b"arrow_array_stream"), path.encode(), schema.encode(), key.encode(),
                                 rng.randint(0, 7), why, len(why)):
            print("table %d of %s: %s" % (seed, who, why.value.decode(errors="replace")))
            print(table.schema, schema, sep="\n")
            return 1
        counted[who] = counted.get(who, 0) + 1
    print("%d tables: %s" % (tables, ", ".join("%d of %s" % (counted[k], k) for k in sorted(counted))))
    return 0


sys.exit(main())
