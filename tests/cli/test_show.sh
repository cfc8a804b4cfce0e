# privet show: weights by column, knot, value and class, with the error that noise implies where it is known.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
privet demo d >/dev/null 2>&1
ok train d/demo_train.csv --schema d/demo.schema.json --optimizer pgd --quiet --out d/model.pvt # whose noise has a bound
ok show d/model.pvt
has out 'shown        what each point of a column adds to the score, relative to the mean of the column'
has out 'error        of privacy noise alone: standard deviation at most, less where there are many rows'
ok show d/model.pvt --csv
same 'a header' 'column,at,class,weight,error_at_most' "$(head -1 out)"
cp out csv
check 'a value with a comma is quoted' grep -q '^ward,"geriatrics, acute",,' csv
sed 's/"geriatrics, acute"/geriatrics/' csv >plain
privet explain d/model.pvt --json >explained
noise=$(sed -n 's/.*"noise_at_most": \([0-9.]*\).*/\1/p' explained)
check 'the error that explain has' awk -F , -v n="$noise" 'NR > 1 && ($5 - n > 1e-3 || n - $5 > 1e-3) { bad = 1 } END { exit bad || NR < 20 }' plain
same 'the most important column first' "$(sed -n 's/.*"name": "\(.*\)",/\1/p' explained | head -1)" "$(sed -n 2p csv | cut -d , -f 1)"
check 'a category by its values' grep -q '^discharge,against advice,,' csv
check 'weights of a column are relative to its mean' awk -F , 'NR > 1 { s[$1] += $4 } END { for (k in s) if (s[k] > 1e-6 || s[k] < -1e-6) exit 1 }' plain
ok show d/model.pvt --json
check 'as JSON' python3 -c 'import csv, json, sys
rows = list(csv.DictReader(open("csv"))); got = json.load(open("out"))["weights"]
sys.exit([(r["column"], r["at"], float(r["weight"])) for r in rows] != [(g["column"], g["at"], g["weight"]) for g in got])'
run show d/not-private.pvt
same 'of a model that is not private' "0 privet: warning: d/not-private.pvt is NOT PRIVATE" "$code $(cat err)"
has out 'NOT PRIVATE  this model was trained without protection'

small_data >small
ok train small --quiet --delta 1e-4 --out m.pvt
ok show m.pvt --csv
same 'a feature each, and the bias' 5 "$(wc -l <out)"
check 'the largest first' awk -F , 'NR > 1 { w = $4 < 0 ? -$4 : $4; if (NR > 2 && w > last) exit 1; last = w }' out
check 'no error is made up' awk -F , 'NR > 1 && $5 != "" { exit 1 }' out
ok train small --quiet --delta 1e-4 --epsilon 2 model=mlp --out net.pvt
fails 2 'privet: the weights of a network say nothing one by one: privet export writes them' show net.pvt
fails 2 'privet: --json or --csv, not both' show m.pvt --csv --json
fails 2 'privet: show takes no settings, but got clip=1' show m.pvt clip=1
finish
