# Reproductions: the list, what an item writes, going on after an interruption, missing data, bad names, the page.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
mkdir empty
PRIVET_DATA=$work/empty
export PRIVET_DATA

# ---- the list: every table and figure asked for, once
ok reproduce list --json
for name in prgd-fig2 sbcd-fig1 sbcd-fig2 sbcd-table1 tr-fig2 tr-fig4 tr-fig6 tr-fig8 tr-fig10 erm-fig1 erm-fig2 erm-fig3 erm-fig4 ls-fig1 ls-fig2 ls-fig3 \
    ls-fig4 ls-fig5 ls-fig6 ls-fig7 ls-table2 ls-table3 ls-table4; do
    same "$name in the list" 1 "$(grep -c "\"name\": \"$name\"" out)"
done
ok reproduce list
has out 'privacy of a step with noise from the unit ball'

# FILE: every line is a command of privet that the shell understands, no two are the same, and the first and the last do
# what they say.  MODEL stands for a file of one's own, DATA and RESULTS are the folders.
commands_run() {
    check "$1: has lines" test -s "$1"
    check "$1: for the shell" sh -n "$1"
    same "$1: begins with privet" '' "$(grep -v '^privet \(train\|plan\|reproduce\) ' "$1")"
    same "$1: twice the same" '' "$(sort "$1" | uniq -d)"
    sed -n '1p;$p' "$1" | sort -u >some.sh
    mkdir -p bin && ln -sf "$PRIVET_COMMAND" bin/privet
    PATH=$work/bin:$PATH sh -e some.sh >out 2>err || problem "$1: $(cat some.sh err)"
}

# ---- one item that needs no data
ok reproduce prgd-fig2 --quick
has out 'results/prgd-fig2.csv .svg .commands: 132 runs, 132 of them now'
same 'header' 'panel,series,x,mean,spread,runs,paper,paper_spread,difference,mode' "$(head -n 1 results/prgd-fig2.csv)"
# d = 1: delta is half the distance; and delta rises with the dimension and with the distance
awk -F, 'NR > 1 { x = $3 + 0; if ($2 == "\"d = 1\"" && ($4 - x / 2) ^ 2 > 1e-18) bad++
    if ($2 == series && $4 < last) bad++
    if (x in below && $4 < below[x]) bad++
    series = $2; last = $4; below[x] = $4 } END { exit bad + 0 || NR != 133 }' results/prgd-fig2.csv || problem 'delta does not rise'
check 'a picture' grep -q '<svg .*viewBox' results/prgd-fig2.svg
# the command printed gives the number recorded
command=$(sed -n 's/^privet //p' results/prgd-fig2.commands | grep 'clip=0.25 .*features=3$')
# shellcheck disable=SC2086  # words of a command
privet $command --json >plan.json 2>/dev/null
same 'by hand' 0.367188 "$(awk '/"kind": "ball"/ { getline; printf "%.6f", $2 }' plan.json)"
commands_run results/prgd-fig2.commands
ok reproduce ls-table3
same 'gamma at sigma 1' 0.447214 "$(awk -F, '$2 == "\"d = 1000\"" && $3 == 1 { print $4 }' results/ls-table3.csv)"
awk -F, 'NR > 1 && ($9 > 0.00051 || $9 < -0.00051) { exit 1 }' results/ls-table3.csv || problem 'gamma is not the printed one'
ok reproduce ls-table4
awk -F, 'NR > 1 && ($9 > 0.00051 || $9 < -0.00051) { exit 1 }' results/ls-table4.csv || problem 'beta is not the printed one'

ok reproduce ls-fig2
for name in ls-table3 ls-table4 ls-fig2; do
    cp results/$name.csv before.csv
    rm results/$name.csv # the command makes it again
    same "$name: the command" "privet reproduce $name" "$(cat results/$name.commands)"
    commands_run results/$name.commands
    check "$name: the same again" cmp before.csv results/$name.csv
done

# ---- claims of the papers about order, on what needs no rows
ok reproduce sbcd-fig1 --quick
same 'sbcd-fig1: the command' 'privet reproduce sbcd-fig1 --quick' "$(cat results/sbcd-fig1.commands)"
commands_run results/sbcd-fig1.commands
series() { # SCHEDULE: the loss after K epochs, one a line
    awk -F, -v s="\"$1\"" '$1 == "\"(b) Loss after K epochs\"" && $2 == s { print $4 }' results/sbcd-fig1.csv
}
check 'constant noise: the loss converges' sh -c "printf '%s\\n' '$(series constant)' | awk '{ last[NR] = \$1 } END { exit !(last[NR] < 1.01 * last[NR - 4] && last[NR] > 2 * last[1]) }'"
check 'decaying noise: it does not' sh -c "printf '%s\\n' '$(series decay)' | awk '{ last[NR] = \$1 } END { exit !(last[NR] > 1.2 * last[NR - 1]) }'"
check 'growing noise: it falls' sh -c "printf '%s\\n' '$(series increase)' | awk 'NR > 1 && \$1 >= before { bad = 1 } { before = \$1 } END { exit bad }'"
check 'early epochs hardly count' awk -F, '/"fixed, j0 = 0"/ { if ($4 == 5) early = $5; if ($4 == 30) late = $5 } END { exit !(early > 0 && early < 1e-3 * late) }' results/sbcd-fig1.csv
noise() { # STEPS EPSILON, by the ERM paper's calibration
    privet plan model=sigmoid optimizer=pgd optimizer.calibration=paper data.rows=10000 data.features=100 budget.relation=replace \
        budget.delta=0.001 optimizer.steps="$1" budget.epsilon="$2" --json 2>/dev/null | awk -F'[:,]' '/"noise_multiplier"/ { print $2 + 0; exit }'
}
check 'noise grows as the root of T' awk "BEGIN { r = $(noise 800 2) / $(noise 200 2); exit !(r > 1.999 && r < 2.001) }"
check 'and falls with epsilon' awk "BEGIN { exit !($(noise 200 5) < $(noise 200 0.1)) }"

