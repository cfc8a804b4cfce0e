"""Exact Gaussian curve in 80-digit arithmetic; prints gaussian_vectors.h.

    python -m venv v && v/bin/pip install mpmath && v/bin/python make_gaussian_vectors.py > gaussian_vectors.h

delta(eps) = Q(eps/mu - mu/2) - e^eps Q(eps/mu + mu/2), Q(x) = erfc(x/sqrt 2)/2, inverted by
bisection.  Inputs are taken as the doubles they are in C.
"""
from mpmath import mp, mpf, erfc, sqrt, exp

mp.dps = 80


def delta_of(mu, eps):
    q = lambda x: erfc(x / sqrt(mpf(2))) / 2
    return q(eps / mu - mu / 2) - exp(eps) * q(eps / mu + mu / 2)


def epsilon_of(mu, delta):
    if delta_of(mu, mpf(0)) <= delta:
        return mpf(0)
    lo, hi = mpf(0), mpf(1)
    while delta_of(mu, hi * mu) > delta:
        hi *= 2
    for _ in range(200):
        mid = (lo + hi) / 2
        if delta_of(mu, mid * mu) > delta:
            lo = mid
        else:
            hi = mid
    return hi * mu


def digits(x):
    return mp.nstr(x, 25, min_fixed=0, max_fixed=0)


print("/* made by make_gaussian_vectors.py (mpmath, 80 digits): mu, delta, epsilon(delta) */")
print("static const double epsilon_vectors[][3] = {")
for mu in (1e-8, 1e-5, 1e-3, 0.02, 0.3, 0.999, 1.0, 1.001, 2.5, 7.0, 40.0, 1e3, 1e5):
    for delta in (0.2, 1e-3, 1e-5, 1e-6, 1e-10, 1e-20, 1e-30, 1e-100, 1e-300):
        print("    { %r, %r, %s }," % (mu, delta, digits(epsilon_of(mpf(mu), mpf(delta)))))
print("};")
print("/* mu, epsilon, delta(epsilon) */")
print("static const double delta_vectors[][3] = {")
for mu in (1e-8, 1e-3, 0.3, 1.0, 1.5, 4.0, 30.0, 1e3):
    for c in (0.0, 1e-6, 0.1, 0.5, 1.0, 2.0, 5.0, 12.0, 30.0):
        eps = c * mu if mu < 1 else c * mu + (mu * mu / 2 if c > 0.1 else 0.0)
        print("    { %r, %r, %s }," % (mu, eps, digits(delta_of(mpf(mu), mpf(eps)))))
print("};")
