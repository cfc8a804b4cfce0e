"""bench_python.py [ROWS [COVTYPE]] - the package beside the C path from memory, and beside other packages; ratios of one run.

    python bench/python/bench_python.py                            the package alone, on 10^6 rows
    python bench/python/bench_python.py 1000000 covtype.data.gz    also Covertype, type 2 against the rest, beside
                                                                  diffprivlib and scikit-learn where they are installed; 0 rows: that alone

Every number is the best of a few repetitions.  The C path is bench_memory's way through the same binding: a dense matrix of
the same numbers, with the same schema and settings, timed around the library's call alone."""

import subprocess
import sys
import time
import warnings

import numpy as np

warnings.simplefilter("ignore")


def best(f, n=3):
    """Seconds, and seconds of processor time, which others on the machine change less."""
    times = []
    for _ in range(n):
        t, p = time.perf_counter(), time.process_time()
        f()
        times.append((time.perf_counter() - t, time.process_time() - p))
    return tuple(min(column) for column in zip(*times))


def peak_now():
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))


def begin_peak():
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")


def imports():
    code = "import time, numpy; t = time.thread_time(); import privet; print(time.thread_time() - t)"
    times = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(7)]  # the first leaves compiled files
    print(f"import privet beyond numpy: {1e3 * min(times):.0f} ms")


def frame(rows=10**6, columns=30):
    import pandas as pd

    import privet

    rng = np.random.default_rng(0)
    X = rng.random((rows, columns))
    y = np.where(X[:, 0] + 0.5 * rng.random(rows) > 0.75, "yes", "no")
    df = pd.DataFrame(X, columns=[f"c{j}" for j in range(columns)])
    del X
    clf = privet.LogisticRegression(bounds=(0, 1), classes=["no", "yes"])
    clf.fit(df.iloc[:1000], y[:1000])  # what a first fit loads is no matter of rows
    begin_peak()
    before = peak_now()
    whole = best(lambda: clf.fit(df, y))
    peak = peak_now() - before
    begin_peak()
    before = peak_now()
    privet.Classifier(bounds=(0, 1), classes=["no", "yes"]).fit(df, y)
    print(f"peak memory beyond the frame of Classifier, which has curves: {(peak_now() - before) / 1024:.0f} MiB")

    said = privet._declare.declare(clf, df, y, True)
    told = clf._settings() + said.settings + [("data.schema", said.schema.to_json()), ("data.curves", "off")]  # as the estimator
    matrix, held = privet._rows.dense(df.to_numpy(), check=False), privet._rows.labels((y == "yes").astype(np.int32))
    told = [t for t in told if t[0] != "data.schema"] + [
        ("data.schema", said.schema.to_json().replace('["no", "yes"]', '["0", "1"]'))
    ]
    alone = best(lambda: privet._core.Context().run(told, matrix.spec, held.spec))
    print(f"pandas {rows} x {columns} to a certified model: {whole[0]:.2f} s, the C path from memory {alone[0]:.2f} s: "
          f"{whole[0] / alone[0]:.2f} times, {whole[1] / alone[1]:.2f} of processor time")  # fmt: skip
    print(f"peak memory beyond the frame: {peak / 1024:.0f} MiB; one float32 copy is {rows * columns * 4 / 2**20:.0f} MiB, "
          f"label and norm of every row {rows * 8 / 2**20:.0f} MiB")  # fmt: skip
    one = np.zeros((1, columns))
    small = privet.LogisticRegression(bounds=(0, 1), classes=["no", "yes"]).fit(df.to_numpy()[:1000], y[:1000])

    def each(f, n=500):  # processor time of this thread, which others on the machine do not change
        t = time.thread_time()
        for _ in range(n):
            f()
        return 1e6 * (time.thread_time() - t) / n

    rows_ = privet._rows.describe(one, small._schema)
    out = np.empty(1, np.int64)
    at = out.__array_interface__["data"][0]
    whole = min(each(lambda: small.predict(one)) for _ in range(5))
    alone = min(each(lambda: small._fitted._model.predict(rows_.spec, 1, 0, 0, at)) for _ in range(5))
    print(f"predict of one row: {whole:.0f} us, of which the library {alone:.0f} us: overhead {whole - alone:.0f} us")


def covertype(path):
    import privet

    raw = np.loadtxt(path, delimiter=",", dtype=np.float64)
    X, y = raw[:, :-1], (raw[:, -1] == 2).astype(int)
    lo, hi = X.min(axis=0), X.max(axis=0)  # public for this benchmark: the ranges stand in the data set's description
    hi = np.where(hi > lo, hi, lo + 1)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    train, test = order[: len(X) * 4 // 5], order[len(X) * 4 // 5 :]
    S = (X - lo) / (hi - lo)

    def auc(score):
        rank = np.empty(len(score))
        rank[np.argsort(score, kind="stable")] = np.arange(1, len(score) + 1)
        pos = y[test] == 1
        return (rank[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())

    found = {}

    def row(name, make, score, n=1):
        model = [None]

        def fit():
            model[0] = make()

        found[name] = best(fit, n)
        print(f"{name:<36} {found[name][0]:7.2f} s, {found[name][1]:7.2f} of processor time   AUC {auc(score(model[0])):.4f}")

    def ours(**more):
        return privet.LogisticRegression(bounds=(lo, hi), classes=[0, 1], epsilon=1.0, **more).fit(X[train], y[train])

    row("privet, epsilon 1, as it comes", ours, lambda m: m.decision_function(X[test]), 3)
    row("... on batches of 4,000", lambda: ours(sampler="poisson", sampler_batch=4000), lambda m: m.decision_function(X[test]), 3)
    row('... optimizer="tr", 10 steps', lambda: ours(optimizer="tr", optimizer_steps=10), lambda m: m.decision_function(X[test]), 3)
    try:
        from sklearn.linear_model import LogisticRegression

        row("scikit-learn, not private", lambda: LogisticRegression().fit(S[train], y[train]), lambda m: m.decision_function(S[test]))
    except ImportError:
        pass
    try:
        from diffprivlib.models import LogisticRegression as Theirs

        row("diffprivlib, epsilon 1", lambda: Theirs(epsilon=1.0, data_norm=np.sqrt(X.shape[1])).fit(S[train], y[train]),
            lambda m: m.decision_function(S[test]))  # fmt: skip
    except ImportError:
        pass
    for k, what in enumerate(("time", "processor time")):
        print(f"{what} over privet's: as it comes, on batches, tr")
        for name in list(found)[3:]:
            print(f"{name:<36} " + ", ".join(f"{found[name][k] / found[ours][k]:.1f}" for ours in list(found)[:3]))


imports()
if sys.argv[1:2] != ["0"]:
    frame(int(sys.argv[1]) if len(sys.argv) > 1 else 10**6)
if len(sys.argv) > 2:
    covertype(sys.argv[2])
