# tools/bootstrap.sh on machines that are not there: fake dpkg-query, apt-get, id and sudo.
. "$PRIVET_SOURCE/tests/cli/lib.sh"

bin=$work/bin
mkdir "$bin"
for tool in sh sort mktemp rm cat env grep; do ln -s "$(command -v $tool)" "$bin/$tool"; done

fake() { # NAME BODY
    printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}

boot() { # ARGS: runs bootstrap.sh with nothing but the fakes on its path
    checks=$((checks + 1))
    code=0
    rm -f calls
    PATH=$bin CALLS=$work/calls "$bin/sh" "$PRIVET_SOURCE/tools/bootstrap.sh" "$@" >out 2>err || code=$?
}

fake dpkg-query 'for p; do :; done; case " $ABSENT " in *" $p "*) exit 1 ;; esac; echo installed'
fake apt-get 'echo "$@" >>"$CALLS"; exit ${APT_FAILS:-0}'
fake id 'echo ${FAKE_UID:-0}'
ABSENT='' FAKE_UID=0
export ABSENT FAKE_UID

boot
same 'nothing missing: exit code' 0 "$code"
same 'nothing missing: output' '' "$(cat out err)"
check 'nothing missing: apt-get is left alone' test ! -e calls

ABSENT='cmake libsodium-dev'
boot
same 'as root: exit code' 0 "$code"
same 'as root: what it says' 'bootstrap: installing cmake libsodium-dev' "$(cat out err)"
same 'as root: update first, then only what is missing' "-qq -o DPkg::Lock::Timeout=300 update
-qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends cmake libsodium-dev" "$(cat calls)"

ABSENT='gcovr'
boot gcovr
same 'a named package' 'bootstrap: installing gcovr' "$(cat out err)"

# Another architecture is made known before it is asked for, once.
fake dpkg 'case $1 in --print-foreign-architectures) echo $FOREIGN ;; *) echo "dpkg $*" >>"$CALLS" ;; esac'
ABSENT='zlib1g-dev:arm64' FOREIGN=''
export FOREIGN
boot zlib1g-dev:arm64
same 'a package of another architecture' "dpkg --add-architecture arm64
-qq -o DPkg::Lock::Timeout=300 update
-qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends zlib1g-dev:arm64" "$(cat calls)"
FOREIGN=arm64
boot zlib1g-dev:arm64
check 'which is known' sh -c '! grep -q ^dpkg calls'

# Arb: where there is such a package, and where there is none because FLINT has it.
ABSENT='libflint-arb-dev'
boot
same 'no package of that name: nothing to do' '' "$(cat out err)"
fake apt-cache 'test "$2" = libflint-arb-dev'
boot
same 'Arb is missing' 'bootstrap: installing libflint-arb-dev' "$(cat out err)"
fake apt-cache 'test -e "$CALLS"'
ABSENT='cmake libflint-arb-dev'
boot
same 'lists that come with the update' "install -y --no-install-recommends cmake libflint-arb-dev" \
    "$(sed -n 's/.*Timeout=300 install/install/p' calls)"
rm "$bin/apt-cache"

ABSENT=cmake APT_FAILS=1
export APT_FAILS
boot
same 'apt-get fails: exit code' 1 "$code"
same 'apt-get fails: message' 'bootstrap: apt-get update failed' "$(cat err)"
APT_FAILS=0

FAKE_UID=1000
boot
same 'neither root nor sudo: exit code' 1 "$code"
same 'neither root nor sudo: message' \
    'bootstrap: missing: cmake; run as root, or install sudo, or: apt-get install cmake' "$(cat err)"
check 'neither root nor sudo: apt-get is left alone' test ! -e calls

fake sudo 'echo sudo >>"$CALLS"; exec "$@"'
boot
same 'through sudo: exit code' 0 "$code"
same 'through sudo: both calls' 2 "$(grep -c sudo calls)"

rm "$bin/apt-get"
boot
same 'no apt-get: exit code' 1 "$code"
check 'no apt-get: says what to install' grep -q 'apt-get not found; install a C compiler' err
finish
