#!/bin/sh
# ball.sh PRIVET - ball noise beside Gaussian noise of equal variance, without any data (docs/beyond/ball-noise.md).
#
# T steps on one row of n, d numbers each, two rows at most D apart.  Columns: n, T, d; R/D of a ball for delta = 1/(10 n);
# z, the Gaussian multiplier with the same variance in every number; what T Gaussian steps with that z cost at that delta;
# the z that would do for epsilon 1.
set -eu
privet=$(realpath "$1")
field() { sed -n "s/^ *\"$1\": \([^,]*\),\{0,1\}\$/\1/p" | head -1; }
printf '| n | T | d | R/D | z of equal variance | its epsilon | z for epsilon 1 |\n|---|---|---|---|---|---|---|\n'
for d in ${DIMENSIONS:-1 20}; do
    for n in ${ROWS:-1000 1000000}; do
        for T in 1 2 5 10 100 $n; do
            delta=$(awk "BEGIN { print 0.1 / $n }") q=$(awk "BEGIN { printf \"%.17g\", 1 / $n }")
            R=$("$privet" plan --rows "$n" --features "$d" data.bias=0 --quiet --json --delta "$delta" --relation replace \
                optimizer=prgd optimizer.steps="$T" 2>/dev/null | field noise_multiplier)
            z=$(awk "BEGIN { print $R / sqrt($d + 2) }")
            e=$("$privet" account gaussian z="$z" q="$q" sampler=fixed steps="$T" --relation replace --delta "$delta" --json | field epsilon)
            need=$("$privet" calibrate gaussian q="$q" sampler=fixed steps="$T" --relation replace --epsilon 1 --delta "$delta" --json | field noise_multiplier)
            awk "BEGIN { printf \"| %d | %d | %d | %.3g | %.3g | %.2g | %.2g |\n\", $n, $T, $d, $R, $z, $e, $need }"
        done
    done
done
