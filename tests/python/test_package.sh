#!/bin/sh
# The Python package from an installed wheel, with Debian's numpy, pandas, scikit-learn: tests/python/*_test.py, the
# examples of every docstring, and examples/*.py.  Skipped where those are missing and PRIVET_INSTALL is not yes.
set -eu
python=${PRIVET_TEST_PYTHON:-/usr/bin/python3}
packages="python3-dev python3-venv python3-numpy python3-pandas python3-sklearn"

if [ "$python" = /usr/bin/python3 ] && [ "${PRIVET_INSTALL:-}" = yes ]; then
    # shellcheck disable=SC2086  # a list of words
    sh "$PRIVET_SOURCE/tools/bootstrap.sh" $packages
fi
if ! "$python" -c 'import numpy, pandas, sklearn, venv, ensurepip' 2>/dev/null; then
    echo "skipped: needs $packages; PRIVET_INSTALL=yes installs them"
    exit 77
fi
module=$PRIVET_BUILD/python/_core.abi3.so
if [ ! -f "$module" ]; then
    echo "skipped: this build has no Python module (python3-dev was missing when it was configured, or it is a checked build)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wheel=$("$python" "$PRIVET_SOURCE/tests/python/make_wheel.py" "$PRIVET_SOURCE" "$module" "$work")
"$python" -m venv --system-site-packages "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --no-index --no-deps --disable-pip-version-check "$wheel"
cd "$work"
HOME=$work XDG_CACHE_HOME=$work MPLBACKEND=agg
export HOME XDG_CACHE_HOME MPLBACKEND
"$PRIVET_COMMAND" demo "$work/demo" >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }
for example in "$PRIVET_SOURCE"/examples/*.py; do
    echo "== ${example##*/}"
    "$work/venv/bin/python" "$example" "$work/demo"
done
for test in "$PRIVET_SOURCE"/tests/python/*_test.py; do
    echo "== ${test##*/}"
    "$work/venv/bin/python" -W error::ResourceWarning "$test"
done
