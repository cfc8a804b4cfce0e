#!/bin/sh
# function_lengths.sh [source folder] - how long the functions and files of src and cli are.
#
# Prints the number of functions, the median, the functions above 60 lines, the files above 400 and
# the lines above 118 columns: a place to ask why, not a law.  A function is the text from a { in the first column to its }.
set -eu
cd "${1:-$(dirname "$0")/..}"

find src cli -name '*.[ch]' | sort | while read -r file; do
    awk -v f="$file" '
        /^[A-Za-z_].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
        /^\{/ { start = NR }
        /^\}/ { if (start) print NR - start - 1, f ":" start, name; start = 0 }
        length($0) > 118 { print "wide", f ":" NR, length($0) }
        END { if (NR > 400) print "file", f, NR }' "$file"
done | sort -n | awk '
    $1 == "file" { long = long "  " $3 " lines  " $2 "\n"; next }
    $1 == "wide" { wide = wide "  " $3 " columns  " $2 "\n"; next }
    { n[++k] = $1; where[k] = $2 " " $3 }
    END {
        printf "%d functions, median %d lines, longest %d\n", k, n[int((k + 1) / 2)], n[k]
        for (i = 1; i <= k; i++) if (n[i] > 60) printf "  %d lines  %s\n", n[i], where[i]
        if (long) printf "files above 400 lines\n%s", long
        if (wide) printf "lines above 118 columns\n%s", wide
    }'
