#!/bin/sh
# networks.sh [PART...] - test accuracy of the tutorial networks, as CSV: delta = 1e-5, zero-out, Poisson batches.
#
# Parts:
#   defaults    mnist-cnn at EPSILONS (3), nothing else is set; mean and spread over SEEDS
#   mnist       mnist-cnn as in the experiments of DP-LSSGD: batches of 256, clip 1, step 0.15 (sgd) or 0.001 (adam), no
#               momentum, last iterate; sgd with smoothing 0, 1, 2, 3 and adam with 0 and 1, at noise MULTIPLIERS (10 4 1.3)
#   cifar       cifar-cnn likewise: clip 3, noise multiplier 2, sgd and adam with smoothing 0 and 1
# EPOCHS (10; cifar 1) is less than the paper's 60 so that all of it fits into an hour; epsilon is the certified one.
set -eu
. "$(dirname "$0")/seeds.sh"

line() { # part, what, rows, image, train file, test file, settings...
    part=$1 what=$2 rows=$3 image=$4 train=$5 test=$6
    shift 6
    epsilon=$("$privet" plan --rows "$rows" data.image="$image" data.labels=0,1,2,3,4,5,6,7,8,9 "$@" --delta 1e-5 --json \
        2>/dev/null | sed -n 's/^ *"epsilon": \([0-9.e-]*\).*/\1/p')
    printf '%s,%s,%s,%s\n' "$part" "$what" "$epsilon" "$(over_seeds "$train" "$test" "$@" --delta 1e-5 | tr ' ' ,)"
}

methods() { # part, rows, image, train file, test file, sigmas of sgd, settings...
    part=$1 rows=$2 image=$3 train=$4 test=$5 sigmas=$6
    shift 6
    steps=$((epochs * rows / 256))
    set -- "$@" model.augment=1 sampler.batch=256 optimizer.output=last "optimizer.steps=$steps" --epsilon 1000
    for sigma in $sigmas; do
        line "$part" "sgd sigma $sigma" "$rows" "$image" "$train" "$test" --optimizer sgd optimizer.smoothing="$sigma" \
            optimizer.step=0.15 optimizer.momentum=0 optimizer.warmup=0 "$@"
    done
    for sigma in 0 1; do
        line "$part" "adam sigma $sigma" "$rows" "$image" "$train" "$test" --optimizer adam \
            optimizer.smoothing=$sigma optimizer.step=0.001 "$@"
    done
}

mnist=$data/mnist/train-images-idx3-ubyte.gz mnist_test=$data/mnist/t10k-images-idx3-ubyte.gz
cifar=$data/cifar10 cifar_test=$data/cifar10/test_batch.bin.bz2
echo part,setting,epsilon,accuracy,spread
# shellcheck disable=SC2048  # words, and some by default
for part in ${*:-defaults mnist}; do
    case $part in
    defaults)
        need "$mnist"
        for epsilon in ${EPSILONS:-3}; do
            line "$part" "epsilon $epsilon" 60000 28x28 "$mnist" "$mnist_test" --model mnist-cnn --epsilon "$epsilon"
        done
        ;;
    mnist)
        need "$mnist"
        epochs=${EPOCHS:-10}
        for z in ${MULTIPLIERS:-10 4 1.3}; do
            methods "mnist x$z" 60000 28x28 "$mnist" "$mnist_test" "0 1 2 3" --model mnist-cnn budget.noise_multiplier="$z"
        done
        ;;
    cifar)
        need "$cifar_test"
        epochs=${EPOCHS:-1}
        methods cifar 50000 32x32x3 "$cifar" "$cifar_test" "0 1" --model cifar-cnn clip=3 budget.noise_multiplier=2
        ;;
    *) echo "unknown part $part" >&2 && exit 2 ;;
    esac
done
