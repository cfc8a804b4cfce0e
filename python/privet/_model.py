"""A trained model and its certificate, as the library holds them."""

from __future__ import annotations

import json
import math
import os
import threading
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from . import _core
from ._errors import InvalidInput, PrivetError, Unsupported, read_file
from ._rows import address

Path = Union[str, "os.PathLike[str]"]


def escape(said: str) -> str:
    """Text inside HTML."""
    import html

    return html.escape(said)


class Noise(NamedTuple):
    """The noise of a run.

    stddev is its standard deviation on each entry of every released sum over rows, of which there are `releases`;
    multiplier is stddev by what one row can change. weights is the standard deviation that the noise gives each weight
    of the model, where a formula without the rows has it: with optimizer="output-perturbation", whose one release is the
    weights. Of an optimiser that releases gradients it is None: what their noise does to the weights depends on the
    curvature of the rows' loss, and that is not released.

    >>> import numpy as np, privet
    >>> X, y = np.random.default_rng(4).random((900, 2)), np.arange(900) % 2
    >>> said = dict(bounds=(0, 1), classes=[0, 1])
    >>> privet.LogisticRegression(**said).fit(X, y).certificate_.noise.weights is None
    True
    >>> privet.LogisticRegression(optimizer="output-perturbation", reg="l2", **said).fit(X, y).certificate_.noise.weights > 0
    True
    """

    stddev: float
    releases: int
    multiplier: float
    weights: Optional[float]


def _weights_noise(c: dict[str, Any]) -> Optional[float]:
    """z D_T of output perturbation (opt_output_perturbation.c), D_T = eta C A/n but for rounding (query_descent.c (6))."""
    said = c["settings"]
    if c["optimizer"] != "output-perturbation" or said["reg"] not in ("none", "l1", "l2"):
        return None
    eta, passes = float(said["optimizer.step"]), int(said["optimizer.passes"])
    pull = eta * float(said["reg.lambda"]) if said["reg"] == "l2" else 0.0
    a = (1.0 - (1.0 + pull) ** -passes) / pull if pull > 0 else float(passes)
    return float(c["noise_stddev"]) * eta * a / float(c["rows"])


class Certificate:
    """What a run released and what that costs: anyone can recompute it, without the rows.

    >>> import numpy as np, privet
    >>> X, y = np.random.default_rng(0).random((500, 2)), np.arange(500) % 2
    >>> c = privet.Classifier(bounds=(0, 1), classes=[0, 1]).fit(X, y).certificate_
    >>> c.verify()["verified"], c.epsilon <= 1
    (True, True)
    """

    def __init__(self, said: str, model: Optional[bytes] = None) -> None:
        self.text = said
        self.json: dict[str, Any] = json.loads(said)
        self._model = model

    @property
    def is_private(self) -> bool:
        """False: trained without noise, with a test seed, or with bounds from the rows."""
        return bool(self.json["private"])

    @property
    def epsilon(self) -> float:
        """The claimed epsilon; infinity if there is none."""
        return _number(self.json["epsilon"]) if self.is_private else float("inf")

    @property
    def delta(self) -> float:
        """The claimed delta; 1 if there is none."""
        return _number(self.json["delta"]) if self.is_private else 1.0

    @property
    def relation(self) -> str:
        """zero-out or replace."""
        return str(self.json["relation"])

    @property
    def statement(self) -> str:
        """The guarantee in a sentence."""
        return str(self.json["statement"])

    @property
    def assumptions(self) -> list[str]:
        """What the guarantee rests on."""
        return list(self.json["assumptions"])

    @property
    def events(self) -> dict[str, Any]:
        """The releases, as a tree that `privet.account` takes."""
        return dict(self.json["events"])

    @property
    def events_replace(self) -> Optional[dict[str, Any]]:
        """The same releases under relation replace; None if `events` are those, or if there is no proof."""
        tree = self.json.get("events_replace")
        return None if tree is None else dict(tree)

    def trees(self) -> dict[str, Optional[dict[str, Any]]]:
        """The releases by relation, None where they are not recorded under it."""
        if self.relation == "replace":
            return {"zero-out": None, "replace": self.events}
        claim = self.json.get("epsilon_replace")  # infinity or null: the draws are not accurate enough for it
        known = claim is not None and _number(claim) < float("inf")
        return {"zero-out": self.events, "replace": self.events_replace if known else None}

    @property
    def delta_draws(self) -> float:
        """The share of delta for the finite accuracy of the draws: an accountant is asked at delta less this."""
        return _number(self.json.get("delta_draws") or 0.0)

    @property
    def _draws(self) -> tuple[float, float]:
        """A share of delta for the draws, and an epsilon up to which it is known to be enough.

        That of the run is enough up to what the run costs, c, under replace as well where that is finite. The claim is c rounded
        up to six digits (src/acct/claim.c), so c is at least 1 - 2e-5 of it. A share e^(e - c) times as large is enough up to e
        (src/acct/draws.c (1)), here a little above the claim: a larger share makes the accountant's answer a little larger, too.
        """
        if not self.delta_draws > 0:
            return 0.0, math.inf
        other = _number(self.json.get("epsilon_replace") or 0.0)
        claim = max(self.epsilon, other if math.isfinite(other) else 0.0)
        return self.delta_draws * math.exp(1.2e-4 * claim) * (1.0 + 1e-9), (1.0 + 1e-4) * claim

    @property
    def noise(self) -> Optional[Noise]:
        """The noise of the run; None without privacy."""
        c = self.json
        if c.get("noise_stddev") is None or not float(c["noise_stddev"]) > 0:
            return None
        return Noise(_number(c["noise_stddev"]), int(c["queries"]), _number(c["noise_multiplier"]), _weights_noise(c))

    def verify(self) -> dict[str, Any]:
        """Recomputes epsilon from the recorded releases and checks that the model is the certificate's.

        Raises VerificationError if it does not hold; a model that is NOT PRIVATE never does.
        """
        bytes_ = self._model if self._model is not None else self.text.encode()
        return verify(bytes_)

    def save(self, path: Path) -> None:
        """Writes it as a file, for `privet verify`."""
        _core.Context().write(os.fsencode(path), self.text.encode())

    def __repr__(self) -> str:
        if not self.is_private:
            return f"<Certificate NOT PRIVATE: {self.json.get('not_private_because') or self.statement}>"
        return f"<Certificate epsilon {self.epsilon:g}, delta {self.delta:g}, relation {self.relation}>"

    def _repr_html_(self) -> str:
        return f"<p>{badge(self)} {escape(self.statement)}</p>"


