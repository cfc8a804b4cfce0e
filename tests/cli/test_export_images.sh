# label: long
# Exported models against predict, row by row, on public images: MNIST and CIFAR-10, ten classes and two, networks, linear models and scattering.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
data=${PRIVET_DATA:-$PRIVET_SOURCE/../shared/data}
[ -f "$data/mnist/t10k-images-idx3-ubyte.gz" ] || skip "no data in \$PRIVET_DATA or $data"
python_with numpy onnx onnxruntime
"$python" "$PRIVET_SOURCE/tests/cli/export_check.py" "$PRIVET_COMMAND" images "$data" 2>&1 || problem "exports differ"
finish
