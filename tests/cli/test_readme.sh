# Every command of the README runs as written, in its order, and every file it points to exists.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
readme=$PRIVET_SOURCE/README.md
mkdir bin
ln -s "$PRIVET_COMMAND" bin/privet
PATH=$work/bin:$PATH

sed -n 's/^\$ //p' "$readme" >commands
check 'there are commands' test "$(wc -l <commands)" -ge 8
while read -r line; do
    checks=$((checks + 1))
    sh -c "$line" >out 2>err </dev/null || problem "$line: $(cat err)"
done <commands
for made in stays.pvt scores.csv sparse.pvt; do check "$made was made" test -s "$made"; done

# What it shows is what comes out, up to the digits.
shape() {
    sed 's/[0-9][0-9.,e-]*/#/g'
}
shape <"$readme" >shown
privet train stays/demo_train.csv --schema stays/demo.schema.json --epsilon 1 --out again.pvt >out 2>err
{ cat err; grep -v -e '^model' -e '^next' out; privet verify stays.pvt | head -1; privet eval stays.pvt stays/demo_test.csv | head -5; } |
    shape >lines
check 'there are lines to compare' test "$(wc -l <lines)" -ge 12
while read -r line; do
    grep -qF -- "$line" shown || problem "the README does not show: $line"
done <lines

# The words and percentages for an epsilon, here and in docs/scale.md, are those the command gives.
said() { # EPSILON: "73.2 % strong"
    privet plan --rows 20000 --features 5 --epsilon "$1" --delta 1e-6 --quiet --json >said.json 2>err
    echo "$(sed -n 's/.*at most \([0-9.]* %\) of.*/\1/p' said.json) $(sed -n 's/.*"strength": "\(.*\)".*/\1/p' said.json)"
}
grep -E '^\| [0-9.]+(, the default)? \| [0-9.]+ % \|' "$readme" | sed 's/, the default//' | tr -d '|' >words
same 'epsilons with a word' 4 "$(wc -l <words)"
# shellcheck disable=SC2086,SC2116  # one blank between words
while read -r epsilon rest; do same "README, epsilon $epsilon" "$(said "$epsilon")" "$(echo $rest)"; done <words
doc=$PRIVET_SOURCE/docs/scale.md
sed -n 's/^| epsilon | \(.*\) |$/\1/p' "$doc" | tr '|' '\n' | tr -d ' ' >epsilons
sed -n 's/^| right at most (delta 1e-6) | \(.*\) |$/\1/p' "$doc" | tr '|' '\n' | sed 's/^ *//; s/ *$//' >shares
same 'epsilons in docs/scale.md' 9 "$(wc -l <epsilons)"
paste epsilons shares | while read -r epsilon share; do
    case "$(said "$epsilon")" in "$share "*) ;; *) echo "$epsilon: $share";; esac
done >wrong
same 'shares in docs/scale.md' '' "$(cat wrong)"
for word in strong:1:73.2 moderate:3:95.3 weak:10:99.996; do
    has "$doc" "| ${word%%:*} | $([ "${word%%:*}" = strong ] && echo green || echo amber) | up to $(echo "$word" | cut -d: -f2) |"
    same "limit of ${word%%:*}" "${word##*:} % ${word%%:*}" "$(said "$(echo "$word" | cut -d: -f2)")"
done

# Links, targets of make, folders of the tree.
for file in $(grep -o '](\([A-Za-z_./]*\))' "$readme" | tr -d '()]'); do check "$file exists" test -e "$PRIVET_SOURCE/$file"; done
# shellcheck disable=SC2013  # names have no blanks
for file in $(grep -oE '^(include|src|cli|tests|bench|tools)/[a-z_./]*' "$readme"); do check "$file exists" test -e "$PRIVET_SOURCE/$file"; done
# shellcheck disable=SC2013
for target in $(grep -oE '(^|`)make [a-z]+' "$readme" "$PRIVET_SOURCE/CONTRIBUTING.md" | sed 's/.*make //' | sort -u); do
    check "make $target" grep -q "^$target:" "$PRIVET_SOURCE/Makefile"
done

# The changelog keeps its own rule: what a line starts with, and that a privacy line speaks of certificates.
awk '/^- / { if (line) print line; line = $0; next } /^  / { line = line $0; next } { if (line) print line; line = "" } END { if (line) print line }' \
    "$PRIVET_SOURCE/CHANGELOG.md" >changes
check 'there are changes' test "$(wc -l <changes)" -ge 50
same 'lines start with api, privacy, cli, data, build or doc' '' "$(grep -vE '^- (api|privacy|cli|data|build|doc): ' changes)"
same 'privacy lines say whether certificates verify' '' "$(grep '^- privacy: ' changes | grep -viE 'certificate')"
for command in $(privet --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    [ "$command" = help ] || check "the README has $command" grep -qE "^\| .privet .*$command|^\| .*.$command." "$readme"
done
finish
