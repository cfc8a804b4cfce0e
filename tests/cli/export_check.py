"""export_check.py PRIVET - trains small models of every kind, exports them, and compares the scores.

privet predict and onnxruntime (on the ONNX file) must give the same probabilities on the same rows; the arrays of the NPZ
file must be the initializers of the ONNX file.  Works in the current folder.
"""
import csv
import json
import struct
import subprocess
import sys

import numpy as np
import onnxruntime

PRIVET = sys.argv[1]
rng = np.random.default_rng(1)


def run(*words):
    done = subprocess.run([PRIVET, *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit("privet %s: %s" % (" ".join(words), done.stderr))
    return done.stdout


def probabilities(path, outputs):
    rows = list(csv.reader(open(path)))[1:]
    return np.array([[float(v) for v in (r[2:3] if outputs == 1 else r[1:])] for r in rows])


def safetensors(path):
    raw = open(path, "rb").read()
    n = struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:8 + n])
    body = raw[8 + n:]
    out = {k: np.frombuffer(body[v["data_offsets"][0]:v["data_offsets"][1]], "<f8").reshape(v["shape"])
           for k, v in head.items() if k != "__metadata__"}
    return out, head["__metadata__"]


def check(name, x, y, outputs, *settings):
    """x as privet reads it, floats; the input of the ONNX file is the same, one row after the other."""
    np.save("x.npy", x)
    np.save("y.npy", y)
    run("train", "x.npy", "--epsilon", "50", "--delta", "1e-3", "--out", "m.pvt", "--quiet", *settings)
    run("predict", "m.pvt", "x.npy", "--out", "scores.csv", "--quiet")
    for form in ("onnx", "npz", "safetensors"):
        run("export", "m.pvt", "--out", "m." + form)
    flat = x if x.ndim == 2 else x.reshape(len(x), -1)
    session = onnxruntime.InferenceSession("m.onnx", providers=["CPUExecutionProvider"])
    got = session.run(["probability"], {"x": flat.astype(np.float32)})[0]
    want = probabilities("scores.csv", outputs)
    worst = abs(got - want).max()
    arrays, meta = np.load("m.npz"), safetensors("m.safetensors")
    same = all(np.array_equal(arrays[k], v) for k, v in meta[0].items())
    props = session.get_modelmeta().custom_metadata_map
    print("%-12s %d rows, largest difference %.1e" % (name, len(x), worst))
    spread = want.std(axis=0).max()
    if not (worst < 2e-5 and spread > 1e-3 and same and props["epsilon"] == meta[1]["epsilon"] and float(props["epsilon"]) <= 50):
        sys.exit("%s: scores, arrays or metadata differ (difference %g, spread %g)" % (name, worst, spread))


n = 200
table = rng.normal(size=(n, 7)).astype(np.float32)
two = np.where(table[:, 0] + table[:, 1] > 0, 1, -1)
ten = rng.integers(0, 10, size=n)
images = rng.uniform(size=(n, 3, 9, 8)).astype(np.float32)
steps = "optimizer.steps=20"
check("logistic", table, two, 1, "model=logistic", steps)
check("unit norm", table, two, 1, "model=logistic", steps, "data.norm=unit", "data.bias=0")
check("softmax", table, ten, 10, "model=softmax", steps, "data.row_norm=3")
check("images", images, ten, 10, "model=softmax", steps, "data.center=0.5", "data.norm=unit")
check("mlp", table, ten, 10, "model=mlp", "model.layers=dense6,tanh,dense5,gelu,dense", steps, "clip=1")
check("split-mlp", table, ten, 10, "model=split-mlp", "model.layers=dense6,relu,dense5,relu,dense", "model.radius=0.7", steps,
      "clip=1")
check("cnn", images, ten, 10, "model=cnn", "model.layers=conv6x3s2same,relu,groupnorm3,pool2s1,conv4x2,tanh,avgpool2,"
      "flatten,dense8,groupnorm4,relu,dense", steps, "clip=1", "data.center=0.5", "data.norm=unit", "data.row_norm=5")
