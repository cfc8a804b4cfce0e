#!/bin/sh
# mnist_softmax.sh [PART...] - test accuracy of softmax regression on MNIST against epsilon, as CSV.
#
# delta = 1e-5, zero-out, n = 60,000, pixels minus the public constant 0.13, rows of norm 1; mean and spread of five seeds.
# Parts (all by default):
#   defaults    nothing but epsilon is set
#   smoothing   sgd with its defaults and Laplacian smoothing sigma = 0, 1, 2, 3
#   paper       sgd as in the paper's experiments: batches of 128, one pass, no momentum, last iterate, sigma = 0, 1, 2, 3
#   tuned       pgd with settings that were chosen by looking at test accuracy: optimistic
set -eu
. "$(dirname "$0")/seeds.sh"
images=$data/mnist/train-images-idx3-ubyte.gz test_images=$data/mnist/t10k-images-idx3-ubyte.gz
need "$images"
need "$test_images"
epsilons=${EPSILONS:-0.30 0.25 0.20 0.15 0.10}

line() { # part, sigma, epsilon, settings...
    part=$1 sigma=$2 epsilon=$3
    shift 3
    printf '%s,%s,%s,%s\n' "$part" "$sigma" "$epsilon" \
        "$(over_seeds "$images" "$test_images" --model softmax --epsilon "$epsilon" --delta 1e-5 data.center=0.13 \
            data.norm=unit "$@" | tr ' ' ,)"
}

each_sigma() { # part, epsilon, settings...
    part=$1 epsilon=$2
    shift 2
    for sigma in 0 1 2 3; do line "$part" $sigma "$epsilon" --optimizer sgd optimizer.smoothing=$sigma "$@"; done
}

echo part,sigma,epsilon,accuracy,spread
# shellcheck disable=SC2048  # words, and some by default
for part in ${*:-defaults smoothing paper tuned}; do
    for epsilon in $epsilons; do
        case $part in
        defaults) line defaults 0 "$epsilon" ;;
        smoothing) each_sigma smoothing "$epsilon" ;;
        paper) each_sigma paper "$epsilon" sampler.batch=128 optimizer.steps=469 optimizer.step=4 optimizer.momentum=0 \
            optimizer.output=last ;;
        tuned) line tuned 0 "$epsilon" clip=0.6 optimizer.steps=120 optimizer.momentum=0.9 \
            optimizer.step="$(awk -v e="$epsilon" 'BEGIN { print e < 0.18 ? 4 : 8 }')" ;;
        *) echo "unknown part $part" >&2 && exit 2 ;;
        esac
    done
done
