#!/bin/sh
# sbcd.sh [PART...] - block coordinate descent on the made-up table of five classes, as CSV: one line per run.
#
# Parts (all by default):
#   point    100,000 rows, 20,000 to test on, three hidden layers of 200, epsilon = 2, delta = 1e-6, zero-out: sbcd,
#            DP-SGD and DP-LSSGD on the same network, data and budget
#   table1   table 1 of DP-SBCD: 4,800 rows, 1,200 to test on, four hidden layers of 200, batches of 960 in turn,
#            eta = 0.01, noise variances as printed, 10 to 50 epochs, in both readings of the gradient; CLIP=0.1
#   free     the same without noise
# Settings of `point` were chosen by looking at these test rows: optimistic for all three methods alike.  A run per seed
# (SEEDS, five by default); the seed is that of the noise, the start weights are the same.  Runs are NOT PRIVATE.
set -eu
. "$(dirname "$0")/seeds.sh"
wide=dense200,relu,dense200,relu,dense200,relu
epochs=${EPOCHS:-10 20 30 40 50}
clip=${CLIP:-0.1}
divergences=

number() { # file, key: the number behind the first "key" of a JSON file
    sed -n "s/.*\"$2\": *\([0-9.e+-]*\).*/\1/p" "$1" | head -1
}

line() { # name, table, settings...: name, seed, accuracy in percent, certified epsilon, and $divergences
    name=$1 table=$2
    shift 2
    for seed in $seeds; do
        "$privet" train "$work/$table/madelon_train.csv" --schema "$work/$table/madelon.schema.json" \
            --out "$work/m.pvt" --certificate "$work/c.json" --quiet --seed "$seed" run.threads=1 "$@" >/dev/null 2>&1
        "$privet" eval "$work/m.pvt" "$work/$table/madelon_test.csv" --json >"$work/e.json" 2>/dev/null
        echo "$name,$seed,$(awk -v a="$(number "$work/e.json" accuracy)" 'BEGIN { print 100 * a }'),$(
            number "$work/c.json" epsilon)$divergences"
    done
}

# Renyi divergence of order 100, by composition and for the last weights, of table 1 with the constants that are enforced:
# eta of the mean gradient, smoothness radius^2 + 1, radius 2 sqrt(200).
diverge() { # reading, noise, epochs
    z=$(awk -v r="$1" -v c="$clip" 'BEGIN { print (r == "mean" ? 960 : 1) * sqrt(2 / 0.01) / c }')
    step=$(awk -v r="$1" 'BEGIN { print r == "mean" ? 0.01 : 9.6 }')
    "$privet" curve sbcd z="$z" noise="$2" epochs="$3" batches=5 step="$step" smooth=801 delta=1e-5 --json >"$work/r.json"
    for kind in composition hidden_state; do
        tr -d ' \n' <"$work/r.json" | sed "s/.*\"${kind}_rate\":\[\([^]]*\)\].*/\1/; s/.*,//" |
            awk '{ printf ",%.4g", 100 * $1 }'
    done
}

point() {
    "$privet" synth "$work/h" rows=100000 heldout=20000 --quiet >/dev/null
    set -- --epsilon 2 --delta 1e-6 sampler.batch=10000 model.layers="${wide},dense"
    line sbcd h "$@" --optimizer sbcd clip=0.1 optimizer.epochs=15 optimizer.step=2
    line sgd h "$@" --optimizer sgd --model mlp clip=1 optimizer.steps=150 optimizer.step=1 \
        optimizer.output=ema optimizer.warmup=0
    line lssgd h "$@" --optimizer sgd --model mlp clip=1 optimizer.steps=150 optimizer.step=1 \
        optimizer.output=ema optimizer.warmup=0 optimizer.smoothing=1
}

setting() { # settings...: what table 1 says
    "$privet" synth "$work/m" --quiet >/dev/null
    common="--optimizer sbcd --epsilon 1000000 --delta 1e-5 sampler=cyclic sampler.batch=960 accountant=gaussian
        model.layers=${wide},dense200,relu,dense optimizer.step=0.01 optimizer.momentum=0 optimizer.output=last"
}

table1() {
    setting
    for reading in mean sum; do
        for k in $epochs; do
            for noise in constant:0.01 "linear:$(awk -v k="$k" 'BEGIN { print 0.0075 + 0.0008 * (k - 1) }'),0.0075"; do
                divergences=$(diverge $reading "$noise" "$k")
                # shellcheck disable=SC2086  # a list of words
                line "$reading $noise $k" m $common clip="$clip" optimizer.gradient=$reading \
                    optimizer.epochs="$k" optimizer.noise="$noise" optimizer.calibration=paper
            done
        done
    done
}

free() {
    setting
    for reading in mean sum; do
        # shellcheck disable=SC2086
        line "$reading none 50" m $common clip="$clip" optimizer.gradient=$reading optimizer.epochs=50 --privacy off
    done
}

echo run,seed,accuracy,epsilon,composition,hidden_state
# shellcheck disable=SC2048  # words, and some by default
for part in ${*:-point table1 free}; do
    case $part in
    point | table1 | free) "$part" ;;
    *) echo "unknown part $part" >&2 && exit 2 ;;
    esac
done
