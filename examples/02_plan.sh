#!/bin/sh
# 02_plan.sh - what privacy would cost, before any data is touched.
#
# Smaller epsilon, more noise; more rows, less noise per row.  `privet plan` reads nothing but its arguments.
set -eu
field() { # JSON on stdin: the value of one key
    sed -n "s/^ *\"$1\": \([^,]*\),*$/\1/p"
}

printf '%8s %10s %8s %18s %18s\n' epsilon rows steps 'noise multiplier' 'noise per weight'
for rows in 1000 100000; do
    for epsilon in 0.1 1 10; do
        json=$(privet plan --quiet --json --rows $rows --features 20 --epsilon $epsilon --delta 1e-6)
        printf '%8s %10s %8s %18.4g %18.4g\n' $epsilon $rows "$(echo "$json" | field steps)" \
            "$(echo "$json" | field noise_multiplier | head -1)" "$(echo "$json" | field noise_per_weight)"
    done
done
