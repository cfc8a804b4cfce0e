"""What is publicly known about a table: declared, never learnt from its rows."""

from __future__ import annotations

import datetime
import json
import math
import numbers
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np

from ._errors import InvalidInput, read_file
from ._settings import shown


_SHOWN = 20  # values or knots in a repr


def _short(value: Any) -> str:
    if isinstance(value, list) and len(value) > _SHOWN:
        return f"[{', '.join(map(repr, value[:_SHOWN]))}, ... {len(value) - _SHOWN} more]"
    return repr(value)


class Column:
    """One declared column; made by `number`, `category`, `date`, `person`, `ignore`, `label` and `target`."""

    __slots__ = ("kind", "fields", "values")

    def __init__(self, kind: str, fields: Mapping[str, Any], values: Sequence[Any] = ()) -> None:
        self.kind = kind
        self.fields = {k: v for k, v in fields.items() if v is not None}
        self.values = tuple(values)

    def __repr__(self) -> str:
        said = [f"{k}={_short(v)}" for k, v in self.fields.items()]
        values = [repr(v) for v in self.values[:_SHOWN]]
        values += [f"... {len(self.values) - _SHOWN} more"] if len(self.values) > _SHOWN else []
        return f"privet.{self.kind}({', '.join(values + said)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Column) and self._all() == other._all()

    def __hash__(self) -> int:
        return hash(repr(self))

    def _all(self) -> tuple[Any, ...]:
        return self.kind, self.fields, self.values

    def to_json(self, name: str) -> dict[str, Any]:
        kind = "label" if self.kind == "target" else self.kind
        out: dict[str, Any] = {"name": name, "type": kind, **self.fields}
        if self.values:
            out["values"] = [spellings(v) for v in self.values]
        return out


def text(value: Any) -> str:
    """How a value is written in a declaration and in messages."""
    value = value.item() if hasattr(value, "item") and not isinstance(value, (str, bytes)) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def check_text(value: Any, what: str) -> Any:
    """The value; text that the library cannot take is refused, and not repeated, since it may come from rows."""
    if isinstance(value, str) and ("\0" in value or any("\ud800" <= c <= "\udfff" for c in value)):
        raise InvalidInput(f"{what} holds a zero character or half of a surrogate pair, which is no text in UTF-8")
    return value


def spellings(value: Any) -> Any:
    """A value, or all its spellings where Python has several for one; {name: spellings} of a group with a name of its own."""
    if isinstance(value, Mapping):
        return {str(name): [text(v) for v in said] for name, said in value.items()}
    if isinstance(value, (list, tuple)):
        return [text(v) for v in value]
    if isinstance(value, (bool, np.bool_)):
        return ["true", "1"] if value else ["false", "0"]
    return text(value)


def named(value: Any) -> Any:
    """What a declared value is called: the name of a group, the first of several spellings."""
    return next(iter(value)) if isinstance(value, (Mapping, list, tuple)) else value


def canonical(values: Iterable[Any]) -> dict[str, str]:
    """By every spelling of declared values, in the library's text, the name of the value."""
    out = {}
    for value in values:
        said, name = spellings(value), text(named(value))
        for word in next(iter(said.values())) if isinstance(said, dict) else said if isinstance(said, list) else [said]:
            out[word] = name
        out[name] = name
    return out


def number(
    min: float,
    max: float,
    *,
    missing: Optional[str] = None,
    outside: Optional[str] = None,
    text: Optional[str] = None,
    curve: Optional[bool] = None,
    knots: Optional[Sequence[float]] = None,
    scale: Optional[str] = None,
    monotone: Optional[str] = None,
) -> Column:
    """A number between two declared bounds.

    missing: "error" (default), "zero" or "middle"; outside: "error" (default), "clamp" or "missing"; text="missing" takes what is
    no number for missing. Where the model has curves: curve=False keeps a straight line, knots says where the curve may bend, or scale ("linear", "log", "symlog") where knots are put, and monotone
    ("up", "down") lets it only rise or only fall.

    >>> import privet
    >>> privet.number(0, 100, missing="middle")
    privet.number(min=0.0, max=100.0, missing='middle')
    """
    if not (float(min) < float(max)) or math.isinf(float(min)) or math.isinf(float(max)):
        raise InvalidInput(f"bounds {min!r} .. {max!r}: two finite numbers are needed, the smaller one first")
    bends = {"curve": curve, "knots": None if knots is None else [float(k) for k in knots], "scale": scale, "monotone": monotone}
    return Column("number", {"min": float(min), "max": float(max), "missing": missing, "outside": outside, "text": text, **bends})


