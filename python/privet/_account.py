"""The accountants as functions: what noise costs, how much a budget needs, curves; for releases made here or elsewhere."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import Any, Optional, Union

import numpy as np

from . import _core, _ledger
from ._errors import InvalidInput, InvalidSetting, Unsupported
from ._model import Certificate


class Event:
    """A release, or a tree of releases, as certificates record them.

    Events are added to follow one another and multiplied to be repeated. One that is made of a certificate knows both
    neighbouring relations and the share of delta that the accuracy of the draws takes; others are the same under both.

    >>> import privet
    >>> step = privet.Event.poisson(0.004, privet.Event.gaussian(1.1))
    >>> event = step * 1000 + privet.Event.laplace(10)
    >>> round(event.epsilon(1e-5), 2)
    0.6...
    """

    __slots__ = ("_trees", "_draws", "_covered", "_unit")

    def __init__(self, tree: dict[str, Any]) -> None:
        self._trees: dict[str, Optional[dict[str, Any]]] = {"zero-out": tree, "replace": tree}
        self._draws, self._covered = 0.0, math.inf
        self._unit: Optional[str] = None  # "row" or "person" of a certificate

    @classmethod
    def _of_both(cls, trees: dict[str, Optional[dict[str, Any]]], draws: float, covered: float) -> "Event":
        """With one tree for each relation (None: the releases say nothing under it) and a share of delta for the draws, which is
        enough up to an epsilon (src/acct/draws.c)."""
        self = cls({})
        self._trees, self._draws, self._covered = trees, draws, covered
        return self

    @classmethod
    def _around(cls, events: list["Event"], make: Callable[[list[Any]], dict[str, Any]], times: int = 1) -> "Event":
        """A tree around others, for each relation that all of them know; draws are made so many times."""
        trees: dict[str, Optional[dict[str, Any]]] = {}
        for relation in ("zero-out", "replace"):
            inside = [e._trees[relation] for e in events]
            trees[relation] = None if None in inside else make(inside)
        out = cls._of_both(trees, times * sum(e._draws for e in events), min([e._covered for e in events], default=math.inf))
        out._unit = _one_unit(e._unit for e in events)
        return out

    @property
    def json(self) -> dict[str, Any]:
        """The tree as certificates have it: under zero-out, or under replace if that is the only one."""
        return self._trees["zero-out"] or self._trees["replace"] or {}

    @property
    def _relation(self) -> str:
        """The one to ask about unless another is said."""
        return "zero-out" if self._trees["zero-out"] is not None else "replace"

    def _under(self, relation: str) -> dict[str, Any]:
        tree = self._trees.get(relation, self.json)
        if tree is None:
            known = [r for r, t in self._trees.items() if t is not None]
            hint = f'ask with relation="{known[0]}"' if known else "no relation covers all of them"
            raise Unsupported(f'not all of the releases are recorded under relation="{relation}": {hint}')
        return tree

    @classmethod
    def gaussian(cls, noise_multiplier: float) -> "Event":
        """Gaussian noise: standard deviation / sensitivity."""
        return cls({"kind": "gaussian", "noise_multiplier": _finite("noise_multiplier", noise_multiplier)})

    @classmethod
    def laplace(cls, scale: float) -> "Event":
        """Laplace noise: scale / sensitivity."""
        return cls({"kind": "laplace", "scale": _finite("scale", scale)})

    @classmethod
    def select(cls, epsilon: float) -> "Event":
        """A choice by noisy scores."""
        return cls({"kind": "select", "epsilon": _finite("epsilon", epsilon)})

    @classmethod
    def eps_delta(cls, epsilon: float, delta: float = 0.0) -> "Event":
        """Anything that is (epsilon, delta)-private."""
        return cls({"kind": "eps-delta", "epsilon": _finite("epsilon", epsilon), "delta": _finite("delta", delta)})

    @classmethod
    def none(cls) -> "Event":
        """Nothing was released."""
        return cls({"kind": "none"})

    @classmethod
    def nonprivate(cls) -> "Event":
        """Something was released without noise."""
        return cls({"kind": "nonprivate"})

    @classmethod
    def poisson(cls, rate: float, event: "Event") -> "Event":
        """The event on a sample in which every row is with this probability."""
        q = _finite("rate", rate)
        return cls._around([event], lambda e: {"kind": "poisson", "rate": q, "event": e[0]})

    @classmethod
    def fixed(cls, rate: float, event: "Event") -> "Event":
        """The event on a sample of fixed size, without replacement; proofs are for relation "replace"."""
        q = _finite("rate", rate)
        return cls._around([event], lambda e: {"kind": "fixed", "rate": q, "event": e[0]})

    @classmethod
    def cyclic(cls, parts: int, event: "Event") -> "Event":
        """The event on each of so many parts of the rows in turn."""
        k = _whole("parts", parts)
        return cls._around([event], lambda e: {"kind": "cyclic", "parts": k, "event": e[0]}, k)

    @classmethod
    def sequence(cls, events: Iterable["Event"]) -> "Event":
        """One after the other, each chosen with what came before in view."""
        return cls._around(list(events), lambda e: {"kind": "sequence", "events": e})

    @classmethod
    def of(cls, what: Any) -> "Event":
        """An event, a certificate, a fitted estimator, a tree as JSON has it, or a DpEvent of dp_accounting."""
        if isinstance(what, Event):
            return what
        if isinstance(what, dict):
            return cls(what)
        c = getattr(what, "certificate_", what)
        if isinstance(c, Certificate):
            event = Event._of_both(c.trees(), *c._draws) if c.is_private else Event.nonprivate()
            event._unit = c.json.get("unit", "row")
            return event
        if type(what).__name__.endswith("DpEvent"):
            return _of_dp_event(what)
        raise InvalidInput(f"{type(what).__name__}: an Event, a certificate, a fitted estimator or a DpEvent is needed")

    def __mul__(self, times: int) -> "Event":
        n = _whole("times", times)
        return Event._around([self], lambda e: {"kind": "repeat", "times": n, "event": e[0]}, n)

    __rmul__ = __mul__

    def __add__(self, other: Any) -> "Event":
        return Event.sequence([self, Event.of(other)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and self._trees == other._trees and self._draws == other._draws

    def __hash__(self) -> int:
        return hash(json.dumps(self.json))

    def __repr__(self) -> str:
        return f"Event({json.dumps(self.json)})"

    def epsilon(self, delta: float, **more: Any) -> float:
        """An upper bound of epsilon at this delta; `account` says what else can be asked."""
        return float(account(events=self, delta=delta, **more))

    def delta(self, epsilon: float, **more: Any) -> float:
        """An upper bound of delta at this epsilon."""
        return float(account(events=self, epsilon=epsilon, **more))


def _one_unit(units: Iterable[Optional[str]]) -> Optional[str]:
    """Releases that protect persons and releases that protect rows have no cost together."""
    known = {u for u in units if u is not None}
    if len(known) > 1:
        raise Unsupported("some of these protect persons, others rows: what they cost together is known for neither")
    return known.pop() if known else None


def _finite(word: str, x: Any) -> float:
    value = float(x)
    if not math.isfinite(value):
        raise InvalidSetting(f"{word}={value}: a finite number is needed")
    return value


def _whole(word: str, n: Any) -> int:
    """Refused unless whole: rounding down would price fewer releases than there are."""
    if isinstance(n, (int, float, np.integer, np.floating)) and n >= 0 and n == n // 1:  # infinity // 1 is NaN
        return int(n)
    said = f"{word}={n}" if isinstance(n, (int, float, np.number)) else f"{word}: {type(n).__name__}"
    raise InvalidSetting(f"{said}: a whole number, 0 or more, is needed")


# By the name of the class, so that dp_accounting need not be imported: the fields that say it.
def _of_dp_event(e: Any) -> Event:
    name = type(e).__name__
    if name == "NoOpDpEvent":
        return Event.none()
    if name == "NonPrivateDpEvent":
        return Event.nonprivate()
    if name == "GaussianDpEvent":
        return Event.gaussian(e.noise_multiplier) if e.noise_multiplier > 0 else Event.nonprivate()
    if name == "LaplaceDpEvent":
        return Event.laplace(e.noise_multiplier) if e.noise_multiplier > 0 else Event.nonprivate()
    if name == "EpsilonDeltaDpEvent":
        return Event.eps_delta(e.epsilon, e.delta)
    if name == "PoissonSampledDpEvent":
        return Event.poisson(e.sampling_probability, _of_dp_event(e.event))
    if name == "SampledWithoutReplacementDpEvent":
        return Event.fixed(e.sample_size / e.source_dataset_size, _of_dp_event(e.event))
    if name == "SelfComposedDpEvent":
        return _of_dp_event(e.event) * _whole("count", e.count)
    if name == "ComposedDpEvent":
        return Event.sequence(_of_dp_event(x) for x in e.events)
    raise Unsupported(f"{name}: no accountant here has a proof for it")


_ANY_EPSILON = 1e9  # for shares of delta that are enough at every epsilon
_ALIASES = {"noise_multiplier": "z", "sample_rate": "q", "sampling_rate": "q"}


def _request(events: Any, said: dict[str, Any]) -> dict[str, Any]:
    for word, v in said.items():
        if isinstance(v, (float, np.floating)):
            _finite(word, v)
    out = {_ALIASES.get(k, k): v for k, v in said.items() if v is not None}
    if events is not None:
        out.pop("mechanism", None)
        event = Event.of(events)
        out.setdefault("relation", event._relation)
        out["events"] = event._under(out["relation"])
        if event._draws > 0:
            out["draws"], out["draws_epsilon"] = event._draws * (1.0 + 1e-15), min(event._covered, _ANY_EPSILON)
    return {k: v.item() if hasattr(v, "item") else v for k, v in out.items()}


def _each(question: str, events: Any, said: dict[str, Any], field: Any, full: bool) -> Any:
    """One answer, or an array of them where numbers are arrays."""
    arrays = {k: np.asarray(v) for k, v in said.items() if np.ndim(v) > 0}
    context = _core.Context()
    if not arrays:
        got = json.loads(context.ask(question, json.dumps(_request(events, said))))
        return got if full else field(got, said.get("delta"))
    if full:
        raise InvalidInput("full=True is for one question, not for arrays")
    places = np.broadcast(*arrays.values())
    spread = {k: np.broadcast_to(a, places.shape) for k, a in arrays.items()}
    out = np.empty(places.shape)
    for at in np.ndindex(places.shape):
        one = {**said, **{k: a[at] for k, a in spread.items()}}
        out[at] = field(json.loads(context.ask(question, json.dumps(_request(events, one)))), one.get("delta"))
    return out


def _epsilon_at(answer: dict[str, Any], delta: Any) -> float:
    """Refused where the draws leave nothing of delta: the answer is at a larger one, and a number alone would not say so."""
    if delta is not None and _number(answer["delta"]) > float(delta):
        taken = _number(answer["delta_draws"])
        raise InvalidInput(f"delta={float(delta):g}: the accuracy of the draws takes {taken:g} of it; ask at a larger delta")
    return _number(answer["epsilon"])


def account(
    mechanism: str = "gaussian", *, events: Any = None, epsilon: Any = None, delta: Any = None, full: bool = False, **more: Any
) -> Any:
    """What releases cost: epsilon at a delta, or delta at an epsilon; never below the truth.

    Numbers may be arrays, which are broadcast: noise_multiplier (or z), sample_rate (or q), steps, scale, eps0, delta0.
    sampler, relation ("zero-out" or "replace"), accountant ("best") and rows (a group of so many) are as in
    `privet account`. full=True: the whole answer.

    >>> import numpy as np, privet
    >>> round(privet.account(noise_multiplier=1.1, sample_rate=0.004, steps=1000, delta=1e-5), 3)
    0.558
    >>> privet.account(noise_multiplier=np.array([1.0, 2.0]), delta=1e-5).round(2)
    array([4.38, 1.99])
    """
    wants_delta = epsilon is not None and delta is None
    said = {"mechanism": mechanism, "epsilon": epsilon, "delta": delta, **more}
    return _each("account", events, said, lambda a, at: _number(a["delta"]) if wants_delta else _epsilon_at(a, at), full)


def calibrate(
    epsilon: Any, delta: Any = None, *, mechanism: str = "gaussian", events: Any = None, full: bool = False, **more: Any
) -> Any:
    """The least noise multiplier that a budget allows; with events, the least factor of their noise.

    >>> import privet
    >>> round(privet.calibrate(epsilon=1.0, delta=1e-5, sample_rate=0.004, steps=1000), 3)
    0.863
    """
    said = {"mechanism": mechanism, "epsilon": epsilon, "delta": delta, **more}
    return _each("calibrate", events, said, lambda a, _: _number(a["noise_multiplier" if "noise_multiplier" in a else "factor"]), full)


def curve(mechanism: str = "gaussian", *, events: Any = None, **more: Any) -> tuple[Any, Any]:
    """All of it: arrays of epsilon and of the delta that goes with each.

    >>> import privet
    >>> epsilon, delta = privet.curve(noise_multiplier=1.0)
    >>> bool((delta[1:] <= delta[:-1]).all())
    True
    """
    got = json.loads(_core.Context().ask("curve", json.dumps(_request(events, {"mechanism": mechanism, **more}))))
    return np.array([_number(x) for x in got["epsilon"]]), np.array([_number(x) for x in got["delta"]])


def compose(*what: Any, delta: Optional[float] = None, **more: Any) -> Union[Event, float]:
    """Several releases as one event, or with a delta what they cost together: events, certificates, fitted estimators.

    relation: "zero-out", or "replace" if one of the certificates is for that one, unless given.

    >>> import privet
    >>> round(privet.compose(privet.Event.gaussian(4.0), privet.Event.gaussian(3.0), delta=1e-5), 2)
    1.6...
    """
    event = Event.sequence(_merged([Event.of(w) for w in what]))
    return event if delta is None else event.epsilon(delta, **more)


def _merged(events: list[Event]) -> list[Event]:
    """Equal ones once, repeated: accountants take long lists as they are."""
    counts: dict[Event, int] = {}
    for e in events:
        counts[e] = counts.get(e, 0) + 1
    return [e if n == 1 else e * n for e, n in counts.items()]


def _number(x: Any) -> float:
    return float(x)


class Spent:
    """What the fits of this process cost together: epsilon, delta, relation, fits; made by `spent`.

    >>> import privet
    >>> privet.spent().fits >= 0
    True
    """

    def __init__(self, epsilon: float, delta: float, relation: str, runs: list[_ledger.Run]) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.relation = relation
        self.fits = len(runs)
        self.by_estimator: dict[str, int] = {}
        for r in runs:
            self.by_estimator[r.what] = self.by_estimator.get(r.what, 0) + 1

    def __repr__(self) -> str:
        if not self.fits:
            return "<nothing was spent in this process>"
        said = f"epsilon {self.epsilon:.6g}, delta {self.delta:g}" if self.epsilon < np.inf else "NOT PRIVATE"
        return f"<{self.fits} fit{'s' if self.fits != 1 else ''} in this process cost together at most {said}, relation {self.relation}>"

    def _repr_html_(self) -> str:
        return f"<p>{repr(self).strip('<>')}</p>"


def spent(delta: Optional[float] = None) -> Spent:
    """What all fits of this process cost together, cross-validation and grids included: their events are composed, which
    is less than the sum of their epsilons.  It holds for every row, whichever of the fits used it.

    delta: the largest of the fits' own unless given.  The shares of delta that finite accuracy of the draws takes add up,
    and so do the deltas of fits that ended early, whose whole budget counts; where that is more than half of delta, the
    answer is at a larger one, which it names.

    >>> import privet
    >>> privet.spent().epsilon >= 0
    True
    """
    runs = _ledger.runs()
    relation = "replace" if any(r.relation == "replace" for r in runs) else "zero-out"
    at = delta if delta is not None else max([r.delta for r in runs if r.is_private], default=1e-6)
    if not all(r.is_private for r in runs):
        return Spent(np.inf, 1.0, relation, runs)
    if not runs:
        return Spent(0.0, at, relation, runs)
    _one_unit(r.unit for r in runs)
    event = Event.sequence(_merged([Event._of_both(r.trees, 0.0, math.inf) for r in runs]))
    event._draws, event._covered = sum(r.draws[relation] for r in runs), min(r.covered for r in runs)
    got = account(events=event, delta=at, relation=relation, full=True)
    total = _number(got["delta"])
    claimed = max([r.epsilon for r in runs if r.delta >= total], default=0.0)  # no less than any certificate says by itself
    return Spent(max(_number(got["epsilon"]), claimed), total, relation, runs)


# ---- Opacus -----------------------------------------------------------------------------------------------------------


def opacus_accountant() -> Any:
    """An accountant for Opacus, registered there as "privet": `PrivacyEngine(accountant="privet")` after this call.

    The class that is returned can also be used by itself.

    >>> import privet
    >>> try:
    ...     privet.opacus_accountant().mechanism()
    ... except ImportError:  # Opacus is not installed
    ...     "privet"
    'privet'
    """
    from opacus.accountants import IAccountant
    from opacus.accountants.registry import _ACCOUNTANTS, register_accountant

    if "privet" in _ACCOUNTANTS:
        return _ACCOUNTANTS["privet"]

    class PrivetAccountant(IAccountant):  # type: ignore[misc]
        """Privacy loss distributions, rounded upwards, by privet."""

        def __init__(self) -> None:
            super().__init__()

        def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
            if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
                self.history[-1] = (noise_multiplier, sample_rate, self.history[-1][2] + 1)
            else:
                self.history.append((noise_multiplier, sample_rate, 1))

        def get_epsilon(self, delta: float, **more: Any) -> float:
            steps = [Event.poisson(q, Event.gaussian(z)) * n if q < 1 else Event.gaussian(z) * n for z, q, n in self.history]
            return Event.sequence(steps).epsilon(delta, **more) if steps else 0.0

        def __len__(self) -> int:
            return sum(n for _, _, n in self.history)

        @classmethod
        def mechanism(cls) -> str:
            return "privet"

    register_accountant("privet", PrivetAccountant)
    return PrivetAccountant
