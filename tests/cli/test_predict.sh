# predict: classes in the header, columns that are kept, pipes in and out, and the same lines however the text is cut.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
{ echo 'age,job,y' && awk 'BEGIN { for (i = 0; i < 200; i++) print i % 60 "," (i % 3 ? "a" : "b") "," (i % 2 ? "no" : "yes, please") }'; } |
    sed 's/yes, please/"yes, please"/' >rows.csv
printf '{"columns": [{"name": "age", "type": "number", "min": 0, "max": 100}, {"name": "job", "type": "category", "values": ["a", "b"]},
    {"name": "y", "type": "label", "values": ["no", "yes, please"]}]}' >s.json
ok train rows.csv --schema s.json --epsilon 5 --quiet --out m.pvt

run train rows.csv --schema s.json --epsilon 5 --out m.pvt
has err 'privet: note: m.pvt was there and has been replaced; what the run behind it cost stays spent'
run train rows.csv --schema s.json --epsilon 5 --out other.pvt
check 'nothing was replaced' sh -c '! grep -q replaced err'

# ---- every class has its column
ok predict m.pvt rows.csv
cp out scores
same 'header' 'prediction,margin,p(no),"p(yes, please)"' "$(head -1 scores)"
same 'rows' 201 "$(wc -l <scores)"
check 'they add up to one' awk -F, 'NR > 1 && ($(NF-1) + $NF < 0.999999 || $(NF-1) + $NF > 1.000001) { exit 1 }' scores

# ---- columns that are kept, as they are written
printf 'id,"na""me",job,age,y\r\n7,"a, ""b""\nc", b ,12,no\r\n\r\n08,,a,13,no\r\n' >new.csv
ok predict m.pvt new.csv --quiet
sed 1d out >plain
ok predict m.pvt new.csv --keep 'na"me,id'
{ printf '"na""me",id,prediction,margin,p(no),"p(yes, please)"\n"a, ""b""\nc",7,%s\n,08,%s\n' "$(sed -n 1p plain)" "$(sed -n 2p plain)"; } >want
check "kept: $(cat out)" cmp out want
ok predict m.pvt new.csv --append --out all.csv
{ printf 'id,"na""me",job,age,y,prediction,margin,p(no),"p(yes, please)"\n7,"a, ""b""\nc", b ,12,no,%s\n08,,a,13,no,%s\n' "$(sed -n 1p plain)" "$(sed -n 2p plain)"; } >want
check "appended: $(cat all.csv)" cmp all.csv want
sed 's/"columns"/"separator": ";", "columns"/' s.json >semi.json
tr , ';' <rows.csv | sed 's/yes; please/yes, please/' >semi.csv
ok train semi.csv --schema semi.json --epsilon 5 --quiet --out semi.pvt
ok predict semi.pvt semi.csv --keep y
same 'the separator of the table' 'y;prediction;margin;p(no);p(yes, please)' "$(head -1 out)"
fails 2 'privet: the header has no column "nme" to keep' predict m.pvt new.csv --keep nme
fails 2 'privet: --append keeps every column: --keep has no more to say' predict m.pvt new.csv --keep id --append
small_data >small
run train small --delta 1e-4 --quiet --out svm.pvt
fails 2 'privet: columns can be kept of a table with a schema and a header' predict svm.pvt small --keep id

# ---- a pipe in and a pipe out; cuts and compression change nothing
{ echo 'id,name,job,age' && awk 'BEGIN { for (i = 0; i < 20000; i++) print i "," (i % 4 ? "n" i : "\"l1, " i "\n\"\"l2\"\"\"") "," (i % 3 ? "a" : "b") "," i % 90 }'; } >big.csv
ok predict m.pvt big.csv --append data.chunk=64 --threads 1
cp out want
ok predict m.pvt big.csv --append data.chunk=1000 --threads 3
check 'chunks change nothing' cmp out want
"$PRIVET_COMMAND" predict m.pvt - --append <big.csv >out
check 'standard input' cmp out want
# shellcheck disable=SC2002  # a pipe is meant
cat big.csv | "$PRIVET_COMMAND" predict m.pvt - --append --threads 2 >out
check 'a pipe' cmp out want
gzip -c big.csv | "$PRIVET_COMMAND" predict m.pvt - --append >out
check 'a compressed pipe' cmp out want
{ read -r _ && "$PRIVET_COMMAND" predict m.pvt - --append; } <big.csv >out 2>err
check 'what was read of it is gone' grep -q 'the header has no column' err

# ---- train from a pipe: the same weights
# shellcheck disable=SC2002
cat rows.csv | "$PRIVET_COMMAND" train - --schema s.json --epsilon 5 --quiet --seed 4 --out piped.pvt >out 2>err
run train rows.csv --schema s.json --epsilon 5 --quiet --seed 4 --out file.pvt
run export piped.pvt --out piped.npy
run export file.pvt --out file.npy
check 'trained from a pipe' cmp piped.npy file.npy
"$PRIVET_COMMAND" train - --schema s.json </dev/null 2>err && problem 'nothing is no table'
same 'nothing' 'privet: -: empty' "$(cat err)"

# ---- an error behind the first rows: nothing is left of a file
sed '15000s/,a,/,c,/' big.csv >late.csv
run predict m.pvt late.csv --out late.out data.chunk=1000
same 'a late error' 3 "$code"
check 'no file' test ! -e late.out
run predict m.pvt late.csv data.chunk=1000
same 'a late error of a pipe' 3 "$code"
has err "column \"job\": 'c' is not one of its declared values"
finish
