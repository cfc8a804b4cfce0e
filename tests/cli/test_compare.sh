# Comparisons: tables, tests and costs recomputed by other means, going on after an interruption, crashes, bad input.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
small_data >small
small_data 11 20001 >held # so many that accuracies of runs have a spread; odd, so that no mean of five ends in half a digit
grid='--optimizer pgd,tr --epsilon 1,4 --delta 1e-4'

now() { # RUNS ALL: what the last line says
    same 'runs now, in all' "$1 $2" "$(sed -n 's/^\([0-9]*\) runs* now, \([0-9]*\) in all\..*/\1 \2/p' out)"
}
number() { # KEY FILE: of the object that holds a sum of all runs
    sed -n "s/.*\"together\": {.*\"$1\": \([^,}]*\).*/\1/p" "$2"
}

# ---- a grid: the table, and the same again from its records
# shellcheck disable=SC2086  # words
ok compare small --holdout held $grid --repeats 5 --out s/
now 20 20
cp out first
has out '4 combinations, 5 repeats each'
has out 'All 20 runs recorded in this folder cost at most epsilon '
has out 'the best of k runs costs'
has out 'Noise is fresh in every run: pairs share their number only'
check 'table.txt is what is printed' sh -c 'sed "/runs now/d" out | sed "\$d" | cmp - s/table.txt'
for f in table.txt runs.csv compare.html compare.json accuracy.svg auc.svg log_loss.svg seconds.svg; do check "s/$f" test -s s/$f; done
same 'records' '20 20' "$(find s/runs -name '*.json' | wc -l) $(find s/certificates -name '*.json' | wc -l)"
same 'nothing else is left' '' "$(find s/runs -type f ! -name '*.json' ! -name lock)"
for certificate in s/certificates/*.json; do check 'a certificate' privet verify "$certificate"; done
cksum s/runs/*.json >before
ok compare small --holdout held --epsilon 1,4 --optimizer pgd,tr --delta 1e-4 --repeats 5 --out s # in another order
now 0 20
# shellcheck disable=SC2086
ok compare small --holdout held $grid --repeats 5 --out s
now 0 20
ok compare --config s/compare.json --out s --json
same 'no run twice' "$(cat before)" "$(cksum s/runs/*.json)"
cp out s.json

# ---- CSV: one line a run and measure, and the means in the table are its means
same 'header' 'optimizer,budget.epsilon,repeat,private,measure,value' "$(head -n 1 s/runs.csv)"
check 'lines and fields' awk -F, 'NR > 1 && (NF != 6 || $3 < 1 || $3 > 5 || $4 != "yes" || $6 + 0 != $6 || seen[$1, $2, $3, $5]++) { bad = 1 }
    END { exit bad || NR != 1 + 20 * 6 }' s/runs.csv # accuracy, auc, log_loss, seconds, epsilon, noise_multiplier
awk -F, '$5 == "accuracy" { n[$2 " " $1]++; s[$2 " " $1] += $6 } END { for (k in n) printf "%s %.4f\n", k, s[k] / n[k] }' s/runs.csv |
    sort >means
sed -n '/^accuracy/,/^$/p' first | awk '$1 ~ /^[0-9]/ { print $1, $2, $3 }' | sort >shown
same 'means' "$(cat means)" "$(cat shown)"

# ---- the paired test by hand: t from differences, p by integrating cos^(df-1) (t = sqrt(df) tan), Holm by sorting
awk -F, '$5 ~ /accuracy|auc|log_loss/ { v[$5, $2, $1, $3] = $6 }
    function rest(from, df,   i, n, s, h, w) { # Simpson
        n = 2000; h = (1.5707963267948966 - from) / n
        for (i = 0; i <= n; i++) { w = i == 0 || i == n ? 1 : i % 2 ? 4 : 2; s += w * cos(from + i * h) ^ (df - 1) }
        return s * h / 3 }
    END { m = split("accuracy auc log_loss", name, " ")
        for (k = 1; k <= m; k++) for (e = 1; e <= 4; e += 3) {
            s = q = 0
            for (r = 1; r <= 5; r++) { d = v[name[k], e, "tr", r] - v[name[k], e, "pgd", r]; s += d; q += d * d }
            sd = sqrt((q - s * s / 5) / 4)
            t = s / 5 / (sd / sqrt(5)); a = t < 0 ? -t : t
            p = rest(atan2(a, 2), 4) / rest(0, 4)
            printf "%s %g %.4f %.6g\n", name[k], e, t, p } }' s/runs.csv >wanted
awk '/^    "/ { split($1, a, "\""); name = a[2] }
    /"p_holm"/ { gsub(/[",{}]/, " ")
        for (i = 1; i < NF; i++) { if ($i == "budget.epsilon") e = $(i + 2)
            if ($i == "t") t = $(i + 2); if ($i == "p") p = $(i + 2) }
        printf "%s %g %.4f %.6g\n", name, e, t, p }' s.json >got
same 'six tests' 6 "$(wc -l <got)"
check 't and p' sh -c "paste -d' ' wanted got | awk '
    \$1 != \$5 || \$2 != \$6 || (\$3 - \$7) ^ 2 > 1e-6 * (1 + \$3 ^ 2) || (\$4 - \$8) ^ 2 > 1e-8 * \$4 ^ 2 { print; bad = 1 } END { exit bad || NR != 6 }'"
sort -g -k 4 got | awk '{ h = (7 - NR) * $4; if (h > 1) h = 1; if (h < last) h = last; last = h; printf "%.5g\n", h }' >wanted
grep -o '"p_holm": [0-9.e-]*' s.json | sed 's/.*: //' | sort -g | awk '{ printf "%.5g\n", $1 }' >got
check 'Holm' sh -c "paste -d' ' wanted got | awk '(\$1 - \$2) ^ 2 > 1e-8 * \$1 ^ 2 { print; bad = 1 } END { exit bad || NR != 6 }'" # digits round
has first 'corrected for all 6 tests of this table'

# ---- what all cost together, through privet account, from the certificates
together() { # FOLDER: epsilon of everything in it, at the largest delta less the shares for the draws of 20 runs
    { printf '{"kind": "sequence", "events": ['
        first=yes
        for certificate in "$1"/certificates/*.json; do
            [ $first = yes ] || printf ',\n'
            first=no
            sed -n '/^  "events": {/,/^  },\{0,1\}$/p' "$certificate" | sed '1s/.*/{/; $s/.*/}/'
        done
        printf ']}'; } >events.json
    privet account --file events.json --delta "$(awk 'BEGIN { printf "%.17g", 1e-4 * (1 - 20 / 1024) }')" --json | sed -n 's/^ *"epsilon": \([0-9.e+-]*\),*$/\1/p' | head -n 1
}
close() { # A B
    awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(a > 0 && d * d <= 1e-14 * a * a) }'
}
check 'epsilon of all runs' close "$(together s)" "$(number epsilon s.json)"
same 'delta: the largest' 0.0001 "$(number delta s.json)"
check 'more than one run' awk "BEGIN { exit !($(number epsilon s.json) > 4) }"

