"""Times what bench_sbcd times with numpy: an epoch of noisy block coordinate descent, 4,800 x 20, five layers of 200.

    OPENBLAS_NUM_THREADS=2 python3 bench/peers/sbcd_peer.py [rounds]

Floats throughout, whole mini-batches as matrices, one Cholesky factor per layer and mini-batch, per-example clipping by
norms alone, spectral norms by power iteration with the same rule to stop.  Nothing is copied that need not be.  Prints
wall clock and processor seconds of the best epoch.
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


ONE = [np.eye(w.shape[1], dtype=np.float32) for w in W]


def lift(v, x, d):
    target = x + d
    t = target - v
    up = np.maximum(0.5 * t, -v)
    down = np.minimum(-v, 0)
    t -= up
    above = t * t
    above += up * up
    target *= target
    target += down * down
    return np.where(above < target, up, down)


def normalize(i, rho):
    w, v, last = W[i], V[i], 0.0
    if np.vdot(w, w) <= rho * rho:
        return
    for _ in range(20):
        u = w @ v
        v = u @ w
        size = np.linalg.norm(v)
        now = size / np.linalg.norm(u)
        v /= size
        if abs(now - last) <= 1e-7 * now:
            break
        last = now
    V[i] = v
    if now > rho:
        w *= rho / now


def step(x, y, clip=1.0, sigma=10.0, eta=0.01, rho=3.0):
    xs, vs = [x], []
    for w, b in zip(W, B):
        v = xs[-1] @ w
        v += b
        vs.append(v)
        xs.append(np.maximum(v, 0))
    down = [None] * LAYERS  # V - U of every layer, or U - V: clipped alike, told apart by a sign
    down[-1] = vs[-1] - y
    change = -down[-1]
    for i in range(LAYERS - 1, 0, -1):
        w = W[i]
        gram = w.T @ w
        gram += ONE[i]
        factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
        change = lift(vs[i - 1], xs[i], change @ cho_solve(factor, w.T, check_finite=False))
        down[i - 1] = change
    share = clip / LAYERS ** 0.5
    for i in range(LAYERS):
        r, a = down[i], xs[i]
        norm = np.sqrt(np.einsum("ij,ij->i", r, r) * (np.einsum("ij,ij->i", a, a) + 1))
        r *= np.minimum(1, share / norm)[:, None]
        for target, g in ((W[i], a.T @ r), (B[i], r.sum(0))):
            noise = rng.standard_normal(g.shape, dtype=np.float32)
            noise *= sigma
            noise += g if i == LAYERS - 1 else -g
            noise *= eta / BATCH
            target -= noise
        normalize(i, rho)


best = [1e9, 1e9]
for _ in range(ROUNDS):
    wall, cpu = time.perf_counter(), time.process_time()
    for j in range(0, N, BATCH):
        step(X[j:j + BATCH], Y[j:j + BATCH])
    best = [min(best[0], time.perf_counter() - wall), min(best[1], time.process_time() - cpu)]
print(*best)
