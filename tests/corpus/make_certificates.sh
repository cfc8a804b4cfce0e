#!/bin/sh
# make_certificates.sh PRIVET FOLDER - certificates of every optimiser, relation and sampler, model, penalty, set,
# mirror map, accountant and sequence of noise, and three small model files, made by the given command.
#
# What a version of the format writes is kept for ever: certificates-v2 was made by the last command that wrote
# version 2, certificates-v3 by the first that wrote version 3; what came later was added by the first command that
# had it.  tests/unit/cert/test_corpus.c verifies them all.
set -eu
privet=$(realpath "$1")
mkdir -p "$2"
folder=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
HOME=$work
export HOME

# 600 rows of three numbers in [-1, 1]; labels -1 and +1, 0 to 2, or a number.
rows() { # binary|classes|number
    awk -v kind="$1" 'BEGIN { s = 7; for (i = 0; i < 600; i++) {
        for (j = 1; j <= 3; j++) { s = (s * 16807) % 2147483647; x[j] = int(s % 2001) / 1000 - 1 }
        v = x[1] - 0.5 * x[2] + 0.1 * x[3]
        y = kind == "binary" ? (v > 0 ? "+1" : "-1") : kind == "classes" ? (v > 0.3) + (v > -0.3) : v / 2
        printf "%s 1:%.3f 2:%.3f 3:%.3f\n", y, x[1], x[2], x[3] } }'
}
be32() { printf "\\$(printf '%03o' $(($1 / 256)))\\$(printf '%03o' $(($1 % 256)))"; }
images() { # SIDE COUNT: a bright column whose place tells the class
    printf '\0\0\10\3\0\0'; be32 "$2"; printf '\0\0'; be32 "$1"; printf '\0\0'; be32 "$1"
    awk -v side="$1" -v n="$2" 'BEGIN { for (i = 0; i < n; i++) for (r = 0; r < side; r++) for (c = 0; c < side; c++)
        printf "%c", c == i % 3 * 3 ? 100 : 7 }'
}
labels() { # COUNT
    printf '\0\0\10\1\0\0'; be32 "$1"
    awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "%c", 48 + i % 3 }' | tr '012' '\000\001\002'
}
# shellcheck disable=SC2094  # the function does not read the file of its name
{
    rows binary >binary
    rows classes >classes
    rows number >number
}
images 12 200 >small-images-idx3-ubyte
labels 200 >small-labels-idx1-ubyte
images 28 200 >large-images-idx3-ubyte
labels 200 >large-labels-idx1-ubyte

made=0 delta=1e-4
cert() { # NAME DATA ARGS...: what no proof covers is refused, and left out
    name=$1 data=$2
    shift 2
    if "$privet" train "$data" --quiet --delta "$delta" --out m.pvt --certificate "$folder/$name.json" "$@" \
        data.features="$(case $data in *idx*) echo auto ;; *) echo 3 ;; esac)" 2>err; then
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
        for optimizer in adam fw-l2 gd-sosp pgd pmd sgd str tr; do
            set=
            case $optimizer in fw-l2) set='set=l2ball' ;; esac
            # shellcheck disable=SC2086  # words
            cert "$optimizer-$relation-$sampler" binary optimizer=$optimizer $set sampler=$sampler $batch \
                budget.relation=$relation optimizer.steps=12
        done
        # shellcheck disable=SC2086
        cert "sbcd-$relation-$sampler" classes optimizer=sbcd model.layers=dense4,relu,dense data.labels=0,1,2 \
            sampler=$sampler $batch budget.relation=$relation optimizer.epochs=3
    done
    cert "fw-l1-$relation" binary optimizer=fw-l1 set=l1ball budget.relation=$relation optimizer.steps=12
    cert "fw-l1-max-$relation" binary optimizer=fw-l1 set=l1ball data.norm=max budget.relation=$relation
done
cert output-perturbation binary optimizer=output-perturbation reg=l2 reg.lambda=0.1
cert prgd-replace binary optimizer=prgd --relation replace optimizer.steps=5

