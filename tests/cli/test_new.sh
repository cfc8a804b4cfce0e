# label: long
# `privet new`: what it writes into a copy of the tree builds and passes the contract tests as it is, and keeps the rules of the tree.
. "$PRIVET_SOURCE/tests/cli/lib.sh"

mkdir tree
for part in .clang-format CMakeLists.txt Makefile CONTRIBUTING.md README.md CHANGELOG.md SECURITY.md LICENSE include src cli cmake tools tests bench examples docs; do
    cp -r "$PRIVET_SOURCE/$part" tree/
done
find tree -type f | sort | xargs cksum >before
ok new loss bent --tree tree
has out 'PV_PLUGIN(loss, bent) in src/core/registry.def'
has out 'build/privet train DATA model=bent'
long=abcdefghijklmnopqrstuvwx # as long as a name may be
cd tree || exit 1
ok new penalty soft-edge
ok new optimizer heavy --json
same 'as JSON' '{"source": "src/opt/opt_heavy.c", "test": "tests/unit/opt/test_opt_heavy.c", "page": "docs/algorithms/heavy.md", "line": "PV_PLUGIN(optimizer, heavy)", "registry": "src/core/registry.def"}' \
    "$(cat out)"
rm out err
cd .. || exit 1
find tree -type f | sort | xargs cksum >after
same 'nine new files and the list, nothing else' \
    'docs/algorithms/bent.md docs/algorithms/heavy.md docs/algorithms/soft-edge.md src/core/registry.def src/model/loss_bent.c src/opt/opt_heavy.c src/reg/reg_soft_edge.c tests/unit/model/test_loss_bent.c tests/unit/opt/test_opt_heavy.c tests/unit/opt/test_reg_soft_edge.c' \
    "$(diff before after | sed -n 's/^> .* tree.//p' | sort | tr '\n' ' ' | sed 's/ $//')"
same 'three lines more' 3 "$(diff "$PRIVET_SOURCE/src/core/registry.def" tree/src/core/registry.def | grep -c '^> PV_PLUGIN(')"

# ---- nothing is written over
fails 2 'privet: tree/src/model/loss_bent.c exists already; choose another name' new loss bent --tree tree
rm tree/docs/algorithms/bent.md tree/tests/unit/model/test_loss_bent.c
mv tree/src/model/loss_bent.c aside
fails 2 'privet: tree/src/core/registry.def has a PV_PLUGIN(loss, bent) already; choose another name' new loss bent --tree tree
check 'and nothing was begun' test ! -e tree/docs/algorithms/bent.md
sed '/PV_PLUGIN(loss, bent)/d' tree/src/core/registry.def >listed && mv listed tree/src/core/registry.def
ok new loss bent --tree tree
check 'the same again' cmp aside tree/src/model/loss_bent.c
fails 2 'privet: tree/docs/algorithms/heavy.md exists already; choose another name' new loss heavy --tree tree

# ---- bad input
fails 2 'privet: . holds no source of privet (src/core/registry.def); name its folder with --tree' new loss other
fails 2 'privet: new makes no los; did you mean loss?' new los other --tree tree
fails 2 'privet: new makes no reader; there is loss, penalty and optimizer, and CONTRIBUTING.md for the rest' new reader other --tree tree
for name in X a a_b -a a- 1a "$long"y; do
    fails 2 "privet: $name is no name for a plug-in: 2 to 24 small letters, digits and dashes are, the first a letter" new --tree tree -- loss "$name"
done
fails 2 'privet: new needs more: privet new loss|penalty|optimizer NAME [--tree FOLDER]' new loss

# ---- the rules of the tree, for names of any length too
for kind in loss penalty optimizer; do ok new $kind "$(echo $kind | cut -c1)$(echo $long | cut -c2-)" --tree tree; done
for rule in includes words docs refs lengths; do same "$rule" '' "$(sh tree/tools/check_$rule.sh)"; done
if clang-format --version 2>/dev/null | grep -q ' 14\.'; then same 'format' '' "$(sh tree/tools/check_format.sh)"; fi

# ---- it builds, and what is new fulfils its contract
cd tree || exit 1
cmake=/usr/bin/cmake ctest=/usr/bin/ctest
[ -x "$cmake" ] || cmake=cmake ctest=ctest
check 'configures' "$cmake" -G Ninja -B build -S . -DPRIVET_WERROR=ON
# shellcheck disable=SC2046  # names have no blanks
check 'builds without warnings' "$cmake" --build build --target privet privet_cmd \
    $(find tests/contract tests/unit -name 'test_*.c' | sed -n 's,.*contract/\(.*\)\.c$,\1,p; s,.*/\(test_\(loss\|reg\|opt\)_.*\)\.c$,\1,p')
PRIVET_COMMAND=$PWD/build/privet
"$ctest" --test-dir build -L contract --output-on-failure >../ctest.log 2>&1 || problem "contract tests: $(tail -40 ../ctest.log)"
"$ctest" --test-dir build -R 'test_(loss|reg|opt)_' --output-on-failure >../ctest.log 2>&1 || problem "their own tests: $(tail -40 ../ctest.log)"
check 'six of them' grep -q '100% tests passed, 0 tests failed out of 6' ../ctest.log
cd "$work" || exit 1
small_data >small
ok train small --quiet model=bent reg=soft-edge optimizer=heavy budget.delta=1e-5 --out new.pvt
ok verify new.pvt
finish
