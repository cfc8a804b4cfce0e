# privet schema: a draft of a header reads no row, one of public rows fits them all, and show prints what is declared.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
printf '\357\273\277"age",job;x, since ,"a ""b""",y\r\n40,nurse,2020-01-31,NA,yes\r\n\r\n-3.5,"smi\nth",2021-12-01,7,no\r\n12,?,2019-06-30,9,no' >t.csv

# ---- the header alone: what follows is not looked at, whatever it is
ok schema draft t.csv --label y --quiet
cat >want <<'END'
{"header": true, "separator": ",", "missing": [""],
 "columns": [
  {"name": "age", "type": "open"},
  {"name": "job;x", "type": "open"},
  {"name": "since", "type": "open"},
  {"name": "a \"b\"", "type": "open"},
  {"name": "y", "type": "label"}
]}
END
check "draft of a header: $(cat out)" cmp out want
printf '"age",job;x, since ,"a ""b""",y\nnothing of\nthis,is,"read' >other.csv
ok schema draft other.csv --label y --quiet
check 'no row has a say' cmp out want
run schema draft t.csv
has err 'privet: note: 5 columns are still open: say what each is, with bounds and values that everybody may know; copied from private rows they would reveal them, and so would a first line that is no header'
has err 'privet: note: no column is the label: --label COLUMN, or "type": "label"'
cp out open.json
fails 3 'privet: open.json:3:27: column "age" is still open: it is a number or date with "min" and "max", a category or label with "values", boolean, text, the person, or ignore' \
    train t.csv --schema open.json

# ---- public rows
ok schema draft t.csv --public --label y --quiet
cat >want <<'END'
{"header": true, "separator": ",", "missing": ["", "NA", "?"],
 "columns": [
  {"name": "age", "type": "number", "min": -3.5, "max": 40, "source": "public file"},
  {"name": "job;x", "type": "category", "values": ["nurse", "smi\u000ath"], "source": "public file"},
  {"name": "since", "type": "date", "min": "2019-06-30", "max": "2021-12-01", "source": "public file"},
  {"name": "a \"b\"", "type": "number", "min": 7, "max": 9, "missing": "middle", "source": "public file"},
  {"name": "y", "type": "label", "values": ["yes", "no"], "source": "public file"}
]}
END
check "draft of rows: $(cat out)" cmp out want
gzip -c t.csv >t.csv.gz
ok schema draft t.csv.gz --public --label y --quiet --out d.json
check 'the same of a compressed file' cmp d.json want
run plan t.csv --schema d.json --epsilon 1 --delta 1e-3
check "a draft of rows reads them: $(cat err)" test "$code" -eq 0
{ echo 'n,w,c' && awk 'BEGIN { for (i = 0; i < 100; i++) print i ",w" i ",1" }'; } | tr , '\t' >many.tsv
ok schema draft many.tsv --public --quiet
has out '{"name": "n", "type": "number", "min": 0, "max": 99, "source": "public file"}'
has out '{"name": "w", "type": "ignore", "source": "public file"}' # too many words
has out '{"name": "c", "type": "ignore", "source": "public file"}' # a constant
has out '"separator": "\t"'

# ---- --header says what is done anyway, in any order
ok schema draft --header t.csv --label y --quiet
check 'the header alone' grep -q '"name": "since", "type": "open"' out
fails 2 'privet: --header reads no row, --public reads all of them: only one can be meant' schema draft t.csv --header --public

# ---- public rows as Excel writes them: decimal commas, a separator at the end, truth values in several spellings
printf '\377\376' >wide.csv
printf 'a;b;c;\r\n1,5;yes;x;\r\n-2;No;x y;\r\n7,25;1;x;\r\n' | iconv -f utf-8 -t utf-16le >>wide.csv
ok schema draft wide.csv --public --quiet --label b
cat >want <<'END'
{"header": true, "separator": ";", "decimal": ",", "missing": [""],
 "columns": [
  {"name": "a", "type": "number", "min": -2, "max": 7.25, "source": "public file"},
  {"name": "b", "type": "label", "values": "boolean", "source": "public file"},
  {"name": "c", "type": "category", "values": ["x", "x y"], "source": "public file"}
]}
END
check "draft of rows with decimal commas: $(cat out)" cmp out want
cp out wide.json
ok schema check wide.json wide.csv
printf 'a;b\n1,5;2\n2;x,1;\n' >mixed.csv
ok schema draft mixed.csv --public --quiet
has out '{"header": true, "separator": ";", "decimal": ",", "trailing": true, "missing": [""],'
printf 'a;b\n1,5;2.5\n2;3\n' >point.csv
ok schema draft point.csv --public --quiet
check 'a point somewhere: no decimal commas' sh -c '! grep -q decimal out'

