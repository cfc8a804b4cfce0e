#!/usr/bin/env python3
"""curve_smoothing.py [TABLES [EPSILONS [SPLITS]]] - would smoothing between neighbouring knots help?  AUC / log loss.

Columns   knots: as data.curves=auto chooses them; 32: so many.  Rows are encoded here, and privet trains on the array with
          all defaults of optimizer=auto: what differs is the encoding, or what is done with the weights.
          smoothed L: the released weights of a column become (I + L D'D)^-1 times them, D their second differences
          correlated l: rows are A h instead of h, A'A_jk = exp(-|j - k|/(31 l)) with the mean of a column taken out: noise
          of equal size there is smooth over l of a column's range, and a row is no longer than before
Tables    as in tables.py; NAME/inner and NAME@SEED are not those that are reported.  PRIVET_DATA and PRIVET_COMMAND as there;
          needs numpy and scipy.  Runs have seeds: NOT PRIVATE."""

import functools
import os
import sys
import tempfile

import numpy as np

import tables
import tables_data

DELTA = "1e-5"


def hats(u, knots):
    at = np.clip(u, 0, 1) * (knots - 1)
    low = np.minimum(at.astype(int), knots - 2)
    h, row = np.zeros((len(u), knots)), np.arange(len(u))
    h[row, low] = 1 - (at - low)
    h[row, low + 1] += at - low
    return h


@functools.cache
def coordinates(knots, length):
    if not length:
        return np.eye(knots)
    u, centre = np.arange(knots) / (knots - 1), np.eye(knots) - 1 / knots
    e, v = np.linalg.eigh(centre @ np.exp(-abs(u[:, None] - u) / length) @ centre)
    a = (v * np.sqrt(np.maximum(e, 0))) @ v.T
    return a / np.linalg.norm(a, axis=0).max()


def encoded(t, knots, length):
    parts = [np.ones((len(t.y), 1))]
    for c, x in zip(t.columns, t.x):
        if c.values is None:
            u = np.nan_to_num((x - c.low) / (c.high - c.low), nan=0.5)
            parts.append(hats(u, knots) @ coordinates(knots, length))
        else:
            parts.append((x[:, None] == np.arange(len(c.values))).astype(float))
    return (np.hstack(parts) / (len(t.columns) + 1) ** 0.5 / 1.00001).astype(np.float32)


def weights(at, train, epsilon, seed, knots, length):
    np.save(f"{at}/x.npy", encoded(train, knots, length))
    np.save(f"{at}/y.npy", (2 * train.y - 1).astype(np.float32))
    tables.command("train", f"{at}/x.npy", f"data.labels={at}/y.npy", "model=logistic", "data.bias=0", "--epsilon", epsilon,
                   "--delta", DELTA, "--seed", str(seed), "--threads", "1", "--quiet", "--out", f"{at}/m.pvt")
    tables.command("export", f"{at}/m.pvt", "--out", f"{at}/w.npy")
    return np.load(f"{at}/w.npy").ravel()


def smoothed(t, w, knots, strength):
    w, at = w.copy(), 1
    d = np.diff(np.eye(knots), 2, axis=0)
    for c in t.columns:
        if c.values is None:
            w[at : at + knots] = np.linalg.solve(np.eye(knots) + strength * d.T @ d, w[at : at + knots])
        at += knots if c.values is None else len(c.values)
    return w


def figures(test, w, knots, length):
    p = 1 / (1 + np.exp(-encoded(test, knots, length) @ w))
    found = tables.figures(np.column_stack([1 - p, p]), test)
    return found["auc"], found["log_loss"]


def split(at, train, test, epsilon, seed):
    """By column of the table that is shown."""
    rule = int(max(2, min(32, np.floor(0.4 * (len(train.y) * float(epsilon)) ** 0.4))))
    found = {}
    for name, knots in (("knots", rule), ("32", 32)):
        w = weights(at, train, epsilon, seed, knots, 0)
        found[name] = figures(test, w, knots, 0)
        for strength in (0.1, 1):
            found[f"{name}, smoothed {strength}"] = figures(test, smoothed(test, w, knots, strength), knots, 0)
    for length in (0.1, 0.3):
        w = weights(at, train, epsilon, seed, 32, length)
        found[f"32, correlated {length}"] = figures(test, w, 32, length)
    return found


def main():
    names = (sys.argv[1] if len(sys.argv) > 1 else "curves-20k@7,telco/inner,adult/inner").split(",")
    epsilons = (sys.argv[2] if len(sys.argv) > 2 else "0.1,0.5,2").split(",")
    splits, head = int(sys.argv[3]) if len(sys.argv) > 3 else 3, None
    with tempfile.TemporaryDirectory() as at:
        for name in names:
            t = tables_data.load(name)
            for e in epsilons:
                all_found = [split(at, *(t.part(r) for r in t.split(s)), e, s) for s in range(501, 501 + splits)]
                if head is None:
                    head = list(all_found[0])
                    print("| table | epsilon | " + " | ".join(head) + " |\n|---|---|" + "---|" * len(head))
                means = [np.mean([f[k] for f in all_found], axis=0) for k in head]
                print(f"| {name} | {e} | " + " | ".join(f"{a:.4f} / {b:.4f}" for a, b in means) + " |", flush=True)


if __name__ == "__main__":
    if "PRIVET_DATA" not in os.environ or "PRIVET_COMMAND" not in os.environ:
        sys.exit(__doc__)
    main()
