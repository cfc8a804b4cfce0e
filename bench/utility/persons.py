#!/usr/bin/env python3
"""persons.py - four ways to protect people who own several rows, against K, the rows of one that count.

usage: persons.py DATA [REPEATS [FIGURE.svg]]      DATA has adult/ (a9a.bz2, a9a.t.bz2) and mnist/ (IDX files)

Tables: stays of `privet demo`; a9a (Adult), owners invented, of 1 to 50 rows, P(k) proportional to k^-1.5; 20,000 images
of MNIST, writers invented likewise.  Repeat r draws owners and splits, one person in five to test on, and has seed r in
every run: what differs between the ways is paired.  All are of epsilon 1 at delta 1e-5 for a person:
    group   rows are units, at most K of a person, at the epsilon of a row at which K rows together have 1: releases are
            Gaussian, so that K rows have the curve of a row at 1/K of the noise, and 1 needs K times the noise
    one     one row of every person: persons with K = 1
    mean    the mean of a person's K gradients is clipped once
    sum     the sum is (unit.combine=sum, where the command has it)
AUC, of MNIST the share of images named correctly.  NOT PRIVATE: seeds are set, and owners are made up."""

import bz2
import csv
import gzip
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

DELTA = "1e-5"
CAPS = [1, 2, 4, 8, 16, 50]


