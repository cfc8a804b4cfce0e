"""The accountants as functions: the same numbers as the library's, arrays, events, conversions."""

import unittest

import numpy as np

import privet


class DpEvents:
    """Classes with the names and fields of dp_accounting's, for where it is not installed."""

    class GaussianDpEvent:
        def __init__(self, noise_multiplier):
            self.noise_multiplier = noise_multiplier

    class PoissonSampledDpEvent:
        def __init__(self, sampling_probability, event):
            self.sampling_probability, self.event = sampling_probability, event

    class SelfComposedDpEvent:
        def __init__(self, event, count):
            self.event, self.count = event, count

    class ComposedDpEvent:
        def __init__(self, events):
            self.events = events

    class ZCDpEvent:
        pass


try:
    import dp_accounting as dp
except ImportError:
    dp = DpEvents


class Accounting(unittest.TestCase):
    def test_one_gaussian(self):
        # Balle and Wang: the exact curve, at z = 1
        from math import erf, exp, sqrt

        phi = lambda t: 0.5 * (1 + erf(t / sqrt(2)))  # noqa: E731
        epsilon = privet.account(noise_multiplier=1.0, delta=1e-5)
        exact = phi(0.5 - epsilon) - exp(epsilon) * phi(-0.5 - epsilon)
        self.assertLessEqual(exact, 1e-5)
        self.assertGreater(exact, 0.999e-5)
        self.assertAlmostEqual(privet.account(noise_multiplier=1.0, epsilon=epsilon), 1e-5, delta=1e-8)

    def test_there_and_back(self):
        z = privet.calibrate(epsilon=2.0, delta=1e-6, sample_rate=0.01, steps=500)
        epsilon = privet.account(noise_multiplier=z, sample_rate=0.01, steps=500, delta=1e-6)
        self.assertLessEqual(epsilon, 2.0)
        self.assertGreater(epsilon, 1.99)

    def test_arrays(self):
        z, delta = np.array([[1.0], [2.0]]), np.array([1e-5, 1e-6, 1e-7])
        got = privet.account(noise_multiplier=z, delta=delta)
        self.assertEqual(got.shape, (2, 3))
        self.assertEqual(got[1, 2], privet.account(noise_multiplier=2.0, delta=1e-7))
        self.assertTrue((np.diff(got, axis=1) > 0).all() and (got[0] > got[1]).all())

    def test_events(self):
        step = privet.Event.poisson(0.01, privet.Event.gaussian(1.0))
        same = privet.account(noise_multiplier=1.0, sample_rate=0.01, steps=100, delta=1e-5)
        self.assertEqual((step * 100).epsilon(1e-5), same)
        self.assertEqual((100 * step).delta(1.0), privet.account(noise_multiplier=1.0, q=0.01, steps=100, epsilon=1.0))
        # n Gaussians cost what one of multiplier z / sqrt(n) costs
        self.assertAlmostEqual((privet.Event.gaussian(2.0) * 4).epsilon(1e-5), privet.account(noise_multiplier=1.0, delta=1e-5), places=6)
        both = privet.compose(privet.Event.gaussian(2.0), privet.Event.gaussian(2.0), delta=1e-5)
        self.assertAlmostEqual(both, (privet.Event.gaussian(2.0) * 2).epsilon(1e-5), places=9)
        with self.assertRaises(privet.PrivetError):
            privet.Event({"kind": "no such"}).epsilon(1e-5)
        with self.assertRaises(privet.PrivetError):
            privet.account(z=-1.0, delta=1e-5)

    def test_dp_events(self):
        event = dp.ComposedDpEvent([dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.0)), 100)])
        ours = privet.Event.of(event).epsilon(1e-5)
        self.assertAlmostEqual(ours, privet.account(noise_multiplier=1.0, q=0.01, steps=100, delta=1e-5), places=9)
        if dp is not DpEvents:
            theirs = dp.pld.PLDAccountant(neighboring_relation=dp.NeighboringRelation.ADD_OR_REMOVE_ONE)
            self.assertAlmostEqual(theirs.compose(event).get_epsilon(1e-5), ours, delta=0.01 * ours)
        else:
            with self.assertRaisesRegex(privet.Unsupported, "ZCDpEvent"):
                privet.Event.of(DpEvents.ZCDpEvent())

    def test_certificates(self):
        rng = np.random.default_rng(0)
        X, y = rng.random((500, 2)), rng.integers(0, 2, 500)
        clf = privet.Classifier(bounds=(0, 1), classes=[0, 1], epsilon=1.0, delta=1e-5).fit(X, y)
        self.assertLessEqual(privet.compose(clf, delta=1e-5), 1.0)
        two = privet.compose(clf, clf.certificate_, delta=1e-5)
        self.assertTrue(1.0 < two < 2.0)

    def test_certificates_under_the_other_relation(self):
        rng = np.random.default_rng(1)
        X, y = rng.random((500, 2)), rng.integers(0, 2, 500)
        said = dict(bounds=(0, 1), classes=[0, 1], epsilon=1.0, delta=1e-5)
        clf = privet.Classifier(**said).fit(X, y)
        claim = clf.certificate_.json["epsilon_replace"]
        self.assertGreater(claim, 2.0)
        for got in (
            privet.compose(clf, delta=1e-5, relation="replace"),
            privet.account(events=clf, delta=1e-5, relation="replace"),
            (privet.Event.of(clf) * 1 + privet.Event.none()).epsilon(1e-5, relation="replace"),
        ):
            self.assertAlmostEqual(got, claim, delta=1e-4 * claim)
        other = privet.Classifier(relation="replace", **said).fit(X + 0, y)
        got = privet.compose(other, delta=1e-5)  # its own relation
        self.assertAlmostEqual(got, other.epsilon_, delta=1e-4)
        self.assertEqual(got, privet.compose(other, delta=1e-5, relation="replace"))
        self.assertGreater(privet.compose(clf, other, delta=1e-5), claim)
        with self.assertRaisesRegex(privet.Unsupported, 'relation="replace"'):
            privet.compose(clf, other, delta=1e-5, relation="zero-out")

    def test_draws_take_their_share_of_delta(self):
        rng = np.random.default_rng(2)
        X, y = rng.random((500, 2)), rng.integers(0, 2, 500)
        c = privet.Classifier(bounds=(0, 1), classes=[0, 1], epsilon=1.0, delta=1e-5).fit(X, y).certificate_
        tree, (share, covered) = privet.Event(c.events), c._draws
        self.assertGreater(c.delta_draws, 0)
        # The run's share is enough up to its cost, which the claim rounds up; that of the sum up to more than the claim.
        cost = tree.epsilon(c.delta - c.delta_draws)
        self.assertGreater(c.epsilon, cost)
        self.assertGreater(covered, c.json["epsilon_replace"])
        self.assertGreaterEqual(share, c.delta_draws * np.exp(covered - c.json["epsilon_replace"] * (1 - 1e-5)))
        self.assertLess(privet.compose(c, delta=c.delta), covered)
        both = privet.compose(c, c)
        self.assertAlmostEqual(both.epsilon(1e-5), (tree * 2).epsilon(1e-5 - 2 * share), places=9)
        self.assertGreater(both.epsilon(1e-5), (tree * 2).epsilon(1e-5))
        self.assertAlmostEqual(both.delta(1.0), (tree * 2).delta(1.0) + 2 * share, delta=1e-15)
        self.assertGreaterEqual(privet.curve(events=both)[1].min(), 2 * share)
        with self.assertRaisesRegex(ValueError, "larger delta"):
            both.epsilon(share)
        with self.assertRaisesRegex(ValueError, "larger delta"):
            privet.account(events=both, delta=np.array([1e-5, share]))
        # Above the epsilon up to which one share is known to be enough, shares take more than their sum.
        many = privet.Event.of(c) * 9
        top = covered + 3
        taken = many.delta(top) - (tree * 9).delta(top)
        self.assertAlmostEqual(taken / (9 * share * np.exp(3)), 1, places=6)
        full = privet.account(events=many, delta=1e-5, full=True)
        self.assertGreater(full["epsilon"], covered)
        self.assertGreaterEqual(full["delta_draws"], 9 * share)