for loss in logistic sigmoid hinge; do cert "model-$loss" binary model=$loss; done
for loss in squared huber tukey; do cert "model-$loss" number model=$loss data.y_min=-1 data.y_max=1; done
cert model-softmax classes model=softmax data.labels=0,1,2
cert model-softmax-tr classes model=softmax data.labels=0,1,2 optimizer=tr optimizer.steps=5
cert model-mlp classes model=mlp:dense4,relu,dense data.labels=0,1,2 sampler.batch=150 optimizer.steps=10
cert model-split-mlp classes model=split-mlp:dense4,relu,dense data.labels=0,1,2 sampler.batch=150 optimizer.epochs=3
cert model-cnn small-images-idx3-ubyte model=cnn:conv2x3,relu,pool2,dense sampler.batch=50 optimizer.steps=5
cert model-mnist-cnn large-images-idx3-ubyte model=mnist-cnn sampler.batch=50 optimizer.steps=2
cert model-cifar-cnn small-images-idx3-ubyte model=cifar-cnn model.layers=conv2x5same,relu,pool3s2,flatten,dense \
    sampler.batch=50 optimizer.steps=2
cert data-scatter large-images-idx3-ubyte model=softmax data.transform=scatter
for clipping in flat layer automatic; do
    cert "clipping-$clipping" classes model=mlp:dense4,relu,dense data.labels=0,1,2 model.clipping=$clipping \
        sampler.batch=150 optimizer.steps=10
done
cert layers-clips classes model=mlp:dense4,relu,dense data.labels=0,1,2 model.clipping=layer model.clips=0.3,0.4 \
    sampler.batch=150 optimizer.steps=10 optimizer.smoothing=1,0 optimizer.smoothing_order=pixels
cert layers-clips-less classes model=mlp:dense4,relu,dense data.labels=0,1,2 model.clipping=layer model.clips=0.3,0.4 \
    clip=0.1 sampler.batch=150 optimizer.steps=10 reg=l2 reg.layers=2,0
cert layers-rho classes model=split-mlp:dense4,relu,dense data.labels=0,1,2 sampler=cyclic sampler.batch=150 \
    optimizer.epochs=30 optimizer.output=last optimizer.momentum=0 optimizer.step=0.1 reg=l2 reg.lambda=0.5 \
    reg.layers=3,2 optimizer.rho=2,3 model.clips=0.1,0.2
for reg in none l2 l1 elastic nonconvex; do cert "reg-$reg" binary reg=$reg; done
for set in l2ball l1ball linfball box simplex; do cert "set-$set" binary set=$set; done
printf '1 0 0 0\n0 1 0 0\n-1 0 0 0\n0 -1 1 1\n' >vertices
cert set-polytope binary optimizer=fw-l1 set=polytope set.vertices=vertices
for mirror in euclidean entropy pnorm; do
    cert "mirror-$mirror" binary optimizer=pmd optimizer.mirror=$mirror \
        set="$(case $mirror in euclidean) echo l2ball ;; entropy) echo simplex ;; *) echo l1ball ;; esac)"
done
for accountant in gaussian zcdp rdp pld; do cert "accountant-$accountant" binary accountant=$accountant; done
for accountant in rdp pld; do
    cert "accountant-$accountant-poisson" binary accountant=$accountant optimizer=sgd sampler.batch=150 optimizer.steps=12
done
cert accountant-compose binary accountant=compose optimizer=fw-l1 set=l1ball optimizer.steps=12
for optimizer in fw-l2 gd-sosp pgd pmd tr str; do
    set=none
    case $optimizer in fw-l2 | pmd) set=l2ball ;; esac
    cert "paper-$optimizer" binary optimizer=$optimizer optimizer.calibration=paper optimizer.steps=5 set=$set
done
cert paper-fw-l1 binary optimizer=fw-l1 set=l1ball optimizer.calibration=paper --epsilon 0.5
delta=0.1
cert paper-prgd binary optimizer=prgd optimizer.calibration=paper --relation replace clip=0.01 optimizer.steps=2
delta=1e-4
for noise in linear:2,1 ramp:3,1,2 table:1,2,3; do
    cert "noise-${noise%%:*}" classes model=split-mlp:dense4,relu,dense data.labels=0,1,2 sampler=cyclic \
        sampler.batch=150 optimizer.epochs=3 optimizer.noise=$noise optimizer.output=last optimizer.momentum=0
done
cert sbcd-hidden classes model=split-mlp:dense4,relu,dense data.labels=0,1,2 sampler=cyclic sampler.batch=150 \
    optimizer.epochs=30 optimizer.output=last optimizer.momentum=0 optimizer.step=0.1 reg=l2 reg.lambda=1
cert sbcd-hidden-equal classes model=split-mlp:dense4,relu,dense data.labels=0,1,2 sampler=cyclic sampler.batch=150 \
    optimizer.epochs=30 optimizer.output=last optimizer.momentum=0 optimizer.step=0.1 reg=l2 reg.lambda=1 \
    optimizer.schedule=constant optimizer.warmup=0