class Evaluation(dict[str, Any]):
    """Measures of a model on labelled rows as a release of their own: noisy, each with the 95 % interval of the noise.

    >>> import numpy as np, privet
    >>> X, y = np.random.default_rng(7).random((2000, 2)), np.arange(2000) % 2
    >>> clf = privet.Classifier(bounds=(0, 1), classes=[0, 1]).fit(X[:1000], y[:1000])
    >>> held = clf.evaluate(X[1000:], y[1000:], epsilon=0.5)
    >>> sorted(held["accuracy"]), held.certificate
    (['high', 'low', 'value'], <Certificate epsilon 0.5, delta 0.0001, relation zero-out>)
    >>> held.certificate.verify()["evaluation"]["accuracy"] == held["accuracy"]
    True
    """

    def __init__(self, said: str, certificate: str) -> None:
        super().__init__(json.loads(said))
        #: The `privet.Certificate` of this release alone.
        self.certificate = Certificate(certificate)

    def __reduce__(self) -> Any:
        return Evaluation, (json.dumps(dict(self)), self.certificate.text)


def _number(x: Any) -> float:
    return float(x)


def badge(c: Certificate) -> str:
    """The guarantee in one line of HTML."""
    colour = "#0a6b45" if c.is_private else "#b3261e"
    said = f"epsilon {c.epsilon:g}, delta {c.delta:g}, {c.relation}" if c.is_private else "NOT PRIVATE"
    return f'<strong style="color:{colour}">{escape(said)}</strong>'


def verify(what: Union[Path, bytes]) -> dict[str, Any]:
    """Does the certificate, or the certificate inside a model file, hold?  A path or the bytes themselves.

    >>> import privet
    >>> privet.verify(b"{}")
    Traceback (most recent call last):
        ...
    privet.VerificationError: ...
    """
    if isinstance(what, bytes):
        name, held = "certificate", what
    else:
        name = os.fspath(what)
        held = read_file(what)
    return json.loads(_core.Context().verify(held, name))  # type: ignore[no-any-return]


def check_number(x: float, what: str) -> float:
    if not np.isfinite(x):
        raise InvalidInput(f"{what}: a number is needed")
    return float(x)


