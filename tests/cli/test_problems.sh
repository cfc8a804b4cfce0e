# Several things wrong with a table: counted by column and kind, the same whatever the threads and chunks, and only on the screen.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
cat >s.json <<'END'
{"columns": [{"name": "age", "type": "number", "min": 0, "max": 100}, {"name": "job", "type": "category", "values": ["a", "b"]},
    {"name": "since", "type": "date", "min": "2000-01-01", "max": "2030-01-01"}, {"name": "y", "type": "label", "values": ["no", "yes"]}]}
END
# Rows 1 .. n; every 7th age is below its bound, every 10th text, and one record has quotes with line ends in them.
rows() { # N
    echo 'age,job,since,y'
    awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i++) print (i % 7 ? i % 10 ? i % 60 : "V27" : -i) "," (i % 30 ? i == 35 ? "\"a word with line ends in it\n\ny\"" : "a" : "c") "," \
        (i == 41 ? "yesterday" : i == 42 ? "" : "2020-01-31") "," (i == 44 ? "maybe" : i % 2 ? "no" : "yes") (i == 50 ? ",more" : "") }'
}
rows 60 >t.csv
cat >want <<'END'
privet: t.csv: column "age": 8 values outside the declared bounds, first in line 8
privet: t.csv: column "age": 6 values not a number, first in line 11
privet: t.csv: column "job": 3 values not declared, first in line 31
privet: t.csv: column "since": 1 value not a date, in line 44
privet: t.csv: column "since": 1 value missing, in line 45
privet: t.csv: column "y": 1 value not declared, in line 47
privet: t.csv: 1 record of another number of columns, in line 53
privet: t.csv:8:1: column "age": -7 is outside the declared 0 .. 100; data.outside=usual would clamp it; the first of 21 problems
END
for threads in 1 3; do
    for chunk in 16 50 1000 262144; do
        run train t.csv --schema s.json --epsilon 1 --threads $threads data.chunk=$chunk --out m.pvt
        same 'exit code' 3 "$code"
        same "$threads threads, chunks of $chunk bytes" "$(cat want)" "$(cat err)"
    done
done
only_files s.json t.csv want
gzip -c t.csv >t.csv.gz
run train t.csv.gz --schema s.json --epsilon 1
same 'a compressed file' "$(sed 's/t\.csv/t.csv.gz/' want)" "$(cat err)"

# ---- one problem is one line, a hundred are enough, and the place alone is no count
rows 8 >one.csv
fails 3 'privet: one.csv:8:1: column "age": -7 is outside the declared 0 .. 100; data.outside=usual would clamp it' \
    train one.csv --schema s.json --epsilon 1
rows 5000 >many.csv
run train many.csv --schema s.json --epsilon 1 data.chunk=100
cp err first
run train many.csv --schema s.json --epsilon 1 --threads 2
check 'the same of many' cmp err first
has err 'clamp it; the first of 100 or more problems'
gzip -c many.csv | head -c 2000 >cut.csv.gz # how much comes out of it depends on how much is read at a time
fails 3 'privet: cut.csv.gz:8:1: column "age": -7 is outside the declared 0 .. 100; data.outside=usual would clamp it' \
    train cut.csv.gz --schema s.json --epsilon 1 data.chunk=100
run train many.csv --schema s.json --epsilon 1
same 'they are a hundred' 100 "$(sed -n 's/^privet: many.csv: \(column [^:]*: \)*\([0-9]*\) .*/\2/p' err | awk '{ n += $1 } END { print n }')"
fails 3 'privet: t.csv:8:1: refused; data.messages=full tells why, and quotes it' train t.csv --schema s.json --epsilon 1 data.messages=place

# ---- privet schema check: all of it, of the whole file
run schema check s.json t.csv
same 'check: code' 3 "$code"
same 'check: stderr' '' "$(cat err)"
cat >want <<'END'
checked      t.csv: 59 rows, 21 problems
             column "age": 8 values outside the declared bounds, first in line 8
             column "age": 6 values not a number, first in line 11
             column "job": 3 values not declared, first in line 31
             column "since": 1 value not a date, in line 44
             column "since": 1 value missing, in line 45
             column "y": 1 value not declared, in line 47
             1 record of another number of columns, in line 53
END
same 'check' "$(cat want)" "$(head -8 out)"
has out 'NOT PRIVATE  these counts and lines come from the rows:'
rows 20000 >big.csv
run schema check s.json big.csv --json
has out '"rows":19999,"problems":5243,"kinds":[{"column":"age","kind":"outside the declared bounds","count":2857,"first_line":8,'
same 'kinds and counts' '2857 1715 667 1 1 1 1' "$(grep -o '"count":[0-9]*' out | cut -d: -f2 | sort -rn | tr '\n' ' ' | sed 's/ $//')"
rows 6 >good.csv
ok schema check s.json good.csv
same 'nothing is wrong' 'checked      good.csv: 6 rows, 0 problems' "$(cat out)"
run train good.csv --schema s.json --epsilon 1 run.least=1 --out m.pvt
run schema check m.pvt t.csv
has out 't.csv: 59 rows, 21 problems'
fails 2 'privet: privet schema check needs the table, too: check SCHEMA DATA' schema check s.json
fails 2 'privet: privet schema show takes one file' schema show s.json t.csv
fails 3 'privet: none.csv: No such file or directory' schema check s.json none.csv
printf 'age,job,y\n1,a,no\n' >less.csv
fails 3 'privet: less.csv:1:1: the header has no column "since"' schema check s.json less.csv

# ---- what is wrong with LIBSVM lines
printf '+1 1:1\n2 1:1\n-1 1:x\n+1 3:1 2:1\n-1 1:1\n' >t.svm
run train t.svm --epsilon 1
cat >want <<'END'
privet: t.svm: 1 label outside the declaration, in line 2
privet: t.svm: 2 lines that cannot be read, first in line 3
privet: t.svm:2:1: label '2' is not -1, 0 or +1; declare the labels, as in data.labels=no,yes; the first of 3 problems
END
same 'lines of LIBSVM' "$(cat want)" "$(cat err)"
finish