# ---- a dictionary: Table Schema, dtypes of pandas, a schema that has been begun
cat >fields.json <<'END'
{"resources": [{"name": "t", "dialect": {"delimiter": ";"}, "schema": {"missingValues": ["", "NA"], "fields": [
  {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 120}}, {"name": "pay", "type": "number", "decimalChar": ",", "groupChar": "."},
  {"name": "job", "type": "string", "constraints": {"enum": ["a", "b"]}}, {"name": "note", "type": "string"}, {"name": "when", "type": "datetime"},
  {"name": "since", "type": "date", "constraints": {"minimum": "2000-01-01", "maximum": "2024-12-31"}}, {"name": "ill", "type": "boolean"},
  {"name": "old", "type": "boolean", "trueValues": ["ja"], "falseValues": ["nein", "-"]}]}}]}
END
cat >want <<'END'
{"header": true, "separator": ";", "decimal": ",", "thousands": ".", "missing": ["", "NA"],
 "columns": [
  {"name": "age", "type": "number", "min": 0, "max": 120, "source": "Table Schema"},
  {"name": "pay", "type": "number", "source": "Table Schema"},
  {"name": "job", "type": "category", "values": ["a", "b"], "source": "Table Schema"},
  {"name": "note", "type": "open", "source": "Table Schema"},
  {"name": "when", "type": "date", "source": "Table Schema"},
  {"name": "since", "type": "date", "min": "2000-01-01", "max": "2024-12-31", "source": "Table Schema"},
  {"name": "ill", "type": "label", "values": "boolean", "source": "Table Schema"},
  {"name": "old", "type": "category", "values": [["nein", "-"], ["ja"]], "source": "Table Schema"}
]}
END
run schema draft fields.json --label ill
check "Table Schema: $(cat out)" cmp out want
has err 'privet: note: 3 columns are still open'
cp out begun.json
fails 3 'privet: begun.json:4:3: column "pay" needs "min" and "max": declared, not taken from the rows' schema show begun.json
ok schema draft begun.json --quiet
check 'a schema that has been begun stays' cmp out begun.json
fails 2 'privet: fields.json: there is no column "z"' schema draft fields.json --label z
fails 2 'privet: fields.json: a dictionary of columns has no rows: leave out --public' schema draft fields.json --public
printf '{"a": 1}' >odd.json
fails 3 "privet: odd.json: JSON, but no Table Schema: \"fields\" is missing; of rows in JSON, duckdb -c \"COPY (FROM 'FILE') TO 'FILE.csv'\" makes a table" schema draft odd.json
printf '{"fields": [{"type": "number"}]}' >odd.json
fails 3 'privet: odd.json:1:13: a field needs a "name"' schema draft odd.json
printf ',0\nage,int64\n"a ""b"", c",float64\njob,object\nok,bool\nt,datetime64[ns]\n' >dtypes.csv
ok schema draft dtypes.csv --label ok --quiet
cat >want <<'END'
{"header": true, "missing": [""],
 "columns": [
  {"name": "age", "type": "number", "source": "dtypes"},
  {"name": "a \"b\", c", "type": "number", "source": "dtypes"},
  {"name": "job", "type": "open", "source": "dtypes"},
  {"name": "ok", "type": "label", "values": "boolean", "source": "dtypes"},
  {"name": "t", "type": "date", "source": "dtypes"}
]}
END
check "dtypes: $(cat out)" cmp out want
printf 'name,dtype\nage\n' >dtypes.csv
fails 3 'privet: dtypes.csv: a name and a type are needed in every line' schema draft dtypes.csv

# ---- show: of a schema, and of a model
ok schema show d.json
has out 'age                      number    -3.5 .. 40                                   error             public file'
ok schema show d.json --json
has out '"source":"public file"'
{ echo 'age,job,y' && awk 'BEGIN { for (i = 0; i < 200; i++) print i % 60 "," (i % 3 ? "a" : "b") "," (i % 2 ? "no" : "yes") }'; } >rows.csv
printf '{"columns": [{"name": "age", "type": "number", "min": 0, "max": 100, "source": "by hand"},
    {"name": "job", "type": "category", "values": ["a", ["b", "B"]]}, {"name": "y", "type": "label", "values": ["no", "yes"]}]}' >rows.json
