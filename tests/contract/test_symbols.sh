#!/bin/sh
# test_symbols.sh - the library exports exactly what privet.h declares, and tools/symbols.txt lists it.
#
# The list is under version control so that a change of the interface is a visible change:
#   sh tools/list_symbols.sh > tools/symbols.txt
set -eu
source=${PRIVET_SOURCE:-$(dirname "$0")/../..}
library=$(dirname "${PRIVET_COMMAND:?}")/libprivet.so
[ -e "$library" ] && command -v nm >/dev/null 2>&1 || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sh "$source/tools/list_symbols.sh" "$source/include/privet.h" >"$work/declared"
names() { nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | sed 's/@@PRIVET_0$//'; }
names | grep '^pv' | LC_ALL=C sort >"$work/exported"
if ! diff "$work/declared" "$work/exported"; then
    echo 'declared in privet.h (<) and exported by the library (>) differ'
    exit 1
fi
if ! diff "$source/tools/symbols.txt" "$work/declared"; then
    echo 'tools/symbols.txt (<) and privet.h (>) differ: sh tools/list_symbols.sh > tools/symbols.txt'
    exit 1
fi
# Nothing but pv_ names, apart from what a compiler adds for itself (mangle_path: gcov).
if names | grep -v '^pv_' | grep -v '^_' | grep -vx mangle_path; then
    echo 'the names above are exported but do not begin with pv_'
    exit 1
fi
if nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | grep '^pv_' | grep -v '@@PRIVET_0$'; then
    echo 'the names above have no version (cmake/privet.map)'
    exit 1
fi
readelf -d "$library" 2>/dev/null | grep -q 'SONAME.*\[libprivet\.so\.0\]' || { echo 'the soname is not libprivet.so.0'; exit 1; }
