#!/usr/bin/env python3
"""tables.py - private models of raw tables, all defaults, on the same random splits; tables.sh sets where things are.

Every run is one line of --results, and what is recorded there is not run again (--again does).  Splits are of four rows to
train on and one to test, drawn by their number; `adult-official` has its own split, and the number is the seed alone.  All
methods are given the same bounds and categories.  Runs have seeds: repeatable, NOT PRIVATE.

Methods   privet: all defaults, so a curve for each number; privet-line: data.curves=off; privet:KEY=VALUE,...: settings
          dp-ebm: DP-EBM as it is; dp-ebm-0.1: with learning_rate=0.1; diffprivlib: logistic or linear regression
          linear, ebm, boosting: without privacy: logistic or linear regression, EBM without pairs, gradient boosting
Figures   auc, accuracy, log_loss, calibration (mean distance of predicted and observed shares in 15 bins of the
          prediction, of the predicted class where there are more than two); of real labels rmse in their unit and r2;
          seconds of training on one core: privet's from the CSV to the model with its certificate, others' from memory
Paired    figure of privet minus that of another on the same splits.  p: t test with the variance times 1/k + 1/4 in place
          of 1/k, because k random splits share rows (Nadeau, Bengio 2003); exact: of all 2^k signs of the differences,
          the share with a mean at least as far from 0 (ignores that the splits share rows)"""

import argparse
import csv
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

import tables_data

DELTA = 1e-5
FIGURES = ["auc", "accuracy", "log_loss", "calibration", "rmse", "r2", "seconds"]
FIELDS = ["table", "method", "epsilon", "split", "rows", *FIGURES]
OPEN = ["linear", "ebm", "boosting"]  # not private
METHODS = ["privet", "privet-line", "dp-ebm", "dp-ebm-0.1", "diffprivlib", *OPEN]
TABLES = [t for t in [*tables_data.REAL, *tables_data.MADE_UP] if t not in ("adult-official", "housing-unit")]


class Unavailable(Exception):
    """A method that cannot run here, or not for such a table."""


# ---- methods: (table to train on, table to test on, epsilon or None, seed) -> probabilities or values, seconds -------


