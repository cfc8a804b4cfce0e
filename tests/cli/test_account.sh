# account, calibrate, curve: the documented answers, every kind of bad input, and a drawing that is whole.
. "$PRIVET_SOURCE/tests/cli/lib.sh"

value() { # KEY: a number of the JSON in out
    sed -n "s/^ *\"$1\": \"\\{0,1\\}\\([^,\"]*\\).*/\\1/p" out | head -1
}
between() { # LOW VALUE HIGH
    checks=$((checks + 1))
    awk -v a="$1" -v x="$2" -v b="$3" 'BEGIN { exit !(x != "" && a <= x && x <= b) }' || problem "$2 is not in [$1, $3]"
}

# ---- known values
ok account gaussian z=1.1 q=0.00426666667 steps=14063 --delta 1e-5 --accountant rdp --json
between 2.5962 "$(value epsilon)" 2.5972
same 'accountant' rdp "$(value accountant)"
same 'relation' zero-out "$(value relation)"
ok account gaussian z=1.1 q=0.00426666667 steps=14063 --delta 1e-5 --json
between 2.3816 "$(value epsilon)" 2.5972
between 0 "$(value epsilon_lower)" 2.3817
ok account gaussian z=10 steps=100 --delta 1e-5 --json
between 4.3767 "$(value epsilon)" 4.3777
between 4.3767 "$(value epsilon_lower)" 4.3777
between 0 "$(value seconds)" 1e9
ok account gaussian z=10 steps=100 --delta 1e-5
same 'for people' 'cost         epsilon 4.37718 at delta 1e-05
strength     weak: epsilon 4.37718 is above 3, and delta 1e-05 is for tables of at most 10000 rows
meaning      Suppose a coin decides whether one given row is used. Whoever sees the result and knows
             everything else guesses right at most 98.8 % of the time; without the result, 50 %.
by           accountant gaussian, relation zero-out
at least     epsilon 4.37718, certified too: no accountant can go below' "$(cat out)"
ok account gaussian z=1 --delta 0.1
has out 'delta 0.1 is for tables of at most 1 row'
check 'not 1 rows' sh -c '! grep -q "1 rows" out'
ok account gaussian z=10 steps=100 --epsilon 4.37718
has out 'at delta 9.99992e-06'
ok account gaussian z=3 --delta 1e-5 --group 3
has out 'any 3 rows at once'
has out 'Suppose a coin decides whether 3 given rows are used.'
ok account gaussian z=10 --delta 1e-5 --all
has out 'zcdp'
ok account laplace scale=2 --delta 0
has out 'epsilon 0.5 at delta 0'
# ---- the events of a certificate count only with the rest of it
printf '{"format": "privet-certificate", "events": {"kind": "gaussian", "noise_multiplier": 2}}' >certificate
fails 2 'privet: certificate is a certificate: privet verify certificate recomputes its cost' account --file certificate --delta 1e-5
rm certificate
small_data >small
ok train small --quiet --delta 1e-4 --out m.pvt
fails 2 'privet: m.pvt is a model: privet verify m.pvt recomputes its cost' account --file m.pvt --delta 1e-5
rm small m.pvt
ok account gaussian z=2 q=0.01 --delta 1e-5 --relation replace
has out 'two zero-out steps (group bound)'
ok account gaussian z=2 q=0.01 sampler=fixed --delta 1e-5 --relation replace --json
same 'no group bound' false "$(value group_bound)"

# ---- calibrating and accounting agree
for q in 1 0.01; do
    ok calibrate --epsilon 1 --delta 1e-5 q=$q steps=300 --json
    z=$(value noise_multiplier)
    ok account gaussian z="$z" q=$q steps=300 --delta 1e-5 --json
    between 0.9999 "$(value epsilon)" 1
done
ok calibrate --epsilon 1 --delta 1e-5 steps=100
has out 'noise        multiplier 37.3'
ok calibrate select --epsilon 1 --delta 0 steps=10
has out 'for each selection'

# ---- event trees in files
printf '{"kind": "repeat", "times": 100, "event": {"kind": "gaussian", "noise_multiplier": 10}}\n' >events.json
ok account --file events.json --delta 1e-5 --json
between 4.3767 "$(value epsilon)" 4.3777
ok calibrate --file events.json --epsilon 1 --delta 1e-5
has out 'multiply every noise in the file by 3.73'