ok train rows.csv --schema rows.json --epsilon 1 --quiet --out m.pvt
ok verify m.pvt --json
has out 'Bounds and values come from where the schema says: \"by hand\" (1 column), not stated (2 columns).'
ok verify m.pvt --certificate m.json
has m.json 'Bounds and values come from where the schema says: \"by hand\" (1 column), not stated (2 columns).'
ok report m.pvt --out m.html
has m.html 'Bounds and values come from where the schema says: &quot;by hand&quot; (1 column), not stated (2 columns).'
sed 's/by hand/elsewhere/' m.json >forged.json
run verify forged.json
same 'another source: code' 3 "$code"
awk 'BEGIN { printf "{\"columns\": ["; for (i = 0; i < 9; i++) printf "{\"name\": \"c%d\", \"type\": \"number\", \"min\": 0, \"max\": 1, \"source\": \"s%d\"}, ", i, i % 8
    print "{\"name\": \"y\", \"type\": \"label\", \"values\": [\"0\", \"1\"]}, {\"name\": \"i\", \"type\": \"ignore\", \"source\": \"nobody\"}]}" }' >many.json
{ echo 'c0,c1,c2,c3,c4,c5,c6,c7,c8,y' && awk 'BEGIN { for (i = 0; i < 200; i++) print "0,1,0,1,0,1,0,1," i % 2 "," i % 2 }'; } >many.csv
ok train many.csv --schema many.json --epsilon 1 --quiet --out many.pvt
ok verify many.pvt --json
has out 'says: \"s0\" (2 columns), \"s1\" (1 column), \"s2\" (1 column), \"s3\" (1 column), \"s4\" (1 column), \"s5\" (1 column), other sources (2 columns), not stated (1 column).'
ok schema show m.pvt
has out 'age                      number    0 .. 100                                     error             by hand'
has out 'job                      category  a, b '

# ---- a group of values has a name: of a class in what is predicted, of a category in what is shown
{ echo 'age,job,y' && awk 'BEGIN { for (i = 0; i < 200; i++) print i % 60 "," (i % 3 ? "smith" : "nurse") "," (i % 4 ? i % 2 ? "back." : "smurf." : "normal.") }'; } >groups.csv
printf '{"columns": [{"name": "age", "type": "number", "min": 0, "max": 100}, {"name": "job", "type": "category", "values": [{"craft": ["smith", "baker"]}, "nurse"]},
    {"name": "y", "type": "label", "values": ["normal.", {"attack": ["back.", "smurf.", "attack"]}]}]}' >groups.json
ok schema show groups.json
has out 'y                        label     normal., attack '
ok train groups.csv --schema groups.json --epsilon 1 --quiet --out groups.pvt
ok predict groups.pvt groups.csv
same 'the class has the name of the group' 'prediction,margin,p(normal.),p(attack)' "$(head -1 out)"
ok schema show groups.pvt --json
has out '"values":["normal.",["attack","back.","smurf."]]'
has out '"values":[["craft","smith","baker"],"nurse"]'
for group in '{}' '{"a": []}' '{"a": "b"}' '{"a": ["b"], "c": ["d"]}' '{"": ["b"]}'; do
    printf '{"columns": [{"name": "x", "type": "category", "values": ["v", %s]}]}' "$group" >group.json
    run schema show group.json
    same "$group: code" 3 "$code"
done
has err 'a group needs a name, of 1000 bytes at most'
printf '{"columns": [{"name": "x", "type": "category", "values": ["v", {"a": "b"}]}]}' >group.json
fails 3 'privet: group.json:1:64: a group has one name and a list of spellings, as in {"attack": ["smurf", "back"]}' schema show group.json

