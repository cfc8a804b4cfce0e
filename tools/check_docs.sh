#!/bin/sh
# check_docs.sh [source folder] - files and tests that README.md and docs/ name in backquotes exist, and the newest numbered
# section of CHANGELOG.md is the version of CMakeLists.txt.
# Prints one line per offence; exit 1 if there is any.
set -eu
cd "${1:-$(dirname "$0")/..}"

pages=$(find docs README.md -name '*.md' 2>/dev/null | sort)
[ -n "$pages" ] || exit 0
offences=$(
    # shellcheck disable=SC2086  # a list of words
    grep -HonE '`(src|include|cli|tests|tools|bench|docs|examples)/[A-Za-z0-9_./-]+`' $pages |
        sed 's/^\([^:]*\):\([0-9]*\):`\(.*\)`$/\1 \2 \3/' |
        while read -r page line path; do
            [ -e "$path" ] || [ -e "tests/$path.sh" ] || echo "$page:$line: there is no $path"
        done
    # shellcheck disable=SC2086
    grep -HonE '`[a-z]+(/[a-z]+)?/(test|fuzz)_[a-z0-9_]+`' $pages |
        sed 's/^\([^:]*\):\([0-9]*\):`\(.*\)`$/\1 \2 \3/' |
        while read -r page line name; do
            [ -e "tests/$name.c" ] || [ -e "tests/$name.sh" ] || echo "$page:$line: there is no test $name"
        done
    if [ -f CHANGELOG.md ] && [ -f CMakeLists.txt ]; then
        version=$(sed -n 's/^project(.* VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
        newest=$(sed -n 's/^## \([0-9][0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)
        [ "$version" = "$newest" ] || echo "CHANGELOG.md: its newest version is $newest, that of CMakeLists.txt $version"
    fi
)
[ -z "$offences" ] && exit 0
printf '%s\n' "$offences"
exit 1
