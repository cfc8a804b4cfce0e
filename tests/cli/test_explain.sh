# privet explain: what each column adds to a score, over its declared range and of one row; every refusal.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
python_with json

# 3,000 rows: the chance of yes is highest in the middle of age, and larger for nurses
cat >schema.json <<'END'
{"missing": ["?"], "columns": [
  {"name": "age", "type": "number", "min": 0, "max": 100},
  {"name": "pay per year", "type": "number", "min": 1, "max": 1000, "scale": "log", "missing": "zero"},
  {"name": "job", "type": "category", "values": ["clerk", "nurse", "<b>smith</b>"]},
  {"name": "since", "type": "date", "min": "2020-01-01", "max": "2024-01-01", "curve": false},
  {"name": "back", "type": "label", "values": ["no", "yes"]}]}
END
awk 'BEGIN { s = 5; print "age,pay per year,job,since,back"
    for (i = 0; i < 3000; i++) {
        s = (s * 16807) % 2147483647; a = int(s % 101); s = (s * 16807) % 2147483647; p = 1 + int(s % 999)
        s = (s * 16807) % 2147483647; j = s % 3; s = (s * 16807) % 2147483647; u = s / 2147483647
        q = 1 / (1 + exp(-(3 - (a - 50) ^ 2 / 300 + (j == 1) - 1)))
        printf "%d,%s,%s,202%d-0%d-11,%s\n", a, i % 10 ? p : "?", j == 0 ? "clerk" : j == 1 ? "nurse" : "<b>smith</b>",
            i % 4, 1 + i % 9, u < q ? "yes" : "no" } }' >rows.csv
ok train rows.csv --schema schema.json --epsilon 4 --quiet --out m.pvt

# ---- without a row: the declared range
ok explain m.pvt
same 'the score' 'score        log odds of "yes"; what a column adds is relative to its mean over its knots or values' "$(head -1 out)"
same 'age matters most' 'age' "$(sed -n 3p out | cut -d' ' -f1)"
ok explain m.pvt --json
cat >check.py <<'END'
import json, math, sys
v = json.load(open("out"))
assert [c["importance"] for c in v["columns"]] == sorted([c["importance"] for c in v["columns"]], reverse=True)
for c in v["columns"]:
    e = c["effect"][0]
    assert len(e) == len(c["at"]) and abs(sum(e)) < 1e-9, c
    assert abs(math.sqrt(sum(x * x for x in e) / len(e)) - c["importance"]) < 1e-9
by = {c["name"]: c for c in v["columns"]}
assert by["age"]["min"] == 0 and by["age"]["max"] == 100 and by["age"]["shape"] == "curve"
at = by["age"]["at"][max(range(len(by["age"]["at"])), key=lambda i: by["age"]["effect"][0][i])]
assert 25 < at < 75, at  # where the table has its maximum
assert by["job"]["at"] == ["clerk", "nurse", "<b>smith</b>"] and by["job"]["effect"][0][1] == max(by["job"]["effect"][0])
assert by["since"]["shape"] == "line" and by["since"]["type"] == "date" and len(by["since"]["at"]) == 2
assert "missing" in by["pay per year"] and "missing" not in by["age"]
END
check 'what the JSON says' "$python" check.py
ok explain m.pvt --svg columns.svg
check 'a picture that is XML' "$python" -c 'import xml.dom.minidom as x; x.parse("columns.svg")'
has columns.svg '&lt;b&gt;smith&lt;/b&gt;'

# ---- one row: the parts add up to the margin of predict
head -4 rows.csv >three.csv
ok predict m.pvt three.csv --out p.csv
cat >parts.py <<'END'
import json, sys
v, row = json.load(open("out")), int(sys.argv[1])
margin = float(open("p.csv").read().split()[row].split(",")[1])
total = v["base"][0] + sum(c["effect"][0] for c in v["columns"])
assert abs(total - margin) < 1e-5 and abs(v["score_of_row"][0] - margin) < 1e-5, (total, margin)
size = [abs(c["effect"][0]) for c in v["columns"]]
assert size == sorted(size, reverse=True)
if len(sys.argv) > 2:
    assert {c["name"]: c["value"] for c in v["columns"]} == json.loads(sys.argv[2]), v
END
for n in 1 2 3; do
    ok explain m.pvt three.csv --row $n --json
    check "parts of row $n" "$python" parts.py $n
