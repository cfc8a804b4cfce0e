"""export_reader.py - from raw rows to scores by an exported file alone, written from docs/export.md.

    arrays, meta = load("model.npz")                 # or model.safetensors
    x = rows_of_csv(meta, text)                      # or rows_of_libsvm, rows_of_array
    score = scores(arrays, meta, x)                  # in double precision
    p, names = probabilities(score, meta), labels(score, meta)

Nothing here knows how privet computes: only what the page says.
"""
import functools
import json
import os
import re
import struct
import sys
import zipfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
import make_scatter_vectors as wavelets  # noqa: E402


# ---- files -------------------------------------------------------------------------------------------------------

def load_npz(path):
    arrays = {k: v for k, v in np.load(path).items() if k != "metadata.json"}
    return arrays, json.loads(zipfile.ZipFile(path).read("metadata.json"))


def load_safetensors(path):
    raw = open(path, "rb").read()
    n = struct.unpack("<Q", raw[:8])[0]
    head, body = json.loads(raw[8:8 + n]), raw[8 + n:]
    meta = head.pop("__metadata__")
    return {k: np.frombuffer(body[slice(*v["data_offsets"])], "<f8").reshape(v["shape"]) for k, v in head.items()}, meta


def load(path):
    return load_npz(path) if path.endswith(".npz") else load_safetensors(path)


# ---- a raw row to x ----------------------------------------------------------------------------------------------

def records(text, separator, skip):
    """Fields of a table, quotes as in RFC 4180; blanks around a field without quotes do not count."""
    lines = text.split("\n", skip)[skip] if skip else text
    blank = "[ \t]*" if separator not in " \t" else ""
    field = re.compile(blank + r'(?:"((?:[^"]|"")*)"|([^%s\r\n]*?))' % re.escape(separator) + blank
                       + r"(%s|\r?\n|$)" % re.escape(separator))
    out, row, at = [], [], 0
    while at < len(lines):
        m = field.match(lines, at)
        row.append(m.group(1).replace('""', '"') if m.group(1) is not None else m.group(2))
        at = m.end()
        if m.group(3) != separator or at == len(lines):
            if row != [""]:
                out.append(row)
            row = []
    return out


def spellings(values):
    return {w: k for k, v in enumerate(values) for w in (v if isinstance(v, list) else [v])}


def encode_number(c, words, center, outside, missing):
    v = np.array([np.nan if w in missing else float(w) for w in words])
    far = (v < c["min"]) | (v > c["max"])
    if outside == "clamp":
        v = np.clip(v, c["min"], c["max"])
    elif outside == "missing":
        v[far] = np.nan
    elif far.any():
        sys.exit("column %s: a value outside" % c["name"])
    if np.isnan(v).any() and c["missing"] == "error":
        sys.exit("column %s: a value is missing" % c["name"])
    x = (v - c["min"]) / (c["max"] - c["min"]) - center
    if "knots" in c:
        return np.where(np.isnan(v), -1.0, x)[:, None]
    x[np.isnan(v)] = 0.5 - center if c["missing"] == "middle" else 0.0
    return x[:, None]


def raw_number(c, words, outside, missing):
    """For encoding = raw: as it is, NaN without a value; the graph clamps."""
    v = np.array([np.nan if w in missing else float(w) for w in words])
    if outside == "missing":
        v[(v < c["min"]) | (v > c["max"])] = np.nan
    return v[:, None]


def encode_category(c, words, outside, missing):
    code = spellings(c["values"])
    x = np.zeros((len(words), max(code.values()) + 1))
    for i, w in enumerate(words):
        if w in code:
            x[i, code[w]] = 1.0
        elif not (w in missing or outside == "missing") or c["missing"] == "error":
            sys.exit("column %s: %r is not declared" % (c["name"], w))
    return x


def rows_of_csv(meta, text):
    """encoding = table, or rows for a table without schema, whose label is its last column."""
    settings, center = json.loads(meta["settings"]), float(meta["center"])
    if "schema" not in meta:
        return rows_of_array(meta, np.array([[float(w) for w in r[:-1]] for r in records(text, ",", 0)]))
    schema = json.loads(meta["schema"])
    table = records(text, schema["separator"], schema["skip"])[1 if schema["header"] else 0:]
    parts = []
    for c, words in zip(schema["columns"], zip(*table)):
        outside = c.get("outside", settings.get("data.outside", "error"))
        if c["type"] == "number":
            parts.append(raw_number(c, words, outside, schema["missing"]) if meta["encoding"] == "raw" else
                         encode_number(c, words, center, outside, schema["missing"]))
        elif c["type"] == "category":
            parts.append(encode_category(c, words, outside, schema["missing"]))
    x = np.concatenate(parts, 1)
    return (scatter(meta, x.astype(np.float32)) if meta["encoding"] == "scatter" else x).astype(np.float32)


