# Persons who own several rows: any order of rows gives the same model, the certificate is of persons, and the number of
# rows is in nothing that leaves: two tables that differ in how many rows one person has.
. "$PRIVET_SOURCE/tests/cli/lib.sh"

# table SEED ROWS: 300 persons of 1 to 4 rows, but the first of ROWS, in an order of their own
table() {
    echo 'who,a,b,y'
    awk -v seed="$1" -v first="$2" 'BEGIN {
        srand(7)
        for (i = 0; i < 300; i++) {
            base = rand(); extra = i == 0 ? first : 1 + i % 4
            for (r = 0; r < 12; r++) { a[r] = rand(); b[r] = rand() }
            for (r = 0; r < extra; r++)
                line[n++] = sprintf("patient %d,%.4f,%.4f,%s", i, (base + a[r]) / 2, b[r], base + a[r] > 1 ? "yes" : "no")
        }
        srand(seed)
        for (i = n - 1; i > 0; i--) { k = int(rand() * (i + 1)); t = line[i]; line[i] = line[k]; line[k] = t }
        for (i = 0; i < n; i++) print line[i]
    }'
}
cat >schema <<'END'
{"columns": [{"name": "who", "type": "person"}, {"name": "a", "type": "number", "min": 0, "max": 1},
             {"name": "b", "type": "number", "min": 0, "max": 1}, {"name": "y", "type": "label", "values": ["no", "yes"]}]}
END
table 1 3 >one
table 2 3 >two
table 1 9 >many
same 'the same rows in another order' "$(sort one)" "$(sort two)"
rows_one=$(($(wc -l <one) - 1)) rows_more=$(($(wc -l <many) - 1))

# ---- any order of rows, the same weights; the digest is that of the file
for t in one two; do
    run train $t --schema schema --rows-per-person 4 --seed 5 --out $t.pvt --certificate $t.json --quiet
    run export $t.pvt --out $t.npy
done
check 'the same weights' cmp one.npy two.npy
same 'the same certificate but for digests' "$(grep -v 'data_digest\|checksum' one.json)" "$(grep -v 'data_digest\|checksum' two.json)"

# ---- K as the schema declares it, unless it is set
sed 's/"person"/"person", "rows": 4/' schema >declared
run train one --schema declared --seed 5 --out k.pvt --certificate k.json --quiet
run export k.pvt --out k.npy
check 'K of the schema' cmp one.npy k.npy
has k.json '"rows_per_person": 4'
run train one --schema declared --rows-per-person 2 --seed 5 --out k.pvt --certificate k.json --quiet
has k.json '"rows_per_person": 2'
sed 's/"person"/"person", "rows": 0/' schema >wrong
fails 3 'privet: wrong:1:56: "rows" must say how many rows of one person count, at most: 1 to 1000000000' plan one --schema wrong
sed 's/"type": "number"/"type": "number", "rows": 2/' schema >wrong
fails 3 'privet: wrong:1:89: "rows" is for a column of type person' plan one --schema wrong

# ---- what is no table of persons
run plan one --schema schema --rows-per-person 0
has err 'data.person_rows=0: '
same 'K = 0' 2 "$code"
run train one --schema schema --rows-per-person 4 data.persons=299 --out no.pvt --quiet
same 'more persons than declared' 'privet: one: more persons than the declared data.persons=299' "$(cat err)"
sed 's/^patient [0-9]*/her/' one >hers
run plan hers --schema schema --rows-per-person 4
has err 'warning: hers: one person owns all rows: nothing can be learned that is not about them'
run train one --schema schema data.person=a --out no.pvt --quiet
has err 'data.person=a, but the schema says that "who" is the person'
sed 's/"person"/"ignore"/' schema >nobody.json
run train one --schema nobody.json data.person=a --out no.pvt --quiet
has err 'data.person=a: the schema has it as a feature; declare "type": "person"'
sed '5s/^[^,]*//' one >lost
run train lost --schema schema --rows-per-person 4 --out no.pvt --quiet
has err 'lost:5:1: no id: whose row is it?'
run schema check schema lost
has out 'column "who": 1 row without an id, in line 5'
check 'as wrong as training has it' test "$code" -eq 3
# ids that differ in blanks alone are two persons, which the owner can be told, and training does not tell
printf 'who,a,b,y\n"x",0.1,0.1,no\n"x ",0.2,0.2,yes\n"x  y",0.3,0.3,no\nx y,0.3,0.3,no\n' >blanks
ok schema check schema blanks
has out '2 rows have an id with blanks at an end, or two side by side: ids are taken as'
has out 'NOT PRIVATE'
run plan blanks --schema schema --rows-per-person 4
has err 'blanks: 4 persons, counted'
check 'no note of it' sh -c '! grep -q "blanks at" err'
ok schema check schema one
check 'nor where there are none' sh -c '! grep -q "blanks at" out'

