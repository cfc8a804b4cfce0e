# The manual pages, made of the command's tables, docs/ and privet.h, and privet help TOPIC.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
mkdir man
ok man man
sh "$PRIVET_SOURCE/tools/man_header.sh" "$PRIVET_SOURCE/include/privet.h" 0.1.0 >man/libprivet.3
sed -n 's/^    { "\([a-z]*\)", cmd_.*/\1/p' "$PRIVET_SOURCE/cli/main.c" | grep -vx 'run\|man\|complete' >commands
while read -r c; do
    check "a page for $c" grep -q "^.TH PRIVET.-$c 1 " "man/privet-$c.1"
done <commands
has man/privet-train.1 '\fB\-\-epsilon\fR \fIE\fR'
has man/privet.1 budget.epsilon
has man/privet-schema.5 'A schema declares the columns'
has man/privet-schema.5 '\fBseparator\fR'
has man/privet-schema.5 '"columns": ['
for call in $(sed 's/ .*//; s/@.*//' "$PRIVET_SOURCE/tools/symbols.txt" | grep '^pv_[a-z_]*$' | head -60); do has man/libprivet.3 "$call"; done
has man/libprivet.3 'Inputs are borrowed until a call returns.'
if command -v man >/dev/null 2>&1; then
    for page in man/*; do same "$page: no complaints from man" '' "$(man --warnings -l -Tutf8 "$page" 2>&1 >/dev/null)"; done
fi

# Topics are parts of docs/, without the marks of Markdown.
ok help
has out 'topics of privet help: settings, schema, certificate, privacy'
for t in schema certificate privacy people evaluation words pitfalls; do
    ok help $t
    check "help $t: no marks" sh -c '! grep -qE "\]\([a-z#./]|^#|^\|" out'
done
ok help privacy
has out 'Every output that has an epsilon says how strong the protection is'
ok help schema
has out 'usage: privet schema draft'
has out 'A schema declares the columns'
ok help settings
has out 'budget.epsilon'
fails 2 'privet: unknown command schemata; did you mean schema?' help schemata
finish
