"""Frames that nobody would write, by hypothesis: an exception of privet's, of type ValueError or TypeError, or a model."""

import logging
import os
import unittest
import warnings

import numpy as np

import privet

try:
    import pandas as pd
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st
except ImportError:
    st = None
else:
    examples = settings(
        max_examples=int(os.environ.get("PRIVET_EXAMPLES", "300")), deadline=None, suppress_health_check=list(HealthCheck), database=None
    )


@unittest.skipIf(st is None, "hypothesis or pandas is not installed")
class Frames(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        logging.getLogger("privet").setLevel(logging.CRITICAL)

    def test_never_a_crash(self):
        value = st.one_of(
            st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=5), st.binary(max_size=3),
            st.sampled_from([np.float32(1), np.int8(3), pd.NaT, pd.NA, pd.Timestamp("2024-01-01"), (1,), [], {}]),
        )  # fmt: skip
        column = st.one_of(st.lists(value, min_size=4, max_size=4), st.lists(st.floats(), min_size=4, max_size=4))
        kind = st.sampled_from([None, "category", "string", "object", "Int64", "float32", "datetime64[ns]"])
        declared = st.sampled_from([(0, 1), ["a", "b"], None, privet.date("2020-01-01", "2024-12-31"), privet.number(0, 9, missing="zero")])

        @examples
        @given(column, kind, declared, column)
        def attempt(values, dtype, said, labels):
            try:
                df = pd.DataFrame({"x": pd.Series(values, dtype=dtype) if dtype else values})
            except Exception:
                return
            clf = privet.Classifier(schema={"x": said, "z": (0, 1)}, delta=0.1, epsilon=1.0)
            df["z"] = 0.5
            try:
                clf.fit(df, labels).predict(df)
            except (ValueError, TypeError):
                pass

        attempt()

    def test_other_rows_than_those_of_the_fit(self):
        rng = np.random.default_rng(0)
        df = pd.DataFrame({"x": rng.random(50), "w": rng.choice(np.array(["a", "b"], object), 50)})
        clf = privet.Classifier(schema={"x": (0, 1), "w": ["a", "b"], "y": privet.label(0, 1)}, outside="missing").fit(df, np.arange(50) % 2)
        reg = privet.Regressor(bounds=(0, 1), y_min=0, y_max=1, outside="clamp").fit(df[["x"]], df["x"])
        value = st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.sampled_from(["a", "b", "c", pd.NA]))
        names = st.lists(st.sampled_from(["x", "w", "y", "z", 0, "x0"]), max_size=4)
        kind = st.sampled_from([None, "float16", "complex64", "U3", "S2", "object", "bool", "uint64", ">f8", "datetime64[s]", "V4"])

        @examples
        @given(names, st.lists(value, max_size=12), kind, st.booleans())
        def attempt(columns, values, dtype, as_array):
            k = max(len(columns), 1)
            cells = np.array(values[: len(values) // k * k] + [None], object)[:-1].reshape(-1, k)
            try:
                cells = cells if dtype is None else cells.astype(dtype)
                rows = cells if as_array else pd.DataFrame(cells, columns=columns or None)
            except Exception:
                return
            for est in (clf, reg):
                for call in (est.predict, est.score, lambda r: est.evaluate(r, np.zeros(len(r)))):
                    try:
                        call(rows)
                    except (ValueError, TypeError):
                        pass

        attempt()

    def test_keywords(self):
        X, y = np.random.default_rng(0).random((40, 2)), np.arange(40) % 2
        words = sorted(set(privet.Classifier()._get_param_names()) - {"log", "key_path", "optimizer_steps", "optimizer_passes", "optimizer_epochs"})
        value = st.one_of(
            st.none(), st.booleans(), st.integers(-2, 40), st.floats(), st.text(max_size=6), st.lists(st.floats(), max_size=3),
            st.sampled_from(["auto", "tr", "adam", "poisson", "replace", "off", "l2", "l1ball", "clamp", "mlp", X, {}, (0, 1), [0, 1]]),
        )  # fmt: skip

        @examples
        @given(st.dictionaries(st.sampled_from(words), value, max_size=3))
        def attempt(said):
            given_ = {"bounds": (0, 1), "classes": [0, 1], "threads": 1, "optimizer_steps": 3, **said}
            try:
                privet.Classifier(**given_).fit(X, y)
            except (ValueError, TypeError, OSError):
                pass

        attempt()


if __name__ == "__main__":
    unittest.main()
