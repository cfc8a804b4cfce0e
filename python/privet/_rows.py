"""Rows as they are in memory, described to the library: addresses and strides, no copy where none is needed.

A source becomes a `Rows`: the tuple that the binding takes (python/src/rows.c), and what must stay alive meanwhile.
"""

from __future__ import annotations

import datetime
import errno
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Callable, NamedTuple, Optional

import numpy as np

from . import _core
from ._errors import FileNotFound, InvalidInput
from ._schema import Schema, check_text, text

# pv_type of privet.h
_TYPES = {
    "float32": 1, "float64": 2, "int8": 3, "int16": 4, "int32": 5, "int64": 6,
    "uint8": 7, "uint16": 8, "uint32": 9, "uint64": 10, "bool": 11,
}  # fmt: skip
# Formats of the Arrow C data interface; bool is handed over as bytes, since Arrow's are bits
_FORMATS = {
    "float32": "f", "float64": "g", "int8": "c", "int16": "s", "int32": "i", "int64": "l",
    "uint8": "C", "uint16": "S", "uint32": "I", "uint64": "L", "bool": "b",
}  # fmt: skip
_BATCH = 1 << 17  # rows of a table that are converted at a time


class Rows(NamedTuple):
    spec: tuple[Any, ...]
    n: int  # -1: not known
    names: Optional[list[str]]  # of the columns, where they have any
    columns: int
    keep: Any


def door(x: Any) -> Any:
    """What is none of the kinds below becomes an array, once."""
    if isinstance(x, str) and "\n" in x:  # an error of the library would show it
        raise InvalidInput("X is text of several lines: the path of a file, or rows, are needed")
    known = isinstance(x, np.ndarray) or is_path(x) or is_pandas(x) or is_sparse(x) or is_stream(x)
    given, x = x, x if known else np.asarray(x)
    shape = () if is_path(x) else getattr(x, "shape", None)
    if isinstance(shape, tuple) and len(shape) == 1:
        raise InvalidInput(_not_2d("X", given, 1))
    return x


def _not_2d(what: str, x: Any, dimensions: int) -> str:
    said = f"Expected 2D array, got {dimensions}D array instead: {what} needs rows and columns. "
    if hasattr(x, "to_frame"):
        return said + f"This is a {type(x).__name__}, one column or one row of a table: {what}.to_frame() or table[['name']] is a table"
    return said + (
        "Reshape your data either using array.reshape(-1, 1) if it has a single column or array.reshape(1, -1) if it is a single row."
    )


# ---- what it is ---------------------------------------------------------------------------------------------------


