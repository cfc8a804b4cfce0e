#!/usr/bin/env python3
"""NOT PRIVATE: the protocol of the public code of DP-LSSGD's authors, for the paper's Table 2, written with numpy.

    python3 bench/utility/ls_authors.py [--a 2] [--epsilons 0.1,0.3] [--seeds 1,2,3,4,5] [--passes 50]

Logistic regression on MNIST, batches of b = 128 of shuffled rows, n = 60,000, T = 50 x 469 = 23,450 steps:

    g = gradient of the MEAN loss of the batch                       pixels (x/255 - 0.1307)/0.3081
    g_k <- g_k / max(1, |g_k|)                                       per tensor: weights, biases              (1)
    g_k <- A_sigma^-1 (g_k + nu N(0, I))                             A_sigma = I - sigma L, also per tensor   (2)
    w <- w - (a/t) (g + 1e-4 w)                                      t: 1 + steps before this PASS            (3)
    nu^2 = c T alpha / (mu n^2 epsilon), alpha = log(1/delta)/((1 - mu) epsilon) + 1, mu = 1/2                (4)

(4) is the paper's Theorem 2 with G = 1; with c = 4 it is the noise written in that code, with c = 20 the one printed.
Why this is not private: Theorem 2 needs a bound G on the gradient of every ROW, so that one row moves the mean by G/b.
(1) bounds the mean itself and no row: a row may move each tensor of what (2) hides by 2 instead of 1/128.

The sigmas share batches and noise.  A line: epsilon, sigma, test accuracy for each seed, mean, standard deviation.
"""
import argparse
import gzip
import math
import os
import pathlib

import numpy as np

SIGMAS = (0.0, 1.0, 2.0, 3.0)
ROWS, BATCH, DELTA = 60000, 128, 1e-5


def idx(path, skip):
    with gzip.open(path) as f:
        return np.frombuffer(f.read(), np.uint8, offset=skip)


def load(folder, name):
    images = idx(folder / f"{name}-images-idx3-ubyte.gz", 16).reshape(-1, 784)
    return (images.astype(np.float32) / 255 - 0.1307) / 0.3081, idx(folder / f"{name}-labels-idx1-ubyte.gz", 8)


def noise(epsilon, steps, c):  # (4)
    alpha = math.log(1 / DELTA) / (0.5 * epsilon) + 1
    return math.sqrt(c * steps * alpha / (0.5 * ROWS**2 * epsilon))


def inverse(size):  # of A_sigma in the frequencies of a real transform, one line for each sigma
    cos = np.cos(2 * math.pi * np.arange(size // 2 + 1) / size)
    return np.array([1 / (1 + 2 * s - 2 * s * cos) for s in SIGMAS])


def released(g, nu, z, smoother):  # (1), (2): g and what comes back have a line for each sigma
    g = g / np.maximum(1, np.linalg.norm(g, axis=1, keepdims=True)) + nu * z
    return np.fft.irfft(np.fft.rfft(g) * smoother, g.shape[1])


def gradient(x, y, weights, biases):
    k = len(SIGMAS)
    score = (x @ weights.reshape(10 * k, 784).T).reshape(-1, k, 10) + biases
    p = np.exp(score - score.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    p[np.arange(len(y)), :, y] -= 1
    p /= len(y)
    return (p.reshape(-1, 10 * k).T @ x).reshape(k, 7840), p.sum(axis=0)


def accuracies(test, weights, biases):
    x, y = test
    return [100 * np.mean((x @ w.reshape(10, 784).T + b).argmax(axis=1) == y) for w, b in zip(weights, biases)]


def train(rows, nu, a, passes, seed):
    x, y = rows
    rng = np.random.default_rng(seed)
    k, smoothers = len(SIGMAS), (inverse(7840), inverse(10))
    weights = np.tile(rng.uniform(-1 / 28, 1 / 28, 7840).astype(np.float32), (k, 1))
    biases = np.tile(rng.uniform(-1 / 28, 1 / 28, 10).astype(np.float32), (k, 1))
    done = 0
    for _ in range(passes):
        step = a / (1 + done)  # (3)
        order = rng.permutation(ROWS)
        for first in range(0, ROWS, BATCH):
            batch = order[first : first + BATCH]
            g, h = gradient(x[batch], y[batch], weights, biases)
            g = released(g, nu, rng.standard_normal(7840, np.float32), smoothers[0])
            h = released(h, nu, rng.standard_normal(10, np.float32), smoothers[1])
            weights = (weights - step * (g + 1e-4 * weights)).astype(np.float32)
            biases = (biases - step * (h + 1e-4 * biases)).astype(np.float32)
            done += 1
    return weights, biases


def numbers(text):
    return [float(v) for v in text.split(",")]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--a", type=float, default=2.0, help="step a/t; the authors' code has 2, their text 1")
    p.add_argument("--epsilons", type=numbers, default=[0.1, 0.3], help="as printed in the paper")
    p.add_argument("--seeds", type=numbers, default=[1, 2, 3, 4, 5])
    p.add_argument("--passes", type=int, default=50)
    o = p.parse_args()
    tree = pathlib.Path(__file__).resolve().parents[2]
    folder = pathlib.Path(os.environ.get("PRIVET_DATA", tree.parent / "shared" / "data")) / "mnist"
    if not (folder / "train-images-idx3-ubyte.gz").exists():
        print(f"no MNIST in {folder}: set PRIVET_DATA to the folder with the public data sets")
        raise SystemExit(77)
    rows, test = load(folder, "train"), load(folder, "t10k")
    print("NOT PRIVATE: clips the mean of a batch, not every row; the epsilons are the paper's and do not hold")
    for epsilon in o.epsilons:
        steps = 50 * math.ceil(ROWS / BATCH)
        nu, wide = noise(epsilon, steps, 4), noise(epsilon, steps, 20)
        print(f"epsilon {epsilon:g}: nu = {nu:.5f} (c = 4); Theorem 2 as printed (c = 20): {wide:.5f}")
        found = np.array([accuracies(test, *train(rows, nu, o.a, o.passes, int(s))) for s in o.seeds])
        for sigma, runs in zip(SIGMAS, found.T):
            spread = runs.std(ddof=1) if len(runs) > 1 else 0.0
            each = " ".join(f"{v:.2f}" for v in runs)
            print(f"{epsilon:g},{sigma:g},{each},{runs.mean():.2f},{spread:.2f}", flush=True)


if __name__ == "__main__":
    main()
