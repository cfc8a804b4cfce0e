# make install to a folder of its own, then build and run a program against it through pkg-config and CMake.
# shellcheck disable=SC2086  # settings are lists of words
. "$PRIVET_SOURCE/tests/cli/lib.sh"

build=$(dirname "$PRIVET_COMMAND")
cmake=/usr/bin/cmake
[ -x "$cmake" ] || cmake=cmake
check 'cmake --install' "$cmake" --install "$build" --prefix "$work/prefix"
cd prefix || exit 1
for f in bin/privet include/privet.h share/man/man1/privet.1 share/bash-completion/completions/privet \
    share/doc/privet/LICENSE share/doc/privet/README.md share/privet/schema.schema.json; do
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

# The archive: a program that carries the library with it.
check 'installed: libprivet.a' test -s "$libdir/libprivet.a"
# shellcheck disable=SC2046
check 'pkg-config --static' $cc -std=c11 -Wall -Werror -static "$PRIVET_SOURCE/examples/c/01_train.c" \
    $(pkg-config --static --cflags --libs privet) -o alone
check 'needs no library to run' sh -c '! ldd ./alone >/dev/null 2>&1'
check 'runs' ./alone demo/demo_train.csv demo/demo.schema.json alone.pvt
ok verify alone.pvt
sed -i 's/privet 0.1 REQUIRED/privet 0.1 REQUIRED COMPONENTS static/; s/privet::privet/privet::privet_static/' app/CMakeLists.txt
rm -r app/build
check 'find_package, static' "$cmake" -S app -B app/build -DCMAKE_PREFIX_PATH="$work/prefix"
check 'builds' "$cmake" --build app/build
check 'has the library inside' sh -c '! ldd app/build/app | grep -q libprivet'
check 'runs' app/build/app demo/demo_train.csv demo/demo.schema.json three.pvt
ok verify three.pvt

# C++: handles that free themselves, and a callback that lets no exception out.
cat >plus.cc <<'END'
#include <privet.h>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>

struct context {
    pv_ctx *c = nullptr;
    std::exception_ptr thrown;
    context()
    {
        if (pv_ctx_create(nullptr, &c) != PV_OK) throw std::bad_alloc();
        pv_ctx_on_progress(c, progress, this);
    }
    ~context() { pv_ctx_free(c); }
    static bool progress(void *user, const char *what, double, double, double) noexcept
    {
        try {
            if (std::strcmp(what, "training") == 0) throw std::runtime_error("enough");
            return true;
        } catch (...) {
            static_cast<context *>(user)->thrown = std::current_exception();
            return false;
        }
    }
};

int main(int, char **argv)
try {
    context ctx;
    pv_plan *p = nullptr;
    pv_result *r = nullptr;
    if (pv_plan_create(ctx.c, &p) != PV_OK) return 2;
    std::unique_ptr<pv_plan, void (*)(pv_plan *)> plan(p, pv_plan_free);
    if (pv_plan_set(p, "data.path", argv[1]) != PV_OK || pv_plan_set(p, "data.schema", argv[2]) != PV_OK) return 3;
    if (pv_version_number() != PV_VERSION_NUMBER) return 4;
    if (pv_plan_run(p, &r) != PV_E_CANCELLED || r) return 5;
    std::puts(pv_ctx_errmsg(ctx.c));
    std::rethrow_exception(ctx.thrown);
} catch (const std::runtime_error &e) {
    return std::strcmp(e.what(), "enough") ? 6 : 0;
}
END
# shellcheck disable=SC2046
check 'the header is C++ as well' ${CXX:-c++} -std=c++11 -Wall -Wextra -Werror plus.cc $(pkg-config --cflags --libs privet) -o plus
check 'an exception behind the call' env LD_LIBRARY_PATH="$libdir" ./plus demo/demo_train.csv demo/demo.schema.json
# shellcheck disable=SC2046
check 'C++ and the archive' ${CXX:-c++} -std=c++11 -static plus.cc $(pkg-config --static --cflags --libs privet) -o plus
check 'runs' ./plus demo/demo_train.csv demo/demo.schema.json
finish
