#!/bin/sh
# glm.sh [SET...] - logistic regression on ijcnn1 and Covertype: no-tuning defaults beside the best of a sweep, as CSV.
#
# delta = 1e-6, zero-out.  Defaults: mean and spread of five seeds on test rows.  Sweep: optimiser x clip x steps x step, one
# seed each on the same test rows, the best then run with all five seeds; choosing on test rows flatters the sweep, not
# the defaults.  ijcnn1 has its own test file; Covertype (type 2 against the rest, columns by their public bounds) is
# trained on four rows of five and tested on the fifth.  Lines "all" list the whole sweep.
set -eu
. "$(dirname "$0")/seeds.sh"
epsilons=${EPSILONS:-0.1 0.5 1 2}

open_set() { # name: $train, $test, $extra
    case $1 in
    ijcnn1)
        need "$data/ijcnn1/ijcnn1.tr.bz2"
        bzip2 -dc "$data/ijcnn1/ijcnn1.tr.bz2" >"$work/ij.tr"
        bzip2 -dc "$data/ijcnn1/ijcnn1.t.bz2" >"$work/ij.t"
        train=$work/ij.tr test=$work/ij.t extra='--features 22'
        ;;
    covtype)
        need "$data/covtype/covtype.data.gz"
        gzip -dc "$data/covtype/covtype.data.gz" | awk -v a="$work/cov.tr" -v b="$work/cov.t" '
            { print > (NR % 5 == 0 ? b : a) }'
        awk 'BEGIN {
            split("1859 0 0 0 -173 0 0 0 0 0", lo, " ")
            split("3858 360 66 1397 601 7117 254 254 254 7173", hi, " ")
            printf "{\"header\": false, \"columns\": ["
            for (i = 1; i <= 54; i++)
                printf "{\"name\": \"c%d\", \"type\": \"number\", \"min\": %d, \"max\": %d},\n", i, (i > 10 ? 0 : lo[i]),
                    (i > 10 ? 1 : hi[i])
            print "{\"name\": \"type\", \"type\": \"label\", \"values\": [[\"1\", \"3\", \"4\", \"5\", \"6\", \"7\"], [\"2\"]]}]}"
        }' >"$work/cov.json"
        train=$work/cov.tr test=$work/cov.t extra="--schema $work/cov.json data.curves=off"
        ;;
    *) echo "unknown set $1" >&2 && exit 2 ;;
    esac
}

sweep() { # one settings line each
    for clip in 1 0.5 0.25; do
        for steps in ${STEPS:-50 200 800}; do
            for step in 4 16; do
                echo "--optimizer pgd clip=$clip optimizer.steps=$steps optimizer.step=$step optimizer.momentum=0.9"
                echo "--optimizer sgd clip=$clip optimizer.steps=$steps optimizer.step=$step"
            done
            echo "--optimizer adam clip=$clip optimizer.steps=$steps optimizer.step=0.1"
        done
    done
}

echo what,set,epsilon,accuracy,spread,settings
# shellcheck disable=SC2048  # words, and some by default
for set in ${*:-ijcnn1 covtype}; do
    open_set "$set"
    for epsilon in $epsilons; do
        common="$extra --epsilon $epsilon --delta 1e-6"
        # shellcheck disable=SC2086 # settings are words
        printf 'defaults,%s,%s,%s,\n' "$set" "$epsilon" "$(over_seeds "$train" "$test" $common | tr ' ' ,)"
        sweep | while read -r setting; do
            # shellcheck disable=SC2086
            printf '%s %s\n' "$(score "$train" "$test" $common $setting --seed 1)" "$setting"
        done >"$work/sweep"
        awk -v set="$set" -v e="$epsilon" '{ a = $1; sub(/^[^ ]* /, ""); print "all," set "," e "," a ",," $0 }' "$work/sweep"
        best=$(sort -g "$work/sweep" | tail -n 1 | cut -d' ' -f2-)
        # shellcheck disable=SC2086
        printf 'best,%s,%s,%s,%s\n' "$set" "$epsilon" "$(over_seeds "$train" "$test" $common $best | tr ' ' ,)" "$best"
    done
done