cert schedule-within binary optimizer=sgd sampler.batch=150 optimizer.steps=10 optimizer.noise=cosine:3,1 \
    optimizer.noise_within=table:1,2 optimizer.schedule=inverse-sqrt:5
cert schedule-step binary optimizer=pgd optimizer.steps=12 optimizer.noise=step:exponential:4,1 \
    optimizer.schedule=drops:4,8 optimizer.warmup=0.2 optimizer.share=0.2
cert schedule-select binary optimizer=fw-l1 set=l1ball optimizer.steps=12 optimizer.noise=linear:4,1
cert schedule-sosp binary optimizer=gd-sosp optimizer.steps=12 optimizer.noise=linear:4,1 optimizer.schedule=cosine
cert schedule-prgd binary optimizer=prgd --relation replace optimizer.steps=5 optimizer.schedule=inverse
for weight in 0.1 10; do cert "weight-$weight" binary optimizer=tr optimizer.weight=$weight; done
cert str2-sizes binary optimizer=str2 optimizer.steps=12 sampler.batch=150 sampler.batch_hessian=60
cert str2-replace binary optimizer=str2 optimizer.steps=12 sampler=fixed sampler.batch=60 sampler.batch_hessian=150 --relation replace
cert str2-paper binary optimizer=str2 optimizer.steps=5 sampler.batch=150 sampler.batch_hessian=60 optimizer.calibration=paper
cert str2-full classes model=softmax data.labels=0,1,2 optimizer=str2 optimizer.steps=5 sampler=full
cert tr-share binary optimizer=tr --epsilon 2
cert tr-growth binary optimizer=tr --epsilon 2 optimizer.steps=12 optimizer.growth=8
cert epsilon-0.1 binary --epsilon 0.1
cert epsilon-8.5 binary --epsilon 8.5
cert epsilon-40 binary --epsilon 40
cert noise-by-hand binary budget.noise_multiplier=20 --epsilon 5
cert clip-by-hand binary clip=0.25
cert row-norm binary data.row_norm=2 data.bias=0
cert rows-declared binary data.rows=600
cert measured-classes classes model=softmax data.labels=0,1,2 data.measured=classes
cert sparse binary data.layout=sparse
for start in zero random:0.1; do cert "start-${start%%:*}" binary optimizer.start=$start; done
"$privet" train binary --privacy off --quiet --out start.pvt
"$privet" export start.pvt --out start.npy --quiet >start.txt 2>&1
cert start-file binary optimizer.start=start.npy
cert sparse-fixed binary data.layout=sparse --relation replace optimizer=sgd sampler=fixed sampler.batch=150 optimizer.steps=12

printf '{"header": true, "columns": [{"name": "a", "type": "number", "min": -1, "max": 1}, %s %s' \
    '{"name": "b", "type": "category", "values": ["x", "y"]},' \
    '{"name": "c", "type": "label", "values": ["no", "yes"]}]}' >table.schema.json
{ echo a,b,c; awk 'BEGIN { for (i = 0; i < 200; i++) print (i % 21) / 10 - 1 "," (i % 3 ? "x" : "y") "," (i % 21 > 10 ? "yes" : "no") }'; } >table.csv
"$privet" train table.csv --schema table.schema.json --delta 1e-4 --quiet --out "$folder/table.pvt"
for curves in auto 4 off; do
    "$privet" train table.csv --schema table.schema.json --delta 1e-4 --quiet data.curves=$curves --out m.pvt \
        --certificate "$folder/curves-$curves.json" >said 2>&1
    made=$((made + 1))
done
"$privet" train table.csv --schema table.schema.json --delta 1e-4 --quiet data.curves=6 data.knots_share=0.1 --out m.pvt \
    --certificate "$folder/knots.json" >said 2>&1
made=$((made + 1))
"$privet" train binary --delta 1e-4 --quiet optimizer=tr optimizer.steps=12 --out "$folder/tr.pvt"
"$privet" train small-images-idx3-ubyte model=cnn:conv2x3,relu,pool2,dense sampler.batch=50 optimizer.steps=5 \
    --delta 1e-4 --quiet --out "$folder/cnn.pvt"
for relation in zero-out replace; do
    "$privet" eval "$folder/table.pvt" table.csv --epsilon 0.5 --delta 1e-4 --relation $relation --quiet \
        --certificate "$folder/evaluation-$relation.json" >said 2>&1
    made=$((made + 1))
done
echo "$made certificates"
