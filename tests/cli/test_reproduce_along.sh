# label: long
# Points of a curve from one run: as many runs as lines, the same numbers as a run of that length, and recorded for the next time.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
data=${PRIVET_DATA:-$PRIVET_SOURCE/../shared/data}
[ -f "$data/mnist/train-images-idx3-ubyte.gz" ] || skip "no MNIST in \$PRIVET_DATA or $data"
PRIVET_DATA=$data
export PRIVET_DATA

ok reproduce ls-fig3 --quick --runs 1 --seed 1 --out r
has out 'r/ls-fig3.csv .svg .commands: 6 runs, 6 of them now'
same 'a command for every line' 6 "$(wc -l <r/ls-fig3.commands)"
same 'a record for every run' 6 "$(find r/runs -name '*.json' | wc -l)"
same 'a line for every point' 18 "$(grep -c ',objective_not_private,' r/ls-fig3.runs.csv)"
ok reproduce ls-fig3 --quick --runs 1 --seed 1 --out r
has out '6 runs, 0 of them now'
cp r/ls-fig3.csv before.csv
find r/runs -name '*.json' | sort | head -n 2 | xargs rm # records were lost: those runs are done again
ok reproduce ls-fig3 --quick --runs 1 --seed 1 --out r
has out '6 runs, 2 of them now'
check 'the same again' cmp before.csv r/ls-fig3.csv

# After five passes: a run of that length, on its own.
command=$(head -n 1 r/ls-fig3.commands | sed 's/^privet //; s/optimizer.steps=7820/optimizer.steps=1955/; s/RESULTS/r/g; s/MODEL/m.pvt/')
# shellcheck disable=SC2086  # words of a command
run train ${command#train } --json
at() { sed -n "s/^\"$1, epsilon = 0.2\",\"DP-SGD, sigma = 0\",5,\([^,]*\),.*/\1/p" before.csv; }
same 'training loss' "$(at 'Training loss')" "$(sed -n 's/^ *"objective": \(.*\),$/\1/p' out | head -1 | awk '{ printf "%.6g", $1 }')"
same 'validation loss' "$(at 'Validation loss')" "$(sed '1,/holdout_not_private/d' out | sed -n 's/^ *"log_loss": \(.*\),$/\1/p' | head -1 | awk '{ printf "%.6g", $1 }')"
finish
