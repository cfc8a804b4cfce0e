"""From what the user declared to what the library is told: a schema, classes, and what was taken from the rows."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _core, _rows
from ._errors import InvalidInput, Undeclared
from ._schema import Column, Schema, category, label, named, number, spellings, target, text
from ._settings import shown


class Declaration(NamedTuple):
    schema: Optional[Schema]  # None: numbers as they are, rows bounded by their norm
    by_name: bool  # the schema was declared by name: columns may stand in any order
    label_inside: bool
    classes: Any  # array of classes in order; None: a number is predicted
    settings: list[tuple[str, str]]  # data.labels, data.measured and the like
    y: Any  # labels that come apart, as an array


def declare(est: Any, x: Any, y: Any, is_classifier: bool) -> Declaration:
    """est has schema, bounds and, if it is a classifier, classes."""
    n = -1 if _rows.is_path(x) else _rows.length_of(x)
    values = None if y is None else _rows.column(y, n)
    if values is not None and not is_classifier:
        values = _numbers(values)
    settings: list[tuple[str, str]] = []
    schema, by_name, from_rows = _features(est, x, y, is_classifier)
    inside = values is None
    if inside and (schema is None or schema.label is None) and not _rows.is_path(x):
        raise InvalidInput(
            "requires y to be passed, but the target y is None: fit(X, y), or declare the column of the label: "
            "privet.Schema({..., 'back': privet.label('no', 'yes')})"
        )
    classes, found = _labels(est, schema, values, is_classifier)
    if schema is not None and schema.label is None and values is not None:
        schema = schema.with_label("label", label(*classes) if is_classifier else _target(est, values, from_rows))
    if schema is None:
        settings += _without_schema(est, x, classes, is_classifier)
    if from_rows or found:
        settings.append(("data.measured", "bounds" if from_rows else "classes"))
    return Declaration(schema, by_name, inside, classes, settings, values)


# ---- columns ---------------------------------------------------------------------------------------------------------


def _features(est: Any, x: Any, y: Any, is_classifier: bool) -> tuple[Optional[Schema], bool, bool]:
    """The schema, whether it goes by the names of columns, and whether it was taken from the rows."""
    bounds = est.bounds
    if est.schema is not None:
        if bounds is not None:
            raise InvalidInput("schema and bounds both say what values may be: give one of them")
        return Schema.of(est.schema), True, False
    if isinstance(bounds, str) and bounds == "row-norm":
        return None, False, False
    if isinstance(bounds, str) and bounds == "from-data":
        return _measured(x), False, True
    if isinstance(bounds, dict):
        return Schema(bounds), True, False
    if bounds is None:
        raise Undeclared(how_to_declare(x, y, is_classifier))
    if isinstance(bounds, str) or _rows.length_of(bounds) != 2:
        raise InvalidInput(
            f'bounds={shown(bounds)}: a pair (min, max) of numbers or of one number for each column, "row-norm" (numbers as they '
            'are, every row scaled down to row_norm) or "from-data" (NOT PRIVATE)'
        )
    names = _names(x)
    lo, hi = (_each_column(side, word, len(names)) for side, word in zip(bounds, ("minimum", "maximum")))
    return Schema({c: number(lo[j], hi[j]) for j, c in enumerate(names)}), False, False


def _each_column(side: Any, word: str, columns: int) -> Any:
    try:
        a = np.asarray(side, float)
    except (TypeError, ValueError):
        raise InvalidInput(f"bounds: the {word} is no number and no list of them, one for each column") from None
    if a.ndim == 0 or a.shape == (columns,):
        return np.broadcast_to(a, (columns,))
    said = f"{a.size} number(s)" if a.ndim == 1 else f"an array of shape {a.shape}"
    raise InvalidInput(f"bounds: the {word} is {said}, and X has {columns} column(s): one number, or one for each column, is needed")


def _names(x: Any) -> list[str]:
    names = _rows.names_of(x)
    if names is not None:
        return names
    if _rows.is_path(x):
        raise InvalidInput("X is the path of a file, whose columns a schema declares: privet.Schema.draft(path) begins one")
    if _rows.is_sparse(x):
        raise InvalidInput('sparse rows have no bounds of columns: bounds="row-norm" bounds the norm of every row (row_norm)')
    return [f"x{j}" for j in range(_rows.matrix(x, least=0).shape[1])]


def _measured(x: Any) -> Schema:
    """Bounds and values from the rows themselves: for trials, NOT PRIVATE."""
    columns: dict[str, Column] = {}
    if _rows.is_pandas(x) and _rows.names_of(x) is not None:
        if not x.columns.is_unique:
            raise InvalidInput("two columns of the table have the same name")
        for name in x.columns:
            s = x[name]
            kind = getattr(s.dtype, "kind", "O")
            columns[name] = _range(s.to_numpy(float, na_value=np.nan)) if kind in "fiub" else category(
                sorted({text(v) for v in s.dropna().unique()}))  # fmt: skip
        return Schema(columns)
    if _rows.is_stream(x) or _rows.is_sparse(x) or _rows.is_path(x):
        raise InvalidInput('bounds="from-data" is for numpy and pandas; convert the rows first')
    a = _rows.matrix(x)
    _rows.finite(a)
    return Schema({f"x{j}": _range(a[:, j]) for j in range(a.shape[1])})


def _range(a: Any) -> Column:
    lo, hi = float(np.nanmin(a)), float(np.nanmax(a))
    return number(lo, hi if hi > lo else lo + 1.0, missing="middle", outside="clamp")


def _open_columns(x: Any) -> list[tuple[str, str]]:
    """The columns of a table and how each is declared, by its type alone; of a file by its header."""
    if _rows.is_pandas(x) and _rows.names_of(x) is not None:
        words = {"f": "(min, max)", "i": "(min, max)", "u": "(min, max)", "M": "privet.date(min, max)"}
        return [(n, words.get(getattr(t, "kind", "O"), "[...]")) for n, t in zip(x.columns, x.dtypes)]
    if _rows.is_path(x):
        said = json.loads(_core.Context().draft(os.fsencode(x), None, False))
        return [(c["name"], "...") for c in said["columns"]]
    return [(name, "(min, max)") for name in _names(x)]


def _lines(columns: list[tuple[str, str]], most: int) -> str:
    inside = "".join(f"    {name!r}: {word},\n" for name, word in columns[:most])
    return inside + (f"    ...  # {len(columns) - most} more\n" if len(columns) > most else "")


def draft(x: Any, label: Optional[str]) -> str:
    columns = _open_columns(x if _rows.is_path(x) else _rows.door(x))
    _has(columns, label)
    said = [(n, "privet.label(...)" if n == label else word) for n, word in columns]
    return f"privet.Schema({{\n{_lines(said, len(said))}}})"


def _has(columns: Any, label: Optional[str]) -> None:
    if label is not None and label not in [n for n, _ in columns]:
        raise InvalidInput(f"label={label!r}: the table has no such column")


def of_public(x: Any, label: Optional[str]) -> Schema:
    if _rows.is_path(x):
        return Schema.from_json(_core.Context().draft(os.fsencode(x), label, True))
    write = getattr(x, "to_csv" if _rows.is_pandas(x) else "write_csv", None)  # polars has the other
    if write is None:
        raise InvalidInput(f"the path of a CSV, or a frame of pandas or polars, is needed, not a value of type {type(x).__name__}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "public.csv")
        write(path, **({"index": False} if _rows.is_pandas(x) else {}))
        return of_public(path, label)


def how_to_declare(x: Any, y: Any, is_classifier: bool) -> str:
    """The declaration for this very table, with its columns filled in and the bounds left open."""
    try:
        columns = _open_columns(x)
    except TypeError:  # of the names of columns
        raise
    except Exception:  # the message is about bounds, whatever else is wrong
        columns = [("x0", "(min, max)")]
    inside = _lines(columns, 20)
    if y is not None:
        inside += "    'label': " + ("privet.label('no', 'yes'),\n" if is_classifier else "privet.target(min, max),\n")
    return (
        "bounds are not declared. Declare what is publicly known about every column, not the minimum and maximum of these rows:\n"
        f"  schema = privet.Schema({{\n{inside}  }})\n"
        "or bounds=(min, max) for all columns alike; bounds=\"row-norm\" takes numbers as they are and scales every row down to "
        'the norm row_norm; bounds="from-data" takes the bounds from these rows and marks the model NOT PRIVATE'
    )


# ---- labels -----------------------------------------------------------------------------------------------------------


def _labels(est: Any, schema: Optional[Schema], y: Any, is_classifier: bool) -> tuple[Any, bool]:
    """Classes in order, and whether they were found in the rows."""
    declared = schema.columns[schema.label] if schema is not None and schema.label is not None else None
    if not is_classifier:
        if declared is not None and declared.kind != "target":
            raise InvalidInput("the schema declares classes; a Regressor needs privet.target(min, max)")
        return None, False
    if declared is not None:
        if declared.kind == "target":
            raise InvalidInput("the schema declares a number to predict; a Classifier needs privet.label('no', 'yes')")
        return _array([named(v) for v in declared.values]), False
    if est.classes is not None:
        if isinstance(est.classes, (str, bytes, dict)) or len(np.shape(est.classes)) != 1:
            raise InvalidInput(f"classes: a list of them is needed, not a value of type {type(est.classes).__name__}")
        if len(est.classes) < 2:
            raise InvalidInput("classes: at least two are needed")
        if len(set(est.classes)) < len(est.classes):
            raise InvalidInput("classes: each is listed once, in order; these are listed twice or more, as in a column of labels")
        return _array(list(est.classes)), False
    if y is None:
        return None, False
    if y.dtype.kind == "f" and not np.all(y == np.floor(y)):
        raise InvalidInput("Unknown label type: continuous. Numbers that are no classes are for a Regressor.")
    try:
        classes = np.unique(y)
    except TypeError:
        raise TypeError("y mixes text and numbers: an argument must be a string or a real number in all rows") from None
    if len(classes) < 2:
        raise InvalidInput(f"y holds {len(classes)} class(es); at least two are needed, and classes=[...] declares them")
    return classes, True


def _numbers(y: Any) -> Any:
    if y.dtype.kind in "fiub":
        return y
    try:
        return y.astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("Unknown label type: y holds values that are no numbers; classes are for a Classifier") from None


def _array(values: list[Any]) -> Any:
    a = np.asarray(values)
    return a if a.dtype.kind in "fiubU" and all(text(v) == text(w) for v, w in zip(values, a)) else np.array(values, object)


def _target(est: Any, y: Any, from_rows: bool) -> Column:
    lo, hi = est.y_min, est.y_max
    if from_rows and (lo in (None, "auto") or hi in (None, "auto")):
        c = _range(np.asarray(y, float))
        return target(c.fields["min"], c.fields["max"])
    if lo in (None, "auto") or hi in (None, "auto"):
        raise Undeclared(
            "bounds of the number to predict are not declared: y_min=..., y_max=..., or privet.target(min, max) in the schema"
        )
    return target(lo, hi)


def _without_schema(est: Any, x: Any, classes: Any, is_classifier: bool) -> list[tuple[str, str]]:
    out = []
    if not _rows.is_path(x) and not _rows.is_stream(x):
        shape = x.shape if hasattr(x, "shape") else np.shape(x)
        if len(shape) == 2:
            out.append(("data.features", str(shape[1])))
    if not is_classifier:
        if est.y_min in (None, "auto") or est.y_max in (None, "auto"):
            raise Undeclared("bounds of the number to predict are not declared: y_min=..., y_max=...")
        return out
    said = ["|".join(s) if isinstance(s, list) else s for s in (spellings(c) for c in classes)]
    if any("," in text(c) or "|" in text(c) for c in classes):
        raise InvalidInput('a class with a comma or a bar in its name needs a schema: privet.label(...)')
    return out + [("data.labels", ",".join(said))]
