#!/bin/sh
# reproduced.sh RESULTS - writes the section "Reproductions of the papers" of docs/results/papers.md, and the plots it shows
# to docs/plots, from a folder of results.  Tables and figures that are not in the folder stay as they are on the page.
#
#   privet reproduce all --quick --out RESULTS && sh tools/reproduced.sh RESULTS
set -eu
results=${1:?usage: reproduced.sh RESULTS}
privet=${PRIVET_COMMAND:-build/privet}
docs=$(dirname "$0")/../docs
page=$docs/results/papers.md
text=$(mktemp)
trap 'rm -f "$text" "$text.page" "$text.list"' EXIT
"$privet" report "$results" --markdown --out "$text" >/dev/null
"$privet" reproduce list --json | sed -n 's/.*"name": "\([^"]*\)", "paper": "\([^"]*\)", "figure": "\([^"]*\)".*/\1 ### \2, \3/p' \
    >"$text.list"
mkdir -p "$docs/plots"
cp "$results"/*.svg "$docs/plots"
awk -v text="$text" -v list="$text.list" '
    function collect(line) { # into the introduction or the section under way
        if (line ~ /^!\[/) sub(/\(.*\//, "(../plots/", line)
        if (line ~ /^### /) { name = line; body[name] = "" }
        if (name == "") intro = intro line "\n"
        else body[name] = body[name] line "\n"
    }
    function section(    n, missing, words) {
        name = ""
        intro = ""
        while ((getline line < text) > 0) collect(line) # what is new wins
        while ((getline line < list) > 0) {
            words = substr(line, index(line, " ") + 1)
            if (words in body) order[++n] = words
            else missing = missing (missing ? ", " : "; not among them: ") substr(line, 1, index(line, " ") - 1)
        }
        sub(/^[0-9]+ table[^.]* of five papers[^.]*\./, n " tables and figures of five papers" missing ".", intro)
        print "## Reproductions of the papers\n"
        print "Made by `sh tools/reproduced.sh RESULTS` from folders of results, each with the command that is named with it and"
        print "`--out RESULTS`; [how, and with which data](../reproduce.md).\n"
        printf "%s", intro
        for (i = 1; i <= n; i++) printf "%s", body[order[i]]
        done = 1
    }
    /^## / && mine && !done { section() }
    /^## / { mine = ($0 == "## Reproductions of the papers"); name = "" }
    mine { if (name != "" || /^### /) collect($0) }
    !mine
    END { if (!done) { if (!mine) print ""; section() } }' "$page" >"$text.page"
cat "$text.page" >"$page"
