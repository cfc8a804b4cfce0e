"""Times what bench_sbcd times with numpy: an epoch of noisy block coordinate descent, 4,800 x 20, five layers of 200.

    OPENBLAS_NUM_THREADS=2 python3 bench/peers/sbcd_peer.py [rounds]

Floats throughout, whole mini-batches as matrices, one Cholesky factor per layer and mini-batch, per-example clipping by
norms alone, spectral norms by power iteration.  Prints best wall clock and processor seconds of an epoch.
"""
import sys
import time

import numpy as np
from scipy.linalg import cho_factor, cho_solve

N, P, K, BATCH, WIDTH, LAYERS = 4800, 20, 5, 960, 200, 6
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 10
rng = np.random.default_rng(1)
X = rng.standard_normal((N, P)).astype(np.float32)
Y = np.eye(K, dtype=np.float32)[rng.integers(0, K, N)]
sizes = [P] + [WIDTH] * (LAYERS - 1) + [K]
W = [rng.uniform(-1, 1, (a, b)).astype(np.float32) * np.float32((6 / a) ** 0.5) for a, b in zip(sizes, sizes[1:])]
B = [np.zeros(b, np.float32) for b in sizes[1:]]
V = [rng.standard_normal(b).astype(np.float32) for b in sizes[1:]]


def lift(v, x, d):
    target, t = x + d, (x - v) + d
    up = np.where(v + 0.5 * t < 0, -v, 0.5 * t)
    down = np.where(v > 0, -v, 0)
    return np.where((t - up) ** 2 + up * up < target * target + down * down, up, down)


def step(x, y, clip=1.0, sigma=10.0, eta=0.01, rho=3.0):
    xs, vs = [x], []
    for w, b in zip(W, B):
        vs.append(xs[-1] @ w + b)
        xs.append(np.maximum(vs[-1], 0))
    grads = [None] * LAYERS
    grads[-1] = vs[-1] - y
    change = -grads[-1]
    for i in range(LAYERS - 1, 0, -1):
        w = W[i]
        factor = cho_factor(w.T @ w + np.eye(w.shape[1], dtype=np.float32), lower=True, check_finite=False)
        back = cho_solve(factor, w.T, check_finite=False)
        change = lift(vs[i - 1], xs[i], change @ back)
        grads[i - 1] = -change
    share = clip / LAYERS ** 0.5
    for i in range(LAYERS):
        r, a = grads[i], xs[i]
        norm = np.sqrt((r * r).sum(1) * ((a * a).sum(1) + 1))
        r = r * np.minimum(1, share / norm)[:, None]
        g = a.T @ r + sigma * rng.standard_normal(W[i].shape, dtype=np.float32)
        W[i] -= eta / BATCH * g
        B[i] -= eta / BATCH * (r.sum(0) + sigma * rng.standard_normal(B[i].shape, dtype=np.float32))
        for _ in range(20):
            u = W[i] @ V[i]
            V[i] = W[i].T @ (u / np.linalg.norm(u))
            size = np.linalg.norm(V[i])
            V[i] /= size
        if size > rho:
            W[i] *= rho / size


best = [1e9, 1e9]
for _ in range(ROUNDS):
    wall, cpu = time.perf_counter(), time.process_time()
    for j in range(0, N, BATCH):
        step(X[j:j + BATCH], Y[j:j + BATCH])
    best = [min(best[0], time.perf_counter() - wall), min(best[1], time.process_time() - cpu)]
print(f"an epoch in numpy: {best[0]:.4f} s wall, {best[1]:.4f} s processor")
