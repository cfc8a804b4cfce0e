# The bash completion knows commands, options, settings and the words a setting can take.
. "$PRIVET_SOURCE/tests/cli/lib.sh"
command -v bash >/dev/null || skip 'no bash'
ok complete
cp out privet.bash
completes() { # 'words typed so far' 'one of the answers'
    checks=$((checks + 1))
    bash -c '. ./privet.bash; COMP_WORDS=($1); [ "${1% }" = "$1" ] || COMP_WORDS+=(""); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
             _privet; printf "%s\n" "${COMPREPLY[@]}"' - "$1" >answers 2>err
    grep -qxF -- "$2" answers || problem "'$1' does not complete to '$2': $(cat answers err | head -5)"
}
completes 'privet tr' train
completes 'privet ' verify
completes 'privet train --eps' --epsilon
completes 'privet list --j' --json
completes 'privet train budget.e' budget.epsilon=
completes 'privet train --optimizer p' pgd
completes 'privet compare --hold' --holdout
completes 'privet compare budget.e' budget.epsilon=
completes 'privet train --model =' logistic
completes 'privet train optimizer = p' pgd
completes 'privet train privacy = ' off
completes 'privet train --relation ' replace
completes 'privet verify privet.b' privet.bash
completes 'privet list optim' optimizer
completes 'privet list pg' pgd
completes 'privet help cert' certificate
# A loss is trained by its own name, each setting is offered once, and `list` takes no files.
check 'no glm' sh -c '! grep "model) values=" privet.bash | grep -qw glm'
same 'settings offered twice' '' "$(sed -n 's/^    local settings="\(.*\)"$/\1/p' privet.bash | tr ' ' '\n' | sort | uniq -d)"
completes 'privet train reg.l' reg.lambda=
bash -c '. ./privet.bash; COMP_WORDS=(privet list priv); COMP_CWORD=2; _privet; printf "%s\n" "${COMPREPLY[@]}"' >answers
check 'list is offered no files' sh -c '! grep -qxF privet.bash answers'

# The manual page names every command, option and setting, and parses where there is a parser.
ok man
cp out privet.1
for word in train verify 'budget.epsilon' 'optimizer.steps' 'EXIT STATUS'; do has privet.1 "$word"; done
if command -v man >/dev/null 2>&1; then
    same 'no complaints from man' '' "$(man --warnings -l -Tutf8 privet.1 2>&1 >/dev/null)"
fi
finish
