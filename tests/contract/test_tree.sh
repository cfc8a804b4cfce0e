#!/bin/sh
# test_tree.sh - the source tree keeps its rules, and the checks that say so notice when it does not.
set -eu
source=${PRIVET_SOURCE:-$(dirname "$0")/../..}
sh "$source/tools/check_includes.sh" "$source"
sh "$source/tools/check_words.sh" "$source"
sh "$source/tools/check_docs.sh" "$source"
sh "$source/tools/check_refs.sh" "$source"
sh "$source/tools/check_lengths.sh" "$source"

# A small tree that breaks each rule once.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/include" "$tree/cli" "$tree/tests" "$tree/docs"
for folder in core data acct mech opt cert run; do mkdir -p "$tree/src/$folder"; done
put() { printf '%s\n' "$2" >"$tree/$1"; }
put include/privet.h '#include "core/core.h"'
put src/core/core.h ''
put src/core/registry.def 'PV_PLUGIN(loss, listed)
PV_PLUGIN(optimizer, known_one)'
put src/opt/opt_known_one.c 'const char *own = "known-one";'
put src/cert/knows.c 'const char *foreign = "known-one";'
put src/core/up.c '#include "run/run.h"'
put src/run/run.h '#include "opt/opt.h"'
put src/opt/opt.h '#include "data/load.h"'
put src/data/load.h ''
put src/acct/side.c '#include "mech/mech.h"'
put src/mech/mech.h '#include <sodium.h>'
put src/mech/dots.c '#include "../core/core.h"'
put src/cert/second_order.c '#include <sodium.h>'
put src/cert/lost.c '#include "gone.h"'
put src/cert/loss.c 'const pv_loss_ops pv_loss_listed = { 0 };
const pv_loss_ops pv_loss_forgotten = { 0 };'
put cli/main.c '#include "core/core.h"'
put tests/main.c 'int x; '
put docs/a.md "fix this: TO""DO"
put docs/b.md "see /ho""me/someone"
put .clang-format 'ColumnLimit: 50'
{
    printf 'int long_one(int x)\n{\n'
    yes '    x++;' | head -61
    printf '}\n\nint short_one(int x)\n{\n'
    yes '    x++;' | head -60
    printf '}\n'
} >"$tree/tests/lengths.c"
printf '%s\n' '/* fifty columns are allowed, and not one more. */' \
    '/* fifty columns, of which two are µ ± and thin */' \
    '/* fifty-one columns, and that is one too many.. */' \
    >"$tree/tests/wide.c"
put docs/c.md 'in `src/core/core.h`, `src/core/gone.c` and `unit/test_gone`'
put CHANGELOG.md '## Unreleased
## 0.3.0'
put CMakeLists.txt 'project(privet VERSION 0.2.0 LANGUAGES C)'
put src/mech/proved.c '/* proved.c - head.
 *   (1) a formula; others are in distant.c (3)
 *   (2) another */
int proved(void); /* (4): not in the head */'
put src/mech/cites.c '/* other.c - by proved.c (1), (2) and
 * proved.c (1), (4), proved.c (3), and
 * vanished.c (1); see also missing.c. */'
put docs/d.md 'Derived in `src/mech/proved.c` (2) and `src/mech/proved.c` (5); proved.c:proved, absent and
proved.c:gone; `pvi_vanished`, `proved`'

expect() { # checker, text that one of its lines must hold
    if ! sh "$source/tools/$1" "$tree" | grep -qF -- "$2"; then
        echo "$1 did not report: $2"
        sh "$source/tools/$1" "$tree" || true
        exit 1
    fi
}
same_output() { # checker, all it must say
    if got=$(sh "$source/tools/$1" "$tree"); then
        echo "$1 did not fail"
        exit 1
    fi
    if [ "$got" != "$2" ]; then
        printf '%s said\n%s\nwanted\n%s\n' "$1" "$got" "$2"
        exit 1
    fi
}
expect check_includes.sh 'src/core/up.c:1: core may not include run/run.h'
expect check_includes.sh 'src/acct/side.c:1: acct may not include mech/mech.h'
expect check_includes.sh 'src/opt/opt.h:1: opt may not include data/load.h'
expect check_includes.sh 'src/mech/dots.c:1: include from src, not through ..'
expect check_includes.sh 'src/cert/lost.c:1: gone.h is neither'
expect check_includes.sh 'cli/main.c:1: core/core.h: only privet.h'
expect check_includes.sh 'a public header includes public headers only'
expect check_includes.sh 'sodium.h is included by more than one file'
expect check_includes.sh 'main.c: two files have this name'
expect check_includes.sh 'pv_loss_forgotten is defined but not listed'
expect check_includes.sh 'src/cert/knows.c:1: names the optimiser known_one'
expect check_words.sh 'docs/a.md:1:'
expect check_words.sh 'docs/b.md:1:'
expect check_words.sh 'tests/main.c:1:'
expect check_docs.sh 'docs/c.md:1: there is no src/core/gone.c'
expect check_docs.sh 'docs/c.md:1: there is no test unit/test_gone'
same_output check_lengths.sh 'tests/lengths.c:2: long_one has 61 lines, at most 60
tests/wide.c:3: 51 columns, at most 50'
expect check_docs.sh 'CHANGELOG.md: its newest version is 0.3.0, that of CMakeLists.txt 0.2.0'
expect check_refs.sh 'src/mech/proved.c: distant.c: there is no such file'
expect check_refs.sh 'src/mech/cites.c: proved.c (1), (4): the head of proved.c has no (4)'
expect check_refs.sh 'src/mech/cites.c: proved.c (3): the head of proved.c has no (3)'
expect check_refs.sh 'src/mech/cites.c: vanished.c (1): there is no vanished.c'
expect check_refs.sh 'src/mech/cites.c: missing.c: there is no such file'
expect check_refs.sh 'src/mech/cites.c: the first line does not begin with /* cites.c -'
expect check_refs.sh 'docs/d.md: proved.c` (5): the head of proved.c has no (5)'
expect check_refs.sh 'docs/d.md: proved.c:proved, absent: proved.c has no absent'
expect check_refs.sh 'docs/d.md: pvi_vanished: nothing is called so'
expect check_refs.sh 'docs/d.md: proved.c:gone: proved.c has no gone'
if sh "$source/tools/check_refs.sh" "$tree" | grep -qF '(2):'; then
    echo "check_refs.sh reports a reference that is true"
    exit 1
fi
if sh "$source/tools/check_includes.sh" "$tree" | grep -qF 'opt_known_one.c'; then
    echo "an optimiser may name itself"
    exit 1
fi
if sh "$source/tools/check_includes.sh" "$tree" | grep -qF 'src/run/run.h:1'; then
    echo "run may include opt"
    exit 1
fi
