# Models for other programs: what is refused, NOT PRIVATE marks, and, where Python has onnxruntime, the same scores.
. "$(dirname "$0")/lib.sh"

i=0
while [ $i -lt 60 ]; do
    echo "$((i % 2 * 2 - 1)) 1:0.$((i % 7)) 2:-1.$((i % 5)) 3:$((i % 3))"
    i=$((i + 1))
done >small
warns "$(few 60)" train small --epsilon 5 --delta 1e-3 optimizer.steps=3 --out m.pvt --quiet
for format in onnx npz safetensors; do
    ok export m.pvt --out m.$format
    same "export to $format" "$(printf '%-12s %s' $format m.$format)" "$(cat out)"
    ok export m.pvt --format $format --out again
    cmp -s m.$format again || problem "export to $format: two exports differ"
done
ok export m.pvt --out m.onnx --json
has out '"format": "onnx"'
fails 2 'privet: export needs --out FILE, as in --out model.onnx' export m.pvt
fails 2 'privet: export needs --format onnx, onnx-raw, npz, npy or safetensors' export m.pvt --out m.bin
fails 2 'privet: onnx-raw is for tables with a schema, whose numbers have units of their own: use onnx' export m.pvt --format onnx-raw --out m.onnx
fails 2 'privet: format pickle: onnx, onnx-raw, npz, npy or safetensors is needed' export m.pvt --format pickle --out m.bin
fails 3 'privet: none/m.onnx: cannot be written: none: No such file or directory' export m.pvt --out none/m.onnx
fails 3 'privet: small: not a privet model file' export small --out m.onnx
ok train small --privacy off optimizer.steps=3 --out off.pvt --quiet
run export off.pvt --out off.onnx
has err 'privet: warning: off.pvt is NOT PRIVATE'
grep -q 'NOT PRIVATE' off.onnx || problem 'export: NOT PRIVATE is not in the file'

python=${PRIVET_PYTHON:-python3}
if ! "$python" -c 'import numpy, onnxruntime' 2>/dev/null; then
    echo "skipped the numeric part: $python has no numpy and onnxruntime (PRIVET_PYTHON names another)"
    finish
    exit
fi
PYTHONDONTWRITEBYTECODE=1 "$python" "$PRIVET_SOURCE/tests/cli/export_check.py" "$PRIVET_COMMAND" few >report 2>&1 ||
    problem "the same scores from onnxruntime: $(tail -3 report)"
finish
