#!/bin/sh
# test_certificate_doc.sh - the example of docs/certificate-format.md verifies, and every field is explained.
set -eu
doc=${PRIVET_SOURCE:?}/docs/certificate-format.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk '/^```json$/ { on = 1; next } /^```$/ { on = 0 } on' "$doc" >"$work/certificate.json"
"${PRIVET_COMMAND:?}" verify "$work/certificate.json" >"$work/out"
grep -q 'cost at most epsilon 1, as claimed' "$work/out"

for c in "$work/certificate.json" "$PRIVET_SOURCE/tests/corpus/certificates-v4/unit-sum-one.json"; do
    sed -n 's/^  "\([a-z_]*\)":.*/\1/p' "$c"
done | while read -r field; do
    grep -q "^| .*\`$field\`.* |.*|.*|" "$doc" || {
        echo "docs/certificate-format.md does not explain the field $field"
        exit 1
    }
done

# The table has the fields in the order of the text.
sed -n 's/^  "\([a-z_]*\)":.*/\1/p' "$work/certificate.json" >"$work/fields"
sed -n '/^## Fields/,/^## Events/p' "$doc" | sed -n 's/^| \(`[a-z_`, ]*\) |.*/\1/p' | tr -d '`' | tr ',' '\n' | tr -d ' ' >"$work/table"
diff "$work/fields" "$work/table" || {
    echo 'the table of fields is not in the order of the certificate'
    exit 1
}

# The checksum by the documented recipe, when there is an interpreter to run it.
if command -v python3 >/dev/null 2>&1; then
    cd "$work"
    awk '/python3 -c .import hashlib; t/ { on = 1 } on { sub(/^  /, ""); print } /hexdigest/ { on = 0 }' "$doc" >recipe.sh
    want=$(sed -n 's/^  "checksum": "\(.*\)"$/\1/p' certificate.json)
    got=$(sh recipe.sh)
    if [ "$got" != "$want" ]; then
        echo "the documented recipe gives $got, the certificate says $want"
        exit 1
    fi
fi

# A digit changed anywhere by hand is noticed.
sed 's/"rows": 20000/"rows": 20001/' "$work/certificate.json" >"$work/changed.json"
if "$PRIVET_COMMAND" verify "$work/changed.json" >"$work/out" 2>&1; then
    echo 'a changed certificate was accepted'
    exit 1
fi