done
ok explain m.pvt three.csv
same 'the first, unless another is named' 'log odds of "yes"' "$(head -1 out)"
printf 'age,pay per year,job,since\n42,?,nurse,2021-06-01\n' >one.csv
ok predict m.pvt one.csv --out p.csv
ok explain m.pvt age=42 job=nurse since=2021-06-01 --json
check 'values by name, one of them missing' "$python" parts.py 1 '{"age": 42, "pay per year": null, "job": "nurse", "since": 18779}'
cp out by-name
ok explain m.pvt one.csv --json
check 'the same of a file' cmp out by-name
ok explain m.pvt age=42 'pay per year=?' job=nurse since=2021-06-01 --json
check 'names with blanks' cmp out by-name
ok explain m.pvt age=42 job=nurse since=2021-06-01 --svg row.svg
check 'a picture that is XML' "$python" -c 'import xml.dom.minidom as x; x.parse("row.svg")'
has row.svg 'age = 42'
check 'a line for age' grep -qE '^age +42 +[+-][0-9.]+$' out

# ---- what it refuses
fails 2 'privet: explain needs a value of every column; none is given of since' explain m.pvt age=42 job=nurse
fails 2 'privet: the model has no column aeg' explain m.pvt aeg=42 job=nurse since=2021-06-01
fails 3 'privet: column "age": 142 is outside the declared 0 .. 100; data.outside=usual would clamp it' explain m.pvt age=142 job=nurse since=2021-06-01
fails 3 "privet: column \"job\": 'smit' is not one of its declared values; data.outside=usual would take it for \"other\" or none" explain m.pvt age=42 job=smit since=2021-06-01
ok explain m.pvt age=142 job=nurse since=2021-06-01 data.outside=clamp
fails 2 'privet: row 4: there are not so many, counted from 1' explain m.pvt three.csv --row 4
fails 2 'privet: --row 0: a number from 1 on is needed' explain m.pvt three.csv --row 0
fails 2 'privet: --row says which row of a file; name the file' explain m.pvt --row 1
fails 2 'privet: a file and column=value: leave one of them out' explain m.pvt three.csv age=3
fails 2 'privet: --svg m.pvt is an input; name another file' explain m.pvt --svg m.pvt
ok train rows.csv --schema schema.json --quiet data.curves=off --out straight.pvt
fails 2 'privet: this model has no curves: what a column adds depends on the others there; models of tables with a schema have them with data.curves=auto' \
    explain straight.pvt
small_data >small
ok train small --quiet --delta 1e-4 --out plain.pvt
fails 2 'privet: this model has no curves: what a column adds depends on the others there; models of tables with a schema have them with data.curves=auto' \
    explain plain.pvt

# ---- several classes, and numbers
sed 's/"values": \["no", "yes"\]/"values": ["no", "yes", "late"]/' schema.json >three.json
ok train rows.csv --schema three.json --quiet --out three.pvt
ok explain three.pvt --json
check 'one effect for each class, around their mean' "$python" -c '
import json
for c in json.load(open("out"))["columns"]:
    assert len(c["effect"]) == 3 and all(abs(sum(x)) < 1e-9 for x in zip(*c["effect"]))'
ok report three.pvt --out three.html
has three.html 'Lines: no solid blue; yes dashed orange; late dotted green.'
awk -F, 'NR > 1 { $5 = $1 / 10 } { print }' OFS=, rows.csv >numbers.csv
sed 's/"type": "label", "values": \["no", "yes"\]/"type": "label", "min": 0, "max": 10/' schema.json >numbers.json
ok train numbers.csv --schema numbers.json --quiet --epsilon 10 --out numbers.pvt
ok explain numbers.pvt
same 'a prediction' 'score        prediction; what a column adds is relative to its mean over its knots or values' "$(head -1 out)"
ok predict numbers.pvt one.csv --out p.csv
ok explain numbers.pvt one.csv --json
check 'parts of a number' "$python" -c '
import json
v = json.load(open("out"))
assert abs(v["base"][0] + sum(c["effect"][0] for c in v["columns"]) - float(open("p.csv").read().split()[1])) < 1e-4'

# ---- the report has a picture for every column, and no markup of theirs
ok report m.pvt --out m.html
has m.html 'What the model makes of each column'
has m.html 'aria-label="age"'
has m.html '&lt;b&gt;smith&lt;/b&gt;'
check 'no markup of the table' sh -c '! grep -q "<b>smith" m.html'
ok report straight.pvt --out s.html
check 'none without curves' sh -c '! grep -q "makes of each column" s.html'

# ---- a file whose schema is for more weights than it has, with every digest as it should be
check 'a longer category' "$python" "$PRIVET_SOURCE/tests/cli/longer_category.py" m.pvt longer.pvt
for command in 'explain longer.pvt' 'predict longer.pvt rows.csv' 'export longer.pvt --out l.onnx' 'report longer.pvt'; do
    # shellcheck disable=SC2086  # words
    run $command
    same "$command: code" 3 "$code"
    has err 'longer.pvt: its schema makes '
done
finish
