#!/bin/sh
# check_includes.sh [source folder] - the rules about which file may include which.
#
#   core <- data model reg mech acct comm <- query <- opt cert eval <- plan export <- run <- api <- cli
#   - a folder includes itself and folders further left; folders of one group do not include each other
#   - opt includes nothing from data: optimisers never see rows
#   - cli and the examples include the public headers only, the public headers only each other
#   - a library header (sodium.h, zlib.h, ...) is included by one file of src
#   - file names are unique in the tree
#   - every plug-in object is listed in src/core/registry.def
#   - no optimiser is named outside its own file: what is true of one only, it declares
#   - a public call begins with PVI_CALL: the state of the host put aside, no message of an earlier call
# Prints one line per offence; exit 1 if there is any.
set -eu
cd "${1:-$(dirname "$0")/..}"

offences=$(
    # file:line:header for every quoted include
    find src -name '*.[ch]' -exec grep -Hn '^ *# *include *"' {} + |
        sed 's/^\([^:]*\):\([0-9]*\):.*"\(.*\)".*/\1 \2 \3/' |
        awk '
        BEGIN {
            rank["core"] = 0
            n = split("data model reg mech acct comm", one, " "); for (i = 1; i <= n; i++) rank[one[i]] = 1
            rank["query"] = 2
            n = split("opt cert eval", three, " ");                 for (i = 1; i <= n; i++) rank[three[i]] = 3
            rank["plan"] = 4; rank["export"] = 4; rank["run"] = 5; rank["api"] = 6
        }
        {
            split($1, part, "/"); from = part[2]
            if (from == "plugin.h") next               # includes the public header
            if (!(from in rank)) { print $1 ": folder src/" from " has no place in the order"; next }
            if ($3 !~ /\//) next                       # own folder, or a public header
            split($3, to, "/")
            if (to[1] == "..") { print $1 ":" $2 ": include from src, not through .."; next }
            if (!(to[1] in rank)) { print $1 ":" $2 ": " $3 " is in no known folder"; next }
            if (to[1] == from) next
            if (rank[to[1]] >= rank[from]) print $1 ":" $2 ": " from " may not include " $3
            if (from == "opt" && to[1] == "data") print $1 ":" $2 ": opt may not include " $3 ": optimisers never see rows"
        }'

    # a bare name must exist in the own folder or be public
    find src -name '*.[ch]' -exec grep -Hn '^ *# *include *"[^/"]*"' {} + |
        sed 's/^\([^:]*\):\([0-9]*\):.*"\(.*\)".*/\1 \2 \3/' |
        while read -r file line header; do
            [ -e "$(dirname "$file")/$header" ] || [ -e "include/$header" ] || [ "$header" = plugin.h ] ||
                echo "$file:$line: $header is neither in $(dirname "$file") nor public: name its folder"
        done

    for folder in cli examples; do
        [ -d "$folder" ] || continue
        find "$folder" -name '*.[ch]' -exec grep -Hn '^ *# *include *"' {} + |
            sed 's/^\([^:]*\):\([0-9]*\):.*"\(.*\)".*/\1 \2 \3/' |
            while read -r file line header; do
                [ "$header" = privet.h ] || [ -e "$(dirname "$file")/$header" ] || [ -e "$folder/$header" ] ||
                    echo "$file:$line: $header: only privet.h and the folder's own headers may be included here"
            done
    done

    grep -Hn '^ *# *include *"' include/*.h | grep -v '"privet\.h"' | sed 's/$/: a public header includes public headers only/' || true

    for header in sodium.h zlib.h bzlib.h sqlite3.h mpi.h; do
        files=$(find src cli -name '*.[ch]' -exec grep -l "^ *# *include *<$header>" {} + | sort | tr '\n' ' ')
        case ${files% } in
        *' '*) echo "$header is included by more than one file: $files" ;;
        cli/*) echo "$header is included by ${files}: the command uses the library only" ;;
        esac
    done

    # a public call puts the state of the host aside and clears the message; those listed have no context, or leave it to the function they call
    find src -name '*.c' -exec awk '/^pv_status pv_[a-z_]*\(/ && !/;/ { name = $2; sub(/\(.*/, "", name); at = FILENAME ":" FNR }
        name && /PVI_CALL\(/ { name = "" }
        /^}/ && name { print at ": " name ": begins with PVI_CALL, or is listed in tools/check_includes.sh"; name = "" }' {} + |
        grep -Ev ': pv_(ctx_create|smooth_factors|data_arrow|ask|transform_[a-z]*):' || true

    find include src cli tests bench tools examples \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' \) 2>/dev/null |
        sed 's|.*/||' | sort | uniq -d | sed 's/$/: two files have this name/'

    # const pv_<kind>_ops pv_<kind>_<name> = { ... }
    find src -name '*.c' -exec grep -h '^const pv_[a-z]*_ops pv_' {} + |
        sed 's/^const pv_\([a-z]*\)_ops pv_[a-z]*_\([a-z0-9_]*\).*/\1 \2/' |
        while read -r kind name; do
            grep -q "^PV_[A-Z]*($kind, $name)" src/core/registry.def ||
                echo "src/core/registry.def: pv_${kind}_$name is defined but not listed"
        done

    # "NAME" in quotes; sbcd is also a kind of event that src/api/account_request.c reads
    sed -n 's/^PV_PLUGIN(optimizer, \([a-z0-9_]*\))/\1/p' src/core/registry.def | while read -r name; do
        find src -name '*.[ch]' ! -name "opt_$name.c" -exec grep -Hn "\"$(echo "$name" | tr _ -)\"" {} + |
            grep -v '^src/api/account_request.c:.*"sbcd"' | sed "s/^\([^:]*:[0-9]*\):.*/\1: names the optimiser $name/" || true
    done
)
[ -z "$offences" ] && exit 0
printf '%s\n' "$offences"
exit 1
