"""What is given by mistake: a clear error that names it, and never shows rows."""

import os
import pathlib
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

rng = np.random.default_rng(8)
X = rng.random((300, 3))
Y = (X[:, 0] > 0.5).astype(int)
SAID = dict(bounds=(0, 1), classes=[0, 1], progress=False)


def rows():
    """Rows of people in all the forms in which they are given by mistake."""
    out = [X, X[:, 0], [X], X.tolist(), "\n".join(str(r) for r in X)]
    if pd is not None:
        out += [pd.DataFrame(X, columns=list("abc")), pd.Series(X[:, 0])]
    return out


class Numbers(unittest.TestCase):
    def test_releases_are_repeated_a_whole_number_of_times(self):
        step = privet.Event.gaussian(1.1)
        for times in (1.999, 0.5, -1, float("nan"), float("inf"), np.float64(2.5), "2", None):
            with self.assertRaisesRegex(privet.InvalidSetting, "times.*whole"):
                step * times
            with self.assertRaisesRegex(privet.InvalidSetting, "parts.*whole"):
                privet.Event.cyclic(times, step)
        with self.assertRaisesRegex(ValueError, "times=1.5"):
            1.5 * step
        for times in (3, 3.0, np.int64(3), np.float32(3)):
            self.assertEqual((step * times).json["times"], 3)
        self.assertEqual((step * 0).epsilon(1e-5), 0.0)

    def test_numbers_that_are_none_are_named(self):
        nan = float("nan")
        for word in ("noise_multiplier", "sample_rate", "steps", "delta"):
            said = {"noise_multiplier": 1.1, "sample_rate": 0.01, "steps": 10, "delta": 1e-5, word: nan}
            with self.assertRaisesRegex(privet.InvalidSetting, f"{word}=nan"):
                privet.account(**said)
        with self.assertRaisesRegex(privet.InvalidSetting, "delta=nan"):
            privet.calibrate(epsilon=1.0, delta=np.array([1e-5, nan]))
        with self.assertRaisesRegex(privet.InvalidSetting, "epsilon=inf"):
            privet.calibrate(epsilon=float("inf"), delta=1e-5)
        with self.assertRaisesRegex(privet.InvalidSetting, "noise_multiplier=nan"):
            privet.Event.gaussian(nan)
        with self.assertRaisesRegex(privet.InvalidSetting, "rate=nan"):
            privet.Event.poisson(nan, privet.Event.gaussian(1))


