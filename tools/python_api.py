"""python_api.py - docs/python-api.md from the docstrings of the installed package, on standard output."""

import inspect
import re
import textwrap

import privet
from privet import _estimators

HEAD = """# The Python package, name by name

Made from the docstrings by `python tools/python_api.py >docs/python-api.md`; every example is executed by the tests. [python.md](python.md) is the introduction.
"""
OTHERS = """Beside these every setting of the command that goes with its models, made from the library's tables: `help(privet.Ridge)` has those of `Ridge`, and
`privet list` all of them.
"""
KINDS = {"AdditiveClassifier", "AdditiveRegressor", "Classifier", "LinearRegression", "LinearSVC", "LogisticRegression", "NetworkClassifier", "Regressor", "Ridge", "SoftmaxRegression"}
ATTRIBUTES = {
    "certificate_": "the `privet.Certificate`",
    "epsilon_, delta_": "what was spent; infinity and 1 of a model that is NOT PRIVATE",
    "statement_": "the guarantee in a sentence",
    "is_private_": "False: without noise, with a test seed, or with bounds from the rows",
    "noise_": "the `privet.Noise` of the run; None without noise",
    "summary_": "what the run says of itself, as the command's --json does; None of a loaded model",
    "classes_": "classes in the order of `predict_proba`; of classifiers",
    "n_features_in_, feature_names_in_": "columns of X, and their names where it has names",
    "n_iter_": "steps",
}


def signature(f, name):
    """Names and defaults, without types."""
    parts, star = [], False
    for p in inspect.signature(f).parameters.values():
        if p.name == "self":
            continue
        if p.kind is p.VAR_POSITIONAL:
            star = True
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        lead = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        parts.append(lead + p.name + ("" if p.default is p.empty else f"={p.default!r}"))
    return f"{name}({', '.join(parts)})"


def body(x):
    """Text as it is, examples as code; without the list of parameters, which stands in one table."""
    said = inspect.cleandoc(x.__doc__ or "").split("\nParameters\n")[0]
    out, code = [], False
    for line in said.split("\n"):
        begins = line.startswith(">>>")
        if begins and not code:
            out += ["```python"]
            code = True
        elif code and not line.strip():
            out += ["```"]
            code = False
        out.append(line)
    if code:
        while not out[-1].strip():
            out.pop()
        out.append("```")
    return "\n".join(out).rstrip() + "\n"


def members(c, stop=()):
    """Public methods and properties, defined by the class or by those it comes from."""
    rows = []
    for name in sorted(n for n in dir(c) if not n.startswith("_")):
        if any(hasattr(b, name) for b in stop):
            continue
        x = inspect.getattr_static(c, name)
        x = x.__func__ if isinstance(x, (classmethod, staticmethod)) else x
        if isinstance(x, property):
            rows.append((name, inspect.cleandoc(x.__doc__ or "")))
        elif inspect.isfunction(x):
            rows.append((signature(x, name).replace("(cls, ", "(").replace("(cls)", "()"), inspect.cleandoc(x.__doc__ or "")))
    return [(n, re.sub(r"\s+", " ", said.split("\n\n>>>")[0].split("\n>>>")[0])) for n, said in rows if said]


def table(head, rows):
    out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(out + ["| " + " | ".join(str(c).replace("|", "\\|") for c in row) + " |" for row in rows]) + "\n"


def keywords():
    own = [(f"`{w}`", f"`{_estimators._OWN_DEFAULT[w]!r}`", said) for w, said in _estimators._OWN.items()]
    return table(("keyword", "default", "meaning"), own)


def main():
    out = [HEAD, "## Estimators\n"]
    for name in sorted(KINDS):
        out.append(f"### privet.{name}\n\n{body(getattr(privet, name))}")
    out += ["### What they have in common\n", table(("call", "does"), [(f"`{n}`", said) for n, said in members(privet.Classifier)])]
    out += ["After a fit:\n", table(("attribute", "holds"), [(f"`{n}`", said) for n, said in ATTRIBUTES.items()])]
    out += ["### Keywords\n", OTHERS, keywords()]
    classes, functions, errors = [], [], []
    for name in privet.__all__:
        x = getattr(privet, name)
        kind = errors if inspect.isclass(x) and issubclass(x, BaseException) else classes if inspect.isclass(x) else functions
        kind += [] if name in KINDS else [(name, x)]
    out.append("## Functions\n")
    out += [f"### {signature(x, f'privet.{n}')}\n\n{body(x)}" for n, x in functions]
    out.append("## Classes\n")
    for name, x in classes:
        out.append(f"### privet.{name}\n\n{body(x)}")
        rows = members(x, stop=(tuple,) if issubclass(x, tuple) else ())
        if rows:
            out.append(table(("member", "is"), [(f"`{n}`", said) for n, said in rows]))
    out += ["## Exceptions and warnings\n"]
    out.append(table(("name", "raised for", "is also"), [
        (f"`privet.{n}`", inspect.cleandoc(x.__doc__), ", ".join(b.__name__ for b in x.__mro__[1:] if b.__module__ == "builtins" and b not in (object, BaseException)))
        for n, x in errors]))  # fmt: skip
    return textwrap.dedent("\n".join(out))


if __name__ == "__main__":
    print(main(), end="")
