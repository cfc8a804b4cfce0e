# Measures along a run by the command: held-out rows, lines of JSON, curves in a page, and what is said of them.
. "$(dirname "$0")/lib.sh"

rows() { # FROM TO
    awk -v a="$1" -v b="$2" 'BEGIN { for (i = a; i < b; i++) print (i * 7 % 11 > 5 ? 1 : -1) " 1:" i * 7 % 11 / 11 " 2:" i % 5 / 6 " 3:" i % 3 / 4 }'
}
rows 0 600 >train
rows 1000 1200 >held
warning='measures on held-out rows are NOT PRIVATE for the people in them'
warns "$warning" train train --delta 1e-4 data.rows=600 data.features=3 --epsilon 2 --holdout held run.measure=all run.every=10 run.log=log.jsonl \
    optimizer.steps=40 --out m.pvt --quiet
has out 'NOT PRIVATE  what follows was computed from held-out rows without noise; the people in them are not protected'
has out 'objective'
has out 'lambda min'
has out 'AUC'
has out 'end of what is NOT PRIVATE'
check 'a line for 10, 20, 30 and the returned model' test "$(grep -c '^{"rows":"held-out","warning":"NOT PRIVATE"' log.jsonl)" = 4
check 'the returned model is last' test "$(grep -n '"returned":true,"step":40' log.jsonl | cut -d : -f 1)" = 4
run verify m.pvt --certificate c.json
check 'the certificate holds' test "$code" = 0
has c.json 'Measures on held-out rows were shown to whoever ran the training'
ok report m.pvt --measures log.jsonl --out page.html
has page.html '<h2>Along the run</h2>'
has page.html 'Lowest eigenvalue of the Hessian'
has page.html 'held-out rows'

# Of training rows, on the way: NOT PRIVATE.
run train train --delta 1e-4 --epsilon 2 run.diagnostics=yes run.log=own.jsonl --out own.pvt --quiet
has err 'run.log shows measures of the training rows while it trains: the result is NOT PRIVATE'
has out 'NOT PRIVATE  measures of the training rows were shown while it was trained'
run verify own.pvt
check 'no certificate holds' test "$code" = 3

fails 2 'privet: run.holdout=train: these are the rows to train on; run.diagnostics=yes measures on those' \
    train train --privacy off --holdout train --out x.pvt --quiet data.rows=600 data.features=3
for verb in 'train train --out x.pvt' 'plan train'; do # a plan refuses what its run would
    # shellcheck disable=SC2086  # words of a command
    set -- $verb --quiet --delta 1e-4
    fails 2 'privet: run.log does nothing without rows to measure on: add run.holdout=FILE or run.diagnostics=yes, or leave it out' "$@" run.log=x
    fails 2 'privet: run.measure does nothing without rows to measure on: add run.holdout=FILE or run.diagnostics=yes, or leave it out' "$@" run.measure=loss
    fails 2 'privet: run.holdout has no value: name a file, or leave it out' "$@" run.holdout=
    fails 2 'privet: run.log has no value: name a file, or leave it out' "$@" run.holdout=held run.log=
    fails 3 'privet: run.holdout=nowhere: No such file or directory' "$@" run.holdout=nowhere
    fails 3 'privet: nowhere.npy: No such file or directory' "$@" optimizer.start=nowhere.npy
done
run train train --delta 1e-4 --holdout held run.log=other.jsonl --out other.pvt --quiet
same 'another run' 0 "$code"
fails 3 'privet: other.jsonl: measures of another run: its weights are not those of the model' report m.pvt --measures other.jsonl --out page.html
awk 'NR == 1 { while (n++ < 8000) print }' other.jsonl >long.jsonl # more than 1 MB, of a run that goes on
ok report m.pvt --measures long.jsonl --out page.html
echo '{"rows":"held-out","step":1,"objective":[1]}' >bad
fails 3 'privet: bad:1: not a line that run.log writes' report m.pvt --measures bad --out page.html
cksum held train log.jsonl >before
fails 2 'privet: run.log held is an input; name another file' train train --holdout held run.log=held --out x.pvt --quiet
fails 2 'privet: run.log train is an input; name another file' train train --holdout held run.log=train --out x.pvt --quiet
fails 2 'privet: --certificate x.json is an input; name another file' \
    train train --holdout held run.log=log.jsonl --config x.json --certificate x.json --out x.pvt --quiet
fails 2 'privet: --out log.jsonl is an input; name another file' report m.pvt --measures log.jsonl --out log.jsonl
check 'no input was touched' test "$(cksum held train log.jsonl)" = "$(cat before)"
printf '' >empty
fails 3 'privet: empty: no measures in it' report m.pvt --measures empty --out page.html
finish
