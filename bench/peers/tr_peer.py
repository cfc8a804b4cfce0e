"""Times what bench_tr times with numpy and scipy: eight noisy trust-region steps on 581,012 x 55, and ssyrk alone.

    OPENBLAS_NUM_THREADS=2 python3 bench/peers/tr_peer.py [rounds]

The steps are written as one would: matrix products for gradient and Hessian, eigh for the sub-problem, once with numpy's
default of doubles and once with floats.  Prints best wall clock and processor seconds.
"""
import sys
import time

import numpy as np
from scipy.linalg import blas, eigh
from scipy.optimize import brentq

N, P, STEPS, RADIUS, LAMBDA = 581012, 55, 8, 4.0, 1e-3


def step(h, e, v):
    """Global minimiser of <g,x> + x'Hx/2 over the ball, H = v diag(e) v', h = v'g."""
    if e[0] > 0 and np.linalg.norm(h / e) <= RADIUS:
        return -v @ (h / e)
    low = max(0.0, -e[0]) + 1e-12
    size = lambda m: np.linalg.norm(h / (e + m)) - RADIUS
    m = brentq(size, low, low + np.linalg.norm(h) / RADIUS + 1) if size(low) > 0 else low
    return -v @ (h / (e + m))


def train(X, y, sigma, rng):
    w = np.zeros(P, X.dtype)
    for _ in range(STEPS):
        m = y * (X @ w)
        s = 1 / (1 + np.exp(m))
        g = -(X.T @ (s * y)) / N + sigma * rng.standard_normal(P)
        H = X.T @ ((s * (1 - s))[:, None] * X) / N
        E = np.tril(rng.standard_normal((P, P))) * sigma
        H = H + E + np.tril(E, -1).T
        q = 1 + w.astype(float) ** 2
        g = g + 2 * LAMBDA * w / q ** 2
        H = H + np.diag(LAMBDA * (8 / q - 6) / q ** 2)
        e, v = eigh(H.astype(float))
        w = (w + step(v.T @ g, e, v)).astype(X.dtype)
    return w


def best(f, rounds):
    wall, cpu = [], []
    for _ in range(rounds):
        t, c = time.perf_counter(), time.process_time()
        f()
        wall.append(time.perf_counter() - t)
        cpu.append(time.process_time() - c)
    return min(wall), min(cpu)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    rng = np.random.default_rng(1)
    X = rng.random((N, P))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = np.where(X[:, 0] + X[:, 1] > X[:, 2] + X[:, 3], 1.0, -1.0)
    print("numpy doubles: %.3f s wall, %.3f s processor" % best(lambda: train(X, y, 1e-5, rng), rounds))
    X32, y32 = X.astype(np.float32), y.astype(np.float32)
    del X
    print("numpy floats:  %.3f s wall, %.3f s processor" % best(lambda: train(X32, y32, 1e-5, rng), rounds))
    F = X32.T  # column-major P x N: no copy
    for name, rows in (("all rows", N), ("blocks of 256", 256)):
        def run():
            for i in range(0, N - rows + 1, rows):
                blas.ssyrk(1.0, F[:, i:i + rows], lower=1)
        wall, cpu = best(run, rounds)
        flops = N * P * (P + 1) * 1e-9
        print("ssyrk, %s: %.4f s wall, %.4f s processor, %.1f useful GFlop/s of processor time"
              % (name, wall, cpu, flops / cpu))


main()
