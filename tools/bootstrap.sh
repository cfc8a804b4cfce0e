#!/bin/sh
# bootstrap.sh [package ...] - install the Debian packages privet is built with, and any named ones.
#
# Installs only what is missing, as root or through sudo; says nothing when nothing is missing.  A name such as zlib1g-dev:arm64
# is for another architecture, which is made known to dpkg first.
set -eu

packages="gcc g++ make cmake ninja-build pkg-config libsodium-dev zlib1g-dev libbz2-dev libcmocka-dev libflint-dev $*"

die() {
    printf 'bootstrap: %s\n' "$1" >&2
    exit 1
}

installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | sort -u)" = installed ]
}

# The tests in tests/checker need Arb: a package of its own up to Debian 12, later a part of FLINT.
arb_is_missing() {
    ! installed libflint-arb-dev && apt-cache show libflint-arb-dev >/dev/null 2>&1
}

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    # Another system: nothing can be installed here, but what is needed may be there already.
    if command -v cc >/dev/null 2>&1 && command -v cmake >/dev/null 2>&1 && command -v ninja >/dev/null 2>&1; then
        exit 0
    fi
    die "apt-get not found; install a C compiler, cmake, ninja, pkg-config, libsodium, zlib, bzip2 and cmocka by hand"
fi

missing=
for package in $packages; do
    installed "$package" || missing="$missing $package"
done
arb=
if arb_is_missing; then arb=" libflint-arb-dev"; fi
missing=$missing$arb
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root="env"
elif command -v sudo >/dev/null 2>&1; then
    as_root="sudo env"
else
    die "missing:$missing; run as root, or install sudo, or: apt-get install$missing"
fi

printf 'bootstrap: installing%s\n' "$missing"
for package in $missing; do
    case $package in
    *:*)
        dpkg --print-foreign-architectures | grep -qx "${package#*:}" || $as_root dpkg --add-architecture "${package#*:}" ||
            die "dpkg --add-architecture ${package#*:} failed"
        ;;
    esac
done
apt="$as_root DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086  # both are lists of words
$apt update >"$log" 2>&1 || { cat "$log" >&2; die "apt-get update failed"; }
if [ -z "$arb" ] && arb_is_missing; then missing="$missing libflint-arb-dev"; fi # known only now
# shellcheck disable=SC2086
$apt install -y --no-install-recommends $missing >"$log" 2>&1 || { cat "$log" >&2; die "apt-get install failed"; }