# ---- pictures and the page
same 'bars of four cells' 4 "$(grep -c 'h8M' s/log_loss.svg)"
same 'pictures in the page' 4 "$(grep -c '<svg ' s/compare.html)"
same 'addresses in the page' 'http://www.w3.org/2000/svg' "$(grep -oE 'https?://[^" ]*' s/compare.html | sort -u)"
has s/compare.html 'cost at most epsilon '
has s/compare.html 'Protection of each row by all runs together: <span class="badge">'

# ---- more repeats go on, and count; --fresh does not forget
ok compare --config s/compare.json --repeats 6 --out s
now 4 24
ok compare small --holdout held --optimizer pgd,tr --epsilon 1 --delta 1e-4 --repeats 2 --out s --fresh
now 4 28
has out 'All 28 runs recorded in this folder cost'
ok compare small --holdout held --optimizer pgd,tr --epsilon 1 --delta 1e-4 --repeats 2 --out s
now 0 28
touch -d '2001-01-01' held # another file, for all that is known
ok compare small --holdout held --optimizer pgd --epsilon 1 --delta 1e-4 --repeats 1 --out s
now 1 29

# ---- pairs, files of settings, values that are refused
printf '{"data": {"path": "small"}, "holdout": "held", "repeats": 2, "pairs": true,\n "budget.delta": 1e-4, "budget.epsilon": [1, 2, 4], "optimizer": ["pgd", "a<b", "tr"]}\n' >sweep.json
ok compare --config sweep.json --out p
now 4 4
check 'a refusal is a line' grep -q '^2  *a<b  *refused: optimizer=a<b: no such optimizer, there is ' out
same 'pairs' 'budget.epsilon,optimizer 1,pgd 4,tr ' "$(cut -d, -f1,2 p/runs.csv | uniq | tr '\n' ' ')"
has p/compare.html 'a&lt;b'
check 'no markup of others' sh -c '! grep -q "a<b" p/compare.html p/*.svg'
ok compare --config sweep.json --out p --json
has out '"refused": "optimizer=a<b: no such optimizer'
if command -v python3 >/dev/null; then
    check 'JSON' python3 -c 'import json; v = json.load(open("out")); assert v["together"]["runs"] == 4 and v["measures"]["accuracy"][1]["runs"] == 0'