class Spending(unittest.TestCase):
    SAID = dict(bounds=(0, 1), classes=[0, 1], epsilon=1.0, delta=1e-5)

    def rows(self, seed):
        rng = np.random.default_rng(seed)
        return rng.random((2000, 2)), rng.integers(0, 2, 2000)

    def test_one_fit_costs_what_its_certificate_says(self):
        privet._ledger.forget()
        clf = privet.Classifier(**self.SAID).fit(*self.rows(11))
        s = privet.spent(clf.delta_)
        self.assertGreaterEqual(s.epsilon, clf.epsilon_)
        self.assertEqual(s.delta, clf.delta_)
        for k in range(2):
            privet.Classifier(**self.SAID).fit(*self.rows(12 + k))
        c = clf.certificate_
        at = c.delta - 3 * c.delta_draws
        self.assertAlmostEqual(privet.spent().epsilon, (privet.Event(c.events) * 3).epsilon(at), places=9)
        s = privet.spent(4 * c.delta_draws)  # the shares are more than half of it
        self.assertAlmostEqual(s.delta, 7 * c.delta_draws, delta=1e-15)

    def test_equal_cyclic_fits(self):
        privet._ledger.forget()
        for k in range(5):
            clf = privet.Classifier(sampler="cyclic", optimizer="pgd", optimizer_steps=50, **self.SAID).fit(*self.rows(20 + k))
        events = clf.certificate_.events
        self.assertEqual((events["times"], events["event"]["kind"]), (50, "cyclic"))
        z, parts = events["event"]["event"]["noise_multiplier"], events["event"]["parts"]
        apart = privet.Event.sequence([privet.Event(events)] * 5).epsilon(1e-5)
        self.assertGreaterEqual(privet.spent().epsilon, apart)
        # every row is in at least 50 / parts of the 50 releases of each fit
        least = privet.account(noise_multiplier=z / (5 * (50 // parts)) ** 0.5, delta=1e-5)
        self.assertGreaterEqual(privet.spent().epsilon, least)
        self.assertGreaterEqual(privet.compose(*[clf] * 5, delta=1e-5), least)

    def test_fits_that_end_early_are_counted(self):
        class Mine(Exception):
            pass

        def stop(error):
            def progress(what, *more):
                if what == "training":
                    if error is None:
                        return False
                    raise error
                return True

            return progress

        long = dict(optimizer="pgd", optimizer_steps=10**6, threads=1, **self.SAID)
        for error, caught in ((None, privet.Cancelled), (KeyboardInterrupt(), KeyboardInterrupt), (Mine(), Mine)):
            privet._ledger.forget()
            with self.subTest(caught.__name__), self.assertRaises(caught):
                privet.Classifier(progress=stop(error), **long).fit(*self.rows(30))
            s = privet.spent()
            self.assertEqual(s.fits, 1)
            self.assertGreater(s.epsilon, 0.999)
            self.assertTrue(1e-5 <= s.delta < 2.1e-5)
        one = privet.Classifier(**self.SAID).fit(*self.rows(31))
        s = privet.spent()
        self.assertEqual(s.fits, 2)
        self.assertTrue(one.epsilon_ + 0.9 < s.epsilon < np.inf)
        privet.Classifier(relation="replace", **self.SAID).fit(*self.rows(32))
        self.assertTrue(3.9 < privet.spent().epsilon < np.inf)  # 2 epsilon, and the others
        with self.assertRaises(privet.Cancelled):
            privet.Classifier(progress=stop(None), privacy="off", **long).fit(*self.rows(33))
        self.assertEqual(privet.spent().epsilon, np.inf)

    def test_what_is_refused_before_training_costs_nothing(self):
        privet._ledger.forget()
        X, y = self.rows(34)
        for bad in (dict(optimizer_steps=-1), dict(noise_multiplier=1e-3), dict(progress=lambda what, *more: what == "training")):
            with self.assertRaises(privet.PrivetError):
                privet.Classifier(**{**self.SAID, **bad}).fit(X, y)
        with self.assertRaises(ValueError):
            privet.Classifier(**self.SAID).fit(X + 5, y)
        self.assertEqual((privet.spent().fits, privet.spent().epsilon), (0, 0.0))

    def test_events_are_composed(self):
        rng = np.random.default_rng(5)
        privet._ledger.forget()
        self.assertEqual(privet.spent().epsilon, 0.0)
        for k in range(3):
            X, y = rng.random((400, 2)), rng.integers(0, 2, 400)
            privet.Classifier(bounds=(0, 1), classes=[0, 1], epsilon=1.0, delta=1e-5).fit(X, y)
        s = privet.spent()
        self.assertEqual((s.fits, s.by_estimator), (3, {"Classifier": 3}))
        self.assertTrue(1.0 < s.epsilon < 3.0)
        privet.Classifier(bounds=(0, 1), classes=[0, 1], relation="replace").fit(rng.random((400, 2)), y)
        self.assertGreater(privet.spent().epsilon, s.epsilon)
        self.assertEqual(privet.spent().relation, "replace")
        privet.Classifier(bounds=(0, 1), classes=[0, 1], privacy="off").fit(rng.random((400, 2)), y)
        self.assertEqual(privet.spent().epsilon, np.inf)
        self.assertIn("NOT PRIVATE", repr(privet.spent()))


if __name__ == "__main__":
    unittest.main()
