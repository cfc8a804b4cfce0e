"""Renyi divergences of the Poisson-sampled Gaussian in high precision; prints renyi_vectors.h.

    python -m venv v && v/bin/pip install mpmath && v/bin/python make_renyi_vectors.py > renyi_vectors.h

rdp(order) = ln E ((1 - q) + q e^{x/z - 1/(2 z^2)})^order / (order - 1), x standard normal:
whole orders by the binomial sum (60 digits), others by tanh-sinh quadrature piece by piece (30 digits),
written as E[(1+y)^order - 1 - order y], whose small values keep their digits.
"""
from mpmath import mp, mpf, npdf, exp, expm1, log, log1p, quad, nstr, binomial


def whole(z, q, n):
    mp.dps = 60 + int(n * n / (2 * z * z) / 2.3)
    z, q = mpf(z), mpf(q)
    a = sum(binomial(n, k) * (1 - q) ** (n - k) * q**k * exp(k * (k - 1) / (2 * z * z)) for k in range(n + 1))
    return log(a) / (n - 1)


def fractional(z, q, order):
    mp.dps = 30
    z, q, a = mpf(z), mpf(q), mpf(order)

    def f(x):
        y = q * expm1(x / z - 1 / (2 * z * z))
        return npdf(x) * ((1 + y) ** a - 1 - a * y)

    piece = 3 * min(mpf(1), z)
    end = max(a, 2) / z + 14
    n = int((end + 14) / piece) + 1
    return log1p(quad(f, [-14 + piece * i for i in range(n + 1)], maxdegree=5)) / (a - 1)


CASES = [
    (0.3, 0.9, 1.5), (0.5, 1e-4, 1.25), (0.5, 0.01, 1.5), (0.5, 0.01, 2.5), (0.5, 0.1, 1.25), (0.5, 0.999, 7.3),
    (0.8, 0.02, 6.5), (1.0, 1e-6, 1.001), (1.0, 0.3, 20.25), (1.1, 256 / 60000, 9.75), (1.5, 0.5, 3.14),
    (2.0, 1e-5, 40.5), (3.0, 0.4, 1.00001), (5.0, 1e-3, 100.25), (10.0, 0.5, 2.5), (10.0, 1e-4, 300.5),
    (10000.0, 1e-7, 1.5),
    (0.05, 1e-7, 2), (0.05, 0.3, 3), (0.1, 0.5, 2), (0.2, 1e-3, 4), (0.8, 1e-7, 12), (1.1, 256 / 60000, 64),
    (2.0, 0.0625, 17), (2.0, 1e-7, 150), (5.0, 0.2, 400), (30.0, 0.1, 301), (100.0, 1e-7, 1000), (100.0, 0.9, 3),
    (1000.0, 0.05, 2000), (1000.0, 1e-7, 2), (10000.0, 1e-7, 900), (10000.0, 0.5, 1500),
]
print("/* made by make_renyi_vectors.py (mpmath): z, q, order, rdp */")
print("static const double renyi_vectors[][4] = {")
for z, q, order in CASES:
    value = whole(z, q, order) if isinstance(order, int) else fractional(z, q, order)
    print("    { %r, %r, %r, %s }," % (z, q, float(order), nstr(value, 25, min_fixed=0, max_fixed=0)), flush=True)
print("};")
