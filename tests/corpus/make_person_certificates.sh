#!/bin/sh
# make_person_certificates.sh PRIVET FOLDER - certificates whose unit is a person, version 4: every optimiser that has a
# proof for persons, relation and sampler, models, what a person's rows are combined to, and small model files.
#
# certificates-v4 was made by the first command that wrote version 4; what came later (unit-*, model-softmax-tr, curves-*, counted-*)
# was added by the first command that had it.  tests/unit/cert/test_corpus.c verifies them all.
set -eu
privet=$(realpath "$1")
mkdir -p "$2"
folder=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
HOME=$work
export HOME

# 600 persons of one to four rows of three numbers in [-1, 1]
table() { # binary|classes|number
    awk -v kind="$1" 'BEGIN { s = 7; print "who,a,b,c,y"; for (i = 0; i < 1500; i++) {
        for (j = 1; j <= 3; j++) { s = (s * 16807) % 2147483647; x[j] = int(s % 2001) / 1000 - 1 }
        v = x[1] - 0.5 * x[2] + 0.1 * x[3]
        y = kind == "binary" ? (v > 0 ? "yes" : "no") : kind == "classes" ? (v > 0.3) + (v > -0.3) : v / 2
        printf "p%d,%.3f,%.3f,%.3f,%s\n", (i < 600 ? i : int(i * i / 7) % 600), x[1], x[2], x[3], y } }'
}
schema() { # LABEL
    printf '{"columns": [{"name": "who", "type": "person"}'
    for name in a b c; do printf ', {"name": "%s", "type": "number", "min": -1, "max": 1}' $name; done
    printf ', {"name": "y", "type": "label", %s}]}\n' "$1"
}
# shellcheck disable=SC2094  # the function does not read the file of its name
for kind in binary classes number; do table $kind >$kind; done
schema '"values": ["no", "yes"]' >binary.schema
schema '"values": ["0", "1", "2"]' >classes.schema
schema '"min": -1, "max": 1' >number.schema

made=0
cap=3
cert() { # NAME DATA ARGS...: what no proof covers is refused, and left out
    name=$1 data=$2
    shift 2
    if "$privet" train "$data" --schema "$data.schema" --rows-per-person $cap --quiet --delta 1e-4 --out m.pvt \
        --certificate "$folder/$name.json" "$@" >said 2>err; then
        made=$((made + 1))
    else
        printf 'left out: %s: %s\n' "$name" "$(cat err)"
    fi
}

for relation in zero-out replace; do
    for sampler in full poisson fixed cyclic; do
        case $relation-$sampler in zero-out-fixed) continue ;; esac # no proof
        batch=
        case $sampler in poisson | fixed | cyclic) batch=sampler.batch=150 ;; esac
        for optimizer in adam gd-sosp pgd sgd str tr; do
            # shellcheck disable=SC2086  # words
            cert "$optimizer-$relation-$sampler" binary optimizer=$optimizer sampler=$sampler $batch \
                budget.relation=$relation optimizer.steps=12
        done
    done
    cert "fw-l1-$relation" binary optimizer=fw-l1 set=l1ball budget.relation=$relation optimizer.steps=12
    cert "fw-l2-$relation" binary optimizer=fw-l2 set=l2ball budget.relation=$relation optimizer.steps=12
    cert "pmd-$relation" binary optimizer=pmd budget.relation=$relation optimizer.steps=12
    cert "str2-$relation" binary optimizer=str2 sampler=poisson sampler.batch=150 budget.relation=$relation optimizer.steps=12
done
for curves in auto 4; do cert "curves-$curves" binary data.curves=$curves; done
cert model-softmax classes model=softmax
cert model-softmax-tr classes model=softmax optimizer=tr optimizer.steps=12
cert model-squared number model=squared
cert model-mlp classes model=mlp model.layers=dense4,relu,dense optimizer.steps=20
cert persons-declared binary data.persons=600
for how in mean-rows sum-one sum-rows; do
    cert "unit-$how" binary unit.combine="${how%-*}" unit.weight="${how#*-}"
done
cap=auto
for sampler in full poisson fixed cyclic; do
    batch=
    case $sampler in poisson | fixed | cyclic) batch=sampler.batch=150 ;; esac
    # shellcheck disable=SC2086  # words
    cert "counted-replace-$sampler" binary data.person_rows_most=9 unit.weight=rows optimizer=sgd \
        sampler=$sampler $batch budget.relation=replace optimizer.steps=12
done
cert counted-zero-out binary data.person_rows_share=0.2 unit.combine=sum clip=5
cert counted-tr binary data.person_rows_share=0.2 optimizer=tr optimizer.steps=12
cap=3
cert counted-poisson binary data.person_rows_share=0.1 optimizer=adam sampler=poisson sampler.batch=150 optimizer.steps=12
cert counted-schedule binary data.person_rows_share=0.1 optimizer=sgd sampler.batch=150 optimizer.noise=linear:2,1 optimizer.steps=12
cert knots-zero-out binary data.knots_share=0.1 data.curves=6
cert knots-poisson binary data.knots_share=0.1 data.curves=6 optimizer=sgd sampler=poisson sampler.batch=150 budget.relation=replace optimizer.steps=12
cert unit-sum-clip binary unit.combine=sum clip=2
cert unit-sum-tr binary unit.combine=sum optimizer=tr optimizer.steps=12

"$privet" train binary --schema binary.schema --rows-per-person 3 --quiet --out "$folder/logistic.pvt" >said
"$privet" train classes --schema classes.schema --rows-per-person 3 --quiet model=softmax --out "$folder/softmax.pvt" >said
"$privet" eval "$folder/logistic.pvt" binary --epsilon 0.5 --quiet --certificate "$folder/evaluation.json" >said 2>&1
made=$((made + 1))
printf '%s certificates\n' "$made"
