"""tables_data.py - the tables of tables.py: columns as numbers, what is declared of them, and splits.

A number is a float (NaN: missing), a category the index of a declared value (-1: missing), a label the index of a class or a
float.  Bounds and values come from the public descriptions of the tables, not from rows; every method is given the same."""

import csv
import dataclasses
import gzip
import io
import json
import os

import numpy as np


@dataclasses.dataclass
class Column:
    name: str
    low: float = 0.0
    high: float = 1.0
    values: list = None  # of a category
    missing: bool = False  # may a number be?

    def read(self, texts):
        if self.values is not None:
            code = {v: i for i, v in enumerate(self.values)}
            return np.array([code.get(t, -1) for t in texts])
        return np.clip([float(t) if t else np.nan for t in texts], self.low, self.high)

    def declared(self):
        if self.values is not None:
            return {"name": self.name, "type": "category", "values": self.values}
        missing = {"missing": "middle"} if self.missing else {}
        return {"name": self.name, "type": "number", "min": self.low, "max": self.high, **missing}


@dataclasses.dataclass
class Table:
    name: str
    columns: list
    x: list  # an array for each column
    label: Column
    y: np.ndarray
    official: int = 0  # rows to train on, first in the table; 0: random splits

    def split(self, s):
        """Row numbers to train on and to test on."""
        n = len(self.y)
        if self.official:
            return np.arange(self.official), np.arange(self.official, n)
        order = np.random.RandomState(s).permutation(n)
        return np.sort(order[n // 5 :]), np.sort(order[: n // 5])

    def part(self, rows):
        return Table(self.name, self.columns, [x[rows] for x in self.x], self.label, self.y[rows])

    @property
    def classes(self):
        return len(self.label.values) if self.label.values else 0

    def schema(self):
        if self.classes:
            label = {"name": self.label.name, "type": "label", "values": self.label.values}
        else:
            label = {"name": self.label.name, "type": "label", "min": self.label.low, "max": self.label.high}
        return json.dumps({"columns": [c.declared() for c in self.columns] + [label]})

    def write(self, path):
        """As CSV."""

        def texts(c, x):
            if c.values is not None:
                return np.array(c.values + [""], dtype=object)[x]
            return ["" if v != v else repr(v) for v in x.tolist()]

        fields = [texts(c, x) for c, x in zip(self.columns + [self.label], self.x + [self.y])]
        with open(path, "w", newline="") as f:
            out = csv.writer(f)
            out.writerow([c.name for c in self.columns] + [self.label.name])
            out.writerows(zip(*fields))


def lines(*path):
    path = os.path.join(os.environ["PRIVET_DATA"], *path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"no {path}: set PRIVET_DATA to the folder with the public data sets")
    with gzip.open(path, "rt") as f:
        return list(csv.reader(io.StringIO(f.read()), skipinitialspace=True))


def table(name, columns, label, rows, official=0):
    """From rows of text, one for each column and the label last."""
    fields = list(zip(*rows))
    return Table(name, columns, [c.read(t) for c, t in zip(columns, fields)], label, label.read(fields[-1]), official)


def adult(name):
    job = "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners Machine-op-inspct \
        Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces"
    school = "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters 1st-4th 10th \
        Doctorate 5th-6th Preschool"
    work = "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked"
    marital = "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse"
    country = "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan Greece South \
        China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France Dominican-Republic \
        Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador \
        Trinadad&Tobago Peru Hong Holand-Netherlands"
    columns = [
        Column("age", 17, 90),
        Column("workclass", values=work.split()),
        Column("fnlwgt", 0, 1500000),
        Column("education", values=school.split()),
        Column("education-num", 1, 16),
        Column("marital-status", values=marital.split()),
        Column("occupation", values=job.split()),
        Column("relationship", values="Wife Own-child Husband Not-in-family Other-relative Unmarried".split()),
        Column("race", values="White Asian-Pac-Islander Amer-Indian-Eskimo Other Black".split()),
        Column("sex", values=["Female", "Male"]),
        Column("capital-gain", 0, 99999),
        Column("capital-loss", 0, 5000),
        Column("hours-per-week", 1, 99),
        Column("native-country", values=country.split()),
    ]
    train = [r for r in lines("adult", "adult.data.gz") if len(r) == 15]
    rows = train + [r for r in lines("adult", "adult.test.gz") if len(r) == 15]
    rows = [r[:-1] + [r[-1].rstrip(".")] for r in rows]
    return table(name, columns, Column("income", values=["<=50K", ">50K"]), rows, len(train) if "official" in name else 0)


def telco(name):
    head, *rows = lines("tables", "telco_churn.csv.gz")
    number = {"tenure": (0, 72, False), "MonthlyCharges": (0, 120, False), "TotalCharges": (0, 9000, True)}
    three = {"MultipleLines": "No phone service", "InternetService": "DSL|Fiber optic"}
    three.update(dict.fromkeys("OnlineSecurity OnlineBackup DeviceProtection TechSupport StreamingTV StreamingMovies".split(),
                               "No internet service"))
    values = {
        "gender": ["Female", "Male"],
        "SeniorCitizen": ["0", "1"],
        "Contract": ["Month-to-month", "One year", "Two year"],
        "PaymentMethod": ["Electronic check", "Mailed check", "Bank transfer (automatic)", "Credit card (automatic)"],
    }
    columns = []
    for h in head[1:-1]:
        if h in number:
            low, high, missing = number[h]
            columns.append(Column(h, low, high, missing=missing))
        else:
            columns.append(Column(h, values=values.get(h, ["Yes", "No"] if h != "InternetService" else ["No"])
                                  + (three[h].split("|") if h in three else [])))
    return table(name, columns, Column("Churn", values=["No", "Yes"]), [[t.strip() for t in r[1:]] for r in rows])


def housing(name):
    rows = lines("tables", "california_housing.csv.gz")[1:]
    sea = ["<1H OCEAN", "INLAND", "ISLAND", "NEAR BAY", "NEAR OCEAN"]
    columns = [
        Column("longitude", -125, -114),
        Column("latitude", 32, 42),
        Column("housing_median_age", 0, 52),
        Column("total_rooms", 0, 40000),
        Column("total_bedrooms", 0, 6500, missing=True),
        Column("population", 0, 36000),
        Column("households", 0, 6100),
        Column("median_income", 0, 15),
        Column("ocean_proximity", values=sea),
    ]
    rows = [r[:8] + [r[9], r[8]] for r in rows]
    t = table(name, columns, Column("median_house_value", 0, 500001), rows)
    if "unit" in name:  # the label as -1 .. 1
        t.y, t.label = t.y / 250000.5 - 1, Column("value", -1, 1)
    return t


def letter(name):
    head, *rows = lines("tables", "letter.csv.gz")
    columns = [Column(h, 0, 15) for h in head[1:]]
    return table(name, columns, Column("letter", values=[chr(65 + i) for i in range(26)]), [r[1:] + r[:1] for r in rows])


def covertype(name):
    """Type 2 or not; the 44 columns of zeros and ones are two categories, an area of four and a soil of forty."""
    path = os.path.join(os.environ["PRIVET_DATA"], "covtype", "covtype.data.gz")
    if not os.path.exists(path):
        raise FileNotFoundError(f"no {path}: set PRIVET_DATA to the folder with the public data sets")
    with gzip.open(path) as f:
        text = f.read()
    x = np.array(text.replace(b"\n", b",").rstrip(b",").split(b","), dtype=np.int32).reshape(-1, 55)
    names = "elevation aspect slope hydrology_away hydrology_above roads_away shade_9am shade_noon shade_3pm fire_away"
    low, high = [1859, 0, 0, 0, -173, 0, 0, 0, 0, 0], [3858, 360, 66, 1397, 601, 7117, 254, 254, 254, 7173]
    columns = [Column(h, a, b) for h, a, b in zip(names.split(), low, high)]
    columns += [Column("area", values=[f"a{i}" for i in range(4)]), Column("soil", values=[f"s{i}" for i in range(40)])]
    fields = [x[:, i].astype(float) for i in range(10)] + [x[:, 10:14].argmax(1), x[:, 14:54].argmax(1)]
    return Table(name, columns, fields, Column("type", values=["other", "2"]), (x[:, 54] == 2).astype(int))


# ---- tables made up with known curves -------------------------------------------------------------------------------

SHAPES = [
    lambda u: np.sin(2 * np.pi * u),
    lambda u: 2.0 * (u > 0.35) - 1,
    lambda u: 1 - 8 * (u - 0.5) ** 2,
    lambda u: 2 * u - 1,
    lambda u: 4 * np.abs(u - 0.4) - 1,
    lambda u: np.tanh(12 * (u - 0.6)),
    lambda u: 0 * u,
    lambda u: 1.5 * np.exp(-200 * (u - 0.2) ** 2) - 0.5,
]


def drawn(rng, n):
    """Values of a number in 0..1 and where its curve takes them: even, towards one end, far below its bound, or in steps."""
    kind = rng.randint(4)
    if kind == 0:
        u = rng.uniform(size=n)
        return u, u
    if kind == 1:
        u = rng.beta(2, 5, size=n)
        return u, np.clip(u / 0.7, 0, 1)
    if kind == 2:  # most values within a tenth of the declared bounds
        v = np.minimum(rng.exponential(0.06, size=n), 1)
        return v, 1 - np.exp(-v / 0.06)
    u = np.floor(rng.uniform(size=n) * 12) / 11
    return u, u


def made_up(name, rows, numbers, seed, real=False):
    """Two categories of five values and so many numbers; the label by the sum of their curves, of standard deviation 2."""
    rng = np.random.RandomState(seed)
    columns, fields, score = [], [], 0.0
    for j in range(numbers):
        v, u = drawn(rng, rows)
        columns.append(Column(f"x{j}", 0, 100))
        fields.append(np.round(100 * v, 4))
        score = score + rng.uniform(0.3, 1) * SHAPES[(j + seed) % len(SHAPES)](u)
    for j in range(2):
        code = rng.choice(5, size=rows, p=[0.4, 0.3, 0.15, 0.1, 0.05])
        columns.append(Column(f"c{j}", values=list("abcde")))
        fields.append(code)
        score = score + rng.normal(0, 0.7, size=5)[code]
    score = 2 * (score - score.mean()) / score.std()
    if real:
        y = np.clip(50 + 10 * score + rng.normal(0, 8, size=rows), 0, 100)
        return Table(name, columns, fields, Column("y", 0, 100), np.round(y, 4))
    y = (rng.uniform(size=rows) < 1 / (1 + np.exp(0.5 - score))).astype(int)
    return Table(name, columns, fields, Column("y", values=["no", "yes"]), y)


MADE_UP = {  # rows, four in five of them to train on; numbers
    "curves-2k": (2500, 6, False),
    "curves-20k": (25000, 8, False),
    "curves-100k": (125000, 28, False),
    "curves-real": (25000, 8, True),
}
REAL = {
    "adult": adult,
    "adult-official": adult,
    "telco": telco,
    "housing": housing,
    "housing-unit": housing,
    "letter": letter,
    "covertype": covertype,
}


def load(name):
    """NAME; NAME@SEED: a made-up one drawn anew; NAME/inner: the rows to train on of split 1."""
    whole, _, inner = name.partition("/")
    base, _, seed = whole.partition("@")
    if base in MADE_UP:
        rows, numbers, real = MADE_UP[base]
        t = made_up(name, rows, numbers, int(seed or 1), real)
    elif base in REAL and not seed:
        t = REAL[base](name)
    else:
        raise ValueError(f"no table {name}: {', '.join([*REAL, *MADE_UP])}, of the made-up ones also NAME@SEED")
    return t.part(t.split(1)[0]) if inner else t
