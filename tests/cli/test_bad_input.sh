# Every kind of bad input: one line that says where and what, the right exit code, and nothing left behind.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
small_data >small
mkdir folder

bad() { # MESSAGE ARGS: training refuses it with exit 3
    message=$1
    shift
    fails 3 "privet: $message" train --delta 1e-4 --out made.pvt "$@"
    check "no output: $*" test ! -e made.pvt
}

several() { # MESSAGE ARGS: the same of a file with several problems, whose kinds precede it (test_problems.sh)
    message=$1
    shift
    run train --delta 1e-4 --out made.pvt "$@"
    same "privet $*: code and last line" "3 privet: $message" "$code $(tail -1 err)"
    check "no output: $*" test ! -e made.pvt
}

# ---- files
bad 'missing: No such file or directory' missing
bad 'folder: is a directory, a data file is needed' folder
: >empty
bad 'empty: empty file' empty
gzip -c small >small.gz
head -c 1000 small.gz >cut.gz
bad 'cut.gz: truncated: the gzip data ends too early' cut.gz
if command -v bzip2 >/dev/null 2>&1; then
    bzip2 -c small | head -c 500 >cut.bz2
    bad 'cut.bz2: truncated: the bzip2 data ends too early' cut.bz2
fi
i=0
while [ $i -lt 500 ]; do printf '\001\377\200\000x'; i=$((i + 1)); done >garbage
bad 'garbage:1:1: neither LIBSVM lines nor a table; data.format= names the format' garbage
bad "garbage:1:1: label '????x????x????x????x????x????x????x????x...' is not -1, 0 or +1; declare the labels, as in data.labels=no,yes" \
    garbage data.format=libsvm

# ---- LIBSVM rows
row() { # TEXT: a file whose third row is TEXT
    printf '+1 1:0.5 2:0.25\n-1 2:1\n%s\n-1 1:1\n' "$1" >rows
}
row '+1 1:nan'
bad "rows:3:6: 'nan' is not a finite number" rows
bad 'rows:3:6: refused; data.messages=full tells why, and quotes it' rows data.messages=place
row '+1 1:0.5 2:inf'
bad "rows:3:12: 'inf' is not a finite number" rows
row '+1 1:1e999'
bad "rows:3:6: '1e999' is not a finite number" rows
row "+1 1:$(awk 'BEGIN { for (i = 0; i < 400; i++) printf "9" }')"
bad "rows:3:6: '9999999999999999999999999999999999999999...' is not a finite number" rows
row '+1 0:0.5'
bad 'rows:3:4: feature index 0: indices start at 1' rows
row '+1 2:0.5 1:1'
bad 'rows:3:10: feature index 1 after 2: indices must ascend' rows
row '+1 2:0.5 2:1'
bad 'rows:3:10: feature index 2 occurs twice in one row' rows
row '+1 2147483648:1'
bad 'rows:3:4: feature index 2147483648 is above 2147483647' rows
row '7 1:0.5'
bad "rows:3:1: label '7' is not -1, 0 or +1; declare the labels, as in data.labels=no,yes" rows

# ---- a table and its schema
cat >schema.json <<'END'
{"header": true, "columns": [
  {"name": "age", "type": "number", "min": 0, "max": 100},
  {"name": "job", "type": "category", "values": ["clerk", "nurse", "smith"]},
  {"name": "rich", "type": "label", "values": ["no", "yes"]}]}
END
table() { # TEXT: a table whose second row is TEXT
    printf 'age,job,rich\n40,nurse,yes\n%s\n20,clerk,no\n' "$1" >table.csv
}
table '30,smith,no'
fails 4 'privet: 3 rows are too few: the noise that hides one of them hides all that they share; run.least=3 would go on' \
    train table.csv --quiet --schema schema.json --delta 1e-4 --out table.pvt
