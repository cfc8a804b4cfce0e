#!/usr/bin/env python3
"""persons_made.py - sum against mean (unit.combine) on tables made up here, for the choice of the default.

usage: persons_made.py [REPEATS]

4,000 persons of 1 to 50 rows, P(k) in proportion to k^-1.5, one in five to test on; six numbers in 0..1, of which three
matter.  Rows of a person are
    alike      no more alike than any two rows
    kin        alike: half of every number, and a part of the log odds, is the person's
    busy       as kin, and the log odds rise with the logarithm of k: who has many rows differs from others
Repeat r makes table, owners and split anew with seed 100 + r, which both ways have.  Delta 1e-5, all settings but
unit.combine and --rows-per-person 50 have their defaults.  NOT PRIVATE: seeds are set, and people are made up."""

import json
import math
import os
import random
import statistics
import sys
import tempfile

from persons import DELTA, privet

PERSONS, MOST = 4000, 50
SCHEMA = {
    "columns": [{"name": "who", "type": "person"}]
    + [{"name": f"x{j}", "type": "number", "min": 0, "max": 1} for j in range(6)]
    + [{"name": "y", "type": "label", "values": ["no", "yes"]}]
}


def rows_of(rng, who, kind):
    """The rows of one person, as lines of a table."""
    k = rng.choices(range(1, MOST + 1), [i**-1.5 for i in range(1, MOST + 1)])[0]
    own, frailty = [rng.random() for _ in range(6)], rng.gauss(0, 1)
    for _ in range(k):
        x = [rng.random() if kind == "alike" else (rng.random() + own[j]) / 2 for j in range(6)]
        odds = 4 * (x[0] - 0.5) - 3 * (x[1] - 0.5) + 6 * abs(x[2] - 0.5) - 2
        odds += 0 if kind == "alike" else 0.7 * frailty
        odds += 0.8 * math.log(k) if kind == "busy" else 0
        label = "yes" if rng.random() < 1 / (1 + math.exp(-odds)) else "no"
        yield f"p{who}," + ",".join(f"{v:.4f}" for v in x) + f",{label}\n"


def write(path, rng, kind, people):
    with open(path, "w") as f:
        f.write("who,x0,x1,x2,x3,x4,x5,y\n")
        lines = [line for who in people for line in rows_of(rng, who, kind)]
        rng.shuffle(lines)
        f.writelines(lines)


def measure(work, kind, seed, epsilons):
    """AUC and log loss of rows, and of persons, by epsilon and way."""
    rng, found = random.Random(seed), {}
    table, test, schema, model = (os.path.join(work, n) for n in ("train.csv", "test.csv", "schema.json", "model.pvt"))
    write(table, rng, kind, range(PERSONS * 4 // 5))
    write(test, rng, kind, range(PERSONS * 4 // 5, PERSONS))
    with open(schema, "w") as f:
        json.dump(SCHEMA, f)
    for epsilon in epsilons:
        for way in ("mean", "sum"):
            words = ["--schema", schema, "--epsilon", str(epsilon), "--delta", DELTA, "--seed", str(seed), "--rows-per-person", str(MOST)]
            privet("train", table, *words, f"unit.combine={way}", "data.knots_share=0", "--quiet", "--out", model)
            v = json.loads(privet("eval", model, test, "--json"))
            found[epsilon, way] = v["auc"], v["log_loss"], v["per_person"]["auc"], v["per_person"]["log_loss"]
    return found


def main():
    repeats, epsilons = int(sys.argv[1]) if len(sys.argv) > 1 else 5, (0.3, 1, 10)
    print("sum - mean, paired\n\n| table | epsilon | AUC | log loss | AUC, persons | log loss, persons |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as work:
        for kind in ("alike", "kin", "busy"):
            found = [measure(work, kind, 100 + r, epsilons) for r in range(repeats)]
            for e in epsilons:
                cells = []
                for k in range(4):
                    gain = [f[e, "sum"][k] - f[e, "mean"][k] for f in found]
                    cells.append(f"{statistics.mean(gain):+.4f} ± {statistics.stdev(gain) / len(gain) ** 0.5:.4f}")
                print(f"| {kind} | {e} | " + " | ".join(cells) + " |", flush=True)


main()
