# The first hour of somebody with a table that nobody cleaned: from the file to a verified model and scores in fewer than ten commands, every
# message one line.  Three tables: an export of Excel, a hospital's with codes among its numbers, one of pandas with a data dictionary.
. "$PRIVET_SOURCE/tests/cli/lib.sh"

begin() { # TABLE
    commands=0 table=$1
}
step() { # CODE ARGS...: one command; what it says is lines of privet
    want=$1
    shift
    commands=$((commands + 1))
    run "$@"
    same "$table: privet $*: code" "$want" "$code"
    check "$table: privet $*: every message is one line: $(cat err)" sh -c '! grep -v "^privet: " err'
}
done_with() {
    check "$table: $commands commands" test "$commands" -lt 10
}
filled_in() { # SED...: what somebody who knows the columns writes into the draft
    sed "$@" draft.json >schema.json
}
auc() { # LEAST
    got=$(sed -n 's/^ *"auc": \([^,]*\),*$/\1/p' out | head -1)
    check "$table: AUC $got is above $1" awk "BEGIN { exit !($got > $1) }"
}

# ---- Excel: UTF-16, semicolons, decimal commas, thousands, a separator at the end, truth values as people type them
excel() { # SEED ROWS
    echo 'Kunde;Umsatz;Quote;Newsletter;Bemerkung;gekündigt;'
    awk -v s="$1" -v n="$2" 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
        BEGIN { for (i = 1; i <= n; i++) { m = int(u() * 9000); q = u(); w = int(u() * 4); y = (m / 9000 + q + (u() - 0.5) / 2 > 1)
            printf "K%05d;%s;%s;%s;%s;%s;\r\n", i, (m >= 1000 ? int(m / 1000) sprintf(".%03d", m % 1000) : m) ",50", (i % 50 ? sprintf("0,%03d", q * 999) : "k. A."), \
                (w == 0 ? "Ja" : w == 1 ? "ja" : "nein"), (i % 7 ? "" : "\"sagt \"\"nein\"\"; dann ja\""), (y ? "x" : "-") } }'
}
begin 'an export of Excel'
{ printf '\377\376' && excel 5 4000 | iconv -f utf-8 -t utf-16le; } >kunden.csv
step 2 train kunden.csv --epsilon 1
has err 'a table needs data.schema=FILE'
step 0 schema draft kunden.csv --label gekündigt --out draft.json
has err '5 columns are still open: say what each is'
filled_in -e 's/"separator"/"decimal": ",", "thousands": ".", "trailing": true, "separator"/' -e 's/"missing": \[""\]/"missing": ["", "k. A."]/' \
    -e '/"Kunde"/s/open/ignore/' -e '/"Bemerkung"/s/open/text/' -e '/"Umsatz"/s/"open"/"number", "min": 0, "max": 5000, "source": "price list"/' \
    -e '/"Quote"/s/"open"/"number", "min": 0, "max": 1, "missing": "middle"/' -e '/"Newsletter"/s/"open"/"category", "values": [["ja", "Ja", "JA"], "nein"]/' \
    -e '/"gekündigt"/s/"label"/"label", "values": [{"bleibt": ["-"]}, {"kündigt": ["x"]}]/'
step 3 schema check schema.json kunden.csv
same "$table: what does not fit" 1 "$(grep -c 'column "Umsatz": [0-9]* values outside the declared bounds, first in line' out)"
has out 'kunden.csv: 4000 rows'
step 0 train kunden.csv --schema schema.json --epsilon 1 data.outside=usual --out kunden.pvt
has err 'privet: note: text, which nothing reads: column "Bemerkung"'
step 0 verify kunden.pvt
excel 9 500 >neu.csv # UTF-8, the same
step 0 predict kunden.pvt neu.csv --keep Kunde --out scores.csv
same "$table: the header of the scores" 'Kunde;prediction;margin;p(bleibt);p(kündigt)' "$(head -1 scores.csv)"
same "$table: the scores" 501 "$(wc -l <scores.csv)"
step 0 eval kunden.pvt neu.csv --json
auc 0.8
done_with