echo '{"run": {"least": 3}}' >few.json
warns "$(few 3)" train table.csv --quiet --schema schema.json --delta 1e-4 --config few.json --out table.pvt
rm few.json table.pvt
warns "$(few 3)" train table.csv --quiet --schema schema.json --delta 1e-4 --out table.pvt run.least=1
rm table.pvt
run plan table.csv --quiet --schema schema.json --delta 1e-4
same 'a plan is one' 0 "$code"
run train table.csv --quiet --schema schema.json --out table.pvt run.least=3
has err '3 rows: below 100, noise that hides one of them hides what they share as well, and such a delta is no rare failure of the guarantee; expect no useful model'
rm table.pvt
table '30,smith'
bad 'table.csv:3:9: the record has 2 columns, 3 are declared' table.csv --schema schema.json
table '30,smith,no,more'
bad 'table.csv:3:12: the record has more than the 3 columns declared' table.csv --schema schema.json
table '130,smith,no'
bad 'table.csv:3:1: column "age": 130 is outside the declared 0 .. 100; data.outside=usual would clamp it' table.csv --schema schema.json
table '30,pilot,no'
bad "table.csv:3:4: column \"job\": 'pilot' is not one of its declared values; data.outside=usual would take it for \"other\" or none" \
    table.csv --schema schema.json
table '30,smith,maybe'
bad "table.csv:3:10: label 'maybe' in column \"rich\" is none of: no, yes" table.csv --schema schema.json
table '3x0,smith,no'
bad "table.csv:3:1: column \"age\": '3x0' is not a number; \"text\": \"missing\" and \"missing\": \"middle\" of the column would treat it as missing" table.csv --schema schema.json
table '30,"smith,no'
bad 'table.csv:3:4: a quoted field is never closed' table.csv --schema schema.json
printf 'age,job,rich\n40,"nurse",yes\n30,"smith,no\n20,"clerk",no\n' >table.csv
bad 'table.csv:3:4: this quote is closed 1 line on, and text follows there: is one missing?' table.csv --schema schema.json
printf '40,nurse,yes\n30,smith,no\n' >table.csv
bad 'table.csv:1:1: the header has no column "age"; column 1 is "40"; "header": false in the schema is for files without one' \
    table.csv --schema schema.json
printf 'age;job;rich\n40;nurse;yes\n' >table.csv
bad 'table.csv:1:1: the header has no column "age"; column 1 is "age;job;rich"; "separator": ";" in the schema reads semicolons' \
    table.csv --schema schema.json
sed 's/"header": true/"header": false, "separator": ";"/' schema.json >semicolon.json
several "table.csv:1:1: column \"age\": 'age' is not a number; \"header\": true in the schema would take this line for the header; the first of 3 problems" \
    table.csv --schema semicolon.json
printf '40,nurse,yes\n' >table.csv
several "table.csv:1:1: column \"age\": '40,nurse,yes' is not a number; \"separator\": \",\" in the schema reads commas; the first of 2 problems" \
    table.csv --schema semicolon.json
printf '4,5;nurse;yes\n' >table.csv
bad "table.csv:1:1: column \"age\": '4,5' is not a number; \"decimal\": \",\" beside \"columns\" reads decimal commas" table.csv --schema semicolon.json
printf '1;2;yes\n' >table.csv
bad 'table.csv:1:1: one column only: features and a label are needed; "separator": ";" in the schema reads semicolons' \
    table.csv data.labels=no,yes
rm semicolon.json
table "$(printf '30,bedrij\353f,no')"
bad "table.csv:3:4: column \"job\": 'bedrij?f' is not one of its declared values; data.outside=usual would take it for \"other\" or none; not UTF-8: iconv -f latin1 -t utf-8 converts Latin-1" \
    table.csv --schema schema.json
