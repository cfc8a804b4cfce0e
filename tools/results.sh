#!/bin/sh
# results.sh DATA - the results table of the README: accuracy and AUC on held-out rows, five runs each.
#
# DATA holds ijcnn1/ijcnn1.tr.bz2, ijcnn1/ijcnn1.t.bz2, adult/a9a.bz2, adult/a9a.t.bz2 (LIBSVM's public copies).
set -eu
data=${1:?usage: results.sh DATA}
privet=${PRIVET_COMMAND:-build/privet}
model=$(mktemp)
trap 'rm -f "$model"' EXIT

once() { # train file, test file, settings...: accuracy AUC
    train=$1 test=$2
    shift 2
    "$privet" train "$train" --out "$model" --quiet "$@" >/dev/null
    "$privet" eval "$model" "$test" --json 2>/dev/null | awk -F'[:,]' '
        /^  "accuracy"/ { a = $2 } /^  "auc"/ { u = $2 } END { print a, u }'
}

line() { # name, settings in words, train file, test file, settings...
    name=$1 words=$2
    shift 2
    for _ in 1 2 3 4 5; do once "$@"; done | awk -v name="$name" -v words="$words" '
        { a += $1; aa += $1 * $1; u += $2; n++ }
        END { a /= n; s = sqrt((aa / n - a * a > 0 ? aa / n - a * a : 0) * n / (n - 1))
              printf "| %s | %s | %.4f ± %.4f | %.4f |\n", name, words, a, s, u / n }'
}

echo '| data | privacy | accuracy | AUC |'
echo '|---|---|---|---|'
for set in ijcnn1:ijcnn1/ijcnn1.tr.bz2:ijcnn1/ijcnn1.t.bz2:22 a9a:adult/a9a.bz2:adult/a9a.t.bz2:123; do
    name=${set%%:*} rest=${set#*:}
    train=$data/${rest%%:*} rest=${rest#*:}
    test=$data/${rest%%:*} features=${rest#*:}
    for epsilon in 0.1 1; do
        line "$name" "epsilon $epsilon" "$train" "$test" --features "$features" --epsilon $epsilon --delta 1e-6
    done
    line "$name" 'NOT PRIVATE' "$train" "$test" --features "$features" --privacy off
done
