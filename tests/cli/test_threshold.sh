# predict --threshold and --cost: which of two classes is predicted, by a function of scores; class weights; every refusal.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
awk 'BEGIN { s = 7; print "a,b,y"
    for (i = 0; i < 3000; i++) {
        s = (s * 16807) % 2147483647; a = s / 2147483647; s = (s * 16807) % 2147483647; b = s / 2147483647; s = (s * 16807) % 2147483647
        printf "%.3f,%.3f,%s\n", a, b, s / 2147483647 < 1 / (1 + exp(-(4 * a + 2 * b - 6))) ? "yes" : "no" } }' >rows.csv
printf '{"columns": [{"name": "a", "type": "number", "min": 0, "max": 1}, {"name": "b", "type": "number", "min": 0, "max": 1},
  {"name": "y", "type": "label", "values": ["no", "yes"]}]}' >rows.json
ok train rows.csv --schema rows.json --epsilon 2 --quiet --out m.pvt
counts() { # OPTIONS: how many yes, and how many of them and of the others are on the wrong side of $limit
    privet predict m.pvt rows.csv --quiet "$@" | awk -F, -v t="$limit" 'NR > 1 { n += $1 == "yes"; wrong += ($1 == "yes") != ($4 > t) } END { print n, wrong }'
}
limit=0.5 && plain=$(counts)
limit=0.2 && low=$(counts --threshold 0.2) && cost=$(counts --cost 1,4)
check "a lower threshold predicts yes more often" test "${low% *}" -gt "${plain% *}"
check "a chance above the threshold, and no other" test "${low#* }" = 0
check "the default is a half" test "${plain#* }" = 0
check "costs of 1 and 4 are a threshold of 0.2" test "$cost" = "$low"
ok eval m.pvt rows.csv --quiet --json
cp out a.json
ok eval m.pvt rows.csv --quiet --json --threshold 0.2
check "log loss does not change" test "$(grep log_loss a.json)" = "$(grep log_loss out)"
check "recall does" test "$(grep recall a.json)" != "$(grep recall out)"
check "eval says the threshold" grep -q '"threshold": 0.2' out
for bad_value in 0 1 nan x; do
    fails 2 "privet: predict.threshold=$bad_value: a chance between 0 and 1 is needed" predict m.pvt rows.csv --threshold $bad_value
done
for bad_value in 1 1,0 1,2,3 inf,1; do
    fails 2 "privet: predict.cost=$bad_value: two costs from 1e-9 to 1e9 are needed, of a false alarm and of a miss" predict m.pvt rows.csv --cost $bad_value
done
fails 2 "privet: noisy figures are of the threshold 0.5: leave predict.threshold and predict.cost out" eval m.pvt rows.csv --epsilon 1 --threshold 0.2
ok train rows.csv --schema rows.json --quiet model.prevalence=0.2 model.class_weight=2 --out w.pvt
check "class weights choose their loss" grep -q "^fit  *weighted" out
ok verify w.pvt --certificate w.json
check "the certificate lists them" grep -q '"model.prevalence": 0.2' w.json
sed 's/"model.prevalence": 0.2/"model.prevalence": 2/' w.json >wrong.json
run verify wrong.json
check "another prevalence is refused" test "$code" -eq 3
fails 2 "privet: optimizer=tr needs a loss with a Hessian" train rows.csv --schema rows.json --quiet optimizer=tr model.prevalence=0.2
finish
