#!/bin/sh
# test_headers.sh - every header compiles alone; the public ones as C and as C++.
set -eu
source=${PRIVET_SOURCE:-$(dirname "$0")/../..}
cd "$source"
flags='-fsyntax-only -Wall -Wextra -Werror -Iinclude -Isrc -D_GNU_SOURCE'

alone() { # compiler and its options, header
    # shellcheck disable=SC2086  # options
    printf '#include "%s"\n#include "%s"\nint used;\n' "$2" "$2" | $1 $flags - || {
        echo "$2 does not compile alone with $1"
        exit 1
    }
}
for header in include/*.h; do
    alone "${CC:-cc} -x c -std=c11" "$(basename "$header")"
    if command -v c++ >/dev/null 2>&1; then alone 'c++ -x c++ -std=c++11 -pedantic' "$(basename "$header")"; fi
done
command -v c++ >/dev/null 2>&1 || echo "no C++ compiler: public headers were compiled as C only"
find src -name '*.h' | sed 's|^src/||' | while read -r header; do alone "${CC:-cc} -x c -std=c11" "$header"; done
