# "monotone" of a column: exact, the nearest such weights, with every optimiser that fits curves, per person; every refusal.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
python_with json
table() { # KEYS of age
    printf '{"missing": ["?"], "columns": [{"name": "age", "type": "number", "min": 0, "max": 100%s},
  {"name": "pay", "type": "number", "min": 0, "max": 9, "missing": "zero"}, {"name": "id", "type": "%s"},
  {"name": "job", "type": "category", "values": ["a", "b"]%s}, {"name": "back", "type": "label", "values": ["no", "yes"]}]}' "$1" "${2:-ignore}" "${3:-}"
}
awk 'BEGIN { s = 5; print "age,pay,id,job,back"
    for (i = 0; i < 2000; i++) {
        s = (s * 16807) % 2147483647; a = int(s % 101); s = (s * 16807) % 2147483647; p = int(s % 10)
        s = (s * 16807) % 2147483647; u = s / 2147483647
        printf "%d,%s,%d,%s,%s\n", a, i % 10 ? p : "?", i / 2, i % 3 ? "a" : "b", u < 1 / (1 + exp(-(a - 50) / 15)) ? "yes" : "no" } }' >rows.csv
table '' >free.json
table ', "monotone": "up"' >up.json
table ', "monotone": "down"' >down.json
cat >check.py <<'END'
import json, sys
def curve(path, name="age"):
    return next(c for c in json.load(open(path))["columns"] if c["name"] == name)["effect"][0]
def up(x):  # nearest that does not fall: the largest mean over intervals below of the smallest one above
    n = len(x)
    return [max(min(sum(x[i:k]) / (k - i) for k in range(j + 1, n + 1)) for i in range(j + 1)) for j in range(n)]
got, free, sign = curve(sys.argv[1]), curve(sys.argv[2]), float(sys.argv[3])
assert all(sign * a <= sign * b for a, b in zip(got, got[1:])), got
want = [sign * v for v in up([sign * v for v in free])]
assert max(abs(a - b) for a, b in zip(got, want)) < 1e-9, (got, want)
assert max(abs(a - b) for a, b in zip(curve(sys.argv[1], "pay"), curve(sys.argv[2], "pay"))) == 0
print(max(abs(a - b) for a, b in zip(got, free)))
END
for how in pgd sgd adam tr output-perturbation 'pgd set=l2ball set.radius=5' 'fw-l1 set=l1ball set.radius=5 data.norm=max'; do
    for way in free up down; do
        # shellcheck disable=SC2086  # words
        run train rows.csv --schema $way.json --quiet --seed 3 data.curves=9 --out $way.pvt --optimizer $how
        [ "$code" = 0 ] || problem "$how, $way: $(cat err)"
        run explain $way.pvt --json
        cp out $way.out
    done
    check "$how, up: exact and nearest" "$python" check.py up.out free.out 1
    check "$how, down: exact and nearest" "$python" check.py down.out free.out -1
done
check 'down changes a curve that rises' sh -c "test \"\$($python check.py down.out free.out -1)\" != 0"

# ---- per person; and for a label that is a number
table ', "monotone": "down"' person >person.json
run train rows.csv --schema person.json --quiet --rows-per-person 2 data.curves=9 --out p.pvt
run explain p.pvt --json
check 'per person' "$python" check.py out out -1
ok verify p.pvt
awk -F, 'NR > 1 { $5 = $1 / 10 } { print }' OFS=, rows.csv >numbers.csv
sed 's/"values": \["no", "yes"\]/"min": 0, "max": 10/' down.json >numbers.json
run train numbers.csv --schema numbers.json --quiet data.curves=9 --out n.pvt
run explain n.pvt --json
check 'a number' "$python" check.py out out -1
ok verify n.pvt
awk 'BEGIN { print "age,pay,id,job"; for (i = 0; i <= 1000; i++) print i / 10 ",3,1,a" }' >ages.csv
ok predict n.pvt ages.csv --out scores.csv
check 'predictions never rise with age, up to rounding' sh -c "awk 'NR > 2 && \$1 > last + 1e-5 { bad = 1 } { last = \$1 } END { exit bad || NR != 1002 }' scores.csv"

# ---- a straight number in a table with curves
table ', "curve": false, "monotone": "down"' >line.json
run train rows.csv --schema line.json --quiet data.curves=9 --out l.pvt
run explain l.pvt --json
check 'a weight of the wrong sign is 0' "$python" -c '
import json
assert next(c for c in json.load(open("out"))["columns"] if c["name"] == "age")["effect"][0] == [0, 0]'

# ---- refused
bad() { # MESSAGE SCHEMA ARGS...
    message=$1 json=$2
    shift 2
    printf '%s' "$json" >bad.json
    fails 3 "privet: bad.json:$message" train rows.csv --schema bad.json --out bad.pvt "$@"
    check 'no output' test ! -e bad.pvt
}
bad '1:100: column "age": "monotone" must be "up" or "down"' "$(table ', "monotone": "rising"')"
bad '1:100: column "age": "monotone" must be "up" or "down"' "$(table ', "monotone": true')"
bad '3:73: column "job": "monotone" is for numbers and dates: the values of a category have no order' "$(table '' ignore ', "monotone": "up"')"
none='privet: column "age": "monotone" needs curves, and this run has none; data.curves=10 with a linear model gives each number 10 knots'
fails 2 "$none" train rows.csv --schema up.json data.curves=off --out bad.pvt
fails 2 "$none" train rows.csv --schema up.json --model mlp --out bad.pvt
sed 's/\["no", "yes"\]/["no", "yes", "late"]/' up.json >three.json
fails 2 'privet: column "age": "monotone" is for one score, of two classes or a number; model=softmax has several' \
    train rows.csv --schema three.json --quiet --out bad.pvt

# ---- knots, scales and columns that say nothing
bad '1:98: column "age": a knot must be a number, written without quotes' "$(table ', "knots": ["a", 5]')"
bad '1:105: column "age": a knot must lie between "min" and "max"' "$(table ', "knots": [0, 50, 101]')"
bad '1:105: column "age": knots must increase' "$(table ', "knots": [0, 50, 50]')"
bad '1:97: column "age": "knots" must list 2 to 1024 numbers' "$(table ', "knots": [5]')"
bad '1:97: column "age": "log" needs a "min" above 0; "symlog" takes any' "$(table ', "scale": "log"')"
for value in 0 50 100; do # a constant column, also at either bound: a model all the same
    awk -F, -v v=$value 'NR > 1 { $1 = v } { print }' OFS=, rows.csv >constant.csv
    for optimizer in auto pgd tr; do
        run train constant.csv --schema up.json --quiet data.curves=5 --optimizer $optimizer --out c.pvt
        same "age is always $value, $optimizer" 0 "$code"
        run explain c.pvt
        same "explained, $optimizer" 0 "$code"
    done
done
finish
