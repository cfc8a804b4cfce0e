# optimizer=auto: which optimiser and which rows, by public quantities alone; what is set by hand stays as it was.
. "$PRIVET_SOURCE/tests/cli/lib.sh"

becomes() { # what the plan says, settings...
    wanted=$1
    shift
    ok plan --quiet "$@"
    check "$*: $wanted" grep -q "^optimizer  *$wanted" out
}
becomes 'tr, 16 steps' --rows 100000 --features 30
becomes 'tr, 8 steps' --rows 600000 --features 54
becomes 'tr, 16 steps' --rows 10000000 --features 6
becomes 'tr, 16 steps' --rows 40000 --features 22 --epsilon 0.1
becomes 'pgd' --rows 500 --features 10
becomes 'pgd' --rows 20000 --features 20 --epsilon 0.1
becomes 'pgd' --rows 26000 --features 123
becomes 'pgd' --rows 100000 --features 30 reg=l1 reg.lambda=0.01
becomes 'pgd' --rows 100000 --features 30 set=l2ball set.radius=5
becomes 'pgd' --rows 100000 --features 30 --model hinge
becomes 'pgd' --rows 100000 --features 30 data.y_min=0 data.y_max=1
becomes 'pgd' --rows 100000 --features 30 data.labels=a,b,c
becomes 'pgd' --rows 100000 --features 30 --privacy off
becomes 'pgd, 9 steps' --rows 100000 --features 30 optimizer.steps=9
becomes 'pgd' --rows 100000 --features 30 clip=1
becomes 'sgd' --rows 100000 --features 30 --model mlp

batch() { # expected rows of a sample, settings...
    wanted=$1
    shift
    ok plan --quiet --json "$@"
    same "batch of $*" "$wanted" "$(sed -n 's/^  "batch": \(.*\),/\1/p' out)"
}
batch 14293 --rows 1000000 --features 600
batch 6452 --rows 100000 --features 600
batch 62002 --rows 10000000 --features 192
batch 1000000 --rows 1000000 --features 600 --relation replace
batch 1000000 --rows 1000000 --features 600 --optimizer pgd
batch 20000 --rows 20000 --features 600

# The certificate names what was chosen, and verifies; the same by name gives the same weights.
privet demo d >/dev/null 2>&1
ok train d/demo_train.csv --schema d/demo.schema.json data.curves=off --quiet --out m.pvt
ok verify m.pvt --certificate c.json
check 'the optimiser by name' grep -q '"optimizer": "tr"' c.json
run train d/demo_train.csv --schema d/demo.schema.json data.curves=off --quiet --seed 1 --out a.pvt
run train d/demo_train.csv --schema d/demo.schema.json data.curves=off --quiet --seed 1 --optimizer tr optimizer.steps=16 --out b.pvt
run export a.pvt --out a.npy
run export b.pvt --out b.npy
check 'the same weights by name' cmp a.npy b.npy
# Whether noise leaves anything to be learned is said before a row is read.
run plan --rows 20000 --features 20 --epsilon 0.01
has err 'noise is likely to outweigh what can be learned (signal to noise about 0.71)'
ok plan --quiet --json --rows 20000 --features 20 --epsilon 1
check 'signal to noise' grep -q '^  "signal_to_noise": [0-9]' out

# Clips of squared errors are a part of the label's range, the smaller the more noise; by name they are all of it.
clip() { # wanted, settings...
    wanted=$1
    shift
    ok plan --quiet --json --rows 20000 --features 20 data.y_min=-2 data.y_max=14 "$@"
    same "clip of $*" "$wanted" "$(sed -n 's/.*"clip": *\([^,]*\),.*/\1/p' out)"
}
clip 4 --epsilon 4
clip 1 --epsilon 0.02
clip '"auto"' --epsilon 0.02 --optimizer pgd
clip '"auto"' --epsilon 0.02 optimizer.steps=100
clip '"auto"' --privacy off
clip 3 --epsilon 4 clip=3
run plan --rows 20000 --features 20 data.y_min=-2 data.y_max=14 --epsilon 0.02 --optimizer pgd
has err 'clip = 14: the largest gradient at the start'

# Shrunk weights name the same classes, and none are shrunk where the optimiser is named.
ok plan --quiet --json --rows 20000 --features 20 --epsilon 0.1
check 'a factor by auto' sh -c 'grep -q "optimizer.shrink\": *0\.4" out'
ok plan --quiet --json --rows 20000 --features 20 --epsilon 0.1 --optimizer pgd
check 'none by name' sh -c 'grep -q "optimizer.shrink\": *1[,}]" out'
finish
