#!/bin/sh
# sbcd_attack.sh [runs] - three epsilons of DP-SBCD's last weights: certified, conditional, and what an attack shows.
#
# A table of the paper's kind (privet synth: 20 numbers, five classes), 480 rows in five batches taken in turn, one hidden layer of
# eight; the last row is one of two extremes, the start is fixed and known.  Builds nothing: BUILD (build) has privet and
# bench/bench_attack.
set -eu
build=$(cd "${BUILD:-build}" && pwd) runs=${1:-1000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$build/privet" synth m rows=480 heldout=100 >/dev/null
last() { # value of every number, class
    awk -F, -v OFS=, -v x="$1" -v y="$2" 'NR == 481 { for (i = 1; i <= 20; i++) $i = x; $21 = y } { print }' m/madelon_train.csv
}
last 16 a >a.csv
last -16 e >b.csv
python3 - <<'END'
import random, struct
random.seed(5)
head = "{'descr': '<f8', 'fortran_order': False, 'shape': (221,), }".ljust(117) + "\n"
with open("start.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
    f.write(struct.pack("<221d", *(random.gauss(0, 0.3) for _ in range(221))))
END
for shrink in 5 0; do
    for step in 0.005 0.02; do
        for epochs in 1 10 50; do
            printf '== shrink %s, step %s, %s epochs\n' "$shrink" "$step" "$epochs"
            penalty="reg=l2 reg.lambda=$shrink"
            [ "$shrink" != 0 ] || penalty=reg=none
            # shellcheck disable=SC2086  # one or two words
            "$build/bench/bench_attack" a.csv b.csv m/madelon.schema.json "$runs" optimizer=sbcd model.layers=dense8,relu,dense \
                optimizer.start=start.npy budget.delta=1e-5 budget.relation=replace sampler=cyclic sampler.batch=96 clip=0.05 \
                optimizer.momentum=0 optimizer.output=last run.threads=1 budget.epsilon=10000 budget.noise_multiplier=0.5 \
                optimizer.epochs="$epochs" optimizer.step="$step" $penalty
        done
    done
done