# ---- the number of rows leaves nowhere: same seed, another number of rows of one person, above the cap or below it
for t in one many; do
    rm -f run.pvt
    run train $t --schema schema --rows-per-person 6 --seed 5 --out run.pvt --certificate $t.json --json
    cp out $t.said && cp err $t.notes && cp run.pvt $t.pvt
    run report run.pvt --out $t.html
    run verify run.pvt
    cp err $t.verify
    run plan $t --schema schema --rows-per-person 6
    cat out err >$t.plan
done
sed 's/^privet: note: many:/privet: note: one:/' many.notes >many.renamed
check 'the same notes' cmp one.notes many.renamed
check 'the same summary' cmp one.said many.said
sed 's/note: many:/note: one:/' many.plan >many.renamed
check 'the same plan' cmp one.plan many.renamed
check 'the same words of verify' cmp one.verify many.verify
same 'the same certificate but for digests' "$(grep -v '_digest\|checksum' one.json)" "$(grep -v '_digest\|checksum' many.json)"
same 'models of one size' "$(wc -c <one.pvt)" "$(wc -c <many.pvt)"
for f in one.said one.notes one.json one.html one.plan many.said many.notes many.json many.html many.plan; do
    check "no number of rows in $f" sh -c "! grep -v '_digest\|data_salt\|checksum' $f | grep -qw '$rows_one\|$rows_more'"
done
check 'and no id in the model' sh -c '! grep -aq "patient [0-9]" one.pvt'

# ---- somebody whose rows are zeros adds nothing to any sum, however many they have: with the same seed all that leaves is the
# same to the byte, but for digests of the data, what covers these, and times
sed "s/^patient/guest/" two >others
for sampler in full poisson; do
    for k in 1 5 9; do
        awk -v k=$k '{ print } NR == 40 { for (i = 0; i < k; i++) print "nobody,0,0,no" }' one >table
        rm -f model.r$k
        run train table --schema schema --rows-per-person 6 --seed 5 data.bias=0 data.curves=off data.center=0 sampler=$sampler --holdout others run.log=log.r$k \
            --out model.r$k --certificate certificate.r$k --json
        sed 's/"seconds[a-z_]*": [0-9.e-]*//; s/\.r[159]"/"/g' out >summary.r$k && cp err notes.r$k
        run export model.r$k --out weights.r$k.npy
        run export model.r$k --out graph.r$k.onnx
        run report model.r$k --out page.r$k
        cat out err >told.r$k
        run verify model.r$k
        cat out err >>told.r$k
        run plan table --schema schema --rows-per-person 6 data.bias=0 data.curves=off
        cat out err >>told.r$k
        wc -c <model.r$k >size.r$k
        wc -c <page.r$k >>size.r$k
        for f in certificate page log told; do
            sed "s/[0-9a-f]\{32,\}/DIGEST/g; s/\"seconds\": [0-9.e-]*//; s/\.r$k//g" $f.r$k | grep -v checksum >$f.r$k.plain
        done
        [ $k = 1 ] && continue
        for f in summary notes size; do check "$f, $sampler, $k rows" cmp $f.r1 $f.r$k; done
        for f in certificate page log told; do check "$f, $sampler, $k rows" cmp $f.r1.plain $f.r$k.plain; done
        check "weights, $sampler, $k rows" cmp weights.r1.npy weights.r$k.npy
        check "graph, $sampler, $k rows" cmp graph.r1.onnx graph.r$k.onnx
    done
done
check 'there is a log to compare' test "$(wc -l <log.r1.plain)" -ge 3