# ---- the curve and its drawing
ok curve gaussian z=1.1 steps=3 --svg privacy.svg
has out 'mu           1.57459 fits'
has out 'drawing      privacy.svg'
check 'the drawing ends' grep -q '^</svg>' privacy.svg
check 'no number is missing in the drawing' sh -c '! grep -qiE "nan|inf[^o]" privacy.svg'
if command -v xmllint >/dev/null; then check 'the drawing is XML' xmllint --noout privacy.svg; fi
ok curve gaussian z=1 --json
has out '"mu_is"'
fails 3 'privet: nowhere/p.svg: cannot be written: No such file or directory' curve gaussian z=1 --svg nowhere/p.svg

# ---- refusals: one line each
fails 2 'privet: say what is released, once: a mechanism such as `gaussian z=1.1 steps=100`, or --file events.json' account --delta 1e-5
fails 2 'privet: say what is released, once: a mechanism such as `gaussian z=1.1 steps=100`, or --file events.json' account gaussian z=1 --file events.json --delta 1e-5
fails 2 'privet: unknown mechanism gausian; did you mean gaussian?' account gausian z=1 --delta 1e-5
fails 2 'privet: gaussian needs z=..., noise over sensitivity' account gaussian --delta 1e-5
fails 2 'privet: unknown setting sigma; did you mean z?' account gaussian sigma=2 --delta 1e-5
fails 2 'privet: unknown setting sample_rate; did you mean q?' account gaussian z=1 sample_rate=0.1 --delta 1e-5
fails 2 'privet: give delta to learn epsilon, or epsilon to learn delta' account gaussian z=1
fails 2 'privet: epsilon and delta are both given: leave out the one to learn; calibrate finds the noise for both' \
    account gaussian z=1 --epsilon 1 --delta 1e-5
for group in 0 -1 1.5 1000001 2e6 1e300; do
    fails 2 "privet: rows=$group (--group): a whole number from 1 to 1000000 is needed" account gaussian z=1 --delta 1e-5 --group $group
done
fails 2 'privet: a group of 1000000 rows is too large for these events: for all of them together, noise multiplier 9.9999999999999974e-07 is not in [1e-06, 1e+16]' \
    account gaussian z=1 --delta 1e-5 --group 1e6
ok account gaussian z=1.1 --delta 1e-5 --group 1e6
has out 'any 1000000 rows at once'
fails 2 'privet: rows=2 (--group): groups need delta, not epsilon' account gaussian z=1 --epsilon 1 --group 2
fails 2 'privet: z=0: a number between 1e-06 and 1e+16 is needed' account gaussian z=0 --delta 1e-5
fails 2 'privet: z=-1: a number between 1e-06 and 1e+16 is needed' account gaussian z=-1 --delta 1e-5
fails 2 'privet: z=nan: a number is needed' account gaussian z=nan --delta 1e-5
fails 2 'privet: sampling rate 1.5 is not in [1e-15, 1]' account gaussian z=1 q=1.5 --delta 1e-5
for steps in 0 -3 0.5 9007199254740993 9007199254740993.0 1e16 99999999999999999999 -9223372036854775808; do
    fails 2 "privet: steps=$steps: a whole number from 1 to 9007199254740992 is needed" account gaussian z=1 steps=$steps --delta 1e-5
done
# the most there is, as steps= and in a file
printf '{"kind": "repeat", "times": 9007199254740992, "event": {"kind": "gaussian", "noise_multiplier": 1e9}}' >most.json
ok account --file most.json --delta 1e-5
cp out most
ok account gaussian z=1e9 steps=9007199254740992 --delta 1e-5
check 'the same cost' cmp out most
ok account gaussian z=1e9 steps=9e15 --delta 1e-5
rm most most.json
fails 2 'privet: steps=many: a number is needed' account gaussian z=1 steps=many --delta 1e-5
fails 2 'privet: delta 1 is not in [1e-200, 0.999999999999] and not 0' account gaussian z=1 --delta 1
for delta in 1e-285 1e-201; do
    fails 2 "privet: delta $delta is not in [1e-200, 0.999999999999] and not 0" account gaussian z=1174 q=3.76e-05 --delta $delta
    fails 2 "privet: delta $delta is not in [1e-200, 0.999999999999] and not 0" calibrate gaussian q=0.0314 --epsilon 1 --delta $delta
