# Outputs that cannot be written, full disks, and signals: the old file or the new one, never half, nothing else.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
small_data >small
small_data 11 >other
mkdir folder
ok train small --quiet --out old.pvt
cp old.pvt kept.pvt

# ---- asked before anything is spent
fails 3 'privet: none/m.pvt: cannot be written: none: No such file or directory' train small --out none/m.pvt
fails 3 'privet: small/m.pvt: cannot be written: small is not a directory' train small --out small/m.pvt
fails 3 'privet: folder: is a directory, cannot be written as a file' train small --out folder
fails 3 'privet: none/c: cannot be written: none: No such file or directory' train small --out m.pvt --certificate none/c
fails 2 'privet: a model cannot go to standard output; name a file with --out' train small --out -
fails 3 'privet: none/s: cannot be written: none: No such file or directory' predict old.pvt small --out none/s
fails 3 'privet: none/c.json: cannot be written: No such file or directory' plan --rows 9 --dump-config none/c.json
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked && chmod 555 locked
    fails 3 'privet: locked/m.pvt: cannot be written: locked: Permission denied' train small --out locked/m.pvt
    rmdir locked
fi
if [ -d /proc/self ]; then # where root may write, and still no file can be made
    fails 3 'privet: /proc/x: cannot be written: /proc takes no new files' train small --out /proc/x
    fails 3 'privet: /proc/x: cannot be written: /proc takes no new files' train small --out m.pvt --certificate /proc/x
fi
only_files small other folder old.pvt kept.pvt

# ---- a full disk: the device that is always full, and a file that may not grow
if [ -c /dev/full ]; then
    fails 3 'privet: /dev/full: cannot be written: No space left on device (the budget counts as spent)' train small --quiet --out /dev/full
    fails 3 'privet: /dev/full: cannot be written: No space left on device' predict old.pvt small --out /dev/full
    check '/dev/full is still a device' test -c /dev/full
    for command in 'list' 'list --json' '--help' '--version' 'plan --quiet --rows 9 --features 2' 'verify old.pvt' 'eval old.pvt other'; do
        code=0
        # shellcheck disable=SC2086  # words
        privet $command >/dev/full 2>err || code=$?
        same "privet $command >/dev/full: exit code" 3 "$code"
        same "privet $command >/dev/full: one line" 1 "$(wc -l <err)"
        has err 'privet: standard output: cannot be written: No space left on device'
    done
    code=0
    privet predict old.pvt small >/dev/full 2>err || code=$?
    same 'privet predict >/dev/full: exit code' 3 "$code"
    same 'privet predict >/dev/full' 'privet: standard output: cannot be written: No space left on device' "$(cat err)"
fi
message=$( (ulimit -f 0 && privet train small --quiet --out old.pvt) 2>&1 | grep '^privet:')
same 'no room for the model' 'privet: old.pvt: cannot be written: File too large (the budget counts as spent)' "$message"
check 'the old model survives' cmp old.pvt kept.pvt
message=$( (ulimit -f 0 && privet predict old.pvt small --out small.csv) 2>&1 | grep '^privet:')
same 'no room for the scores' 'privet: small.csv: cannot be written: File too large' "$message"
only_files small other folder old.pvt kept.pvt

# ---- a device or a link is not replaced by a file
ok predict old.pvt small --out /dev/null
check '/dev/null is still a device' test -c /dev/null
ln -s old.pvt link.pvt
ok train small --quiet --out link.pvt
check 'the link is still a link' test -h link.pvt
check 'what it points to was replaced' sh -c '! cmp old.pvt kept.pvt'
rm link.pvt

# ---- signals
command -v timeout >/dev/null || finish
for pair in INT:130 TERM:143 HUP:129; do
    code=0
    timeout --preserve-status -s "${pair%:*}" 1 "$PRIVET_COMMAND" train small optimizer.steps=100000000 --quiet --out old.pvt >out 2>err || code=$?
    same "SIG${pair%:*}: exit code" "${pair#*:}" "$code"
    same "SIG${pair%:*}: message" 'privet: interrupted; no model was written, and the budget counts as spent' "$(cat err)"
    same "SIG${pair%:*}: nothing on standard output" '' "$(cat out)"
done
# A second signal while the message of the first waits for a full pipe finds another thread: one message all the same.
mkfifo pipe
exec 9<>pipe
dd if=/dev/zero of=pipe bs=4096 count=1024 oflag=nonblock 2>/dev/null
"$PRIVET_COMMAND" train small optimizer.steps=100000000 --quiet --out old.pvt >out 2>&9 &
sleep 1
kill -TERM $!
sleep 0.2
kill -TERM $!
sleep 0.2
for _ in 1 2 3 4 5 6 7 8; do
    dd if=pipe bs=4096 count=1024 iflag=nonblock 2>/dev/null
    sleep 0.1
done >said
code=0
wait $! || code=$?
exec 9>&-
same 'two signals: exit code' 143 "$code"
same 'two signals: one message' 1 "$(tr -d '\0' <said | grep -c interrupted)"
rm pipe said
code=$( (privet list; echo $? >code) | head -1 >/dev/null; cat code)
check 'a reader that leaves early is no error worth words' test "$code" = 141 -o "$code" = 0
rm -f code
only_files small other folder old.pvt kept.pvt

# Killed at any moment while writing 100,000 scores over an old file: the old or the new one, whole.
for _ in 1 2 3 4 5 6 7 8 9 10; do cat small small small small small; done >big0
for _ in 1 2 3 4 5 6 7 8 9 10; do cat big0; done >big
rm big0
ok predict old.pvt big --out whole
for signal in TERM KILL; do
    for wait in 0.02 0.04 0.06 0.08 0.1 0.12 0.15 0.2 0.3; do
        echo old >scores
        timeout --preserve-status -s $signal $wait "$PRIVET_COMMAND" predict old.pvt big --out scores >/dev/null 2>&1
        checks=$((checks + 1))
        if ! cmp -s scores whole && [ "$(cat scores)" != old ]; then problem "SIG$signal after $wait s: half a file"; fi
        [ $signal = TERM ] || rm -f scores.tmp.*
    done
done
only_files small other folder old.pvt kept.pvt big whole scores
finish
