# privet eval --epsilon: noisy figures of test rows, a certificate that verify recomputes, persons, several classes.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
small_data >small
small_data 11 >other
ok train small --quiet --delta 1e-4 --out m.pvt

# ---- exact figures say what they are
ok eval m.pvt other
has out 'NOT PRIVATE  exact figures of these rows, whoever is in them; --epsilon E releases noisy ones instead'
fails 2 'privet: exact figures have no certificate: --epsilon E releases noisy ones that have' eval m.pvt other --certificate c.json

fails 2 'privet: how much may these figures cost?  Add --epsilon E; without any of the budget they are exact' eval m.pvt other --delta 1e-5

# ---- a release of its own
ok eval m.pvt other --epsilon 0.5 --delta 1e-4 --certificate c.json
for text in 'rows         200; their number is public' 'epsilon 0.5 at delta 0.0001, relation zero-out, of this evaluation alone' \
    'strength     strong: epsilon 0.5' 'AUC' 'true \ predicted' 'predicted chance' 'certificate  c.json; privet verify c.json'; do
    has out "$text"
done
check 'nothing exact' sh -c '! grep -q "NOT PRIVATE\|log loss" out'
cp out first
ok verify c.json
has out 'holds        c.json: the recorded events cost at most epsilon 0.5, as claimed'
has out 'figures      made again of the counts in it'
same 'figures are those of the counts' "$(grep -E '^(accuracy|baseline|AUC|precision|recall) ' first)" \
    "$(grep -E '^(accuracy|baseline|AUC|precision|recall) ' out)"
has out "counted by the model's own certificate, not here."
digest() { sed -n 's/.*"weights_digest": "\([0-9a-f]*\)".*/\1/p' "$1"; }
privet verify m.pvt --certificate m.json >/dev/null
same 'of these weights' "$(digest m.json)" "$(digest c.json)"
ok eval m.pvt other --epsilon 0.5 --delta 1e-4 --certificate again.json
check 'noise is fresh' sh -c '! cmp -s c.json again.json'
ok account m.pvt c.json
has out 'c.json: epsilon 0.5 at delta 0.0001 by itself'
ok eval m.pvt other --epsilon 0.5 --relation replace --delta 1e-4 --json --certificate r.json
has out '"metrics_are_private": true'
has out '"relation": "replace"'
ok verify r.json
warns 'these are the training rows: figures are too good, and `privet account` says what model and evaluation cost together' \
    eval m.pvt small --epsilon 0.5 --delta 1e-4

# ---- changed by hand (with a checksum that fits: contract/test_replay_scores)
sed 's/"counts": \[ *[-0-9]*/"counts": [7/' c.json >forged.json
check 'a count was changed' sh -c '! cmp -s c.json forged.json'
run verify forged.json
same 'a changed count is refused' 3 "$code"

# ---- NOT PRIVATE where it is not
run eval m.pvt other --epsilon 0.5 --seed 3 --certificate s.json
same 'a seed' 0 "$code"
has out 'NOT PRIVATE  these figures have no noise, or noise that can be removed: do not publish them'
run verify s.json
same 'a seed does not verify' 3 "$code"
run eval m.pvt other --epsilon 1e4 --seed 3 --json --quiet
cp out seeded
run eval m.pvt other --epsilon 1e4 --seed 3 --json --quiet --threads 3
check 'the same counts with other threads' cmp -s out seeded

# ---- at a huge epsilon they are the exact figures
privet eval m.pvt other --json >exact.json 2>/dev/null
privet eval m.pvt other --privacy off --json >off.json 2>/dev/null
value() { tr -d ' \n' <"$2" | sed "s/.*\"$1\":\({\"value\":\)*\([0-9.]*\).*/\2/"; }
for name in accuracy precision recall; do
    check "$name without noise" awk -v a="$(value $name exact.json)" -v b="$(value $name off.json)" 'BEGIN { exit !(a - b < 2e-3 && b - a < 2e-3) }'
