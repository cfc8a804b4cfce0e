#!/bin/sh
# check_words.sh [source folder] - no unfinished work, no paths of one machine, no trailing blanks.
# Prints one line per offence; exit 1 if there is any.  Inputs that fuzzers made up may hold anything.
set -eu
cd "${1:-$(dirname "$0")/..}"

# Spelled in pieces so that this file does not find itself.
unfinished='TO''DO|FIX''ME|HA''CK|\bX''XX\b|not imple''mented'
local_path='/wo''rk/|/ro''ot/|/ho''me/[a-z]'
where=''
for folder in include src cli python tests bench tools docs examples cmake .ci; do
    [ -d "$folder" ] && where="$where $folder"
done
for file in CMakeLists.txt Makefile README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md; do
    [ -f "$file" ] && where="$where $file"
done

offences=$(
    # shellcheck disable=SC2086  # a list of words
    grep -rEnI --exclude-dir=corpus --exclude-dir=build --exclude-dir=__pycache__ "$unfinished|$local_path" $where | sed 's/$/   <- unfinished work, or a path of one machine/' || true
    # shellcheck disable=SC2086
    grep -rEnI --exclude-dir=build --include='*.[ch]' --include='*.sh' --include='*.py' --include='*.md' '[[:blank:]]+$' $where |
        sed 's/$/   <- blanks at the end/' || true
)
[ -z "$offences" ] && exit 0
printf '%s\n' "$offences"
exit 1
