#!/bin/sh
# check_lengths.sh [source folder] - no function above 60 lines, no line above the ColumnLimit of .clang-format.
#
# A function is the text between a { in the first column and its }; a column is a character.  Tables of numbers that a
# script wrote (*_vectors.h) may be wide.  Prints one line per offence; exit 1 if there is any.
set -eu
cd "${1:-$(dirname "$0")/..}"
LC_ALL=C # awk counts bytes: those that continue a character are taken out
export LC_ALL
columns=$(sed -n 's/^ColumnLimit: *//p' .clang-format)
[ -n "$columns" ] || { echo ".clang-format: no ColumnLimit"; exit 1; }

offences=$(find include src cli tests bench examples python/src -name '*.[ch]' 2>/dev/null | sort | while read -r file; do
    awk -v f="$file" -v columns="$columns" '
        /^[A-Za-z_].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
        /^\{/ { start = NR }
        /^\}/ {
            if (start && NR - start - 1 > 60) print f ":" start ": " name " has " NR - start - 1 " lines, at most 60"
            start = 0
        }
        f !~ /_vectors\.h$/ && length($0) > columns {
            gsub(/[\200-\277]/, "")
            if (length($0) > columns) print f ":" NR ": " length($0) " columns, at most " columns
        }' "$file"
done)
[ -z "$offences" ] && exit 0
printf '%s\n' "$offences"
exit 1
