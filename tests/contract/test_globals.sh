#!/bin/sh
# test_globals.sh - the library has no variable outside of handles: two contexts could meet in it.
#
# Every object in a section that stays writable (.data, .bss and those of threads; .data.rel.ro is read-only once the
# library is loaded) has a line below that says why it is harmless, or the test fails.
set -eu
library=$(dirname "${PRIVET_COMMAND:?}")/libprivet.so
[ -e "$library" ] && command -v objdump >/dev/null 2>&1 || exit 77
objdump -t "$library" >"${TMPDIR:-/tmp}/globals.$$"
trap 'rm -f "${TMPDIR:-/tmp}/globals.$$"' EXIT
if grep -Eq '__(asan|tsan|ubsan|gcov|llvm_profile)_' "${TMPDIR:-/tmp}/globals.$$"; then
    echo 'skipped: sanitizers and coverage have variables of their own'
    exit 77
fi
awk '/[ \t]\.(data|bss|tdata|tbss)[ \t]/ && $NF !~ /^\./ { print $NF }' "${TMPDIR:-/tmp}/globals.$$" | LC_ALL=C sort -u |
    while read -r name; do
        case $name in
        __TMC_END__ | __dso_handle | completed.*) ;;   # of the C library's start-up code
        __bss_start | _edata | _end | __data_start | data_start) ;; # places, not objects
        '$d' | '$d.'*) ;; # marks of the assembler on aarch64: data begins here
        __cpu_model | __cpu_features2) ;;               # libgcc: what the processor has, written before main
        __aarch64_have_lse_atomics | __aarch64_cpu_features) ;; # the same on aarch64
        *) echo "$name is a variable of the library: put it into the context, or make it const" ;;
        esac
    done >"${TMPDIR:-/tmp}/globals.$$.found"
found=$(cat "${TMPDIR:-/tmp}/globals.$$.found")
rm -f "${TMPDIR:-/tmp}/globals.$$.found"
[ -z "$found" ] || { echo "$found"; exit 1; }
