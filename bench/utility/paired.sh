#!/bin/sh
# paired.sh RESULTS - what smoothing changes, seed by seed, from the runs that `privet reproduce NAME --seed S` recorded.
#
# Two runs are a pair where their commands, seed included, differ in optimizer.smoothing only.  As CSV: optimizer, step,
# noise multiplier or epsilon, steps, sigma, pairs, accuracy in percent without and with smoothing, the mean difference,
# its standard deviation, and the differences themselves.
set -eu
grep -h ',,accuracy_not_private,' "${1:?usage: paired.sh RESULTS}"/*.runs.csv | awk '
    function setting(command, key) {
        if (!match(command, " " key "=[^ ]*")) return ""
        return substr(command, RSTART + length(key) + 2, RLENGTH - length(key) - 2)
    }
    {
        end = index(substr($0, 2), "\"") + 1
        command = substr($0, 2, end - 2)
        accuracy_of_run = $0
        sub(/.*,/, "", accuracy_of_run)
        seed = setting(command, "run.seed")
        if (seed == "") next
        sigma = setting(command, "optimizer.smoothing") + 0
        sub(/ optimizer.smoothing=[^ ]*/, "", command)
        if (sigma > 0 && !((command, sigma) in accuracy)) smoothed[++pairs] = command SUBSEP sigma
        accuracy[command, sigma] = 100 * accuracy_of_run
    }
    END {
        print "optimizer,step,noise,steps,sigma,pairs,without,with,difference,spread,differences"
        for (i = 1; i <= pairs; i++) {
            split(smoothed[i], part, SUBSEP)
            if (!((part[1], 0) in accuracy)) continue
            noise = setting(part[1], "budget.noise_multiplier")
            what = setting(part[1], "optimizer") "," setting(part[1], "optimizer.step") "," \
                (noise == "" ? "epsilon " setting(part[1], "budget.epsilon") : "z " noise) "," \
                setting(part[1], "optimizer.steps") "," part[2]
            d = accuracy[part[1], part[2]] - accuracy[part[1], 0]
            n[what]++
            low[what] += accuracy[part[1], 0]
            high[what] += accuracy[part[1], part[2]]
            sum[what] += d
            squares[what] += d * d
            all[what] = all[what] sprintf(" %+.2f", d)
        }
        for (what in n) {
            mean = sum[what] / n[what]
            spread = n[what] > 1 ? sqrt((squares[what] - n[what] * mean * mean) / (n[what] - 1)) : 0
            printf "%s,%d,%.2f,%.2f,%+.2f,%.2f,%s\n", what, n[what], low[what] / n[what], high[what] / n[what], mean, \
                spread, substr(all[what], 2) | "sort -t, -k1,1 -k3,3 -k2,2n -k4,4n -k5,5n"
        }
    }'
