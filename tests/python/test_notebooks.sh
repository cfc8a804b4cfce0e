#!/bin/sh
# label: long
# The notebooks of docs/notebooks run from beginning to end, in a virtual environment of PyPI's packages; the one on Adult
# where its rows are in $PRIVET_DATA.  Skipped unless PRIVET_INSTALL is yes.
set -eu
[ "${PRIVET_INSTALL:-}" = yes ] || { echo "skipped: PRIVET_INSTALL=yes lets it install packages from PyPI"; exit 77; }
module=$PRIVET_BUILD/python/_core.abi3.so
[ -f "$module" ] || { echo "skipped: this build has no Python module"; exit 77; }
PRIVET_DATA=${PRIVET_DATA:-$PRIVET_SOURCE/../shared/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
HOME=$work XDG_CACHE_HOME=$work MPLBACKEND=agg
export HOME XDG_CACHE_HOME MPLBACKEND PRIVET_DATA
wheel=$(python3 "$PRIVET_SOURCE/tests/python/make_wheel.py" "$PRIVET_SOURCE" "$module" "$work")
python3 -m venv "$work/env"
# diffprivlib 0.6.6 cannot be imported beside a newer scikit-learn
"$work/env/bin/pip" install --quiet "$wheel" nbclient ipykernel pandas matplotlib scikit-learn==1.5.2 diffprivlib interpret-core
for book in "$PRIVET_SOURCE"/docs/notebooks/*.ipynb; do
    case ${book##*/} in
    adult.ipynb) [ -f "$PRIVET_DATA/adult/adult.data.gz" ] || { echo "left out: ${book##*/} needs Adult in \$PRIVET_DATA"; continue; } ;;
    esac
    echo "== ${book##*/}"
    "$work/env/bin/python" "$PRIVET_SOURCE/tests/python/run_notebook.py" "$book" "$work"
done
