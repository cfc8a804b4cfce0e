"""Recomputes the intervals of pld_vectors.h with Google's dp_accounting and prints the file anew.

    python -m venv v && v/bin/pip install dp-accounting==0.6.0
    v/bin/python make_pld_vectors.py < pld_vectors.h > new.h

Rate 1: the analytic Gaussian.  Else the pessimistic connect-the-dots PLD at grids h and 4h, h chosen so that the
composed loss spreads over some ten thousand points; the error falls with the square of the grid, so a fifteenth of
the difference estimates it, and twice that is taken off for the lower end.  Takes minutes.
"""
import math
import re
import sys

from dp_accounting.pld import privacy_loss_distribution as pld
import dp_accounting


def analytic(z, steps, delta):
    return dp_accounting.get_epsilon_gaussian(z / math.sqrt(steps), delta)


def sampled(z, q, steps, delta, h):
    one = pld.from_gaussian_mechanism(z, value_discretization_interval=h, sampling_prob=q,
                                      use_connect_dots=True, pessimistic_estimate=True)
    return one.self_compose(steps).get_epsilon_for_delta(delta)


for line in sys.stdin:
    m = re.match(r"    \{ (.*) \},", line)
    if not m:
        print(line, end="")
        continue
    z, q, steps, delta = [float(x) for x in m.group(1).split(",")[:4]]
    steps = int(steps)
    if q == 1:
        lo = hi = analytic(z, steps, delta)
    else:
        spread = q * math.sqrt(math.expm1(min(1 / z**2, 8)))
        h = min(max(spread / 60, 1e-6), 1e-3)
        hi, coarse = sampled(z, q, steps, delta, h), sampled(z, q, steps, delta, 4 * h)
        lo = max(hi - 2 * (coarse - hi) / 15, 0.0)
    print("    { %r, %r, %d, %r, %r, %r }," % (z, q, steps, delta, lo, hi))
