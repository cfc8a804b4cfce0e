# seeds.sh - sourced by the scripts beside it: finds data and command, runs a setting over seeds.
#
# Data: $PRIVET_DATA, else ../shared/data beside the tree.  Command: $PRIVET_COMMAND, else build/privet in the tree.
# Runs are seeded, so repeatable and NOT PRIVATE; SEEDS="1 2 3" changes which (five by default).
here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$here/../.." && pwd)
# shellcheck disable=SC2034  # for the scripts that source this one
data=${PRIVET_DATA:-$tree/../shared/data}
privet=${PRIVET_COMMAND:-$tree/build/privet}
seeds=${SEEDS:-1 2 3 4 5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

need() { # file: exits with 77 where it is missing
    [ -r "$1" ] || {
        echo "no $1: set PRIVET_DATA to the folder with the public data sets" >&2
        exit 77
    }
}

score() { # train file, test file, settings...: accuracy in percent of one run
    train=$1 test=$2
    shift 2
    "$privet" train "$train" --out "$work/m.pvt" --quiet "$@" run.threads=1 >/dev/null 2>&1
    "$privet" eval "$work/m.pvt" "$test" --json 2>/dev/null | awk -F'[:,]' '/^  "accuracy"/ { print 100 * $2 }'
}

over_seeds() { # train file, test file, settings...: "mean spread" over the seeds
    for seed in $seeds; do score "$@" --seed "$seed"; done | awk '
        { a += $1; aa += $1 * $1; n++ }
        END { if (!n) { print "failed failed"; exit }
              a /= n; v = aa / n - a * a; s = 0
              if (n > 1 && v > 0) s = sqrt(v * n / (n - 1))
              printf "%.2f %.2f\n", a, s }'
}
