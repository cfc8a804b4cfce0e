# Images from file to scores: IDX and CIFAR-10 files made here, scattering features, and what is refused.
# shellcheck disable=SC2086  # settings are lists of words
. "$(dirname "$0")/lib.sh"

# 30 images of 9x9: a bright column whose place tells the class, 0 to 2.
images() {
    printf '\0\0\10\3\0\0\0\036\0\0\0\11\0\0\0\11'
    i=0
    while [ $i -lt 30 ]; do
        case $((i % 3)) in
            0) line='\377\200\0\0\0\0\0\0\0' ;;
            1) line='\0\0\0\0\377\200\0\0\0' ;;
            2) line='\0\0\0\0\0\0\0\200\377' ;;
        esac
        printf "$line$line$line$line$line$line$line$line$line"
        i=$((i + 1))
    done
}
labels() {
    printf '\0\0\10\1\0\0\0\036'
    i=0
    while [ $i -lt 10 ]; do
        printf '\0\1\2'
        i=$((i + 1))
    done
}
images >images-idx3-ubyte
labels >labels-idx1-ubyte
scatter='data.transform=scatter data.norm=unit data.scatter_angles=4'
ok train images-idx3-ubyte model=softmax $scatter --privacy off optimizer.steps=50 --out m.pvt --quiet
run eval m.pvt images-idx3-ubyte --json --quiet # the transform is in the model file
has out '"accuracy": 1'
gzip -c images-idx3-ubyte >renamed.gz
run predict m.pvt renamed.gz --quiet # no labels beside it
same 'predict images: lines' 31 "$(wc -l <out | tr -d ' ')"
has out '0,0.9'
{ printf '\0\0\10\3\0\0\0\1\0\0\0\11\0\0\0\12'; head -c 90 images-idx3-ubyte; } >wide-idx3-ubyte
fails 3 'privet: wide-idx3-ubyte: images of 9x10x1, but the model was trained on images of 9x9x1' predict m.pvt wide-idx3-ubyte --quiet
fails 3 'privet: wide-idx3-ubyte: images of 9x10x1, but data.image=9x9' train wide-idx3-ubyte model=softmax $scatter data.image=9x9

# A model meets another kind of data.
ok train images-idx3-ubyte model=softmax --privacy off optimizer.steps=5 --out pixels.pvt --quiet
small_data >small
ok train small --quiet --delta 1e-4 --out rows.pvt
printf 'age,rich\n40,no\n20,yes\n' >t.csv
printf '{"columns": [{"name": "age", "type": "number", "min": 0, "max": 100},
    {"name": "rich", "type": "label", "values": ["no", "yes"]}]}' >t.json
run train t.csv run.least=1 --schema t.json --quiet --out table.pvt
fails 3 'privet: images-idx3-ubyte: data of format idx, but the model was trained on a table of 2 columns' eval table.pvt images-idx3-ubyte
fails 3 'privet: images-idx3-ubyte: data of format idx, but data.schema is for tables: leave it out' train images-idx3-ubyte --schema t.json
fails 3 'privet: images-idx3-ubyte: images of 81 pixels, but the model was trained on rows of 3 features' eval rows.pvt images-idx3-ubyte
fails 3 'privet: t.csv: a table, but the model was trained on rows of 3 features; if its columns are just those and the label comes last, data.labels=no,yes declares the classes' \
    eval rows.pvt t.csv
fails 3 'privet: t.csv:1:1: 2 columns, but the model was trained on rows of 3 features' eval rows.pvt t.csv data.labels=no,yes
fails 3 'privet: t.csv: data of format csv, but the model was trained on images of 9x9x1' eval pixels.pvt t.csv
fails 3 'privet: small: data of format libsvm, but the model was trained on images of 9x9x1' predict pixels.pvt small

head -c 1000 images-idx3-ubyte >cut-images-idx3-ubyte
fails 3 'privet: cut-images-idx3-ubyte: no labels: there is no cut-labels-idx1-ubyte; data.labels=FILE names another' \
    train cut-images-idx3-ubyte model=softmax
