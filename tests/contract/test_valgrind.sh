#!/bin/sh
# test_valgrind.sh - every public call, good and bad, under valgrind: no byte is lost, none is read that was not written.
# label: long
set -eu
build=${PRIVET_BUILD:?}
command -v valgrind >/dev/null 2>&1 || { echo 'skipped: valgrind is not installed'; exit 77; }
if nm "$build/tests/test_calls" | grep -Eq '__(asan|tsan)_'; then
    echo 'skipped: a sanitizer does the same'
    exit 77
fi
exec valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,possible \
    "$build/tests/test_calls"
