"""Estimators: fit, predict, certificate, files, pickles, what is refused, rows of every kind."""

import copy
import ctypes
import logging
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings

import numpy as np

import privet

try:
    import pandas as pd
except ImportError:
    pd = None

rng = np.random.default_rng(1)
N = 1500
AGE = rng.integers(0, 100, N)
WARD = rng.choice(np.array(["surgery", "medicine"], object), N)
BACK = np.where((AGE > 50) ^ (rng.random(N) < 0.05), "yes", "no")
SCHEMA = privet.Schema({"age": (0, 100), "ward": ["surgery", "medicine"], "back": privet.label("no", "yes")})


def frame(**more):
    return pd.DataFrame({"age": AGE, "ward": WARD, "back": BACK, **more})


def seeded(**more):
    """Repeatable, so that two sources of the same rows can be compared bit for bit."""
    return privet.Classifier(schema=SCHEMA, seed=7, **more)


class Quiet(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore", privet.PrivacyWarning)
        logging.getLogger("privet").setLevel(logging.ERROR)


@unittest.skipIf(pd is None, "pandas is not installed")
class Frames(Quiet):
    def test_the_lines_of_the_readme(self):
        df = frame()
        clf = privet.Classifier(schema=SCHEMA, epsilon=1.0).fit(df)
        self.assertEqual(clf.predict_proba(df).shape, (N, 2))
        self.assertGreater(clf.score(df, df["back"]), 0.8)
        self.assertTrue(clf.certificate_.verify()["verified"])
        self.assertLessEqual(clf.epsilon_, 1.0)
        self.assertIn("epsilon = 1", clf.statement_)
        with tempfile.TemporaryDirectory() as folder:
            page, model = os.path.join(folder, "stays.html"), os.path.join(folder, "stays.pvt")
            clf.report(page, df)
            with open(page, encoding="utf-8") as f:
                self.assertIn("<title>Privacy report", f.read())
            clf.save(model)
            self.assertEqual(sorted(os.listdir(folder)), ["stays.html", "stays.pvt"])
            back = privet.load(model)
            self.assertTrue(privet.verify(model)["verified"])
            np.testing.assert_array_equal(back.predict(df), clf.predict(df))
            np.testing.assert_array_equal(back.coef_, clf.coef_)

    def test_every_kind_of_column_gives_the_same_weights(self):
        want = seeded().fit(frame()).coef_
        kinds = {
            "float": frame(age=AGE.astype(float)),
            "float32": frame(age=AGE.astype(np.float32)),
            "int8": frame(age=AGE.astype(np.int8)),
            "nullable": frame(age=pd.array(AGE, "Int64")),
            "nullable float": frame(age=pd.array(AGE.astype(float), "Float64")),
            "object": frame(age=AGE.astype(object)),
            "category": frame(ward=pd.Categorical(WARD), back=pd.Categorical(BACK)),
            "category of numbers": frame(age=pd.Categorical(AGE)),
            "string": frame(ward=pd.array(WARD, "string")),
            "other order": frame()[["back", "ward", "age"]],
            "strided": frame().iloc[::1],
            "labels apart": None,
        }
        for kind, df in kinds.items():
            with self.subTest(kind):
                got = seeded().fit(df) if df is not None else seeded().fit(frame()[["age", "ward"]], BACK)
                np.testing.assert_array_equal(got.coef_, want)

    def test_dates_and_booleans(self):
        day = pd.Timestamp("2024-01-01") + pd.to_timedelta(AGE, "D")
        schema = privet.Schema(
            {"day": privet.date("2024-01-01", "2024-04-10"), "urgent": [False, True], "back": privet.label("no", "yes")}
        )
        weights = []
        for column in (day, day.tz_localize("UTC"), day.astype("datetime64[ns]")):
            df = pd.DataFrame({"day": column, "urgent": AGE > 50, "back": BACK})
            weights.append(privet.Classifier(schema=schema, seed=7, curves="off").fit(df).coef_)
            np.testing.assert_array_equal(weights[-1], weights[0])
        self.assertEqual(weights[0].shape, (1, 3))

    def test_missing_values(self):
        df = frame(age=AGE.astype(float))
        df.loc[3, "age"] = np.nan
        with self.assertRaisesRegex(ValueError, "age"):
            seeded().fit(df)
        schema = privet.Schema({**SCHEMA.columns, "age": privet.number(0, 100, missing="middle")})
        want = privet.Classifier(schema=schema, seed=7).fit(df).coef_
        nullable = df.astype({"age": "Float64"})
        np.testing.assert_array_equal(privet.Classifier(schema=schema, seed=7).fit(nullable).coef_, want)
        ward = df.copy()
        ward.loc[5, "ward"] = None
        privet.Classifier(schema=schema).fit(ward)

    def test_refused(self):
        for column, kind, why in (
            ({"ward": np.where(AGE > 1, WARD, 7)}, TypeError, "mixes"),
            ({"age": AGE + 1000}, ValueError, "outside the declared"),
            ({"ward": "street"}, ValueError, "not one of its declared values"),
            ({"back": "maybe"}, ValueError, "maybe"),
            ({"more": 1}, ValueError, "does not declare 'more'"),
            ({"age": [[1]] * N}, TypeError, "neither text nor numbers"),
        ):
            with self.subTest(why), self.assertRaisesRegex(kind, why):
                seeded().fit(frame(**column))
        with self.assertRaisesRegex(ValueError, "no column 'ward'"):
            seeded().fit(frame()[["age", "back"]])
        clf = seeded().fit(frame())
        with self.assertRaisesRegex(ValueError, "not one of its declared values"):
            clf.predict(frame(ward="street"))
        with self.assertRaisesRegex(ValueError, "0 sample"):
            clf.predict(frame().head(0))
        self.assertEqual(len(clf.predict(frame().head(1))), 1)

    def test_without_bounds_the_message_declares_this_very_frame(self):
        with self.assertRaises(privet.Undeclared) as caught:
            privet.Classifier().fit(frame()[["age", "ward"]], BACK)
        for part in ("'age': (min, max)", "'ward': [...]", "privet.label", "from-data"):
            self.assertIn(part, str(caught.exception))

    def test_bounds_from_data_are_marked_in_every_output(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            clf = privet.Classifier(bounds="from-data").fit(frame()[["age", "ward"]], BACK)
        self.assertTrue(any("NOT PRIVATE" in str(w.message) for w in seen))
        self.assertEqual(clf.epsilon_, np.inf)
        for said in (clf.statement_, repr(clf), repr(clf.certificate_), clf.report(), clf._repr_html_()):
            self.assertIn("NOT PRIVATE", said)
        with self.assertRaisesRegex(privet.VerificationError, "bounds or categories were taken from the rows"):
            clf.certificate_.verify()
        self.assertIn(b"NOT PRIVATE", clf._fitted.to_bytes())

    def test_a_second_fit_on_the_same_rows_warns(self):
        df = frame(age=AGE[::-1])
        with warnings.catch_warnings():
            warnings.simplefilter("error", privet.PrivacyWarning)
            clf = privet.Classifier(schema=SCHEMA).fit(df)
            with self.assertRaisesRegex(privet.PrivacyWarning, "used before"):
                clf.fit(df)


class Matrices(Quiet):
    X = np.column_stack([AGE, rng.random(N) * 100])

    def make(self, **more):
        return privet.Classifier(bounds=(0, 100), classes=["no", "yes"], seed=7, **more)

    def test_layouts_and_types_give_the_same_weights(self):
        X = np.floor(self.X)
        want = self.make().fit(X, BACK).coef_
        swapped = X.astype(X.dtype.newbyteorder())
        for other in (X.astype(np.float32), np.asfortranarray(X), X.astype(np.int64), np.repeat(X, 2, 1)[:, ::2],
                      X[::-1][::-1], swapped, X.tolist(), X.astype(object)):  # fmt: skip
            np.testing.assert_array_equal(self.make().fit(other, BACK).coef_, want)

    def test_no_copy_of_a_float32_matrix(self):
        X = self.X.astype(np.float32)
        rows = privet._rows.dense(X)
        self.assertEqual(rows.spec[1], X.__array_interface__["data"][0])
        self.assertEqual(privet._rows.dense(np.asfortranarray(X)).spec[5:], (1, N))

    def test_labels_as_they_are(self):
        for classes, y in (
            ([0, 1], (BACK == "yes").astype(int)),
            ([False, True], BACK == "yes"),
            (["no", "yes"], BACK),
            (["no", "yes"], BACK.astype(object)),
            ([1.0, 2.0], 1.0 + (BACK == "yes")),
            ([-1, 1], np.where(BACK == "yes", 1, -1).astype(np.int8)),
        ):
            with self.subTest(str(classes)):
                clf = privet.Classifier(bounds=(0, 100), classes=classes).fit(self.X, y)
                self.assertEqual(set(clf.predict(self.X).tolist()), set(classes))
                self.assertGreater(clf.score(self.X, y), 0.7)
                self.assertEqual(clf.predict(self.X).dtype.kind, np.asarray(classes).dtype.kind)

    def test_found_classes_are_said_to_be_public(self):
        clf = privet.Classifier(bounds=(0, 100)).fit(self.X, BACK)
        self.assertTrue(any("classes were found" in a for a in clf.certificate_.assumptions))
        self.assertTrue(clf.certificate_.verify()["verified"])
        declared = privet.Classifier(bounds=(0, 100), classes=["no", "yes"]).fit(self.X, BACK)
        self.assertFalse(any("classes were found" in a for a in declared.certificate_.assumptions))

    def test_found_classes_are_warned_of(self):
        for said in (dict(bounds=(0, 100)), dict(bounds="row-norm")):
            for classes, times in ((None, 1), (["no", "yes"], 0)):
                with warnings.catch_warnings(record=True) as seen:
                    warnings.simplefilter("always")
                    privet.Classifier(classes=classes, **said).fit(self.X * rng.random(), BACK)
                found = [w for w in seen if w.category is privet.PrivacyWarning and "classes=[...]" in str(w.message)]
                self.assertEqual(len(found), times)
                self.assertTrue(all(w.filename == __file__ for w in found))

    def loaded(self, clf):
        with tempfile.TemporaryDirectory() as folder:
            clf.save(os.path.join(folder, "m.pvt"))
            return privet.load(os.path.join(folder, "m.pvt"))

    def test_a_loaded_model_declares_what_was_declared(self):
        back = self.loaded(self.make().fit(self.X, BACK))
        self.assertEqual((back.bounds, back.schema.label), (None, "label"))
        self.assertEqual(back.schema.columns["label"].values, ("no", "yes"))
        back = self.loaded(privet.Classifier(bounds="row-norm", classes=["no", "yes"]).fit(self.X, BACK))
        self.assertEqual((back.bounds, back.classes, back.schema), ("row-norm", ["no", "yes"], None))

    def test_a_loaded_model_does_not_declare_what_was_measured(self):
        X = self.X
        for clf, y in (
            (privet.Classifier(bounds="from-data"), BACK),
            (privet.Classifier(bounds="from-data", classes=["no", "yes"]), BACK),
            (privet.Regressor(bounds="from-data"), X[:, 1]),
        ):
            back = self.loaded(clf.fit(X, y))
            np.testing.assert_array_equal(back.predict(X), clf.predict(X))
            self.assertEqual((back.bounds, back.schema), ("from-data", None))
            self.assertFalse(back.fit(X, y).is_private_)
        for bounds in ((0, 100), "row-norm"):
            clf = privet.Classifier(bounds=bounds).fit(X, BACK)
            back = self.loaded(clf)
            np.testing.assert_array_equal(back.predict(X), clf.predict(X))
            self.assertIsNone(back.classes)
            again = back.fit(X, BACK).certificate_
            self.assertTrue(any("classes were found" in a for a in again.assumptions))

    def test_a_loaded_model_that_started_from_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "start.npy")
            np.save(path, np.zeros(3))
            clf = self.make(optimizer_start=path, curves="off").fit(self.X, BACK)
            self.assertTrue(clf._fitted.settings()["optimizer.start"].startswith("file:"))
        logging.getLogger("privet").setLevel(logging.INFO)
        with self.assertLogs("privet", "INFO") as seen:
            back = self.loaded(clf)
        self.assertTrue(any("optimizer_start" in line for line in seen.output))
        self.assertEqual(back.optimizer_start, privet.Classifier().optimizer_start)
        back.fit(self.X, BACK)

    def test_pickles_hold_no_measures_of_the_rows(self):
        clf = privet.Classifier(bounds=(0, 100), classes=["no", "yes"], diagnostics=True).fit(self.X, BACK)
        self.assertIn("diagnostics_not_private", clf.summary_)
        dumped = pickle.dumps(clf)
        self.assertNotIn(b"diagnostics_not_private", dumped)
        self.assertEqual(pickle.loads(dumped).summary_["steps"], clf.summary_["steps"])
        self.assertIn("diagnostics_not_private", clf.summary_)

    def test_every_network_of_the_library_is_known(self):
        networks = {m["name"] for m in privet._settings.table()["model"]} - {"glm", "softmax"}
        self.assertIn("cifar-tutorial", networks)
        self.assertLessEqual(networks, set(privet._estimators._NETS))

    def test_sparse_rows(self):
        try:
            from scipy import sparse
        except ImportError:
            self.skipTest("scipy is not installed")
        X = sparse.random(N, 3000, 0.01, "csr", random_state=0)
        clf = privet.Classifier(bounds="row-norm", classes=["no", "yes"], seed=7).fit(X, BACK)
        self.assertEqual(clf.coef_.shape, (1, 3000))
        for other in (X.tocsc(), X.tocoo(), X.astype(np.float32).astype(np.float64)):
            self.assertEqual(privet.Classifier(bounds="row-norm", classes=["no", "yes"], seed=7).fit(other, BACK).predict(X).shape, (N,))
        with self.assertRaisesRegex(ValueError, "row-norm"):
            privet.Classifier(bounds=(0, 1)).fit(X, BACK)

    def test_refused(self):
        clf = self.make()
        X = self.X
        nan = X.copy()
        nan[3, 1] = np.nan
        for bad, y, why in (
            (nan, BACK, "column|missing|NaN"),
            (X[:, 0], BACK, "Expected 2D array"),
            (X[:0], BACK[:0], "0 sample"),
            (X[:, :0], BACK, "0 feature"),
            (X, BACK[:-1], "inconsistent numbers of samples"),
            (X + 1j, BACK, "Complex data not supported"),
            (X, None, "requires y"),
            (X, np.full(N, "maybe"), "maybe"),
            (np.full((N, 2), "a"), BACK, "text|number"),
        ):
            with self.subTest(why), self.assertRaisesRegex(ValueError, why):
                clf.fit(bad, y)
        with self.assertRaisesRegex(ValueError, "sample_weight is refused"):
            clf.fit(X, BACK, sample_weight=np.ones(N))
        with self.assertRaisesRegex(ValueError, "not fitted"):
            self.make().predict(X)
        with self.assertRaises(privet.InvalidSetting):
            self.make(epsilon=-1).fit(X, BACK)
        with self.assertRaisesRegex(ValueError, "one class|1 class"):
            privet.Classifier(bounds=(0, 100)).fit(X, np.zeros(N))
        fitted = self.make().fit(X, BACK)
        with self.assertRaisesRegex(ValueError, "X has 3 features, but Classifier is expecting 2"):
            fitted.predict(np.zeros((2, 3)))

    def test_labels_of_text(self):
        """Few and many distinct ones, as numpy's text and as objects, are the same labels."""
        for classes in (2, 40, 200):
            words = np.array([f"c{k}" for k in range(classes)])
            X, y = rng.random((1200, 2)), words[np.arange(1200) * 7 % classes]
            said = dict(bounds=(0, 1), seed=1, optimizer_steps=2, classes=list(words))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", privet.PrivacyWarning)
                first, *others = [privet.Classifier(**said).fit(X, v).coef_ for v in (y, y.astype(object), list(y))]
                numbers = privet.Classifier(**{**said, "classes": list(range(classes))}).fit(X, np.arange(1200) * 7 % classes)
            for w in (*others, numbers.coef_):
                np.testing.assert_array_equal(first, w)
        with self.assertRaisesRegex(ValueError, "label is missing"):
            privet.Classifier(bounds=(0, 1), classes=["a", "b"]).fit(X[:3], np.array(["a", None, "b"], object))
        with self.assertRaisesRegex(ValueError, "label 3: label 'c' in column"):
            privet.Classifier(bounds=(0, 1), classes=["a", "b"]).fit(X[:3], np.array(["a", "b", "c"]))

    def test_weights_of_rows_are_refused_by_all(self):
        X, y = rng.random((300, 2)), rng.integers(0, 2, 300)
        made = [c for c in vars(privet).values() if isinstance(c, type) and hasattr(c, "fit")]
        self.assertEqual(len(made), 10)
        for cls in made:
            said = dict(classes=[0, 1]) if cls._is_classifier else dict(y_min=0, y_max=1)
            with self.subTest(cls.__name__), self.assertRaisesRegex(ValueError, "refused.*; leave rows out by a public rule, or fit without"):
                cls(bounds=(0, 1), **said).fit(X, y, sample_weight=np.ones(300))
            self.assertIs(cls(bounds=(0, 1), **said).fit(X, y, sample_weight=None).is_private_, True)

    def test_messages_name_keywords(self):
        X, y = rng.random((300, 2)), rng.integers(0, 2, 300)
        for said, why in (
            (dict(epsilon=-1), r"^epsilon=-1: "),
            (dict(optimizer_steps=0), r"^optimizer_steps=0: "),
            (dict(threads=-3), r"^threads=-3: "),
            (dict(reg_lambda=1.0), r"^reg_lambda is not a setting of reg=none: help\(privet.Classifier\)"),
            (dict(optimizer="prgd"), 'relation="replace"'),
        ):
            with self.subTest(str(said)), self.assertRaisesRegex(privet.PrivetError, why) as caught:
                privet.Classifier(bounds=(0, 1), classes=[0, 1], **said).fit(X, y)
            self.assertNotRegex(str(caught.exception), r"\b(budget|data|run|optimizer|reg)\.[a-z]")
        quoted = 'column "data.norm" of data.norm'
        self.assertEqual(privet._settings.spoken(quoted), 'column "data.norm" of norm')
        with self.assertLogs("privet", "INFO") as seen:
            privet.Classifier(bounds=(0, 1), classes=[0, 1]).fit(X, y)
        self.assertIn("optimizer_steps = ", "\n".join(seen.output))
        self.assertNotIn("data.", "\n".join(seen.output))

    def test_partial_fit_is_refused_and_seen_to_be(self):
        clf = self.make()
        self.assertFalse(hasattr(clf, "partial_fit"))
        with self.assertRaisesRegex(AttributeError, "fit once on all rows"):
            clf.partial_fit(self.X, BACK)

    def test_paths(self):
        schema = {"x0": (0, 1), "x1": (0, 1), "y": privet.label("0", "1")}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a,b.csv")
            with self.assertRaises(FileNotFoundError) as caught:
                privet.Classifier(schema=schema).fit(path)
            self.assertIn("a,b.csv", str(caught.exception))
            np.savetxt(path, np.c_[rng.random((300, 2)), np.arange(300) % 2], delimiter=",", header="x0,x1,y", comments="", fmt="%g")
            self.assertEqual(privet.Classifier(schema=schema).fit(path).certificate_.json["rows"], 300)

    def test_noise_of_the_weights(self):
        X, y = rng.random((400, 2)), np.arange(400) % 2
        said = dict(bounds=(0, 1), classes=[0, 1], progress=False)
        for more in (dict(reg="l2", reg_lambda=0.1), dict(relation="replace", optimizer_passes=7), dict(reg="l1", reg_lambda=1e-4)):
            fits = [
                privet.LogisticRegression(optimizer="output-perturbation", seed=k, **said, **more).fit(X, y) for k in range(200)
            ]
            w = np.array([np.append(f.coef_[0], f.intercept_) for f in fits])
            measured = np.sqrt(w.var(axis=0, ddof=1).mean())  # of 597 degrees of freedom: within 3 % of it by a standard deviation
            self.assertAlmostEqual(measured / fits[0].noise_.weights, 1.0, delta=0.15)
        noise = privet.LogisticRegression(**said).fit(X, y).noise_
        self.assertIsNone(noise.weights)
        self.assertTrue(noise.stddev > 0 and noise.releases > 1)
        self.assertIsNone(privet.LogisticRegression(privacy="off", **said).fit(X, y).noise_)

    def test_one_row(self):
        try:
            privet.Classifier(bounds=(0, 100), classes=["no", "yes"], delta=0.1).fit(self.X[:1], BACK[:1])
        except ValueError as e:
            self.assertTrue(str(e))

    def test_pickle_copy_and_a_damaged_one(self):
        clf = self.make().fit(self.X, BACK)
        for other in (pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
            np.testing.assert_array_equal(other.predict_proba(self.X), clf.predict_proba(self.X))
            self.assertEqual(repr(other), repr(clf))
        held = clf._fitted.to_bytes()
        for size in (0, 5, 39, 100, len(held) - 1):
            with self.assertRaises(privet.PrivetError):
                privet._model.Fitted.of_bytes(held[:size])
        dumped = pickle.dumps(clf)
        with self.assertRaises(Exception):
            pickle.loads(dumped[: len(dumped) // 2])

    def test_settings_are_the_library_s(self):
        words = privet._settings.settings()
        clf = privet.Classifier()
        for word in clf._keywords:
            self.assertEqual(getattr(clf, word), words[word].default)
            self.assertIn(words[word].help, privet.Classifier.__doc__)
        self.assertEqual(clf.epsilon, 1)
        fitted = self.make(optimizer="pgd", optimizer_steps=5, reg="l2", reg_lambda=0.5).fit(self.X, BACK)
        said = fitted._fitted.settings()
        self.assertEqual((said["optimizer.steps"], said["reg.lambda"]), (5, 0.5))

    def test_regressors(self):
        y = self.X[:, 0] / 100
        for kind in (privet.Regressor, privet.LinearRegression, privet.Ridge):
            r = kind(bounds=(0, 100), y_min=0, y_max=1, epsilon=5.0).fit(self.X, y)
            self.assertGreater(r.score(self.X, y), 0.3)
            self.assertTrue(r.certificate_.verify()["verified"])
        with self.assertRaisesRegex(privet.Undeclared, "y_min"):
            privet.Ridge(bounds=(0, 100)).fit(self.X, y)

    def test_networks(self):
        net = privet.NetworkClassifier(layers="dense8,relu,dense", bounds=(0, 100), classes=["no", "yes"], epsilon=8.0)
        net.fit(self.X, BACK)
        self.assertEqual(net.predict_proba(self.X).shape, (N, 2))
        with self.assertRaises(AttributeError):
            net.coef_


class Running(Quiet):
    def test_threads(self):
        X, y = rng.random((20000, 10)), rng.integers(0, 2, 20000)
        done = []

        def work(k):
            done.append(privet.Classifier(bounds=(0, 1), classes=[0, 1], seed=k % 2).fit(X, y).coef_)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len({w.tobytes() for w in done}), 2)
        clf = privet.Classifier(bounds=(0, 1), classes=[0, 1]).fit(X, y)
        want = clf.predict(X)
        same = []
        threads = [threading.Thread(target=lambda: same.append((clf.predict(X) == want).all())) for _ in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(same, [True] * 6)

    def test_progress_and_stopping(self):
        X, y = rng.random((2000, 5)), rng.integers(0, 2, 2000)
        seen = []
        privet.Classifier(bounds=(0, 1), classes=[0, 1], progress=lambda *a: seen.append(a)).fit(X, y)
        self.assertEqual(seen[-1][1], seen[-1][2])
        with self.assertRaises(privet.Cancelled):
            privet.Classifier(bounds=(0, 1), classes=[0, 1], progress=lambda *a: False).fit(X, y)

        def raises(*a):
            raise KeyError("mine")

        with self.assertRaises(KeyError):
            privet.Classifier(bounds=(0, 1), classes=[0, 1], progress=raises).fit(X, y)

    def test_notes_go_to_logging(self):
        logging.getLogger("privet").setLevel(logging.INFO)
        X, y = rng.random((500, 2)), rng.integers(0, 2, 500)
        with self.assertLogs("privet", "INFO") as seen:
            privet.Classifier(bounds=(0, 1)).fit(X, y)
        self.assertTrue(any("classes" in line for line in seen.output))

    def test_ctrl_c(self):
        code = """
import numpy as np, privet, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test in the background inherits that it is ignored
X = np.random.default_rng(0).random((100000, 40)); y = np.arange(100000) % 2
print("ready", flush=True)
try:
    privet.Classifier(bounds=(0, 1), classes=[0, 1], optimizer="pgd", optimizer_steps=10**6, threads=1).fit(X, y)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
        with tempfile.TemporaryDirectory() as folder:
            p = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=folder)
            self.assertEqual(p.stdout.readline(), "ready\n")
            time.sleep(1.0)
            p.send_signal(signal.SIGINT)
            out, _ = p.communicate(timeout=120)
            self.assertEqual(out, "stopped\n")
            self.assertEqual(p.returncode, 0)
            self.assertEqual(os.listdir(folder), [])

    def test_fork_in_the_middle_of_a_run(self):
        X, y = rng.random((2000, 5)), rng.integers(0, 2, 2000)
        pids = []

        def fork(*a):
            if not pids:
                pid = os.fork()
                if pid == 0:
                    os._exit(7)
                pids.append(pid)

        privet.Classifier(bounds=(0, 1), classes=[0, 1], progress=fork).fit(X, y)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pids[0], 0)[1]), 7)
        clf = privet.Classifier(bounds=(0, 1), classes=[0, 1]).fit(X, y)
        pid = os.fork()
        if pid == 0:
            os._exit(int(clf.predict(X).shape == (2000,)) + 2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 3)


class Persons(unittest.TestCase):
    """Rows of one person are one unit: groups=, or a column of the schema."""

    SAID = dict(epsilon=2.0, delta=1e-5, person_rows=4)

    def setUp(self):
        privet._ledger.forget()
        self.addCleanup(privet._ledger.forget)
        rng = np.random.default_rng(5)
        self.who, self.X = rng.integers(0, 900, 3000), rng.random((3000, 3))
        self.y = (self.X[:, 0] + 0.3 * rng.random(3000) > 0.6).astype(int)

    def test_certificates_are_of_persons(self):
        clf = privet.Classifier(bounds=(0, 1), classes=[0, 1], **self.SAID).fit(self.X, self.y, groups=self.who)
        c = clf.certificate_.json
        self.assertEqual((c["unit"], c["persons"], c["rows_per_person"]), ("person", len(set(self.who)), 4))
        self.assertNotIn("rows", c)
        self.assertTrue(clf.certificate_.verify()["verified"])
        self.assertIn("person", clf.statement_)
        self.assertGreater(clf.score(self.X, self.y), 0.7)
        self.assertGreaterEqual(privet.spent(1e-5).epsilon, 1.9)

    def test_neither_order_nor_kind_of_ids_counts(self):
        said = dict(bounds=(0, 1), classes=[0, 1], seed=3, **self.SAID)
        p = np.random.default_rng(6).permutation(3000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one = privet.Classifier(**said).fit(self.X, self.y, groups=self.who)
            two = privet.Classifier(**said).fit(self.X[p], self.y[p], groups=[str(k) for k in self.who[p]])
            rows = privet.Classifier(bounds=(0, 1), classes=[0, 1], seed=3, epsilon=2.0, delta=1e-5).fit(self.X, self.y)
        np.testing.assert_array_equal(one.coef_, two.coef_)
        self.assertFalse(np.array_equal(one.coef_, rows.coef_))

    @unittest.skipIf(pd is None or "PRIVET_COMMAND" not in os.environ, "needs pandas, and the command of a build")
    def test_command_c_and_python_write_the_same_file(self):
        rows = pd.DataFrame({"a": self.X[:, 0].round(4), "who": [f"p{k}" for k in self.who], "b": self.X[:, 1].round(4)})
        rows["y"] = np.where(self.y, "yes", "no")
        schema = privet.Schema({"a": (0, 1), "who": privet.person(rows=3), "b": (0, 1), "y": privet.label("no", "yes")})
        with tempfile.TemporaryDirectory() as folder:
            table, said, *models = (os.path.join(folder, name) for name in ("t.csv", "s.json", "python", "command", "c"))
            rows.to_csv(table, index=False)
            with open(said, "w") as f:
                f.write(schema.to_json())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                privet.Classifier(schema=schema, delta=1e-5, seed=3, curves="auto").fit(rows).save(models[0])
            words = ["--schema", said, "--delta", "1e-5", "--seed", "3", "--out", models[1], "--quiet"]
            subprocess.run([os.environ["PRIVET_COMMAND"], "train", table, *words], check=True, capture_output=True)
            self.train_by_c(table, said, models[2])
            one, *others = (pathlib.Path(name).read_bytes() for name in models)
        self.assertIn(b'"unit": "person"', one)
        for other in others:
            self.assertEqual(one, other)

    def train_by_c(self, table, schema, model):
        c = ctypes.CDLL(os.path.join(os.environ["PRIVET_BUILD"], "libprivet.so"))
        ctx, plan, result = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.assertEqual(c.pv_ctx_create(None, ctypes.byref(ctx)), 0)
        self.assertEqual(c.pv_plan_create(ctx, ctypes.byref(plan)), 0)
        for key, value in (("data.path", table), ("data.schema", schema), ("budget.delta", "1e-5"), ("run.seed", "3")):
            self.assertEqual(c.pv_plan_set(plan, key.encode(), value.encode()), 0)
        self.assertEqual(c.pv_plan_run(plan, ctypes.byref(result)), 0)
        self.assertEqual(c.pv_result_save(result, model.encode()), 0)
        c.pv_result_free(result), c.pv_plan_free(plan), c.pv_ctx_free(ctx)

    def test_refusals(self):
        clf = privet.Classifier(bounds=(0, 1), classes=[0, 1], **self.SAID)
        for groups, line in (
            (self.who[:10], "inconsistent numbers"),
            (np.where(self.who == 3, np.nan, self.who), "groups contains NaN"),
            ([None] + [str(k) for k in self.who[1:]], "an id is missing"),
        ):
            with self.assertRaisesRegex(ValueError, line):
                clf.fit(self.X, self.y, groups=groups)
        with self.assertRaisesRegex(privet.Unsupported, "person_rows=K needs none") as caught:
            select = dict(optimizer="fw-l1", set="l1ball", person_rows_share=0.1)
            privet.Classifier(bounds=(0, 1), classes=[0, 1], **select).fit(self.X, self.y, groups=self.who)
        self.assertNotIn("--", str(caught.exception))

    def test_score_per_person(self):
        clf = privet.Classifier(bounds=(0, 1), classes=[0, 1], **self.SAID).fit(self.X, self.y, groups=self.who)
        right = (clf.predict(self.X) == self.y).astype(float)
        each = [right[self.who == k].mean() for k in set(self.who.tolist())]
        self.assertAlmostEqual(clf.score(self.X, self.y, groups=self.who), np.mean(each), places=12)
        self.assertNotAlmostEqual(clf.score(self.X, self.y), np.mean(each), places=6)
        words = [f"patient {k}" for k in self.who]
        self.assertAlmostEqual(clf.score(self.X, self.y, groups=words), np.mean(each), places=12)
        first = np.r_[True, np.zeros(len(right) - 1, bool)] | (self.who != self.who[0])
        weight = np.where(first, 1.0, 0.0)  # of the first person one row alone
        each = [np.average(right[self.who == k], weights=weight[self.who == k]) for k in set(self.who.tolist())]
        self.assertAlmostEqual(clf.score(self.X, self.y, weight, groups=self.who), np.mean(each), places=12)
        with self.assertRaisesRegex(ValueError, "inconsistent numbers"):
            clf.score(self.X, self.y, groups=self.who[:9])
        said = dict(bounds=(0, 1), y_min=0, y_max=1, epsilon=5.0, delta=1e-5, person_rows=4)
        reg = privet.Regressor(**said).fit(self.X + 0, self.X[:, 0], groups=self.who)
        share = 1 / np.bincount(self.who)[self.who]
        self.assertAlmostEqual(reg.score(self.X, self.X[:, 0], groups=self.who), reg.score(self.X, self.X[:, 0], share), places=12)

    def test_rows_are_counted_with_noise(self):
        said = dict(bounds=(0, 1), classes=[0, 1], epsilon=5.0, delta=1e-5)
        most = privet.Classifier(**said).fit(self.X, self.y, groups=self.who).certificate_
        self.assertEqual(most.json["rows_per_person"], 64)
        clf = privet.Classifier(unit_weight="rows", person_rows_most=9, **said).fit(self.X, self.y, groups=self.who)
        found, c = clf.certificate_.verify(), clf.certificate_.json
        self.assertEqual(len(c["releases"][-1]["counts"]), 9)
        self.assertTrue(1 <= c["rows_per_person"] <= 9)
        sizes = np.unique(self.who, return_counts=True)[1]
        rows = np.minimum(sizes, c["rows_per_person"]).sum()
        self.assertLess(abs(found["rows_counted"] - rows), 6 * found["rows_counted_error"])

    def test_an_ended_run_counts_persons(self):
        from privet._estimators import _units

        schema = privet.Schema({"who": privet.person(), "a": (0, 1)})
        self.assertEqual(_units(3000, None, [1, 1, 2], {}), (2, "person"))
        self.assertEqual(_units(3000, schema, None, {}), (0, "person"))
        self.assertEqual(_units(3000, None, None, {"data.person": "1"}), (0, "person"))
        self.assertEqual(_units(3000, None, None, {}), (3000, "row"))

    def test_forged_units_are_refused(self):
        import hashlib

        def said_otherwise(c, old, new):
            body = c.text[: c.text.rindex(',\n  "checksum"')].replace(old, new)
            self.assertNotEqual(c.text.find(old), -1)
            checksum = hashlib.blake2b(body.encode(), digest_size=32).hexdigest()
            return f'{body},\n  "checksum": "{checksum}"\n}}\n'.encode()

        said = dict(bounds=(0, 1), classes=[0, 1, 2], model="softmax", epsilon=1.0, delta=1e-5)
        rows = privet.Classifier(**said).fit(self.X, self.y).certificate_
        persons = privet.Classifier(person_rows=4, **said).fit(self.X + 0, self.y, groups=self.who).certificate_
        self.assertTrue(privet.verify(said_otherwise(persons, '"auto"', '"auto"'))["verified"])
        for c, old, new, line in (
            (rows, '"data.person_rows": "auto"', '"data.person_rows": 2', "unit says otherwise"),
            (rows, '"unit.combine": "mean"', '"unit.combine": "sum"', "unit says that there are none"),
            (persons, '"unit.combine": "mean"', '"unit.combine": "sum"', "what is clipped of the others"),
            (persons, '"unit.weight": "one"', '"unit.weight": "rows"', "what is clipped of the others"),
            (rows, '"data.persons": "auto"', '"data.persons": 3000', "unit says otherwise"),
            (rows, '"data.person": null', '"data.person": "id"', "unit says otherwise"),
            (persons, '"data.rows": "auto"', '"data.rows": 900', "unit says otherwise"),
            (persons, '"model": "softmax"', '"model": "split-mlp"', "no proof for persons"),
            (persons, '"rows_per_person": 4', '"rows_per_person": 3', "rows_per_person"),
        ):
            with self.assertRaisesRegex(privet.VerificationError, line):
                privet.verify(said_otherwise(c, old, new))

    def test_units_are_not_mixed(self):
        said = dict(bounds=(0, 1), classes=[0, 1], epsilon=1.0, delta=1e-5)
        rows = privet.Classifier(**said).fit(self.X, self.y)
        persons = privet.Classifier(person_rows=4, **said).fit(self.X + 0, self.y, groups=self.who)
        self.assertGreater(privet.compose(persons, persons, delta=1e-5), 1.0)
        with self.assertRaisesRegex(privet.Unsupported, "others rows"):
            privet.compose(rows, persons, delta=1e-5)
        with self.assertRaisesRegex(privet.Unsupported, "others rows"):
            privet.spent()


class Additive(unittest.TestCase):
    """Sums of curves: what they say of columns and rows, and refusals."""

    @classmethod
    def setUpClass(cls):
        rng = np.random.default_rng(1)
        cls.X = np.c_[rng.random(3000), rng.random(3000)]
        cls.y = (np.abs(cls.X[:, 0] - 0.5) < 0.25).astype(int)
        columns = {"a": privet.number(0, 1), "b": privet.number(0, 1, knots=[0, 0.5, 1], monotone="down")}
        cls.clf = privet.AdditiveClassifier(schema=columns, classes=[0, 1], epsilon=4.0, optimizer="pgd").fit(cls.X, cls.y)

    def test_parts_add_up(self):
        for row in self.X[:5]:
            said = self.clf.explain(list(row))
            total = said["base"][0] + sum(c["effect"][0] for c in said["columns"])
            self.assertAlmostEqual(total, float(self.clf.decision_function(row[None])[0]), places=4)
            self.assertEqual(said, self.clf.explain({"a": row[0], "b": row[1]}))

    def test_curves(self):
        columns = {c["name"]: c for c in self.clf.curves_["columns"]}
        self.assertEqual(self.clf.curves_["columns"][0]["name"], "a")  # which the label depends on
        self.assertEqual(columns["b"]["at"], [0, 0.5, 1])
        effect = columns["b"]["effect"][0]
        self.assertEqual(effect, sorted(effect, reverse=True))
        self.assertGreater(self.clf.curves_["noise_at_most"], 0)
        self.assertIn("makes of each column", self.clf.report())

    def test_after_a_file(self):
        again = privet._estimators.of_bytes(self.clf._ready().to_bytes())
        self.assertEqual(again.curves_, self.clf.curves_)
        self.assertEqual(again.explain([0.5, 0.5]), self.clf.explain([0.5, 0.5]))

    def test_what_is_no_sum_of_curves_is_refused_before_it_costs(self):
        for given in ({"curves": "off"}, {"model": "mlp"}, {"optimizer": "tr"}):
            with self.subTest(given=given), self.assertRaises(privet.InvalidInput):
                privet.AdditiveClassifier(bounds=(0, 1), classes=[0, 1], **given).fit(self.X, self.y)
        with self.assertRaises(privet.InvalidInput):
            privet.AdditiveClassifier(bounds="row-norm", classes=[0, 1]).fit(self.X, self.y)

    def test_refusals(self):
        with self.assertRaisesRegex(privet.InvalidInput, "none is given of b"):
            self.clf.explain({"a": 0.5})
        with self.assertRaisesRegex(privet.InvalidInput, "no column 'c'"):
            self.clf.explain({"a": 0.5, "b": 0.5, "c": 1})
        with self.assertRaisesRegex(privet.InvalidInput, "one row, not 3000"):
            self.clf.explain(self.X)
        line = privet.LogisticRegression(bounds=(0, 1), classes=[0, 1]).fit(self.X, self.y)
        for ask in (lambda: line.curves_, lambda: line.explain([0.5, 0.5])):
            with self.assertRaisesRegex(privet.Unsupported, "no curves"):
                ask()
        with self.assertRaisesRegex(privet.InvalidInput, "monotone"):
            privet.AdditiveClassifier(schema={"a": privet.number(0, 1, monotone="rising")}, classes=[0, 1]).fit(self.X[:, :1], self.y)


if __name__ == "__main__":
    unittest.main()
