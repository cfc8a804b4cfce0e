"""Times Google's dp_accounting on the question bench_pld asks; prints `name seconds value` lines.

    python -m venv v && v/bin/pip install dp-accounting
    PRIVET_PYTHON=v/bin/python bench_pld
"""
import sys
import time

try:
    import dp_accounting
    from dp_accounting import pld
except ImportError:
    sys.exit(3)

Q, STEPS, DELTA = 256 / 60000, 14063, 1e-5


def event(z):
    return dp_accounting.SelfComposedDpEvent(
        dp_accounting.PoissonSampledDpEvent(Q, dp_accounting.GaussianDpEvent(z)), STEPS)


def best(f, rounds):
    times, value = [], None
    for _ in range(rounds):
        t = time.perf_counter()
        value = f()
        times.append(time.perf_counter() - t)
    return min(times), value


def account():
    return pld.PLDAccountant().compose(event(1.1)).get_epsilon(DELTA)


def calibrate():
    return dp_accounting.calibrate_dp_mechanism(pld.PLDAccountant, event, 1.0, DELTA, tol=1e-6,
                                                bracket_interval=dp_accounting.ExplicitBracketInterval(0.5, 10))


print("account %.6f %.10g" % best(account, 3))
print("calibrate %.6f %.10g" % best(calibrate, 1))
