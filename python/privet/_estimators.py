"""Estimators by scikit-learn's conventions, which is not needed to use them."""

from __future__ import annotations

import inspect
import json
import os
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _core, _ledger, _rows, _tags
from ._declare import Declaration, declare
from ._errors import InvalidInput, PrivacyWarning, Unsupported, not_fitted, read_file
from ._model import Certificate, Evaluation, Fitted, badge, escape, page
from ._progress import chosen
from ._schema import Schema, canonical, text
from ._settings import budget, document, pairs, settings, shown, table, to_text

Path = Union[str, "os.PathLike[str]"]

_OWN = {
    "schema": "What is publicly known about the columns: a `privet.Schema`, a dict for one, or the path of a schema file.",
    "bounds": "In place of a schema: (min, max) of all columns or of each, a dict by name, \"row-norm\" or \"from-data\" (NOT PRIVATE).",
    "classes": "The classes in order. None: the schema's, else those found in y, which are then treated as public.",
    "eval_epsilon": "Epsilon of an evaluation of the rows that holdout_share= leaves out of training: `evaluation_` has it. None: there is none.",
    "layers": "The network, layer by layer, as model.layers takes it: \"dense64,relu,dense\", or \"conv16x3,relu,pool2,dense\" with image.",
    "progress": "\"auto\", True, False, or a function of (what, done, total, epsilon) that returns False to stop.",
}  # fmt: skip
_OWN_DEFAULT = {"schema": None, "bounds": None, "classes": None, "eval_epsilon": None, "layers": "dense64,relu,dense", "progress": "auto"}


def _words(losses: tuple[str, ...], fixed: dict[str, Any], drop: tuple[str, ...] = ()) -> list[str]:
    """The settings that an estimator with these losses or models has."""
    out = []
    for word, s in settings().items():
        if word in fixed or word in drop:
            continue
        if s.key.startswith("model.") and not set(s.of) & set(losses):
            continue
        if s.key == "model" and len(losses) == 1:
            continue
        out.append(word)
    return out


_THEIRS = {  # keywords of scikit-learn's estimators, and what is said of them here
    "C": "reg='l2' with reg_lambda is the penalty, whose weight is beside the average loss: 1/(C n) of n rows",
    "alpha": "reg_lambda is the weight of the penalty, beside the average loss",
    "penalty": "reg names the penalty",
    "class_weight": "of Classifier, model_class_weight says what a row of the second class counts, and model_prevalence its public share",
    "random_state": "seed makes noise repeatable, for tests: the model is then NOT PRIVATE",
    "max_iter": "optimizer_steps, of a named optimizer, is the number of steps",
    "tol": "a run ends after the steps that were planned, whatever the rows",
    "solver": "optimizer names the algorithm",
    "n_jobs": "threads says how many",
    "fit_intercept": "bias=0 leaves the constant column out",
}


