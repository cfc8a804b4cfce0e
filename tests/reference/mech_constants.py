#!/usr/bin/env python3
"""Constants of src/mech/exact_table.c, coefficients of src/mech/draw.kernel.c, and the vectors of
tests/reference/exact_vectors.h, by mpmath at 600 bits.

    python3 tests/reference/mech_constants.py table   > src/mech/exact_table.c
    python3 tests/reference/mech_constants.py vectors > tests/reference/exact_vectors.h
    python3 tests/reference/mech_constants.py kernel     prints coefficients and their certified errors
"""
import random
import sys

import mpmath as m
from mpmath import mp, mpf

mp.prec = 600


def q(x, bits):
    """x in units of 2^-bits, to the nearest, as two 64-bit halves."""
    n = int(m.nint(x * mpf(2) ** bits))
    assert 0 <= n < 1 << 128
    return "{ 0x%016xu, 0x%016xu }" % (n >> 64, n & (1 << 64) - 1)


def table():
    print("/* exact_table.c - constants of exact.c, high and low 64 bits; made by tests/reference/mech_constants.py table. */")
    print('#include "mech/exact.h"\n')
    print("const uint64_t pvi_ln2_q120[2] = %s;" % q(m.log(2), 120))
    print("const uint64_t pvi_half_pi_q127[2] = %s;\n" % q(m.pi / 2, 127))
    print("const uint64_t pvi_ln1p_q127[65][2] = {\n    { 0, 0 }, /* ln(1 + 2^-i), i = 1 .. 64 */")
    for i in range(1, 65):
        print("    %s," % q(m.log(1 + mpf(2) ** -i), 127))
    print("};\n\nconst uint64_t pvi_inverse_factorial_q127[35][2] = {")
    for i in range(35):
        print("    %s, /* 1/%d! */" % (q(1 / m.factorial(i), 127), i))
    print("};")


def remez(f, a, b, n, weight, rounds=30, grid=4000):
    """Degree-n polynomial with the least maximum of weight * |f - p| on [a, b]."""
    xs = [(a + b) / 2 - (b - a) / 2 * m.cos(m.pi * i / (n + 1)) for i in range(n + 2)]
    pts = [a + (b - a) * mpf(i) / grid for i in range(grid + 1)]
    for _ in range(rounds):
        A, B = m.matrix(n + 2, n + 2), m.matrix(n + 2, 1)
        for i, x in enumerate(xs):
            for j in range(n + 1):
                A[i, j] = x ** j
            A[i, n + 1], B[i] = (-1) ** i / weight(x), f(x)
        c = list(m.lu_solve(A, B))[: n + 1]
        e = [weight(x) * (f(x) - m.polyval(c[::-1], x)) for x in pts]
        cuts = [0] + [i for i in range(1, grid + 1) if (e[i] > 0) != (e[i - 1] > 0)] + [grid + 1]
        new = [pts[max(range(i, j), key=lambda t: abs(e[t]))] for i, j in zip(cuts, cuts[1:])]
        if len(new) != n + 2 or max(abs(x - y) for x, y in zip(xs, new)) < 1e-12:
            break
        xs = new
    return c


def kernel():
    """Errors are those of the coefficients as rounded to double, over 20,000 points; between two points the
    error, smooth with derivative under 2^-50 per unit, moves by less than 2^-66."""
    tiny = mpf(10) ** -20
    z0 = (m.sqrt(2) - 1) / (m.sqrt(2) + 1) * (1 + mpf(2) ** -40)
    small = mpf(10) ** -12
    jobs = [
        ("log: (2 atanh z - 2z)/z^3 in w = z^2, error of ln relative to 2z", 6, z0 ** 2,
         lambda w: mpf(2) / 3 if w < tiny else (2 * m.atanh(m.sqrt(w)) - 2 * m.sqrt(w)) / m.sqrt(w) ** 3, lambda w: w / 2 + small),
        ("sin: sin(pi/2 f)/f in w = f^2, relative", 6, mpf(1) / 4,
         lambda w: m.pi / 2 if w < tiny else m.sin(m.pi / 2 * m.sqrt(w)) / m.sqrt(w), lambda w: 2 / m.pi),
        ("cos: (cos(pi/2 f) - 1)/w in w = f^2, absolute", 6, mpf(1) / 4,
         lambda w: -m.pi ** 2 / 8 if w < tiny else (m.cos(m.pi / 2 * m.sqrt(w)) - 1) / w, lambda w: w + small),
    ]
    for name, n, b, f, weight in jobs:
        c = [float(x) for x in remez(f, mpf(0), b, n, weight)]
        e = max(abs(weight(w) * (f(w) - m.polyval([mpf(x) for x in c[::-1]], w))) for w in (b * mpf(i) / 20000 for i in range(1, 20001)))
        print("%s: 2^%.2f\n   %s" % (name, m.log(e, 2), ", ".join(x.hex() for x in c)))


def vectors():
    rnd = random.Random(1)
    print("/* exact_vectors.h - made by tests/reference/mech_constants.py vectors. */")
    print("#ifndef EXACT_VECTORS_H\n#define EXACT_VECTORS_H\n#include <stdint.h>\n")
    print("/* U as four 64-bit words (a 256-bit fraction), -ln U in units of 2^-120 */")
    print("static const struct {\n    uint64_t u[4], want[2];\n} neglog_vectors[] = {")
    us = [1, 1 << 52, (1 << 256) - 1, (1 << 256) - (1 << 128), 1 << 255, (1 << 255) - 1, 1 << 192, 3 << 254]
    us += [rnd.getrandbits(256) >> (rnd.randrange(150) if i % 2 else 0) for i in range(60)]
    for u in us:
        words = ", ".join("0x%016xu" % (u >> s & (1 << 64) - 1) for s in (192, 128, 64, 0))
        print("    { { %s }, %s }," % (words, q(-m.log(mpf(u) / mpf(2) ** 256), 120)))
    print("};\n/* f in units of 2^-128 (0 <= f <= 1/2); cos(pi/2 f) and sin(pi/2 f) in units of 2^-127 */")
    print("static const struct {\n    uint64_t f[2], cosine[2], sine[2];\n} angle_vectors[] = {")
    for f in [0, 1, 1 << 64, 1 << 127, (1 << 127) - 1, 1 << 126] + [rnd.getrandbits(127) for _ in range(60)]:
        a = m.pi / 2 * mpf(f) / mpf(2) ** 128
        print("    { { 0x%016xu, 0x%016xu }, %s, %s }," % (f >> 64, f & (1 << 64) - 1, q(m.cos(a), 127), q(m.sin(a), 127)))
    print("};\n#endif")


{"table": table, "kernel": kernel, "vectors": vectors}[sys.argv[1]]()
