"""A made-up table with an outcome that about one row in fifty has: python3 rare.py FILE ROWS SEED, and rare.json beside it."""
import json
import math
import os
import random
import sys


def main(path, rows, seed):
    random.seed(seed)
    with open(path, "w") as out:
        out.write("a,b,c,d,y\n")
        for _ in range(rows):
            a, b, c, d = [random.random() for _ in range(4)]
            score = 3 * math.sin(5 * a) + 4 * b - 2 * (c - 0.5) ** 2 - 8.2
            label = "yes" if random.random() < 1 / (1 + math.exp(-score)) else "no"
            out.write("%.4f,%.4f,%.4f,%.4f,%s\n" % (a, b, c, d, label))
    columns = [{"name": k, "type": "number", "min": 0, "max": 1} for k in "abcd"]
    columns.append({"name": "y", "type": "label", "values": ["no", "yes"]})
    with open(os.path.join(os.path.dirname(path) or ".", "rare.json"), "w") as out:
        json.dump({"header": True, "columns": columns}, out)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