def privet(*words):
    done = subprocess.run(["privet", *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"privet {' '.join(words)}: {done.stderr}")
    return done.stdout


def row_epsilon(cap):
    """Of a row, so that cap rows together have epsilon 1."""
    z = json.loads(privet("calibrate", "gaussian", "steps=1", "--epsilon", "1", "--delta", DELTA, "--json"))
    z = z["noise_multiplier"] * cap
    return json.loads(privet("account", "gaussian", f"z={z!r}", "steps=1", "--delta", DELTA, "--json"))["epsilon"]


def owners(rng, n):
    """Ids of n rows, by persons of 1 to 50."""
    weights, ids, who = [k**-1.5 for k in range(1, 51)], [], 0
    while len(ids) < n:
        ids += [who] * rng.choices(range(1, 51), weights)[0]
        who += 1
    ids = ids[:n]
    rng.shuffle(ids)
    return ids


def capped(rng, ids, cap):
    """Rows of which nobody has more than cap, drawn."""
    order, seen, keep = list(range(len(ids))), {}, []
    rng.shuffle(order)
    for i in order:
        seen[ids[i]] = seen.get(ids[i], 0) + 1
        if seen[ids[i]] <= cap:
            keep.append(i)
    return sorted(keep)


def split(rng, ids):
    people = sorted(set(ids))
    rng.shuffle(people)
    test = set(people[: len(people) // 5])
    return [i for i, p in enumerate(ids) if p not in test], [i for i, p in enumerate(ids) if p in test]


class Lines:
    """Rows that are lines of text, ids in a file of their own."""

    figure, settings = "auc", []

    def __init__(self, lines, settings):
        self.lines, self.settings = lines, settings

    def write(self, path, rows):
        """The name of what was written."""
        with open(path, "w") as f:
            f.writelines(self.lines[i] for i in rows)
        return path


class Stays(Lines):
    """Those of the demo: the column of ids becomes a file, so that rows can be units."""

    def __init__(self, folder):
        privet("demo", folder)
        rows, self.ids = [], []
        for name in ("demo_train.csv", "demo_test.csv"):
            with open(os.path.join(folder, name)) as f:
                self.head = next(f)
                rows += list(f)
        self.ids = [next(csv.reader([r]))[0] for r in rows]
        with open(os.path.join(folder, "demo.schema.json")) as f:
            schema = json.load(f)
        schema["columns"][0] = {"name": "patient", "type": "ignore"}
        path = os.path.join(folder, "rows.json")
        with open(path, "w") as f:
            json.dump(schema, f)
        super().__init__(rows, ["--schema", path])

    def write(self, path, rows):
        with open(path, "w") as f:
            f.write(self.head)
            f.writelines(self.lines[i] for i in rows)
        return path


class Images(Lines):
    figure = "accuracy"

    def __init__(self, folder):
        with gzip.open(os.path.join(folder, "train-images-idx3-ubyte.gz")) as f:
            pixels = f.read()[16:]
        with gzip.open(os.path.join(folder, "train-labels-idx1-ubyte.gz")) as f:
            labels = f.read()[8:]
        super().__init__([(pixels[784 * i : 784 * i + 784], labels[i]) for i in range(20000)], ["model=softmax"])

    def write(self, path, rows):
        path += "-images"
        os.makedirs(path, exist_ok=True)
        count = len(rows).to_bytes(4, "big")
        with open(os.path.join(path, "train-images-idx3-ubyte"), "wb") as f:
            f.write(bytes([0, 0, 8, 3]) + count + (28).to_bytes(4, "big") * 2)
            f.writelines(self.lines[i][0] for i in rows)
        with open(os.path.join(path, "train-labels-idx1-ubyte"), "wb") as f:
            f.write(bytes([0, 0, 8, 1]) + count + bytes(self.lines[i][1] for i in rows))
        return os.path.join(path, "train-images-idx3-ubyte")


def run(table, work, rows, ids, test, seed, epsilon, cap, more):
    """The figure on the test rows; cap None: rows are units."""
    data, people, model = (os.path.join(work, n) for n in ("data", "ids", "model.pvt"))
    words = ["train", table.write(data, rows), *table.settings, "--epsilon", repr(epsilon), "--delta", DELTA, "--seed", str(seed)]
    words += ["optimizer=pgd", "data.curves=off", *more]
    if cap:
        with open(people, "w") as f:
            f.writelines(f"{ids[i]}\n" for i in rows)
        words += [f"data.person_file={people}", "--rows-per-person", str(cap)]
    privet(*words, "--quiet", "--out", model)
    return json.loads(privet("eval", model, test, "--json"))[table.figure]


def ways(has_combine):
    sums = {"sum": ["unit.combine=sum"], "mean": ["unit.combine=mean"]} if has_combine else {"mean": []}
    return {"group": None, "one": [], **sums}


def measure(name, table, fixed_ids, caps, repeats, work, found):
    test_path = os.path.join(work, "test")
    combine = subprocess.run(["privet", "list", "unit.combine"], capture_output=True).returncode == 0
    for seed in range(1, repeats + 1):
        rng = random.Random(seed)
        ids = fixed_ids or owners(rng, len(table.lines))
        train, test = split(rng, ids)
        held = table.write(test_path, test)
        once = None
        for cap in caps:
            for way, more in ways(combine).items():
                if way == "one" and once is not None:
                    value = once
                elif way == "group":
                    own = [ids[i] for i in train]
                    rows = [train[i] for i in capped(random.Random(seed), own, cap)]
                    value = run(table, work, rows, ids, held, seed, row_epsilon(cap), None, [])
                else:
                    value = run(table, work, train, ids, held, seed, 1, 1 if way == "one" else cap, more)
                once = value if way == "one" else once
                found.setdefault((name, way, cap), []).append(value)
        print(f"{name}: {seed} of {repeats}", file=sys.stderr)


def show(found, names, caps):
    for name in names:
        used = [w for w in ("group", "one", "sum", "mean") if (name, w, caps[name][0]) in found]
        print(f"\n{name}: mean (standard deviation over repeats); mean - group, paired, with its standard error\n")
        print("| K | " + " | ".join(used) + " | mean - group |\n|---|" + "---|" * (len(used) + 1))
        for cap in caps[name]:
            cells = [found[name, w, cap] for w in used]
            gain = [a - b for a, b in zip(found[name, "mean", cap], found[name, "group", cap])]
            sd = [statistics.stdev(c) if len(c) > 1 else 0 for c in (*cells, gain)]
            text = [f"{statistics.mean(c):.4f} ({s:.4f})" for c, s in zip(cells, sd)]
            print(f"| {cap} | " + " | ".join(text) + f" | {statistics.mean(gain):+.4f} ± {sd[-1] / len(gain) ** 0.5:.4f} |")


def draw(found, names, caps, path):
    colour = {"group": "#b3261e", "one": "#8a5300", "mean": "#0b62a8", "sum": "#0a6b45"}
    label = {
        "group": "rows, at the epsilon that K rows need",
        "one": "one row a person",
        "mean": "a person's mean clipped once",
        "sum": "a person's sum clipped once",
    }
    wide, high, out = 300, 220, []
    for panel, name in enumerate(names):
        left, top = 60 + panel * (wide + 70), 40
        every = [statistics.mean(found[k]) for k in found if k[0] == name]
        low, up = min(every) - 0.01, max(every) + 0.01
        x = lambda i, n: left + 15 + i * (wide - 30) / max(1, n - 1)
        y = lambda v: top + high - (v - low) / (up - low) * high
        figure = "accuracy" if "MNIST" in name else "AUC"
        out.append(f'<text x="{left}" y="{top - 14}" font-weight="bold">{name}: {figure}</text>')
        out.append(f'<rect x="{left}" y="{top}" width="{wide}" height="{high}" fill="none" stroke="#444"/>')
        for t in range(5):
            v = low + (up - low) * (t + 0.5) / 5
            out.append(f'<line x1="{left}" x2="{left + wide}" y1="{y(v):.1f}" y2="{y(v):.1f}" stroke="#ddd"/>')
            out.append(f'<text x="{left - 6}" y="{y(v) + 4:.1f}" text-anchor="end">{v:.2f}</text>')
        n = len(caps[name])
        for i, cap in enumerate(caps[name]):
            out.append(f'<text x="{x(i, n):.1f}" y="{top + high + 18}" text-anchor="middle">{cap}</text>')
        out.append(f'<text x="{left + wide / 2}" y="{top + high + 38}" text-anchor="middle">K, rows of one that count</text>')
        for way in colour:
            if (name, way, caps[name][0]) not in found:
                continue
            dots = [(x(i, n), y(statistics.mean(found[name, way, c]))) for i, c in enumerate(caps[name])]
            line = " ".join(f"{a:.1f},{b:.1f}" for a, b in dots)
            dash = ' stroke-dasharray="6 4"' if way == "one" else ""
            out.append(f'<polyline points="{line}" fill="none" stroke="{colour[way]}" stroke-width="2"{dash}/>')
            out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour[way]}"/>' for a, b in dots]
    shown = [w for w in colour if any(k[1] == w for k in found)]
    for i, way in enumerate(shown):
        at = 60 + i * 280
        out.append(f'<line x1="{at}" x2="{at + 26}" y1="330" y2="330" stroke="{colour[way]}" stroke-width="3"/>')
        out.append(f'<text x="{at + 32}" y="334">{label[way]}</text>')
    size = 60 + len(names) * (wide + 70)
    size = max(size, 60 + len(shown) * 280)
    with open(path, "w") as f:
        f.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="350" viewBox="0 0 {size} 350" ')
        f.write('font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="#fff"/>\n')
        f.write("\n".join(out) + "\n</svg>\n")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    data, repeats, found = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5, {}
    with tempfile.TemporaryDirectory() as work:
        stays = Stays(os.path.join(work, "demo"))
        lines = []
        for name in ("a9a.bz2", "a9a.t.bz2"):
            with bz2.open(os.path.join(data, "adult", name), "rt") as f:
                lines += list(f)
        adult = Lines(lines, ["data.features=123"])
        images = Images(os.path.join(data, "mnist"))
        caps = {"stays": [1, 2, 4, 8, 12], "Adult": CAPS, "MNIST": [1, 4, 16, 50]}
        for name, table, ids in (("stays", stays, stays.ids), ("Adult", adult, None), ("MNIST", images, None)):
            measure(name, table, ids, caps[name], repeats, work, found)
    show(found, list(caps), caps)
    if len(sys.argv) > 3:
        draw(found, list(caps), caps, sys.argv[3])


if __name__ == "__main__":
    main()
