#!/bin/sh
# test_one_isa.sh - one place asks the processor what it can do, and every kernel that is built can be called.
#
# Detectors that disagree would let two parts of one run use different instruction sets; a kernel that is named by hand
# can be forgotten by its dispatcher.  So the processor is asked in src/core/isa.c only, and the names of one level are
# written in src/core/isa.h only: everybody else fills a table with PVI_EACH_ISA and takes the entry pvi_isa().
set -eu
source=${PRIVET_SOURCE:-$(dirname "$0")/../..}

offences() { # folder of the tree
    cd "$1"
    find src cli tests bench examples -name '*.[ch]' 2>/dev/null | sort | while read -r file; do
        [ "$file" != src/core/isa.c ] || continue
        grep -HnE '__builtin_cpu_(supports|is|init)|cpuid|xgetbv|getauxval' "$file" |
            sed 's/$/    <- asks the processor: pvi_isa() does (src\/core\/isa.h)/' || true
        [ "$file" = src/core/isa.h ] || grep -HnE '\bpvi?_[a-z0-9_]*_(base|avx2|avx512)\b' "$file" |
            sed 's/$/    <- names one instruction set: PVI_EACH_ISA fills a table of all/' || true
    done
    # a file that is compiled once per level offers something by the name of the level
    find src -name '*.kernel.c' | sort | while read -r file; do
        grep -qE 'PVI_ISA_NAME\(|PVI_LOSS_KERNEL\(' "$file" || echo "$file:1: no entry PVI_ISA_NAME(fn)"
        sed -n 's/.*PVI_ISA_NAME(\(pvi_[a-z0-9_]*\)).*/\1/p' "$file" | sort -u | while read -r fn; do
            grep -rqE "PVI_EACH_(ISA|NARROW)\\($fn\\)|= PVI_ISA_NAME\\($fn\\)" src || echo "$file:1: $fn is built and in no table"
        done
    done
}

found=$(offences "$source")
if [ -n "$found" ]; then
    printf '%s\n' "$found"
    exit 1
fi

# A level asks for exactly what its kernels are compiled for.
flags() {
    {
        sed -n "s/^ *privet_kernels($1 \(.*\))/\1/p" "$source/CMakeLists.txt" | tr ' ' '\n' | sed -n '/=/d; s/^-m//p'
        find "$source/src" \( -name '*.kernel.c' -o -name '*_scan.h' \) -exec sed -n 's/.*target("\([a-z0-9,]*\)").*/\1/p' {} + | tr ',' '\n'
    } | sort
}
asked() { sed -n '/^pvi_isa_level/,/^}/p' "$source/src/core/isa.c" | head -n "$1" | grep -o 'HAS("[a-z0-9]*")' | sed 's/.*"\(.*\)".*/\1/' | sort; }
if [ "$(flags avx2)" != "$(asked 3)" ] || [ "$(flags avx512)" != "$(asked 4)" ] || [ -z "$(flags avx2)" ]; then
    echo "src/core/isa.c and CMakeLists.txt name different features:"
    asked 4
    flags avx512
    exit 1
fi

# Each rule broken once.
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/src/core" "$tree/src/data" "$tree/tests"
printf '%s\n' 'return __builtin_cpu_supports("avx2");' >"$tree/src/core/isa.c"
printf '%s\n' 'if (__builtin_cpu_supports("avx2")) return 1;' >"$tree/src/data/own.c"
printf '%s\n' '#include <cpuid.h>' >"$tree/tests/test_own.c"
printf '%s\n' 'return pvi_parse_avx2;' >"$tree/src/data/pick.c"
printf '%s\n' 'void PVI_ISA_NAME(pvi_lost)(void);' >"$tree/src/data/lost.kernel.c"
printf '%s\n' 'static void f(void);' >"$tree/src/data/mute.kernel.c"
found=$(offences "$tree")
for want in src/data/own.c:1: tests/test_own.c:1: src/data/pick.c:1: 'pvi_lost is built and in no table' src/data/mute.kernel.c:1:; do
    case $found in
    *"$want"*) ;;
    *)
        printf 'not reported: %s\n%s\n' "$want" "$found"
        exit 1
        ;;
    esac
done
case $found in *src/core/isa.c*) echo "src/core/isa.c may ask" && exit 1 ;; esac
