"""Every setting of the library as a keyword: names, defaults, ranges and help come from the library's own tables."""

from __future__ import annotations

import json
import numbers
import os
import re
from functools import lru_cache
from typing import Any, NamedTuple, Optional

import numpy as np

from . import _core
from ._errors import InvalidSetting

# Said by schema, bounds and classes, or about files of text only.
_NOT_KEYWORDS = frozenset(
    "data.path data.format data.schema data.labels data.rows data.features data.measured data.chunk data.max_line "
    "data.max_expansion data.trained_on".split()
)


class Setting(NamedTuple):
    key: str
    keyword: str
    kind: str
    default: Any
    help: str
    allowed: str
    of: tuple[str, ...]  # plug-ins that have it; (): it belongs to none


def keyword(key: str) -> str:
    """budget.epsilon is epsilon, optimizer.steps is optimizer_steps; data.transform stays data_transform, since what has a
    transform is a transformer to scikit-learn."""
    family, _, rest = key.partition(".")
    return (rest if rest not in ("", "transform") and family in ("budget", "data", "run") else key).replace(".", "_")


def _allowed(row: dict[str, Any]) -> str:
    if "choices" in row:
        return " | ".join(repr(c) for c in row["choices"].split("|"))
    return f"{row['min']:g} .. {row['max']:g}" if "min" in row else ""


@lru_cache(maxsize=None)
def table() -> dict[str, Any]:
    """What `privet list --json` prints."""
    return json.loads(_core.Context().list())  # type: ignore[no-any-return]


@lru_cache(maxsize=None)
def settings() -> dict[str, Setting]:
    """By keyword; a plug-in's setting has the default None: the plug-in's own."""
    out: dict[str, Setting] = {}
    for row in table()["settings"]:
        if row["key"] not in _NOT_KEYWORDS:
            word = keyword(row["key"])
            out[word] = Setting(row["key"], word, row["type"], row["default"], row["help"], _allowed(row), ())
    for kind in ("loss", "model", "reg", "set", "optimizer", "accountant"):
        for plugin in table().get(kind, ()):
            for row in plugin["settings"]:
                word, name = keyword(row["key"]), plugin["name"]
                known = out.get(word)
                if known is None or not known.of:
                    out[word] = Setting(row["key"], word, row["type"], None, row["help"], _allowed(row), (name,))
                else:
                    out[word] = known._replace(of=known.of + (name,))
    return out


_ALSO = {"data.schema": "schema", "data.labels": "classes", "predict.threshold": "threshold", "predict.cost": "cost"}  # said by keywords of the estimators
_PHRASES = (  # of the command: what to say in their place
    (re.compile(r"; data\.(rows|features)= declares them"), ""),
    (re.compile(r"`privet list` shows (which it has|every setting)"), "help(privet.Classifier) lists all of them"),
    (re.compile(r" \(--rows-per-person K\)"), ""),
    (re.compile(r"--(relation|privacy) ([a-z-]+)"), r'\1="\2"'),
)
_KEY = re.compile(r"\b[a-z]+\.[a-z_0-9]+\b")


def spoken(line: str) -> str:
    """A message of the library with keywords in place of its keys; what it quotes from rows stays as it is."""
    keys = {s.key: word for word, s in settings().items()}
    keys.update(_ALSO)
    parts = line.split('"')
    for i in range(0, len(parts), 2):  # outside of quotes
        for phrase, said in _PHRASES:
            parts[i] = phrase.sub(said, parts[i])
        parts[i] = _KEY.sub(lambda m: keys.get(m.group(), m.group()), parts[i])
    return '"'.join(parts)


_FILES = frozenset("holdout log key_path set_vertices optimizer_start".split())
_LISTS = frozenset("measure model_layers".split())  # beside those of kind numbers
_MOST = 4096  # characters of a value, and 256 of a list's: more is data by mistake, which messages would repeat


def shown(value: Any) -> str:
    """For messages and reprs: never what may be rows, which are arrays, frames and the like."""
    if isinstance(value, (list, tuple)) and len(value) <= 20:
        inside = ", ".join(shown(v) for v in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict) and len(value) <= 200:
        return "{" + ", ".join(f"{k!r}: {shown(v)}" for k, v in value.items()) + "}"
    plain = value is None or isinstance(value, (numbers.Number, np.generic, os.PathLike)) or callable(value)
    if plain or (isinstance(value, str) and len(value) <= 200) or type(value).__module__.startswith("privet"):
        return repr(value)
    return f"<{type(value).__name__}>"


def _needed(s: Setting) -> str:
    if s.keyword in _FILES:
        return "weights to start from are text or the path of a file" if s.keyword == "optimizer_start" else "the path of a file is needed"
    if s.kind == "numbers":
        return "a number, or a list with one for each layer, is needed"
    said = {"text": "text is needed", "yes/no": "True or False is needed", "choice": f"one of {s.allowed} is needed"}
    return said.get(s.kind, f"a {'whole ' if s.kind == 'integer' else ''}number is needed")


def to_text(s: Setting, value: Any) -> str:
    """A value as the library reads it; what cannot be one is refused here, since the library's messages repeat values."""
    kind = type(value).__name__
    if isinstance(value, np.ndarray) and value.ndim <= 1:
        value = value.tolist()
    if isinstance(value, (list, tuple)) and (s.kind == "numbers" or s.keyword in _LISTS) and len(value) <= 256:
        if not any(isinstance(v, (list, tuple)) for v in value):
            return ",".join(to_text(s, v) for v in value)
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, numbers.Number):
        return repr(value) if isinstance(value, float) else str(value)
    if isinstance(value, (str, os.PathLike)):
        said = os.fsdecode(value)
        if len(said) <= _MOST and "\n" not in said:
            return said
        raise InvalidSetting(f"{s.keyword}: {_needed(s)}, not {len(said)} characters of text")
    raise InvalidSetting(f"{s.keyword}: {_needed(s)}, not a value of type {kind}")


def pairs(given: dict[str, Any]) -> list[tuple[str, str]]:
    """key=value for all that differ from the library's default."""
    out = []
    for word, value in given.items():
        s = settings().get(word)
        if s is None:
            raise InvalidSetting(f"there is no setting {word}")
        if value is not None and not (type(value) is type(s.default) and value == s.default):
            out.append((s.key, to_text(s, value)))
    return out


_BUDGET = ("epsilon", "delta", "relation", "accountant", "privacy", "seed")  # of an evaluation: pv_model_evaluate


def budget(given: dict[str, Any]) -> list[tuple[str, str]]:
    """Settings of an evaluation, of those that it has."""
    for word in given:
        if word not in _BUDGET:
            raise TypeError(f"there is no keyword {word!r}; an evaluation has {', '.join(_BUDGET)}")
    return [("budget.epsilon", to_text(settings()["epsilon"], given["epsilon"])), *pairs({w: v for w, v in given.items() if w != "epsilon"})]


def document(words: list[str], own: Optional[dict[str, str]] = None) -> str:
    """The section on parameters of a docstring."""
    lines = ["Parameters", "----------"]
    for word, said in (own or {}).items():
        lines += [word, f"    {said}"]
    for word in words:
        s = settings()[word]
        of = f" Of {', '.join(s.of)}." if s.of else ""
        allowed = f" Allowed: {s.allowed}." if s.allowed else ""
        lines += [f"{word} : {s.kind}, default {s.default!r}", f"    {s.help}.{allowed}{of} Setting {s.key}."]
    return "\n".join(lines)
