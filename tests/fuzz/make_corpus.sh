#!/bin/sh
# make_corpus.sh FOLDER - small valid inputs to start the harnesses from; `make fuzz` adds them to the corpus.
set -eu
folder=${1:?which folder?}
for harness in "$(dirname "$0")"/fuzz_*.c; do
    name=${harness##*/fuzz_}
    mkdir -p "$folder/${name%.c}"
done

# Two bytes of settings, then the file.
put() { # name, settings, text
    printf "$2" >"$folder/$1"
    printf "$3" >>"$folder/$1"
}
put libsvm/plain '\0\0' '+1 1:0.5 3:-2e-1 # c\r\n-1 2:1\n0 4:0\n'
put libsvm/digits '\0\0' '1 1:0.12345678901234567 2:123456789.123456 3:1e-30 4:.5 5:+7.\n-1 12345678:1\n'
put libsvm/labels '\100\0' '1 1:1\n2.0 1:1\n3 5:-1\n'
put libsvm/words '\200\4' 'a 1:1\nb 2:1\nc 1:3 2:4\n'
put libsvm/bare '\1\1' '1:1 2:3\n2:1\n'
put libsvm/real '\4\2' '0.5 1:1\n-1 2:1\n2 3:1\n'
put libsvm/drop '\62\0' '1 1:1 9:2 10:3\n-1 2:1 11:1\n'
put libsvm/wide '\0\3' '1 1:1\n-1 1024:1\n1 3000:1\n'
put net/image '\33\33\0\11' 'conv16x8s2same,relu,pool2s1,conv32x4s2valid,gelu,avgpool2,flatten,dense32,tanh,dense'
put net/table '\0\0\20\2' 'dense8,groupnorm2,relu,dense'
for tool in gzip bzip2; do
    put "libsvm/$tool" '\0\0' ''
    printf '+1 1:0.5 3:-0.25\n-1 2:1\n' | $tool -c >>"$folder/libsvm/$tool"
done
put csv/words '\0\0' 'a,b,y\n1,x,no\n9.0,"z,z",yes\r\n 0 , Y ,no\n5,"a long word that has more than 16 bytes",yes\n'
put csv/lines '\0\20' 'a,b,y\n1,"x",no\n\n2,"y\n",yes\n3,"a ""quoted"" one",no\n'
put csv/numbers '\1\0' 'skipped\n1;;0.12345678901234567;0.5\n-10;"a;\n""b";?;1\n?;x;1e9;-1\n-9;x;5;0\n'
put csv/tabs '\2\0' '1\t0.5\t123456.5\n2\t7\t0\n'
put csv/bare '\43\0' '1.5,-2,1\n3e3,.5,2\n"0",1,x\n'
put csv/real '\3\0' '1,2,0.5\n-1,2,-1\n'
cat >"$folder/schema/table" <<'T'
{"header": true, "separator": ";", "skip": 2, "missing": ["", "?"], "columns": [
 {"name": "age", "type": "number", "min": 17, "max": 90, "missing": "middle", "outside": "clamp"},
 {"name": "job", "type": "category", "values": ["a", ["b", "B."], 3], "missing": "zero", "outside": "missing"},
 {"name": "id", "type": "ignore"},
 {"name": "income", "type": "label", "values": [["<=50K", "<=50K."], ">50K"]}]}
T
cat >"$folder/schema/real" <<'T'
{"columns": [{"name": "x", "type": "number", "min": -1e3, "max": 1.5}, {"name": "y", "type": "label", "min": 0, "max": 1, "outside": "clamp"}]}
T
# Rows less one, columns less one, length of the labels file; then both files.
put idx/images '\0\1\5\12\0' '\0\0\10\1\0\0\0\2\7\0\0\0\10\3\0\0\0\2\0\0\0\2\0\0\0\3abcdefghijkl'
put idx/vectors '\21\1\2\0\0' '\0\0\10\2\0\0\0\2\0\0\0\3abcdef'
header() { # type, shape: an NPY file up to its values
    text="{'descr': '$1', 'fortran_order': False, 'shape': $2}"
    printf "\\223NUMPY\\1\\0\\$(printf %o ${#text})\\0%s" "$text"
}
array() { # name, settings, labels' type and values, rows' type, shape and values
    { header "$3" '(2,)'; printf "$4"; } >"$folder/labels"
    printf "$2\\$(printf %o "$(wc -c <"$folder/labels")")\\0" >"$folder/$1"
    { cat "$folder/labels"; header "$5" "$6"; printf "$7"; } >>"$folder/$1"
    rm "$folder/labels"
}
array npy/bytes '\0\1\2' '|u1' '\3\11' '|u1' '(2, 3)' 'abcdef'
array npy/floats '\0\1\1' '<f4' '\0\0\0\0\0\0\200\077' '<f4' '(2, 2)' '\0\0\200\077\0\0\0\100\0\0\0\0\0\0\200\277'
array npy/images '\0\1\13' '|i1' '\0\1' '|u1' '(2, 2, 2, 3)' 'abcdefghijklmnopqrstuvwx'
# CSR rows: settings, rows, columns, values, then numbers.  Arrow: settings, columns and batches, then numbers.
put csr/plain '\0\5\20\14' '\0\1\2\3\2\1\200\300\100\220\260'
put csr/narrow '\61\5\77\14' '\0\1\2\3\2\1\200\300\100'
put csr/odd '\12\3\10\6' '\17\0\1\2\3\4\5\6\7'
put arrow/table '\0\222' '\1\12\1\14\1\14\1\0\1abcdefghijklmnopqrstuvwxyz'
put arrow/words '\20\230' '\3\12\1\1\4\14\14\1\0\1\2\3\4\5\6\7'
put arrow/plain '\3\231' '\2\11\1\4\1\1\1\1\1\0\1\2\3'
printf '\0\0\0\1\2\3\11abc' >"$folder/cifar/whole"
printf '\0\5\0\1\2\3' >"$folder/cifar/cut"
# Trees of events, settings (\0: JSON, otherwise lines), vertices of a hull in three dimensions, any JSON.
leaf='{"kind": "gaussian", "noise_multiplier": 2.5}'
event() { # name, tree
    printf '%s' "$2" >"$folder/event/$1"
}
event gaussian "$leaf"
event repeat '{"kind": "repeat", "times": 12, "event": {"kind": "select", "epsilon": 0.1}}'
event poisson "{\"kind\": \"repeat\", \"times\": 12, \"event\": {\"kind\": \"poisson\", \"rate\": 0.25, \"event\": $leaf}}"
event cyclic "{\"kind\": \"repeat\", \"times\": 8, \"event\": {\"kind\": \"cyclic\", \"parts\": 4, \"event\": $leaf}}"
event fixed '{"kind": "fixed", "rate": 0.002, "event": {"kind": "ball", "delta": 0.01}}'
event sequence "{\"kind\": \"sequence\", \"events\": [$leaf, {\"kind\": \"laplace\", \"scale\": 3}, {\"kind\": \"none\"}]}"
put settings/json '\0' '{"model": "logistic", "budget.epsilon": 0.5, "optimizer": "pgd", "optimizer.steps": 7, "privacy": "off"}'
put settings/lines '\1' 'model=softmax\noptimizer=tr\nreg=l2\nreg.lambda=0.1\nset=l1ball\nset.radius=2\nsampler=poisson\nsampler.batch=10\n'
put settings/net '\1' 'model=mlp:dense8,relu,dense\noptimizer=sgd\noptimizer.step=auto\nclip=0.5\nbudget.delta=1e-6\n'
put vertices/plain '' '# three\n1 0 0\n0,1,0\n\n-1e-3 2.5 .5\n'
put json/all '' '{"a": [1, -2.5e3, true, false, null, "\\u00e9\\n\\"", {}], "b": {"c": []}, "d": 9007199254740993}'
# Certificates and models: edits of a valid one (where, what), sealed again; numbers put into one.
put certificate/edit '\1' '\100\0x\144\200\0'
put certificate/sealed '\2' '\100\1x\144\2015'
put certificate/numbers '\3' '\0\0\0\0\0\0\360\077\215\355\265\240\367\306\260\076\0\0\0\0\0\0\24\100\0\0\0\0\0\0\360\077\0\0\0\0\0\0\0\0\0\0\0\0\0\0\10\100\0\0\0\0\0\0\24\100'
put model/edit '\1' '\40\0x'
put model/sealed '\2' '\40\0x\100\1y'
