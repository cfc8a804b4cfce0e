#!/bin/sh
# 05_settings.sh - a run is its settings: write them to a file, change one, run again.
#
# usage: 05_settings.sh FOLDER, where FOLDER is what `privet demo FOLDER` made
set -eu
privet train "$1/demo_train.csv" --schema "$1/demo.schema.json" reg=l2 reg.lambda=0.001 --epsilon 0.5 \
    --dump-config "$1/run.json" --out "$1/first.pvt" --quiet
echo
privet train "$1/demo_train.csv" --config "$1/run.json" reg.lambda=0.01 --out "$1/second.pvt" --quiet
