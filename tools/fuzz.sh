#!/bin/sh
# fuzz.sh replay|grow SECONDS BUILD - every harness of tests/fuzz over its corpus, two at a time.
#
#   replay   the files of tests/fuzz/corpus/HARNESS, then edits of them until SECONDS are over; nothing is kept.  The edits
#            follow from the commit, so that what one machine finds another finds again
#   grow     the same with other edits each time, and what reaches more of the code is kept: of all inputs, the smallest
#            ones that together reach everything replace the corpus, at most $most files of $bytes bytes each
# BUILD is a folder built by clang with PRIVET_FUZZ (tests/fuzz/CMakeLists.txt).  An input that fails is left in BUILD/crashes,
# and the exit code is 1.
set -eu
most=40 bytes=1024
source=$(cd "$(dirname "$0")/.." && pwd)

one() { # what, seconds, build, harness
    name=${4##*/fuzz_}
    corpus=$source/tests/fuzz/corpus/$name
    work=$3/fuzz-work/$name
    rm -rf "$work"
    mkdir -p "$corpus" "$work/new" "$work/least" "$work/seeds" "$3/crashes"
    [ ! -d "$3/fuzz-seeds/$name" ] || [ "$1" != grow ] || cp "$3/fuzz-seeds/$name"/* "$work/seeds/"
    seed=0 # libFuzzer: from the clock
    [ "$1" = grow ] || seed=$((0x$(git -C "$source" rev-parse --short=7 HEAD 2>/dev/null || echo 1) + 1))
    if ! "$4" -seed="$seed" -max_total_time="$2" -max_len=4096 -timeout=60 -rss_limit_mb=4096 -artifact_prefix="$3/crashes/$name-" \
        -print_final_stats=1 "$work/new" "$corpus" "$work/seeds" >"$work/log" 2>&1; then
        echo "fuzz_$name: failed; the input is in $3/crashes:"
        tail -40 "$work/log"
        return 1
    fi
    printf 'fuzz_%-12s %3d files, %8d runs\n' "$name" "$(find "$corpus" -type f | wc -l)" \
        "$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/log")"
    [ "$1" = grow ] || return 0
    # Edges only: how often each was passed makes thousands of files.  What is too long is left out, then what is least.
    find "$work/new" "$work/seeds" -type f -size +"${bytes}"c -exec rm {} +
    "$4" -set_cover_merge=1 -use_counters=0 "$work/least" "$corpus" "$work/new" "$work/seeds" >"$work/log" 2>&1 || {
        tail -40 "$work/log"
        return 1
    }
    rm -f "$corpus"/*
    # shellcheck disable=SC2012  # names are hashes
    ls -S "$work/least" | head -n "$most" | while read -r file; do cp "$work/least/$file" "$corpus/"; done
    printf 'fuzz_%-12s %3d of %d files kept\n' "$name" "$(find "$corpus" -type f | wc -l)" "$(find "$work/least" -type f | wc -l)"
}

if [ "$1" = one ]; then
    shift
    one "$@"
    exit
fi
what=${1:?usage: fuzz.sh replay|grow SECONDS BUILD} seconds=${2:?how many seconds?} build=$(cd "${3:?which build folder?}" && pwd)
rm -rf "$build/fuzz-work"
[ "$what" != grow ] || sh "$source/tests/fuzz/make_corpus.sh" "$build/fuzz-seeds"
harnesses=$(find "$build/tests/fuzz" -maxdepth 1 -name 'fuzz_*' -type f -perm -u+x | sort)
[ "$(echo "$harnesses" | wc -w)" -eq "$(find "$source/tests/fuzz" -name 'fuzz_*.c' | wc -l)" ] || {
    echo "$build has not all harnesses"
    exit 1
}
# xargs goes on after a failure and says so at the end
echo "$harnesses" | xargs -P 2 -I{} sh "$0" one "$what" "$seconds" "$build" {}
