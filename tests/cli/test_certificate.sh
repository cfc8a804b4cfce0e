# A certificate or model that was changed in any way does not verify; one that was not, does.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
small_data >small
ok train small --quiet --delta 1e-4 --out m.pvt --certificate c.json
ok verify c.json
ok verify m.pvt

# Change each digit of the certificate in turn; verify never accepts one, and says so in one line.
digits=$(grep -bo '[0-9]' c.json | cut -d: -f1)
accepted=0 count=0 lines=0
for at in $digits; do
    old=$(dd if=c.json bs=1 skip="$at" count=1 2>/dev/null)
    cp c.json changed.json
    printf '%d' $(((old + 1) % 10)) | dd of=changed.json bs=1 seek="$at" conv=notrunc 2>/dev/null
    code=0
    privet verify changed.json >out 2>err || code=$?
    [ "$code" -eq 3 ] || accepted=$((accepted + 1))
    [ "$(wc -l <err)" -eq 1 ] || lines=$((lines + 1))
    count=$((count + 1))
done
check 'there were digits to change' test "$count" -gt 100
same "accepted of $count changed digits" 0 "$accepted"
same "messages that are not one line" 0 "$lines"

# Words, an added field, a missing end, nothing at all.
sed 's/"relation": "zero-out"/"relation": "replace"/' c.json >changed.json
run verify changed.json
same 'another relation: exit code' 3 "$code"
sed 's/"delta":/"extra": 1, "delta":/' c.json >changed.json
run verify changed.json
same 'an unknown field: exit code' 3 "$code"
head -c 500 c.json >changed.json
run verify changed.json
same 'truncated: exit code' 3 "$code"
: >changed.json
run verify changed.json
same 'empty: exit code' 3 "$code"
same 'empty: one line' 1 "$(wc -l <err)"
fails 3 'privet: missing.json: No such file or directory' verify missing.json

# A model: change a byte here and there, cut it anywhere.
size=$(wc -c <m.pvt)
for part in 0 5 9 20 40 60 80 95 100; do
    at=$((part * (size - 1) / 100))
    cp m.pvt changed.pvt
    byte=$(dd if=m.pvt bs=1 skip=$at count=1 2>/dev/null | od -An -tu1)
    # shellcheck disable=SC2059  # the format is the byte
    printf "\\$(printf '%03o' $(((byte + 1) % 256)))" | dd of=changed.pvt bs=1 seek=$at conv=notrunc 2>/dev/null
    for command in 'verify changed.pvt' 'eval changed.pvt small' 'predict changed.pvt small --out scores.csv'; do
        # shellcheck disable=SC2086  # words
        run $command
        same "byte $at changed, $command: exit code" 3 "$code"
        same "byte $at changed, $command: one line" 1 "$(wc -l <err)"
    done
    head -c $at m.pvt >changed.pvt
    run eval changed.pvt small
    same "cut after $at bytes: exit code" 3 "$code"
    same "cut after $at bytes: one line" 1 "$(wc -l <err)"
done
check 'no scores of a broken model' test ! -e scores.csv
fails 3 'privet: small: not a privet model file' eval small small
ok verify m.pvt

# What verifying shows and what it does not, of each version, and what a certificate assumes.
said() { # 'words' ARGS...: printed by privet ARGS, line ends and blanks aside
    words=$1
    shift
    ok "$@"
    check "privet $* says: $words" sh -c 'tr -s " \n" " " <out | grep -qF -- "$1"' sh "$words"
}
said 'in this file are those that the certificate was written for' verify m.pvt
said 'A signature would show who.' verify m.pvt
said 'Which model it is of: verify the model file' verify c.json
old=$PRIVET_SOURCE/tests/corpus/certificates-v2
said 'a certificate of version 2 does not bind weights' verify "$old/table.pvt"
said 'a row is exposed outright' verify "$old/prgd-replace.json"

# Weights of a run without privacy under header and certificate of a private one, every checksum recomputed.
ok train small --quiet --delta 1e-4 --privacy off --out off.pvt
if command -v python3 >/dev/null 2>&1; then
    cat >forge.py <<'P'
import hashlib, struct, sys
private, off = (open(f, "rb").read() for f in sys.argv[1:3])
h, c, d = struct.unpack("<3Q", private[16:40])
at = 40 + h + c
text = private[:at] + off[len(off) - 32 - 8 * d:len(off) - 32]
open(sys.argv[3], "wb").write(text + hashlib.blake2b(text, digest_size=32).digest())
P
    python3 forge.py m.pvt off.pvt forged.pvt
    fails 3 'privet: forged.pvt: does not hold: the certificate is of other weights' verify forged.pvt
    fails 3 'privet: forged.pvt: does not hold: the certificate is of other weights' predict forged.pvt small
    python3 forge.py m.pvt m.pvt same.pvt
    ok verify same.pvt
    # The recipe of the documentation agrees.
    cp m.pvt model.pvt
    awk '/python3 -c .import hashlib, json, struct/ { on = 1 } on { print } /weights_digest/ { on = 0 }' \
        "$PRIVET_SOURCE/docs/certificate-format.md" | sed '/^|/d' >recipe.sh
    same 'digests by the documented recipe' 'True True' "$(sh recipe.sh)"
fi

# Two runs on the same rows show different digests, and both models recognise the rows.
ok train small --quiet --delta 1e-4 --out m2.pvt --certificate c2.json
for field in data_salt data_digest; do
    check "$field differs between runs" test "$(grep "\"$field\"" c.json)" != "$(grep "\"$field\"" c2.json)"
done
small_data 8 >others
for model in m.pvt m2.pvt; do
    run eval $model small --json --quiet
    check "$model knows its rows" grep -q '"training_rows": true' out
    run eval $model others --json --quiet
    check "$model knows that others are others" grep -q '"training_rows": false' out
done
finish
