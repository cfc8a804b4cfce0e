# label: long
# Exported models against predict, row by row, on public tables: churn (two classes), letters, houses, a9a, Relathe.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
data=${PRIVET_DATA:-$PRIVET_SOURCE/../shared/data}
[ -f "$data/tables/telco_churn.csv.gz" ] || skip "no data in \$PRIVET_DATA or $data"
python_with numpy onnx onnxruntime
"$python" "$PRIVET_SOURCE/tests/cli/export_check.py" "$PRIVET_COMMAND" tables "$data" 2>&1 || problem "exports differ"
finish
