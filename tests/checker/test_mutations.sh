#!/bin/sh
# test_mutations.sh [text] - breaks the accountants in one place at a time: some test must notice.
# label: long
#
# mutations.txt has one mutation a line: file below src, test that is tried first, sed expression, what it does; separated
# by tabs.  The file is changed, compiled and linked before the library into each accounting test, the quickest first, until
# one fails.  A mutation that no test notices, or that no longer changes the file, fails this test.
#   With a text, only mutations whose line contains it.
set -eu
source=${PRIVET_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${PRIVET_BUILD:-$source/build}
export PRIVET_SOURCE="$source"
only=${1:-}
if [ ! -e "$build/build.ninja" ] || ! command -v ninja >/dev/null 2>&1 || [ ! -x "$build/tests/test_masses" ]; then
    echo 'skipped: needs a build by ninja, with Arb'
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tests='test_sums test_account test_acct_compose test_convert test_gaussian_vectors test_renyi_vectors test_ball_vectors
       test_hidden test_hidden_sbcd test_event test_curve test_pld_terms test_pld_vectors test_account_api test_acct_rdp
       test_masses test_accountants test_truths test_questions test_pld_corners test_pld'

compile() { # FILE: $work/m.c in its place, as $work/m.o
    command=$(ninja -C "$build" -t commands "CMakeFiles/privet_objects.dir/src/$1.o" | tail -n 1)
    command=$(printf '%s' "$command" | sed "s|-MD .*|-w -I$source/src/$(dirname "$1") -o $work/m.o -c $work/m.c|")
    (cd "$build" && eval "$command")
}

notices() { # TEST: does it fail?
    command=$(ninja -C "$build" -t commands "tests/$1" | tail -n 1 | sed "s| -o tests/$1 | $work/m.o -o $work/test |")
    (cd "$build" && eval "$command")
    ! timeout 600 "$work/test" >"$work/out" 2>&1
}

# shellcheck disable=SC2086  # a list of words
ninja -C "$build" $tests >"$work/out" 2>&1 || { cat "$work/out"; exit 1; } # an older test would fail by itself
cp "$source/src/acct/gdp.c" "$work/m.c"
compile acct/gdp.c
for test in $tests; do # as it is, nothing may fail
    if notices "$test"; then
        echo "$test fails without a mutation"
        cat "$work/out"
        exit 1
    fi
done

count=0 failed=0
: >"$work/caught"
while IFS='	' read -r file first expression what; do
    case "$file" in '' | '#'*) continue ;; esac
    case "$file $what" in *"$only"*) ;; *) continue ;; esac
    count=$((count + 1))
    sed "$expression" "$source/src/$file" >"$work/m.c"
    if cmp -s "$work/m.c" "$source/src/$file"; then
        echo "NO CHANGE  $file: $what"
        failed=$((failed + 1))
        continue
    fi
    compile "$file"
    by=
    for test in $first $tests; do
        if notices "$test"; then
            by=$test
            break
        fi
    done
    printf '%-24s %-22s %s\n' "${by:-NOT NOTICED}" "$file" "$what"
    [ -n "$by" ] || failed=$((failed + 1))
    echo "$by" >>"$work/caught"
done <"$source/tests/checker/mutations.txt"
sort "$work/caught" | uniq -c | sort -rn
echo "$count mutations, $failed not noticed"
[ "$failed" -eq 0 ] && [ "$count" -gt 0 ]
