#!/bin/sh
# test_names.sh - in all of src and include a struct, a macro and a constant of the library has one meaning: one file
# defines it.
set -eu
source=${PRIVET_SOURCE:-$(dirname "$0")/../..}

# PVI_QUERY reads query.def twice, as a list of declarations and of pointers.
twice() { # folder of the tree
    cd "$1"
    find src include -name '*.[ch]' | while read -r file; do
        {
            sed -n 's/^ *typedef \(struct\|enum\|union\) \(pvi\{0,1\}_[a-z0-9_]*\) *{.*/\2/p; s/^struct \(pvi\{0,1\}_[a-z0-9_]*\) *{.*/\1/p' "$file"
            sed -n 's/^# *define \(PVI\{0,1\}_[A-Z0-9_]*\).*/\1/p' "$file"
            grep -oE '\bPVI?_[A-Z0-9_]+ = ' "$file" | sed 's/ = //'
        } | sort -u | sed "s|\$| $file|"
    done | grep -v '^PVI_QUERY ' | sort | awk '$1 == name { print name ": " file " and " $2 } { name = $1; file = $2 }'
}

found=$(twice "$source")
if [ -n "$found" ]; then
    printf '%s\n' "$found"
    exit 1
fi

# Each rule broken once.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/src" "$tree/include"
printf '%s\n' 'typedef struct pvi_words {' '#define PVI_NAME(f) f' 'enum { PVI_LANES = 8 };' 'struct pv_ctx {' >"$tree/src/a.h"
cp "$tree/src/a.h" "$tree/include/b.h"
found=$(twice "$tree")
for want in pvi_words PVI_NAME PVI_LANES pv_ctx; do
    case $found in
    *"$want: "*) ;;
    *) echo "not reported: $want" && exit 1 ;;
    esac
done