fi

# ---- seeds: the same again, in pairs, and not private
run compare small --holdout held --optimizer pgd,tr --delta 1e-4 --repeats 3 --seed 5 --out seed1
same 'seeds: code' 0 "$code"
has err 'privet: warning: run.seed is set: the noise is reproducible, the result is NOT PRIVATE'
has out 'NOT PRIVATE: 6 of the 6 runs recorded in this folder give no guarantee'
has out 'would cost at most epsilon'
has out 'pairs share their seed'
has out '2 combinations, 3 repeats each; NOT PRIVATE, see below'
same 'no run is private' 'no private ' "$(cut -d, -f3 seed1/runs.csv | sort -u | tr '\n' ' ')"
for f in accuracy.svg compare.html table.txt; do has seed1/$f 'NOT PRIVATE'; done
run compare small --holdout held --optimizer pgd,tr --delta 1e-4 --repeats 3 --seed 5 --jobs 1 --out seed2
same 'repeatable' "$(grep -v seconds seed1/runs.csv)" "$(grep -v seconds seed2/runs.csv)"
run compare small --holdout held --optimizer pgd,tr --delta 1e-4 --repeats 2 --seed 6 --out seed1 # seeds 6 and 7 are there
now 0 6
run compare small --holdout none --privacy on,off --delta 1e-4 --repeats 1 --out own
same 'own rows: code' 0 "$code"
has out 'NOT PRIVATE: the figures are computed on the training rows without noise.'
has out 'NOT PRIVATE: 1 of the 2 runs'

# ---- numbers
awk 'BEGIN { s = 3; for (i = 0; i < 200; i++) { s = (s * 16807) % 2147483647; x = s % 2001 / 1000 - 1; printf "%.4f 1:%.3f\n", x / 2, x } }' >line
ok compare line --holdout line reg=none,l2 data.y_min=-1 data.y_max=1 model=squared --delta 1e-4 --repeats 2 --out numbers
for word in RMSE MAE R2; do check "$word" grep -q "^$word, " out; done

# ---- interrupted: what is finished stays, and is not done again
slow='--optimizer pgd --epsilon 1,2,3,4 optimizer.steps=20000 --delta 1e-4 --repeats 4 --jobs 2'
# shellcheck disable=SC2086
env --default-signal=INT "$PRIVET_COMMAND" compare small --holdout held $slow --out i >out 2>err &
pid=$!
while [ "$(find i/runs -name '*.json' 2>/dev/null | wc -l)" -lt 3 ] && kill -0 $pid 2>/dev/null; do sleep 0.05; done
fails 3 'privet: i: another privet is at work there; name another folder with --out' compare small --holdout held --out i
kill -INT $pid
wait $pid
code=$?
same 'interrupted: code' 130 "$code"
command=$(readlink -f "$PRIVET_COMMAND")
left=1
for try in 1 2 3 4 5 6 7 8 9 10; do # workers end with it
    left=0
    for p in /proc/[0-9]*; do
        [ "$(readlink "$p/cwd")" != "$work" ] || [ "$(readlink "$p/exe")" != "$command" ] || left=$try
    done 2>/dev/null
    [ "$left" -gt 0 ] || break
    sleep 0.2
