"""What this process has spent: the events of all its runs, to be composed, and whether rows were seen before."""

from __future__ import annotations

import logging
import math
import threading
import warnings
import zlib
from typing import Any, NamedTuple, Optional

import numpy as np

from ._errors import PrivacyWarning
from ._settings import settings, spoken

log = logging.getLogger("privet")
_lock = threading.Lock()
_seen: set[Any] = set()
_said: set[str] = set()


class Run(NamedTuple):
    what: str
    is_private: bool
    trees: dict[str, Optional[dict[str, Any]]]  # events, by relation
    draws: dict[str, float]  # of delta, beside what the events cost, by relation
    covered: float  # up to which epsilon they are enough
    relation: str
    unit: str  # "row" or "person"
    epsilon: float
    delta: float
    rows: int
    fingerprint: Any


_runs: list[Run] = []


def note(level: int, line: str) -> None:
    """The library's notes and warnings, as records of logging."""
    log.log({2: logging.WARNING, 3: logging.ERROR}.get(level, logging.INFO), "%s", spoken(line))


def fingerprint(x: Any) -> Any:
    """Tells rows that were seen from others, from a few of them; it never leaves the process."""
    try:
        n = len(x) if not hasattr(x, "shape") else x.shape[0]
        step = max(1, n // 64)
        if hasattr(x, "iloc"):
            part = x.iloc[::step].to_numpy()
        elif hasattr(x, "tocsr"):
            part = x.tocsr()[::step].toarray()
        elif isinstance(x, np.ndarray) or isinstance(x, (list, tuple)):
            part = np.asarray(x)[::step]
        else:
            return ("object", id(x), n)
        data = np.ascontiguousarray(part)
        held = repr(data.tolist()).encode() if data.dtype.kind == "O" else data.tobytes()
        return (n, np.shape(part)[1:], zlib.crc32(held))
    except Exception:
        return ("object", id(x), 0)


def seen_before(x: Any, what: str) -> Any:
    """Warns at a second fit on the same rows."""
    mark = fingerprint(x)
    with _lock:
        again = mark in _seen
        _seen.add(mark)
    if again:
        warnings.warn(
            f"{what}: these rows were used before; each certificate counts one run, privet.spent() counts all of this process",
            PrivacyWarning,
            stacklevel=3,
        )
    return mark


def finished(what: str, c: Any, mark: Any, covered: float = 0.0) -> None:
    """A run with a certificate; `covered`: up to which epsilon its share for draws is enough, if that is known."""
    share, to = c._draws
    if covered > to:
        share, to = c.delta_draws, covered
    trees, draws = c.trees(), {"zero-out": share, "replace": share}
    if c.is_private and trees["replace"] is None:
        trees["replace"], draws["replace"] = _both_ways(c.epsilon, c.delta)
    add(Run(what, c.is_private, trees, draws, to, c.relation, c.json.get("unit", "row"), c.epsilon, c.delta, c.json.get("rows", c.json.get("persons")), mark))


def ended(what: str, told: dict[str, str], rows: int, mark: Any, unit: str = "row") -> None:
    """A run that began to train and has no certificate: all of its budget counts.

    Its delta adds up with those of others.  Unless declared it is the library's, a power of ten at most 1/(10 n) and at
    least 1e-12; where n is not known, that of one row.
    """
    exposed = told.get("run.seed", "auto") != "auto" or ("run.log" in told and "run.diagnostics" in told)
    is_private = told.get("privacy", "on") != "off" and told.get("data.measured") != "bounds" and not exposed
    epsilon, said = float(told.get("budget.epsilon", settings()["epsilon"].default)), told.get("budget.delta", "auto")
    delta = max(10.0 ** math.floor(-math.log10(10.0 * max(rows, 1))), 1e-12) if said == "auto" else float(said)
    relation = told.get("budget.relation", "zero-out")
    trees: dict[str, Optional[dict[str, Any]]] = {"zero-out": None, "replace": _pure(epsilon)}
    draws = {"zero-out": delta, "replace": delta}
    if relation == "zero-out":
        trees["zero-out"] = _pure(epsilon)
        trees["replace"], draws["replace"] = _both_ways(epsilon, delta)
    add(Run(what, is_private, trees, draws, math.inf, relation, unit, epsilon, delta, rows, mark))
    log.warning("this fit ended early, and its whole budget counts as spent: privet.spent() has it")


def _pure(epsilon: float) -> dict[str, Any]:
    return {"kind": "eps-delta", "epsilon": epsilon, "delta": 0.0}


def _both_ways(epsilon: float, delta: float) -> tuple[dict[str, Any], float]:
    """Replacing a row by way of the table without it: (epsilon, delta) twice is (2 epsilon, (1 + e^epsilon) delta)."""
    return _pure(2.0 * epsilon), (1.0 + math.exp(min(epsilon, 700.0))) * delta


def add(run: Run) -> None:
    with _lock:
        _runs.append(run)
        several = len(_runs) == 2
    if several:
        log.info("several fits in this process: privet.spent() composes what they cost together")


def runs() -> list[Run]:
    with _lock:
        return list(_runs)


def forget() -> None:
    with _lock:
        _runs.clear()
        _seen.clear()
