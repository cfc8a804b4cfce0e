#!/bin/sh
# test_arrow_peers.sh - Arrow streams of pyarrow, polars and duckdb give the rows that the same tables give as CSV.
# label: long
#
# The three libraries come from PyPI into a virtual environment outside of the tree, kept from one run to the next in
# $PRIVET_PEERS (default: privet-arrow-peers in $XDG_CACHE_HOME or ~/.cache).  Skipped where they cannot be had.
set -eu
source=${PRIVET_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${PRIVET_BUILD:-$source/build}
library=$build/tests/libarrow_peers.so
home=${PRIVET_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/privet-arrow-peers}
[ -e "$library" ] || {
    echo "skipped: there is no $library"
    exit 77
}
if ! "$home/bin/python" -c 'import pyarrow, polars, duckdb, numpy' 2>/dev/null; then
    if ! { python3 -m venv "$home" && "$home/bin/pip" install --quiet --timeout 30 pyarrow polars duckdb numpy; } >"${TMPDIR:-/tmp}/arrow-peers-$$" 2>&1; then
        echo "skipped: pyarrow, polars and duckdb cannot be installed from PyPI: $(tail -n 1 "${TMPDIR:-/tmp}/arrow-peers-$$")"
        rm -f "${TMPDIR:-/tmp}/arrow-peers-$$"
        exit 77
    fi
    rm -f "${TMPDIR:-/tmp}/arrow-peers-$$"
fi
PYTHONDONTWRITEBYTECODE=1 "$home/bin/python" "$source/tests/cli/arrow_peers.py" "$library" "${PRIVET_PEER_TABLES:-1000}"
