# data.measured: what was taken from the rows is said in every output, and bounds from the rows make a run NOT PRIVATE.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
awk 'BEGIN { for (i = 0; i < 600; i++) print (i % 2 ? 1 : -1) " 1:" (i % 7) / 10 }' >rows.svm
rows="rows.svm data.labels=-1,1 data.rows=600 data.features=1"
found='The classes were found in the rows and are treated as public; declare them to avoid it.'

# shellcheck disable=SC2086  # a list of words
ok train $rows --quiet --out none.pvt
ok verify none.pvt
checks=$((checks + 1))
! grep -qF "$found" out || problem 'classes that were declared are said to be found'

# shellcheck disable=SC2086
run train $rows data.measured=classes --out classes.pvt
check "classes found: $(cat err)" test "$code" = 0
has err 'the classes were taken from the rows and are treated as public'
ok verify classes.pvt
has out "$found"
ok verify classes.pvt --certificate classes.json
has classes.json '"data.measured": "classes"'
ok verify classes.json

# shellcheck disable=SC2086
run train $rows data.measured=bounds --out bounds.pvt
check "bounds found: $(cat err)" test "$code" = 0
has err 'privet: warning: bounds were taken from the rows: the result is NOT PRIVATE'
has out 'NOT PRIVATE  bounds or categories were taken from the rows'
fails 3 'privet: bounds.pvt: NOT PRIVATE: bounds or categories were taken from the rows' verify bounds.pvt
# shellcheck disable=SC2086
warns 'bounds were taken from the rows: the result is NOT PRIVATE' train $rows data.measured=bounds --json --quiet --out bounds.pvt
has out '"private": false'
run report bounds.pvt --out page.html
has page.html 'NOT PRIVATE'

# a certificate that claims classes without the assumption, or the other way round, does not hold
sed 's/"data.measured": "classes"/"data.measured": "none"/' classes.json >less.json
run verify less.json
check 'an edited certificate is refused' test "$code" = 3

fails 2 'privet: data.measured=all: one of none|classes|bounds is needed' train rows.svm data.measured=all
finish
