"""features.py - the rows of the table in docs/python.md, each asked of the packages that are installed here; one line a question.

Run it in an environment for each package: not all of them go together."""

import importlib
import inspect
import warnings
from importlib.metadata import PackageNotFoundError, version

import numpy as np

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.random((400, 2))
Y = (X[:, 0] > 0.5).astype(int)
NAMES = {
    "privet": "privet", "diffprivlib": "diffprivlib", "opacus": "opacus", "jax-privacy": "jax_privacy", "opendp": "opendp",
    "interpret-core": "interpret",
}  # fmt: skip


def get(path):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


ESTIMATORS = {
    "privet": ("privet.LogisticRegression", "privet.LinearRegression"),
    "diffprivlib": ("diffprivlib.models.LogisticRegression", "diffprivlib.models.LinearRegression"),
    "interpret-core": ("interpret.privacy.DPExplainableBoostingClassifier", "interpret.privacy.DPExplainableBoostingRegressor"),
}
PLACES = {
    "privet": ["privet"], "diffprivlib": ["diffprivlib.models"], "interpret-core": ["interpret.privacy"], "opacus": ["opacus"],
    "jax-privacy": ["jax_privacy"],
    "opendp": ["opendp.extras.sklearn.decomposition", "opendp.extras.sklearn.linear_model"],
}  # fmt: skip


def estimator(p):
    """classes with fit, and whether they have get_params"""
    found = []
    for place in PLACES[p]:
        module = importlib.import_module(place)
        for name, x in sorted(vars(module).items()):
            ours = getattr(x, "__module__", "").startswith(NAMES[p]) and not name.startswith("_")
            if ours and inspect.isclass(x) and hasattr(x, "fit"):
                found.append(name if hasattr(x, "get_params") else f"{name} (no get_params)")
    return ", ".join(found) or "no"


def undeclared(p):
    """fit(X, y) without bounds"""
    c = ESTIMATORS.get(p, (None,))[0]
    if not c:
        return "has no classifier"
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            get(c)().fit(X, Y)
        except Exception as e:
            return f"refuses: {type(e).__name__}"
    leaks = [w for w in seen if "rivacy" in w.category.__name__ or "rivacy" in str(w.message)]
    return f"learns them from the rows, with {'a warning' if leaks else 'no warning'}"


def text_columns(p):
    """a pandas frame with a column of text, and labels of text"""
    import pandas as pd

    c = ESTIMATORS.get(p, (None,))[0]
    if not c:
        return "has no classifier"
    df = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0.5, "u", "v")})
    words = np.where(Y == 1, "yes", "no")
    try:
        if p == "privet":
            get(c)(schema={"a": (0, 1), "b": ["u", "v"], "y": get("privet.label")("no", "yes")}).fit(df, words)
        else:
            get(c)().fit(df, words)
        return "yes"
    except Exception as e:
        return f"no: {type(e).__name__}"


def networks(p):
    """trains networks"""
    for path in {"privet": ["privet.NetworkClassifier"], "opacus": ["opacus.PrivacyEngine"], "jax-privacy": ["jax_privacy.clipped_grad", "jax_privacy.clipping"]}.get(p, []):
        try:
            get(path)
            return path
        except (ImportError, AttributeError):
            try:
                importlib.import_module(path)
                return path
            except ImportError:
                pass
    return "no"


def accountants(p):
    """accountants that can be called by themselves"""
    if p == "privet":
        return ", ".join(a["name"] for a in get("privet._settings").table()["accountant"])
    if p == "opacus":
        return ", ".join(sorted(importlib.import_module("opacus.accountants.registry")._ACCOUNTANTS))
    if p == "diffprivlib":
        return "BudgetAccountant" if get("diffprivlib.BudgetAccountant") else "no"
    if p == "jax-privacy":
        return "accounting" if importlib.util.find_spec("jax_privacy.accounting") else "no"
    if p == "opendp":
        return "combinators" if importlib.util.find_spec("opendp.combinators") else "no"
    return "no"


def several(p):
    """what several fits of a process cost together"""
    call = {
        "privet": "privet.spent", "diffprivlib": "diffprivlib.BudgetAccountant.total", "opacus": "opacus.PrivacyEngine.get_epsilon",
        "opendp": "opendp.context.Context.compositor",
    }.get(p)  # fmt: skip
    if call is None:
        return "no call for it was found"
    first, _, last = call.rpartition(".")
    return call if hasattr(get(first) if "." in first else importlib.import_module(first), last) else f"{call} is gone"


def certificate(p):
    """a certificate that can be recomputed"""
    names = [n for n in dir(importlib.import_module(NAMES[p])) if "verif" in n.lower() or "certif" in n.lower()]
    return ", ".join(names) or "no"


for package, module in NAMES.items():
    try:
        got = version(package)
        importlib.import_module(module)
    except PackageNotFoundError:
        continue
    except Exception as e:
        print(f"{package} {got}: cannot be imported here: {e}")
        continue
    for question in (estimator, undeclared, text_columns, networks, accountants, several, certificate):
        try:
            answer = question(package)
        except Exception as e:
            answer = f"{type(e).__name__}: {e}"
        print(f"{package} {got}: {inspect.getdoc(question)}: {answer}")
