#!/bin/sh
# check_scripts.sh [source folder] - shellcheck over every script; one without a first line #! is run by sh.
# Prints what shellcheck says; exit 1 if it says anything.
set -eu
cd "${1:-$(dirname "$0")/..}"

find . \( -name .git -o -name 'build*' \) -prune -o -type f \( -name '*.sh' -o -path './.ci/*' \) -print | sort | {
    bad=0
    while read -r script; do
        shell='sh'
        case $(head -n 1 "$script") in '#!'*bash*) shell=bash ;; esac
        shellcheck -s $shell "$script" || bad=1
    done
    exit $bad
}
