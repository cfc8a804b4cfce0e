#!/usr/bin/env python3
"""hidden_sbcd_vectors.h: Theorem 4.6 of DP-SBCD evaluated with 50 digits, from the constants of Lemma 4.7 as sums and the
product over the batches between a row's visits, with the exponent -1.  Nothing here is a recursion.

    python3 tests/reference/make_hidden_sbcd_vectors.py > tests/reference/hidden_sbcd_vectors.h"""
from mpmath import mp, mpf

mp.dps = 50


def inverse_c(z, J, LF, LT, i):
    """1/c before step i (Lemma 4.7), in units of the variance of multiplier 1."""
    return LT**2 * sum(z[s // J] ** 2 * (LF * LT) ** (2 * (i - s - 1)) for s in range(i))


def rate(z, J, step, smooth, shrink):
    LF, LT = max(mpf(1), abs(1 - mpf(step) * mpf(smooth))), 1 / (1 + mpf(step) * mpf(shrink))
    z = [mpf(x) for x in z]
    K, total = len(z), len(z) * J
    c = [inverse_c(z, J, LF, LT, i) for i in range(total)]
    worst = mpf(0)
    for j0 in range(J):
        bound = mpf(0)
        for k in range(K):
            decay = mpf(1)
            for i in range(k * J + j0 + 1, total):
                if i % J != j0:
                    decay *= 1 / (1 + z[i // J] ** 2 / (LF**2 * c[i]))
            bound += decay / (2 * z[k] ** 2)
        worst = max(worst, bound)
    return worst


cases = [
    ([2.0] * 5, 4, 0.01, 50, 0),
    ([2.0] * 30, 3, 0.01, 50, 1),
    ([3.0, 2.5, 2.0, 1.5, 1.0], 5, 0.05, 30, 0.5),
    ([1.0, 1.5, 2.0, 2.5], 7, 0.1, 25, 0),
    ([1.2] * 6, 1, 0.01, 10, 0.1),
]
print("/* hidden_sbcd_vectors.h - made by make_hidden_sbcd_vectors.py; do not edit. */")
print("static const struct {\n    int64_t batches, epochs;\n    double z[32], step, smooth, shrink, rate;\n} vectors[] = {")
for z, J, step, smooth, shrink in cases:
    print("    { %d, %d, { %s }, %r, %r, %r, %s }," % (J, len(z), ", ".join(map(repr, z)), step, smooth, shrink,
                                                  mp.nstr(rate(z, J, step, smooth, shrink), 17)))
print("};")