done
fails 2 'privet: epsilon 10000000 is not in [1e-09, 1000000]' calibrate gaussian --epsilon 1e7 --delta 1e-5
fails 2 'privet: epsilon 0 is not positive' calibrate gaussian --epsilon 0 --delta 1e-5
fails 2 'privet: epsilon 10000000 is not in [1e-09, 1000000] and not 0' account gaussian z=1 --epsilon 1e7
fails 2 'privet: epsilon 10000000 is not in [1e-09, 1000000] and not 0' curve gaussian z=1 --epsilon 1e7
fails 2 'privet: budget.delta=1e-285: a number between 2e-200 and 0.999999999999, or auto, is needed (delta, the failure probability; auto: the power of ten at most 1/(10 n))' plan --rows 1000 --features 3 --delta 1e-285
fails 2 'privet: budget.epsilon=1e7: a number between 1e-09 and 1000000 is needed (epsilon, the privacy budget)' plan --rows 1000 --features 3 --epsilon 1e7
fails 2 'privet: delta=nan: a number is needed' account gaussian z=1 --delta nan
fails 2 'privet: gaussian has no step; did you mean steps?' account gaussian z=1 step=3 --delta 1e-5
fails 2 'privet: relation=add: zero-out or replace is needed' account gaussian z=1 --delta 1e-5 --relation add
fails 2 'privet: unknown accountant magic; there is best, gaussian, zcdp, rdp, tv, compose, pld' account gaussian z=1 --delta 1e-5 --accountant magic
fails 2 'privet: accountant gaussian has no answer for these events under zero-out (unsupported combination); try best' account gaussian z=1 q=0.1 --delta 1e-5 --accountant gaussian
fails 2 'privet: no accountant has a proof for these events under zero-out; --relation replace has' account gaussian z=1 q=0.1 sampler=fixed --delta 1e-5
ok account gaussian z=1 q=0.1 sampler=fixed --delta 1e-5 --relation replace
fails 2 'privet: laplace has no z; did you mean scale?' account laplace z=1 --delta 0
fails 2 'privet: gaussian has no eps0; did you mean z?' account gaussian eps0=1 --delta 1e-5
fails 2 'privet: gaussian has no diameter; it has z, q, sampler, steps' account gaussian z=1 diameter=1 --delta 1e-5
fails 2 'privet: unknown setting foo; there is file, delta, epsilon, accountant, relation, rows, all, draws, draws_epsilon, unit, q, sampler, steps, z, scale, eps0, delta0, step, smooth, strong, diameter, shift, batches, distance, radius, dimension' account gaussian z=1 foo=1 --delta 1e-5
fails 2 'privet: unknown setting foo; there is noise, z, batches, epochs, step, smooth, shrink, strong, delta' curve sbcd z=5 foo=1
fails 2 'privet: unknown mechanism sbdc; did you mean sbcd?' curve sbdc z=5
fails 2 'privet: sbcd is for privet curve: it shows what every pass costs' account sbcd z=5 --delta 1e-5
fails 2 'privet: unknown mechanism frobnicate: gaussian, laplace, select, ball, eps-delta and noisy-gd are known, and sbcd to privet curve' curve frobnicate
: >nothing.json
fails 3 'privet: nothing.json: empty file' account --file nothing.json --delta 1e-5
rm nothing.json
fails 2 'privet: calibration needs epsilon and delta' calibrate --epsilon 1
for m in gaussian laplace select noisy-gd; do
    case $m in laplace) key=scale ;; select) key=eps0 ;; *) key=z ;; esac
    fails 2 "privet: $key is what calibrate solves for: leave it out, or ask account what it costs" \
        calibrate $m $key=2 --epsilon 1 --delta 1e-5
