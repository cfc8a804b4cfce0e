"""export_check.py PRIVET few|made|tables|images [DATA] - exported models against privet predict, row by row.

Trains small models, exports them, and computes scores, probabilities and labels of the same raw rows twice: by
onnxruntime from the ONNX file, and by export_reader.py from the NPZ file and its metadata alone.  Every ONNX file must
pass onnx.checker (where that package is there), and all three files must say the same.

few      a model of each kind on made-up rows; needs numpy and onnxruntime
made     every model, optimiser and encoding on made-up rows
tables   tables and LIBSVM files in the folder DATA
images   MNIST and CIFAR-10 there: test images, for scattering and CIFAR-10 the first ones
Works in the current folder; prints the rows compared and the largest differences.
"""
import bz2
import csv
import gzip
import json
import os
import subprocess
import sys

import numpy as np
import onnxruntime

import export_reader as reader

try:
    import onnx
except ImportError:
    onnx = None

PRIVET, WHICH = sys.argv[1:3]
DATA = sys.argv[3] if len(sys.argv) > 3 else ""
rng = np.random.default_rng(1)
totals = {}
raw_rows = []  # compared by onnx-raw, and the largest difference
NEAR = 5e-5  # of score and probability, relative to 1 + the size of the row's scores


def run(*words):
    done = subprocess.run([PRIVET, *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit("privet %s: %s" % (" ".join(words), done.stderr))
    return done.stdout


def predicted(path):
    """Names, and what predict says of the scores: numbers, margins, or logarithms of probabilities; probabilities."""
    head, *rows = list(csv.reader(open(path)))
    names = [r[0] for r in rows]
    values = np.array([[float(v) for v in r[1:]] for r in rows])
    if head == ["prediction"]:
        return None, np.array([[float(v)] for v in names]), None
    if head[1] == "margin":  # then the probabilities of both classes
        return names, values[:, :1], values[:, 2:]
    return names, None, values


def sizes(score, arrays, meta):
    """1 + the largest score of a row, or that a row of its length could have: sums in floats are that precise."""
    most = 0 if "layers" in meta else np.linalg.norm(arrays["weight"], axis=1).max() * float(meta["row_norm"])
    return 1 + np.maximum(abs(score).max(1), most)


def difference(score, want, size):
    names, value, p = want
    if value is not None:
        got = score if score.shape[1] == 1 else score[:, 1:] - score[:, :1]
        return (abs(got - value) / size[:, None]).max()
    top = p.argmax(1)[:, None]
    with np.errstate(divide="ignore"):
        want_gap = np.log(p) - np.log(np.take_along_axis(p, top, 1))
    gap = score - np.take_along_axis(score, top, 1)
    seen = p > 1e-30
    return (abs(gap - np.where(seen, want_gap, gap)) / size[:, None]).max()


def compare(what, score, p, arrays, meta, want):
    names, value, want_p = want
    if not np.isfinite(score).all():
        sys.exit("%s: a score is not finite" % what)
    size = sizes(score, arrays, meta)
    worst = [difference(score, want, size), 0.0]
    if names is None:
        return worst + [0]
    worst[1] = (abs(p[:, -want_p.shape[1]:] - want_p) / size[:, None]).max()
    two = np.sort(score, 1)[:, -2:] if score.shape[1] > 1 else np.c_[np.zeros(len(score)), score[:, 0]]
    tie = abs(two[:, 1] - two[:, 0]) < NEAR * size
    wrong = np.array([a != b for a, b in zip(reader.labels(score, meta), names)])
    if (wrong & ~tie).any():
        sys.exit("%s: %d of %d labels differ" % (what, (wrong & ~tie).sum(), len(names)))
    return worst + [int(wrong.sum())]


def by_onnx(name, x, path="m.onnx"):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    if onnx:
        model = onnx.load(path)
        onnx.checker.check_model(model, full_check=True)
    outputs = [o.name for o in session.get_outputs()]
    got = [session.run(outputs, {"x": x[i:i + 1000]}) for i in range(0, len(x), 1000)]
    got = [np.concatenate(part).astype(np.float64) for part in zip(*got)]
    for o, v in zip(session.get_outputs(), got):
        if list(o.shape[1:]) != list(v.shape[1:]):
            sys.exit("%s: %s has the shape %s, and %s is declared" % (name, o.name, v.shape, o.shape))
    return got[0], got[1] if len(got) > 1 else None, session.get_modelmeta().custom_metadata_map


def same_files(name, meta):
    arrays, facts = reader.load("m.npz")
    others, facts2 = reader.load("m.safetensors")
    for f in (facts, facts2):
        f.pop("format")
    if not (facts == facts2 == meta and arrays.keys() == others.keys()
            and all(np.array_equal(arrays[k], others[k]) for k in arrays)):
        sys.exit("%s: arrays or metadata of the three files differ" % name)
    if not float(meta["epsilon"]) <= 8:
        sys.exit("%s: epsilon %s" % (name, meta["epsilon"]))
    return arrays


def check(name, path, raw, *settings, most=4000):
    """raw: metadata to x; most: rows that are also computed from the NPZ file."""
    extra = ["--schema", "s.json"] if path.startswith("table") else []
    net = any(m in settings for m in ("model=mlp", "model=cnn"))
    if "data.norm=max" in settings:  # only Frank-Wolfe's selections are bounded by it
        extra += ["optimizer=fw-l1", "set=l1ball"]
        extra += ["set.radius=1000", "optimizer.step=0.001"] if net else ["set.radius=10"]  # a network stays near its start
    elif net:
        extra.append("optimizer.step=0.1")  # a longer one may leave a network whose score is a constant
    run("train", path, "--epsilon", "8", "--delta", "1e-3", "--out", "m.pvt", "--quiet", *extra, *settings)
    run("predict", "m.pvt", path, "--out", "scores.csv", "--quiet")
    for form in ("onnx", "npz", "safetensors"):
        run("export", "m.pvt", "--out", "m." + form)
    want = predicted("scores.csv")
    meta = reader.load("m.npz")[1]
    meta.pop("format")
    x = raw(meta)
    n = len(want[1] if want[1] is not None else want[2])
    if len(x) != n:
        sys.exit("%s: %d rows were read, %d predicted" % (name, len(x), n))
    score, p, facts = by_onnx(name, x)
    arrays = same_files(name, facts)
    k = min(n, most)
    part = [v if v is None else v[:k] for v in want]
    a = compare(name + ", onnx", score, p, arrays, facts, want)
    mine = reader.scores(arrays, facts, x[:k])
    b = compare(name + ", npz", mine, reader.probabilities(mine, facts), arrays, facts, part)
    if path.startswith("table") and not any("transform" in s or "image" in s for s in settings):  # numbers in their own units
        run("export", "m.pvt", "--format", "onnx-raw", "--out", "raw.onnx")
        score_raw, p_raw, facts_raw = by_onnx(name, raw(dict(meta, encoding="raw")), "raw.onnx")
        if facts_raw["encoding"] != "raw":
            sys.exit("%s: encoding %s" % (name, facts_raw["encoding"]))
        c = compare(name + ", raw", score_raw, p_raw, arrays, facts, want)
        if max(c[:2]) > NEAR:
            sys.exit("%s: scores from raw numbers differ by %g" % (name, max(c[:2])))
        raw_rows.append((n, max(c[:2])))
    spread = (score - score.mean(1, keepdims=True) if score.shape[1] > 1 else score).std(0).max()
    print("%-26s onnx %6d rows: score %.0e probability %.0e labels %d   npz %5d rows: %.0e %.0e %d" %
          (name, n, *a, k, *b), flush=True)
    if max(a[:2] + b[:2]) > min(NEAR, spread / 8) or spread < 1e-6:  # scores of rows differ by more than the error
        sys.exit("%s: scores differ (spread %g)" % (name, spread))
    kind = facts["model"]
    old = totals.get(kind, [0, 0, 0, 0])
    totals[kind] = [old[0] + n, max(old[1], a[0], a[1]), old[2] + k, max(old[3], b[0], b[1])]


def save(name, x, y):
    np.save("x_%s.npy" % name, x)
    np.save("y_%s.npy" % name, y)
    return "x_%s.npy" % name


# ---- made-up rows ------------------------------------------------------------------------------------------------

steps = "optimizer.steps=6"


def few():
    n = 200
    x = rng.normal(size=(n, 7)).astype(np.float32)
    rows2, rows10 = save("two", x, np.where(x[:, 0] + x[:, 1] > 0, 1, -1)), save("ten", x, rng.integers(0, 10, n))
    pictures = rng.uniform(size=(n, 3, 9, 8)).astype(np.float32)
    images, images2 = save("images", pictures, rng.integers(0, 10, n)), save("pair", pictures, rng.integers(0, 2, n))

    def rows(meta):
        return reader.rows_of_array(meta, x)

    def planes(meta):
        return reader.rows_of_array(meta, pictures)

    check("logistic", rows2, rows, "model=logistic", steps)
    check("unit norm", rows2, rows, "model=logistic", steps, "data.norm=unit", "data.bias=0")
    check("softmax", rows10, rows, "model=softmax", steps, "data.row_norm=3", "data.center=0.5")
    check("images", images, planes, "model=softmax", steps, "data.center=0.5", "data.norm=unit")
    check("mlp, two classes", rows2, rows, "model=mlp", "data.labels=-1,1", steps)
    check("mlp", rows10, rows, "model=mlp", "model.layers=dense6,tanh,dense5,gelu,dense", steps)
    check("split-mlp", rows10, rows, "model=split-mlp", "model.layers=dense6,relu,dense5,relu,dense", "model.radius=0.7",
          steps)
    check("split-mlp, convolutions", images, planes, "model=split-mlp", "model.layers=conv4x3s2same,relu,conv3x2,relu,dense",
          "model.radius=0.7", steps)
    check("split-mlp, two, images", images2, planes, "model=split-mlp", "data.labels=0,1", steps)
    check("cnn, edges", images, planes, "model=cnn", "model.layers=conv6x3same,relu,pool3s2same,lrn4,conv4x2,sigmoid,"
          "avgpool2s1same,dense", steps)
    check("cnn, two classes", images2, planes, "model=cnn", "data.labels=0,1", steps)
    check("cnn", images, planes, "model=cnn", "model.layers=conv6x3s2same,relu,groupnorm3,pool2s1,conv4x2,tanh,avgpool2,"
          "flatten,dense8,groupnorm4,relu,dense", steps, "data.center=0.5", "data.norm=unit", "data.row_norm=5")


def few_curves():
    path = write_table("table5.csv", {"values": ["no", "yes"]}, ["no", "yes"], n=200)

    def raw(meta):
        return reader.rows_of_csv(meta, open(path, newline="").read())
    check("curves", path, raw, "model=logistic", "data.curves=7", steps)


TABLE = {"header": True, "separator": ";", "skip": 1, "missing": ["", "?", "-9"], "columns": [
    {"name": "id", "type": "ignore"},
    {"name": "age", "type": "number", "min": 17, "max": 90},
    {"name": "job", "type": "category", "values": ["clerk", ["farmer", "Farmer"], "nurse; night"], "missing": "zero"},
    {"name": "pay", "type": "number", "min": -3.5, "max": 1e4, "missing": "middle", "outside": "clamp"},
    {"name": "y", "type": "label"},
    {"name": "debt", "type": "number", "min": 0, "max": 1, "missing": "zero", "outside": "missing"},
    {"name": "town", "type": "category", "values": [1, 2, "1.0"], "outside": "missing"}]}


def write_table(name, label, values, ages=(17, 91), n=300):
    schema = json.loads(json.dumps(TABLE))
    schema["columns"][4].update(label)
    json.dump(schema, open("s.json", "w"))
    job = ["clerk", " farmer ", "Farmer", '"nurse; night"', "?", ""]
    with open(name, "w") as f:
        f.write("made up\n" + ";".join(c["name"] for c in TABLE["columns"]) + "\n")
        for i in range(n):
            pay = ["?", "", "-9", "123456", "-1e9", "%.3f" % rng.uniform(0, 1e4)][min(rng.integers(0, 12), 5)]
            debt = ["", "?", "7", "%.4f" % rng.uniform()][min(rng.integers(0, 8), 3)]
            f.write(";".join(["%d" % i, " %d" % rng.integers(*ages), job[rng.integers(0, 6)], pay,
                              str(values[rng.integers(0, len(values))]), debt,
                              ["1", "2", "1.0", "3"][rng.integers(0, 4)]]) + "\r\n")
    return name


def not_both(model, encoding):
    return "model=split-mlp" in model and "data.norm=max" in encoding  # sbcd releases gradients


def tables():
    def raw(meta):
        return reader.rows_of_csv(meta, open(path, newline="").read())
    encodings = [["data.center=0.5"], ["data.bias=0", "data.norm=unit"], ["data.row_norm=0.3", "data.bias=2"],
                 ["data.center=-0.25", "data.norm=max", "data.row_norm=0.7"]]
    nets = [["model=mlp"], ["model=mlp", "model.scale=0.3", "model.layers=dense8,groupnorm2,gelu,dense8,tanh,dense"],
            ["model=mlp", "model.loss=squared"], ["model=split-mlp"]]
    path = write_table("table2.csv", {"values": [["no", "n"], "yes, it is"]}, ["no", "n", "yes, it is"])
    for e in (["data.curves=5"], ["data.curves=auto", "data.norm=unit"], ["data.curves=3", "data.bias=0", "data.row_norm=9"]):
        for m in ("logistic", "hinge", "softmax"):
            check("curves, 2: " + m + " " + e[0][5:], path, raw, "model=" + m, *e, steps)
    for e in encodings:
        for m in [["model=logistic"], ["model=sigmoid"], ["model=hinge"], ["model=softmax"]] + nets:
            if not_both(m, e):
                continue
            check("table, 2: " + m[0][6:] + " " + e[0][5:], path, raw, *m, *e, steps)
    for o in ("pgd", "sgd", "adam", "pmd", "prgd", "fw-l1", "fw-l2", "gd-sosp", "tr", "str", "str2"):
        extra = {"fw-l1": ["set=l1ball"], "fw-l2": ["set=l2ball"], "prgd": ["budget.relation=replace"]}
        check("table, 2: " + o, path, raw, "model=logistic", "optimizer=" + o, *extra.get(o, []), encodings[0][0])
    path = write_table("table4.csv", {"values": ["no", "yes"]}, ["no", "yes"], ages=(1, 120))
    for outside in (["data.outside=clamp"], ["data.outside=clamp", "data.center=0.5", "model=mlp"]):
        check("table, 2: " + outside[0][5:], path, raw, *outside, steps)
    path = write_table("table3.csv", {"values": ["a", "b", "c \"c\""]}, ["a", "b", '"c ""c"""'])
    for e in encodings:
        for m in [["model=softmax"]] + nets:
            if not_both(m, e):
                continue
            check("table, 3: " + m[0][6:] + " " + e[0][5:], path, raw, *m, *e, steps)
    path = write_table("table1.csv", {"min": -2, "max": 5}, [-2, 0.5, 3, 5])
    for e in encodings:
        for m in [["model=squared"], ["model=huber"], ["model=tukey"], nets[0], nets[1], nets[3]]:
            if not_both(m, e):
                continue
            check("table, number: " + m[0][6:] + " " + e[0][5:], path, raw, *m, *e, steps)


def text_rows():
    """Plain tables and LIBSVM, with values whose squares are no floats."""
    n, p = 240, 6
    x = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 3, size=(n, 1))
    np.savetxt("plain.csv", np.c_[x, rng.integers(0, 2, n)], "%.7g", ",")

    def plain(meta):
        return reader.rows_of_csv(meta, open("plain.csv").read())

    def svm(meta):
        return reader.rows_of_libsvm(meta, open("d.svm").read(), p)
    for m in ("logistic", "softmax", "mlp"):
        check("plain table: " + m, "plain.csv", plain, "model=" + m, "data.labels=0,1", "data.center=0.5", steps)
    x *= 10.0 ** rng.integers(-20, 20, size=(n, 1))
    x[0] = 0
    with open("d.svm", "w") as f:
        for r in x:
            keep = [j for j in range(p) if rng.uniform() < 0.8]
            f.write(" ".join([["+1", "-1"][rng.integers(0, 2)]] + ["%d:%.7g" % (j + 1, r[j]) for j in keep]) + " # c\n")
        f.write("+1 5:-3e38 6:3e38\n-1 1:1\n")
    for m in ("logistic", "hinge", "sigmoid", "mlp", "split-mlp"):
        for e in (["data.norm=clip"], ["data.norm=unit", "data.bias=0"], ["data.norm=max", "data.row_norm=2"],
                  ["data.norm=unit", "data.bias=0.1"], ["data.norm=max", "data.bias=0"]):
            if not_both(["model=" + m], e):
                continue
            check("libsvm: " + m + " " + e[0][5:], "d.svm", svm, "model=" + m, *e, steps, "data.labels=-1,1")
    with open("wide.svm", "w") as f:
        for i in range(200):
            at = np.sort(rng.choice(2000, 20, replace=False)) + 1
            f.write("%d " % (i % 3) + " ".join("%d:%.5g" % (j, rng.normal()) for j in at) + "\n")

    def wide(meta):
        return reader.rows_of_libsvm(meta, open("wide.svm").read(), 2000)
    for m in ("softmax", "mlp", "split-mlp"):
        check("wide libsvm: " + m, "wide.svm", wide, "model=" + m, "data.labels=0,1,2", "data.features=2000", steps)


LAYERS = [("default", None),
          ("dense only", "dense"),
          ("relu first", "relu,dense8,groupnorm2,tanh,dense"),
          ("pool then dense", "pool2,avgpool2s1,dense7,gelu,dense"),
          ("edges", "pool3s2same,conv6x3same,lrn2,sigmoid,avgpool3s2same,dense7,sigmoid,dense"),
          ("one pixel", "conv6x9s3,groupnorm1,relu,conv4x1,tanh,dense"),
          ("flatten then conv", "flatten,conv6x1,relu,dense"),
          ("norms", "groupnorm1,conv6x3s2same,groupnorm3,gelu,conv4x2s2,groupnorm2,flatten,groupnorm2,dense12,groupnorm2,"
                    "relu,dense")]


def write_idx(name, a):
    with open(name, "wb") as f:
        f.write(bytes([0, 0, 8, a.ndim]) + np.array(a.shape, ">u4").tobytes() + a.tobytes())


def text_images(a, y):
    """Images in tables and LIBSVM files, declared by data.image; byte rows; numbers as labels."""
    n, h, w = a.shape
    flat = np.round(a.reshape(n, -1), 3)
    json.dump({"header": False, "columns": [{"name": "p%d" % i, "type": "number", "min": -5, "max": 5, "missing": "zero"}
                                            for i in range(h * w)] + [{"name": "y", "type": "label", "values": [0, 1]}]},
              open("s.json", "w"))
    with open("table_images.csv", "w") as f:
        for r, k in zip(flat, y):
            f.write(",".join([("%.3f" % v) if rng.uniform() < 0.9 else "" for v in r] + ["%d" % (k > 1)]) + "\n")
    np.savetxt("images.csv", np.c_[flat, y > 1], "%.3f", ",")
    with open("images.svm", "w") as f:
        for r, k in zip(flat, y):
            f.write("%d " % k + " ".join("%d:%.3f" % (i + 1, v) for i, v in enumerate(r) if v) + "\n")

    def table(meta):
        return reader.rows_of_csv(meta, open("table_images.csv").read())

    def plain(meta):
        return reader.rows_of_csv(meta, open("images.csv").read())

    def svm(meta):
        return reader.rows_of_libsvm(meta, open("images.svm").read(), h * w)
    shape, center = "data.image=%dx%d" % (h, w), "data.center=0.5"
    for m in (["model=cnn"], ["model=mlp"], ["model=logistic"], ["model=split-mlp"],
              ["model=logistic", "data.transform=scatter", "data.scatter_groups=5", "data.scatter_scales=1"]):
        check("image table, 2: " + m[0][6:], "table_images.csv", table, *m, shape, center, steps)
        check("plain images, 2: " + m[0][6:], "images.csv", plain, *m, shape, center, "data.labels=0,1", steps)
    for m in ("softmax", "cnn", "mlp"):
        check("libsvm images: " + m, "images.svm", svm, "model=" + m, shape, "data.labels=0,1,2,3", steps)
    small = rng.integers(0, 256, size=(n, 7)).astype(np.uint8)

    def rows(meta):
        return reader.rows_of_array(meta, small)
    path = save("small", small, y.astype(np.float32))
    check("byte rows: softmax", path, rows, "model=softmax", center, "data.labels=0,1,2,3", steps)
    for m in ("squared", "huber", "tukey"):
        check("byte rows: " + m, path, rows, "model=" + m, center, "data.y_min=0", "data.y_max=3", steps)


def pictures():
    n = 120
    bytes_ = rng.integers(0, 256, size=(n, 3, 9, 11)).astype(np.uint8)
    floats = rng.normal(size=(n, 3, 9, 11)).astype(np.float32)
    y = rng.integers(0, 4, n)
    last = save("last", floats.transpose(0, 2, 3, 1), y)
    small = save("bytes", bytes_, y)
    write_idx("t-images-idx3-ubyte", bytes_[:, 0])
    write_idx("t-labels-idx1-ubyte", y.astype(np.uint8))
    kinds = [("npy floats", last, floats), ("npy bytes", small, bytes_), ("idx", "t-images-idx3-ubyte", bytes_[:, :1])]
    encodings = [["data.center=0.5"], ["data.bias=0", "data.norm=unit", "data.row_norm=4"], ["data.norm=max"]]
    for classes, labels in ((4, "0,1,2,3"), (2, "0|1,2|3")):
        for k, (what, path, a) in enumerate(kinds):
            def raw(meta):
                return reader.rows_of_array(meta, a)
            for i, (text, layers) in enumerate(LAYERS):
                e = encodings[(i + k) % 3]
                net = ["model.layers=" + layers] if layers else []
                check("%s, %d: %s" % (what, classes, text), path, raw, "model=cnn", *net, "data.labels=" + labels, *e, steps)
            for m in ("softmax", "mlp", "split-mlp") + (("logistic",) if classes == 2 else ()):
                e = encodings[0 if not_both(["model=" + m], encodings[k]) else k]
                check("%s, %d: %s" % (what, classes, m), path, raw, "model=" + m, "data.labels=" + labels, *e, steps)

    def one(meta):
        return reader.rows_of_array(meta, floats[:, :, :1, :1])
    dots = save("dots", floats[:, :, 0, 0].copy(), y)
    check("images of one pixel", dots, one, "model=cnn", "model.layers=conv4x1,groupnorm2,relu,dense", "data.image=1x1x3",
          "data.labels=0,1,2,3", steps)
    check("image rows, 1 x 1", dots, one, "model=mlp", "data.image=1x1x3", "data.labels=0,1|2|3", steps)

    def color(meta):
        return reader.rows_of_array(meta, floats)

    def gray(meta):
        return reader.rows_of_array(meta, bytes_[:, :1])
    text_images(floats[:, 0, :8, :9], y)
    for m in ("softmax", "mlp", "cnn"):
        check("scatter: " + m, last, color, "model=" + m, "data.transform=scatter", "data.scatter_scales=1",
              "data.labels=0,1,2,3", "data.scatter_groups=3", "data.center=0.5", "data.norm=unit", steps)
    check("scatter, 2: logistic", "t-images-idx3-ubyte", gray, "model=logistic", "data.transform=scatter",
          "data.scatter_groups=0", "data.scatter_scales=2", "data.labels=0|1,2|3", steps)


# ---- real rows ---------------------------------------------------------------------------------------------------

YES_NO = ["No", "Yes"]


def telco_schema():
    third = ["No", "Yes", "No internet service"]

    def cat(name, values):
        return {"name": name, "type": "category", "values": values}
    columns = [{"name": "customerID", "type": "ignore"}, cat("gender", ["Female", "Male"]), cat("SeniorCitizen", ["0", "1"]),
               cat("Partner", YES_NO), cat("Dependents", YES_NO), {"name": "tenure", "type": "number", "min": 0, "max": 100},
               cat("PhoneService", YES_NO), cat("MultipleLines", ["No", "Yes", "No phone service"]),
               cat("InternetService", ["No", "DSL", "Fiber optic"])]
    columns += [cat(c, third) for c in ("OnlineSecurity", "OnlineBackup", "DeviceProtection", "TechSupport", "StreamingTV",
                                        "StreamingMovies")]
    columns += [cat("Contract", ["Month-to-month", "One year", "Two year"]), cat("PaperlessBilling", YES_NO),
                cat("PaymentMethod", ["Electronic check", "Mailed check", "Bank transfer (automatic)",
                                      "Credit card (automatic)"]),
                {"name": "MonthlyCharges", "type": "number", "min": 0, "max": 150},
                {"name": "TotalCharges", "type": "number", "min": 0, "max": 10000, "missing": "middle"},
                {"name": "Churn", "type": "label", "values": YES_NO}]
    return {"columns": columns}


def letter_schema():
    names = "xbox ybox width height onpix xbar ybar x2bar y2bar xybar x2ybar xy2bar xedge xedgey yedge yedgex".split()
    return {"columns": [{"name": "letter", "type": "label", "values": list("ABCDEFGHIJKLMNOPQRSTUVWXYZ")}]
            + [{"name": n, "type": "number", "min": 0, "max": 15} for n in names]}


def housing_schema():
    bounds = {"longitude": (-125, -114), "latitude": (32, 42), "housing_median_age": (0, 60), "total_rooms": (0, 10000),
              "total_bedrooms": (0, 2000), "population": (0, 5000), "households": (0, 2000), "median_income": (0, 15)}
    columns = [{"name": k, "type": "number", "min": a, "max": b, "outside": "clamp", "missing": "zero"}
               for k, (a, b) in bounds.items()]
    return {"columns": columns + [{"name": "median_house_value", "type": "label", "min": 0, "max": 500001},
                                  {"name": "ocean_proximity", "type": "category", "values": [
                                      "NEAR BAY", "<1H OCEAN", "INLAND", "NEAR OCEAN", "ISLAND"]}]}


def real_table(name, schema, models):
    path = os.path.join(DATA, "tables", name + ".csv.gz")
    if not os.path.exists(path):
        return print("no %s: left out" % name)
    text = gzip.open(path, "rt", newline="").read()
    open("table_%s.csv" % name, "w", newline="").write(text)
    json.dump(schema, open("s.json", "w"))

    def raw(meta):
        return reader.rows_of_csv(meta, text)
    for m in models:
        check(name + ": " + m[0][6:] + " " + " ".join(m[1:])[5:16], "table_%s.csv" % name, raw, *m, "optimizer.steps=20",
              most=1 << 30)


def real_tables():
    two = [["model=" + m] for m in ("logistic", "sigmoid", "hinge", "softmax", "mlp", "split-mlp")]
    real_table("telco_churn", telco_schema(), two + [m + ["data.center=0.5"] for m in two])
    real_table("letter", letter_schema(), [["model=softmax"], ["model=mlp", "data.center=0.5"], ["model=split-mlp"]])
    real_table("california_housing", housing_schema(), [["model=squared"], ["model=huber", "data.center=0.5"],
                                                        ["model=tukey"], ["model=mlp", "data.center=0.5"]])


def real_svm(name, file, p, models):
    path = os.path.join(DATA, file)
    if not os.path.exists(path):
        return print("no %s: left out" % name)
    text = bz2.open(path, "rt").read()

    def raw(meta):
        return reader.rows_of_libsvm(meta, text, p)
    for m in models:
        check("%s: %s" % (name, m), path, raw, "model=" + m, "data.features=%d" % p, "data.labels=-1,1", "optimizer.steps=20")


def mnist():
    path = os.path.join(DATA, "mnist", "t10k-images-idx3-ubyte.gz")
    if not os.path.exists(path):
        return print("no MNIST: left out")
    a = np.frombuffer(gzip.open(path).read()[16:], np.uint8).reshape(-1, 1, 28, 28)
    y = np.frombuffer(gzip.open(path.replace("images-idx3", "labels-idx1")).read()[8:], np.uint8)
    write_idx("some-images-idx3-ubyte", a[:500, 0])
    write_idx("some-labels-idx1-ubyte", y[:500])

    def raw(meta):
        return reader.rows_of_array(meta, a)

    def some(meta):
        return reader.rows_of_array(meta, a[:500])
    half = "data.labels=0|1|2|3|4,5|6|7|8|9"
    for m in ("softmax", "mnist-cnn", "cnn", "mlp", "split-mlp"):
        check("mnist: " + m, path, raw, "model=" + m, "data.center=0.5", steps, most=500)
        check("mnist, two halves: " + m, path, raw, "model=" + m, half, steps, most=500)
    scatter = ["data.transform=scatter", steps]
    check("mnist: scatter", "some-images-idx3-ubyte", some, "model=softmax", "data.norm=unit", *scatter)
    check("mnist, two halves: scatter", "some-images-idx3-ubyte", some, "model=logistic", half, *scatter)


def cifar():
    path = os.path.join(DATA, "cifar10", "test_batch.bin.bz2")
    if not os.path.exists(path):
        return print("no CIFAR-10: left out")
    records = bz2.open(path).read()[:2000 * 3073]
    for name, n in (("most.bin", 2000), ("some.bin", 200)):
        open(name, "wb").write(records[:n * 3073])
    a = np.frombuffer(records, np.uint8).reshape(-1, 3073)[:, 1:].reshape(-1, 3, 32, 32)

    def raw(meta):
        return reader.rows_of_array(meta, a)

    def some(meta):
        return reader.rows_of_array(meta, a[:200])
    few_steps, half = ["data.format=cifar", "optimizer.steps=3"], "data.labels=2|3|4|5|6|7,0|1|8|9"
    for m in ("softmax", "cifar-cnn", "cnn", "mlp", "split-mlp"):
        check("cifar10: " + m, "most.bin", raw, "model=" + m, *few_steps, "data.center=0.5", most=200)
        check("cifar10, two classes: " + m, "most.bin", raw, "model=" + m, *few_steps, half, most=200)
    check("cifar10: scatter", "some.bin", some, "model=softmax", "data.transform=scatter", "data.norm=unit", *few_steps)


if WHICH == "few":
    few()
    few_curves()
elif WHICH == "made":
    tables()
    text_rows()
    pictures()
elif WHICH == "tables":
    real_tables()
    real_svm("a9a", "adult/a9a.bz2", 123, ("logistic", "hinge", "mlp", "split-mlp"))
    real_svm("relathe", "highdim/RELATHE.svm.bz2", 4322, ("logistic", "mlp"))
else:
    mnist()
    cifar()
print("onnx %s, onnxruntime %s" % (onnx.__version__ if onnx else "is not there: files were not checked by it",
                                   onnxruntime.__version__))
for kind, t in sorted(totals.items()):
    print("%-12s onnx %7d rows, largest difference %.1e   npz %7d rows, %.1e" % (kind, *t))
if raw_rows:
    print("onnx-raw, rows in their own units: %d rows, largest difference %.1e" %
          (sum(n for n, _ in raw_rows), max(d for _, d in raw_rows)))
