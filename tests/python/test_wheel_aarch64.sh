#!/bin/sh
# label: long
# The wheel for 64-bit Arm, made on another machine by tools/wheel.sh, imports and trains in Debian's Python for that
# processor under qemu-user.  Needs PyPI and Debian's archive; skipped unless PRIVET_INSTALL is yes.
set -eu
[ "${PRIVET_INSTALL:-}" = yes ] || { echo "skipped: PRIVET_INSTALL=yes lets it install packages"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "skipped: made for x86-64"; exit 77; }
if ! why=$(sh "$PRIVET_SOURCE/tools/bootstrap.sh" qemu-user zlib1g-dev:arm64 libbz2-dev:arm64 2>&1); then
    echo "skipped: $why"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh "$PRIVET_SOURCE/tools/wheel.sh" "$work/wheel" aarch64 >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
ls "$work"/wheel/dist/privet-*-abi3-manylinux_2_2[0-8]_aarch64.whl

# A Python of that processor, nothing of which is installed
mkdir "$work/debs" "$work/site"
cd "$work/debs"
for package in python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libexpat1 libc6 zlib1g libbz2-1.0 libffi8 libgcc-s1 \
    liblzma5 libstdc++6; do
    apt-get download --quiet --quiet "$package:arm64" 2>"$work/log" || { echo "skipped: no $package:arm64: $(cat "$work/log")"; exit 77; }
done
for package in *.deb; do dpkg-deb -x "$package" "$work/arm"; done
"$work/wheel/tools/bin/pip" download --quiet --platform manylinux_2_27_aarch64 --platform manylinux2014_aarch64 --python-version 3.11 \
    --only-binary :all: --no-deps --dest "$work/debs" numpy
for wheel in "$work"/debs/numpy*.whl "$work"/wheel/dist/*.whl; do python3 -m zipfile -e "$wheel" "$work/site"; done
cd "$work"
PYTHONPATH=$work/site PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
python() { qemu-aarch64 -L "$work/arm" "$work/arm/usr/bin/python3.11" "$@"; }
python -c 'import platform, privet; assert platform.machine() == "aarch64"; print(privet.__version__, platform.machine())'
python "$PRIVET_SOURCE/tests/python/accounting_test.py" Accounting
python "$PRIVET_SOURCE/tests/python/estimators_test.py" Matrices.test_layouts_and_types_give_the_same_weights Matrices.test_regressors \
    Matrices.test_sparse_rows Matrices.test_networks Matrices.test_pickle_copy_and_a_damaged_one
