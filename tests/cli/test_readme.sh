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

# Links, targets of make, folders of the tree.
for file in $(grep -o '](\([A-Za-z_./]*\))' "$readme" | tr -d '()]'); do check "$file exists" test -e "$PRIVET_SOURCE/$file"; done
for file in $(grep -oE '^(include|src|cli|tests|bench|tools)/[a-z_./]*' "$readme"); do check "$file exists" test -e "$PRIVET_SOURCE/$file"; done
for target in $(grep -oE '(^|`)make [a-z]+' "$readme" "$PRIVET_SOURCE/CONTRIBUTING.md" | sed 's/.*make //' | sort -u); do
    check "make $target" grep -q "^$target:" "$PRIVET_SOURCE/Makefile"
done
finish
