#!/bin/sh
# persons_attack.sh [runs] - a person with K rows against everybody who knows the rest: what an attack on one full-batch
# step shows, beside what the run claims for a person.
#
# Twenty persons whose rows are zeros, so that their gradients are 0, and one who differs between two tables: in the first
# theirs are zeros, too (zero-out), in the second all K rows are (1, 0) with label +1.  At the start, zeros, the gradient of such a
# row has norm 1/2 = C: the worst case, the person's vector has norm C.  For replace the first table has them with label
# -1: the two vectors are 2 C apart.  A run that clipped rows and not persons would be found out: its K rows move the sum by
# K C.  Builds nothing: BUILD (build) has bench/bench_attack.
set -eu
build=$(cd "${BUILD:-build}" && pwd) runs=${1:-4000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >schema <<'END'
{"columns": [{"name": "who", "type": "person"}, {"name": "a", "type": "number", "min": 0, "max": 1},
             {"name": "b", "type": "number", "min": 0, "max": 1}, {"name": "y", "type": "label", "values": ["no", "yes"]}]}
END
table() { # K, value and label of the one
    awk -v k="$1" -v x="$2" -v y="$3" 'BEGIN {
        print "who,a,b,y"
        for (r = 0; r < k; r++) {
            print "one," x ",0," y
            for (i = 0; i < 20; i++) if (r < 1 + i % 3) print "p" i ",0,0,no"
        }
    }'
}
k=10
for relation in zero-out replace; do
    if [ $relation = zero-out ]; then table $k 0 no >a.csv; else table $k 1 no >a.csv; fi
    table $k 1 yes >b.csv
    for combine in mean sum; do
        printf '== %s, K = %s, %s of a person clipped\n' $relation $k $combine
        "$build/bench/bench_attack" a.csv b.csv schema "$runs" budget.relation=$relation budget.epsilon=4 budget.delta=1e-5 \
            data.person_rows=$k unit.combine=$combine data.curves=off data.center=0 data.bias=0 optimizer=pgd optimizer.steps=1 \
            optimizer.momentum=0 optimizer.step=1 clip=0.5 run.threads=1
    done
done