def is_pandas(x: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(x, pandas.DataFrame)


def is_sparse(x: Any) -> bool:
    return hasattr(x, "tocsr") and hasattr(x, "nnz")


def is_stream(x: Any) -> bool:
    return hasattr(x, "__arrow_c_stream__") and not is_pandas(x)


def is_path(x: Any) -> bool:
    return isinstance(x, (str, os.PathLike))


def names_of(x: Any) -> Optional[list[str]]:
    """The names of the columns; None: they have none."""
    if is_pandas(x):
        if x.columns.nlevels > 1:
            raise TypeError(
                "the columns have names of several levels; df.columns = ['_'.join(map(str, c)) for c in df.columns] makes one of each"
            )
        kinds = {isinstance(c, str) for c in x.columns}
        if len(kinds) == 2:
            raise TypeError(
                "Feature names are only supported if all input features have string names, but your input has "
                "names of several types; df.columns = df.columns.astype(str) makes them text"
            )
        return list(x.columns) if kinds == {True} else None
    if is_stream(x):
        for word in ("column_names", "columns"):  # pyarrow; polars, duckdb
            names = getattr(x, word, None)
            if isinstance(names, list) and all(isinstance(n, str) for n in names):
                return list(names)
        schema = getattr(x, "schema", None)
        names = getattr(schema, "names", None)
        if isinstance(names, list):
            return list(names)
        return list(_core.arrow_names(x.__arrow_c_stream__()))
    return None


def length_of(x: Any) -> int:
    for word in ("num_rows", "height"):
        n = getattr(x, word, None)
        if isinstance(n, int):
            return n
    shape = getattr(x, "shape", None)
    if isinstance(shape, (tuple, list)) and shape and isinstance(shape[0], int):
        return shape[0]
    try:
        return len(x)
    except TypeError:
        return -1


# ---- matrices -------------------------------------------------------------------------------------------------------


def matrix(x: Any, what: str = "X", least: int = 1) -> Any:
    """A two-dimensional array of numbers that the library can read, the very memory where that is possible."""
    a = np.asarray(x)
    if a.dtype.kind == "O":
        try:
            a = a.astype(np.float64)
        except (TypeError, ValueError) as e:
            kind = TypeError if isinstance(e, TypeError) else InvalidInput
            raise kind(f"{what}: an argument must be a string or a real number; declare columns of text in a schema") from None
    if a.dtype.kind in "US":
        raise InvalidInput(f"{what} holds text; declare its columns in a schema: privet.Schema({{...}})")
    if a.dtype.kind == "c":
        raise InvalidInput(f"Complex data not supported: {what} holds complex numbers")
    if a.dtype.kind not in "fiub":
        raise InvalidInput(f"{what} holds {a.dtype}; numbers are needed")
    if a.ndim != 2:
        raise InvalidInput(_not_2d(what, a, a.ndim))
    if a.shape[0] < least:
        raise InvalidInput(f"Found array with {a.shape[0]} sample(s) (shape={a.shape}) while a minimum of {least} is required.")
    if a.shape[1] == 0:
        raise InvalidInput(f"0 feature(s) (shape={a.shape}) while a minimum of 1 is required.")
    return _plain(a)


def _plain(a: Any) -> Any:
    """Native, aligned, of a type the library has, with strides that are multiples of the size and not negative."""
    if a.dtype == np.float16:
        a = a.astype(np.float32)
    elif a.dtype.kind == "f" and a.dtype.itemsize > 8:
        a = a.astype(np.float64)
    if not a.dtype.isnative or not a.flags.aligned:
        a = np.array(a, a.dtype.newbyteorder("="), order="C")
    if any(s < 0 or s % a.itemsize for s in a.strides):
        a = np.ascontiguousarray(a)
    return a


def address(a: Any) -> int:
    return int(a.__array_interface__["data"][0])


def dense(x: Any, names: Optional[list[str]] = None, check: bool = True, least: int = 1) -> Rows:
    a = matrix(x, least=least)
    if check and a.dtype.kind == "f":
        finite(a)
    n, p = a.shape
    spec = ("dense", address(a), _TYPES[a.dtype.name], n, p, a.strides[0] // a.itemsize, a.strides[1] // a.itemsize)
    return Rows(spec, n, names, p, a)


def finite(a: Any) -> None:
    """Says in scikit-learn's words that a matrix has no declared missing values.  A sum is finite if all values are."""
    with np.errstate(all="ignore"):
        if np.isfinite(np.sum(a, dtype=np.float64)):
            return
    bad = ~np.isfinite(a)
    if bad.any():
        word = "NaN" if np.isnan(a).any() else "infinity"
        raise InvalidInput(
            f"Input X contains {word}. A schema declares what a missing number means: privet.number(min, max, missing='middle')"
        )


def sparse(x: Any, least: int = 1) -> Rows:
    a = x.tocsr()
    if a.dtype.kind == "c":
        raise InvalidInput("Complex data not supported: X holds complex numbers")
    if a.dtype not in (np.float32, np.float64):
        a = a.astype(np.float64)
    if not a.has_canonical_format:
        a = a.copy()
        a.sum_duplicates()
    if a.shape[0] < least:
        raise InvalidInput(f"Found array with {a.shape[0]} sample(s) (shape={a.shape}) while a minimum of {least} is required.")
    if a.shape[1] == 0:
        raise InvalidInput(f"0 feature(s) (shape={a.shape}) while a minimum of 1 is required.")
    finite(a.data)
    parts = [np.ascontiguousarray(p) for p in (a.indptr, a.indices, a.data)]
    spec: tuple[Any, ...] = ("csr", a.shape[0], a.shape[1])
    for part in parts:
        spec += (address(part), _TYPES[part.dtype.name])
    return Rows(spec, a.shape[0], None, a.shape[1], parts)


# ---- columns ----------------------------------------------------------------------------------------------------------


class Table:
    """Columns one by one, as a stream of batches."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.schema: list[tuple[str, str, Optional[str]]] = []
        self.parts: list[Callable[[int, int], tuple[Any, Any]]] = []

    def add(self, name: str, values: Any) -> None:
        fmt, of, part = _column(name, values)
        self.schema.append((name, fmt, of))
        self.parts.append(part)

    def batches(self) -> Iterator[Any]:
        for a in range(0, self.n, _BATCH):
            b = min(a + _BATCH, self.n)
            made = [part(a, b) for part in self.parts]
            yield b - a, [m[0] for m in made], [m[1] for m in made]

    def rows(self, names: list[str]) -> Rows:
        each = self.batches()
        return Rows(("table", self.schema, lambda: next(each, None)), self.n, names, len(names), self)


def _validity(missing: Any) -> tuple[int, int, Any]:
    """How many are null, the address of Arrow's bits, and what holds them."""
    count = int(np.count_nonzero(missing))
    if not count:
        return 0, 0, None
    bits = np.packbits(~missing, bitorder="little")
    return count, address(bits), bits


_Part = Callable[[int, int], tuple[Any, Any]]


def _numbers(a: Any, missing: Optional[Any]) -> tuple[str, Optional[str], _Part]:
    fmt = _FORMATS[a.dtype.name]

    def part(first: int, end: int) -> tuple[Any, Any]:
        v = np.ascontiguousarray(a[first:end])
        if fmt == "b":
            v = np.packbits(v, bitorder="little")
        nulls, at, bits = _validity(missing[first:end]) if missing is not None else (0, 0, None)
        return (nulls, (at, address(v)), None), (v, bits)

    return fmt, None, part


def _times(a: Any) -> tuple[str, Optional[str], _Part]:
    unit = np.datetime_data(a.dtype)[0]
    if unit not in ("s", "ms", "us", "ns"):
        a, unit = a.astype("datetime64[s]"), "s"
    fmt, of, part = _numbers(_plain(a.view(np.int64)), np.isnat(a))
    return {"s": "tss:", "ms": "tsm:", "us": "tsu:", "ns": "tsn:"}[unit], of, part


def _words(uniques: Sequence[str]) -> tuple[int, tuple[int, ...], Any]:
    """Values of a dictionary as Arrow's large_utf8."""
    encoded = [u.encode("utf-8", "surrogatepass") for u in uniques]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(e) for e in encoded], out=offsets[1:])
    data = np.frombuffer(b"".join(encoded) + b"\0", np.uint8)
    return len(encoded), (0, address(offsets), address(data)), (offsets, data)