bad 'missing.json: No such file or directory' table.csv --schema missing.json
printf '{"columns": [{"name": "age", "type": "number", "mn": 0, "max": 1}]}' >wrong.json
bad 'wrong.json:1:54: unknown key "mn" in a column; did you mean "min"?' table.csv --schema wrong.json
: >wrong.json
bad 'wrong.json: empty file' table.csv --schema wrong.json
printf ' \n' >wrong.json
bad 'wrong.json: empty file' table.csv --schema wrong.json
printf '{"separator": ".", "columns": []}' >wrong.json
bad 'wrong.json:1:15: "separator" must be a tab ("\t"), a blank or one of , ; | : ~ ^ ! / & = * #' table.csv --schema wrong.json
printf 'age,job\n40,nurse\n' >table.csv
bad 'table.csv:1:1: the column of the label, "rich", is missing' table.csv --schema schema.json
printf 'age,rich\n40,yes\n' >table.csv
bad 'table.csv:1:1: the header has no column "job"' table.csv --schema schema.json
table '30,smith,no'
privet train table.csv --quiet --schema schema.json --delta 1e-4 run.least=3 --out table.pvt >/dev/null 2>&1
printf 'age,job\n40,nurse\n' >table.csv
fails 3 'privet: table.csv:1:1: the column of the label, "rich", is missing; predict needs none, eval does' eval table.pvt table.csv
ok predict table.pvt table.csv
rm table.pvt
column() { # TEXT MESSAGE: of the one column of a schema
    printf '{"columns": [{"name": "age", %s}]}' "$1" >wrong.json
    bad "wrong.json:1:$2" table.csv --schema wrong.json
}
column '"type": "numeric"' '38: column "age": no type "numeric"; did you mean "number"?'
column '"type": "number", "min": "0", "max": 1' '55: column "age": "min" must be a number, written without quotes'
column '"type": "number", "min": 0, "max": 1e39' '65: column "age": "max" must lie between -1e+38 and 1e+38, for 32-bit floats'
column '"type": "number", "min": 1, "max": 1.0000001' '65: column "age": "max" must be above "min" by more than 32-bit floats are apart'
column '"type": "number", "header": true' '58: "header" belongs beside "columns", not in one'
printf '{"missing": "zero", "columns": []}' >wrong.json
bad 'wrong.json:1:13: "missing" here lists the texts that mean no value, as in ["", "?"]; "missing": "zero" belongs in a column' \
    table.csv --schema wrong.json
printf '{"outside": "clamp", "columns": []}' >wrong.json
bad 'wrong.json:1:13: "outside" belongs in a column' table.csv --schema wrong.json
printf '{"columns": [' >wrong.json
bad 'wrong.json:1:14: the text ends in the middle' table.csv --schema wrong.json

# ---- settings
usage_error() { # MESSAGE ARGS
    message=$1
    shift
    fails 2 "privet: $message" train small --out made.pvt "$@"
    check "no output: $*" test ! -e made.pvt
}
for eps in 0 -1 nan inf x ''; do
    usage_error "budget.epsilon=$eps: a number between 1e-09 and 1000000 is needed (epsilon, the privacy budget)" "--epsilon=$eps"
done
for delta in 0 1 1.5 -1e-6 nan; do
    run train small --delta "$delta" --out made.pvt
    same "--delta $delta: exit code" 2 "$code"
    same "--delta $delta: one line" 1 "$(wc -l <err)"
    has err "privet: budget.delta=$delta: a number between"
done
usage_error 'unknown setting bugdet.epsilon: did you mean budget.epsilon? (`privet list` shows every setting)' bugdet.epsilon=1
usage_error 'unknown setting optimizer.stps: did you mean optimizer.steps? (`privet list` shows every setting)' optimizer.stps=1
usage_error 'unknown setting wibble: `privet list` shows every setting' wibble=1
usage_error 'optimizer=pdg: no such optimizer, did you mean pgd?' --optimizer pdg
fails 2 'privet: --out is given twice: a.pvt and b.pvt' train rows --out a.pvt --out b.pvt
usage_error 'model=logistc: no such model, did you mean logistic?' --model logistc
usage_error 'privacy=maybe: one of on|off is needed' --privacy maybe
usage_error 'set=foo: no such set, there is l2ball, l1ball, linfball, box, simplex, polytope' set=foo

# ---- loss, penalty, set and optimiser that do not fit
usage_error 'optimizer=fw-l1 needs a constraint set with vertices: set=l1ball, simplex or polytope' --optimizer fw-l1
usage_error 'optimizer=fw-l1 needs a constraint set with vertices: set=l1ball, simplex or polytope' \
    --optimizer fw-l1 set=l2ball
usage_error 'optimizer=fw-l1 has no step for reg=l1: use reg=none, the set keeps w small' --optimizer fw-l1 set=l1ball reg=l1
usage_error 'optimizer=fw-l2 needs a bounded constraint set: set=l2ball, l1ball, linfball, box, simplex or polytope' --optimizer fw-l2
usage_error 'optimizer=fw-l2 needs a differentiable penalty, and reg=l1 is not: use reg=none, l2 or nonconvex' \
    --optimizer fw-l2 set=l2ball reg=l1
usage_error 'mirror=entropy works on set=simplex only, not on set=l1ball; mirror=euclidean would work' \
    --optimizer pmd optimizer.mirror=entropy set=l1ball