def rows_of_libsvm(meta, text, columns):
    lines = [part for part in (line.split("#")[0].split() for line in text.splitlines()) if part]
    x = np.zeros((len(lines), columns), np.float32)
    for i, parts in enumerate(lines):
        for pair in parts[1:]:
            j, v = pair.split(":")
            x[i, int(j) - 1] = float(v)
    return x


def rows_of_array(meta, a):
    """(n, columns), or (n, channels, height, width) for images; bytes or floats."""
    v = a.reshape(len(a), -1) / (255.0 if a.dtype == np.uint8 else 1.0)
    if meta["encoding"] == "rows":
        v = v - float(meta["center"])
    if meta["encoding"] == "scatter":
        v = scatter(meta, v - float(meta["center"]))
    return v.astype(np.float32)


@functools.lru_cache(None)
def filters(rows, columns, J, L):
    psi = {(j, t): np.fft.fft2(wavelets.morlet(rows, columns, j, t, L)).real for j in range(J) for t in range(L)}
    return np.fft.fft2(wavelets.gabor(rows, columns, 0.8 * 2 ** (J - 1), 0, 0, 1)).real, psi


def planes(u, J, L):
    """Scattering coefficients of images (n, h, w): (n, planes, h', w')."""
    side = [((n + 2 ** J) // 2 ** J + 1) * 2 ** J for n in u.shape[1:]]
    edge = [((p - n) // 2, (p - n + 1) // 2) for p, n in zip(side, u.shape[1:])]
    u = np.pad(u, [(0, 0)] + edge, mode="reflect")
    phi, psi = filters(*side, J, L)

    def convolve(x, freq, step):
        return np.fft.ifft2(np.fft.fft2(x) * freq)[:, ::step, ::step]

    def low(x, r):
        return convolve(x, wavelets.at_resolution(phi, r), 2 ** (J - r)).real[:, 1:-1, 1:-1]

    first, second = [], []
    for (j, t), f in psi.items():
        u1 = abs(convolve(u, f, 2 ** j))
        first.append(low(u1, j))
        for (j2, t2), f2 in psi.items():
            if j2 > j:
                second.append(low(abs(convolve(u1, wavelets.at_resolution(f2, j), 2 ** (j2 - j))), j2))
    return np.stack([low(u, 0)] + first + second, 1)


def scatter(meta, v):
    settings = json.loads(meta["settings"])
    h, w, c = [int(s) for s in meta["pixels"].split("x")]
    J, L, G = [int(settings["data.scatter_" + k]) for k in ("scales", "angles", "groups")]
    image = v.reshape(len(v), c, h, w)
    f = np.concatenate([planes(image[:, k], J, L) for k in range(c)], 1)
    P = f.shape[1]
    G = min(G, P)
    for k in range(G):
        g = f[:, P * k // G:P * (k + 1) // G]
        g[:] = (g - g.mean((1, 2, 3), keepdims=True)) / np.sqrt(g.var((1, 2, 3), keepdims=True) + 1e-5)
    return f.reshape(len(f), -1)


def hats(meta, x):
    """encoding = curves: numbers with knots become hat functions, and one column for what is missing."""
    parts, at = [], 0
    for c in json.loads(meta["schema"])["columns"]:
        if c["type"] == "category":
            width = len(c["values"])
            parts.append(x[:, at:at + width])
        elif c["type"] == "number" and "knots" in c:
            width, t = 1, x[:, at].astype(np.float64)
            k = (np.array(c["knots"]) - c["min"]) / (c["max"] - c["min"])
            h = np.stack([np.interp(t, k, row) for row in np.eye(len(k))], 1)
            h[t < -0.5] = 0
            parts.append(h if c["missing"] == "error" else np.concatenate([h, (t < -0.5)[:, None]], 1))
        elif c["type"] == "number":
            width = 1
            parts.append(x[:, at:at + 1])
        else:
            width = 0
        at += width
    return np.concatenate(parts, 1)


# ---- x to scores -------------------------------------------------------------------------------------------------

def bounded(meta, x):
    """The row and its constant column, brought into the ball."""
    if meta["encoding"] == "curves":
        s = np.full((len(x), 1), float(meta["row_factor"]))
        return hats(meta, x) * s, s
    v = x.astype(np.float64) - (float(meta["center"]) if meta["encoding"] == "image" else 0.0)
    b, R = float(meta["bias_column"]), float(meta["row_norm"])
    whole = np.concatenate([v, np.full((len(v), 1), b)], 1)
    n = abs(whole).max(1) if meta["norm"] == "max" else np.linalg.norm(whole, axis=1)
    n = np.where(n > 0, n, R)
    s = (R / n if meta["norm"] == "unit" else np.minimum(1.0, R / n))[:, None]
    return v * s, s


def windows(x, k, stride):
    return np.lib.stride_tricks.sliding_window_view(x, (k, k), axis=(2, 3))[:, :, ::stride, ::stride]


def conv(x, layer, weight, bias):
    k, stride, same = int(layer[2]), int(layer[3] or 1), layer[4] == "same"
    if same:
        extra = [max((-(-n // stride) - 1) * stride + k - n, 0) for n in x.shape[2:]]
        x = np.pad(x, [(0, 0), (0, 0)] + [(e // 2, e - e // 2) for e in extra])
    return np.moveaxis(np.tensordot(windows(x, k, stride), weight, ([1, 4, 5], [1, 2, 3])), 3, 1) + bias[:, None, None]


def pool(x, layer):
    """Windows over the edge leave out what is beyond it: as NaN around the image."""
    k, stride = int(layer[2]), int(layer[3] or layer[2])
    if layer[4] == "same":
        extra = [max((-(-n // stride) - 1) * stride + k - n, 0) for n in x.shape[2:]]
        x = np.pad(x, [(0, 0), (0, 0)] + [(e // 2, e - e // 2) for e in extra], constant_values=np.nan)
    w = windows(x, k, stride)
    return np.nanmean(w, (4, 5)) if layer[1] == "avgpool" else np.nanmax(w, (4, 5))


def local_norm(x, radius):
    y = np.empty_like(x)
    for c in range(x.shape[1]):
        near = x[:, max(0, c - radius):c + radius + 1]
        y[:, c] = x[:, c] / (1 + 0.001 / (2 * radius + 1) * (near ** 2).sum(1)) ** 0.75
    return y


def group_norm(x, groups, weight, bias):
    g = x.reshape(len(x), groups, -1)
    g = (g - g.mean(2, keepdims=True)) / np.sqrt(g.var(2, keepdims=True) + 1e-5)
    shape = (1, -1) + (1,) * (x.ndim - 2)
    return g.reshape(x.shape) * weight.reshape(shape) + bias.reshape(shape)


def flat(x):
    return x if x.ndim == 2 else x.transpose(0, 2, 3, 1).reshape(len(x), -1)


def network(arrays, meta, x):
    radius = float(meta.get("hidden_radius", "inf"))
    for i, text in enumerate(meta["layers"].split(",")):
        def part(kind, what):
            return arrays["%s%d.%s" % (kind, i + 1, what)]
        c = re.fullmatch(r"conv(\d+)x(\d+)(?:s(\d+))?(same|valid)?", text)
        p = re.fullmatch(r"(pool|maxpool|avgpool)(\d+)(?:s(\d+))?(same|valid)?", text)
        if (c or p or text.startswith("lrn")) and x.ndim == 2:
            x = x[:, :, None, None]
        if c:
            x = conv(x, c, part("conv", "weight"), part("conv", "bias"))
        elif p:
            x = pool(x, p)
        elif text.startswith("lrn"):
            x = local_norm(x, int(text[3:]))
        elif text.startswith("groupnorm"):
            x = group_norm(x, int(text[9:]), part("groupnorm", "weight"), part("groupnorm", "bias"))
        elif text == "relu":
            x = np.maximum(x, 0)
            if radius < np.inf:
                size = np.sqrt((x ** 2).sum(tuple(range(1, x.ndim)), keepdims=True))
                x = x * (radius / np.maximum(size, radius))
        elif text == "tanh":
            x = np.tanh(x)
        elif text == "sigmoid":
            x = 0.5 + 0.5 * np.tanh(x / 2)
        elif text == "gelu":
            x = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))
        elif text == "flatten":
            x = flat(x)
        else:
            x = flat(x) @ part("dense", "weight").T + part("dense", "bias")
    return x


def scores(arrays, meta, x):
    row, s = bounded(meta, x)
    if "layers" not in meta:
        return row @ arrays["weight"].T + s * arrays["bias"]
    scale, b = float(meta["scale"]), float(meta["bias_column"])
    if "image" in meta:
        h, w, c = [int(k) for k in meta["image"].split("x")]
        return network(arrays, meta, scale * row.reshape(len(row), c, h, w))
    return network(arrays, meta, scale * (np.concatenate([row, s * b], 1) if b else row))


def probabilities(score, meta):
    if "classes" not in meta:
        return None
    if score.shape[1] == 1:
        return 0.5 + 0.5 * np.tanh(score / 2)
    e = np.exp(score - score.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def labels(score, meta):
    if "classes" not in meta:
        return None
    names = json.loads(meta["classes"])
    return [names[k] for k in (score[:, 0] > 0 if score.shape[1] == 1 else score.argmax(1)).astype(int)]
