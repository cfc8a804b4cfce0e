#!/bin/sh
# topics.sh [source folder] - the texts of `privet help TOPIC` as C, taken out of docs/: each page, or part of one, is said once.
set -eu
cd "${1:-$(dirname "$0")/..}"
part() { # NAME PAGE FIRST LAST: the lines of PAGE from the heading FIRST on, up to the heading LAST
    printf 'static const char text_%s[] = {' "$1"
    awk -v first="$3" -v last="$4" '$0 == first { on = 1 } last != "" && $0 == last { exit } on' "docs/$2" | od -An -v -tu1 | sed 's/  */,/g; s/^,//; s/$/,/'
    printf '0 };\n'
}
part schema data.md '## Tables (CSV)' '## Images: IDX, CIFAR-10'
part certificate certificate-format.md '# The certificate' '## Canonical form'
part privacy scale.md '# What epsilon and delta mean, in words' '## Figures on labelled rows'
part people people.md '# People, not rows' '## Which models and optimisers'
part evaluation evaluation.md '# Evaluation that does not leak' ''
part words glossary.md '# Glossary' ''
part pitfalls pitfalls.md '# Pitfalls' ''
