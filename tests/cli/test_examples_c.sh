# Every program in examples/c is built against an installed copy, with AddressSanitizer where the compiler has it, and runs.
# shellcheck disable=SC2046,SC2086  # flags are lists of words
. "$PRIVET_SOURCE/tests/cli/lib.sh"

cmake=/usr/bin/cmake
[ -x "$cmake" ] || cmake=cmake
check 'cmake --install' "$cmake" --install "$(dirname "$PRIVET_COMMAND")" --prefix "$work/prefix"
export PKG_CONFIG_PATH LD_LIBRARY_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name privet.pc)")
LD_LIBRARY_PATH=$(pkg-config --variable=libdir privet)
cc=${CC:-cc} cxx=${CXX:-c++} flags='-g -Wall -Wextra -Werror -pthread'
nm -D "$LD_LIBRARY_PATH/libprivet.so" | grep -q __asan_init && instrumented=yes || instrumented=no
echo 'int main(void) { return 0; }' >probe.c
if [ "$instrumented" = no ] && $cc -fsanitize=address,undefined probe.c -o probe 2>/dev/null && ./probe; then
    flags="$flags -fsanitize=address,undefined -fno-sanitize-recover=all"
fi

for source in "$PRIVET_SOURCE"/examples/c/*; do
    name=${source##*/}
    case $name in
    [0-9][0-9]_*.c) check "builds: $name" $cc -std=c11 $flags "$source" $(pkg-config --cflags --libs privet) -o "${name%.*}" ;;
    [0-9][0-9]_*.cpp) check "builds: $name" $cxx -std=c++11 $flags "$source" $(pkg-config --cflags --libs privet) -o "${name%.*}" ;;
    *) problem "$name has no number" ;;
    esac
done

privet demo demo >/dev/null 2>&1
check '01_train' ./01_train demo/demo_train.csv demo/demo.schema.json one.pvt
ok verify one.pvt
runs() { # a program; its output goes to out
    checks=$((checks + 1))
    "$@" >out 2>err || problem "$1: $(cat out err)"
}
runs ./02_memory
has out 'epsilon 1 at delta'
has out 'from a file: the same weights'
runs ./03_arrow
has out '2000 rows, 7 weights, epsilon 1 at delta'
printf '%s\n' '1 1:0.5 2:1' '-1 1:-0.5 2:-1' '1 1:0.25 2:0.75' '-1 1:-1 2:0.1' >two.svm
privet train two.svm run.least=1 --delta 0.01 --out two.pvt >/dev/null 2>&1
runs ./04_predict two.pvt 0.5 1
check '04_predict marks one class' test "$(grep -c '^\*' out)" = 1
checks=$((checks + 1))
./04_predict two.pvt 0.5 >out 2>err && problem '04_predict took a row of one column'
has err 'rows'
runs ./05_cancel
has out 'the budget of the whole run counts as spent'
runs ./06_cpp
has out 'mean squared error'
has out 'refused: '
finish
