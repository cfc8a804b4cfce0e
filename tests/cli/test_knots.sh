# Knots by noisy histograms of the values: where they stand, what the certificate says, per person, every refusal.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
python_with json
cat >schema.json <<'END'
{"missing": ["?"], "columns": [{"name": "low", "type": "number", "min": 0, "max": 100, "missing": "zero"},
  {"name": "even", "type": "number", "min": 0, "max": 100}, {"name": "said", "type": "number", "min": 0, "max": 1, "knots": [0, 0.5, 1]},
  {"name": "line", "type": "number", "min": 0, "max": 1, "curve": false}, {"name": "job", "type": "category", "values": ["a", "b"]},
  {"name": "back", "type": "label", "values": ["no", "yes"]}]}
END
awk 'BEGIN { s = 5; print "low,even,said,line,job,back"
    for (i = 0; i < 4000; i++) {
        s = (s * 16807) % 2147483647; a = 10 * s / 2147483647; s = (s * 16807) % 2147483647; b = 100 * s / 2147483647
        s = (s * 16807) % 2147483647; u = s / 2147483647
        printf "%s,%.3f,%.3f,%.3f,%s,%s\n", i % 9 ? sprintf("%.3f", a) : "?", b, i % 11 / 10, i % 7 / 6, i % 3 ? "a" : "b", u < 1 / (1 + exp(5 - a)) ? "yes" : "no" } }' >rows.csv
sed 's/{"name": "line", "type": "number", "min": 0, "max": 1, "curve": false}/{"name": "who", "type": "person", "rows": 2}/' schema.json >persons.json
awk -F, -v OFS=, 'NR == 1 { $4 = "who" } NR > 1 { $4 = "p" int(NR / 2) } { print }' rows.csv >persons.csv
cat >check.py <<'END'
import json, sys
at = {c["name"]: c["at"] for c in json.load(open(sys.argv[1]))["columns"] if c["shape"] == "curve"}
below = sum(v <= 12 for v in at["low"])
assert below >= 2 * len(at["low"]) // 3, at["low"]
gaps = [b - a for a, b in zip(at["even"], at["even"][1:])]
assert max(gaps) < 2.5 * min(gaps), at["even"]
assert at["said"] == [0, 0.5, 1]
assert all(c[0] == 0 and c[-1] == 100 and all(a < b for a, b in zip(c, c[1:])) for c in (at["low"], at["even"]))
END

bad() { # CODE PART-OF-MESSAGE ARGS...
    want=$1 message=$2
    shift 2
    run "$@"
    same "privet $*: exit code" "$want" "$code"
    has err "$message"
}

# ---- where they stand
for how in auto dense sparse; do
    run train rows.csv --schema schema.json --epsilon 3 "data.layout=$how" data.curves=9 data.knots_share=0.2 --seed 3 optimizer.steps=20 optimizer=pgd --quiet --out "$how.pvt"
    run explain "$how.pvt" --json
    check "knots stand where values are, $how" "$python" check.py out
    run predict "$how.pvt" rows.csv --out "$how.csv"
done
check 'rows are the same dense or not' cmp auto.csv dense.csv
run train rows.csv --schema schema.json privacy=off data.curves=9 data.knots_share=0.2 --quiet --out off.pvt
run explain off.pvt --json
check 'without noise' "$python" check.py out
run train persons.csv --schema persons.json --epsilon 3 data.curves=9 data.knots_share=0.2 --quiet --out persons.pvt
run explain persons.pvt --json
check 'per person' "$python" check.py out
ok verify persons.pvt

# ---- what the certificate says
run train rows.csv --schema schema.json --epsilon 2 --out m.pvt --certificate c.json
has err 'data.knots_share = 0.02: of the budget, for noisy histograms of 2 columns, by which knots are placed'
ok verify m.pvt
ok verify c.json
has c.json '"kind": "values of columns"'
has c.json '"data.knots_share": 0.02'
check 'two columns of 128 counts' "$python" -c '
import json, math
k = next(k for k in json.load(open("c.json"))["releases"] if k["kind"] == "values of columns")
assert len(k["counts"]) == 256 and k["count"] == 1 and k["batch"] == 4000
assert abs(k["clip_norm"] - math.sqrt(2)) < 1e-12 and abs(k["replace_change"] - 2) < 1e-12'
for how in poisson-zero-out cyclic-zero-out poisson-replace fixed-replace full-replace; do
    batch=
    [ "${how%%-*}" = full ] || batch=sampler.batch=200
    # shellcheck disable=SC2086  # words
    ok train rows.csv --schema schema.json data.knots_share=0.1 --optimizer sgd optimizer.steps=20 sampler=${how%%-*} $batch budget.relation=${how#*-} --quiet --out s.pvt
    ok verify s.pvt
done
run plan rows.csv --schema schema.json --epsilon 2 --json
has out '"knots_share": 0.02'
run plan --rows 4000 --schema schema.json --epsilon 2 --json
has out '"knots_share": 0.02'

# Persons without a cap of their own; and knots that one run bought are no declaration for the next.
sed 's/, "rows": 2//' persons.json >open.json
ok train persons.csv --schema open.json --epsilon 3 data.knots_share=0.1 --quiet --out open.pvt
ok verify open.pvt
run schema show m.pvt --json
cp out bought.json
has bought.json '"placed":true'
bad 2 'its knots were placed by a release of another run' train rows.csv --schema bought.json --epsilon 1 --quiet --out no.pvt

# ---- by public quantities
run train rows.csv --schema schema.json --epsilon 0.1 --out few.pvt
check 'nothing is paid' sh -c '! grep -q knots_share err'
run train rows.csv --schema schema.json --epsilon 2 data.knots_share=0 --out few.pvt
check 'nothing is paid' sh -c '! grep -q knots_share err'
run train rows.csv --schema schema.json --epsilon 2 --optimizer pgd --out few.pvt
check 'nothing is paid' sh -c '! grep -q knots_share err'
run train rows.csv --schema schema.json --epsilon 0.1 data.knots_share=0.01 --out few.pvt
has err 'on each count of values is large beside 4000 rows'

# ---- refused
no() { # MESSAGE ARGS...
    message=$1
    shift
    bad 2 "$message" train rows.csv --schema schema.json --out no.pvt --quiet "$@"
    check 'no output' test ! -e no.pvt
}
no 'data.knots_share is for curves, and this run has none' data.knots_share=0.1 data.curves=off
no 'data.knots_share: a noisy histogram has no proof beside the releases of optimizer=fw-l1' data.knots_share=0.1 optimizer=fw-l1 set=l1ball
no 'rows to be held out have no knots yet' data.knots_share=0.1 run.holdout_share=0.2
bad 2 'leave the other out' train persons.csv --schema persons.json data.knots_share=0.1 data.person_rows_share=0.1 --out no.pvt --quiet
bad 2 'data.knots_share' train rows.csv --schema schema.json data.knots_share=1.5 --out no.pvt --quiet
finish