# ---- without persons: what the guarantee of a row means for people, by the accountant's curve for groups
check 'no such line where persons are protected' sh -c "! grep -q somebody one.plan one.html"
awk 'BEGIN { srand(3); for (i = 0; i < 1000; i++) printf "%s 1:%.3f 2:%.3f\n", i % 2 ? "+1" : "-1", rand(), rand() }' >rows.svm
run plan rows.svm --delta 1e-6
has out 'somebody with 2, 5, 10, 20 rows has epsilon 2.13, 5.93, 13.51, 33.02'
run train rows.svm --delta 1e-6 --out rows.pvt --quiet
run report rows.pvt --out rows.html
has rows.html 'somebody with 2, 5, 10, 20 rows has epsilon 2.13, 5.93, 13.51, 33.02 at this delta'

# ---- a column that is named like an id, and is a feature
sed 's/who,a,b,y/who,a,patient,y/' one >named
sed 's/"b", "type"/"patient", "type"/; s/"person"/"ignore"/' schema >named.schema
run train named --schema named.schema --seed 5 --out named.pvt
same 'a note' 1 "$(grep -c 'column "patient" is a feature, and its name is that of an id' err)"

# ---- a private run: statement, certificate, model and page are of persons
ok train one --schema schema --rows-per-person 4 --out m.pvt --certificate m.json --quiet
has m.json '"unit": "person"'
has m.json '"persons": 300'
has m.json '"rows_per_person": 4'
has m.json 'leaving out what all rows of any one person contribute'
ok verify m.pvt
ok report m.pvt --out m.html
has m.html 'Protection of each person'
ok eval m.pvt two --quiet

# ---- eval: each person once, as awk has it from the predictions; who was trained on; ids may be missing where none are needed
table 3 5 | sed 's/^patient \([0-9]*\)/guest \1/' >guests
{ cat guests && sed -n 5,7p one; } >mixed
ok eval m.pvt guests --json --quiet --trained-on one
cp out guests.json
run predict m.pvt guests --quiet
paste -d, guests out | awk -F, 'NR > 1 {
    k[$1]++; who[++n] = $1; hit[$1] += $4 == $5; s[n] = $6; y[n] = $4 == "yes" } END {
    for (p in k) { persons++; sum += hit[p] / k[p] }
    for (i = 1; i <= n; i++) for (j = 1; j <= n; j++) if (y[i] && !y[j]) {
        w = 1 / k[who[i]] / k[who[j]]; all += w; won += s[i] > s[j] ? w : s[i] == s[j] ? w / 2 : 0 }
    printf "%d %.6f %.6f\n", persons, sum / persons, won / all }' >want
sed -n '/per_person/,/}/p' guests.json | awk -F'[:,]' '/persons"/ { p = $2 } /accuracy/ { a = $2 } /auc/ { u = $2 } END {
    printf "%d %.6f %.6f\n", p, a, u }' >got
same 'every person once' "$(cat want)" "$(cat got)"
has guests.json '"persons_trained_on": 0'
# ids in a file of their own are those of the new rows: the other file has its own, or none
tail -n +2 guests | cut -d, -f1 >guests.ids
tail -n +2 one | cut -d, -f1 >one.ids
sed 's/{"name": "who", "type": "person"}, *//' schema >nobody.schema
cut -d, -f2- one >one.nameless
cut -d, -f2- guests >guests.nameless
ok train one.nameless --schema nobody.schema data.person_file=one.ids --rows-per-person 4 --out f.pvt --quiet
run eval f.pvt guests.nameless data.person_file=guests.ids --trained-on one.nameless --quiet
same 'ids of other rows are not taken' 2 "$code"
has err 'no column says whose rows those are'
run eval m.pvt mixed --trained-on one --quiet
has out 'of these persons were trained on: the figures below are NOT PRIVATE'
cut -d, -f2- guests >nameless
run predict m.pvt nameless --quiet
cp out nameless.out
run predict m.pvt guests --quiet
check 'predictions need no ids' cmp out nameless.out
ok eval m.pvt nameless --quiet
check 'nor does eval, which then has rows alone' sh -c '! grep -q persons out'
run eval m.pvt nameless --trained-on one --quiet
has err 'no column says whose rows these are'
run train nameless --schema schema --rows-per-person 4 --out no.pvt --quiet
has err 'the header has no column "who"'
run train one --schema schema --rows-per-person 4 --holdout mixed --out no.pvt --quiet
has err 'belong to persons who are to be trained on'
run train one --schema schema --rows-per-person 4 --holdout guests --out h.pvt --quiet
check "others may be held out" [ "$code" -eq 0 ]
run train one --schema schema --rows-per-person 4 --holdout nameless --out h.pvt
has err 'no column says whose rows these are, so nobody can tell whether some belong to persons who are trained on'

