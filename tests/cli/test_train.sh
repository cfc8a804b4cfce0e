# From rows to scores: train, verify, eval, predict, plan, settings written and read back, NOT PRIVATE marks.
# shellcheck disable=SC2086  # settings are lists of words
. "$PRIVET_SOURCE/tests/cli/lib.sh"
small_data >small
small_data 11 >other # rows the model has not seen

is_json() { # one object, if there is a Python to judge it
    if command -v python3 >/dev/null 2>&1; then
        check "privet $*: one JSON object" python3 -c 'import json; assert isinstance(json.load(open("out")), dict)'
    fi
}

ok train small --quiet --delta 1e-4 --out m.pvt
has out 'epsilon 1 at delta 0.0001, relation zero-out'
has out 'for relation replace'
has out 'next         privet verify m.pvt'
ok verify m.pvt
has out 'holds        m.pvt: the recorded events cost at most epsilon 1, as claimed'
ok eval m.pvt other
has out 'accuracy'
has out 'true \ predicted'
check 'no caution on rows it has not seen' sh -c '! grep -q caution out'
ok eval m.pvt small
has out 'caution      these are the training rows'
ok predict m.pvt small
same 'a header and a line per row' 201 "$(wc -l <out)"
cp out first
ok predict m.pvt small --out scores.csv
same 'predict --out' 'scores       scores.csv' "$(cat out)"
check 'the same scores in the file' cmp first scores.csv
ok predict m.pvt small --out -
check 'the same scores on standard output' cmp first out
rm first scores.csv

# What was chosen, and why, goes to stderr.
run train small --delta 1e-4 --out m.pvt
same 'exit code' 0 "$code"
check 'notes say what they are' sh -c '! grep -v "^privet: note: " err'
has err 'optimizer.steps = '

# --json is one object everywhere.
ok train small --quiet --delta 1e-4 --json --out m.pvt
is_json train
has out '"epsilon":'
ok verify m.pvt --json
is_json verify
has out '"verified": true'
ok eval m.pvt other --json
is_json eval
has out '"accuracy":'
ok predict m.pvt small --json --out scores.csv
is_json predict
ok plan --quiet --rows 1000 --features 5 --json
is_json plan
ok list --json
is_json list
ok list optimizer --json
is_json 'list optimizer'
fails 2 'privet: predict --json needs --out FILE: the scores are CSV' predict m.pvt small --json
rm scores.csv

# A plan reads no rows: the file need not exist.
ok plan nowhere.csv --quiet --rows 1000 --features 5 --epsilon 0.5
has out 'epsilon 0.5 at delta 0.0001'
has out 'data         not read'
fails 2 'privet: how many rows are there? name the data, or say --rows N' plan
fails 2 'privet: with --rows planning reads no data: say how many features there are (--features P), or give the schema (--schema FILE)' \
    plan small --rows 200
# Without --rows they are counted, as train does, and said to be public: the same cost and noise.
run plan small --epsilon 0.5
has err 'note: small: 200 rows, counted and treated as public'
has out 'only its shape was used'
ok plan small --quiet --epsilon 0.5 --delta 1e-4 --json
grep -E '^  "(rows|steps|noise_multiplier|noise_stddev)"' out >planned
ok train small --quiet --epsilon 0.5 --delta 1e-4 --json --out planned.pvt
grep -E '^  "(rows|steps|noise_multiplier|noise_stddev)"' out >trained
check 'there is something to compare' test "$(wc -l <planned)" -eq 4
check 'the plan is what is run' cmp planned trained
fails 3 'privet: missing: No such file or directory' plan missing
rm planned trained planned.pvt

# The noise of each mechanism by its own name.  d = 4; a ball's entries have standard deviation R / sqrt(d + 2).
value() { # KEY: of the JSON in out
    sed -n "s/^  \"$1\": \([^,]*\),*$/\1/p" out
}
names() { # of what says how much noise there is
    grep -oE '^  "(noise_stddev|noise_radius|noise_scale|selection_epsilon|noise_per_weight)"' out | tr -d ' "' | tr '\n' ' '
}
choose="--optimizer fw-l1 set=l1ball"
ball="--optimizer prgd --relation replace optimizer.steps=9 --delta 1e-3"
run plan --quiet --rows 200 --features 3 --json
same 'gaussian noise' 'noise_stddev noise_per_weight ' "$(names)"
check 'per weight' awk "BEGIN { x = $(value noise_stddev) / 200 / $(value noise_per_weight) - 1; exit !(x * x < 1e-18) }"
run plan --quiet --rows 200 --features 3 $choose --json
same 'a selection' 'selection_epsilon ' "$(names)"
check 'as in the events' grep -q "\"epsilon\": $(value selection_epsilon)" out
check '1 over the multiplier' awk "BEGIN { x = $(value selection_epsilon) * $(value noise_multiplier) - 1; exit !(x * x < 1e-18) }"
run plan --quiet --rows 200 --features 3 $ball --json
same 'a ball' 'noise_radius noise_per_weight ' "$(names)"
check 'its radius' awk "BEGIN { x = $(value noise_radius) / ($(value noise_multiplier) * $(value sensitivity)) - 1; exit !(x * x < 1e-18) }"
check 'its entries' awk "BEGIN { x = $(value noise_radius) / sqrt(6) / $(value noise_per_weight) - 1; exit !(x * x < 1e-18) }"
run train small --quiet $choose --json --out choice.pvt
same 'a run that selects' 'selection_epsilon ' "$(names)"
run train small --quiet $ball --json --out ball.pvt
same 'a run with ball noise' 'noise_radius ' "$(names)"
run plan --quiet --rows 200 --features 3 $choose
check 'selections for people' grep -qE '^noise +private choices, each of epsilon [0-9.]+$' out
run plan --quiet --rows 200 --features 3 $ball
check 'balls for people' grep -qE '^noise +uniform in a ball of radius [0-9.]+ around a sum of gradients$' out
ok report choice.pvt --out page.html
has page.html 'epsilon of each private choice'
run report ball.pvt --out page.html
has page.html 'noise, radius of the ball'
rm choice.pvt ball.pvt page.html

