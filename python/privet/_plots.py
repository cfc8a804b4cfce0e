"""Pictures, with matplotlib where it is installed."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np

from ._account import Event, curve
from ._errors import InvalidInput


def _axes(ax: Optional[Any]) -> Any:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots()[1]


def plot_privacy(est: Any, ax: Optional[Any] = None) -> Any:
    """Delta against epsilon of all that was released: a fitted estimator, certificate or event; returns the axes.

    >>> import privet
    >>> try:
    ...     import matplotlib; matplotlib.use("agg")
    ...     privet.plot_privacy(privet.Event.gaussian(2.0)).get_xlabel()
    ... except ImportError:  # matplotlib is not installed
    ...     "epsilon"
    'epsilon'
    """
    c = getattr(est, "certificate_", est)
    relation = getattr(c, "relation", "zero-out")
    if getattr(c, "is_private", True) is False:
        raise InvalidInput("NOT PRIVATE: there is no curve to draw")
    epsilon, delta = curve(events=Event.of(c), relation=relation)
    ax = _axes(ax)
    ax.semilogy(epsilon, np.where(delta > 0, delta, np.nan))
    if hasattr(c, "epsilon") and not callable(c.epsilon):
        ax.plot([c.epsilon], [c.delta], "o")
    ax.set_xlabel("epsilon")
    ax.set_ylabel("delta")
    ax.set_title(f"what one row may change, relation {relation}")
    return ax


def plot_coefficients(est: Any, ax: Optional[Any] = None, most: int = 30) -> Any:
    """The largest weights of a linear model by the names of its encoded columns; returns the axes.

    Bars of error are one standard deviation of the privacy noise where it is known (`privet.Noise`); else the label of the
    axis has the noise of each released sum.

    >>> import numpy as np, privet
    >>> X = np.random.default_rng(3).random((800, 2)); y = (X[:, 0] > 0.5).astype(int)
    >>> clf = privet.LogisticRegression(bounds=(0, 1), classes=[0, 1]).fit(X, y)
    >>> try:
    ...     import matplotlib; matplotlib.use("agg")
    ...     len(privet.plot_coefficients(clf).patches)
    ... except ImportError:  # matplotlib is not installed
    ...     2
    2
    """
    w = np.atleast_2d(est.coef_)
    names = est.coef_names_
    order = np.argsort(-np.abs(w).max(axis=0))[:most][::-1]
    ax = _axes(ax)
    high = 0.8 / len(w)
    noise = est.certificate_.noise
    known = noise.weights if noise is not None else None
    for k, row in enumerate(w):
        ax.barh(np.arange(len(order)) + k * high, row[order], high, label=f"score {k}" if len(w) > 1 else None, xerr=known)
    ax.set_yticks(np.arange(len(order)))
    ax.set_yticklabels([names[j] for j in order])
    if noise is None:
        about = "NOT PRIVATE, no noise"
    elif known is not None:
        about = f"standard deviation of the noise: {known:.3g}"
    else:
        about = f"noise of {noise.stddev:.3g} on each entry of {noise.releases} released sum(s) over rows"
    ax.set_xlabel(f"weight of the encoded column\n{about}")
    if len(w) > 1:
        ax.legend()
    return ax


def plot_curves(est: Any, columns: Union[None, str, list[str]] = None, output: int = 0) -> Any:
    """What each column of an additive model adds to the score, a picture each, the most important first; returns the figure.

    columns: which, in this order; None: all. output: which score, of several classes. The bar at the left edge is one standard
    deviation, up and down, that privacy noise has at a point without rows, where that is known, and far less where there are
    many. It is privacy noise alone, not the uncertainty of a sample.

    >>> import numpy as np, privet
    >>> X = np.random.default_rng(4).random((2000, 2)); y = np.abs(X[:, 0] - 0.5) < 0.25
    >>> clf = privet.AdditiveClassifier(bounds=(0, 1), classes=[False, True]).fit(X, y)
    >>> try:
    ...     import matplotlib; matplotlib.use("agg")
    ...     [ax.get_title() for ax in privet.plot_curves(clf).axes]
    ... except ImportError:  # matplotlib is not installed
    ...     ["x0", "x1"]
    ['x0', 'x1']
    """
    said = est.curves_
    known = {c["name"]: c for c in said["columns"]}
    columns = [columns] if isinstance(columns, str) else columns
    unknown = [n for n in columns or () if n not in known]
    if columns is not None and not columns:
        raise InvalidInput("columns=[]: no column is named; None draws all of them")
    if unknown:
        raise InvalidInput(f"no curve of {unknown[0]!r}; there are {', '.join(known)}")
    if not 0 <= output < len(said["base"]):
        raise InvalidInput(f"output={output}: the model has {len(said['base'])} score(s), counted from 0")
    from matplotlib import pyplot

    drawn = [known[n] for n in columns] if columns is not None else said["columns"]
    wide = min(3, len(drawn))
    figure, grid = pyplot.subplots(-(-len(drawn) // wide), wide, squeeze=False, figsize=(4 * wide, 3 * -(-len(drawn) // wide)))
    for ax in grid.flat[len(drawn) :]:
        figure.delaxes(ax)
    of = f"log odds of {said['classes'][1]}" if said["score"] == "log odds" else said["score"]
    for ax, c in zip(grid.flat, drawn):
        _one_curve(ax, c, c["effect"][output], said.get("noise_at_most"))
        ax.set_title(c["name"])
        ax.set_ylabel(of)
    figure.tight_layout()
    return figure


def _one_curve(ax: Any, c: dict[str, Any], effect: list[float], noise: Optional[float]) -> None:
    if c["shape"] == "category":
        ax.bar([str(v) for v in c["at"]], effect)
        ax.tick_params(axis="x", rotation=60)
    else:
        at = np.array(c["at"], "datetime64[D]") if c["type"] == "date" else c["at"]
        ax.plot(at, effect, "o-", markersize=3)
        if noise is not None:
            ax.errorbar(at[:1], [0.0], yerr=[noise], color="black", capsize=4)
    ax.axhline(0.0, color="grey", linestyle="--", linewidth=0.8)


def plot_learning(est: Any, measure: str = "auto", ax: Optional[Any] = None) -> Any:
    """A measure on held-out rows along the steps of the fit, which were given by holdout="file"; returns the axes.

    measure: one of `est.summary_["holdout_not_private"]["curve"]`, such as "accuracy", "auc" or "log_loss"; "auto" is
    "log_loss" of a classifier and "loss" of a regressor. NOT PRIVATE for the people in the held-out rows, and a pickle
    does not keep it.

    >>> import os, tempfile, numpy as np, privet
    >>> X = np.random.default_rng(5).random((900, 2)); y = (X[:, 0] > 0.5).astype(int)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "held.csv")
    ...     np.savetxt(path, np.c_[X[800:], y[800:]], delimiter=",", header="x0,x1,label", comments="")
    ...     clf = privet.LogisticRegression(bounds=(0, 1), classes=[0, 1], holdout=path).fit(X[:800], y[:800])
    >>> try:
    ...     import matplotlib; matplotlib.use("agg")
    ...     privet.plot_learning(clf, "accuracy").get_ylabel()
    ... except ImportError:  # matplotlib is not installed
    ...     "accuracy, NOT PRIVATE for held-out rows"
    'accuracy, NOT PRIVATE for held-out rows'
    """
    held = (getattr(est, "summary_", None) or {}).get("holdout_not_private")
    if not held:
        raise InvalidInput('there is no curve: fit with holdout="file", rows that are not among those of the fit')
    measure = ("log_loss" if est._is_classifier else "loss") if measure == "auto" else measure
    points = [p for p in held["curve"] if isinstance(p.get(measure), (int, float))]
    if not points:
        known = ", ".join(k for k in held["curve"][0] if k != "step") if held["curve"] else "none"
        raise InvalidInput(f"measure={measure!r}: not measured; there are {known}")
    ax = _axes(ax)
    ax.plot([p["step"] for p in points], [p[measure] for p in points], "o-", markersize=3)
    ax.set_xlabel("step")
    ax.set_ylabel(f"{measure}, NOT PRIVATE for held-out rows")
    return ax