class Settings(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")

    def refused(self, call, pattern):
        """With a message that has none of the rows in it."""
        with self.assertRaisesRegex((ValueError, TypeError), pattern) as caught:
            call()
        said = str(caught.exception)
        self.assertLess(len(said), 400)
        for v in X[:3].ravel().tolist() + X[-3:].ravel().tolist():
            self.assertNotIn(f"{v:.4f}"[:-1], said)
        self.assertIsNone(caught.exception.__cause__)

    def test_rows_as_a_setting_are_refused_by_name(self):
        for word in privet.Classifier._keywords:
            for wrong in rows():
                self.refused(lambda: privet.Classifier(**{**SAID, word: wrong}).fit(X, Y), f"^{word}: ")
        self.refused(lambda: privet.Classifier(**SAID, holdout=X).fit(X, Y), "^holdout: the path of a file is needed, not a value of type ndarray")
        for wrong in rows():
            self.refused(lambda: privet.NetworkClassifier(**SAID, layers=wrong).fit(X, Y), "^model_layers: ")
            self.refused(lambda: privet.Regressor(bounds=(0, 1), y_min=wrong, y_max=1).fit(X, Y), "^y_min: ")

    def test_rows_as_a_declaration_are_refused(self):
        for wrong in rows():
            self.refused(lambda: privet.Classifier(bounds=wrong).fit(X, Y), "^bounds")
            self.refused(lambda: privet.Classifier(schema=wrong).fit(X, Y), "^schema")
            if not isinstance(wrong, list):
                self.refused(lambda: privet.Schema({"a": wrong}), 'column "a"')
            said = repr(privet.Classifier(bounds=wrong, schema=wrong, holdout=wrong, epsilon=wrong)) if not isinstance(wrong, list) else ""
            self.assertNotIn(f"{X[0, 0]:.4f}", said)
        for wrong in (X, "no,yes", Y, 3, {"no", "yes"}):
            self.refused(lambda: privet.Classifier(bounds=(0, 1), classes=wrong).fit(X, Y), "^classes: ")
        for wrong in (None, 3, ["a"]):
            with self.assertRaisesRegex(TypeError, "a dict of columns is needed"):
                privet.Schema(wrong)

    def test_lists_are_joined(self):
        for layers in (["dense4", "relu", "dense"], ("dense4", "relu", "dense"), np.array(["dense4", "relu", "dense"])):
            for factors in ([1, 0.5], (1, 0.5), np.array([1, 0.5])):
                net = privet.NetworkClassifier(**SAID, layers=layers, reg="l2", reg_layers=factors, reg_lambda=0.01, optimizer_steps=2)
                said = net.fit(X, Y)._fitted.settings()
                self.assertEqual((said["model.layers"], said["reg.layers"]), ("dense4,relu,dense", "1,0.5"))
        with tempfile.TemporaryDirectory() as folder:
            held = pathlib.Path(folder) / "held.csv"
            held.write_text("a,label\n0.2,no\n0.8,yes\n")
            schema = {"a": (0, 1), "label": privet.label("no", "yes")}
            out = privet.Classifier(schema=schema, holdout=held, measure=["loss", "accuracy"], log=str(held) + ".log")
            table = np.array([[0.2, "no"], [0.8, "yes"]] * 100, object)
            out.fit(table[:, :1].astype(float), table[:, 1])
            self.assertTrue(os.path.getsize(str(held) + ".log") > 0)

    def test_bounds_of_another_number_of_columns(self):
        for wrong in (([0, 0], [1, 1]), (0, [1, 1]), (np.zeros(2), 1)):
            with self.assertRaisesRegex(privet.InvalidInput, r"2 number\(s\), and X has 3 column"):
                privet.Classifier(**{**SAID, "bounds": wrong}).fit(X, Y)
        self.assertEqual(privet.Classifier(**{**SAID, "bounds": (0, [1, 1, 2])}).fit(X, Y).n_features_in_, 3)
        with self.assertRaisesRegex(privet.InvalidInput, "minimum is no number"):
            privet.Classifier(**{**SAID, "bounds": ("a", "b")}).fit(X, Y)

    def test_files_that_are_not_there(self):
        with tempfile.TemporaryDirectory() as folder:
            missing = os.path.join(folder, "nope")
            for call in (privet.load, privet.verify, privet.Schema.of):
                with self.assertRaises(FileNotFoundError) as caught:
                    call(missing)
                self.assertIsInstance(caught.exception, privet.FileError)
                self.assertIn(missing, str(caught.exception))
                again = pickle.loads(pickle.dumps(caught.exception))
                self.assertIsInstance(again, FileNotFoundError)
                with self.assertRaises(privet.FileError) as caught:
                    call(folder)
                self.assertIsInstance(caught.exception, IsADirectoryError)


class Rows(unittest.TestCase):
    SCHEMA = {"a": (0, 1), "b": (0, 1), "label": privet.label("no", "yes")}

    def setUp(self):
        warnings.simplefilter("ignore")

    def test_a_path(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.csv")
            with open(path, "w") as f:
                f.write("a,b,label\n" + "".join(f"{a:.3f},{b:.3f},{'yes' if a > 0.5 else 'no'}\n" for a, b, _ in X))
            clf = privet.Classifier(schema=self.SCHEMA).fit(path)
            self.assertEqual(clf.evaluate(path)["rows"], len(X))
            self.assertIsNone(clf.report(os.path.join(folder, "page.html"), path))
            self.assertIn("<html", clf.report(None, path))
            for call in (clf.predict, clf.predict_proba, clf.decision_function):
                with self.assertRaisesRegex(privet.InvalidInput, "X is a path.*in memory"):
                    call(path)
            for y in (None, Y):
                with self.assertRaisesRegex(privet.InvalidInput, r"X is a path.*evaluate\(path\)"):
                    clf.score(path, y)

    def test_text_is_no_path(self):
        clf = privet.Classifier(schema=self.SCHEMA)
        with self.assertRaises(privet.InvalidInput) as caught:
            clf.fit("a,b,label\n0.123,0.5,no\n")
        self.assertNotIn("0.123", str(caught.exception))

    def test_score_without_labels(self):
        clf = privet.Classifier(**SAID).fit(X, Y)
        reg = privet.Regressor(bounds=(0, 1), y_min=0, y_max=1).fit(X, Y)
        for est in (clf, reg):
            with self.assertRaisesRegex(privet.InvalidInput, "y is needed"):
                est.score(X)
            self.assertLessEqual(est.score(X, Y), 1.0)

    @unittest.skipIf(pd is None, "pandas is not installed")
    def test_a_series(self):
        one = pd.Series(X[:, 0], name="a")
        for said in (SAID, {}, {**SAID, "bounds": "row-norm"}, dict(bounds="from-data"), dict(schema={"a": (0, 1)}, classes=[0, 1])):
            with self.assertRaisesRegex(privet.InvalidInput, r"got 1D array.*Series.*to_frame\(\)"):
                privet.Classifier(**said).fit(one, Y)
            with self.assertRaisesRegex(privet.InvalidInput, "got 1D array.*reshape"):
                privet.Classifier(**said).fit(X[:, 0], Y)
        clf = privet.Classifier(**SAID).fit(one.to_frame(), Y)
        for call in (clf.predict, clf.evaluate):
            with self.assertRaisesRegex(privet.InvalidInput, "got 1D array.*Series"):
                call(one)
        table = one.to_frame().assign(label=np.where(Y > 0, "yes", "no"))
        clf = privet.Classifier(schema={"a": (0, 1), "label": privet.label("no", "yes")}).fit(table)
        self.assertEqual(clf.score(table), clf.score(table[["a"]], table["label"]))


class Odd(unittest.TestCase):
    """What a hostile or hurried caller hands over."""

    def setUp(self):
        warnings.simplefilter("ignore")

    def test_memory_that_is_not_aligned(self):
        bytes_ = np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:]
        odd = bytes_.view(np.float64).reshape(X.shape)
        self.assertFalse(odd.flags.aligned)
        want = privet.Classifier(seed=1, **SAID).fit(X, Y).coef_
        np.testing.assert_array_equal(privet.Classifier(seed=1, **SAID).fit(odd, Y).coef_, want)

    def test_a_model_made_of_nothing(self):
        made = type(privet.Classifier(**SAID).fit(X, Y)._fitted._model)
        with self.assertRaisesRegex(TypeError, "run or load"):
            made()

    def test_places_of_texts(self):
        places = privet._rows.factorize
        for words in (["no", "yes"], ["a"], ["x", "xx", "xxx", ""], [chr(65 + k) for k in range(16)], [chr(65 + k) for k in range(40)], ["größe", "日"]):
            for order in "<>":
                a = np.array(words)[rng.integers(0, len(words), 500)].astype(order + "U5")
                for b in (a, a[::2], a[::-1], a[:1], a[:0]):
                    codes, found = places("y", b)
                    self.assertEqual([found[c] for c in codes], b.tolist())
                    self.assertEqual(len(set(found)), len(found))
        codes, found = places("y", np.array(["", ""]))
        self.assertEqual((list(codes), found), ([0, 0], [""]))

    def test_text_that_is_none(self):
        for word in ("a\0b", "\ud800"):
            for call in (
                lambda: privet.Schema({word: (0, 1)}),
                lambda: privet.Schema({"a": ["b", word]}),
                lambda: privet.Schema({"a": [{"b": [word]}]}),
                lambda: privet.Classifier(**{**SAID, "classes": ["v", word]}).fit(X, Y),
                lambda: privet.Classifier(**{**SAID, "classes": ["v", "w"]}).fit(X, np.array(["v", word] * 150, object)),
                lambda: privet.Classifier(person_rows=3, **SAID).fit(X, Y, groups=np.array(["v", word] * 150, object)),
            ):
                with self.assertRaisesRegex(privet.InvalidInput, "no text in UTF-8"):
                    call()

    def test_keywords_of_a_subclass(self):
        class Mine(privet.Classifier):
            def __init__(self, extra=3, **said):
                super().__init__(**said)
                self.extra = extra

        self.assertEqual(Mine(extra=4, epsilon=2).get_params()["extra"], 4)
        self.assertEqual(Mine().set_params(extra=5).extra, 5)
        self.assertNotIn("extra", privet.Classifier().get_params())
        self.assertNotIn("self", Mine().get_params())

    def test_the_path_of_a_file_needs_a_schema(self):
        with self.assertRaisesRegex(privet.InvalidInput, "schema declares"):
            privet.Classifier(**SAID).fit("rows.csv")

    @unittest.skipIf(pd is None, "pandas is not installed")
    def test_names_of_columns(self):
        twice = pd.DataFrame(X, columns=["a", "b", "a"])
        for bounds in ((0, 1), "from-data", {"a": (0, 1), "b": (0, 1)}):
            with self.assertRaisesRegex(privet.InvalidInput, "same name"):
                privet.Classifier(**{**SAID, "bounds": bounds}).fit(twice, Y)
        levels = pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("u", "a"), ("u", "b"), ("v", "a")]))
        for given in (SAID, {"schema": {"a": (0, 1), "b": (0, 1), "c": (0, 1)}}, {}):
            with self.assertRaisesRegex(TypeError, "several levels"):
                privet.Classifier(**given).fit(levels, Y)

    @unittest.skipIf(pd is None, "pandas is not installed")
    def test_dates_as_objects(self):
        import datetime

        day = [datetime.date(2024, 1, 1) + datetime.timedelta(k) for k in range(300)]
        zone = datetime.timezone(datetime.timedelta(hours=9))
        time = [datetime.datetime(2024, 1, 1, 9, tzinfo=zone) + datetime.timedelta(k) for k in range(300)]  # midnight in UTC
        schema = {"day": privet.date("2024-01-01", "2024-12-31")}
        want = privet.Classifier(schema=schema, seed=1).fit(pd.DataFrame({"day": pd.to_datetime(day)}), Y).coef_
        for given in (day, time, [pd.Timestamp(d) for d in day]):
            got = privet.Classifier(schema=schema, seed=1).fit(pd.DataFrame({"day": np.array(given, object)}), Y).coef_
            np.testing.assert_array_equal(got, want)
        hole = pd.DataFrame({"day": np.array([None, *day[1:]], object)})
        with self.assertRaisesRegex(ValueError, "no value"):
            privet.Classifier(schema=schema).fit(hole, Y)
        with self.assertRaisesRegex(TypeError, "mixes date and text"):
            privet.Classifier(schema=schema).fit(pd.DataFrame({"day": np.array(["2024-01-01", *day[1:]], object)}), Y)
        with self.assertRaisesRegex(TypeError, "holds values of type"):
            privet.Classifier(schema=schema).fit(pd.DataFrame({"day": pd.interval_range(0, 300)}), Y)


if __name__ == "__main__":
    unittest.main()
