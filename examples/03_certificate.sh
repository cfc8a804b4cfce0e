#!/bin/sh
# 03_certificate.sh - anybody can check the claim, nobody can improve it by hand.
#
# usage: 03_certificate.sh FOLDER, where FOLDER is what `privet demo FOLDER` made
set -eu
privet verify "$1/model.pvt" --certificate "$1/certificate.json" # no data needed

# Claim a tenth of the epsilon.
sed 's/^\( *"epsilon": *\)[0-9.e-]*/\10.1/' "$1/certificate.json" >"$1/forged.json"
echo
if privet verify "$1/forged.json"; then
    echo 'a forged certificate was accepted' >&2
    exit 1
fi
echo 'the forged certificate was refused'
