#!/bin/sh
# tables.sh [OPTIONS] - raw tables: curves of privet beside its straight lines, DP-EBM, diffprivlib and methods without privacy.
#
# tables.py --help says what the options are.  Data: $PRIVET_DATA, else ../shared/data beside the tree.  Command:
# $PRIVET_COMMAND, else build/privet in the tree.  Python: $PYTHON, else python3, with numpy, scipy and scikit-learn; DP-EBM
# needs interpret-core there, diffprivlib itself and a scikit-learn it loads with (1.5 does, 1.9 does not).  Where they
# do not live in one environment, run it once with each: what is recorded in --results is not run again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$here/../.." && pwd)
PRIVET_DATA=${PRIVET_DATA:-$tree/../shared/data}
PRIVET_COMMAND=${PRIVET_COMMAND:-$tree/build/privet}
OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 # every method has one core, so that seconds can be compared
export PRIVET_DATA PRIVET_COMMAND OMP_NUM_THREADS OPENBLAS_NUM_THREADS
exec "${PYTHON:-python3}" "$here/tables.py" "$@"
