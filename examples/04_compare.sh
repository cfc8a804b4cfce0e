#!/bin/sh
# 04_compare.sh - what privacy costs in accuracy: several budgets next to no privacy at all.
#
# usage: 04_compare.sh FOLDER, where FOLDER is what `privet demo FOLDER` made
set -eu
score() { # model: accuracy and AUC on rows it has not seen
    privet eval "$1" "$folder/demo_test.csv" --json 2>/dev/null | awk -F'[:,]' '
        /"accuracy"/ { accuracy = $2 } /"auc"/ { auc = $2 } END { printf "%.4f %.4f\n", accuracy, auc }'
}
folder=$1
for epsilon in 0.1 0.3 1 3; do
    privet train "$folder/demo_train.csv" --schema "$folder/demo.schema.json" --epsilon $epsilon --out "$folder/e.pvt" --quiet >/dev/null
    echo "epsilon $epsilon: accuracy and AUC $(score "$folder/e.pvt")"
done
privet train "$folder/demo_train.csv" --schema "$folder/demo.schema.json" --privacy off --out "$folder/e.pvt" --quiet >/dev/null
echo "NOT PRIVATE: accuracy and AUC $(score "$folder/e.pvt")"
