"""Networks from and to PyTorch: a Sequential of supported layers, its weights, and back."""

from __future__ import annotations

import math
import os
from typing import Any, Optional

import numpy as np

from ._errors import InvalidInput, Unsupported
from ._estimators import NetworkClassifier

_Shape = tuple[int, int, int]  # height, width, channels; a vector is (1, 1, n)


def _square(x: Any, what: str, at: int) -> int:
    pair = x if isinstance(x, tuple) else (x, x)
    if len(set(pair)) != 1:
        raise Unsupported(f"layer {at}: {what} {x}: only square ones are supported")
    return int(pair[0])


def _conv(m: Any, at: int, s: _Shape) -> tuple[str, _Shape]:
    k, step = _square(m.kernel_size, "kernel", at), _square(m.stride, "stride", at)
    if _square(m.dilation, "dilation", at) != 1 or m.groups != 1 or m.padding_mode != "zeros" or m.bias is None:
        raise Unsupported(f"layer {at}: Conv2d with dilation, groups, another padding_mode or without bias is not supported")
    same = m.padding == "same" or (m.padding != "valid" and _square(m.padding, "padding", at) > 0)
    if same and not (k % 2 == 1 and step == 1 and (m.padding == "same" or _square(m.padding, "padding", at) == k // 2)):
        raise Unsupported(f"layer {at}: Conv2d with padding {m.padding}: 0, or (kernel - 1)/2 with stride 1, is supported")
    h, w = (s[0], s[1]) if same else ((s[0] - k) // step + 1, (s[1] - k) // step + 1)
    return f"conv{m.out_channels}x{k}" + (f"s{step}" if step != 1 else "") + ("same" if same else ""), (h, w, m.out_channels)


def _pool(m: Any, at: int, s: _Shape, word: str) -> tuple[str, _Shape]:
    k, step = _square(m.kernel_size, "kernel", at), _square(m.stride, "stride", at)
    if _square(m.padding, "padding", at) != 0 or m.ceil_mode or _square(getattr(m, "dilation", 1), "dilation", at) != 1:
        raise Unsupported(f"layer {at}: a pool with padding, dilation or ceil_mode is not supported")
    return f"{word}{k}" + (f"s{step}" if step != k else ""), ((s[0] - k) // step + 1, (s[1] - k) // step + 1, s[2])


def _layer(m: Any, at: int, s: _Shape) -> tuple[str, _Shape]:
    """Its description and the shape behind it; by the name of the class."""
    name = type(m).__name__
    if name == "Linear":
        if m.in_features != s[0] * s[1] * s[2]:
            raise InvalidInput(f"layer {at}: Linear takes {m.in_features} numbers, and {s[0] * s[1] * s[2]} come in")
        if m.bias is None:
            raise Unsupported(f"layer {at}: Linear without bias is not supported")
        return f"dense{m.out_features}", (1, 1, m.out_features)
    if name == "Conv2d":
        return _conv(m, at, s)
    if name in ("MaxPool2d", "AvgPool2d"):
        return _pool(m, at, s, "pool" if name == "MaxPool2d" else "avgpool")
    if name == "GroupNorm" and m.affine and abs(m.eps - 1e-5) < 1e-12:
        return f"groupnorm{m.num_groups}", s
    if name == "GELU" and m.approximate == "tanh":
        return "gelu", s
    if name in ("ReLU", "Tanh"):
        return name.lower(), s
    if name == "Flatten":
        return "flatten", s  # the order of torch is undone in the weights of the next Linear
    hint = "; nn.GELU(approximate='tanh') is" if name == "GELU" else ""
    raise Unsupported(
        f"layer {at}: {name} is not supported{hint}. Supported: Linear, Conv2d, MaxPool2d, AvgPool2d, GroupNorm, ReLU, Tanh, "
        "GELU, Flatten"
    )


def _walk(module: Any, s: _Shape) -> list[tuple[Any, str, _Shape]]:
    """Modules with their descriptions and the shapes that come in."""
    if type(module).__name__ != "Sequential":
        raise Unsupported(f"{type(module).__name__}: a torch.nn.Sequential is needed")
    out = []
    for at, m in enumerate(module, 1):
        said, behind = _layer(m, at, s)
        out.append((m, said, s))
        s = behind
    if not out or type(out[-1][0]).__name__ != "Linear":
        raise Unsupported("the last layer must be a Linear with one output for each class")
    return out


def _array(t: Any) -> Any:
    return t.detach().cpu().numpy().astype(np.float64)


def _ours(m: Any, s: _Shape) -> Any:
    """Weights of one module in the library's order (src/model/net.h); (): it has none."""
    if getattr(m, "weight", None) is None:
        return np.empty(0)
    w = _array(m.weight)
    if type(m).__name__ == "Conv2d":
        w = w.transpose(2, 3, 1, 0)
    elif type(m).__name__ == "Linear":
        w = w.reshape(w.shape[0], s[2], s[0], s[1]).transpose(2, 3, 1, 0)
    return np.concatenate([w.ravel(), _array(m.bias).ravel()])


def _input(est_image: Optional[str], walk_in: int) -> _Shape:
    if not est_image:
        return 1, 1, walk_in
    sides = [int(v) for v in est_image.split("x")]
    return sides[0], sides[1], sides[2] if len(sides) > 2 else 1


def from_torch(module: Any, *, image: Optional[str] = None, start: bool = True, **settings: Any) -> NetworkClassifier:
    """A `NetworkClassifier` with the architecture and, with start=True, the weights of a torch.nn.Sequential.

    The weights are **declared public** by this: pass none that were trained on the private rows. Inputs are what the
    declared bounds make of a row, every column from 0 to 1, without a constant column. image: "28x28" or "32x32x3" for
    Conv2d. Further keywords are those of `NetworkClassifier`.

    >>> import privet
    >>> try:
    ...     from torch import nn
    ...     net = privet.from_torch(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)), bounds=(0, 1))
    ...     net.layers
    ... except ImportError:  # PyTorch is not installed
    ...     "dense8,relu,dense"
    'dense8,relu,dense'
    """
    first = next((m for m in module if hasattr(m, "in_features")), None) if hasattr(module, "__iter__") else None
    shape = _input(image, first.in_features if first is not None else 0)
    walked = _walk(module, shape)
    words = [said for _, said, _ in walked]
    words[-1] = "dense"  # one output for each class
    columns = shape[0] * shape[1] * shape[2]
    given: dict[str, Any] = {"bias": 0, "row_norm": math.sqrt(columns), "model_scale": 1.0, **settings}
    if image is not None:
        given["image"] = image
    est = NetworkClassifier(layers=",".join(words), **given)
    if start:
        est._start = np.concatenate([_ours(m, s) for m, _, s in walked])
    return est


def to_torch(est: Any, module: Any = None) -> Any:
    """The trained weights as a torch.nn.Sequential, or put into the one that `from_torch` was given.

    What the module computes from a row as the declared bounds encode it is `decision_function` up to rounding, for an
    estimator that `from_torch` made; of two classes, the difference of its two numbers is.

    >>> import numpy as np, privet
    >>> X = np.random.default_rng(4).random((500, 3)); y = np.arange(500) % 2
    >>> try:
    ...     import torch
    ...     net = privet.NetworkClassifier(layers="dense4,relu,dense", bounds=(0, 1), classes=[0, 1], bias=0)
    ...     len(privet.to_torch(net.fit(X, y)))
    ... except ImportError:  # PyTorch is not installed
    ...     3
    3
    """
    import torch

    fitted = est._ready()
    if module is None:
        module = _build(est, fitted)
    walked = _walk(module, _input(getattr(est, "image", None), fitted.features))
    w, at = fitted.vector(), 0
    with torch.no_grad():
        for m, _, s in walked:
            if getattr(m, "weight", None) is None:
                continue
            n, b = m.weight.numel(), m.bias.numel()
            part, bias = w[at : at + n], w[at + n : at + n + b]
            at += n + b
            if type(m).__name__ == "Conv2d":
                k = m.weight.shape
                part = part.reshape(k[2], k[3], k[1], k[0]).transpose(3, 2, 0, 1)
            elif type(m).__name__ == "Linear":
                part = part.reshape(s[0], s[1], s[2], -1).transpose(3, 2, 0, 1)
            m.weight.copy_(torch.from_numpy(np.ascontiguousarray(part)).reshape(m.weight.shape))
            m.bias.copy_(torch.from_numpy(bias))
    if at != w.size:
        raise InvalidInput(f"the module has {at} weights, the model {w.size}: was it made with a constant column (bias)?")
    return module


def _build(est: Any, fitted: Any) -> Any:
    from torch import nn

    layers: list[Any] = []
    n = fitted.features
    for word in str(est.layers).replace(" ", "").split(","):
        if word.startswith("dense"):
            units = int(word[5:] or fitted.classes or fitted.outputs)  # two classes have one score and two units
            layers.append(nn.Linear(n, units))
            n = units
        elif word in ("relu", "tanh", "gelu"):
            layers.append({"relu": nn.ReLU(), "tanh": nn.Tanh(), "gelu": nn.GELU(approximate="tanh")}[word])
        else:
            raise Unsupported(f"{word}: pass the module for networks with other layers than dense, relu, tanh and gelu")
    return nn.Sequential(*layers)


class StartFile:
    """The start as a file for the library, for as long as a fit takes."""

    def __init__(self, weights: Any) -> None:
        import tempfile

        self._folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self._folder.name, "start.npy")
        np.save(self.path, weights)

    def close(self) -> None:
        self._folder.cleanup()