# ---- missing data: said once for each, the rest is made, a code of its own
run reproduce tr-fig6 --quick
same 'missing: code' 6 "$code"
has out 'skipped: put ijcnn1.tr.bz2 of the LIBSVM collection in ijcnn1/ of a folder named by PRIVET_DATA'
has out "looked in $work/empty"
run reproduce tr-fig6 --quick --out nothing
same 'missing, another folder: code' 6 "$code"
check 'nothing is made for what is skipped' test ! -e nothing
run reproduce ls-fig6
has out 'left out: it runs with --quick or --full'
run reproduce ls-fig6 --quick
same 'missing, CIFAR-10: code' 6 "$code"
has out 'skipped: put the binary version of CIFAR-10'

# ---- the index of the page: every figure of the list is in it, its commands without data run
page=$PRIVET_SOURCE/docs/reproduce.md
sed -n '/^## Index/,/^## What/p' "$page" | grep -o '`privet [^`]*`' | tr -d '`' | sort -u >index
same 'all figures in the index' "$(privet reproduce list --json | sed -n 's/.*"name": "\([^"]*\)".*/privet reproduce \1/p' | sort -u)" \
    "$(grep '^privet reproduce ' index)"
grep -E '^privet (plan|account|curve) [a-z-]+ ?[^ ]' index | cut -d' ' -f2- >commands
check "commands in the index: $(wc -l <commands)" test "$(wc -l <commands)" -ge 20
while read -r line; do
    # shellcheck disable=SC2086  # words of a command
    privet $line >out 2>err </dev/null || problem "privet $line: $(cat err)"
done <commands

# ---- bad names and values
fails 2 'privet: unknown table or figure tr-fig5; did you mean tr-fig2?' reproduce tr-fig5
fails 2 'privet: unknown table or figure everything; privet reproduce list shows what there is' reproduce everything
fails 2 'privet: --runs none: a whole number from 1 to 1000 is needed' reproduce prgd-fig2 --runs none
fails 2 'privet: reproduce has no setting clip; there is --runs, --seed, --jobs, --quick and --full' reproduce prgd-fig2 clip=1
fails 2 'privet: --seed 0: a whole number from 1 to 1000000 is needed' reproduce prgd-fig2 --seed 0
fails 2 'privet: unknown option --quik for reproduce; did you mean --quick?' reproduce all --quik

# ---- Covertype has a schema, and the papers' model of it straight lines: all methods fit the same 54 weights
mkdir -p data/covtype
awk 'BEGIN { s = 3; for (i = 0; i < 90000; i++) {
    for (j = 1; j <= 10; j++) { s = (s * 16807) % 2147483647; printf "%d,", (j == 1 ? 1859 + s % 2000 : s % 60) }
    for (j = 11; j <= 54; j++) printf "%d,", (j + i) % 9 == 0
    print 1 + s % 7 } }' | gzip -1 >data/covtype/covtype.data.gz
PRIVET_DATA=$work/data run reproduce tr-fig8 --quick --runs 1 --out c
same 'Covertype: code' 0 "$code"
same 'weights of all runs' '25 "weights": 54' "$(cat c/runs/*.json | grep -o '"weights": [0-9]*' | sort | uniq -c | sed 's/^ *//')"

# ---- going on where it stopped: a small IJCNN1 of the right shape, an end in the middle, and a torn record
mkdir -p data/ijcnn1
awk 'BEGIN { s = 7; for (i = 0; i < 35000; i++) { s = (s * 16807) % 2147483647; a = s % 2001 / 1000 - 1
    s = (s * 16807) % 2147483647; b = s % 2001 / 1000 - 1
    printf "%s 1:%.3f 2:%.3f 22:0.5\n", (a + 0.3 * b > 0 ? "+1" : "-1"), a, b } }' | bzip2 >data/ijcnn1/ijcnn1.tr.bz2
