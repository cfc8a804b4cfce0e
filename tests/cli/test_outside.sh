# Values outside the declaration: one word for all kinds, a setting for each, "other" and texts among numbers.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
schema() { # KEYS OF age, KEYS OF job
    printf '{"columns": [{"name": "age", "type": "number", "min": 0, "max": 50%s}, {"name": "job", "type": "category", "values": ["a", "b"%s},
        {"name": "y", "type": "label", "values": ["no", "yes"]}]}' "$1" "$2"
}
schema '' ']' >s.json
rows() { # AGE JOB: of every tenth row
    { echo 'age,job,y' && awk -v a="$1" -v j="$2" 'BEGIN { for (i = 0; i < 200; i++) print (i % 10 ? i % 60 % 51 : a) "," (i % 10 ? i % 3 ? "a" : "b" : j) "," (i % 2 ? "no" : "yes") }'; } >t.csv
}
# The same model from the rows as they would be written by hand: other options, then theirs
alike() { # WHAT, OPTIONS..., -- OPTIONS...
    what=$1
    shift
    set -- "$@"
    mine='' theirs='' side=mine
    for o in "$@"; do
        if [ "$o" = -- ]; then side=theirs; elif [ $side = mine ]; then mine="$mine $o"; else theirs="$theirs $o"; fi
    done
    # shellcheck disable=SC2086  # lists of words
    run train $mine --epsilon 1 --quiet --seed 3 --out a.pvt
    same "$what: code" 0 "$code"
    # shellcheck disable=SC2086
    run train $theirs --epsilon 1 --quiet --seed 3 --out b.pvt
    same "$what: the other code" 0 "$code"
    run export a.pvt --out a.npy
    run export b.pvt --out b.npy
    check "$what: there are weights" test -s a.npy
    check "$what" cmp a.npy b.npy
}

# ---- one word, which every hint names
rows 77 c
run train t.csv --schema s.json --epsilon 1
has err 'privet: t.csv:2:1: column "age": 77 is outside the declared 0 .. 50; data.outside=usual would clamp it; the first of 40 problems'
rows 7 c
run train t.csv --schema s.json --epsilon 1
has err "column \"job\": 'c' is not one of its declared values; data.outside=usual would take it for \"other\" or none"
rows 77 c && cp t.csv both.csv
rows 50 '' && cp t.csv usual.csv
alike 'the usual: clamped, and missing' both.csv --schema s.json data.outside=usual -- usual.csv --schema s.json
run train both.csv --schema s.json --epsilon 1 data.outside=usual --out a.pvt
has err 'privet: note: values outside the declaration are clamped, those of categories taken for "other" or missing; how many is not told, because the count is not private'
alike 'the same by two settings' both.csv --schema s.json data.outside_numbers=clamp data.outside_categories=missing -- usual.csv --schema s.json
run train both.csv --schema s.json --epsilon 1 data.outside=usual data.outside_categories=error
has err 'column "job": 20 values not declared'
check 'numbers are clamped' sh -c '! grep -q age err'

# ---- "other" is a value: added to a column that has none
schema '' '], "outside": "other"' >other.json
ok schema show other.json --json
has out '"values":["a","b","other"],"missing":"zero","outside":"other"'
rows 50 c && cp t.csv c.csv
rows 50 other && cp t.csv word.csv
alike 'what is not declared is other' c.csv --schema other.json -- word.csv --schema other.json
schema '' ', "other"]' >listed.json
alike 'the same where it is listed' c.csv --schema listed.json data.outside=usual -- word.csv --schema other.json
alike 'and where each kind has its setting' both.csv --schema listed.json data.outside_numbers=clamp data.outside_categories=other -- word.csv --schema other.json
schema ', "outside": "other"' ']' >bad.json
fails 3 'privet: bad.json:1:80: "other" is for categories only' schema show bad.json
schema ', "outside": "odd"' ']' >bad.json
fails 3 'privet: bad.json:1:80: "outside" must be "error", "clamp", "missing" or "other"' schema show bad.json

# ---- a text among numbers
rows V27 a && cp t.csv text.csv
rows '' a && cp t.csv none.csv
schema ', "missing": "middle"' ']' >middle.json
run train text.csv --schema middle.json --epsilon 1
has err "privet: text.csv:2:1: column \"age\": 'V27' is not a number; data.outside_text=missing would treat it as missing; the first of 20 problems"
alike 'texts are missing' text.csv --schema middle.json data.outside_text=missing -- none.csv --schema middle.json
schema ', "missing": "middle", "text": "missing"' ']' >text.json
alike 'the same of a column' text.csv --schema text.json -- none.csv --schema middle.json
schema ', "text": "missing"' ']' >bad.json
fails 3 'privet: bad.json:1:77: column "age": "text": "missing" needs "missing": "middle" or "zero"' schema show bad.json
ok train both.csv --schema listed.json --epsilon 1 --quiet data.outside=usual --out v.pvt
ok verify v.pvt
finish
