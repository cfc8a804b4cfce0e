#!/bin/sh
# list_symbols.sh [header] - the functions a header declares PV_API or PV_MUST, sorted.
set -eu
sed -n 's/^PV_\(API\|MUST\) .*\(pv_[a-z0-9_]*\)(.*/\2/p' "${1:-$(dirname "$0")/../include/privet.h}" |
    sed 's/.*\bpv_/pv_/' | LC_ALL=C sort
