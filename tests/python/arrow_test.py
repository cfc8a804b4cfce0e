"""Tables of polars, pyarrow and DuckDB through their Arrow streams give the weights that the same pandas frame gives."""

import importlib.util
import logging
import os
import tempfile
import unittest
import warnings

import numpy as np

import privet

rng = np.random.default_rng(2)
N = 1000
COLUMNS = {"age": rng.integers(0, 100, N), "ward": rng.choice(np.array(["surgery", "medicine"], object), N).tolist()}
COLUMNS["back"] = np.where(COLUMNS["age"] > 50, "yes", "no").tolist()
SCHEMA = privet.Schema({"age": (0, 100), "ward": ["surgery", "medicine"], "back": privet.label("no", "yes")})


def have(*names):
    missing = [n for n in names if importlib.util.find_spec(n) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


class Streams(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore", privet.PrivacyWarning)
        logging.getLogger("privet").setLevel(logging.ERROR)
        import pandas

        self.frame = pandas.DataFrame(COLUMNS)
        self.want = self.fit(self.frame).coef_

    def fit(self, table, **more):
        return privet.Classifier(schema=SCHEMA, seed=3, **more).fit(table)

    def same(self, table):
        clf = self.fit(table)
        np.testing.assert_array_equal(clf.coef_, self.want)
        np.testing.assert_array_equal(clf.predict(table), clf.predict(self.frame))
        self.assertEqual(clf.predict_proba(table).shape, (N, 2))
        return clf

    @have("polars")
    def test_polars(self):
        import polars

        df = polars.DataFrame(COLUMNS)
        clf = self.same(df)
        self.assertGreater(clf.score(df, df["back"]), 0.9)
        self.same(df.with_columns(polars.col("ward").cast(polars.Categorical)))
        with self.assertRaisesRegex(ValueError, "outside the declared"):
            self.fit(df.with_columns(polars.col("age") + 1000))

    @have("pyarrow")
    def test_pyarrow(self):
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.table(COLUMNS)
        self.same(table)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "t.parquet")
            pyarrow.parquet.write_table(table, path)
            self.same(pyarrow.parquet.read_table(path))
        reader = table.to_reader()
        np.testing.assert_array_equal(self.fit(reader).coef_, self.want)
        with self.assertRaisesRegex(ValueError, "number of rows is not known"):
            self.fit(table).predict(table.to_reader())

    @have("duckdb")
    def test_duckdb(self):
        import duckdb

        frame = self.frame  # noqa: F841  seen by the query
        relation = duckdb.sql("select * from frame")
        np.testing.assert_array_equal(self.fit(relation).coef_, self.want)
        self.assertEqual(len(self.fit(relation).predict(relation)), N)

    @have("pyarrow")
    def test_arrow_backed_pandas(self):
        import pandas
        import pyarrow

        self.same(self.frame.astype({"ward": pandas.ArrowDtype(pyarrow.string()), "age": pandas.ArrowDtype(pyarrow.int64())}))


if __name__ == "__main__":
    unittest.main()
