"""scikit-learn's own checks over each estimator, and its tools around them.

The estimators are constructed with declared bounds.  What cannot hold is listed by name with its reason."""

import logging
import sys
import unittest
import warnings

import numpy as np
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import estimator_checks

import privet

DRAWS = "two fits draw different noise, and the check compares them"
EXPECTED = {
    "check_estimators_nan_inf": "infinity is outside the declared bounds, and outside='clamp' moves it to the bound; NaN is refused",
    "check_fit_idempotent": DRAWS,
    "check_supervised_y_2d": DRAWS,
    "check_classifier_data_not_an_array": DRAWS,
    "check_regressor_data_not_an_array": DRAWS,
    "check_regressors_int": DRAWS,
    "check_classifiers_classes": "of thirty rows, noise may leave a class that is never predicted",
}
DECLARED = dict(bounds=(-5, 5), outside="clamp", epsilon=1e5)
NUMBERS = dict(DECLARED, y_min=-200, y_max=200)
ALL = [
    privet.Classifier(**DECLARED),
    privet.AdditiveClassifier(**DECLARED),
    privet.AdditiveRegressor(**NUMBERS),
    privet.Ridge(**NUMBERS),
    privet.LogisticRegression(**DECLARED),
    privet.SoftmaxRegression(**DECLARED),
    privet.LinearSVC(**DECLARED),
    privet.NetworkClassifier(**DECLARED),
    privet.Regressor(**NUMBERS),
    privet.LinearRegression(**NUMBERS),
]


def failures(estimator):
    if hasattr(estimator_checks, "estimator_checks_generator"):  # from 1.6 on
        got = estimator_checks.check_estimator(
            estimator, expected_failed_checks=EXPECTED, on_fail=None, on_skip=None
        )
        return [(r["check_name"], repr(r["exception"])) for r in got if r["status"] == "failed"], len(got)
    bad, n = [], 0
    for est, check in estimator_checks.check_estimator(estimator, generate_only=True):
        n += 1
        try:
            check(est)
        except unittest.SkipTest:
            pass
        except Exception as e:
            if check.func.__name__ not in EXPECTED:
                bad.append((check.func.__name__, repr(e)))
    return bad, n


class Checks(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        logging.getLogger("privet").setLevel(logging.ERROR)

    def test_check_estimator(self):
        self.assertLessEqual(len(EXPECTED), 10)
        for estimator in ALL if "--all" in ARGUMENTS else ALL[:2]:
            with self.subTest(type(estimator).__name__):
                bad, n = failures(estimator)
                self.assertEqual(bad, [])
                self.assertGreater(n, 30)
                print(f"{type(estimator).__name__}: {n} checks of scikit-learn {sklearn.__version__}")

    def test_clone_and_parameters(self):
        for estimator in ALL:
            other = clone(estimator)
            self.assertEqual(repr(other), repr(estimator))
            self.assertEqual(estimator.get_params(), other.get_params())
            self.assertEqual(other.set_params(epsilon=3).epsilon, 3)
            self.assertEqual(is_classifier(estimator), hasattr(estimator, "classes"))
            self.assertEqual(is_regressor(estimator), not hasattr(estimator, "classes"))
            with self.assertRaisesRegex(ValueError, "Invalid parameter"):
                other.set_params(no_such=1)

    def test_pipeline_grid_and_cross_validation_count_what_they_spend(self):
        import pandas as pd
        from sklearn.compose import ColumnTransformer
        from sklearn.model_selection import GridSearchCV, cross_val_score
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer

        rng = np.random.default_rng(0)
        df = pd.DataFrame({"a": rng.random(600), "b": rng.random(600)})
        y = np.where(df["a"] > 0.5, "yes", "no")
        privet._ledger.forget()
        clf = privet.LogisticRegression(bounds=(0, 1), classes=["no", "yes"], epsilon=1.0)
        pipe = make_pipeline(ColumnTransformer([("keep", FunctionTransformer(), ["a", "b"])]), clf)
        pipe.fit(df, y)
        if hasattr(pipe, "set_output"):
            pipe.set_output(transform="pandas").fit(df, y).predict(df)
        one = privet.spent().epsilon
        before = privet.spent().fits
        self.assertEqual(len(cross_val_score(clf, df, y, cv=3)), 3)
        self.assertEqual(privet.spent().fits, before + 3)
        grid = GridSearchCV(clf, {"epsilon": [0.5, 2.0]}, cv=2).fit(df, y)
        self.assertEqual(privet.spent().fits, before + 8)
        all_of_them = privet.spent().epsilon
        self.assertGreater(all_of_them, one)
        summed = sum(r_epsilon for r_epsilon in [1.0] * (before + 3) + [0.5] * 2 + [2.0] * 2 + [grid.best_params_["epsilon"]])
        self.assertLess(all_of_them, summed)


if __name__ == "__main__":
    ARGUMENTS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
