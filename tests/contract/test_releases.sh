#!/bin/sh
# test_releases.sh - kinds of release are tables: no flags of optimisers, no samplers and no plug-ins known by name elsewhere.
set -eu
source=${PRIVET_SOURCE:-$(dirname "$0")/../..}
cd "$source"

offences=$(
    # the flags that kinds of release were
    grep -rnE '\b(opt|ops|o)->(ball|selects|joint|stochastic|moments)\b|\.(ball|selects|stochastic) = true' src || true
    # an optimiser asks by the tables, and does not look at events to learn what it may ask
    grep -rnE 'event->kind' src/opt || true
    # samplers by name, outside their table and what optimisers ask for
    grep -rnE '&pvi_(full|poisson|fixed|cyclic|one)\b|"(full batch|fixed size)"' src |
        grep -vE '/\*.*"full batch"|^src/(mech/sampler\.c|mech/mech\.h|query/release\.c|opt/opt_[a-z0-9_]*\.c):' || true
    # plug-ins by name, outside their own file and the registry: looked up, compared, or linked to
    sed -n 's/^PV_PLUGIN(\([a-z]*\), \([a-z0-9_]*\))/\1 \2/p' src/core/registry.def | while read -r kind name; do
        text=$(printf '%s' "$name" | tr _ -)
        [ "$text" = none ] || grep -rnE "(strcmp|pv_find|is_text)\([^\"]*\"$text\"\)" src include |
            grep -v '^src/api/account_request.c:' || true # curve sbcd is a word of requests
        [ "$kind" = mechanism ] || grep -rnE "&pv_${kind}_$name\b" src |
            grep -vE "^src/[a-z/]*/(${kind}|opt|acct|reader|set)_${name}[a-z.]*:|^src/(reg/mirror|acct/acct_gaussian)\.c:" || true
        # nor in what messages and help say: names come from the registry (pv_names_with)
        key=$kind
        [ "$kind" != loss ] || key=model
        grep -rnE "\"[^\"]*\b$key=$text([^a-z0-9-]|\$)" src | grep -v "^src/[a-z/]*/\(${kind}\|opt\)_${name}[a-z.]*:" || true
        [ "$kind" != optimizer ] || grep -rnE "\"([^\"]*[^A-Za-z0-9_.-])?$text([^A-Za-z0-9_=.:-][^\"]*)?\"" src |
            grep -vE "^src/(opt/opt_$name\.c|api/(account_request|epochs)\.c):" || true # their sbcd is a mechanism
    done
    grep -rnE '"[^"]*\bsampler=[a-z]' src | grep -vE '^src/(mech/sampler|query/release|api/account_request|opt/[a-z_0-9]*)\.c:' || true
)
if [ -n "$offences" ]; then
    printf '%s\n' "$offences"
    exit 1
fi

# Would it notice?
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/src/core" "$tree/src/opt" "$tree/src/plan" "$tree/include"
cp src/core/registry.def "$tree/src/core/"
notices() { # line of C
    printf '%s\n' "$1" >"$tree/src/plan/bad.c"
    if PRIVET_SOURCE="$tree" INNER=yes sh "$source/tests/contract/test_releases.sh" >/dev/null 2>&1; then
        echo "went unnoticed: $1"
        exit 1
    fi
}
[ -n "${INNER:-}" ] && exit 0
notices 'if (j->opt->joint) return;'
notices 'const pvi_sampler_ops *s = &pvi_poisson;'
notices 'if (strcmp(name, "softmax") == 0) return;'
notices 'const pv_reader_ops *r = &pv_reader_cifar;'
notices 'fail(ctx, "too long: use optimizer=pgd");'
notices 'static const char *help = "auto: tr or pgd, by rows";'
notices 'fail(ctx, "numbers: use model=squared, or declare the classes");'
notices 'fail(ctx, "add set=l2ball");'
notices 'fail(ctx, "add sampler=poisson");'