PRIVET_DATA=$work/data
"$PRIVET_COMMAND" reproduce tr-fig6 --quick --runs 1 --out r >out 2>err &
pid=$!
records() { find r/runs -name '*.json' 2>/dev/null | wc -l; }
while [ "$(records)" -lt 4 ] && kill -0 $pid 2>/dev/null; do sleep 0.05; done
kill -TERM $pid 2>/dev/null
wait $pid
code=$?
case $code in
0) echo 'finished before it could be interrupted' ;;
*)
    same 'interrupted: code' 143 "$code"
    same 'interrupted: message' 'privet: interrupted; finished runs are kept, the same command goes on from here' "$(cat err)"
    check 'no result of half an item' test ! -e r/tr-fig6.csv
    ;;
esac
same 'no model is left' '' "$(find r -name '*.pvt')"
torn=$(find r/runs -name '*.json' | sort | head -n 1)
head -c 200 "$torn" >some && mv some "$torn"
kept=$(($(records) - 1))
find r/runs -name '*.json' ! -path "$torn" -exec cksum {} + | sort >before
ok reproduce tr-fig6 --quick --runs 1 --out r
same 'went on' "tr-fig6      r/tr-fig6.csv .svg .commands: 25 runs, $((25 - kept)) of them now" "$(head -1 out)"
has out 'NOT PRIVATE'
same 'what was recorded stays' '' "$(find r/runs -name '*.json' -exec cksum {} + | sort | comm -23 before -)"
same 'a record for every run' 25 "$(records)"
same 'runs: header' 'command,series,x,run,step,measure,value' "$(head -n 1 r/tr-fig6.runs.csv)"
same 'runs: one line each' 25 "$(grep -c ',,accuracy_not_private,' r/tr-fig6.runs.csv)"
ok reproduce tr-fig6 --quick --runs 1 --out r
has out '25 runs, 0 of them now'
ln -s data DATA && ln -s r RESULTS
commands_run r/tr-fig6.commands
# certificates hold, and so does what is said about order
for certificate in r/certificates/tr-fig6-*DP-TR-1-1.json r/certificates/tr-fig6-*DP-STR-0.2-1.json; do
    ok verify "$certificate"
done
gap() { awk -F, -v s="\"$1\"" -v x="$2" '$1 == "\"Optimality gap\"" && $2 == s && $3 == x { print $4 }' r/tr-fig6.csv; }
check 'DP-STR beats its printed form' awk "BEGIN { exit !($(gap DP-STR 1) < $(gap 'DP-STR as printed' 1)) }"
check 'DP-GD is not left behind' awk "BEGIN { exit !($(gap DP-GD 1) < $(gap 'DP-TR as printed' 1)) }"
# curves along a run reach its end, and end with the model that is returned
last() { sed -n "s/^\"Gap against time, epsilon = 1\",\"$1\",[^,]*,\([^,]*\),.*/\1/p" r/tr-fig6.csv | tail -n 1; }
for series in DP-TR DP-STR DP-GD pgd; do same "$series: the curve's end" "$(gap $series 1)" "$(last $series)"; done
same 'marked as such, and in the key' 9 "$(grep -c 'l6 6l-6 6l-6 -6z' r/tr-fig6.svg)"
check 'more budget, less gap' awk "BEGIN { exit !($(gap DP-TR 2) < $(gap DP-TR 0.2)) }"

# ---- seeds: run k of every point takes seed S + k - 1, is repeatable, and is no run of the unseeded set
ok reproduce tr-fig6 --quick --runs 1 --seed 5 --out s
points=$(wc -l <s/tr-fig6.commands)
has out "$points runs, $points of them now"
has s/tr-fig6.csv 'quick seed 5'
same 'the seed is in every command' "$points" "$(grep -c ' run.seed=5 ' s/tr-fig6.commands)"
ok reproduce tr-fig6 --quick --runs 1 --seed 5 --out again
gaps() { grep '^"Optimality gap"' "$1/tr-fig6.csv" | cut -d, -f2-4; }
same 'repeatable' "$(gaps s)" "$(gaps again)"
check 'and unlike others' test "$(gaps s)" != "$(gaps r)"
ok report s --markdown -o s.md
has s.md 'privet reproduce tr-fig6 --quick --runs 1 --seed 5'

# ---- the page
fails 3 'privet: empty holds no results; privet reproduce all --quick --out empty makes them' report empty -o e.html
ok report r -o r.html
has r.html 'Optimality gap'
mv r.html results.html
ok report results -o report.html
same 'pictures in the page' 7 "$(grep -c '<svg ' report.html)"
same 'addresses in the page' 'http://www.w3.org/2000/svg' "$(grep -oE 'https?://[^" ]*' report.html | sort -u)"
has report.html '0.2425 (0.243)'
ok report results --markdown -o report.md
grep -v 'Loss after K' results/sbcd-fig1.csv >lines && mv lines results/sbcd-fig1.csv # lines were lost
ok report results --markdown -o lost.md
has report.md '![PrGD, Fig. 2](results/prgd-fig2.svg)'
has report.md '| d = 1000 | 0.4472 (0.447) | 0.3333 (0.333) | '
fails 2 'privet: --markdown is for a folder of results; results.html is none' report results.html --markdown -o x.md
finish
