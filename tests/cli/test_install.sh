# make install to a folder of its own, then build and run a program against it through pkg-config and CMake.
# shellcheck disable=SC2086  # settings are lists of words
. "$PRIVET_SOURCE/tests/cli/lib.sh"

build=$(dirname "$PRIVET_COMMAND")
cmake=/usr/bin/cmake
[ -x "$cmake" ] || cmake=cmake
check 'cmake --install' "$cmake" --install "$build" --prefix "$work/prefix"
cd prefix || exit 1
for f in bin/privet include/privet.h share/man/man1/privet.1 share/bash-completion/completions/privet \
    share/doc/privet/LICENSE share/doc/privet/README.md; do
    check "installed: $f" test -s "$f"
done
for file in $(grep -o '](\([A-Za-z_./-]*\))' share/doc/privet/README.md | tr -d '()]'); do
    check "the installed README points to $file" test -e "share/doc/privet/$file"
done
check 'the header of plug-ins is not installed: they are built with the library' test ! -e include/plugin.h
check 'the installed command finds its library' env -u LD_LIBRARY_PATH bin/privet --version
check 'the completion is bash' sh -c 'command -v bash || exit 0; bash -n share/bash-completion/completions/privet'
has share/man/man1/privet.1 '.TH PRIVET 1'
has share/man/man1/privet.1 'budget.epsilon'
cd "$work" || exit 1

privet demo demo >/dev/null 2>&1
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name privet.pc)")
libdir=$(pkg-config --variable=libdir privet)
cc=${CC:-cc}
# shellcheck disable=SC2046  # flags are words
check 'pkg-config' $cc -std=c11 -Wall -Werror "$PRIVET_SOURCE/examples/c/01_train.c" $(pkg-config --cflags --libs privet) -o one
check 'runs' env LD_LIBRARY_PATH="$libdir" ./one demo/demo_train.csv demo/demo.schema.json one.pvt
ok verify one.pvt

mkdir app
cp "$PRIVET_SOURCE/examples/c/01_train.c" app/
cat >app/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(app C)
find_package(privet 0.1 REQUIRED)
add_executable(app 01_train.c)
target_link_libraries(app PRIVATE privet::privet)
END
check 'find_package' "$cmake" -S app -B app/build -DCMAKE_PREFIX_PATH="$work/prefix"
check 'builds' "$cmake" --build app/build
check 'runs' app/build/app demo/demo_train.csv demo/demo.schema.json two.pvt
ok verify two.pvt

printf '#include <privet.h>\nint main() { return pv_version() == nullptr; }\n' >plus.cc
# shellcheck disable=SC2046
check 'the header is C++ as well' ${CXX:-c++} -Wall -Werror plus.cc $(pkg-config --cflags --libs privet) -o plus
finish
