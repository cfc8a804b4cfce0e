#!/usr/bin/env python3
"""persons_more.py - what persons.py leaves open: which cap where persons count by their rows, and sum against mean.

usage: persons_more.py DATA [REPEATS]      DATA has adult/ (a9a.bz2, a9a.t.bz2) and ijcnn1/ (ijcnn1.tr.bz2)

Owners, splits and seeds as in persons.py, from seed 31 on, with privet's defaults throughout (optimizer=auto, curves) but for knots at equal distances (data.knots_share=0), at
delta 1e-5.  `biased`: a9a, of which people with more than five rows own rows of the rarer class mostly, six in ten, others
one in ten.  AUC and log loss, over rows, and with every person counting once.  NOT PRIVATE: seeds are set, and owners are
made up."""

import bz2
import json
import os
import random
import statistics
import sys
import tempfile
from collections import Counter

from persons import DELTA, Lines, Stays, owners, privet, split

FIRST = 31


def lines(*paths):
    out = []
    for path in paths:
        with bz2.open(path, "rt") as f:
            out += list(f)
    return out


def biased(rng, table):
    """Ids of the rows, so that who has many rows differs from others."""
    rare = [i for i, line in enumerate(table.lines) if line[0] == "+"]
    rest = [i for i, line in enumerate(table.lines) if line[0] != "+"]
    ids, who, weights = [None] * len(table.lines), 0, [k**-1.5 for k in range(1, 51)]
    rng.shuffle(rare)
    rng.shuffle(rest)
    while rare or rest:
        k = rng.choices(range(1, 51), weights)[0]
        for _ in range(min(k, len(rare) + len(rest))):
            from_rare = rng.random() < (0.6 if k > 5 else 0.1)
            ids[((rare or rest) if from_rare else (rest or rare)).pop()] = who
        who += 1
    return ids


def write_ids(path, ids, rows):
    with open(path, "w") as f:
        f.writelines(f"{ids[i]}\n" for i in rows)


def run(table, work, ids, seed, epsilon, cap, more):
    """AUC and log loss of rows, and of persons."""
    train, test = split(random.Random(seed), ids)
    data, own, held, others, model = (os.path.join(work, n) for n in ("data", "ids", "held", "others", "model.pvt"))
    write_ids(own, ids, train)
    write_ids(others, ids, test)
    words = ["train", table.write(data, train), *table.settings, "data.knots_share=0", "--epsilon", str(epsilon), "--delta", DELTA]
    words += ["--seed", str(seed), f"data.person_file={own}", "--rows-per-person", str(cap), *more]
    privet(*words, "--quiet", "--out", model)
    v = json.loads(privet("eval", model, table.write(held, test), f"data.person_file={others}", "--json"))
    return v["auc"], v["log_loss"], v["per_person"]["auc"], v["per_person"]["log_loss"]


def means(found):
    return [statistics.mean(column) for column in zip(*found)]


def by_rows(name, table, ids_of, caps, seeds, work):
    print(f"\n{name}, unit.weight=rows, epsilon 1\n\n| K | persons with at most K rows | AUC | log loss |\n|---|---|---|---|")
    for cap in caps:
        found = [run(table, work, ids_of(random.Random(s)), s, 1, cap, ["unit.weight=rows"]) for s in seeds]
        sizes = Counter(ids_of(random.Random(FIRST))).values()
        share = sum(k <= cap for k in sizes) / len(sizes)
        auc, loss, _, _ = means(found)
        print(f"| {cap} | {share:.2f} | {auc:.4f} | {loss:.4f} |", flush=True)


def combine(name, table, ids_of, cap, seeds, work):
    for epsilon in (0.3, 1, 10):
        way = {w: [] for w in ("mean", "sum")}
        for s in seeds:
            for w, found in way.items():
                found.append(run(table, work, ids_of(random.Random(s)), s, epsilon, cap, [f"unit.combine={w}"]))
        cells = []
        for k in range(4):
            gain = [b[k] - a[k] for a, b in zip(way["mean"], way["sum"])]
            error = statistics.stdev(gain) / len(gain) ** 0.5 if len(gain) > 1 else 0
            cells.append(f"{statistics.mean(gain):+.4f} ± {error:.4f}")
        print(f"| {name} | {epsilon} | " + " | ".join(cells) + " |", flush=True)


def main():
    data, repeats = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    seeds = range(FIRST, FIRST + repeats)
    with tempfile.TemporaryDirectory() as work:
        adult = Lines(lines(*(os.path.join(data, "adult", n) for n in ("a9a.bz2", "a9a.t.bz2"))), ["data.features=123"])
        ijcnn1 = Lines(lines(os.path.join(data, "ijcnn1", "ijcnn1.tr.bz2")), ["data.features=22"])
        stays = Stays(os.path.join(work, "stays"))
        invented = {t: lambda rng, t=t: owners(rng, len(t.lines)) for t in (adult, ijcnn1)}
        by_rows("Adult", adult, invented[adult], [1, 2, 4, 8, 16, 50], seeds, work)
        by_rows("ijcnn1", ijcnn1, invented[ijcnn1], [1, 2, 4, 8, 16, 50], seeds, work)
        by_rows("stays", stays, lambda rng: stays.ids, [1, 2, 3, 4, 6, 12], seeds, work)
        print("\nsum - mean, paired\n\n| table | epsilon | AUC | log loss | AUC, persons | log loss, persons |")
        print("|---|---|---|---|---|---|")
        combine("ijcnn1", ijcnn1, invented[ijcnn1], 50, seeds, work)
        combine("stays", stays, lambda rng: stays.ids, 12, seeds, work)
        combine("Adult", adult, invented[adult], 50, seeds, work)
        combine("Adult, biased", adult, lambda rng: biased(rng, adult), 50, seeds, work)


main()
