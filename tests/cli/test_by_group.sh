# eval --by: measures of every value of a category are those of the rows with it alone; refusals.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
python_with json
privet demo d >/dev/null 2>&1
for curves in auto off; do
    ok train d/demo_train.csv --schema d/demo.schema.json --quiet data.curves=$curves --out m.pvt
    ok eval m.pvt d/demo_test.csv --by admission --json
    cp out groups.json
    for value in elective urgent emergency; do
        awk -F, -v v=$value 'NR == 1 || $4 == v' d/demo_test.csv >part.csv
        ok eval m.pvt part.csv --json
        check "$curves, $value: as of these rows alone" "$python" -c '
import json, sys
want = json.load(open("out"))
got = next(g for g in json.load(open("groups.json"))["groups"] if g["value"] == sys.argv[1])
assert got["rows"] == want["rows"] > 100
for k in ("accuracy", "log_loss", "auc", "precision", "recall"):
    assert abs(got[k] - want[k]) < 1e-9, k
assert abs(got["calibration"]["error"] - want["calibration"]["error"]) < 1e-9
c = want["confusion"]["true_by_predicted"]
assert abs(got["share_of_second"] - sum(c[1]) / want["rows"]) < 1e-9' $value
    done
done
ok eval m.pvt d/demo_test.csv --by sex
check 'a line for each' sh -c 'test "$(grep -cE "^(female|male) +[0-9]+ +0\.[0-9]{4}" out)" = 2'
fails 2 'privet: the model has no column gender' eval m.pvt d/demo_test.csv --by gender
fails 2 'privet: column age is no category: only those have groups' eval m.pvt d/demo_test.csv --by age
small_data >small
ok train small --quiet --delta 1e-4 --out plain.pvt
fails 2 'privet: the model has no schema, so no column sex' eval plain.pvt small --by sex
finish
