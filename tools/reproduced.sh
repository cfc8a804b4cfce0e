#!/bin/sh
# reproduced.sh RESULTS - writes the section "Reproductions of the papers" of docs/results.md, and the plots it shows to
# docs/plots, from a folder of results.
#
#   privet reproduce all --quick --out RESULTS && sh tools/reproduced.sh RESULTS
set -eu
results=${1:?usage: reproduced.sh RESULTS}
privet=${PRIVET_COMMAND:-build/privet}
docs=$(dirname "$0")/../docs
page=$docs/results.md
text=$(mktemp)
trap 'rm -f "$text" "$text.page"' EXIT
"$privet" report "$results" --markdown --out "$text" >/dev/null
mkdir -p "$docs/plots"
cp "$results"/*.svg "$docs/plots"
awk -v text="$text" '
    function section() {
        print "## Reproductions of the papers\n"
        print "Made by `sh tools/reproduced.sh RESULTS` from the output of `privet reproduce all --quick --out RESULTS`;"
        print "[how, and with which data](reproduce.md).\n"
        while ((getline line < text) > 0) {
            if (line ~ /^!\[/) sub(/\(.*\//, "(plots/", line)
            print line
        }
        done = 1
    }
    /^## / { mine = ($0 == "## Reproductions of the papers") }
    mine && !done { section() }
    !mine
    END { if (!done) { print ""; section() } }' "$page" >"$text.page"
cat "$text.page" >"$page"