usage_error 'set=polytope needs set.vertices=FILE, one vertex per line' set=polytope
printf '1,0,0,0\n0,1,0,0\n' >vertices
usage_error 'set=polytope has no exact projection, only a linear oracle; a Frank-Wolfe optimizer would work' \
    set=polytope set.vertices=vertices
rm vertices
usage_error 'reg=l1ball: that is a constraint set, write set=l1ball' reg=l1ball
usage_error 'reg.lambda=-1: a number between 0 and 1000000000000 is needed (lambda of (lambda/2) ||w||^2)' reg=l2 reg.lambda=-1
usage_error 'set.radius=0: a number between 1e-12 and 1000000000000 is needed (R of ||w||_2 <= R)' set=l2ball set.radius=0
usage_error 'set.lo=1 set.hi=1: a box needs lo below hi' set=box set.lo=1 set.hi=1
usage_error 'calibration=paper: Theorem 2 of DP-PGD is void for optimizer.step = 3, which must be at most 2; calibration=default has no such condition' \
    --quiet --delta 1e-4 optimizer.calibration=paper optimizer.step=3
usage_error 'optimizer=prgd has a proof for replacing a row only: add --relation replace' --optimizer prgd

# ---- labels that do not fit the loss
usage_error 'the model predicts a number, which needs declared bounds, the lower below the upper: data.y_min=A data.y_max=B, or a schema' \
    --model squared
usage_error 'the model predicts a number, which needs declared bounds, the lower below the upper: data.y_min=A data.y_max=B, or a schema' \
    --model huber data.y_min=1 data.y_max=0
usage_error 'data.y_min and data.y_max bound a real label, but the model tells classes apart: leave them out, or use model=squared' \
    --model logistic data.y_min=0 data.y_max=1
fails 2 'privet: data.y_min=3 data.y_max=1: the lower bound must be below the upper' \
    plan --rows 100 --features 3 --model squared data.y_min=3 data.y_max=1
several "small:1:1: label '+1' is outside the declared -2 .. 0.5; data.outside=clamp would clamp it; the first of 92 problems" small --model tukey data.y_min=-2 data.y_max=0.5
ok train small --quiet --model squared --delta 1e-4 data.y_min=-1 data.y_max=0.5 data.outside=clamp --out number.pvt
has out 'squared with 4 weights'
ok eval number.pvt small
has out 'RMSE'
rm number.pvt
fails 2 'privet: data.y_min or data.y_max and data.schema both declare the label; the schema'"'"'s "min" and "max" are enough' \
    train table.csv --schema schema.json data.y_min=0 data.y_max=1 --out made.pvt
fails 2 'privet: the model predicts a real number, but the declared label has 2 classes' \
    train table.csv --schema schema.json --model squared --out made.pvt

# ---- settings files
fails 3 'privet: none.json: No such file or directory' plan --config none.json
fails 3 'privet: folder: is a directory, a file is needed' plan --config folder
printf '{"budget.epsilom": 1}' >c.json
fails 2 'privet: c.json:1:20: unknown setting budget.epsilom: did you mean budget.epsilon? (`privet list` shows every setting)' \
    plan --config c.json
printf '{"budget.epsilon": 1,\n "budget.epsilon": 2}' >c.json
fails 3 'privet: c.json:2:18: the same key twice' plan --config c.json
: >c.json
fails 3 'privet: c.json: empty file' plan --config c.json
printf '[1]' >c.json
fails 3 'privet: c.json:1:1: settings are one JSON object {"key": value, ...}' plan --config c.json
head -c 2000000 /dev/zero >c.json
fails 3 'privet: c.json: more than 1 MB, not a file of settings' plan --config c.json
rm -f c.json wrong.json

# ---- models and scoring
ok train small --quiet --delta 1e-4 --out m.pvt
fails 3 'privet: missing: No such file or directory' eval missing small
fails 3 'privet: missing: No such file or directory' eval m.pvt missing
fails 3 'privet: missing: No such file or directory' predict m.pvt missing --out scores.csv
fails 2 'privet: model: a trained model takes settings of the new data only (data.*)' eval m.pvt small model=squared
fails 3 'privet: folder: is a directory, a file is needed' verify folder
fails 3 'privet: garbage: neither a privet model nor a certificate' verify garbage
fails 3 'privet: empty: neither a privet model nor a certificate' verify empty
usage_error 'budget.epsilon is given twice: 1 and 2' --epsilon 1 budget.epsilon=2
usage_error 'set.radius: there is no set; add set=l2ball, or another of `privet list set`' set.radius=1
fails 2 'privet: data.center: the model keeps the one it was trained with; leave it out' eval m.pvt small data.center=0.5

