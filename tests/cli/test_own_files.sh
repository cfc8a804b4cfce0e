# What a command makes by a name of its own choice it makes again, and nobody else's file is lost by it; no output is an input.
. "$PRIVET_SOURCE/tests/cli/lib.sh"

theirs() { # FILE MESSAGE ARGS: a file of somebody else's stops the command and stays
    mkdir -p "$(dirname "$1")"
    [ ! -e "$1" ] || mv "$1" aside
    file=$1 message=$2
    shift 2
    echo 'somebody else made this' >"$file"
    fails 2 "privet: $file exists already, and this command did not make it; $message" "$@"
    same "$file stays" 'somebody else made this' "$(cat "$file")"
    rm "$file"
    [ ! -e aside ] || mv aside "$file"
}

for f in demo_train.csv demo_test.csv demo.schema.json model.pvt not-private.pvt; do
    theirs "new/$f" 'name another folder: privet demo FOLDER' demo new
    check 'nothing was written beside it' test ! "$(ls new)"
done
ok demo d --quiet
for f in demo_train.csv demo_test.csv demo.schema.json model.pvt not-private.pvt; do
    theirs "d/$f" 'name another folder: privet demo FOLDER' demo d
done
ok demo d --quiet # its own files, models included
small_data >small
ok train small --quiet --delta 1e-4 --out m.pvt
cp m.pvt d/model.pvt
fails 2 'privet: d/model.pvt exists already, and this command did not make it; name another folder: privet demo FOLDER' demo d
check 'a model of other rows stays' cmp m.pvt d/model.pvt

ok synth s rows=1e2 heldout=1
has out 's/madelon_train.csv, 100 rows'
has out 's/madelon_test.csv, 1 row'
check 'one row' grep -qx 'to test on   s/madelon_test.csv, 1 row' out
ok synth s rows=50 heldout=5
for f in madelon_train.csv madelon_test.csv madelon.schema.json; do
    theirs "s/$f" 'name another folder: privet synth FOLDER' synth s
done

theirs report.html 'name the page with --out' report m.pvt
ok report m.pvt
ok report m.pvt
echo old >named.html
ok report m.pvt --out named.html
check 'a page that is named is written' grep -q 'Privacy report' named.html
privet reproduce ls-table3 >/dev/null
theirs report.md 'name the page with --out' report results --markdown
ok report results --markdown
ok report results --markdown
fails 2 'privet: report.html exists already, and this command did not make it; name the page with --out' report results

printf '{"kind": "gaussian", "noise_multiplier": 10}' >ev.json
cp ev.json kept
fails 2 'privet: --svg ev.json is an input; name another file' curve --file ev.json --svg ev.json
ln -s ev.json link
fails 2 'privet: --svg link is an input; name another file' curve --file ev.json svg=link
check 'the events are still there' cmp ev.json kept
ok curve --file ev.json --svg drawn.svg
ok curve --file ev.json --svg drawn.svg
finish