# ---- compare trains on nobody whom it tests on, and says where nobody can tell
run compare one --schema schema --rows-per-person 4 --holdout mixed --out both
has err 'belong to persons who are to be trained on'
check 'nothing was spent' [ "$code" -ne 0 ]
check 'nor recorded' sh -c '! ls both/runs/*.json both/runs/*.started 2>/dev/null | grep -q .'
run compare one --schema schema --rows-per-person 4 --holdout guests --out apart
check 'others may be tested on' [ "$code" -eq 0 ]
run compare one --schema schema --rows-per-person 4 --holdout nameless --out untold
has err 'no column says whose rows these are, so nobody can tell'

# ---- K that nobody says: as many as may be without cost; or chosen, and rows counted, by a histogram that is paid for
run train one --schema schema --out m.pvt --certificate open.json
has err 'data.person_rows = 64: data.person_rows_most; more rows cost no more noise'
has open.json '"rows_per_person": 64'
run plan one --schema schema --epsilon 5 unit.weight=rows data.person_rows_most=8
has out 'how many count, at most 8, a noisy histogram says'
has out 'of rows per person, before the first step: 0.05 of the budget'
run train one --schema schema --epsilon 5 unit.weight=rows data.person_rows_most=8 --out m.pvt --certificate open.json
has out ': counted with noise, within epsilon'
has err 'chosen by a noisy histogram that takes 0.05 of the budget'
has err 'at most three persons in ten have more'
has open.json '"kind": "rows of a person"'
has open.json '"data.person_rows": "auto"'
has open.json 'noisy counts in releases, which epsilon covers'
ok verify m.pvt
has out 'that count, standard error'
run report m.pvt --out m.html
has m.html 'rows that count, by a noisy count'
run plan one --schema schema --epsilon 0.5 unit.weight=rows
has err 'on each count of rows per person is large beside 300 persons'
run train one --schema schema --rows-per-person 4 data.person_rows_share=0.5 --epsilon 50 --json --out m.pvt
check 'the count is near' sh -c "grep -q '\"rows_counted\": 7[3-6][0-9],' out"
for t in one two; do
    run train $t --schema schema data.person_rows_share=0.1 --seed 5 --out $t.pvt --json
    run export $t.pvt --out $t.npy