# ---- an output is never an input, nor another output
ln -s m.pvt link
fails 2 'privet: --out small is an input; name another file' train small --out small
fails 2 'privet: --out m.pvt is an input; name another file' predict m.pvt small --out m.pvt
fails 2 'privet: --out link is an input; name another file' report m.pvt --out link
fails 2 'privet: --out schema.json is an input; name another file' train table.csv --schema schema.json --out schema.json
fails 2 'privet: --certificate m.pvt is an input; name another file' verify m.pvt --certificate m.pvt
fails 2 'privet: --certificate n.pvt and --out are the same file; name another' train small --out n.pvt --certificate n.pvt
fails 2 'privet: --dump-config small is an input; name another file' train small --dump-config small
rm link
fails 2 'privet: no kind, plug-in or setting is called optimiser: did you mean optimizer?' list optimiser

# ---- second-order methods
second() { # MESSAGE ARGS: refused with exit 2
    message=$1
    shift
    fails 2 "privet: $message" train small --optimizer tr --delta 1e-4 --out made.pvt "$@"
}
second 'optimizer=tr needs a penalty with second derivatives: reg=l1 has none, use reg=none, l2 or nonconvex' reg=l1
second 'optimizer=tr works without a constraint set: leave set=l2ball out' set=l2ball
second 'optimizer.alpha=0: a number between 1e-12 and 1000000, or auto, is needed (alpha, wanted second-order stationarity: sets r and T as the theory does)' optimizer.alpha=0
second 'optimizer.radius=-1: a number between 1e-09 and 1000000000, or auto, is needed (r, longest step; auto: 4, or from alpha)' optimizer.radius=-1
second 'optimizer.alpha=1e-09 asks for 5.89e+13 steps: a larger alpha, or optimizer.steps, would do' optimizer.alpha=1e-9
fails 2 'privet: optimizer=tr holds a Hessian of 100001 x 100001, and does so up to 4096: use optimizer=pgd' \
    plan --rows 1000 --features 100000 --optimizer tr --epsilon 1 --delta 1e-4
run train small --optimizer tr --epsilon 0.001 --delta 1e-4 --out m.pvt
check 'a Hessian of pure noise is warned of' grep -q 'warning: signal to noise of the Hessian is 0' err
printf '+1 1:1 2:1 3:0.5\n-1 1:-1 4:0.25 9:1\n+1 1:0.9 7:0.1\n' >rows # fewer rows than columns, and separable
run train rows --optimizer tr --epsilon 1e4 --delta 1e-3 --quiet --out m.pvt run.least=3
same "a large epsilon is warned of" "privet: warning: $(few 3)
privet: warning: protection is next to none: epsilon 10000 is above 10, but delta 0.001 is at most a tenth of one in 100 rows, the fewest that count" "$(cat err)"
run plan --rows 100000 --features 5 --optimizer prgd --relation replace --quiet
check 'ball noise beyond what gradients can do is warned of' grep -q 'warning: over 100000 steps noise moves' err
run plan --rows 1000000 --features 5 --optimizer prgd --relation replace optimizer.steps=100 --delta 5e-5 --quiet
check 'and other ball noise is not' sh -c '! grep -q "will be noise" err'

only_files small small.gz cut.gz cut.bz2 empty garbage rows table.csv schema.json folder m.pvt
# ---- outputs and plans
fails 3 'privet: folder/: cannot be written: the name of a file is missing' train small --out folder/
run plan --rows 20000 --features 20 --optimizer tr --epsilon 0.01
has err 'warning: signal to noise of the Hessian is'
# ---- a small file that becomes a large one
head -c 70000000 /dev/zero | tr '\0' '\n' | gzip >bomb.gz
fails 3 'privet: bomb.gz: decompresses to more than 500 times its size; data.max_expansion= allows more' train bomb.gz data.format=libsvm --epsilon 1 --out m.pvt
fails 3 'privet: bomb.gz: no rows' train bomb.gz data.format=libsvm data.max_expansion=1e6 --epsilon 1 --out m.pvt
finish
