# Every script in examples/ runs; 01_train.c is built and run by test_install.sh.
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
    [0-9][0-9]_*.c | [0-9][0-9]_*.sh) ;;
    *) problem "${example##*/} has no number" ;;
    esac
done
finish