def _dictionary(codes: Any, uniques: Sequence[str]) -> tuple[str, Optional[str], _Part]:
    """codes: places in uniques, -1 for a missing value."""
    n, of, keep = _words(uniques)
    fmt = _FORMATS[codes.dtype.name]

    def part(first: int, end: int) -> tuple[Any, Any]:
        c = np.ascontiguousarray(codes[first:end])
        nulls, at, bits = _validity(c < 0)
        if nulls:
            c = np.where(c < 0, 0, c).astype(c.dtype)
        return (nulls, (at, address(c)), (n, of)), (c, bits, keep)

    return fmt, "U", part


def _is_missing(v: Any) -> bool:
    return v is None or v is getattr(sys.modules.get("pandas"), "NA", None) or (isinstance(v, float) and v != v)


def _few_words(a: Any, most: int = 16) -> Optional[tuple[Any, list[Any]]]:
    """Of an array of text with at most so many distinct ones: its characters are compared with those of each, a place of all texts at a
    time, which is faster than a look-up of every value, and makes no Python object of it."""
    characters = np.ascontiguousarray(a).view(np.uint32).reshape(len(a), a.dtype.itemsize // 4)
    codes = np.full(len(a), -1, np.int8)
    uniques: list[str] = []
    while len(a):
        first = (codes < 0).argmax()
        if codes[first] >= 0:
            break
        if len(uniques) == most:
            return None
        same = np.ones(len(a), bool)
        for place, character in zip(characters.T, characters[first]):
            same &= place == character
        uniques.append(str(a[first]))
        codes += same.view(np.int8) * np.int8(len(uniques))  # -1 becomes the place of the text, once
    return codes, uniques


def factorize(name: str, values: Any) -> tuple[Any, list[Any]]:
    """Places in the list of distinct values, -1 for a missing one."""
    pandas = sys.modules.get("pandas")
    found = _few_words(values) if isinstance(values, np.ndarray) and values.dtype.kind == "U" and values.dtype.itemsize else None
    if found is not None:
        return found
    try:
        if pandas is not None:
            codes, uniques = pandas.factorize(np.asarray(values, object) if isinstance(values, np.ndarray) else values.to_numpy(object))
            return np.asarray(codes), list(uniques)
        seen: dict[Any, int] = {}
        codes = np.fromiter(
            (-1 if _is_missing(v) else seen.setdefault(v, len(seen)) for v in np.asarray(values, object)),
            np.int64,
            len(values),
        )
        return codes, list(seen)
    except TypeError:
        raise TypeError(f'column "{name}": values that are neither text nor numbers') from None


def _objects(name: str, values: Any) -> tuple[str, Optional[str], _Part]:
    """Python objects: text, or numbers, but not both in one column."""
    codes, uniques = factorize(name, values)
    kinds = {("text" if isinstance(u, str) else "bool" if isinstance(u, (bool, np.bool_)) else
              "number" if isinstance(u, (int, float, np.number)) else type(u).__name__) for u in uniques}  # fmt: skip
    if kinds <= {"text"}:
        return _dictionary(codes, [str(u) for u in uniques])
    if kinds in ({"number"}, {"bool"}):
        a = np.array([float(u) for u in uniques] + [np.nan])  # -1 takes the last
        return _numbers(a[codes], None) if kinds == {"number"} else _dictionary(codes, [text(u) for u in uniques])
    if all(isinstance(u, datetime.date) for u in uniques):  # datetimes, and pandas' Timestamps, are dates, too
        days = np.array([_instant(u) for u in uniques] + [None], "datetime64[us]")
        return _times(days[codes])
    word = " and ".join(sorted(kinds))
    said = f"mixes {word}" if len(kinds) > 1 else f"holds values of type {word}"
    raise TypeError(f'column "{name}" {said}: an argument must be a string or a real number, or a date, the same in all rows')


def _instant(day: Any) -> Any:
    """In UTC and without a time zone, as numpy has times."""
    if isinstance(day, datetime.datetime):
        day = getattr(day, "to_pydatetime", lambda: day)()
        return day if day.tzinfo is None else day.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return day


def _column(name: str, s: Any) -> tuple[str, Optional[str], _Part]:
    """format, format of the dictionary, and the buffers of any slice."""
    kind = getattr(s.dtype, "kind", "O") if isinstance(s.dtype, np.dtype) else None
    if kind is not None:  # numpy's own
        a = s if isinstance(s, np.ndarray) else s.to_numpy()
        if kind in "fiub":
            return _numbers(_plain(a), None)
        if kind == "M":
            return _times(a)
        if kind == "U":
            uniques, codes = np.unique(a, return_inverse=True)
            return _dictionary(codes.reshape(-1).astype(np.int64), [str(u) for u in uniques])
        if kind == "O":
            return _objects(name, s)
        raise InvalidInput(f'column "{name}" is of type {s.dtype}; numbers, text, dates and booleans can be used')
    word = str(s.dtype)
    if word == "category":
        categories = s.cat.categories
        if all(isinstance(c, str) for c in categories):
            return _dictionary(s.cat.codes.to_numpy(), list(categories))
        return _dictionary(s.cat.codes.to_numpy(), [text(c) for c in categories])
    if word.startswith("datetime64"):  # with a time zone
        return _times(s.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    if getattr(s.dtype, "kind", "?") in "fiub":  # nullable
        missing = s.isna().to_numpy()
        plain = "float64" if s.dtype.kind == "f" else "bool" if s.dtype.kind == "b" else word.lower()
        plain = plain if plain in _FORMATS else "float64"
        fill = False if plain == "bool" else 0
        return _numbers(s.to_numpy(dtype=plain, na_value=fill), missing)
    return _objects(name, s)


def _pandas(x: Any, wanted: Optional[list[str]]) -> Rows:
    wanted = [str(c) for c in x.columns] if wanted is None else wanted
    table = Table(len(x))
    for name in wanted:
        table.add(name, x[name])
    return table.rows(wanted)


def _objects_matrix(x: Any, names: list[str]) -> Rows:
    table = Table(x.shape[0])
    for j, name in enumerate(names):
        table.add(name, x[:, j])
    return table.rows(names)


# ---- one door -----------------------------------------------------------------------------------------------------------


def describe(x: Any, schema: Optional[Schema], label_inside: bool = False, least: int = 1) -> Rows:
    """Rows for the library.  schema: what is declared, if it is; label_inside: a table's own column is the label."""
    if is_path(x):
        if "," in os.fsdecode(x) and not os.path.exists(x):  # to the library, a list of files
            raise FileNotFound(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(x))
        return Rows(("files", [os.fsencode(x)]), -1, None, -1, None)
    if is_sparse(x):
        return sparse(x, least)
    if is_stream(x):
        n = length_of(x)
        if 0 <= n < least:
            raise InvalidInput(f"Found array with {n} sample(s) while a minimum of {least} is required.")
        names = names_of(x)
        return Rows(("arrow", x.__arrow_c_stream__()), n, names, len(names or ()), x)
    names = names_of(x)
    if schema is None:
        return dense(x, names, least=least)
    wanted = list(schema.columns) if label_inside else schema.but_label()
    if is_pandas(x):
        if len(x) < least:
            raise InvalidInput(f"Found array with {len(x)} sample(s) (shape={x.shape}) while a minimum of {least} is required.")
        if names is not None:
            _same_columns(names, wanted, schema)
            if not label_inside and names == wanted and _one_block(x):
                return dense(x, names, check=False, least=least)
            return _pandas(x, wanted)
        x = x.to_numpy()
    a = np.asarray(x)
    if a.ndim == 2 and a.dtype.kind in "OU" and (not schema.only_numbers or a.dtype.kind == "U"):
        _same_count(a.shape[1], wanted)
        if a.shape[0] < least:
            raise InvalidInput(f"Found array with {a.shape[0]} sample(s) (shape={a.shape}) while a minimum of {least} is required.")
        return _objects_matrix(a, wanted)
    if label_inside:
        raise InvalidInput("a matrix has no column of labels: fit(X, y)")
    rows = dense(x, names, check=False, least=least)
    _same_count(rows.columns, wanted)
    return rows


def _one_block(x: Any) -> bool:
    """All columns of one type that numpy has, so that the frame is a matrix already."""
    kinds = {t for t in x.dtypes}
    return len(kinds) == 1 and isinstance(next(iter(kinds)), np.dtype) and next(iter(kinds)).kind in "fiub"


def _same_columns(names: list[str], wanted: list[str], schema: Schema) -> None:
    missing = [n for n in wanted if n not in names]
    if missing:
        raise InvalidInput(f"the table has no column {', '.join(repr(n) for n in missing)}, which the schema declares")
    extra = [n for n in names if n not in schema.columns]
    if extra:
        raise InvalidInput(
            f"the schema does not declare {', '.join(repr(n) for n in extra)}; None declares a column that is not used"
        )
    if len(set(names)) < len(names):
        raise InvalidInput("two columns of the table have the same name")


def _same_count(columns: int, wanted: list[str]) -> None:
    if columns != len(wanted):
        raise InvalidInput(f"X has {columns} features, {len(wanted)} are declared: {', '.join(wanted[:8])}")


# ---- labels ---------------------------------------------------------------------------------------------------------------


class Labels(NamedTuple):
    spec: Optional[tuple[Any, ...]]
    keep: Any


def column(y: Any, n: int, name: str = "y") -> Any:
    """Labels, or ids of persons, as one array of n values, of numbers, booleans or objects."""
    if is_pandas(y) and y.shape[1] == 1:
        y = y.iloc[:, 0]
    if hasattr(y, "to_numpy") and not isinstance(y, np.ndarray):
        y = y.to_numpy()
    elif is_stream(y) and hasattr(y, "to_pylist"):
        y = y.to_pylist()
    a = np.asarray(y)
    if a.ndim == 2 and a.shape[1] == 1:
        _warn_column()
        a = a.reshape(-1)
    if a.ndim != 1:
        raise InvalidInput(f"{name} should be a 1d array, got an array of shape {a.shape} instead.")
    if n >= 0 and a.shape[0] != n:
        raise InvalidInput(f"Found input variables with inconsistent numbers of samples: {[n, a.shape[0]]}")
    if a.dtype.kind == "c":
        raise InvalidInput(f"Complex data not supported: {name} holds complex numbers")
    if a.dtype.kind == "f" and not np.isfinite(a).all():
        word = "NaN" if np.isnan(a).any() else "infinity"
        raise InvalidInput(f"Input {name} contains {word}.")
    return a


def _warn_column() -> None:
    import warnings

    module = sys.modules.get("sklearn.exceptions")
    kind = module.DataConversionWarning if module else UserWarning
    warnings.warn("A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), for example using ravel().", kind, stacklevel=5)


def labels(a: Any, name: str = "y") -> Labels:
    """For the binding: numbers as they are, everything else as words: of labels their places in a list of the distinct ones."""
    if a.dtype.kind in "fiub":
        a = _plain(np.ascontiguousarray(a))
        return Labels(("numbers", address(a), _TYPES[a.dtype.name], len(a)), a)
    codes, uniques = factorize(name, a)
    if len(codes) and codes.min() < 0:
        raise InvalidInput(f"Input {name} contains NaN: {'a label' if name == 'y' else 'an id'} is missing")
    words = [np.frombuffer(text(check_text(u, "a label" if name == "y" else "an id")).encode() + b"\0", np.uint8) for u in uniques]
    pointers = np.array([address(w) for w in words], np.uintp)
    if name == "y":
        places = codes.astype(np.min_scalar_type(-max(len(words), 1)), copy=False)  # an int8 up to 128 words
        spec = ("places", address(places), _TYPES[places.dtype.name], len(places), address(pointers), len(words))
        return Labels(spec, (places, pointers, words))
    pointers = pointers[codes]
    return Labels(("words", address(pointers), len(pointers)), (pointers, words))