done
check 'AUC without noise' awk -v a="$(value auc exact.json)" -v b="$(value auc off.json)" 'BEGIN { exit !(a - b < .02 && b - a < .02) }'
matrix() { tr -d ' \n' <"$1" | sed 's/.*"true_by_predicted":\(\[\[[0-9,]*\],\[[0-9,]*\]\]\).*/\1/'; }
same 'the same counts without noise' "$(matrix exact.json)" "$(matrix off.json)"

# ---- a share is drawn at random, however rows are stored: labels that are sorted in the file are mixed in both parts
awk 'BEGIN { print "x,z,y"; for (i = 0; i < 4000; i++) print i % 97 / 97 "," i % 31 / 31 "," (i < 2000 ? "a" : "b") }' >sorted.csv
echo '{"columns": [{"name": "x", "type": "number", "min": 0, "max": 1}, {"name": "z", "type": "number", "min": 0, "max": 1},
    {"name": "y", "type": "label", "values": ["a", "b"]}]}' >sorted.json
for how in data.layout=auto data.layout=dense data.layout=sparse data.curves=off optimizer=sgd optimizer=tr; do
    run train sorted.csv --schema sorted.json --epsilon 1 --delta 1e-5 --holdout 0.3 --eval-epsilon 50 $how --out h.pvt --quiet
    privet verify h.pvt.eval.json --json >h.json
    check "$how: both classes in the part held out" awk -v b="$(value majority h.json)" 'BEGIN { exit !(b > 0.45 && b < 0.57) }'
done
run train sorted.csv --schema sorted.json --epsilon 2 --relation replace --delta 1e-7 --holdout 0.3 --eval-epsilon 1 --out h.pvt --quiet
has h.pvt.eval.json '"relation": "replace"'
has h.pvt.eval.json '"delta": 1e-07'
awk 'BEGIN { print "x,z,y"; for (i = 0; i < 400; i++) print i % 97 / 97 "," i % 31 / 31 "," i % 7 }' >numbers.csv
sed 's/"values": \["a", "b"\]/"min": 0, "max": 6/' sorted.json >numbers.json
rm -f n.pvt
fails 2 'privet: run.holdout_share: rows held out are for private figures, which are of 2 to 30 classes: leave it out' \
    train numbers.csv --schema numbers.json --epsilon 1 --holdout 0.3 --eval-epsilon 1 --out n.pvt --quiet
check 'and nothing was trained' test ! -e n.pvt
for much in 0 -1 nan 1e9; do
    run train sorted.csv --schema sorted.json --epsilon 1 --holdout 0.3 --eval-epsilon $much --out n.pvt --quiet
    same "--eval-epsilon $much" 2 "$code"
    has err "privet: --eval-epsilon: budget.epsilon=$much: "
done
mkdir n.pvt.eval.json
run train sorted.csv --schema sorted.json --epsilon 1 --holdout 0.3 --eval-epsilon 1 --out n.pvt --quiet
same 'a folder where the certificate goes' 3 "$code"
check 'still nothing was trained' test ! -e n.pvt
rmdir n.pvt.eval.json
run train sorted.csv --schema sorted.json --epsilon 1 --delta 1e-5 data.measured=bounds --holdout 0.3 --eval-epsilon 1 --out h.pvt --quiet
run verify h.pvt.eval.json
same 'bounds of all rows are of those held out, too' 3 "$code"

