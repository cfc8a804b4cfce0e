"""How often the intervals of `privet eval --epsilon` hold the exact figure: python3 evaluation.py PRIVET DATA [RUNS]

DATA is a folder with adult/a9a.bz2, adult/a9a.t.bz2, ijcnn1/ijcnn1.tr.bz2, ijcnn1/ijcnn1.t.bz2 and tables/letter.csv.gz.
One model of each; then RUNS evaluations of the same rows, with fresh noise.  Exact figures are computed here from
`privet predict`, without privet's own measures.  Prints a line for every table, size and epsilon: the share of runs whose
interval holds the exact figure, and the mean width of the interval.
"""

import bz2
import csv
import gzip
import io
import json
import math
import pathlib
import subprocess
import sys
import tempfile

PRIVET, DATA = sys.argv[1], pathlib.Path(sys.argv[2])
RUNS = int(sys.argv[3]) if len(sys.argv) > 3 else 200


def privet(*args):
    return subprocess.run([PRIVET, *map(str, args)], check=True, capture_output=True, text=True).stdout


def lines(name):
    return bz2.decompress((DATA / name).read_bytes()).decode().splitlines(keepends=True)


def shuffled(rows):
    """Some order that is the same everywhere."""
    return [row for _, row in sorted((i * 2654435761 % 2**32, row) for i, row in enumerate(rows))]


def auc(score, positive):
    order = sorted(range(len(score)), key=lambda i: score[i])
    wins = below = i = 0
    while i < len(order):
        k = i
        while k < len(order) and score[order[k]] == score[order[i]]:
            k += 1
        here = sum(positive[order[j]] for j in range(i, k))
        wins += here * (below + (k - i - here) / 2)
        below += k - i - here
        i = k
    return wins / (below * sum(positive))


def groups(rows):
    """share of the rows and observed share, of ten groups: (group, whether it happened)"""
    for g in range(10):
        here = [hit for group, hit in rows if group == g]
        yield len(here) / len(rows), sum(here) / len(here) if here else None


def of_two(scores, labels):
    margin = [float(row["margin"]) for row in scores]
    positive = [label == "+1" for label in labels]
    cells = [[0, 0], [0, 0]]
    for m, p in zip(margin, positive):
        cells[p][m > 0] += 1
    (tn, fp), (fn, tp) = cells
    n = len(margin)
    return {"accuracy": (tn + tp) / n, "majority": max(tn + fp, fn + tp) / n, "auc": auc(margin, positive),
            "precision": tp / (tp + fp) if tp + fp else None, "recall": tp / (tp + fn), "cells": cells,
            "groups": list(groups([(min(max(math.floor(m) + 5, 0), 9), p) for m, p in zip(margin, positive)]))}


def of_many(scores, labels, names):
    k = len(names)
    cells = [[0] * k for _ in range(k)]
    rows = []
    for row, label in zip(scores, labels):
        cells[names.index(label)][names.index(row["prediction"])] += 1
        chance = float(row[f"p({row['prediction']})"])
        rows.append((min(int(10 * chance), 9), row["prediction"] == label))
    n = len(rows)
    return {"accuracy": sum(cells[i][i] for i in range(k)) / n, "majority": max(map(sum, cells)) / n, "cells": cells,
            "groups": list(groups(rows))}


class Tally(dict):
    def add(self, name, inside, width):
        held, runs, total = self.get(name, (0, 0, 0.0))
        self[name] = (held + inside, runs + 1, total + width)


def compare(tally, got, exact):
    for name in ("accuracy", "majority", "auc", "precision", "recall"):
        if exact.get(name) is not None:
            low, high = got[name]["low"], got[name]["high"]
            tally.add(name, low <= exact[name] <= high, high - low)
    half = got["confusion"]["plus_minus"]
    for have, want in zip(got["confusion"]["true_by_predicted"], exact["cells"]):
        for a, b in zip(have, want):
            tally.add("count", abs(a - b) <= half, 2 * half)
    for have, (share, observed) in zip(got["calibration"], exact["groups"]):
        tally.add("share", have["share"]["low"] <= share <= have["share"]["high"],
                  have["share"]["high"] - have["share"]["low"])
        if observed is not None:
            tally.add("observed", have["observed"]["low"] <= observed <= have["observed"]["high"],
                      have["observed"]["high"] - have["observed"]["low"])


def measure(name, model, table, exact, n):
    for epsilon in (0.1, 0.5, 2.0):
        tally = Tally()
        for _ in range(RUNS):
            compare(tally, json.loads(privet("eval", model, table, "--epsilon", epsilon, "--json", "--quiet")), exact)
        print(f"{name:8} {n:6} rows  epsilon {epsilon:<4}", "  ".join(
            f"{key} {held / runs:.3f} ({total / runs:.3f})" for key, (held, runs, total) in tally.items()), flush=True)


def two_classes(folder, name, train, test, sizes):
    model = folder / f"{name}.pvt"
    (folder / "train").write_text("".join(lines(train)))
    privet("train", folder / "train", "--epsilon", 1, "--out", model, "--quiet")
    for n in sizes:
        rows = shuffled(lines(test))[:n]
        table = folder / "test"
        table.write_text("".join(rows))
        scores = list(csv.DictReader(io.StringIO(privet("predict", model, table, "--quiet"))))
        measure(name, model, table, of_two(scores, ["+1" if float(r.split()[0]) > 0 else "-1" for r in rows]), n)


def letters(folder, sizes):
    head, *rows = gzip.decompress((DATA / "tables/letter.csv.gz").read_bytes()).decode().splitlines(keepends=True)
    names = [chr(65 + k) for k in range(26)]
    columns = [{"name": c.strip().strip('"'), "type": "number", "min": 0, "max": 15} for c in head.split(",")]
    columns[0] = {"name": "letter", "type": "label", "values": names}
    (folder / "letter.json").write_text(json.dumps({"header": True, "columns": columns}))
    rows = shuffled(rows)
    (folder / "train.csv").write_text(head + "".join(rows[:12000]))
    model = folder / "letter.pvt"
    privet("train", folder / "train.csv", "--schema", folder / "letter.json", "--epsilon", 3, "--out", model, "--quiet")
    for n in sizes:
        table = folder / "test.csv"
        table.write_text(head + "".join(rows[12000:12000 + n]))
        scores = list(csv.DictReader(io.StringIO(privet("predict", model, table, "--quiet"))))
        labels = [row.split(",")[0].strip('"') for row in rows[12000:12000 + n]]
        measure("letter", model, table, of_many(scores, labels, names), n)


with tempfile.TemporaryDirectory() as made:
    two_classes(pathlib.Path(made), "a9a", "adult/a9a.bz2", "adult/a9a.t.bz2", (500, 4000, 16281))
    two_classes(pathlib.Path(made), "ijcnn1", "ijcnn1/ijcnn1.tr.bz2", "ijcnn1/ijcnn1.t.bz2", (500, 4000, 20000))
    letters(pathlib.Path(made), (500, 4000, 8000))