fails 3 'privet: ./none-ubyte: No such file or directory' train cut-images-idx3-ubyte model=softmax data.labels=./none-ubyte
fails 3 'privet: nofile: No such file or directory' train images-idx3-ubyte model=softmax data.labels=nofile
cp labels-idx1-ubyte named # one word is a file, several are labels
run train images-idx3-ubyte --quiet model=softmax data.labels=named --out named.pvt
same 'labels in a file of any name' 0 "$code"
cp images-idx3-ubyte new-images-idx3-ubyte
{ printf '\0\0\10\1\0\0\0\036'; head -c 30 /dev/zero; } >new-labels-idx1-ubyte
ok eval named.pvt new-images-idx3-ubyte --json
same 'labels beside the new images, not those of training' 1.0 "$(sed -n 's/ *"majority": \([0-9.]*\).*/\1/p' out | awk '{ printf "%.1f", $1 }')"
rm -f named named.pvt new-images-idx3-ubyte new-labels-idx1-ubyte
cp labels-idx1-ubyte cut-labels-idx1-ubyte
fails 3 'privet: cut-images-idx3-ubyte: truncated in the images: 984 of 2430 bytes are there' train cut-images-idx3-ubyte model=softmax
ok plan --rows 60000 data.image=28x28 data.transform=scatter model=softmax data.labels=0,1,2,3,4,5,6,7,8,9 --epsilon 3 \
    --delta 1e-5 --quiet
has out 'softmax with 39,700 weights on 60,000 rows'
fails 2 'privet: data.image=: HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS is needed, as 28x28 or 32x32x3, up to 32768 a side' \
    train wide-idx3-ubyte model=softmax data.image=
fails 2 'privet: data.transform=scatter needs images: data.image=HEIGHTxWIDTHxCHANNELS says how the columns form one' \
    plan --rows 100 --features 784 data.transform=scatter

# A table whose columns are pixels: the model has the features of the transform, not of the schema.
awk 'BEGIN { for (j = 0; j < 81; j++) printf "p%d,", j; print "y"
    for (i = 0; i < 30; i++) { for (j = 0; j < 81; j++) printf "%d,", (j % 9 == i % 2 * 5) * 255; print i % 2 ? "b" : "a" } }' >pixels.csv
awk 'BEGIN { printf "{\"columns\": ["; for (j = 0; j < 81; j++) printf "{\"name\": \"p%d\", \"type\": \"number\", \"min\": 0, \"max\": 255}, ", j
    print "{\"name\": \"y\", \"type\": \"label\", \"values\": [\"a\", \"b\"]}]}" }' >pixels.json
ok train pixels.csv --schema pixels.json model=logistic data.image=9x9 $scatter --privacy off optimizer.steps=50 --out p.pvt --quiet
run eval p.pvt pixels.csv --json --quiet
has out '"accuracy": 1'
run predict p.pvt pixels.csv --quiet
same 'predict a table of pixels: lines' 31 "$(wc -l <out | tr -d ' ')"

# Two records of CIFAR-10 and a cut one.
record() {
    printf "\\$1"
    head -c 3072 /dev/zero
}
{ record 1; record 11; } >data_batch_1.bin
fails 3 'privet: data_batch_1.bin: byte 3073: label '"'9'"' is none of: 0, 1, 2' train data_batch_1.bin data.format=cifar model=softmax data.labels=0,1,2
{ record 1; record 2; } >data_batch_1.bin
record 3 | head -c 3000 >data_batch_2.bin
fails 3 'privet: data_batch_2.bin: truncated: the record at byte 0 has 3000 of 3073 bytes' train data_batch_1.bin model=softmax
rm data_batch_2.bin
ok train data_batch_1.bin model=softmax --privacy off optimizer.steps=1 --out c.pvt --quiet
ok train "$work" model=softmax --privacy off optimizer.steps=1 --out d.pvt --quiet
finish