def command(*words):
    done = subprocess.run([os.environ["PRIVET_COMMAND"], *words], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"privet {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


class Privet:
    """Files are written once for a split, whatever the settings."""

    files = None

    def __init__(self, settings):
        self.settings = settings

    @classmethod
    def folder(cls, train, test):
        if cls.files is None or cls.files[0] is not train:
            if cls.files:
                cls.files[1].cleanup()
            cls.files = train, tempfile.TemporaryDirectory()
            train.write(os.path.join(cls.files[1].name, "train.csv"))
            test.write(os.path.join(cls.files[1].name, "test.csv"))
            with open(os.path.join(cls.files[1].name, "schema.json"), "w") as f:
                f.write(train.schema())
        return cls.files[1].name

    def __call__(self, train, test, epsilon, seed):
        at = self.folder(train, test)
        model, scores = os.path.join(at, "m.pvt"), os.path.join(at, "scores.csv")
        words = ["train", f"{at}/train.csv", "--schema", f"{at}/schema.json", "--epsilon", str(epsilon), "--delta", str(DELTA)]
        words += ["--seed", str(seed), "--threads", "1", "--quiet", "--out", model, *self.settings]
        start = time.perf_counter()
        command(*words)
        seconds = time.perf_counter() - start
        command("predict", model, f"{at}/test.csv", "--quiet", "--out", scores)
        with open(scores) as f:
            head, *rows = csv.reader(f)
        if not train.classes:
            return np.array([float(r[head.index("prediction")]) for r in rows]), seconds
        if train.classes == 2:
            p = np.array([float(r[-1]) for r in rows])
            return np.column_stack([1 - p, p]), seconds
        at = [head.index(f"p({v})") for v in train.label.values]
        return np.array([[float(r[i]) for i in at] for r in rows]), seconds


def fitted(model, x, y, held, classes):
    start = time.perf_counter()
    model.fit(x, y)
    seconds = time.perf_counter() - start
    return (full(model, held, classes) if classes else model.predict(held)), seconds


def full(model, held, classes):
    """Probabilities of every declared class, of those no row to train on has, too."""
    p = np.zeros((len(held), classes))
    p[:, np.asarray(model.classes_, dtype=int)] = model.predict_proba(held)
    return p


def frame(t, whole):
    """whole: a missing number is in the middle of its bounds, because DP-EBM takes none."""
    import pandas

    named = {}
    for c, x in zip(t.columns, t.x):
        if c.values is None:
            named[c.name] = np.nan_to_num(x, nan=(c.low + c.high) / 2) if whole else x
        else:
            named[c.name] = np.array([*c.values, "none"], dtype=object)[x]
    return pandas.DataFrame(named)


def ebm(private, **more):
    def run(train, test, epsilon, seed):
        try:
            from interpret import glassbox, privacy
        except ImportError as e:
            raise Unavailable(f"{e}: pip install interpret-core") from e
        if private and train.classes > 2:
            raise Unavailable("DP-EBM is for two classes and for real labels")
        types = ["continuous" if c.values is None else "nominal" for c in train.columns]
        args = {"feature_types": types, "n_jobs": 1, "random_state": seed, **more}
        kind = "ExplainableBoostingClassifier" if train.classes else "ExplainableBoostingRegressor"
        if not private:
            model = getattr(glassbox, kind)(interactions=0, outer_bags=2, **args)  # of 14, for the time it takes
        else:
            bounds = {c.name: (c.low, c.high) for c in train.columns if c.values is None}
            args.update(epsilon=epsilon, delta=DELTA, privacy_bounds=bounds)
            if not train.classes:
                args.update(privacy_target_min=train.label.low, privacy_target_max=train.label.high)
            model = getattr(privacy, "DP" + kind)(**args)
        return fitted(model, frame(train, private), train.y, frame(test, private), train.classes)

    return run


def one_hot(t):
    """Numbers in 0..1 by their bounds, missing ones in the middle; a feature for each value of a category."""
    parts = []
    for c, x in zip(t.columns, t.x):
        if c.values is None:
            parts.append(np.nan_to_num((x - c.low) / (c.high - c.low), nan=0.5)[:, None])
        else:
            parts.append((x[:, None] == np.arange(len(c.values))).astype(float))
    return np.hstack(parts)


def diffprivlib(train, test, epsilon, seed):
    try:
        from diffprivlib import models
    except ImportError as e:
        raise Unavailable(f"{e}: diffprivlib needs an older scikit-learn (1.5 does)") from e
    if train.classes:  # a row is no longer than the root of the number of columns
        model = models.LogisticRegression(epsilon=epsilon, data_norm=len(train.columns) ** 0.5, random_state=seed, max_iter=1000)
    else:
        model = models.LinearRegression(
            epsilon=epsilon, bounds_X=(0.0, 1.0), bounds_y=(train.label.low, train.label.high), random_state=seed
        )
    return fitted(model, one_hot(train), train.y, one_hot(test), train.classes)


def linear(train, test, epsilon, seed):
    from sklearn.linear_model import LogisticRegression, Ridge

    model = LogisticRegression(C=100.0, max_iter=2000) if train.classes else Ridge(1e-3)
    return fitted(model, one_hot(train), train.y, one_hot(test), train.classes)


def boosting(train, test, epsilon, seed):
    from sklearn import ensemble

    kind = ensemble.HistGradientBoostingClassifier if train.classes else ensemble.HistGradientBoostingRegressor
    model = kind(categorical_features=[c.values is not None for c in train.columns], random_state=seed)
    x, held = (np.column_stack([np.where(f < 0, np.nan, f) if c.values is not None else f for c, f in zip(t.columns, t.x)])
               for t in (train, test))
    return fitted(model, x, train.y, held, train.classes)


def hats(t, knots):
    """One or two numbers of a column that are not 0, as src/data/curves.c; a bias; rows of norm 1 at most.  1 knot: lines."""
    parts = [np.ones((len(t.y), 1))]
    if knots == 1:
        return np.hstack(parts + [one_hot(t)]) / (len(t.columns) + 1) ** 0.5
    for c, x in zip(t.columns, t.x):
        if c.values is not None:
            parts.append((x[:, None] == np.arange(len(c.values))).astype(float))
            continue
        at = (x - c.low) / (c.high - c.low) * (knots - 1)
        parts.append(np.nan_to_num(np.maximum(0, 1 - abs(at[:, None] - np.arange(knots))), nan=0.0))
        if c.missing:
            parts.append(np.isnan(x)[:, None].astype(float))
    return np.hstack(parts) / (len(t.columns) + 1) ** 0.5


def gaussian_mu(epsilon, delta=1e-5):
    """mu of Gaussian differential privacy with this (epsilon, delta)."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    def excess(mu):
        return norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu) - delta

    return brentq(excess, 1e-4, 50)


def adassp(knots):
    """Wang 2018, Algorithm 2, on labels in -1 .. 1; a tenth of the squared budget for the eigenvalue, the rest halved."""

    def run(train, test, epsilon, seed):
        if train.classes:
            raise Unavailable("a label that is a number is needed")
        start, draw = time.perf_counter(), np.random.default_rng(seed)
        middle, half = (train.label.high + train.label.low) / 2, (train.label.high - train.label.low) / 2
        x, y, mu = hats(train, knots), (train.y - middle) / half, gaussian_mu(epsilon)
        d, low, other = x.shape[1], 1 / (mu * 0.1**0.5), 1 / (mu * 0.45**0.5)  # standard deviations; sensitivities are 1
        noise = np.triu(draw.normal(0, other, (d, d)))
        gram = x.T @ x
        least = max(0.0, np.linalg.eigvalsh(gram)[0] + draw.normal(0, low) - 2 * low)
        ridge = max(0.0, (d * np.log(2 * d * d / 0.05)) ** 0.5 * other - least)
        w = np.linalg.solve(gram + noise + np.triu(noise, 1).T + ridge * np.eye(d), x.T @ y + draw.normal(0, other, d))
        seconds = time.perf_counter() - start
        return np.clip(hats(test, knots) @ w, -1, 1) * half + middle, seconds

    return run


def method(name):
    if name.startswith("adassp:"):
        return adassp(int(name[7:]))
    fixed = {
        "privet": Privet([]),
        "privet-line": Privet(["data.curves=off"]),
        "dp-ebm": ebm(True),
        "dp-ebm-0.1": ebm(True, learning_rate=0.1),
        "diffprivlib": diffprivlib,
        "linear": linear,
        "ebm": ebm(False),
        "boosting": boosting,
    }
    if name.startswith("privet:"):
        return Privet(name[7:].split(","))
    if name not in fixed:
        sys.exit(f"no method {name}: {', '.join(METHODS)} adassp:KNOTS or privet:KEY=VALUE,...")
    return fixed[name]


# ---- figures --------------------------------------------------------------------------------------------------------


def auc(score, y):
    from scipy.stats import rankdata

    rank, ones = rankdata(score), int(y.sum())
    return (rank[y == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(y) - ones))


def calibration(p, hit, bins=15):
    at = np.minimum((p * bins).astype(int), bins - 1)
    return sum(abs((p[at == b] - hit[at == b]).sum()) for b in range(bins)) / len(p)


def figures(out, test):
    if not test.classes:
        error = out - test.y
        return {"rmse": (error**2).mean() ** 0.5, "r2": 1 - (error**2).mean() / test.y.var()}
    p, y = out, test.y
    sure = p[:, 1] if test.classes == 2 else p.max(1)
    hit = y if test.classes == 2 else p.argmax(1) == y
    found = {
        "accuracy": (p.argmax(1) == y).mean(),
        "log_loss": -np.log(np.clip(p[np.arange(len(y)), y], 1e-12, 1)).mean(),
        "calibration": calibration(sure, hit.astype(float)),
    }
    return {"auc": auc(p[:, 1], y), **found} if test.classes == 2 else found


# ---- runs -----------------------------------------------------------------------------------------------------------


def recorded(path):
    if not os.path.exists(path):
        return {}
    with open(path, newline="") as f:
        return {(r["table"], r["method"], r["epsilon"], int(r["split"])): r for r in csv.DictReader(f)}


def record(path, row):
    new = not os.path.exists(path)
    with open(path, "a", newline="") as f:
        out = csv.DictWriter(f, FIELDS)
        if new:
            out.writeheader()
        out.writerow(row)


def runs(o):
    """What is asked for and not recorded, split by split."""
    done = {} if o.again else recorded(o.results)
    for t, s in itertools.product(o.tables, range(o.first, o.first + o.splits)):
        todo = [(m, e) for m in o.methods for e in ([""] if m in OPEN else o.epsilons) if (t, m, e, s) not in done]
        if todo:
            yield t, s, todo


def work(o):
    start, table, absent = time.time(), None, set()
    for name, s, todo in runs(o):
        if table is None or table.name != name:
            table, absent = tables_data.load(name), set()
        train, test = (table.part(r) for r in table.split(s))
        for m, e in todo:
            if o.minutes and time.time() - start > 60 * o.minutes:
                return print(f"{o.minutes:g} minutes are over; the same command goes on", file=sys.stderr)
            if m in absent:
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    out, seconds = method(m)(train, test, float(e) if e else None, s)
            except Unavailable as why:
                print(f"{name}: no {m}: {why}", file=sys.stderr)
                absent.add(m)
                continue
            found = {k: f"{v:.6g}" for k, v in {**figures(out, test), "seconds": seconds}.items()}
            record(o.results, {"table": name, "method": m, "epsilon": e, "split": s, "rows": len(train.y), **found})
        print(f"{name}: split {s}, {time.time() - start:.0f} s", file=sys.stderr)


# ---- what was found -------------------------------------------------------------------------------------------------


def values(done, figure, t, m, e):
    """By split."""
    return {k[3]: float(r[figure]) for k, r in done.items() if k[:3] == (t, m, e) and r[figure]}


def paired(a, b):
    """Mean difference, p of the corrected t test, exact p, number of splits."""
    from scipy.stats import t

    d = np.array([a[s] - b[s] for s in sorted(a) if s in b])
    k = len(d)
    if k < 2 or not d.any():
        return (d.mean() if k else float("nan")), float("nan"), float("nan"), k
    p = 2 * t.sf(abs(d.mean()) / max(d.std(ddof=1) * (1 / k + 0.25) ** 0.5, 1e-12), k - 1)
    signs = np.array(list(itertools.product([1, -1], repeat=min(k, 12))))
    exact = (abs(signs @ d[:12]) >= abs(d[:12].sum()) * (1 - 1e-9)).mean()
    return d.mean(), p, exact, k


def digits(figure, v):
    if figure == "seconds":
        return f"{v:.2f}"
    if figure == "rmse":
        return f"{v:,.0f}" if abs(v) >= 1000 else f"{v:.4g}"
    return f"{v:.4f}"


def show_figure(done, o, figure):
    """Means over splits, a line for each table and epsilon."""
    private = [m for m in o.methods if m not in OPEN]
    lines = []
    for t, e in itertools.product(o.tables, o.epsilons):
        cells = [values(done, figure, t, m, e if m not in OPEN else "") for m in o.methods]
        if not any(cells[: len(private)]):
            continue
        k = {len(c) for c in cells if c}
        splits = str(k.pop()) if len(k) == 1 else f"{min(k)} to {max(k)}"
        text = [digits(figure, statistics.mean(c.values())) if c else "" for c in cells]
        lines.append(f"| {t} | {e} | " + " | ".join(text) + f" | {splits} |")
    if lines:
        print(f"\n{figure}\n\n| table | epsilon | " + " | ".join(o.methods) + " | splits |\n|---|---|" + "---|" * (len(o.methods) + 1))
        print("\n".join(lines))


def show_paired(done, o):
    base, others = o.methods[0], o.methods[1:]
    print(f"\nPaired: {base} minus another, mean (p of the corrected t test, exact p, splits)\n")
    print("| table | epsilon | figure | " + " | ".join(others) + " |\n|---|---|---|" + "---|" * len(others))
    for t, e in itertools.product(o.tables, o.epsilons):
        for figure in ("auc", "accuracy", "log_loss", "rmse"):
            a = values(done, figure, t, base, e)
            if not a or (figure == "accuracy" and values(done, "auc", t, base, e)):
                continue
            text = []
            for m in others:
                mean, p, exact, k = paired(a, values(done, figure, t, m, "" if m in OPEN else e))
                text.append(f"{'+' if mean >= 0 else ''}{digits(figure, mean)} ({p:.2g}, {exact:.2g}, {k})" if k else "")
            print(f"| {t} | {e} | {figure} | " + " | ".join(text) + " |")


def show(o):
    done = recorded(o.results)
    for figure in o.figures:
        show_figure(done, o, figure)
    if len(o.methods) > 1:
        show_paired(done, o)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = lambda text: text.split(",")
    a.add_argument("--tables", type=words, default=TABLES, help="with commas; default: all but adult-official and housing-unit, whose label is -1 .. 1")
    a.add_argument("--methods", type=lambda t: t.split(";" if ";" in t or ":" in t else ","), default=METHODS,
                   help="with commas, or semicolons where one has settings; the first is compared with the others")
    a.add_argument("--epsilons", type=words, default=["0.1", "0.5", "1", "2", "4"])
    a.add_argument("--splits", type=int, default=10)
    a.add_argument("--first", type=int, default=1, help="number of the first split")
    a.add_argument("--results", default="tables.csv", help="CSV of all runs; goes on where it ends")
    a.add_argument("--minutes", type=float, help="no new run after so many")
    a.add_argument("--figures", type=words, default=FIGURES, help="to show, with commas")
    a.add_argument("--again", action="store_true", help="also what is recorded; the later line counts")
    a.add_argument("--show", action="store_true", help="run nothing: what is recorded, as Markdown")
    o = a.parse_args()
    if not o.show:
        work(o)
    show(o)


if __name__ == "__main__":
    main()