# What --dump-config writes is enough, the data's name with it; without any there is nothing to train on.
run train small --seed 1 --quiet --dump-config whole.json --out one.pvt
run train --config whole.json --quiet --out two.pvt
same 'the same run from its settings' '' "$(cmp one.pvt two.pvt 2>&1)"
fails 2 'privet: unexpected argument a?b; usage: privet train DATA [key=value ...]' train small "$(printf 'a\nb')"

# Settings of an accountant as they are listed; the certificate records them, and verify recomputes with them.
ok train small --quiet --accountant zcdp accountant.conversion=paper --certificate c.json --out paper.pvt
has c.json '"accountant": "zcdp:conversion=paper"'
has c.json '"accountant_replace": "zcdp:conversion=paper"'
ok verify paper.pvt
ok verify c.json
has out 'as claimed'
sed 's/"zcdp:conversion=paper"/"zcdp:conversion=optimal"/' c.json >other.json
run verify other.json
same 'a certificate with another conversion' 3 "$code"
ok plan --quiet --rows 1000 --features 5 --accountant zcdp --json
grep '"noise_multiplier":' out | head -1 >optimal
ok plan --quiet --rows 1000 --features 5 --accountant zcdp accountant.conversion=paper --dump-config a.json --json
grep '"noise_multiplier":' out | head -1 >paper
check 'the conversion changes the noise' sh -c '! cmp paper optimal'
ok plan --quiet --config a.json --json
grep '"noise_multiplier":' out | head -1 >again
check 'settings written are settings read' cmp paper again
fails 2 'privet: accountant=best has no setting accountant.conversion: accountant=zcdp has' \
    plan --quiet --rows 1000 --features 5 accountant.conversion=paper
fails 2 'privet: accountant=rdp has no setting accountant.method: accountant=compose has' \
    plan --quiet --rows 1000 --features 5 --accountant rdp accountant.method=basic
rm c.json other.json paper.pvt a.json paper optimal again

