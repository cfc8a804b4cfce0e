#!/bin/sh
# sdist.sh FOLDER PYTHON - the source distribution of the Python package: python/ with the library's sources inside it.
# PYTHON has `build` and scikit-build-core.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$source"
mkdir "$work/tree" "$work/tree/python"
cp -r CMakeLists.txt LICENSE cmake include src cli "$work/tree/"
cp -r python/CMakeLists.txt python/src python/privet "$work/tree/python/"
rm -rf "$work"/tree/python/privet/*.so "$work"/tree/python/privet/__pycache__
cp python/README.md python/LICENSE.bundled "$work/tree/"
# the folder of the project is now the folder of the library
sed 's|^cmake.source-dir = ".."|cmake.source-dir = "."|; s|^wheel.packages = .*|wheel.packages = ["python/privet"]|' \
    python/pyproject.toml >"$work/tree/pyproject.toml"
"$2" -m build --sdist --no-isolation --outdir "$folder" "$work/tree" >/dev/null
