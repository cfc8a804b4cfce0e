#!/bin/sh
# str.sh PRIVET DATA OUT [samples|rest|inexact] - DP-STR in parts: what a second sample costs, and what the accountant alone
# brings against the rest (docs/algorithms/str.md, docs/beyond/trust-region.md).
#
# DATA has ijcnn1/ijcnn1.tr.bz2, ijcnn1/ijcnn1.t.bz2 and covtype/covtype.data.gz under their usual names; every tenth row
# of Covertype is held out.  Runs are seeded, hence paired and NOT PRIVATE.  OUT gets a folder of `privet compare` for
# every table.  EPSILONS and REPEATS choose less.
set -eu
privet=$(realpath "$1") data=$(realpath "$2") what=${4:-all}
epsilons=${EPSILONS:-0.2,1} repeats=${REPEATS:-10} sets=${SETS:-ijcnn1 covtype}
mkdir -p "$3"
cd "$3"

prepare() {
    [ -f covtype.schema.json ] && return
    zcat "$data/covtype/covtype.data.gz" | awk 'NR % 10 == 0' >covtype.test.csv
    zcat "$data/covtype/covtype.data.gz" | awk 'NR % 10 != 0' >covtype.train.csv
    awk 'BEGIN { split("1859 0 0 0 -173 0 0 0 0 0", lo); split("3858 360 66 1397 601 7117 254 254 254 7173", hi)
        print "{\"header\": false, \"columns\": ["
        for (i = 1; i <= 54; i++)
            printf "{\"name\": \"c%d\", \"type\": \"number\", \"min\": %d, \"max\": %d},\n", i, (i > 10 ? 0 : lo[i]), (i > 10 ? 1 : hi[i])
        print "{\"name\": \"type\", \"type\": \"label\", \"values\": [[\"1\", \"3\", \"4\", \"5\", \"6\", \"7\"], \"2\"]}]}" }' \
        >covtype.schema.json
}

compare() { # SET NAME ARGS...
    set=$1 out=$1-$2
    shift 2
    case $set in
    ijcnn1) set -- "$data/ijcnn1/ijcnn1.tr.bz2" --holdout "$data/ijcnn1/ijcnn1.t.bz2" "$@" ;;
    *) set -- covtype.train.csv --schema covtype.schema.json --holdout covtype.test.csv "$@" ;;
    esac
    "$privet" compare "$@" reg=nonconvex reg.lambda=0.001 --repeats "$repeats" --seed 1 --jobs 2 --quiet --out "$out" >"$out.txt"
    echo "== $out"
    cat "$out.txt"
}

# One joint release of gradient and Hessian, or two samples: Hessians of as many rows as gradients, half, a quarter.
samples() {
    for set in $sets; do
        case $set in ijcnn1) half=1750 quarter=875 ;; *) half=26146 quarter=13073 ;; esac
        compare "$set" samples --optimizer str,str2 --epsilon "$epsilons"
        compare "$set" sizes --optimizer str2 "sampler.batch_hessian=auto,$half,$quarter" --epsilon "$epsilons"
    done
}

# The budget for which the noise of the paper's proof costs E by the accountant.
nominal() { # E
    awk -v p="$privet" -v f="$data/ijcnn1/ijcnn1.tr.bz2" -v want="$1" 'BEGIN { lo = want; hi = 1000 * want
        for (i = 0; i < 16; i++) {
            mid = sqrt(lo * hi)
            cmd = p " plan " f " " paper() " --quiet --json --epsilon " mid " 2>/dev/null"
            while ((cmd | getline line) > 0) if (line ~ /^  "epsilon":/) { gsub(/[^0-9.e-]/, "", line); got = substr(line, 2) }
            close(cmd)
            if (got + 0 < want) lo = mid; else hi = mid
        }
        print lo }
        function paper() { return "optimizer=str optimizer.calibration=paper optimizer.steps=10 sampler.batch=3500" }'
}

# From the printed noise to the defaults of str, one change at a time.
rest() {
    paper='--optimizer str optimizer.calibration=paper optimizer.steps=10 sampler.batch=3500'
    plain='--optimizer str optimizer.share=0'
    for e in $(echo "$epsilons" | tr , ' '); do
        # shellcheck disable=SC2086  # words
        {
            compare ijcnn1 "printed-$e" $paper --epsilon "$e"
            compare ijcnn1 "accountant-$e" $paper --epsilon "$(nominal "$e")"
            compare ijcnn1 "bounds-$e" $plain optimizer.steps=10 optimizer.output=last --epsilon "$e"
            compare ijcnn1 "averages-$e" $plain --epsilon "$e"
            compare ijcnn1 "metric-$e" --optimizer str --epsilon "$e"
        }
    done
}

# Steps looked for in the span of g, Hg, ..: with the metric of the rows, and without.
inexact() {
    compare ijcnn1 krylov --optimizer tr optimizer.krylov=0,1,2,4,8 --epsilon "$epsilons"
    compare ijcnn1 krylov-no-metric --optimizer tr optimizer.share=0 optimizer.krylov=0,1,2,4,8 --epsilon "$epsilons"
}

prepare
case $what in samples | all) samples ;; esac
case $what in rest | all) rest ;; esac
case $what in inexact | all) inexact ;; esac
