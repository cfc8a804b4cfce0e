# Public data sets, when they are there: the whole path, as a reader of the README would type it.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
data=${PRIVET_DATA:-$PRIVET_SOURCE/../shared/data}
[ -f "$data/ijcnn1/ijcnn1.tr.bz2" ] || skip "no data in \$PRIVET_DATA or $data"

ok train "$data/ijcnn1/ijcnn1.tr.bz2" --model logistic --optimizer pgd --epsilon 1 --delta 1e-5 --out m.pvt --quiet
ok verify m.pvt
ok eval m.pvt "$data/ijcnn1/ijcnn1.t.bz2" --json
has out '"accuracy"'
accuracy=$(sed -n 's/^ *"accuracy": \([^,]*\),$/\1/p' out)
baseline=$(sed -n 's/^ *"majority": \([^,]*\),$/\1/p' out)
check "accuracy $accuracy is above the baseline $baseline" awk "BEGIN { exit !($accuracy > $baseline) }"

[ -f "$data/adult/a9a.bz2" ] || finish
ok train "$data/adult/a9a.bz2" --features 123 --epsilon 1 --delta 1e-6 --out a.pvt --quiet
ok verify a.pvt
ok eval a.pvt "$data/adult/a9a.t.bz2" --json
accuracy=$(sed -n 's/^ *"accuracy": \([^,]*\),$/\1/p' out)
check "accuracy $accuracy on a9a is above 0.82" awk "BEGIN { exit !($accuracy > 0.82) }"

[ -f "$data/mnist/train-images-idx3-ubyte.gz" ] || finish
ok train "$data/mnist/train-images-idx3-ubyte.gz" --optimizer sgd --features 784 --epsilon 0.3 --delta 1e-5 --out i.pvt --quiet
ok eval i.pvt "$data/mnist/t10k-images-idx3-ubyte.gz" --json
accuracy=$(sed -n 's/^ *"accuracy": \([^,]*\),$/\1/p' out)
check "accuracy $accuracy on MNIST is above 0.87" awk "BEGIN { exit !($accuracy > 0.87) }"
finish