def date(min: Any, max: Any, *, missing: Optional[str] = None, outside: Optional[str] = None) -> Column:
    """A date or time between two declared ones, as text (`"2024-01-31"`) or `datetime.date`.

    >>> import privet
    >>> privet.date("2020-01-01", "2024-12-31")
    privet.date(min='2020-01-01', max='2024-12-31')
    """
    return Column("date", {"min": str(min), "max": str(max), "missing": missing, "outside": outside})


def category(values: Iterable[Any], *, missing: Optional[str] = None, outside: Optional[str] = None) -> Column:
    """A column with one of the declared values; a list inside the list holds several spellings of one, and {"name": [...]}
    values that count as one of that name.

    outside: "error" (default), "missing", or "other": values that are not declared count as one more value of that name.

    >>> import privet
    >>> privet.category(["surgery", "medicine"])
    privet.category('surgery', 'medicine')
    """
    return Column("category", {"missing": missing, "outside": outside}, list(values))


def label(*values: Any) -> Column:
    """The column to predict, with its classes in order; a list holds spellings of one class, {"name": [...]} a group of them.

    >>> import privet
    >>> privet.label("no", "yes")
    privet.label('no', 'yes')
    """
    if len(values) == 1 and isinstance(values[0], (list, tuple)):
        values = tuple(values[0])
    if len(values) < 2:
        raise InvalidInput("a label has at least two classes: privet.label('no', 'yes'); a number is a privet.target(min, max)")
    return Column("label", {}, values)


def target(min: float, max: float, *, outside: Optional[str] = None) -> Column:
    """The number to predict, between two declared bounds.

    >>> import privet
    >>> privet.target(0, 50)
    privet.target(min=0.0, max=50.0)
    """
    return Column("target", {**number(min, max).fields, "outside": outside})


def person(rows: Optional[int] = None) -> Column:
    """A column that says whose row it is: no feature, and the guarantee is for a person with all of their rows.

    rows: how many of one person count, at most, unless the estimator's `person_rows` says it.

    >>> import privet
    >>> privet.person()
    privet.person()
    """
    return Column("person", {"rows": rows})


def ignore() -> Column:
    """A column that is there and not used.

    >>> import privet
    >>> privet.ignore()
    privet.ignore()
    """
    return Column("ignore", {})


def _column(name: str, said: Any) -> Column:
    if isinstance(said, Column):
        return said
    if said is None:
        return ignore()
    if isinstance(said, tuple) and len(said) == 2:
        if all(isinstance(v, numbers.Real) and not isinstance(v, bool) for v in said):
            return number(said[0], said[1])
        if all(isinstance(v, (datetime.date, datetime.datetime)) for v in said):
            return date(said[0], said[1])
    if isinstance(said, list):
        return category(said)
    raise InvalidInput(
        f'column "{name}": (min, max) declares a number, a list of values a category, privet.label(...) the label, '
        f"None a column that is not used; {shown(said)} is none of these"
    )


def _from_json(c: Mapping[str, Any]) -> Column:
    fields = {k: v for k, v in c.items() if k not in ("name", "type", "values")}
    kind = "target" if c["type"] == "label" and "values" not in c else c["type"]
    return Column(kind, fields, [tuple(v) if isinstance(v, list) else v for v in c.get("values", ())])


