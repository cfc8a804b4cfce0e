# The bar is drawn on a terminal only, fits it, and is gone at the end.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip 'no script(1), or no pseudo-terminal for it'
small_data >small
on_terminal() { # COLUMNS ARGS: what the terminal received, one drawing per line
    columns=$1
    shift
    TERM=${term:-xterm} script -qec "stty cols $columns; exec '$PRIVET_COMMAND' $*" /dev/null </dev/null | tr '\r' '\n' >seen
}
on_terminal 80 train small optimizer.steps=200000 --out m.pvt
has seen 'training ['
has seen 'epsilon'
has seen 'privet: note: '
has seen 'next         privet verify m.pvt'
check 'never wider than the terminal' sh -c "! grep -E '(training|reading) \[' seen | sed 's/.*\[K//' | grep -qE '.{80}'"
on_terminal 30 train small optimizer.steps=200000 --out m.pvt
check 'a narrow terminal gets the numbers only' sh -c "grep -q 'epsilon' seen && ! grep -q 'training \[' seen"
on_terminal 80 train small optimizer.steps=200000 --quiet --out m.pvt
check 'quiet: no bar' sh -c '! grep -q "training \[" seen'
term=dumb
on_terminal 80 train small optimizer.steps=200000 --out m.pvt
check 'a dumb terminal gets no bar' sh -c '! grep -q "training \[" seen'
ok train small optimizer.steps=200000 --quiet --out m.pvt
finish