class Fitted:
    """A model in memory.  One thread at a time is inside the library; others wait."""

    def __init__(self, context: Any, model: Any) -> None:
        self._context = context
        self._model = model
        self._lock = threading.RLock()
        self.classes, self.outputs, self.features, self.weights, self.is_private = model.describe()

    @classmethod
    def of_bytes(cls, held: bytes, name: str = "model") -> "Fitted":
        context = _core.Context()
        return cls(context, context.load(held, name))

    def __reduce__(self) -> Any:
        return Fitted.of_bytes, (self.to_bytes(),)

    def __deepcopy__(self, memo: Any) -> "Fitted":
        return Fitted.of_bytes(self.to_bytes())

    def to_bytes(self) -> bytes:
        with self._lock:
            return bytes(self._model.to_bytes())

    def certificate(self) -> Certificate:
        with self._lock:
            return Certificate(self._model.certificate(), self.to_bytes())

    def schema(self) -> Optional[str]:
        with self._lock:
            said = self._model.schema()
        return None if said is None else str(said)

    def settings(self) -> dict[str, Any]:
        with self._lock:
            return json.loads(self._model.settings())  # type: ignore[no-any-return]

    def given(self) -> dict[str, Any]:
        """Settings that have a value."""
        return {k: v for k, v in self.settings().items() if v is not None}

    def class_names(self) -> list[str]:
        with self._lock:
            return [self._model.class_name(k) for k in range(self.classes)]

    def vector(self) -> Any:
        w = np.empty(self.weights)
        with self._lock:
            self._model.weights(address(w), w.size)
        return w

    def predict(self, rows: Any, score: bool = False, probability: bool = False, label: bool = False) -> Any:
        """Exactly one of the three."""
        n = rows.n
        if rows.spec[0] == "files":
            raise InvalidInput(
                "X is a path, and predictions are made of rows in memory: read the file first, with pandas.read_csv for "
                "instance; evaluate(path) measures on a file, and the command `privet predict` writes predictions of one"
            )
        if n < 0:
            raise InvalidInput("the number of rows is not known before they are read: give a table, not a reader")
        out: Any
        if score:
            out = np.empty((n, self.outputs), np.float32)
        elif probability:
            out = np.empty((n, self.classes))
        else:
            out = np.empty(n, np.int64)
        at = address(out)
        with self._lock:
            self._model.predict(rows.spec, n, at if score else 0, at if probability else 0, at if label else 0)
        return out

    def evaluate(self, rows: Any, labels: Any, persons: Any, column: Optional[str], cut: Optional[tuple[str, str]]) -> str:
        with self._lock:
            if cut is not None:
                self._model.set(*cut)
            try:
                return str(self._model.evaluate(rows.spec, labels, persons, column))
            finally:
                if cut is not None:
                    self._model.set("predict.threshold", "0.5")

    def release(self, budget: list[tuple[str, str]], rows: Any, labels: Any, persons: Any) -> Evaluation:
        with self._lock:
            return Evaluation(*self._model.release(budget, rows.spec, labels, persons))

    def began(self) -> bool:
        """Whether the last release began to ask rows, so that its budget is spent however it ended."""
        return bool(self._context.began())

    def curves(self) -> Optional[str]:
        """What each column adds to the score; None of a model without curves."""
        with self._lock:
            try:
                return str(self._model.curves())
            except Unsupported:
                return None

    def explain(self, rows: Any, row: int) -> str:
        with self._lock:
            return str(self._model.explain(rows.spec, row))

    def export(self, format: str, path: Path) -> None:
        with self._lock:
            self._model.export(format, os.fsencode(path))

    def save(self, path: Path) -> None:
        _core.Context().write(os.fsencode(path), self.to_bytes())


def _of_model(c: Certificate, evaluation: Any) -> str:
    """What verify says of an evaluation, which must be of this model."""
    held = getattr(evaluation, "certificate", evaluation)
    if not isinstance(held, Certificate):
        raise InvalidInput("evaluation: what evaluate(X, y, epsilon=...) returned, or its certificate, is needed")
    said = _core.Context().verify(held.text.encode(), "evaluation")
    of = json.loads(said).get("evaluation")
    if of is None or of["weights_digest"] != c.json["weights_digest"]:
        raise InvalidInput("evaluation: this is the certificate of " + ("another model's" if of else "a run, of no evaluation"))
    return str(said)


def page(model: Fitted, name: str, metrics: Optional[str], evaluation: Any, exact: bool) -> str:
    """The page that `privet report` writes."""
    c = model.certificate()
    context = _core.Context()
    verification = context.verify(model.to_bytes(), name) if c.is_private else None
    curve = None
    if c.is_private:
        try:
            curve = context.ask("curve", json.dumps({"relation": c.relation, "events": c.events}))
        except PrivetError:  # releases that no accountant draws
            curve = None
    noisy = None if evaluation is None else _of_model(c, evaluation)
    rows_name = None if metrics is None else "rows"
    return str(_core.report(c.text, verification, curve, metrics, model.schema(), model.curves(), noisy, name, rows_name, exact))