# ---- files of another kind are known by their first bytes
kind() { # BYTES MESSAGE
    # shellcheck disable=SC2059  # octal escapes are meant
    printf "$1" >kind.csv
    fails 3 "privet: kind.csv: $2" train kind.csv --schema rows.json
    fails 3 "privet: kind.csv: $2" schema draft kind.csv
}
kind 'PK\003\004rest' 'a ZIP archive or an Excel workbook, not text in UTF-8; unzip the one, save the other as CSV UTF-8 or with pandas.read_excel'
kind 'PAR1rest' "a Parquet file, not text in UTF-8; duckdb -c \"COPY 'FILE' TO 'FILE.csv'\" or pandas.read_parquet makes a CSV of it"
kind ' [ {"a": 1}]' "JSON, not a table; duckdb -c \"COPY (FROM 'FILE') TO 'FILE.csv'\" or pandas.read_json makes a CSV of it"
kind '(\265\057\375rest' 'a zstd archive, not text in UTF-8; zstd -dc FILE | privet ... - reads it'
printf 'age,job,y\n"12,345",a,no\n' >thousands.csv
fails 3 "privet: thousands.csv:2:1: column \"age\": '12,345' is not a number; \"thousands\": \",\" beside \"columns\" reads it as 12345, \"decimal\": \",\" as 12.345" \
    train thousands.csv --schema rows.json

# ---- a first line that is, or holds, a row would show it
printf 'patient,diagnosis,y\rAlice,flu,1\rBob,none,0\r' >mac.csv
fails 3 'privet: mac.csv:1: lines must end with a line feed, not with a carriage return alone' schema draft mac.csv
printf 'a,b,\rAlice,1\r' >mac2.csv
fails 3 'privet: mac2.csv:1: lines must end with a line feed, not with a carriage return alone' schema draft mac2.csv
for row in '62.29,none,n' 'none,2020-01-31,n'; do
    printf '%s\n1,none,y\n' "$row" >rowless.csv
    run schema draft rowless.csv
    same "no header, $row: code" 3 "$code"
    has err 'is a value, not a name: is the first line a row?  A table without a header needs a schema by hand, with "header": false'
    check 'nothing is drafted' test ! -s out
done
printf '"x\ny",z\n' >lines.csv
fails 3 'privet: lines.csv:1: column 1 of the header, "x?y", has a line end or another control character in it' schema draft lines.csv
printf 'a,b,a\n' >double.csv
fails 3 'privet: double.csv:1: the header has "a" twice' schema draft double.csv

# ---- bad input
fails 2 'privet: privet schema has no drft; there is draft, show and check' schema drft t.csv
fails 2 'privet: schema has no setting clip; there is --public, --header, --label COLUMN and --page FILE' schema draft t.csv clip=1
fails 2 'privet: t.csv: the header has no column "z"' schema draft t.csv --label z
fails 3 'privet: none.csv: No such file or directory' schema draft none.csv
: >empty.csv
fails 3 'privet: empty.csv: empty file' schema draft empty.csv
printf '\n\n' >blank.csv
fails 3 'privet: blank.csv: no header' schema draft blank.csv
printf 'a,b\n1,2\n3\n' >short.csv
ok schema draft short.csv --quiet
fails 3 'privet: short.csv:3: the record has 1 columns, the header 2' schema draft short.csv --public
printf 'a,b\n1,2,3\n' >long.csv
fails 3 'privet: long.csv:2: the record has more than the 2 columns of the header' schema draft long.csv --public
printf 'a,b\n1,"2\n' >quote.csv
fails 3 'privet: quote.csv: a quoted field is never closed' schema draft quote.csv --public
printf 'a,b\n' >bare.csv
fails 3 'privet: bare.csv: no rows' schema draft bare.csv --public
fails 3 'privet: m.pvt:1: this is no text in UTF-8: another kind of file, or UTF-16' schema draft m.pvt
sed 's/"by hand"/3/' rows.json >odd.json
fails 3 'privet: odd.json:1:80: column "age": "source" says in a few words where its declaration is from' schema show odd.json
echo hello >note.txt
fails 2 'privet: note.txt is there already: a draft replaces no file' schema draft t.csv --out note.txt
check 'it stays' grep -q hello note.txt
printf '%s\n' '-1 1:0.5 2:0.25' >rows.svm
fails 3 'privet: rows.svm: one column only: a table has its columns between commas, semicolons, tabs or bars' schema draft rows.svm
printf 'patient,a\nx1,1\nx2,2\n' >ids.csv
run schema draft ids.csv --public
has out '{"name": "patient", "type": "person", "source": "public file"}'
has err 'privet: note: a column named like an id is the person, whose rows are protected together; say "ignore" if it is not'
finish