# Options, key=value and a settings file say the same; the command line wins over the file.
ok plan --quiet --rows 1000 --features 5 --epsilon 2 --optimizer pgd optimizer.steps=7 --dump-config a.json
cp out one
ok plan --quiet budget.epsilon=2 --rows=1000 optimizer=pgd data.features=5 optimizer.steps=7 --dump-config=b.json
check 'same plan' cmp one out
check 'same settings written' cmp a.json b.json
ok plan --quiet --config a.json
check 'same plan from the file' cmp one out
ok plan --quiet --config a.json --dump-config -
check 'settings read and written back are the same' cmp a.json out
ok plan --quiet --config a.json optimizer.steps=9
has out 'pgd, 9 steps'
printf '{"budget": {"epsilon": 2},\n "optimizer.steps": 7, "data.rows": 1000, "data.features": 5}' >nested.json
ok plan --quiet --config nested.json
check 'nested keys are the same keys' cmp one out
rm one ./*.json

# A run that is not private says so in every output, and does not verify.
ok train small --quiet --privacy off --out off.pvt
has out 'NOT PRIVATE  trained with privacy=off: no noise was added'
ok train small --quiet --privacy=off --json --out off.pvt
has out '"warning": "NOT PRIVATE"'
ok plan --quiet --privacy off --rows 1000 --features 5
has out 'NOT PRIVATE'
fails 3 'privet: off.pvt: NOT PRIVATE: trained with privacy=off: no noise was added' verify off.pvt
run eval off.pvt other
same 'warned' 'privet: warning: off.pvt is NOT PRIVATE' "$(cat err)"
has out 'NOT PRIVATE'
run eval off.pvt other --json
has out '"warning": "NOT PRIVATE"'
run predict off.pvt small --json --out scores.csv
same 'warned' 'privet: warning: off.pvt is NOT PRIVATE' "$(cat err)"
has out '"warning": "NOT PRIVATE"'
run train small --quiet --seed 1 --out seed.pvt
has out 'NOT PRIVATE  trained with a test seed'
has err 'privet: warning: run.seed is set: the noise is reproducible, the result is NOT PRIVATE'
fails 3 'privet: seed.pvt: NOT PRIVATE: trained with a test seed: the noise can be reproduced and removed' verify seed.pvt
run plan --quiet --seed 1 --rows 1000 --features 5
has out 'NOT PRIVATE'

# Diagnostics are marked wherever they appear; the model and its certificate stay what they are.
run train small --quiet --delta 1e-4 --diagnostics --out d.pvt
same 'exit code' 0 "$code"
same 'warned' 'privet: warning: run.diagnostics is set: the diagnostics are NOT PRIVATE, and no certificate covers them' \
    "$(cat err)"
has out 'NOT PRIVATE  what follows was computed from the rows without noise; the certificate does not cover it'
has out 'objective '
has out 'end of what is NOT PRIVATE'
ok verify d.pvt
has out 'The diagnostics this run showed'
run train small --quiet --delta 1e-4 --diagnostics --json --out d.pvt
is_json train --diagnostics
has out '"diagnostics_not_private": {'
has out '"warning": "NOT PRIVATE: computed from the rows without noise, not covered by the certificate"'
run train small --quiet --seed 1 --diagnostics --out e.pvt
run train small --quiet --seed 1 --out f.pvt
privet predict e.pvt small 2>/dev/null >a.csv
privet predict f.pvt small 2>/dev/null >b.csv
check 'diagnostics do not change the model' cmp a.csv b.csv

# The same test seed gives the same model; without a seed, no two models are the same.
run train small --quiet --seed 1 --out again.pvt
check 'same seed, same model' cmp seed.pvt again.pvt
run train small --quiet --seed 1 --threads 1 --out again.pvt
privet predict seed.pvt small 2>/dev/null >a.csv
privet predict again.pvt small 2>/dev/null >b.csv
check 'threads do not matter' cmp a.csv b.csv
ok train small --quiet --out x.pvt
ok train small --quiet --out y.pvt
privet predict x.pvt small >a.csv
privet predict y.pvt small >b.csv
check 'noise is fresh' sh -c '! cmp a.csv b.csv'

# Names of classes come back as they were written, without what could upset a terminal.
printf '{"header": false, "columns": [{"name": "x", "type": "number", "min": 0, "max": 1},
 {"name": "y", "type": "label", "values": ["say \\"no\\"", "y\\u001bes"]}]}' >odd.json
awk 'BEGIN { for (i = 0; i < 40; i++) print i % 2 ? "0.9,\"say \"\"no\"\"\"" : "0.1,y\033es" }' >odd.csv
warns "$(few 40)" train odd.csv --quiet --schema odd.json --delta 1e-3 --out odd.pvt
sed s/0.9/0.8/ odd.csv >unseen.csv
ok eval odd.pvt unseen.csv
has out '  say "no"'
has out 'y?es'

# The default name is never overwritten.
ok train small --quiet
check 'model.pvt' test -s model.pvt
fails 2 'privet: model.pvt exists already; name the model with --out (model.pvt is only the default)' train small --quiet

# A key that was not there is made where data.key_path says, which is told: it may be mistyped.
run train small --delta 1e-4 data.key_path=keys/mine --out k.pvt
has err 'privet: note: data.key_path=keys/mine: no key was there, a new one was made'
run train small --delta 1e-4 data.key_path=keys/mine --out k.pvt
check 'once' sh -c '! grep -q key_path err'

# One row, one feature.
printf '+1 1:0.5\n' >one
run train one --delta 0.1 run.least=1 --out one.pvt
has err 'note: one: 1 row, counted'
has err 'note: one: 1 feature, taken'
has out 'logistic with 2 weights on 1 row'
check 'not 1 rows' sh -c '! grep -q "1 rows" out'

# The certificate on its own.
ok train small --quiet --out m.pvt --certificate one.json
ok verify one.json
ok verify m.pvt --certificate two.json
check 'the same certificate' cmp one.json two.json

# Columns by name: the same model from a table whose columns stand elsewhere, beside others.
printf '{"columns": [{"name": "a", "type": "number", "min": -1, "max": 1}, {"name": "b", "type": "number", "min": -1, "max": 1},
    {"name": "y", "type": "label", "values": ["-1", "+1"]}]}' >named.json
sed 's/ [0-9]*:/,/g' small | awk -F, 'BEGIN { print "a,b,y" } { print $2 "," $3 "," $1 }' >named.csv
awk -F, '{ print (NR == 1 ? "more" : "x") "," $3 "," $2 "," $1 }' named.csv >moved.csv
run train named.csv --schema named.json run.seed=1 --quiet --out n1.pvt
run train moved.csv --schema named.json run.seed=1 --out n2.pvt
has err 'privet: note: moved.csv: the schema does not have, and nothing reads, column "more"'
check 'columns by name: the same model' cmp n1.pvt n2.pvt
run predict n1.pvt named.csv --quiet
cp out named.out
cut -d, -f3,4 moved.csv >bare.csv
run predict n1.pvt bare.csv --quiet
check 'columns by name: the same scores' cmp out named.out
fails 3 'privet: bare.csv:1:1: the column of the label, "y", is missing; predict needs none, eval does' eval n1.pvt bare.csv --quiet
finish
