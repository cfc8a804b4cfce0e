"""Measures: exact ones, those of parts, noisy ones with a certificate; weights as a table; drafts of schemas; defaults of settings."""

import json
import logging
import os
import pickle
import tempfile
import unittest
import warnings

import numpy as np

import privet

try:
    import pandas as pd
except ImportError:
    pd = None

rng = np.random.default_rng(3)
N = 3000
X = rng.random((N, 2))
Y = (X[:, 0] + 0.2 * rng.random(N) > 0.6).astype(int)
WHO = np.arange(N) // 3
SAID = dict(bounds=(0, 1), classes=[0, 1], progress=False)


class Quiet(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore", privet.PrivacyWarning)
        logging.getLogger("privet").setLevel(logging.ERROR)


class Defaults(Quiet):
    def test_settings_have_the_defaults_of_the_command(self):
        """But for what stands here, and in docs/python.md with the reason."""
        library = {row["key"]: row["default"] for row in privet._settings.table()["settings"]}
        straight = {"curves": ("auto", "off")}
        other = {
            "LogisticRegression": straight, "SoftmaxRegression": straight, "LinearSVC": straight, "LinearRegression": straight,
            "Ridge": straight, "Regressor": {"model": ("auto", "squared")}, "AdditiveRegressor": {"model": ("auto", "squared")},
        }  # fmt: skip
        for name in privet._estimators.__dict__:
            kind = getattr(privet, name, None)
            if not (isinstance(kind, type) and issubclass(kind, privet._estimators.Estimator)):
                continue
            got = {}
            for word in kind._keywords:
                key = privet._settings.settings()[word].key
                if key in library and kind._defaults[word] != library[key]:
                    got[word] = (library[key], kind._defaults[word])
            self.assertEqual(got, other.get(name, {}), name)

    def test_a_classifier_is_what_the_command_trains(self):
        clf = privet.Classifier(seed=5, **SAID).fit(X, Y)
        auto = privet.Classifier(seed=5, curves="auto", **SAID).fit(X + 0, Y)
        np.testing.assert_array_equal(clf.coef_, auto.coef_)
        self.assertEqual(len(clf.curves_["columns"]), 2)
        line = privet.LogisticRegression(**SAID).fit(X + 0, Y)
        self.assertEqual(line.coef_.shape, (1, 2))
        bent = privet.LogisticRegression(seed=5, curves="auto", **SAID).fit(X + 0, Y)
        np.testing.assert_array_equal(bent.coef_, clf.coef_)
        norm = privet.Classifier(bounds="row-norm", classes=[0, 1]).fit(X + 0, Y)  # no bounds, no curves
        self.assertEqual(norm.coef_.shape, (1, 2))

    def test_keywords_of_others_are_explained(self):
        for word, hint in (("C", "reg_lambda"), ("class_weight", "model_class_weight"), ("random_state", "NOT PRIVATE"), ("epsilonn", "'epsilon'")):
            with self.assertRaisesRegex(TypeError, f"no keyword '{word}'.*{hint}"):
                privet.LogisticRegression(**{word: 1})

    def test_weighted_classes(self):
        for given in ({"model_class_weight": 5}, {"model_prevalence": 0.1}):
            clf = privet.Classifier(**SAID, **given).fit(X, (X[:, 0] > 0.9).astype(int))
            self.assertEqual(clf.certificate_.json["settings"]["model"], "weighted")


class Noisy(Quiet):
    @classmethod
    def setUpClass(cls):
        warnings.simplefilter("ignore", privet.PrivacyWarning)
        cls.clf = privet.Classifier(**SAID).fit(X[:2000], Y[:2000])

    def test_a_release_has_figures_intervals_and_a_certificate(self):
        exact = self.clf.evaluate(X[2000:], Y[2000:])
        got = self.clf.evaluate(X[2000:], Y[2000:], epsilon=1e4, delta=1e-5, relation="replace")
        self.assertFalse(exact["metrics_are_private"])
        self.assertTrue(got["metrics_are_private"])
        self.assertAlmostEqual(got["accuracy"]["value"], exact["accuracy"], places=2)
        c = got.certificate
        self.assertEqual((c.epsilon, c.delta, c.relation), (1e4, 1e-5, "replace"))
        self.assertTrue(c.verify()["verified"])
        again = pickle.loads(pickle.dumps(got))
        self.assertEqual((again, again.certificate.text), (got, c.text))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "eval.json")
            c.save(path)
            self.assertEqual(privet.verify(path)["evaluation"]["accuracy"], got["accuracy"])

    def test_spent_counts_it(self):
        privet._ledger.forget()
        one = self.clf.evaluate(X[2000:], Y[2000:], epsilon=0.5, delta=1e-5)
        self.assertEqual(privet.spent().fits, 1)
        self.assertAlmostEqual(privet.spent(delta=1e-5).epsilon, 0.5, places=2)
        both = privet.compose(self.clf, one.certificate, delta=1e-5)
        self.assertGreater(both, 1.0)
        self.assertLess(both, 1.5)
        with self.assertWarnsRegex(privet.PrivacyWarning, "used before"):
            warnings.simplefilter("always", privet.PrivacyWarning)
            self.clf.evaluate(X[2000:], Y[2000:], epsilon=0.5)
        self.assertEqual(privet.spent().fits, 2)
        self.clf.evaluate(X[2000:], Y[2000:])  # exact measures are no release
        self.assertEqual(privet.spent().fits, 2)

    def test_without_noise_it_says_so(self):
        with self.assertWarnsRegex(privet.PrivacyWarning, "NOT PRIVATE"):
            warnings.simplefilter("always", privet.PrivacyWarning)
            got = self.clf.evaluate(X[2000:], Y[2000:], epsilon=1, privacy="off")
        self.assertFalse(got.certificate.is_private)
        self.assertIn("NOT PRIVATE", repr(got.certificate))

    def test_persons(self):
        clf = privet.Classifier(person_rows=3, **SAID).fit(X, Y, groups=WHO)
        got = clf.evaluate(X, Y, WHO, epsilon=1.0)
        self.assertEqual(got["persons"], N // 3)
        self.assertEqual(got.certificate.json["unit"], "person")
        self.assertEqual(clf.evaluate(X, Y, WHO)["per_person"]["persons"], N // 3)
        before = privet.spent().fits
        with self.assertRaisesRegex(privet.InvalidInput, "groups="):
            clf.evaluate(X, Y, epsilon=1.0)
        self.assertEqual(privet.spent().fits, before)

    def test_report(self):
        got = self.clf.evaluate(X[2000:], Y[2000:], epsilon=0.7)
        self.assertIn("0.7", self.clf.report(evaluation=got))
        self.assertNotEqual(self.clf.report(evaluation=got.certificate), self.clf.report())
        other = privet.Classifier(**SAID).fit(X[:2000] + 0, Y[:2000])
        for wrong in (got, self.clf.certificate_, 3, {}):
            with self.assertRaisesRegex(privet.InvalidInput, "evaluation"):
                other.report(evaluation=wrong)

    def test_rows_held_out_of_a_fit(self):
        privet._ledger.forget()
        clf = privet.Classifier(holdout_share=0.3, eval_epsilon=0.5, delta=1e-5, **SAID).fit(X, Y)
        c = clf.evaluation_.certificate
        self.assertEqual((c.epsilon, c.delta), (0.5, 1e-5))
        self.assertEqual(c.json["weights_digest"] if "weights_digest" in c.json else c.verify()["evaluation"]["weights_digest"],
                         clf.certificate_.json["weights_digest"])  # fmt: skip
        self.assertTrue(any("a part was drawn at random" in a for a in c.assumptions))
        self.assertEqual(privet.spent().fits, 2)
        clf.set_params(holdout_share="auto", eval_epsilon=None).fit(X, Y)
        self.assertFalse(hasattr(clf, "evaluation_"))
        for given in ({"holdout_share": 0.3}, {"eval_epsilon": 1}):
            with self.assertRaisesRegex(privet.InvalidInput, "holdout_share"):
                privet.Classifier(**SAID, **given).fit(X, Y)
        with self.assertRaisesRegex(privet.InvalidSetting, "epsilon=-1"):
            privet.Classifier(**SAID, holdout_share=0.3, eval_epsilon=-1).fit(X, Y)
        self.assertEqual(privet.spent().fits, 3)
        with self.assertRaisesRegex(TypeError, "holdout_share"):
            privet.Regressor(holdout_share=0.3)

    def test_refusals(self):
        before = privet.spent().fits
        for kind, given, why in (
            (privet.Unsupported, {"epsilon": 1, "by": "x0"}, "by"),
            (privet.Unsupported, {"epsilon": 1, "threshold": 0.3}, "threshold"),
            (privet.InvalidInput, {"delta": 1e-5}, "delta"),
            (TypeError, {"epsilon": 1, "steps": 3}, "steps"),
            (privet.InvalidSetting, {"epsilon": 0}, "epsilon=0"),
            (privet.InvalidSetting, {"epsilon": X}, "^epsilon: .*ndarray"),
            (privet.InvalidSetting, {"threshold": X}, "^threshold: .*ndarray"),
            (privet.InvalidSetting, {"threshold": 1.5}, "threshold=1.5"),
            (privet.InvalidInput, {"cost": 3}, "a pair"),
            (privet.InvalidInput, {"cost": (1, 2), "threshold": 0.3}, "one of them"),
            (privet.PrivetError, {"by": "x0"}, "x0"),
        ):
            with self.subTest(given=list(given)), self.assertRaisesRegex(kind, why):
                self.clf.evaluate(X, Y, **given)
        reg = privet.Regressor(bounds=(0, 1), y_min=0, y_max=1).fit(X, X[:, 0])
        with self.assertRaisesRegex(privet.Unsupported, "numbers"):
            reg.evaluate(X, X[:, 0], epsilon=1)
        with self.assertRaisesRegex(privet.InvalidSetting, "two classes"):
            reg.evaluate(X, X[:, 0], cost=(1, 2))
        self.assertEqual(privet.spent().fits, before + 1)

    def test_threshold_and_cost(self):
        p = self.clf.predict_proba(X)[:, 1]
        for given, t in (({"threshold": 0.8}, 0.8), ({"cost": (1, 4)}, 0.2), ({}, 0.5)):  # the last: none is left behind
            counts = np.array(self.clf.evaluate(X, Y, **given)["confusion"]["true_by_predicted"])
            self.assertEqual(counts[:, 1].sum(), np.count_nonzero(p > t))


@unittest.skipIf(pd is None, "pandas is not installed")
class Tables(Quiet):
    def test_measures_of_every_value_of_a_category(self):
        df = pd.DataFrame({"a": X[:, 0], "w": np.where(X[:, 1] > 0.5, "u", "v"), "y": Y})
        clf = privet.Classifier(schema={"a": (0, 1), "w": ["u", "v"], "y": privet.label(0, 1)}).fit(df)
        groups = clf.evaluate(df, by="w")["groups"]
        for said in groups:
            part = df[df["w"] == said["value"]]
            self.assertEqual(said["rows"], len(part))
            self.assertAlmostEqual(said["accuracy"], clf.score(part), places=9)

    def test_weights_are_those_of_the_command(self):
        schema = {"a": (0, 1), "w": ["u", "v"], "y": privet.label("no", "yes", "some")}
        df = pd.DataFrame({"a": X[:, 0], "w": np.where(X[:, 1] > 0.5, "u", "v"), "y": np.array(["no", "yes", "some"])[Y + (X[:, 1] > 0.9)]})
        clf = privet.Classifier(schema=schema, curves=4).fit(df)
        table = pd.DataFrame(clf.weights())
        self.assertEqual(len(table), 3 * (4 + 2))
        for c in clf.curves_["columns"]:
            part = table[(table["column"] == c["name"]) & (table["class"] == "some")]
            self.assertEqual(part["weight"].tolist(), c["effect"][2])
            self.assertEqual(part["at"].tolist(), c["at"])
        self.assertEqual(clf.coef_names_, ["a@0", "a@0.333333", "a@0.666667", "a@1", "w=u", "w=v"])
        self.assertEqual(clf.coef_.shape, (3, len(clf.coef_names_)))
        line = privet.SoftmaxRegression(schema=schema).fit(df)
        self.assertEqual(line.coef_names_, ["a", "w=u", "w=v"])
        lines = line.weights()
        self.assertEqual({(r["column"], r["at"]) for r in lines}, {("a", None), ("w", "u"), ("w", "v"), ("bias", None)})
        got = next(r["weight"] for r in lines if (r["column"], r["at"], r["class"]) == ("w", "v", "yes"))
        self.assertEqual(got, line.coef_[1, 2])
        net = privet.NetworkClassifier(schema=schema).fit(df)
        with self.assertRaises(AttributeError):
            net.weights()

    def test_missing_values_of_a_curve_have_a_name(self):
        df = pd.DataFrame({"a": np.where(X[:, 1] < 0.1, np.nan, X[:, 0]), "y": Y})
        clf = privet.Classifier(schema={"a": privet.number(0, 1, missing="middle"), "y": privet.label(0, 1)}, curves=3).fit(df)
        self.assertEqual(clf.coef_names_, ["a@0", "a@0.5", "a@1", "a=missing"])
        self.assertEqual(clf.coef_.shape, (1, 4))

    def test_groups_and_spellings_of_classes(self):
        kinds = np.array(["back.", "smurf.", "normal."], object)[(3 * X[:, 0]).astype(int)]
        df = pd.DataFrame({"x": X[:, 0], "kind": kinds})
        schema = privet.Schema({"x": (0, 1), "kind": privet.label({"attack": ["back.", "smurf."]}, ["normal.", "ok"])})
        self.assertEqual(privet.Schema.from_json(schema.to_json()).to_json(), schema.to_json())
        clf = privet.Classifier(schema=schema, epsilon=20.0).fit(df)
        self.assertEqual(clf.classes_.tolist(), ["attack", "normal."])
        self.assertGreater(clf.score(df), 0.9)
        self.assertAlmostEqual(clf.score(df), clf.evaluate(df)["accuracy"], places=9)
        spelt = df["kind"].replace("normal.", "ok").to_numpy()
        self.assertEqual(clf.score(df[["x"]], spelt), clf.score(df))
        back = privet._estimators.of_bytes(clf._ready().to_bytes())
        self.assertEqual(back.score(df), clf.score(df))

    def test_text_among_numbers(self):
        df = pd.DataFrame({"a": ["0.5", "none", "0.25"] * 100, "y": [0, 1, 0] * 100})
        schema = {"a": privet.number(0, 1, missing="zero", text="missing"), "y": privet.label(0, 1)}
        privet.Classifier(schema=schema).fit(df)
        with self.assertRaisesRegex(ValueError, 'column "a"'):
            privet.Classifier(schema={**schema, "a": privet.number(0, 1, missing="zero")}).fit(df)

    def test_outside_usual(self):
        df = pd.DataFrame({"a": X[:, 0] * 3, "w": np.where(X[:, 1] > 0.5, "u", "elsewhere"), "y": Y})
        schema = {"a": (0, 1), "w": ["u", "v"], "y": privet.label(0, 1)}
        privet.Classifier(schema=schema, outside="usual").fit(df).predict(df)
        with self.assertRaises(ValueError):
            privet.Classifier(schema=schema).fit(df)


class Drafts(Quiet):
    def test_a_draft_looks_at_no_row(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.csv")
            with open(path, "w") as f:
                f.write("age,ward,back\n31,surgery,no\n")
            said = privet.Schema.draft(path, label="back")
            self.assertEqual(said, "privet.Schema({\n    'age': ...,\n    'ward': ...,\n    'back': privet.label(...),\n})")
            with self.assertRaisesRegex(privet.InvalidInput, "no such column"):
                privet.Schema.draft(path, label="bakc")
            with self.assertRaises(privet.PrivetError):
                privet.Schema.draft(os.path.join(folder, "none.csv"))
        if pd is not None:
            df = pd.DataFrame({"age": [31], "day": pd.to_datetime(["2024-01-01"]), "back": ["no"]})
            want = "privet.Schema({\n    'age': (min, max),\n    'day': privet.date(min, max),\n    'back': privet.label(...),\n})"
            self.assertEqual(privet.Schema.draft(df, label="back"), want)
            self.assertEqual(privet.Schema.draft(df.iloc[:0], label="back"), want)

    @unittest.skipIf(pd is None, "pandas is not installed")
    def test_of_public(self):
        df = pd.DataFrame({"a": [1.5, 2.0, 4.0] * 20, "w": ["u", "v", "u"] * 20, "y": ["no", "yes", "no"] * 20})
        schema = privet.Schema.of_public(df, label="y")
        self.assertEqual((schema.columns["a"].fields["min"], schema.columns["a"].fields["max"]), (1.5, 4.0))
        self.assertEqual(sorted(schema.columns["w"].values), ["u", "v"])
        self.assertEqual(schema.label, "y")
        clf = privet.Classifier(schema=schema).fit(df)
        self.assertTrue(clf.is_private_)
        with self.assertRaisesRegex(privet.InvalidInput, "frame"):
            privet.Schema.of_public(X)

    def test_a_schema_file_keeps_what_it_says_of_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            rows, schema, model = (os.path.join(folder, n) for n in ("t.csv", "s.json", "m.pvt"))
            with open(rows, "w") as f:
                f.write("".join(f"{x};{y}\n" for x, y in zip(X[:, 0], Y)))
            said = {"header": False, "separator": ";", "columns": [
                {"name": "x", "type": "number", "min": 0, "max": 1}, {"name": "y", "type": "label", "values": ["0", "1"]}]}  # fmt: skip
            with open(schema, "w") as f:
                json.dump(said, f)
            clf = privet.Classifier(schema=schema).fit(rows)
            clf.save(model)
            self.assertEqual(clf.evaluate(rows)["rows"], N)
            self.assertEqual(privet.load(model).evaluate(rows), clf.evaluate(rows))
            for line in ({"name": "x", "type": "ignore"},):
                said["columns"].append(line)
            with self.assertRaisesRegex(privet.InvalidInput, "same name"):
                privet.Schema.from_json(json.dumps(said))


if __name__ == "__main__":
    unittest.main()