done
check 'K is chosen, and any order of rows gives the same weights' cmp one.npy two.npy
run train one --schema schema data.person_rows_share=0.1 privacy=off --json --out m.pvt
has out '"rows_per_person": 3,'
run train one --schema declared data.person_rows_share=0.1 privacy=off --json --out m.pvt
has out '"rows_per_person": 4,'
has out "\"rows_counted\": $rows_one,"
for how in full-zero-out poisson-zero-out cyclic-zero-out full-replace poisson-replace fixed-replace cyclic-replace; do
    batch=
    [ "${how%%-*}" = full ] || batch=sampler.batch=60
    # shellcheck disable=SC2086  # words
    ok train one --schema schema --epsilon 5 data.person_rows_share=0.1 sampler=${how%%-*} $batch budget.relation=${how#*-} --optimizer sgd --quiet --out m.pvt
    ok verify m.pvt
done
run train one --schema schema data.person_rows_share=0.1 optimizer=fw-l1 set=l1ball --out no.pvt --quiet
has err 'no proof beside the releases of optimizer=fw-l1: data.person_rows=K (--rows-per-person K) needs none'
run train one --schema schema --rows-per-person 2000 data.person_rows_share=0.1 --out no.pvt --quiet
has err 'counts persons of up to 1024 rows, and 2000 count'
run train rows.svm data.person_rows_share=0.1 --out no.pvt --quiet
has err 'are for rows that persons own'

# ---- what is refused says what would do
run plan --rows 100 --features 3 --rows-per-person 4
has err 'are for rows that persons own'
run train one --schema schema --rows-per-person 4 optimizer=prgd --out no.pvt --quiet
has err 'optimizer=prgd has no proof for persons of several rows; these have: adam'
check 'sbcd is not among them' sh -c '! grep -q sbcd err'

# ---- sum or mean, by persons or by rows: each its own weights, each order of rows the same, each verified
for how in mean-one mean-rows sum-one sum-rows; do
    for t in one two; do
        run train $t --schema schema --rows-per-person 4 unit.combine=${how%-*} unit.weight=${how#*-} --seed 5 --out $how.$t.pvt --quiet
        run export $how.$t.pvt --out $how.$t.npy
    done
    check "$how: any order of rows" cmp $how.one.npy $how.two.npy
    ok train one --schema schema --rows-per-person 4 unit.combine=${how%-*} unit.weight=${how#*-} --out m.pvt --quiet
    ok verify m.pvt
done
same 'four models' 4 "$(cksum mean-one.one.npy mean-rows.one.npy sum-one.one.npy sum-rows.one.npy | cut -d' ' -f1 | sort -u | wc -l | tr -d ' ')"
ok train one --schema schema --rows-per-person 4 unit.combine=sum clip=3 --out m.pvt --certificate c.json --quiet
has c.json '"clip_norm": 3,'
run train one --schema schema --rows-per-person 4 unit.combine=sum clip=30 --out m.pvt --certificate c.json --quiet
has c.json '"clip_norm": 4,'
run train rows.svm unit.combine=sum --out no.pvt --quiet
has err 'unit.combine and unit.weight are for rows that persons own'
sed 's/"rows_per_person": 4/"rows_per_person": 3/' m.json >forged.json
run verify forged.json
check 'another cap is refused' [ "$code" -ne 0 ]

# A column that nothing reads, and that is named like an id: rows are protected one by one, and that is said.
printf '{"columns": [{"name": "a", "type": "number", "min": 0, "max": 1}, {"name": "y", "type": "label", "values": ["n", "y"]}]}' >rows.json
awk 'BEGIN { print "c1,c2,c3,c4,patient_id,a,y"; for (i = 0; i < 300; i++) print "1,2,3,4,p" i % 50 "," i % 10 / 10 "," (i % 2 ? "y" : "n") }' >ids.csv
run train ids.csv --schema rows.json --epsilon 1 --quiet --out r.pvt
has err 'ids.csv: column "patient_id", which nothing reads, has the name of an id: if persons have several rows, "type": "person" in the schema'
# ---- a person whose activations are infinite adds nothing: 1e30 times 1e30, then a negative layer, so that no slope is left
awk 'BEGIN { print "who,x,y"; for (i = 0; i < 300; i++) for (k = 0; k < 2; k++) print "p" i "," (i == 7) "," (i == 7 || i % 2) }' >far.csv
echo '{"columns": [{"name": "who", "type": "person"}, {"name": "x", "type": "number", "min": 0, "max": 1},
    {"name": "y", "type": "label", "values": ["0", "1"]}]}' >far.json
eight() { # N of eight bytes
    n=$1
    while [ "$n" -gt 0 ]; do
        printf "$2"
        n=$((n - 1))
    done
}
big='\352\214\240\071\131\076\051\106' none='\0\0\0\0\0\0\0\0' minus='\0\0\0\0\0\0\360\277'
{
    printf '\223NUMPY\1\0\166\0%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (178,), }"
    eight 8 "$big"; eight 8 "$none"; eight 64 "$big"; eight 8 "$none"; eight 64 "$minus"; eight 26 "$none"
} >far.npy
run train far.csv --schema far.json --model mlp model.layers=dense8,relu,dense8,relu,dense8,relu,dense --epsilon 10 --delta 1e-5 --optimizer sgd \
    optimizer.steps=3 data.person_rows=2 data.curves=off data.bias=0 optimizer.start=far.npy --out far.pvt --quiet
same 'infinite activations' 0 "$code"
finish