done
fails 2 'privet: these events have no noise to calibrate' calibrate ball delta0=1e-6 --epsilon 1 --delta 1e-5
fails 4 'privet: no amount of noise reaches epsilon 1 at delta 0 for these events' calibrate --epsilon 1 --delta 0
fails 3 'privet: none.json: No such file or directory' account --file none.json --delta 1e-5
head -c 43 events.json >cut.json
fails 3 'privet: cut.json:1:44: a key in double quotes is needed' account --file cut.json --delta 1e-5
printf '{"kind": "future"}' >future.json
fails 3 'privet: future.json:1:10: unknown kind of event: future' account --file future.json --delta 1e-5
awk 'BEGIN { for (i = 0; i < 1000000; i++) printf "{\"kind\":\"repeat\",\"times\":1,\"event\":" }' >deep.json
run account --file deep.json --delta 1e-5
same 'a million levels: exit code' 3 "$code"
same 'a million levels: one line' 1 "$(wc -l <err | tr -d ' ')"
has err 'nested too deeply'
only_files events.json privacy.svg cut.json future.json deep.json
# ---- several files: their events composed, each run once
small_data >small
ok train small --quiet --epsilon 1 --delta 1e-6 optimizer.steps=10 --out a.pvt --certificate a.json
ok train small --quiet --epsilon 0.5 --delta 1e-6 optimizer.steps=10 --out b.pvt --certificate b.json
ok account a.pvt b.pvt --json
sed -n 's/.*"epsilon_together": \([^,]*\),.*/\1/p' out >sum
z() { sed -n 's/.*"noise_multiplier": \([^,]*\),*$/\1/p' "$1" | head -1; }
printf '{"kind": "sequence", "events": [{"kind": "repeat", "times": 10, "event": {"kind": "gaussian", "noise_multiplier": %s}},
{"kind": "repeat", "times": 10, "event": {"kind": "gaussian", "noise_multiplier": %s}}]}' "$(z a.json)" "$(z b.json)" >both.json
ok account --file both.json --delta 1e-6 --json
between "$(value epsilon)" "$(cat sum)" "$(awk -v x="$(value epsilon)" 'BEGIN { print x * 1.01 }')"
ok account b.pvt a.json a.pvt
has out 'together     epsilon 1.1'
has out 'b.pvt: epsilon 0.5 at delta 1e-06 by itself'
has out 'a.pvt: the run of a.json, counted once'
ok account a.pvt --json
has out '"epsilon_together": 1,' # never below its own claim
ok account a.pvt b.pvt --relation replace --group 2
has out 'relation replace, unit row'
has out 'any 2 rows at once'
ok train small --quiet --epsilon 0.5 --delta 1e-6 --relation replace optimizer.steps=10 --out r.pvt
ok account a.pvt r.pvt
has out 'relation replace'
fails 3 'privet: r.pvt: its releases are not accounted for under zero-out; --relation replace may do' account a.pvt r.pvt --relation zero-out
run train small --privacy off --quiet --out open.pvt
fails 3 'privet: open.pvt: NOT PRIVATE: trained with privacy=off: no noise was added' account a.pvt open.pvt
old=$PRIVET_SOURCE/tests/corpus/certificates-v2 # without a salt: equal texts may be two runs
check 'equal texts' cmp -s "$old/model-logistic.json" "$old/reg-none.json"
ok account "$old/model-logistic.json" "$old/reg-none.json"
check 'two runs' sh -c '! grep -q "counted once" out'
run train small --quiet --epsilon 40 --delta 1e-6 optimizer.steps=10 --out big.pvt # and warns
ok account big.pvt --delta 0.9
has out 'draws are ideal: big.pvt has no share of delta'
rm big.pvt
fails 3 'privet: none.pvt: No such file or directory' account a.pvt none.pvt
fails 2 'privet: epsilon: not for files; --delta, --relation, --accountant and --group are' account a.pvt --epsilon 1
ok account a.pvt --delta 1e-9
has out 'not less: the accuracy of draws takes more'
fails 2 'privet: --delta 2: a number from 1e-100 to below 1 is needed' account a.pvt --delta 2
seq 1 200 | awk '{ print int(($1 + 1) / 2) }' >ids
run train small data.person_file=ids --rows-per-person 8 --quiet optimizer.steps=10 --out p.pvt
same 'a run on persons' 0 "$code"
fails 3 'privet: p.pvt protects persons and a.pvt rows: there is no sum for both; ask for each kind apart' account a.pvt p.pvt
ok account p.pvt
has out 'all rows of one person are used'
rm -f small a.pvt b.pvt r.pvt p.pvt a.json b.json both.json sum ids open.pvt
# ---- the finite accuracy of draws: no budget is refused between two that are not
for epsilon in 10 15 19 20 25 29 30 31; do
    run plan --rows 32561 --features 123 --epsilon $epsilon
    same "plan at epsilon $epsilon" 0 "$code"
    run plan --rows 60000 --features 784 optimizer=sgd sampler.batch=256 --delta 1e-6 --epsilon $epsilon
    same "plan with samples at epsilon $epsilon" 0 "$code"
done
finish
