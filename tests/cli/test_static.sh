# The static command: no dynamic libraries, the same weights, and at work in a folder with nothing else in it.
# shellcheck disable=SC2086  # settings are lists of words
. "$PRIVET_SOURCE/tests/cli/lib.sh"

static=$PRIVET_BUILD/static/privet
if [ ! -x "$static" ]; then
    echo 'skipped: not built: libsodium.a, libz.a or libbz2.a is missing, or the build is for sanitizers or coverage'
    exit 77
fi
ldd "$static" >linked 2>&1 || true
has linked 'not a dynamic executable'

privet demo demo >/dev/null 2>&1
gzip -c demo/demo_train.csv >demo/train.csv.gz
mkdir -p root/d
cp "$static" root/privet
cp demo/demo_train.csv demo/demo_test.csv demo/train.csv.gz demo/demo.schema.json root/d/
settings='--schema d/demo.schema.json --epsilon 1 --quiet'

# seeded weights are those of the command beside the shared library
(cd root && ./privet train d/demo_train.csv $settings --seed 3 --out d/one.pvt >/dev/null 2>&1 &&
    "$PRIVET_COMMAND" train d/demo_train.csv $settings --seed 3 --out d/two.pvt >/dev/null 2>&1)
for m in one two; do check "weights of $m" "$PRIVET_COMMAND" export "root/d/$m.pvt" --out "$m.npz"; done
check 'the same weights' cmp one.npz two.npz

if ! chroot root /privet --version >out 2>err; then
    echo "skipped: chroot: $(tail -1 err)"
    exit 77
fi
inside() { # ARGS...
    checks=$((checks + 1))
    env -i "$(command -v chroot)" root /privet "$@" >out 2>err || problem "in an empty folder, privet $*: $(tail -1 err)"
}
inside train d/train.csv.gz $settings --out d/m.pvt
inside verify d/m.pvt
has out 'holds'
inside predict d/m.pvt d/demo_test.csv --out d/scores.csv
check 'scores' test "$(wc -l <root/d/scores.csv)" -gt 4000
inside eval d/m.pvt d/demo_test.csv
has out 'accuracy'
finish
