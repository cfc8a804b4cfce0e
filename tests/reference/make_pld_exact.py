"""Privacy curves of one and two steps by direct integration in 25-digit arithmetic; prints pld_exact.h.

    python -m venv v && v/bin/pip install mpmath && v/bin/python make_pld_exact.py > pld_exact.h

One step, pair (P, Q) with loss L:  delta_1(eps) = P(L > eps) - e^eps Q(L > eps), from tails of the normal law.
Two steps:  delta_2(eps) = E_P delta_1(eps - L), integrated over the noise of the first step by adaptive
Gauss-Legendre sums, to 1e-11 or better.  The larger of the two directions is printed.  Inputs are
taken as the doubles they are in C.
"""
from mpmath import mp, mpf, erfc, sqrt, exp, log, expm1, quad, pi
from mpmath.calculus.quadrature import GaussLegendre

mp.dps = 25
NODES = GaussLegendre(mp).calc_nodes(3, 90)  # 12 nodes on [-1, 1]


def rule(f, lo, hi):
    m, r = (lo + hi) / 2, (hi - lo) / 2
    return r * sum(c * f(m + r * x) for x, c in NODES)


def integrate(f, lo, hi):
    """bisects until the two halves agree with the whole: the curve bends sharply where the loss is bounded"""
    parts = [(lo + (hi - lo) * i / 40, lo + (hi - lo) * (i + 1) / 40) for i in range(40)]
    todo = [(a, b, rule(f, a, b)) for a, b in parts]
    size, total = sum(abs(v) for _, _, v in todo), mpf(0)
    while todo:
        a, b, whole = todo.pop()
        m = (a + b) / 2
        left, right = rule(f, a, m), rule(f, m, b)
        if abs(left + right - whole) <= mpf(10) ** -13 * size:
            total += left + right
        else:
            todo += [(a, m, left), (m, b, right)]
    return total


def Q(x):
    return erfc(x / sqrt(mpf(2))) / 2


def sampled_gaussian(z, q, add):
    """(density of x under P, loss(x), delta_1), x in units of the standard deviation"""
    phi = lambda x: exp(-x * x / 2) / sqrt(2 * pi)
    ratio = lambda x: log(1 - q + q * exp(x / z - 1 / (2 * z * z)))

    def point(eps):  # x at which the remove-loss is eps
        g = (exp(eps) - (1 - q)) / q
        return None if g <= 0 else z * log(g) + 1 / (2 * z)

    if not add:
        def delta(eps):
            t = point(eps)
            if t is None:
                return -expm1(eps)
            return (1 - q - exp(eps)) * Q(t) + q * Q(t - 1 / z)
        return (lambda x: (1 - q) * phi(x) + q * phi(x - 1 / z)), ratio, delta

    def delta(eps):  # the set {-ratio > eps} = {x < point(-eps)}
        t = point(-eps)
        if t is None:
            return mpf(0)
        return Q(-t) * (1 - exp(eps) * (1 - q)) - exp(eps) * q * Q(-(t - 1 / z))
    return phi, (lambda x: -ratio(x)), delta


def gaussian_curve(z, q, steps, eps):
    z, q, eps = mpf(z), mpf(q), mpf(eps)
    best = mpf(0)
    for add in (False, True):
        density, loss, delta = sampled_gaussian(z, q, add)
        if steps == 1:
            d = delta(eps)
        else:
            d = integrate(lambda x: density(x) * delta(eps - loss(x)), mpf(-14), 1 / z + 46)
        best = max(best, d)
    return best


def laplace_curve(b, steps, eps):
    e0, eps = 1 / mpf(b), mpf(eps)

    def delta(e):
        return -expm1(e) if e < -e0 else mpf(0) if e > e0 else -expm1((e - e0) / 2)
    if steps == 1:
        return delta(eps)
    knots = sorted({-e0, e0, *(x for x in (eps - e0, eps + e0) if -e0 < x < e0)})
    return (delta(eps - e0) / 2 + exp(-e0) * delta(eps + e0) / 2 +
            quad(lambda l: exp((l - e0) / 2) / 4 * delta(eps - l), knots))


def digits(x):
    return mp.nstr(x, 17, min_fixed=0, max_fixed=0)


print("/* made by make_pld_exact.py (mpmath, 25 digits) */")
print("/* noise multiplier, rate, steps, epsilon, delta(epsilon) */")
print("static const double gaussian_exact[][5] = {")
for z in (0.4, 1.1, 5.0):
    for q in (1e-4, 0.02, 0.5):
        for steps in (1, 2):
            for eps in (0.0, 0.01, 0.3, 2.0, 9.0) if steps == 1 else (0.01, 0.3, 2.0):
                d = gaussian_curve(z, q, steps, eps)
                if d > mpf(10) ** -200:
                    print("    { %r, %r, %d, %r, %s }," % (z, q, steps, eps, digits(d)))
print("};")
print("/* scale, steps, epsilon, delta(epsilon) */")
print("static const double laplace_exact[][4] = {")
for b in (0.5, 1.0, 7.0):
    for steps in (1, 2):
        for f in (0.0, 0.1, 0.5, 0.9, 0.999):
            eps = f * steps / b
            print("    { %r, %d, %r, %s }," % (b, steps, eps, digits(laplace_curve(b, steps, eps))))
print("};")
