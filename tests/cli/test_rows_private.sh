# The number of rows of one person is in nothing that leaves, whatever the run does besides: two tables that differ in it
# give the same bytes with the same seed, but for digests of the data and what covers these.  (test_persons has the plain runs.)
#   above the cap    a person's rows, all alike, 3 or 40 of them, of which 3 count
#   below the cap    rows that add nothing to any sum, 3 or 40 of them, of which 50 would count
. "$PRIVET_SOURCE/tests/cli/lib.sh"
cat >schema <<'END'
{"missing": ["?"], "columns": [{"name": "who", "type": "person"}, {"name": "a", "type": "number", "min": 0, "max": 1, "missing": "zero"},
 {"name": "w", "type": "category", "values": ["x", "y", "z"], "missing": "zero"}, {"name": "b", "type": "number", "min": 0, "max": 1,
 "missing": "zero"}, {"name": "y", "type": "label", "values": ["no", "yes"]}]}
END
table() { # ROWS of somebody, each LINE, among those of 300 others
    awk -v k="$1" -v line="$2" 'BEGIN { print "who,a,w,b,y"; srand(5)
        for (i = 0; i < 300; i++) {
            if (i == 70) for (r = 0; r < k; r++) print "nobody," line
            for (r = 0; r <= i % 4; r++) { a = rand(); b = rand(); c = substr("xyz", 1 + int(3 * rand()), 1)
                printf "p%d,%.3f,%s,%.3f,%s\n", i, a, c, b, (a + b + 0.3 * rand() > 1.1 ? "yes" : "no") } } }'
}
table 3 1,x,0.5,yes >above.3
table 40 1,x,0.5,yes >above.40
table 3 '?,?,?,no' >below.3
table 40 '?,?,?,no' >below.40
sed 's/^p/guest/; /^nobody/d' above.3 >others

# All that a run of these settings says and writes, without digests, times and the checksums that cover them.
all_of() {
    rm -f m.pvt m.json e.json log page.html w.*
    run train table --schema schema --seed 5 --out m.pvt --certificate m.json --json "$@"
    same "$*" 0 "$code"
    cat out err
    run plan table --schema schema "$@"
    cat out err
    run eval m.pvt table --epsilon 1 --seed 6 --certificate e.json
    cat out err
    for f in npy onnx; do run export m.pvt --out w.$f && cat out err && cksum w.$f; done
    run report m.pvt --out page.html
    cat out err
    run show m.pvt
    cat out err
    wc -c m.pvt m.json e.json page.html
    cat m.json e.json page.html
    [ ! -f log ] || cat log
}
plain() {
    sed 's/[0-9a-f]\{32,\}/DIGEST/g; s/"seconds[a-z_]*": [0-9.e-]*//' | grep -v checksum
}
compare() { # above or below, settings
    which=$1
    shift
    for k in 3 40; do
        cp "$which.$k" table
        all_of "$@" | plain >all.$k
    done
    check "$which: $*: $(diff all.3 all.40 | head -4)" cmp all.3 all.40
    check 'there is something to compare' test "$(wc -l <all.3)" -ge 100
}
above() { compare above --rows-per-person 3 "$@"; }
below() { compare below --rows-per-person 50 data.bias=0 data.curves=off "$@"; }

above
above optimizer=tr data.curves=4
above optimizer=sgd sampler=poisson --holdout others run.log=log run.measure=all
above optimizer=sgd sampler=fixed budget.relation=replace sampler.batch=40 data.layout=sparse
above model=mlp
above model=weighted model.prevalence=0.1 unit.combine=sum
above --holdout 0.2 --eval-epsilon 1
compare above data.person_rows_most=3 unit.weight=rows
compare above data.person_rows_most=3 data.person_rows_share=0.2 optimizer=tr
below
below optimizer=tr data.layout=dense
below optimizer=tr data.layout=sparse run.copy=0
below optimizer=str sampler.batch=200
below unit.weight=rows unit.combine=sum reg=l1 reg.lambda=0.01
below optimizer=adam sampler=cyclic sampler.batch=40 --threads 2
below optimizer=fw-l1 set=l1ball
below optimizer=tr --holdout 0.2 --eval-epsilon 1 data.layout=dense
finish
