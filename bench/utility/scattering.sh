#!/bin/sh
# scattering.sh PRIVET DATA mnist|cifar10 EPSILON [RUNS] - accuracy of a private softmax model on scattering features.
# DATA is the folder with mnist/ and cifar10/.  Prints one line per run (certified epsilon, accuracy on the test set),
# then mean and standard deviation.  Every run draws its own noise from the operating system.
set -eu
privet=$1 data=$2 set=$3 epsilon=$4 runs=${5:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $set:$epsilon in
    mnist:0.5) settings="clip=0.02 optimizer.steps=100 optimizer.step=1000" ;;
    mnist:*) settings="clip=0.02 optimizer.steps=200 optimizer.step=5000" ;;
    cifar10:*) settings="clip=0.02 optimizer.steps=120 optimizer.step=4000 data.scatter_groups=81" ;;
esac
case $set in
    mnist) train=$data/mnist/train-images-idx3-ubyte.gz test=$data/mnist/t10k-images-idx3-ubyte.gz ;;
    cifar10) train=$data/cifar10 test=$data/cifar10/test_batch.bin.bz2 ;;
esac
i=1
while [ $i -le "$runs" ]; do
    # shellcheck disable=SC2086  # settings is split on purpose
    "$privet" train "$train" model=softmax data.transform=scatter data.norm=unit optimizer.momentum=0.9 \
        optimizer.output=average run.threads=1 $settings --epsilon "$epsilon" --delta 1e-5 --out "$work/m.pvt" --quiet >/dev/null
    spent=$("$privet" verify "$work/m.pvt" --json | sed -n 's/^ *"epsilon": \([0-9.e-]*\).*/\1/p' | head -1)
    accuracy=$("$privet" eval "$work/m.pvt" "$test" run.threads=1 --json --quiet | sed -n 's/^ *"accuracy": \([0-9.]*\).*/\1/p')
    echo "run $i: epsilon $spent, accuracy $accuracy"
    i=$((i + 1))
done | tee "$work/lines"
awk -v s="$set" -v e="$epsilon" '{ n++; a = 100 * $NF; sum += a; square += a * a }
    END { mean = sum / n; printf "%s, epsilon %s: %.2f +- %.2f %% over %d runs\n", s, e, mean, sqrt(square / n - mean * mean), n }' "$work/lines"
