#!/bin/sh
# check_refs.sh [source folder] - references to formulas and functions are true.
#
#   FILE (n), FILE (n), (m)   in src/, include/, tests/ and the documents: FILE is one file of the tree, and the comment at
#                             its head has a formula (n); a reference of that head to another file does not count
#   FILE:function             in the documents: FILE has a word of that name
#   `pv_name`, `pvi_name`     in the documents but CHANGELOG.md: src/, include/ or cli/ has it
#   FILE.c                    in src/ and include/: there is one; and the first line of FILE.c says "FILE.c - "
# Prints one line per offence; exit 1 if there is any.
set -eu
cd "${1:-$(dirname "$0")/..}"

sources=$(find include src cli tests \( -name '*.[ch]' -o -name '*.def' \) 2>/dev/null | sort)
pages=$(find docs README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md -name '*.md' 2>/dev/null | sort)

# Every file as one line, without the stars of comments, so that a reference may go over the end of a line; but (n) at the
# start of a line is a formula.
# shellcheck disable=SC2086  # lists of words
offences=$(awk '
    function base(path) { sub(/.*\//, "", path); return path }
    function finish(   n) {
        if (file == "") return
        text[file] = all
        n = base(file)
        if (file ~ /^(src|include|cli)/) sources = sources all
        if (file ~ /\.(c|h|def)$/) { known[n] = known[n] " " file; head[n] = first }
    }
    FNR == 1 { finish(); file = FILENAME; all = first = ""; inside = 1 }
    {
        line = $0
        sub(/^[ *]*/, "", line)
        if (line ~ /^\(/) line = "| " line
        all = all line " "
        if (inside) first = first line " "
        if (inside && /\*\//) inside = 0
    }
    END {
        finish()
        name = "[A-Za-z0-9_]+(\\.[a-z]+)*\\.[ch]"
        formula = name "`?,? \\([0-9]+[a-z]?\\)((,| and| to) \\([0-9]+[a-z]?\\))*"
        for (f in text) {
            if (f ~ /^(src|include|cli)\/.*\.[ch]$/ && index(text[f], "/* " base(f) " - ") != 1)
                print f ": the first line does not begin with /* " base(f) " -"
            rest = text[f]
            while (f ~ /^(src|include)/ && match(rest, /[^A-Za-z0-9_.*>"][a-z][a-z0-9_][a-z0-9_][a-z0-9_]+\.c[^A-Za-z0-9_]/)) {
                n = substr(rest, RSTART + 1, RLENGTH - 2)
                rest = substr(rest, RSTART + RLENGTH - 1)
                if (!(n in known)) print f ": " n ": there is no such file"
            }
            rest = text[f]
            while (match(rest, formula)) {
                found = substr(rest, RSTART, RLENGTH)
                rest = substr(rest, RSTART + RLENGTH)
                match(found, name)
                n = substr(found, 1, RLENGTH)
                labels = substr(found, RLENGTH + 1)
                if (!(n in known)) { print f ": " found ": there is no " n; continue }
                own = head[n]
                gsub(formula, " ", own)
                while (match(labels, /\([0-9]+[a-z]?\)/)) {
                    label = substr(labels, RSTART, RLENGTH)
                    labels = substr(labels, RSTART + RLENGTH)
                    if (!index(own, label)) print f ": " found ": the head of " n " has no " label
                }
            }
            if (f !~ /\.md$/) continue
            rest = text[f]
            while (f != "CHANGELOG.md" && match(rest, /`pvi?_[a-z0-9_]+`/)) {
                found = substr(rest, RSTART + 1, RLENGTH - 2)
                rest = substr(rest, RSTART + RLENGTH)
                if (!index(sources, found)) print f ": " found ": nothing is called so"
            }
            rest = text[f]
            while (match(rest, name ":[A-Za-z_][A-Za-z0-9_]*(, [a-z_][a-z0-9_]*)*")) {
                found = substr(rest, RSTART, RLENGTH)
                rest = substr(rest, RSTART + RLENGTH)
                n = substr(found, 1, index(found, ":") - 1)
                if (!(n in known)) { print f ": " found ": there is no " n; continue }
                k = split(substr(found, index(found, ":") + 1), word, /, /)
                split(known[n], path, " ")
                for (i = 1; i <= k; i++)
                    if (text[path[1]] !~ ("(^|[^A-Za-z0-9_])" word[i] "($|[^A-Za-z0-9_])"))
                        print f ": " found ": " n " has no " word[i]
            }
        }
    }' $sources $pages | sort -u)
[ -z "$offences" ] && exit 0
printf '%s\n' "$offences"
exit 1