class Schema:
    """The declared columns of a table, in order.

    >>> import privet
    >>> schema = privet.Schema({"age": (0, 100), "ward": ["surgery", "medicine"], "back": privet.label("no", "yes")})
    >>> schema.features, schema.label
    (['age', 'ward'], 'back')
    """

    def __init__(self, columns: Mapping[str, Any], *, missing: Sequence[str] = ("",)) -> None:
        if not isinstance(columns, Mapping):
            raise TypeError(f"a dict of columns is needed, {{'age': (0, 100), ...}}, not a value of type {type(columns).__name__}")
        self.columns = {check_text(str(name), "the name of a column"): _column(str(name), said) for name, said in columns.items()}
        for column in self.columns.values():
            for word in canonical(column.values):
                check_text(word, "a declared value")
        self.missing = tuple(missing)
        labels = [n for n, c in self.columns.items() if c.kind in ("label", "target")]
        if len(labels) > 1:
            raise InvalidInput(f"two labels: {', '.join(labels)}; a table has one")
        #: The name of the column to predict; None: labels come apart.
        self.label: Optional[str] = labels[0] if labels else None
        self._others = [n for n in self.columns if n != self.label]
        self.only_numbers = all(self.columns[n].kind == "number" for n in self._others)
        self._file: dict[str, Any] = {}  # of a schema file: header, separator, skip

    @property
    def features(self) -> list[str]:
        """The columns to predict from, as declared; ignored ones are none."""
        return [n for n, c in self.columns.items() if c.kind in ("number", "category", "date")]

    def but_label(self) -> list[str]:
        """All columns but the label's, the ignored ones too."""
        return list(self._others)

    def _with(self, columns: Mapping[str, Any]) -> "Schema":
        out = Schema(columns, missing=self.missing)
        out._file = self._file
        return out

    def with_label(self, name: str, column: Column) -> "Schema":
        while name in self.columns:
            name += "_"
        return self._with({**self.columns, name: column})

    def without_label(self) -> "Schema":
        return self._with({n: self.columns[n] for n in self.but_label()})

    def encoded(self, curves: bool = False) -> list[str]:
        """The names of the numbers that a model sees: a category has one for each value, and with curves a number one for each
        of its knots, and one more where it may be missing."""
        out = []
        for name in self.features:
            c = self.columns[name]
            knots = c.fields.get("knots") if curves else None
            if knots is None:
                out += [f"{name}={text(named(v))}" for v in c.values] or [name]
                continue
            out += [f"{name}@{k:g}" if isinstance(k, (int, float)) else f"{name}@{k}" for k in knots]
            out += [f"{name}=missing"] if c.fields.get("missing", "error") != "error" else []
        return out

    def to_json(self) -> str:
        """The same declaration as the command's --schema takes it."""
        columns = [c.to_json(n) for n, c in self.columns.items()]
        return json.dumps({**self._file, "missing": list(self.missing), "columns": columns})

    @staticmethod
    def draft(X: Any, label: Optional[str] = None) -> str:
        """A declaration to begin with, as text, for a table or the path of a CSV: its columns, with the bounds left open.

        No row is read. Fill in what everybody may know; bounds copied from private rows would reveal them.

        >>> import pandas as pd, privet  # doctest: +SKIP
        >>> print(privet.Schema.draft(pd.DataFrame({"age": [31], "ward": ["surgery"], "back": ["no"]}), label="back"))  # doctest: +SKIP
        privet.Schema({
            'age': (min, max),
            'ward': [...],
            'back': privet.label(...),
        })
        """
        from ._declare import draft

        return draft(X, label)

    @classmethod
    def of_public(cls, X: Any, label: Optional[str] = None) -> "Schema":
        """Types, bounds and values from the rows themselves, of a table or the path of a CSV: for rows that are public.

        What `privet schema draft --public` says of them: look it over before a fit.
        """
        from ._declare import of_public

        return of_public(X, label)

    @classmethod
    def from_json(cls, said: str) -> "Schema":
        """From the text of a schema, as the command's files have it."""
        root = json.loads(said)
        self = cls({c["name"]: _from_json(c) for c in root["columns"]}, missing=root.get("missing", [""]))
        if len(self.columns) < len(root["columns"]):
            raise InvalidInput("two columns of the schema have the same name")
        self._file = {k: v for k, v in root.items() if k not in ("missing", "columns")}
        return self

    @classmethod
    def of(cls, said: Union["Schema", Mapping[str, Any], str, "os.PathLike[str]"]) -> "Schema":
        """A schema, what `Schema()` takes, or the path of a schema file."""
        if isinstance(said, Schema):
            return said
        if isinstance(said, Mapping):
            return cls(said)
        if not isinstance(said, (str, os.PathLike)) or "\n" in os.fsdecode(said):
            raise TypeError(f"schema: a privet.Schema, a dict or the path of a file is needed, not {shown(said)}")
        held = read_file(said)
        try:
            return cls.from_json(held.decode())
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            raise InvalidInput(f"{said}: not a schema: {e}") from None

    def __repr__(self) -> str:
        inside = ", ".join(f"{n!r}: {c!r}" for n, c in self.columns.items())
        return f"Schema({{{inside}}})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(repr(self))
