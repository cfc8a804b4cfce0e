# Block coordinate descent from the made-up table to a verified model, both guarantees told apart, and what is refused.
# shellcheck disable=SC2086  # settings are lists of words
. "$PRIVET_SOURCE/tests/cli/lib.sh"

ok synth table rows=1200 heldout=300 seed=5
has out 'table/madelon_train.csv, 1200 rows'
cp table/madelon_train.csv first
ok synth table rows=1200 heldout=300 seed=5
check 'the same seed makes the same table' cmp first table/madelon_train.csv
fails 2 'privet: rows, heldout and seed are whole numbers' synth table rows=many
fails 2 'privet: synth has no setting row; there is rows, heldout and seed' synth table row=5
data='table/madelon_train.csv --schema table/madelon.schema.json --optimizer sbcd --delta 1e-5 --quiet'
small=model.layers=dense20,relu,dense20,relu,dense

# Poisson batches: one guarantee.
ok train $data --epsilon 4 $small optimizer.epochs=2 sampler.batch=300 --out m.pvt
has out 'split-mlp'
ok verify m.pvt --certificate c.json
has c.json '"conditional": null'
ok eval m.pvt table/madelon_test.csv
has out 'accuracy'

# Batches in a fixed order, noise that falls, an l2 prox: the second one is there, and is not the headline.
ok train $data --epsilon 4 $small optimizer.epochs=4 sampler=cyclic sampler.batch=300 optimizer.noise=linear:2,1 \
    reg=l2 reg.lambda=0.1 optimizer.step=0.01 optimizer.momentum=0 optimizer.output=last --out m.pvt
has out 'epsilon 4 at delta 1e-05'
ok verify m.pvt --certificate c.json
has out 'epsilon 4, as claimed'
has c.json '"guarantee": "hidden-state"'
has c.json '"charged": false'
has c.json '"noise_multiplier_max"'
ok train $data --epsilon 4 $small optimizer.epochs=4 sampler=cyclic sampler.batch=300 optimizer.output=last --out m.pvt
ok verify m.pvt --certificate c.json
has c.json '"conditional": null'

# The second number is told where it is the smaller one, and only there.
many="table/madelon_train.csv --schema table/madelon.schema.json --optimizer sbcd --epsilon 4 $small sampler=cyclic
    sampler.batch=300 reg=l2 optimizer.momentum=0 optimizer.output=last --out m.pvt"
run train $many optimizer.epochs=60 reg.lambda=10 optimizer.step=0.01
has err 'who sees nothing but the last weights: epsilon'
run train $many optimizer.epochs=1 reg.lambda=0.1 optimizer.step=0.01
check 'a larger second number is not told' sh -c '! grep -q "last weights" err'

# split-mlp brings its optimiser, and a network no larger than mlp's.
ok train table/madelon_train.csv --schema table/madelon.schema.json --model split-mlp optimizer.epochs=1 --out m.pvt --quiet
has out 'split-mlp with 1,733 weights'
has out 'sbcd'

# What the passes cost, one after the other.
ok curve sbcd z=5 batches=5 epochs=20 step=0.01 smooth=50 shrink=5 delta=1e-5 noise=constant+linear:4,1 --svg f.svg
has out 'linear:4,1'
grep -c '<polyline' f.svg >lines
same 'two schedules in two panels' 4 "$(cat lines)"
ok curve sbcd z=5 epochs=3 step=0.01 smooth=50 delta=1e-5 --json
has out '"hidden_state_rate"'
fails 2 'privet: sbcd needs z=..., a number above 0' curve sbcd epochs=3 step=0.01 smooth=50 delta=1e-5
fails 2 'privet: unknown setting epoch; did you mean epochs?' curve sbcd z=5 epoch=3 step=0.01 smooth=50 delta=1e-5
fails 2 'privet: epochs=30001 of 1 batches: 30000 steps in all at most' curve sbcd z=5 epochs=30001 step=0.01 smooth=50 delta=1e-5
fails 2 'privet: delta 2 is not in [1e-200, 0.999999999999] and not 0' curve sbcd z=5 epochs=3 step=0.01 smooth=50 delta=2
fails 2 'privet: noise multiplier 1e+17 is not in [1e-06, 1e+16]' curve sbcd z=1e17 epochs=3 step=0.01 smooth=50 delta=1e-5

# Without noise, and on cross-entropy.
ok train $data --privacy off --model mlp:dense20,relu,dense model.loss=cross-entropy optimizer.steps=5 --out m.pvt
has out 'NOT PRIVATE'

fails 2 'privet: model: layer 2 (tanh): training block by block is for dense layers and convolutions with relu between them, such as dense200,relu,dense200,relu,dense' train $data --model mlp:dense4,tanh,dense
fails 2 'privet: optimizer.noise=linear:1,-1: the variance is 0 in epoch 2 of 3, and must be above 0 in every one' train $data sampler.batch=300 optimizer.epochs=3 optimizer.noise=linear:1,-1
fails 2 'privet: optimizer.noise=wavy: not a schedule; there is constant[:O], linear:FROM,TO, cosine:FROM,TO, exponential:FROM,TO, ramp:FROM,TO,M, table:O0,O1,...' train $data optimizer.noise=wavy
fails 2 'privet: sampler.batch=1201 is more than the 1200 rows there are' train $data sampler.batch=1201
fails 2 "privet: optimizer.rho=0: a number, or one for each layer, between 1e-06 and 1000000 is needed (rho, bound on every layer's spectral norm; or one for each layer)" train $data optimizer.rho=0
fails 2 'privet: optimizer.epochs=2 means 8 steps, and optimizer.steps=9: leave one out' train $data sampler.batch=300 optimizer.epochs=2 optimizer.steps=9
fails 2 "privet: optimizer.rho=3,-3: a number, or one for each layer, between 1e-06 and 1000000 is needed (rho, bound on every layer's spectral norm; or one for each layer)" train $data optimizer.rho=3,-3
# Per layer: bounds, factors of the penalty, clipping norms; together they are clipped to the root of the squares.
ok train $data --epsilon 4 $small optimizer.epochs=2 sampler.batch=300 optimizer.rho=1,2,3 reg=l2 reg.layers=1,0,2 \
    model.clips=0.1,0.2,0.2 --out m.pvt
ok verify m.pvt --certificate c.json
has c.json '"optimizer.rho": "1,2,3"'
has c.json '"reg.layers": "1,0,2"'
has c.json '"model.clips": "0.1,0.2,0.2"'
has c.json '"clip_norm": 0.3'
fails 2 'privet: optimizer.rho has 2 numbers, and the network has 3 layers with weights' train $data $small optimizer.rho=1,2
fails 2 'privet: reg.layers has 2 numbers, and the network has 3 layers with weights' train $data $small reg=l2 reg.layers=1,2
fails 2 'privet: reg.layers are factors of a penalty, and there is none: add reg=l2' train $data $small reg.layers=1,2,1
fails 2 'privet: model.clips has 1 norms, and the network has 3 layers with weights' train $data $small model.clips=1

run train $data clip=0
same 'a clip of 0 is refused' 2 "$code"
run train $data --model softmax
same 'sbcd needs a network' 2 "$code"
has err 'a network of dense layers and relu: model=mlp'
rm -rf table first m.pvt c.json f.svg lines
only_files
finish
