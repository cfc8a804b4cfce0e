# label: long
# Exported models against predict, row by row, on made-up tables, text rows and images: every model, optimiser and encoding.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
python_with numpy onnx onnxruntime
"$python" "$PRIVET_SOURCE/tests/cli/export_check.py" "$PRIVET_COMMAND" made 2>&1 || problem "exports differ"
finish
