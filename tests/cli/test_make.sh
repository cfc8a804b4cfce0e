# The Makefile: which command installs what is missing, and that FLAGS= is not ignored in a folder that was built before.
. "$PRIVET_SOURCE/tests/cli/lib.sh"

mkdir bin
cat >bin/fake-cmake <<'FAKE'
#!/bin/sh
[ "$1" = --build ] || { echo "$@" >>calls && mkdir -p build && : >build/build.ninja; }
FAKE
printf '#!/bin/sh\n' >bin/ninja
chmod +x bin/fake-cmake bin/ninja
PATH=$work/bin:$PATH
export PATH
unset MAKEFLAGS MAKELEVEL FLAGS BUILD

configured() { # 'how CMake was called', or '' if it was not; ARGS of make
    want=$1
    shift
    rm -f calls
    make -s -f "$PRIVET_SOURCE/Makefile" CMAKE=fake-cmake configure "$@" >out 2>err || problem "make $*: $(cat err)"
    same "make $*" "$want" "$(cat calls 2>/dev/null)"
}
configured '--fresh -G Ninja -B build -S .'
configured ''
configured '--fresh -G Ninja -B build -S . -DA=1 -DB=x y' FLAGS='-DA=1 -DB="x y"'
configured '' FLAGS='-DA=1 -DB="x y"'
configured ''
configured '--fresh -G Ninja -B build -S .' FLAGS=
configured ''

make -s -f "$PRIVET_SOURCE/Makefile" CMAKE=no-such-cmake all >out 2>err
same 'no cmake: exit code' 2 "$?"
has err 'privet: there is no no-such-cmake; `make setup` installs what privet is built with'

# CMake itself, with ninja as it is, where the libraries are not.
rm bin/ninja
cmake=/usr/bin/cmake
[ -x "$cmake" ] || cmake=cmake
env PKG_CONFIG_LIBDIR="$work" "$cmake" -G Ninja -B b -S "$PRIVET_SOURCE" -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON >out 2>err
same 'no libraries: exit code' 1 "$?"
tr -s '\n ' ' ' <err >line
has line 'missing: libsodium zlib; `make setup` installs what privet is built with (Debian; as root or through sudo)'
finish