# ---- A hospital: a mark in front, several texts for no value, codes among numbers, patients with several stays; next year's table has new
# columns, in another order, and wards that nobody knew
begin 'a hospital'
hospital() { # SEED ROWS WARD...
    awk -v s="$1" -v n="$2" -v w="$3" 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
        BEGIN { k = split(w, ward, " "); for (i = 1; i <= n; i++) { a = int(18 + u() * 80); c = u() * 6; y = (a / 100 + c / 6 + (u() - 0.5) / 2 > 1.05)
            printf "P%04d,%s,20%02d-%02d-%02d,%s,%s,%s\n", int(u() * n / 2), (i % 31 ? a : i % 2 ? "NA" : "?"), 20 + i % 3, 1 + i % 12, 1 + i % 28, ward[1 + i % k],
                (i % 40 ? sprintf("%.2f", c) : "<0.10"), (y ? "yes" : "no") } }'
}
{ printf '\357\273\277patient,age,admitted,ward,lactate,back\r\n' && hospital 3 6000 'surgery icu'; } | gzip >stays.csv.gz
step 2 train stays.csv.gz --schemas s.json
has err 'privet: unknown option --schemas for train; did you mean --schema?'
step 0 schema draft stays.csv.gz --label back --out draft2.json
cp draft2.json draft.json
filled_in -e '/"patient"/s/"open"/"person", "rows": 4/' -e '/"age"/s/"open"/"number", "min": 0, "max": 110, "missing": "middle"/' \
    -e '/"admitted"/s/"open"/"date", "min": "2020-01-01", "max": "2022-12-31"/' -e '/"ward"/s/"open"/"category", "values": ["surgery", "icu"], "outside": "other"/' \
    -e '/"lactate"/s/"open"/"number", "min": 0, "max": 10, "missing": "middle"/' -e '/"back"/s/"label"/"label", "values": ["no", "yes"]/' -e 's/"missing": \[""\]/"missing": ["", "NA", "?"]/'
step 3 train stays.csv.gz --schema schema.json --epsilon 2 --out stays.pvt
has err "column \"lactate\": '<0.10' is not a number; data.outside_text=missing would treat it as missing; the first of "
step 0 train stays.csv.gz --schema schema.json --epsilon 2 data.outside_text=missing --out stays.pvt
has err 'persons, counted and treated as public'
step 0 verify stays.pvt
has out 'protects     each of'
{ echo 'insurer,ward,back,lactate,age,patient,admitted' && hospital 8 900 'surgery palliative icu' | awk -F, '{ print "x" NR "," $4 "," $6 "," $5 "," $2 "," $1 "," $3 }'; } >next.csv
step 0 eval stays.pvt next.csv data.outside=usual --json
auc 0.75
cut -d, -f1,2,4-7 next.csv >unlabelled.csv
step 0 predict stays.pvt unlabelled.csv data.outside=usual --append --out scores.csv
same "$table: the header of the scores" 'insurer,ward,lactate,age,patient,admitted,prediction,margin,p(no),p(yes)' "$(head -1 scores.csv)"
done_with

# ---- pandas: its index in front, thousands in quotes, True and False, and a Table Schema that says what the columns are; a number to predict
begin 'a table of pandas'
houses() { # SEED ROWS
    echo ',area,rooms,garden,price'
    awk -v s="$1" -v n="$2" 'function u() { s = (s * 16807) % 2147483647; return s / 2147483647 }
        BEGIN { for (i = 0; i < n; i++) { a = 30 + int(u() * 170); g = u() < 0.4; p = int(a * 3000 + g * 50000 + u() * 40000)
            printf "%d,%d,%s,%s,\"%s%03d,%03d\"\n", i, a, (i % 29 ? 1 + int(a / 40) : ""), (g ? "True" : "False"), (p >= 1000000 ? "1," : ""), int(p / 1000) % 1000, p % 1000 } }'
}
houses 4 5000 >houses.csv
cat >fields.json <<'END'
{"fields": [{"name": "area", "type": "integer", "constraints": {"minimum": 10, "maximum": 300}}, {"name": "rooms", "type": "integer", "constraints": {"minimum": 1, "maximum": 10}},
  {"name": "garden", "type": "boolean"}, {"name": "price", "type": "number", "groupChar": ",", "constraints": {"minimum": 0, "maximum": 1000000}}]}
END
step 0 schema draft fields.json --label price --out draft3.json
step 3 train houses.csv --schema draft3.json --epsilon 1 --out houses.pvt
has err "column \"rooms\" has no value (''); \"missing\": \"middle\" or \"zero\" in the schema would allow it"
cp draft3.json draft.json
filled_in -e '/"rooms"/s/"max": 10/"max": 10, "missing": "middle"/'
step 0 train houses.csv --schema schema.json --epsilon 1 --out houses.pvt
has err 'privet: note: houses.csv: the schema does not have, and nothing reads, column ""'
step 0 verify houses.pvt
houses 6 1000 >others.csv
step 0 eval houses.pvt others.csv --json
error=$(sed -n 's/^ *"rmse": \([^,]*\),*$/\1/p' out)
check "$table: an error of $error is below half of the spread" awk "BEGIN { exit !($error < 75000) }"
step 0 schema show houses.pvt
same "$table: where bounds are from" 4 "$(grep -c 'Table Schema' out)"
done_with
finish