def _unknown(name: str, word: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(word, known, 1)
    hint = _THEIRS.get(word) or (f"did you mean {near[0]!r}?" if near else f"help(privet.{name}) lists them")
    return f"{name}() has no keyword {word!r}; {hint}"


def _make_init(values: dict[str, Any]) -> Any:
    """A constructor with one keyword for each, that stores them; its signature is what scikit-learn and help() look at."""

    def __init__(self: Any, **given: Any) -> None:
        for word in given:
            if word not in values:
                raise TypeError(_unknown(type(self).__name__, word, values))
        self.__dict__.update(values)
        self.__dict__.update(given)

    keywords = [inspect.Parameter(w, inspect.Parameter.KEYWORD_ONLY, default=v) for w, v in values.items()]
    me = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    __init__.__signature__ = inspect.Signature([me, *keywords])  # type: ignore[attr-defined]
    return __init__


class Estimator:
    """What all have in common; not to be made by itself."""

    _own: list[str] = []
    _keywords: list[str] = []
    _fixed: dict[str, Any] = {}
    _defaults: dict[str, Any] = {}
    _is_classifier = True
    _binary = False
    _start: Any = None
    schema: Any
    bounds: Any
    progress: Any
    feature_names_in_: Any
    classes_: Any

    if TYPE_CHECKING:  # made by _make_init from the library's tables, one keyword for each setting

        def __init__(self, **settings: Any) -> None: ...

        def __getattr__(self, word: str) -> Any: ...

    def __init_subclass__(cls, losses: tuple[str, ...] = (), defaults: Optional[dict[str, Any]] = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        if not losses:
            return
        drop = ("y_min", "y_max") if cls._is_classifier else ("holdout_share",)  # numbers have no private evaluation
        cls._keywords = _words(losses, cls._fixed, drop + (("model_layers",) if "layers" in cls._own else ()))
        cls._defaults = {w: _OWN_DEFAULT[w] for w in cls._own}
        cls._defaults.update({w: settings()[w].default for w in cls._keywords})
        cls._defaults.update(defaults or {})
        init = _make_init(cls._defaults)
        init.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = init  # type: ignore[method-assign]
        own = {w: _OWN[w] for w in cls._own}
        cls.__doc__ = inspect.cleandoc(cls.__doc__ or "") + "\n\n" + document(cls._keywords, own) + "\n"

    # ---- parameters ----------------------------------------------------------------------------------------------

    @classmethod
    def _get_param_names(cls) -> list[str]:
        added = [p.name for p in inspect.signature(cls.__init__).parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        return sorted({*cls._own, *cls._keywords, *added} - {"self"})  # a subclass may have keywords of its own

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All keywords and their values."""
        return {w: getattr(self, w) for w in self._get_param_names()}

    def set_params(self, **params: Any) -> Any:
        """Changes keywords; returns the estimator."""
        known = self._get_param_names()
        for word, value in params.items():
            if word not in known:
                raise ValueError(f"Invalid parameter {word!r} for estimator {self}. Valid parameters are: {known!r}.")
            setattr(self, word, value)
        return self

    def __repr__(self) -> str:
        changed = []
        for w in self._own + self._keywords:
            value, default = getattr(self, w, None), self._default(w)
            if not (value is default or (type(value) is type(default) and repr(value) == repr(default))):
                changed.append(f"{w}={shown(value)}")
        measured = isinstance(self.bounds, str) and self.bounds == "from-data"
        mark = " NOT PRIVATE" if measured or self.__dict__.get("is_private_") is False else ""
        return f"{type(self).__name__}({', '.join(changed)}){mark}"

    @classmethod
    def _default(cls, word: str) -> Any:
        return cls._defaults.get(word)

    def __sklearn_tags__(self) -> Any:
        return _tags.new(self)

    def _get_tags(self) -> dict[str, Any]:
        return _tags.old(self)

    def _more_tags(self) -> dict[str, Any]:
        return {}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    def _validate_params(self) -> None:
        """Parameters are checked by the library when it is told of them."""

    # ---- fitting --------------------------------------------------------------------------------------------------

    def _settings(self) -> list[tuple[str, str]]:
        given = {w: getattr(self, w) for w in self._keywords}
        return pairs({**given, **self._fixed})

    def fit(self, X: Any, y: Any = None, groups: Any = None, **refused: Any) -> Any:
        """Trains on the rows X and labels y, or on a table X that holds the declared label; returns the estimator.

        groups: whose row it is, an id for each, of which the estimator's person_rows count at most: the guarantee is then for
        a person with all of their rows. The budget is spent once this begins to train, whether it ends with a model or not.
        """
        _refuse(refused)
        X = _rows.door(X)
        told = self._settings()
        apart = self._held_out(dict(told))
        said = declare(self, X, y, self._is_classifier)
        if self._binary and said.classes is not None and len(said.classes) > 2:
            raise InvalidInput(
                "Only binary classification is supported. The type of the target is multiclass: SoftmaxRegression takes it"
            )
        rows = _rows.describe(X, said.schema, said.label_inside)
        held = _rows.Labels(None, None) if said.y is None else _rows.labels(said.y)
        owners = _rows.Labels(None, None) if groups is None else _rows.labels(_rows.column(groups, rows.n, "groups"), "groups")
        told += said.settings
        if said.schema is not None:  # declares the label, too
            told = [t for t in told if t[0] not in ("data.y_min", "data.y_max")]
            told.append(("data.schema", said.schema.to_json()))
        if ("data.measured", "classes") in said.settings:
            warnings.warn(
                "the classes were found in y and are treated as public, though one row may be the only one of its class: "
                f"declare them, {type(self).__name__}(classes=[...]) or privet.label(...) in the schema",
                PrivacyWarning,
                stacklevel=2,
            )
        mark = _ledger.seen_before(X, type(self).__name__)
        callback, bar = chosen(self.progress)
        context = _core.Context(_ledger.note, callback)
        start = self._start_file()
        try:
            if start is not None:
                told.append(("optimizer.start", start.path))
            model, summary, release = context.run(told, rows.spec, held.spec, owners.spec, apart)
            self._take(Fitted(context, model), json.loads(summary), said, rows)
            _ledger.finished(type(self).__name__, self.certificate_, mark, (self.summary_ or {}).get("draws_epsilon") or 0.0)
            if release is not None:
                self.evaluation_ = Evaluation(*release)
                _ledger.finished("evaluation", self.evaluation_.certificate, mark)
        except BaseException:
            if context.began():
                n, unit = _units(rows.n, said.schema, groups, dict(told))
                for spent in (told, apart):
                    if spent is not None:
                        _ledger.ended(type(self).__name__, dict(spent), n, mark, unit)
            raise
        finally:
            if bar is not None:
                bar.close()
            if start is not None:
                start.close()
        context.quiet()
        del held, owners
        c = self.certificate_
        if not c.is_private:
            warnings.warn(c.statement, PrivacyWarning, stacklevel=2)
        return self

    def _held_out(self, told: dict[str, str]) -> Optional[list[tuple[str, str]]]:
        """The budget of an evaluation of rows that are left out of training; None: there is none."""
        epsilon = self.__dict__.get("eval_epsilon")
        if epsilon is None and "run.holdout_share" in told:
            raise InvalidInput("holdout_share leaves rows out of training for a private evaluation: eval_epsilon= is its budget")
        if epsilon is None:
            return None
        if "run.holdout_share" not in told:
            raise InvalidInput(
                "eval_epsilon is for rows that are left out of training: holdout_share=0.2 draws them; "
                "evaluate(X, y, epsilon=...) is for others"
            )
        alike = {w: getattr(self, w) for w in ("delta", "relation", "privacy", "seed")}
        return budget({"epsilon": epsilon, **alike})

    @property
    def partial_fit(self) -> Any:
        """There is none: a certificate counts the releases of one run, and weights that private rows gave are no public start."""
        raise AttributeError(
            f"{type(self).__name__} has no partial_fit: a certificate counts the releases of one run, and weights learned from "
            "private rows are no public start for another; fit once on all rows with the whole budget (a table larger than "
            "memory: the path of a file, or a pyarrow reader)"
        )

    def _start_file(self) -> Any:
        """Weights to start from, which from_torch has left; they are declared public."""
        if self._start is None:
            return None
        from ._torch import StartFile

        return StartFile(self._start)

    def _take(self, fitted: Fitted, summary: Optional[dict[str, Any]], said: Declaration, rows: Any) -> None:
        self._fitted = fitted
        self._schema = said.schema
        self._by_name = said.by_name
        self.summary_ = summary
        self.certificate_ = fitted.certificate()
        self.epsilon_ = self.certificate_.epsilon
        self.delta_ = self.certificate_.delta
        self.statement_ = self.certificate_.statement
        self.is_private_ = fitted.is_private
        self.noise_ = self.certificate_.noise
        self.n_features_in_ = fitted.features if said.schema is None else len(said.schema.but_label())
        for word in ("feature_names_in_", "evaluation_"):
            self.__dict__.pop(word, None)
        if rows is not None and rows.names is not None:
            names = said.schema.but_label() if said.schema is not None and said.by_name else rows.names
            self.feature_names_in_ = np.array([n for n in names if said.schema is None or n != said.schema.label], object)
        if summary is not None:
            self.n_iter_ = int(summary.get("steps", 1))
        if self._is_classifier:
            self.classes_ = said.classes

    def __getstate__(self) -> dict[str, Any]:
        """Without measures that are NOT PRIVATE: a pickle is handed on as a model file is."""
        held = dict(self.__dict__)
        if held.get("summary_"):
            held["summary_"] = {k: v for k, v in held["summary_"].items() if not k.endswith("_not_private")}
        return held

    def _ready(self) -> Fitted:
        fitted = self.__dict__.get("_fitted")
        if fitted is None:
            raise not_fitted(type(self).__name__)
        return fitted  # type: ignore[no-any-return]

    # ---- rows to predict ------------------------------------------------------------------------------------------------

    def _rows(self, X: Any) -> Any:
        self._ready()
        X = _rows.door(X)
        names = _rows.names_of(X)
        known = self.__dict__.get("feature_names_in_")
        if known is not None and names is None and not _rows.is_path(X):
            warnings.warn(
                f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names", UserWarning, stacklevel=3
            )
        if names is not None and known is None:
            warnings.warn(
                f"X has feature names, but {type(self).__name__} was fitted without feature names", UserWarning, stacklevel=3
            )
        label = self._schema.label if self._schema is not None else None
        if names is not None and label in names and _rows.is_pandas(X):
            X = X.drop(columns=[label])
            names = _rows.names_of(X)
        if names is not None and known is not None and not self._by_name:
            _same_names(names, list(known))
        if not (_rows.is_path(X) or _rows.is_stream(X)):
            self._count(X)
        if self._schema is not None and known is None and names is not None and _rows.is_pandas(X):
            X = X.to_numpy()
        return _rows.describe(X, self._schema)

    def _count(self, X: Any) -> None:
        shape = X.shape
        if len(shape) == 2 and shape[1] != self.n_features_in_ and shape[1] > 0 and not (self._by_name and _rows.is_pandas(X)):
            raise InvalidInput(
                f"X has {shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input."
            )

    # ---- what came out ----------------------------------------------------------------------------------------------------

    @property
    def _linear(self) -> bool:
        f = self.__dict__.get("_fitted")
        return f is not None and f.weights == f.outputs * (f.features + (f.settings().get("data.bias", 1) != 0))

    def _weights(self) -> tuple[Any, Any]:
        f = self._ready()
        if not self._linear:
            raise AttributeError("a network has no coef_; get its weights with export(path)")
        bias = float(f.settings().get("data.bias", 1))
        w = f.vector().reshape(f.outputs, -1)
        return (w[:, :-1], bias * w[:, -1]) if bias != 0 else (w, np.zeros(f.outputs))

    @property
    def coef_(self) -> Any:
        """Weights of the encoded columns (`privet.Schema.encoded` has their names), one row for each score."""
        w = self._weights()[0]
        return w if self._is_classifier else w[0]

    @property
    def intercept_(self) -> Any:
        """Weight of the constant column, one for each score."""
        b = self._weights()[1]
        return b if self._is_classifier else float(b[0])

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
        *,
        epsilon: Optional[float] = None,
        by: Optional[str] = None,
        threshold: Optional[float] = None,
        cost: Optional[tuple[float, float]] = None,
        **budget_: Any,
    ) -> dict[str, Any]:
        """Measures of quality on labelled rows: accuracy, log loss, AUC and so on; exact ones are NOT PRIVATE.

        epsilon: the budget of a release of its own, noisy figures with intervals and a certificate (`privet.Evaluation`);
        delta, relation, accountant, privacy and seed go with it, and `privet.spent` counts it. groups: whose row it is, every
        person then counts once. by: a declared category, for each value of which exact measures are taken. threshold: the chance
        above which the second of two classes is predicted, or cost: what a false alarm and a miss cost.
        """
        f = self._ready()
        rows, held, owners = self._labelled(X, y, groups)
        if epsilon is None:
            if budget_:
                raise InvalidInput(f"{', '.join(budget_)}: for a private evaluation, which has an epsilon")
            return json.loads(f.evaluate(rows, held.spec, owners.spec, by, _cut(threshold, cost)))  # type: ignore[no-any-return]
        for word, value in (("by", by), ("threshold", threshold), ("cost", cost)):
            if value is not None:
                raise Unsupported(f"{word}: of exact measures only, which have no epsilon")
        told = budget({"epsilon": epsilon, **budget_})
        of_persons = self.certificate_.json.get("unit") == "person"
        if of_persons and groups is None and not _units(0, self._schema, None, f.given())[1] == "person":
            raise InvalidInput("the model protects persons: groups= says whose rows these are, an id for each")
        mark = _ledger.seen_before(X, "evaluate")
        try:
            out = f.release(told, rows, held.spec, owners.spec)
        except BaseException:
            if f.began():
                n, unit = _units(rows.n, self._schema, groups, f.given())
                _ledger.ended("evaluate", dict(told), n, mark, unit)
            raise
        _ledger.finished("evaluate", out.certificate, mark)
        if not out.certificate.is_private:
            warnings.warn(out.certificate.statement, PrivacyWarning, stacklevel=2)
        return out

    def _labelled(self, X: Any, y: Any, groups: Any = None) -> tuple[Any, Any, Any]:
        """Rows, their labels where those come apart, and whose they are where that is said."""
        self._ready()
        held = owners = _rows.Labels(None, None)
        if y is None:
            rows = _rows.describe(_rows.door(X), self._schema, label_inside=True)
        else:
            rows = self._rows(X)
            held = _rows.labels(_rows.column(y, rows.n))
        if groups is not None:
            owners = _rows.labels(_rows.column(groups, rows.n, "groups"), "groups")
        return rows, held, owners

    def _answers(self, X: Any, y: Any) -> Any:
        """The labels to score against: y, or the column of a table."""
        self._ready()
        if _rows.is_path(X):
            raise InvalidInput("X is a path, and score takes rows in memory: evaluate(path) measures on a file")
        if y is not None:
            return y
        label = self._schema.label if self._schema is not None else None
        if label is None or label not in (_rows.names_of(X) or ()):
            raise InvalidInput("score(X, y): y is needed, since X has no column of labels")
        return X[label]

    @property
    def curves_(self) -> dict[str, Any]:
        """What each column adds to the score over its declared range, of a model with curves: columns in the order of their
        importance, each with its points ("at") and what it adds there ("effect", by score). Looks at no row."""
        said = self._ready().curves()
        if said is None:
            raise Unsupported('this model has no curves: fit with curves="auto" and a schema, or bounds of the columns')
        return json.loads(said)  # type: ignore[no-any-return]

    def weights(self) -> list[dict[str, Any]]:
        """The weights as a table, a dict a line, the largest first: `pandas.DataFrame(clf.weights())`.

        "column" and "at", a knot or a value, name each; of more than two classes "class" does, too. Of a model with curves a
        weight is what the point adds to the score, and columns come by importance. "error_at_most" bounds its standard deviation by
        privacy noise, None where no bound is known. Looks at no row.
        """
        f = self._ready()
        said = f.curves()
        return _straight(self) if said is None else _points(json.loads(said))

    @property
    def coef_names_(self) -> list[str]:
        """The names of the columns of coef_: a category has one for each value, a number with a curve one for each of its knots."""
        f, wide = self._ready(), self._weights()[0].shape[1]
        said = f.schema()
        names = [] if said is None else Schema.from_json(said).encoded(f.curves() is not None)
        return names if len(names) == wide else [f"x{j}" for j in range(wide)]

    def explain(self, row: Any) -> dict[str, Any]:
        """What each column of one row adds to its score, the largest parts first, relative to the mean of its curve.

        row: a dict of values by column, a list of them, or a table of one row.
        """
        self.curves_  # noqa: B018  # refuses a model without them
        schema = self._schema
        assert schema is not None  # a model with curves has one
        if isinstance(row, dict):
            wanted = schema.features
            unknown = [n for n in row if n not in schema.columns]
            if unknown:
                raise InvalidInput(f"the model has no column {unknown[0]!r}")
            lacks = [n for n in wanted if n not in row]
            if lacks:
                raise InvalidInput(f"explain needs a value of every column; none is given of {', '.join(lacks)}")
            row = [row.get(n, "") for n in schema.but_label()]
        if isinstance(row, (list, tuple)) or getattr(row, "ndim", 2) == 1:
            row = np.array([list(row)], object)
            row = row.astype(np.float64) if schema.only_numbers else row
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of names: they stand in the declaration
            rows = self._rows(row)
        if rows.n != 1:
            raise InvalidInput(f"explain takes one row, not {rows.n}")
        return json.loads(self._ready().explain(rows, 0))  # type: ignore[no-any-return]

    def report(
        self, path: Optional[Path] = None, X: Any = None, y: Any = None, *, exact: bool = False, evaluation: Any = None
    ) -> Optional[str]:
        """The guarantee, and with labelled rows the quality, as one page of HTML: written to path, or returned without one.

        evaluation: what `evaluate` released under a budget, whose figures then stand on the page; those of X are NOT PRIVATE.
        """
        f = self._ready()
        metrics = None
        if X is not None:
            rows, held, owners = self._labelled(X, y)
            metrics = f.evaluate(rows, held.spec, owners.spec, None, None)
        name = "model" if path is None else os.path.splitext(os.path.basename(os.fspath(path)))[0]
        said = page(f, name, metrics, evaluation, exact)
        if path is None:
            return said
        _core.Context().write(os.fsencode(path), said.encode())
        return None

    def save(self, path: Path) -> None:
        """Writes the model file, which the command and `privet.load` read."""
        self._ready().save(path)

    def export(self, path: Path, format: Optional[str] = None) -> None:
        """Writes the model for other programs: ONNX, NPZ, NPY or safetensors, by the ending of the path; format="onnx-raw" takes numbers in their own units."""
        ending = os.path.splitext(os.fspath(path))[1].lstrip(".")
        self._ready().export(format or ending, path)

    def _repr_html_(self) -> str:
        said = f"<code>{escape(repr(self))}</code>"
        if "_fitted" not in self.__dict__:
            return f"<p>{said} not fitted</p>"
        return f"<p>{said}<br>{badge(self.certificate_)} {escape(self.statement_)}</p>"


def _points(said: dict[str, Any]) -> list[dict[str, Any]]:
    """The points of curves, one by one."""
    several = len(said["base"]) > 1
    return [
        {"column": c["name"], "at": at, **({"class": said["classes"][k]} if several else {}), "weight": w, "error_at_most": said.get("noise_at_most")}
        for c in said["columns"]
        for k, effect in enumerate(c["effect"])
        for at, w in zip(c["at"], effect)
    ]  # fmt: skip


def _straight(est: Any) -> list[dict[str, Any]]:
    """The weights of a linear model, one by one."""
    w, b = est._weights()
    noise = est.certificate_.noise
    error = None if noise is None else noise.weights
    bias = abs(float(est._ready().settings().get("data.bias", 1)))
    out = []
    for k, row in enumerate(np.column_stack([w, b])):
        of = {"class": text(est.classes_[k])} if len(w) > 1 else {}
        for name, x in zip([*est.coef_names_, "bias"], row.tolist()):
            column, _, at = name.partition("=") if est._schema is None or name not in est._schema.columns else (name, "", "")
            about = error if error is None or name != "bias" else bias * error
            out.append({"column": column, "at": at or None, **of, "weight": x, "error_at_most": about})
    return sorted(out, key=lambda line: -abs(line["weight"]))


def _cut(threshold: Any, cost: Any) -> Optional[tuple[str, str]]:
    """What the library is told of predictions of two classes; None: those by a half."""
    if threshold is not None and cost is not None:
        raise InvalidInput("threshold and cost both say when the second class is predicted: give one of them")
    if threshold is not None:
        return "predict.threshold", to_text(settings()["epsilon"]._replace(keyword="threshold"), threshold)
    if cost is None:
        return None
    if np.shape(cost) != (2,):
        raise InvalidInput("cost: a pair is needed, what a false alarm and a miss cost")
    return "predict.cost", ",".join(to_text(settings()["epsilon"]._replace(keyword="cost"), c) for c in cost)


def _per_person(groups: Any, n: int, sample_weight: Any) -> Any:
    """Weights of rows with which every person counts once, their rows in proportion to sample_weight."""
    if groups is None:
        return sample_weight
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if any(v is None for v in np.asarray(groups, dtype=object).ravel()):
        raise ValueError("groups: a row without an id: whose is it?  A person with one row needs an id, too")
    _, which = np.unique(_rows.column(groups, n, "groups").astype(str), return_inverse=True)
    of_all = np.bincount(which, weight)[which]
    return np.divide(weight, of_all, out=np.zeros(n), where=of_all > 0)


def _units(n: int, schema: Any, groups: Any, told: dict[str, str]) -> tuple[int, str]:
    """How many the guarantee is for, and what they are; 0 where persons stand in a table that was not counted."""
    if groups is not None:
        return len(set(np.asarray(groups).tolist())), "person"
    column = schema is not None and any(c.kind == "person" for c in schema.columns.values())
    return (0, "person") if column or "data.person" in told or "data.person_file" in told else (n, "row")


def _refuse(given: dict[str, Any]) -> None:
    for word, value in given.items():
        if word == "sample_weight" and value is None:
            continue
        if word == "sample_weight":
            raise InvalidInput(
                "sample_weight is refused: a row with a weight would count for more than the noise was made for; "
                "leave rows out by a public rule, or fit without weights"
            )
        raise TypeError(f"fit() got an unexpected keyword argument {word!r}")


def _same_names(names: list[str], known: list[str]) -> None:
    if names == known:
        return
    message = "The feature names should match those that were passed during fit.\n"
    unexpected, missing = sorted(set(names) - set(known)), sorted(set(known) - set(names))
    for words, said in ((unexpected, "Feature names unseen at fit time:\n"), (missing, "Feature names seen at fit time, yet now missing:\n")):
        if words:
            message += said + "".join(f"- {w}\n" for w in words[:5]) + ("- ...\n" if len(words) > 5 else "")
    if not unexpected and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise InvalidInput(message)


# ---- classes ------------------------------------------------------------------------------------------------------------


class _Classes(Estimator):
    _estimator_type = "classifier"
    _own = ["schema", "bounds", "classes", "eval_epsilon", "progress"]

    def predict(self, X: Any) -> Any:
        """The most likely class of every row."""
        f = self._ready()
        return self.classes_[f.predict(self._rows(X), label=True)]

    def decision_function(self, X: Any) -> Any:
        """Scores: the margin of the second class, or one column for each of more than two."""
        f = self._ready()
        s = f.predict(self._rows(X), score=True).astype(np.float64)
        return s[:, 0] if f.outputs == 1 else s

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> float:
        """The share of rows that are predicted right; NOT PRIVATE, as every count over rows.

        groups: whose row it is, an id for each: every person then counts once, as `privet eval` has it per person.
        """
        y = self._answers(X, y)
        got = self.predict(X)
        sample_weight = _per_person(groups, len(got), sample_weight)
        want = _rows.column(y, len(got))
        declared = self._schema.columns[self._schema.label].values if self._schema is not None and self._schema.label else ()
        if want.dtype.kind != got.dtype.kind or any(not isinstance(v, str) for v in declared):
            names = canonical(declared)  # a class may have several spellings
            want = np.array([names.get(text(v), text(v)) for v in want])
            got = np.array([text(v) for v in got])
        return float(np.average(got == want, weights=sample_weight))


class _Chances(_Classes):
    def predict_proba(self, X: Any) -> Any:
        """The chance of every class, in the order of classes_."""
        return self._ready().predict(self._rows(X), probability=True)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


_LOSSES = ("logistic", "weighted", "sigmoid", "hinge", "softmax")
_NETS = tuple(m["name"] for m in table()["model"] if m["name"] not in ("glm", "softmax"))


class Classifier(_Chances, losses=_LOSSES + _NETS):
    """A classifier: every model of the library, by default logistic for two classes and softmax for more.

    >>> import numpy as np, privet
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((2000, 3)); y = np.where(X[:, 0] > X[:, 1], "yes", "no")
    >>> clf = privet.Classifier(bounds=(0, 1), classes=["no", "yes"], epsilon=1.0).fit(X, y)
    >>> clf.score(X, y) > 0.8, clf.epsilon_ <= 1.0
    (True, True)
    """


_STRAIGHT = {"curves": "off"}  # a model that is named linear has one weight a column, unless curves are asked for


class LogisticRegression(_Chances, losses=("logistic",), defaults=_STRAIGHT):
    """Logistic regression for two classes; `SoftmaxRegression` is the one for more.

    >>> import numpy as np, privet
    >>> X = np.random.default_rng(0).random((2000, 2)); y = X[:, 0] > 0.5
    >>> privet.LogisticRegression(bounds=(0, 1), classes=[False, True]).fit(X, y).coef_.shape
    (1, 2)
    """

    _fixed = {"model": "logistic"}
    _binary = True


class SoftmaxRegression(_Chances, losses=("softmax",), defaults=_STRAIGHT):
    """Logistic regression for any number of classes.

    >>> import numpy as np, privet
    >>> X = np.random.default_rng(0).random((3000, 2)); y = (3 * X[:, 0]).astype(int)
    >>> privet.SoftmaxRegression(bounds=(0, 1), classes=[0, 1, 2]).fit(X, y).predict_proba(X[:5]).shape
    (5, 3)
    """

    _fixed = {"model": "softmax"}


class LinearSVC(_Classes, losses=("hinge",), defaults=_STRAIGHT):
    """A linear support vector machine with a smoothed corner, for two classes.

    >>> import numpy as np, privet
    >>> X = np.random.default_rng(0).random((2000, 2)); y = np.where(X[:, 0] > 0.5, 1, -1)
    >>> privet.LinearSVC(bounds=(0, 1), classes=[-1, 1]).fit(X, y).decision_function(X[:4]).shape
    (4,)
    """

    _fixed = {"model": "hinge"}
    _binary = True


_HESSIAN = ("tr", "str", "str2", "gd-sosp")


class _Sums:
    """Refuses, before anything is spent, what would not be a sum of curves."""

    def _settings(self) -> list[tuple[str, str]]:
        told: list[tuple[str, str]] = super()._settings()  # type: ignore[misc]
        words = dict(told)
        name, curves = type(self).__name__, getattr(self, "curves", "auto")
        if curves == "off":
            raise InvalidInput(f"{name} fits curves: curves='off' is for Classifier and Regressor")
        if words.get("model") in _NETS:
            raise InvalidInput(f"{name} is a sum of curves, which no network is: NetworkClassifier fits model={words['model']!r}")
        if words.get("optimizer") in _HESSIAN and curves == "auto":
            raise InvalidInput(f"optimizer={words['optimizer']!r} fits curves where curves= says how many knots, as in curves=8")
        bounds = getattr(self, "bounds", None)
        if isinstance(bounds, str) and bounds == "row-norm":
            raise InvalidInput(f"{name} needs bounds of every column, and bounds='row-norm' has none")
        return told


class AdditiveClassifier(_Sums, _Chances, losses=_LOSSES, defaults={"curves": "auto"}):
    """A classifier that is a sum of curves, one for each column: `privet.plot_curves` shows them, `explain` the parts of a row.

    >>> import numpy as np, privet
    >>> X = np.random.default_rng(0).random((4000, 2)); y = np.abs(X[:, 0] - 0.5) < 0.25
    >>> clf = privet.AdditiveClassifier(bounds=(0, 1), classes=[False, True]).fit(X, y)
    >>> clf.score(X, y) > 0.8  # no straight line does that
    True
    >>> [part["name"] for part in clf.explain([0.5, 0.5])["columns"]]
    ['x0', 'x1']
    """


class NetworkClassifier(_Chances, losses=_NETS):
    """A network on tables, or on images with image="28x28".

    >>> import numpy as np, privet
    >>> X = np.random.default_rng(0).random((2000, 4)); y = (X[:, 0] > X[:, 1]).astype(int)
    >>> net = privet.NetworkClassifier(layers="dense8,relu,dense", bounds=(0, 1), classes=[0, 1], epsilon=4.0)
    >>> net.fit(X, y).predict(X[:3]).shape
    (3,)
    """

    _own = [*_Classes._own, "layers"]

    def _settings(self) -> list[tuple[str, str]]:
        told = super()._settings()
        words = dict(told)
        if "model" not in words:
            told.append(("model", "cnn" if "data.image" in words else "mlp"))
        return told + [("model.layers", to_text(settings()["model_layers"], self.layers))]


# ---- numbers ---------------------------------------------------------------------------------------------------------------


class _Numbers(Estimator):
    _estimator_type = "regressor"
    _own = ["schema", "bounds", "progress"]
    _is_classifier = False

    def predict(self, X: Any) -> Any:
        """The predicted number of every row."""
        return self._ready().predict(self._rows(X), score=True)[:, 0].astype(np.float64)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> float:
        """The share of variance that is explained (R^2); NOT PRIVATE, as everything counted over rows.

        groups: whose row it is, an id for each: every person then counts once.
        """
        y = self._answers(X, y)
        got = self.predict(X)
        sample_weight = _per_person(groups, len(got), sample_weight)
        want = _rows.column(y, len(got)).astype(np.float64)
        mean = np.average(want, weights=sample_weight)
        rest = np.average((want - got) ** 2, weights=sample_weight)
        total = np.average((want - mean) ** 2, weights=sample_weight)
        return float(1.0 - rest / total) if total > 0 else float(rest == 0)


class Regressor(_Numbers, losses=("squared", "huber", "tukey", "mlp"), defaults={"model": "squared"}):
    """A model of a number, whose bounds are declared: y_min and y_max, or privet.target(min, max) in the schema.

    >>> import numpy as np, privet
    >>> X = np.random.default_rng(0).random((3000, 2)); y = X[:, 0] - X[:, 1]
    >>> privet.Regressor(bounds=(0, 1), y_min=-1, y_max=1).fit(X, y).predict(X[:4]).shape
    (4,)
    """


class AdditiveRegressor(_Sums, _Numbers, losses=("squared", "huber"), defaults={"model": "squared", "curves": "auto"}):
    """A model of a number that is a sum of curves, one for each column; the number's bounds are declared.

    >>> import numpy as np, privet
    >>> X = np.random.default_rng(0).random((4000, 2)); y = np.abs(X[:, 0] - 0.5)
    >>> reg = privet.AdditiveRegressor(bounds=(0, 1), y_min=0, y_max=0.5, epsilon=4.0).fit(X, y)
    >>> reg.curves_["columns"][0]["name"]
    'x0'
    """


class LinearRegression(_Numbers, losses=("squared",), defaults=_STRAIGHT):
    """Least squares.

    >>> import numpy as np, privet
    >>> X = np.random.default_rng(0).random((3000, 2)); y = X[:, 0] - X[:, 1]
    >>> privet.LinearRegression(bounds=(0, 1), y_min=-1, y_max=1).fit(X, y).coef_.shape
    (2,)
    """

    _fixed = {"model": "squared"}


class Ridge(_Numbers, losses=("squared",), defaults=_STRAIGHT):
    """Least squares with a penalty on the squared length of the weights; its weight is reg_lambda.

    >>> import numpy as np, privet
    >>> X = np.random.default_rng(0).random((3000, 2)); y = X[:, 0] - X[:, 1]
    >>> privet.Ridge(bounds=(0, 1), y_min=-1, y_max=1, reg_lambda=0.01).fit(X, y).intercept_ < 1
    True
    """

    _fixed = {"model": "squared", "reg": "l2"}


# ---- from a file ---------------------------------------------------------------------------------------------------------------


def _plain_classes(names: list[str]) -> Any:
    """Classes as their text says: whole numbers, truth values, else text."""
    if sorted(names) == ["false", "true"]:
        return np.array([n == "true" for n in names])
    try:
        whole = [int(n) for n in names]
        if all(str(w) == n for w, n in zip(whole, names)):
            return np.array(whole)
    except ValueError:
        pass
    return np.array(names)


def load(path: Path) -> Any:
    """A model file, written by `save` or by the command, as an estimator.

    >>> import os, tempfile, numpy as np, privet
    >>> X = np.random.default_rng(0).random((500, 2)); y = np.arange(500) % 2
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "m.pvt")
    ...     privet.Classifier(bounds=(0, 1), classes=[0, 1]).fit(X, y).save(path)
    ...     privet.load(path).predict(X[:3]).shape
    (3,)
    """
    return of_bytes(read_file(path), os.fspath(path))


def _declared(est: Any, schema: Optional[Schema], classes: Any, measured: Any) -> None:
    """What was declared at first, for another fit: what had been taken from the rows is no declaration."""
    if measured == "bounds":
        est.bounds = "from-data"
        return
    if schema is None:
        est.bounds = "row-norm"
        if classes is not None and measured != "classes":
            est.set_params(classes=list(classes.tolist()))
        return
    est.schema = schema.without_label() if measured == "classes" else schema


def of_bytes(held: bytes, name: str = "model") -> Any:
    """An estimator from the bytes of a model file."""
    fitted = Fitted.of_bytes(held, name)
    said = fitted.settings()
    kind: type[Estimator] = Classifier if fitted.classes else Regressor
    est = kind()
    for word, s in settings().items():
        if word in est._keywords and s.key in said and said[s.key] is not None:
            value = said[s.key]
            if value != "auto" or not s.of:
                setattr(est, word, value)
    if str(said.get("optimizer.start", "")).startswith("file:"):
        est.set_params(optimizer_start=est._default("optimizer_start"))
        _ledger.log.info("%s was trained from weights in a file, which it does not hold: set optimizer_start before another fit", name)
    schema = None if fitted.schema() is None else Schema.from_json(str(fitted.schema()))
    classes = _plain_classes(fitted.class_names()) if fitted.classes else None
    _declared(est, schema, classes, said.get("data.measured"))
    est._take(fitted, None, Declaration(schema, schema is not None, False, classes, [], None), None)
    if schema is not None:
        est.feature_names_in_ = np.array(schema.but_label(), object)
    return est
