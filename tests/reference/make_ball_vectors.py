"""Total variation of two uniform balls in 60-digit arithmetic; prints ball_vectors.h.

    python -m venv v && v/bin/pip install mpmath && v/bin/python make_ball_vectors.py > ball_vectors.h

tv = int_0^u (1-t^2)^((d-1)/2) dt / int_0^1, by quadrature in t (large d: t = s/sqrt(d)), u = distance/(2 radius):
the definition, not a beta function.
"""
from mpmath import mp, mpf, quad, sqrt, log1p, exp, nstr, linspace

mp.dps = 60


def integral(u, k):
    cut = min(u, 20 / sqrt(k + 1))
    f = lambda t: exp(k * log1p(-t * t)) if t < 1 else (mpf(1) if k == 0 else mpf(0))
    return quad(f, linspace(0, cut, 24)) + (quad(f, linspace(cut, u, 12)) if cut < u else 0)


def tv(distance, d):
    k = (mpf(d) - 1) / 2
    u = mpf(distance) / 2
    return integral(u, k) / integral(mpf(1), k)


print("/* made by make_ball_vectors.py (mpmath, 60 digits): distance (radius 1), dimension, total variation */")
print("static const double ball_vectors[][3] = {")
for d in (1, 2, 3, 10, 100, 1001, 10**4, 10**6, 10**8):
    for scaled in (1e-6, 0.01, 0.3, 1.0, 3.0, 7.0):
        distance = float(min(1.99, 2 * scaled / d**0.5))
        print("    { %r, %r, %s }," % (distance, float(d), nstr(tv(distance, d), 25, min_fixed=0, max_fixed=0)))
print("};")