done
same 'workers that are left' 0 "$left"
kept=$(find i/runs -name '*.json' | wc -l)
lost=$(cat i/runs/*.started 2>/dev/null | grep -c attempts)
check 'finished runs are kept' test "$kept" -ge 3
check 'not all of them' test "$kept" -lt 16
check 'no table of half a grid' test ! -e i/table.txt
cksum i/runs/*.json >before
# shellcheck disable=SC2086
ok compare small --holdout held $slow --out i
now $((16 - kept)) 16
[ "$lost" -eq 0 ] || has out "All 16 runs recorded in this folder, and $lost that did not finish, cost"
cksum i/runs/*.json >after
check 'what was recorded stays' sh -c 'grep -qxFf before after && [ "$(grep -cxFf before after)" = "$(wc -l <before)" ]'
# shellcheck disable=SC2086
ok compare small --holdout held $slow --out i
now 0 16

# ---- a run that dies takes no other with it
"$PRIVET_COMMAND" compare small --holdout held optimizer.steps=20,100000000 --delta 1e-4 --repeats 1 --jobs 2 --out k >out 2>err &
pid=$!
worker=
while [ -z "$worker" ] && kill -0 $pid 2>/dev/null; do
    [ -n "$(find k/runs -name '*.json' 2>/dev/null)" ] && [ -n "$(find k/runs -name '*.started' 2>/dev/null)" ] && for p in /proc/[0-9]*; do
        grep -q "^PPid:.$pid\$" "$p/status" 2>/dev/null && tr '\0' ' ' <"$p/cmdline" | grep -q 'steps=100000000' && worker=${p#/proc/}
    done
    sleep 0.05
done
kill -KILL "$worker"
wait $pid
code=$?
same 'a crash: code' 5 "$code"
same 'a crash: message' 'privet: 1 run ended early; the same command tries again' "$(cat err)"
check 'the other one is there' grep -q '^20  *0\.[0-9]*  *-  *1' out
has out 'failed: ended by signal 9'
check 'an attempt counts' sh -c "tr '\n' ' ' <out | grep -q '1 attempt is not in this sum: no run with the same settings has finished'"

# ---- the sum is for the relation that a run is for: events for replace say nothing under zero-out
sum_of() { # FOLDER: the certificates in it, by privet account
    privet account "$1"/certificates/*.json --json | sed -n 's/.*"epsilon_together": \([^,]*\),.*/\1/p'
}
for relations in replace zero-out,replace; do
    ok compare small --holdout held --optimizer sgd --relation $relations --delta 1e-4 --repeats 2 --out "r-$relations"
    ok compare --config "r-$relations/compare.json" --out "r-$relations" --json
    check "$relations: as privet account" awk -v a="$(sum_of "r-$relations")" -v b="$(number epsilon out)" \
        'BEGIN { exit !(a > 1 && b > a * 0.98 && b <= a) }' # which takes the claims for what draws' shares are enough for
    has out '"relation": "replace"'
done
run compare small --holdout held --optimizer prgd --relation replace --delta 1e-4 --repeats 2 --out ball
has out 'cost at most epsilon 0 at delta 0.000200001' # deltas of balls add up, and zero-out has no proof

# ---- files that enter a run are part of its key
seq 1 200 >ids
ok compare small --holdout none data.person_file=ids data.person_rows=1 --delta 1e-4 --repeats 1 --out ids-out
now 1 1
touch -d '2001-01-01' ids
ok compare small --holdout none data.person_file=ids data.person_rows=1 --delta 1e-4 --repeats 1 --out ids-out
now 1 2
has ids-out/compare.html 'Protection of each person by all runs together'
run train small --optimizer pgd --privacy off --out start.pvt
ok compare small --holdout held optimizer.start=start.pvt --privacy off --repeats 1 --out start-out
touch -d '2001-01-01' start.pvt
ok compare small --holdout held optimizer.start=start.pvt --privacy off --repeats 1 --out start-out
now 1 2

# ---- measures with commas are one value; a log would be shared
warns 'measures on held-out rows are NOT PRIVATE for the people in them' \
    compare small --holdout held run.holdout=held run.measure=loss,accuracy --delta 1e-4 --repeats 1 --out along
has out '1 combination, 1 repeat each'
fails 2 'privet: run.log: the runs of a comparison would all write to one file; what they measure along the way is in the records, x/runs' \
    compare small --holdout held run.log=log --out x

# ---- curves for one optimiser and lines for another are two models: said, and a start of one does not fit the other
awk 'BEGIN { print "a,b,y"; s = 5; for (i = 0; i < 2000; i++) { s = (s * 16807) % 2147483647; printf "%d,%d,%s\n", s % 100, s % 7, (s % 100 > 50 ? "no" : "yes") } }' >curved.csv
printf '{"columns": [{"name": "a", "type": "number", "min": 0, "max": 100}, {"name": "b", "type": "number", "min": 0, "max": 6},\n {"name": "y", "type": "label", "values": ["no", "yes"]}]}\n' >curved.json
ok compare curved.csv --schema curved.json --holdout none --optimizer pgd,tr --delta 1e-5 --repeats 1 --out curves
check 'two kinds of models' sh -c "tr '\n' ' ' <out | grep -q 'These models have from 3 to [0-9]* weights: some lines fit a curve'"
ok compare curved.csv --schema curved.json --holdout none --optimizer pgd,tr data.curves=off --delta 1e-5 --repeats 1 --out straight
check 'models alike' sh -c '! grep -q "These models have" out'
run train curved.csv --schema curved.json data.curves=off --privacy off --quiet --out straight.pvt
run export straight.pvt --out straight.npy
run train curved.csv --schema curved.json --optimizer pgd --delta 1e-5 --quiet optimizer.start=straight.npy --out other.pvt
has err '; knots of curves have some of them, which data.curves=off leaves out'

