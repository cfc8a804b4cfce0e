# Every script in examples/ runs; examples/c by test_examples_c.sh, those in Python by python/test_package.sh.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
mkdir bin
ln -s "$PRIVET_COMMAND" bin/privet
PATH=$work/bin:$PATH
privet demo demo >out 2>err || problem "privet demo: $(cat err)"
for example in "$PRIVET_SOURCE"/examples/*.sh; do
    checks=$((checks + 1))
    sh "$example" demo >out 2>err || problem "${example##*/}: $(cat out err)"
    check "${example##*/} says something" test -s out
    check "${example##*/} is executable" test -x "$example"
done
for example in "$PRIVET_SOURCE"/examples/*; do
    case ${example##*/} in
    [0-9][0-9]_*.sh | [0-9][0-9]_*.py | c) ;;
    *) problem "${example##*/} has no number" ;;
    esac
done
finish
