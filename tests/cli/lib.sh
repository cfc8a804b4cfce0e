# lib.sh - for the command's tests: run it in a folder of its own, compare stdout, stderr and exit code exactly.
#
#   ok ARGS...                       exits 0, says nothing on stderr; stdout is left in $work/out
#   warns 'line' ARGS...             exits 0, exactly this warning on stderr
#   fails CODE 'privet: line' ARGS   exits CODE, nothing on stdout, exactly this one line on stderr
#   check 'what' CONDITION...        any other command that must succeed
#   python_with MODULE...            sets python to one that has these packages, or skips the test
#   in_browser PAGE                  shows a page in headless Chromium: see below
#   finish                           last line of a test
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
HOME=$work XDG_CONFIG_HOME=$work/.config LC_ALL=C
export HOME XDG_CONFIG_HOME LC_ALL
bad=0 checks=0

problem() {
    bad=$((bad + 1))
    printf 'FAILED: %s\n' "$1"
}

privet() {
    "$PRIVET_COMMAND" "$@"
}

run() { # ARGS...: sets code
    checks=$((checks + 1))
    code=0
    "$PRIVET_COMMAND" "$@" >out 2>err || code=$?
    # The lines that a log gets after half a minute depend on the machine alone; test_progress looks at them.
    ! grep -q '^privet: [a-z ]* [0-9]*%' err || sed -i '/^privet: [a-z ]* [0-9]*%/d' err
}

ok() {
    run "$@"
    [ "$code" -eq 0 ] || problem "privet $*: exit code $code, wanted 0: $(cat err)"
    [ ! -s err ] || problem "privet $*: unexpected stderr: $(cat err)"
}

warns() {
    want_err="privet: warning: $1"
    shift
    run "$@"
    [ "$code" -eq 0 ] || problem "privet $*: exit code $code, wanted 0: $(cat err)"
    same "privet $*: stderr" "$want_err" "$(cat err)"
}

few() { # ROWS: what is said of so few
    echo "$1 rows: below 100, noise that hides one of them hides what they share as well; expect no useful model"
}

fails() {
    want_code=$1 want_err=$2
    shift 2
    run "$@"
    [ "$code" -eq "$want_code" ] || problem "privet $*: exit code $code, wanted $want_code"
    [ ! -s out ] || problem "privet $*: unexpected stdout: $(head -3 out)"
    if [ "$(cat err)" != "$want_err" ]; then
        problem "privet $*: stderr is
    $(cat err)
  wanted
    $want_err"
    fi
}

check() {
    what=$1
    shift
    checks=$((checks + 1))
    "$@" >/dev/null 2>&1 || problem "$what"
}

same() { # NAME WANT GOT
    checks=$((checks + 1))
    [ "$2" = "$3" ] || problem "$1: got
    $3
  wanted
    $2"
}

has() { # FILE TEXT...
    checks=$((checks + 1))
    grep -qF -- "$2" "$1" || problem "$1 does not contain: $2
$(head -20 "$1")"
}

only_files() { # every file that may be here, besides out, err and hidden ones
    for f in *; do
        case " out err $* " in
        *" $f "*) ;;
        *) problem "left behind: $f" && rm -rf "$f" ;;
        esac
    done
}

# PAGE in a light and a dark browser: it must fit into 360 pixels, follow the theme and say nothing on the console.
# Windows are never that narrow, frames are.  A screenshot of each goes to the build folder.
# Without a browser the test is skipped, unless PRIVET_INSTALL=yes asks for one to be installed.
in_browser() {
    if ! find_browser && [ "${PRIVET_INSTALL:-}" = yes ]; then sh "$PRIVET_SOURCE/tools/bootstrap.sh" chromium; fi
    find_browser || skip "no chromium to show $1 in; PRIVET_INSTALL=yes installs it"
    cat >probe.html <<PROBE
<title>not measured</title><iframe src="$1" style="width:360px;height:900px;border:0" onload="
    const d = this.contentDocument, e = d.documentElement, page = getComputedStyle(d.body).backgroundColor;
    const light = page.match(/[0-9]+/g).slice(0, 3).every(x => x > 128);
    document.title = (e.clientWidth === 360 && e.scrollWidth <= 360 ? 'fits' : 'too wide: ' + e.scrollWidth) +
        (light ? ', light' : ', dark')"></iframe>
PROBE
    for theme in light dark; do
        option=--disable-extensions
        [ $theme = light ] || option=--force-dark-mode
        show probe.html $option --allow-file-access-from-files --virtual-time-budget=5000 --dump-dom >dom
        has dom "<title>fits, $theme</title>"
        check "$1, $theme: no console messages" sh -c '! grep -q CONSOLE browser.log'
        show "$1" $option --screenshot="$work/shot.png" >/dev/null
        check "$1, $theme: a screenshot" test -s shot.png
        [ -z "${PRIVET_BUILD:-}" ] || cp shot.png "$PRIVET_BUILD/${1%.html}-$theme.png"
        rm -f shot.png
    done
}

find_browser() {
    browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
}

show() { # FILE OPTIONS...: in $browser
    page=$1
    shift
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --enable-logging=stderr --v=0 \
        --window-size=800,900 "$@" "file://$work/$page" 2>browser.log
}

# PRIVET_PYTHON or python3; where it lacks a package, all of them come from PyPI into an environment in the test's folder.
python_with() { # MODULE...
    python=${PRIVET_PYTHON:-python3}
    PYTHONDONTWRITEBYTECODE=1
    export PYTHONDONTWRITEBYTECODE
    "$python" -c "import $(echo "$*" | tr ' ' ,)" 2>/dev/null && return
    # shellcheck disable=SC2015  # either may fail
    "$python" -m venv "$work/python" >pip.log 2>&1 && "$work/python/bin/pip" install -q "$@" >>pip.log 2>&1 ||
        skip "$python has not all of $*, and they could not be installed: $(tail -1 pip.log)"
    python=$work/python/bin/python
}

# Rows (200) that a line separates with some mistakes, in LIBSVM form; the same on every machine.
small_data() { # [SEED [ROWS]]
    awk -v s="${1:-7}" -v n="${2:-200}" 'BEGIN { for (i = 0; i < n; i++) {
        for (j = 1; j <= 3; j++) { s = (s * 16807) % 2147483647; x[j] = int(s % 2001) / 1000 - 1 }
        y = x[1] - 0.5 * x[2] + 0.1 * x[3] > 0 ? "+1" : "-1"
        printf "%s 1:%.3f 2:%.3f 3:%.3f\n", y, x[1], x[2], x[3] } }'
}

skip() {
    echo "skipped: $1"
    exit 77
}

finish() {
    printf '%d checks, %d failed\n' "$checks" "$bad"
    [ "$bad" -eq 0 ] || exit 1
    exit 0
}
