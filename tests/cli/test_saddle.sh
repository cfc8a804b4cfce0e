# The commands of docs/algorithms/start.md: exact gradients stay at a strict saddle, noise leaves it; public pre-training.
. "$(dirname "$0")/lib.sh"

page=$PRIVET_SOURCE/docs/algorithms/start.md
measure() { # KEY: of the returned model
    sed -n "s/^ *\"$1\": \(.*\),\$/\1/p" out | head -1
}
between() { # LOW HIGH VALUE
    awk -v l="$1" -v h="$2" -v x="$3" 'BEGIN { exit !(x >= l && x <= h) }'
}

grep '^awk ' "$page" >make.sh
sh make.sh
check '20000 rows' test "$(wc -l <saddle.svm)" = 20000
eval "$(grep '^SADDLE=' "$page")"
grep '^privet train \$SADDLE' "$page" | sed 's/^privet train \$SADDLE//' >runs
check 'seven runs' test "$(wc -l <runs)" = 7
while read -r line; do
    name=${line##* }
    # shellcheck disable=SC2086 # words of a command
    run train $SADDLE $line --json
    check "$name runs: $(cat err)" test "$code" = 0
    case $name in
    off.pvt)
        check "$name stays: $(measure objective)" between 0.0779 0.0781 "$(measure objective)"
        check "$name is at a strict saddle: $(measure lambda_min)" between -0.1004 -0.0996 "$(measure lambda_min)"
        ;;
    *)
        check "$name leaves: $(measure objective)" between 0.0416 0.048 "$(measure objective)"
        check "$name is at a minimum: $(measure lambda_min)" between 0.02 0.07 "$(measure lambda_min)"
        ;;
    esac
done <runs

# Public pre-training: declared, recorded, listed as taken on trust; never from a model file.
awk 'BEGIN { for (i = 0; i < 400; i++) print (i % 3 ? 1 : -1) " 1:" i % 7 / 9 " 2:" i % 5 / 6 - 0.3 }' >public.svm
sed 's/2:/3:0.1 2:/' public.svm | awk '{ print $1, $2, $4, $3 }' >private.svm
cut -d ' ' -f 1-3 private.svm >same.svm
ok train public.svm --privacy off --out public.pvt --quiet
run export public.pvt --out public.npy
has err 'privet: warning: public.pvt is NOT PRIVATE'
has err 'an NPY file has no room for a certificate'
run train same.svm --epsilon 1 --delta 1e-4 optimizer.start=public.npy --out model.pvt
check "starts from public.npy: $(cat err)" test "$code" = 0
run verify model.pvt
check 'verifies' test "$code" = 0
has out 'That nothing in the weights it started from was learned from these rows.'
privet verify model.pvt --certificate c.json >/dev/null
has c.json '"optimizer.start": "file:'
has c.json 'The weights that the run started from are public'
run train same.svm --epsilon 1 --delta 1e-4 optimizer.start=public.pvt --out other.pvt
check 'refuses a model that is NOT PRIVATE' test "$code" != 0
has err 'it is NOT PRIVATE, so that a run from it is, too'
run train same.svm --epsilon 1 --delta 1e-4 optimizer.start=model.pvt --out other.pvt
check 'refuses a private model' test "$code" != 0
has err 'a certificate counts one run, and this model cost another'
run train private.svm --epsilon 1 --delta 1e-4 optimizer.start=public.npy --out other.pvt
has err '3 weights, and this model has 4'
for start in zero random:5; do
    run train same.svm --epsilon 1 --delta 1e-4 optimizer.start=$start set=simplex --out other.pvt
    has err "privet: note: optimizer.start=$start: outside of set=simplex, its projection is taken"
done
finish