# ---- figures on rows that are trained on are named, whichever run has them
printf '{"data.path": ["small", "held"], "holdout": "held", "repeats": 1, "budget.delta": 1e-6}' >own.json
ok compare --config own.json --out some
has out 'NOT PRIVATE: some figures are computed on the training rows'
has out 'Measured on 20,001 held-out rows'

# ---- an attempt with a seed that did not finish has no guarantee either
ok compare small --holdout held --delta 1e-4 --repeats 1 --out attempt
sed -n '1,3p' attempt/runs/*.json | tr -d '\n' | sed 's/|repeat 1"/|seed 9"/; s/"attempts.*/"attempts": 2}/; s/, *$/, "attempts": 2}/' >attempt/runs/x.started
ok compare small --holdout held --delta 1e-4 --repeats 1 --out attempt
has out 'NOT PRIVATE: 2 of the 1 run recorded in this folder, and 2 that did not finish, give no guarantee'

# ---- bad input: one line, and nothing is made
fails 2 'privet: compare needs rows to measure on: --holdout FILE; figures on the training rows would not be private (--holdout none takes those)' \
    compare small --out x
fails 2 'privet: compare needs rows to train on: privet compare DATA --holdout FILE ...' compare --holdout held --out x
fails 3 'privet: nowhere: No such file or directory' compare small --holdout nowhere --out x
fails 2 'privet: budget.epsilon=1,,2: a value is missing beside a comma' compare small --holdout held --epsilon 1,,2 --out x
fails 2 'privet: budget.epsilon has no value; one, or several with commas between them, are needed' compare small --holdout held --epsilon= --out x
fails 2 'privet: budget.epsilon has the value 1 twice; once is enough, and --pairs takes lists value by value' compare small --holdout held --epsilon 1,1 --out x
fails 2 'privet: --pairs: values number 3 of all lists are those of number 1; once is enough' compare small --holdout held --pairs --epsilon 1,1,1 optimizer.steps=5,6,5 --out x
ok compare small --holdout held --pairs --epsilon 1,1 optimizer.steps=5,6 --repeats 2 --out twice
same 'equal values in pairs' '1,5 1,6' "$(sed 1d twice/runs.csv | cut -d, -f1,2 | sort -u | tr '\n' ' ' | sed 's/ $//')"
fails 2 'privet: unknown setting epsilon: did you mean budget.epsilon? (`privet list` shows every setting)' compare small --holdout held epsilon=1,2 --out x
fails 2 'privet: --repeats 0: a whole number from 1 to 1000000 is needed' compare small --holdout held --repeats 0 --out x
fails 2 'privet: 20000 runs are asked for (combinations: 2, repeats: 10000); above 10000 say --many as well' \
    compare small --holdout held --epsilon 1,2 --repeats 10000 --out x
fails 2 'privet: --pairs needs lists of one length: budget.epsilon has 2 values, optimizer has 3' \
    compare small --holdout held --epsilon 1,2 --optimizer pgd,tr,str --pairs --out x
fails 2 'privet: run.seed takes one value, not a list' compare small --holdout held --seed 1,2 --out x
fails 2 'privet: compare has no --dump-config: it writes its settings to compare.json in the folder of --out' \
    compare small --holdout held --dump-config - --out x
printf '{"optimizer": ["pgd",' >bad.json
fails 3 'privet: bad.json:1:22: the text ends in the middle' compare --config bad.json --out x
printf '{"data.path": "small", "holdout": "held", "optimizer": []}' >bad.json
fails 2 'privet: bad.json: optimizer is an empty list; one value or more are needed' compare --config bad.json --out x
printf '{"data.path": "small", "holdout": "held", "optimizer": [["pgd"]]}' >bad.json
fails 2 'privet: bad.json: optimizer: a list holds texts and numbers only' compare --config bad.json --out x
check 'nothing was made' test ! -e x
fails 2 'privet: optimizer=foo: no such optimizer, there is adam, fw-l1, fw-l2, gd-sosp, output-perturbation, pgd, pmd, prgd, sbcd, sgd, str, str2, tr' \
    compare small --holdout held --optimizer foo,bar --out x # nothing is left to compare
for f in x/runs/*.json; do [ ! -e "$f" ] || problem "left behind: $f"; done
# a record that was damaged is done again
for f in p/runs/*.json; do echo '{' >"$f"; done
ok compare --config sweep.json --out p
now 4 4
finish
