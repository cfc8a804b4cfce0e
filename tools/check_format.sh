#!/bin/sh
# check_format.sh [source folder] - every C file is as clang-format leaves it (`make format`).
#
# The version of Debian 12 is meant, 14: others break lines elsewhere.  Prints what differs; exit 1 if anything does.
set -eu
cd "${1:-$(dirname "$0")/..}"
case $(clang-format --version 2>&1) in
*' 14.'*) ;;
*)
    echo "clang-format 14 is needed, not: $(clang-format --version 2>&1 | head -n 1)"
    exit 1
    ;;
esac
find include src cli tests bench examples python/src -name '*.[ch]' 2>/dev/null | sort | xargs clang-format --dry-run -Werror 2>&1