# ---- on the page: what was released, of this model
ok report m.pvt --evaluation c.json --out page.html
has page.html '<h2>How good, as released</h2>'
has page.html 'Measured on 200 rows that an evaluation of its own protects: <strong>epsilon 0.5 at delta 0.0001</strong>'
check 'nothing exact on it' sh -c '! grep -q "log loss" page.html'
same 'the AUC that was released' "$(sed -n 's/^AUC *\([0-9.]*\) .*/\1/p' first)" "$(sed -n 's/.*<th>AUC<.th><td class="n">\([0-9.]*\)<.*/\1/p' page.html)"
ok report m.pvt other --out exact.html
has exact.html '<strong class="none">NOT PRIVATE</strong>: the figures are computed from these rows without noise'
ok train small --quiet --delta 1e-4 --out n.pvt
fails 3 'privet: c.json: an evaluation of another model than n.pvt' report n.pvt --evaluation c.json --out no.html
fails 3 'privet: m.json: no evaluation: privet eval MODEL DATA --epsilon E --certificate FILE writes one' report m.pvt --evaluation m.json --out no.html

# ---- persons count once; several classes; numbers are refused
privet demo d >/dev/null 2>&1
ok eval d/model.pvt d/demo_test.csv --epsilon 1 --certificate p.json
has out 'persons      2,342, each counting once; their number is public'
check 'the number of rows is private' sh -c '! grep -q "5,000\|5000" out p.json'
ok verify p.json
has p.json '"unit": "person"'
has p.json '"clip_norm": 1.4142135623730'
privet synth five >/dev/null 2>&1
run train five/madelon_train.csv --schema five/madelon.schema.json --quiet --out five.pvt
same 'five classes' 0 "$code"
ok eval five.pvt five/madelon_test.csv --epsilon 1 --certificate five.cert
has out 'predicted chance'
check 'no AUC of several classes' sh -c '! grep -q "^AUC" out'
ok verify five.cert
printf '%s\n' '1 1:0.5' '2 1:0.1' '1.5 1:0.3' >numbers
run train numbers model=squared data.y_min=0 data.y_max=3 --epsilon 1 --delta 0.01 --quiet run.least=1 --out numbers.pvt
run eval numbers.pvt numbers --epsilon 1 --delta 0.01
same 'numbers' 'privet: private evaluation counts classes, and the labels are numbers' "$(grep -v warning err)"
fails 2 'privet: optimizer=evaluation trains nothing: privet eval MODEL DATA --epsilon E evaluates' train small --optimizer evaluation --out x.pvt
# ---- train --holdout FILE|SHARE --eval-epsilon
awk '{ print }' small other >both
ok train both --quiet --delta 1e-4 --holdout 0.25 --eval-epsilon 0.5 --out h.pvt
has out 'fit          logistic with 4 weights on 300 rows'
has out 'rows         100; their number is public'
has out 'certificate  h.pvt.eval.json; privet verify h.pvt.eval.json'
check 'no measures along the way' sh -c '! grep -q "NOT PRIVATE" out'
ok verify h.pvt
has out 'Of the rows that data_digest is of, a part was drawn at random without looking at any'
ok verify h.pvt.eval.json
ok report h.pvt --evaluation h.pvt.eval.json --out h.html
run train small --quiet --delta 1e-4 --holdout other --eval-epsilon 0.5 --json --out g.pvt
same 'a file' 0 "$code"
has out '"evaluation": {'
check 'one JSON object' python3 -c 'import json, sys; v = json.load(open("out")); sys.exit(v["rows"] != 200 or not v["evaluation"]["metrics_are_private"])'
ok verify g.pvt.eval.json
fails 2 'privet: --holdout 0.25 holds rows out for a private evaluation: add --eval-epsilon E' train small --holdout 0.25 --out x.pvt
fails 2 'privet: --eval-epsilon is for held-out rows: add --holdout FILE, or a share such as --holdout 0.2' \
    train small --eval-epsilon 1 --out x.pvt
fails 2 'privet: run.holdout_share: data.rows and data.persons would be of all rows: leave them out' \
    train small --quiet --rows 200 --holdout 0.25 --eval-epsilon 1 --out x.pvt
fails 2 'privet: --by counts groups without noise: leave it out with --epsilon' eval m.pvt other --epsilon 1 --by column
finish
