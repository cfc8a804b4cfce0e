#!/bin/sh
# label: long
# The package in virtual environments of PyPI's newest: scikit-learn with all checks of every estimator, pandas with and
# without pyarrow, polars, DuckDB, hypothesis, PyTorch; type hints by mypy.  Skipped unless PRIVET_INSTALL is yes.
set -eu
[ "${PRIVET_INSTALL:-}" = yes ] || { echo "skipped: PRIVET_INSTALL=yes lets it install packages from PyPI"; exit 77; }
module=$PRIVET_BUILD/python/_core.abi3.so
[ -f "$module" ] || { echo "skipped: this build has no Python module"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
HOME=$work XDG_CACHE_HOME=$work MPLBACKEND=agg
export HOME XDG_CACHE_HOME MPLBACKEND
tests=$PRIVET_SOURCE/tests/python
wheel=$(python3 "$tests/make_wheel.py" "$PRIVET_SOURCE" "$module" "$work")

environment() { # NAME PACKAGES...
    name=$1
    shift
    python3 -m venv "$work/$name"
    "$work/$name/bin/pip" install --quiet "$wheel" "$@"
    python=$work/$name/bin/python
    echo "== $name"
}
cd "$work"
environment all pandas scikit-learn scipy pyarrow polars duckdb hypothesis matplotlib tqdm mypy pandas-stubs
for test in estimators evaluation inputs arrow accounting docstrings frames; do "$python" "$tests/${test}_test.py"; done
"$python" "$tests/sklearn_test.py" --all
cp -r "$PRIVET_SOURCE/python/privet" "$PRIVET_SOURCE/python/pyproject.toml" "$work/"
"$work/all/bin/mypy"
rm -r "$work/privet" "$work/pyproject.toml"
environment plain pandas
for test in estimators evaluation inputs accounting docstrings; do "$python" "$tests/${test}_test.py"; done
environment alone
for test in estimators evaluation inputs accounting docstrings; do "$python" "$tests/${test}_test.py"; done
environment torch torch opacus dp-accounting
for test in torch accounting docstrings; do "$python" "$tests/${test}_test.py"; done
