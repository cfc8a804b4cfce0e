#!/bin/sh
# tr.sh BENCH_GAP DATA [runs[:first seed]] - the gaps of docs/results/trust-region.md: four problems, ten values of epsilon.
#
# DATA holds covtype/covtype.data.gz and ijcnn1/ijcnn1.{tr,val}.bz2.  Covertype: type 2 against the rest, numeric
# columns to [0, 1] by their published bounds.  IJCNN1: ten columns are 0 or 1 and twelve within [-1, 1], which go to
# [0, 1]; ijcnn1-raw: the columns as published.  a9a (adult/a9a.bz2): its 123 columns.  normal: 20,000 rows of 400 normal
# columns, made up here.  Rows to length 1 with a bias, relation replace, delta = 1/n.  A problem is set:model, with a penalty
# of weight 1e-3 by the model, or set:model:penalty:weight.  Writes one line per method and epsilon; METHODS, EPSILONS and
# PROBLEMS choose; SETTINGS (setting=value ...) hold for all methods.
set -eu
bench=$1 data=$2 runs=${3:-10}
methods=${METHODS:-tr str gd-sosp pgd}
epsilons=${EPSILONS:-0.2 0.4 0.6 0.8 1 1.2 1.4 1.6 1.8 2}
problems=${PROBLEMS:-ijcnn1:logistic ijcnn1:sigmoid ijcnn1-raw:logistic covtype:logistic covtype:sigmoid}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

covtype() {
    gzip -dc "$data/covtype/covtype.data.gz" >"$dir/covtype.csv"
    awk 'BEGIN {
        split("1859 0 0 0 -173 0 0 0 0 0", lo); split("3858 360 66 1397 601 7117 254 254 254 7173", hi)
        printf "{\"header\": false, \"columns\": ["
        for (i = 1; i <= 54; i++)
            printf "{\"name\": \"c%d\", \"type\": \"number\", \"min\": %d, \"max\": %d}, ", i, (i > 10 ? 0 : lo[i]), (i > 10 ? 1 : hi[i])
        print "{\"name\": \"y\", \"type\": \"label\", \"values\": [[\"1\", \"3\", \"4\", \"5\", \"6\", \"7\"], \"2\"]}]}"
    }' >"$dir/covtype.json"
    source_args="$dir/covtype.csv $dir/covtype.json" delta=1.7211e-6
}

ijcnn1() {
    bzip2 -dc "$data/ijcnn1/ijcnn1.tr.bz2" "$data/ijcnn1/ijcnn1.val.bz2" | awk '{
        for (i = 1; i <= 22; i++) x[i] = 0
        for (i = 2; i <= NF; i++) { split($i, kv, ":"); x[kv[1]] = kv[2] }
        line = x[1]
        for (i = 2; i <= 22; i++) line = line "," x[i]
        print line "," ($1 > 0 ? 1 : -1)
    }' >"$dir/ijcnn1.csv"
    awk 'BEGIN {
        printf "{\"header\": false, \"columns\": ["
        for (i = 1; i <= 22; i++) printf "{\"name\": \"c%d\", \"type\": \"number\", \"min\": %d, \"max\": 1}, ", i, (i > 10 ? -1 : 0)
        print "{\"name\": \"y\", \"type\": \"label\", \"values\": [\"-1\", \"1\"]}]}"
    }' >"$dir/ijcnn1.json"
    source_args="$dir/ijcnn1.csv $dir/ijcnn1.json" delta=2.0004e-5
}

ijcnn1_raw() {
    ijcnn1
    source_args="$dir/ijcnn1.csv - data.labels=-1,1"
}

a9a() {
    bzip2 -dc "$data/adult/a9a.bz2" | awk '{
        for (i = 1; i <= 123; i++) x[i] = 0
        for (i = 2; i <= NF; i++) { split($i, kv, ":"); x[kv[1]] = kv[2] }
        line = x[1]
        for (i = 2; i <= 123; i++) line = line "," x[i]
        print line "," ($1 > 0 ? 1 : -1)
    }' >"$dir/a9a.csv"
    source_args="$dir/a9a.csv - data.labels=-1,1" delta=3.07e-5
}

# Twenty columns matter ten times as much as the others.  Draws by Lehmer's generator and Box and Muller: any awk makes the same.
normal() {
    awk 'function u() { s = s * 48271 % 2147483647; return s / 2147483647 }
    function z() { return sqrt(-2 * log(u())) * cos(6.283185307179586 * u()) }
    BEGIN {
        s = 1
        for (j = 1; j <= 400; j++) w[j] = z() * (j <= 20 ? 3 : 0.3)
        for (i = 1; i <= 20000; i++) {
            m = 0; line = ""
            for (j = 1; j <= 400; j++) { x = z(); m += w[j] * x / 6; line = line sprintf("%.3f,", x) }
            print line (u() < 1 / (1 + exp(-m)) ? 1 : -1)
        }
    }' >"$dir/normal.csv"
    source_args="$dir/normal.csv - data.labels=-1,1" delta=5e-5
}

for problem in $problems; do
    IFS=: read -r set_name model reg lambda <<EOF
$problem
EOF
    case $set_name in covtype) covtype ;; ijcnn1) ijcnn1 ;; ijcnn1-raw) ijcnn1_raw ;; a9a) a9a ;; normal) normal ;; esac
    case $model in logistic) reg=${reg:-nonconvex} ;; *) reg=${reg:-l2} ;; esac
    set --
    for method in $methods; do
        # shellcheck disable=SC2086  # a list of words
        for e in $epsilons; do set -- "$@" -- "optimizer=$method" "budget.epsilon=$e" ${SETTINGS:-}; done
    done
    echo "# $set_name $model $reg"
    # shellcheck disable=SC2086  # lists of words
    "$bench" "$runs" $source_args data.norm=unit data.bias=1 "model=$model" "reg=$reg" "reg.lambda=${lambda:-1e-3}" \
        budget.relation=replace "budget.delta=$delta" "run.threads=${THREADS:-0}" "$@"
done
