# Help for everything, and a suggestion for everything mistyped.
. "$PRIVET_SOURCE/tests/cli/lib.sh"

ok --version
same 'version' "privet 0.1.0" "$(cat out)"
for form in --help -h help; do
    ok $form
    has out 'usage: privet COMMAND ...'
    has out 'exit codes: 0 done, 2 usage, 3 input or certificate that does not hold, 4 budget refused, 5 internal'
done
# Every command of the table, so that a new one is covered without a line here; --help lists all but those without help.
sed -n 's/^    { "\([a-z]*\)", cmd_.*/\1&/p' "$PRIVET_SOURCE/cli/main.c" | sed '/NULL },$/d; s/ .*//' >table
ok --help
sed -n '/^usage:/,/^To start/s/^  \([a-z]*\)  .*/\1/p' out >listed
check 'commands to ask about' test "$(wc -l <table)" -gt 10
same 'what --help lists' "$(cat table)" "$(cat listed)"
commands=$(sed -n 's/^    { "\([a-z]*\)", cmd_.*/\1/p' "$PRIVET_SOURCE/cli/main.c")
rm -f table listed
for command in $commands; do
    ok "$command" --help
    has out "usage: privet $command"
    has out '--help'
    cp out one
    ok help "$command"
    check "privet help $command is privet $command --help" cmp one out
    ok "$command" -h
    check "privet $command -h is privet $command --help" cmp one out
done
ok train --help
for key in budget.epsilon budget.delta model optimizer data.schema run.threads; do has out "$key"; done
rm -f one

# What is listed is taken: no option of another command, and sbcd where it works.
for command in calibrate curve; do
    ok $command --help
    check "$command: no --group, no --all" sh -c '! grep -q -e --group -e --all out'
    for option in --group=2 --all; do
        fails 2 "privet: $command has no ${option%=*}; it is for account" $command gaussian --epsilon 1 --delta 1e-5 $option
    done
done
ok curve --help
has out 'sbcd z=Z'
has out 'where the curve ends'
same 'one epsilon' 1 "$(grep -c -e '--epsilon' out)"
ok calibrate --help
has out 'laplace | select'
ok man
same 'one epsilon in the manual' 1 "$(grep -c '^.fB.-.-epsilon.fR .fIE' out)"

# The catalogue by kind, plug-in, family or setting.
keys() { grep -oE '^ +[a-z]+\.[a-z_]+' out | tr -d ' ' | sort -u | tr '\n' ' '; }
ok list budget.epsilon
same 'one setting' 'budget.epsilon ' "$(keys)"
ok list budget.delta
has out '2e-200 .. 0.999999999999'
ok list epsilon
same 'by its last word' 'budget.epsilon ' "$(keys)"
ok list sampler
same 'a family' 'sampler.batch sampler.batch_hessian ' "$(keys)"
ok list augment
same 'a setting of plug-ins' 'model.augment ' "$(keys)"
check 'and of those that have it' grep -q '^  mnist-cnn ' out
check 'only of those' sh -c '! grep -q "^  logistic " out'
ok list pgd
check 'a plug-in with all it has' grep -q 'optimizer.momentum' out
check 'and no other' sh -c '! grep -q "^  sgd " out'
fails 2 'privet: no kind, plug-in or setting is called frobnicate; kinds are settings, reader, loss, model, reg, set, mechanism, optimizer, accountant, mirror' \
    list frobnicate

fails 2 'privet: no command given; privet --help lists what there is'
fails 2 'privet: unknown command trian; did you mean train?' trian
fails 2 'privet: unknown command frobnicate; privet --help lists what there is' frobnicate
fails 2 'privet: unknown command verfy; did you mean verify?' help verfy
fails 2 'privet: unknown option --epsilom for train; did you mean --epsilon?' train data --epsilom 1
fails 2 'privet: unknown option --epsilom=1 for train; did you mean --epsilon?' train data --epsilom=1
fails 2 'privet: unknown option -x; privet train --help lists what there is' train data -x
fails 2 'privet: unknown option --wibble-wobble; privet list --help lists what there is' list --wibble-wobble
fails 2 'privet: list has no --epsilon; it is for train, eval, plan, compare, account, calibrate, curve' list --epsilon 1
fails 2 'privet: plan has no --out; it is for schema, train, predict, export, report, compare, reproduce' plan --rows 9 --features 2 --out x
fails 2 'privet: plan has no --out; it is for schema, train, predict, export, report, compare, reproduce' plan --rows 9 --features 2 --out=x
fails 2 'privet: unknown option --augment; did you mean the setting model.augment=...?' train data --augment 3
fails 2 'privet: unknown option --noise-multiplier=3; did you mean the setting budget.noise_multiplier=...?' train data --noise-multiplier=3
fails 2 'privet: unknown option --augment; privet eval --help lists what there is' eval model data --augment 3
fails 2 'privet: unknown setting epsilon: did you mean budget.epsilon? (`privet list` shows every setting)' train data epsilon=1
fails 2 'privet: unknown setting lambda: did you mean reg.lambda? (`privet list` shows every setting)' train data lambda=1
fails 2 'privet: --epsilon needs a value (E)' train data --epsilon
fails 2 'privet: --epsilon needs a value (E)' train data --epsilon --json
fails 2 'privet: --out needs a value (FILE)' train data --out=
fails 2 'privet: --json takes no value' list --json=yes
fails 2 'privet: train needs more: privet train DATA [key=value ...]' train
fails 2 'privet: train needs more: privet train DATA [key=value ...]' train budget.epsilon=1
fails 2 'privet: predict needs more: privet predict MODEL DATA [key=value ...]' predict model.pvt
fails 2 'privet: unexpected argument more; usage: privet train DATA [key=value ...]' train data more
fails 2 'privet: unexpected argument -h; usage: privet list [KIND|NAME|KEY]' list -- optimizer -h
fails 2 'privet: list takes no settings, but got model=logistic' list model=logistic
only_files
finish
