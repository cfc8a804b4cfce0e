#!/bin/sh
# test_symbols.sh - the library exports exactly what privet.h declares, and tools/symbols.txt lists it; of the C
# library it calls nothing that a host would notice.
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

# Nothing that prints, ends the process, changes what belongs to the host, or takes memory past pv_alloc.  fprintf is
# for the line before abort; malloc and free are the default of pv_ctx_create, in ctx.c alone.
nm -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $2); print $2 }' >"$work/called"
for name in printf puts putchar perror exit _exit quick_exit setlocale umask signal sigaction sigprocmask pthread_sigmask raise \
    setenv unsetenv putenv clearenv chdir fesetround srand rand strtok localtime gmtime atexit pthread_atfork \
    fopen fdopen freopen open_memstream tmpfile opendir calloc realloc strdup strndup aligned_alloc posix_memalign \
    getline asprintf vasprintf system popen; do
    ! grep -qx "$name" "$work/called" || { echo "the library calls $name"; exit 1; }
done
archive=$(dirname "$library")/libprivet.a
[ ! -e "$archive" ] || nm -A "$archive" 2>/dev/null | grep -E ' U (malloc|free)$' | grep -v ':ctx\.c\.o:' |
    { ! grep . || { echo 'the files above take memory past pv_alloc'; exit 1; }; }

# A module may be linked with names left open, and is then no use: Python's must find all of them when it is loaded.
module=$(dirname "$library")/python/_core.abi3.so
[ ! -e "$module" ] || ! python3 -c 'import ctypes' 2>/dev/null ||
    python3 -c 'import ctypes, os, sys; ctypes.PyDLL(sys.argv[1], os.RTLD_NOW)' "$module"
