# Networks on the command line: train, score, verify, and what is said when layers do not fit.
. "$PRIVET_SOURCE/tests/cli/lib.sh"

# 60 images of 6 x 6: class 0 bright above, class 1 bright below.
images() {
    printf '\0\0\10\3\0\0\0\074\0\0\0\6\0\0\0\6'
    awk 'BEGIN { s = 5; for (i = 0; i < 60; i++) for (j = 0; j < 36; j++) {
        s = (s * 16807) % 2147483647; v = s % 60; if ((j < 18) == (i % 2 == 0)) v += 150
        printf "\\%03o", v } }' | xargs -0 printf '%b' 2>/dev/null
}
labels() {
    printf '\0\0\10\1\0\0\0\074'
    for _ in $(seq 30); do printf '\0\1'; done
}
images >t-images-idx3-ubyte
labels >t-labels-idx1-ubyte
if [ "$(wc -c <t-images-idx3-ubyte)" -ne 2176 ]; then # no printf with octal escapes for every byte
    skip 'the images could not be written'
fi

net='cnn:conv4x3s1same,relu,pool2,dense'
warns "$(few 60)" train t-images-idx3-ubyte --quiet --model "$net" --epsilon 8 --delta 1e-3 optimizer.steps=5 data.labels=0,1 --out m.pvt
has out 'cnn with 114 weights on 60 rows'
ok verify m.pvt
ok eval m.pvt t-images-idx3-ubyte
has out 'accuracy'
ok predict m.pvt t-images-idx3-ubyte
same 'a header and a line per row' 61 "$(wc -l <out)"
warns "$(few 60)" train t-images-idx3-ubyte --quiet --model "$net" --epsilon 8 --delta 1e-3 optimizer.steps=5 --json --out m.pvt
has out '"model.layers":"conv4x3s1same,relu,pool2,dense"'
has out '"optimizer": "sgd"'
ok predict m.pvt t-images-idx3-ubyte # ten classes, two of them seen

small_data >small
ok train small --quiet --model mlp --epsilon 5 --delta 1e-4 optimizer.steps=5 --out m.pvt
ok eval m.pvt small
ok train small --quiet --model mlp:dense8,tanh,dense --epsilon 5 --delta 1e-4 optimizer.steps=5 --optimizer adam --out m.pvt
for clipping in layer automatic; do
    ok train small --quiet --model mlp model.clipping=$clipping --epsilon 5 --delta 1e-4 optimizer.steps=3 --out m.pvt
done
ok train small --quiet --model mlp model.clipping=layer model.clips=0.3,0.4 optimizer.smoothing=1,0 optimizer.smoothing_order=pixels \
    --epsilon 5 --delta 1e-4 optimizer.steps=3 --out m.pvt --certificate c.json
has c.json '"clip_norm": 0.5'
ok verify m.pvt
fails 2 'privet: optimizer.smoothing has 3 numbers, and the network has 2 layers with weights' train small --quiet --model mlp optimizer.smoothing=1,2,3 --out m.pvt
fails 2 'privet: optimizer.smoothing has 2 numbers, and the model has no layers: one number is needed' train small --quiet --optimizer sgd optimizer.smoothing=1,2 --out m.pvt
fails 2 'privet: model.clips are norms of single layers: add model.clipping=layer' train small --quiet --model mlp model.clips=1,1 --out m.pvt
rm m.pvt c.json

refused() { # 'line' model
    fails 2 "privet: $1" train t-images-idx3-ubyte --quiet --model "$2" --out no.pvt
}
refused 'model: layer 2 (batchnorm): batch normalisation mixes the examples of a batch, so no example has a gradient of its own: use groupnorm' 'cnn:conv4x3,batchnorm,dense'
refused 'model: layer 1 (conv4x9) gets 6x6x1, smaller than its window of 9x9: a smaller window, or same, would do' 'cnn:conv4x9,dense'
refused 'model: layer 2 (pool7) gets 6x6x4, smaller than its window of 7x7: a smaller window, or same, would do' 'cnn:conv4x3same,pool7,dense'
refused 'model: layer 2 (dropout): dropout draws other weights for every row, and what a row adds would depend on that draw; it is there against learning rows by heart, which clipping and noise already bound: leave it out' 'cnn:conv4x3,dropout,dense'
refused 'model: layer 2 (groupnorm3) gets 4x4x4, and needs a number of channels that 3 divides' 'cnn:conv4x3,groupnorm3,dense'
refused 'model: layer 1 (cov3x3): no such layer, did you mean conv' 'cnn:cov3x3,dense'
refused 'model: the last layer is dense7, but the labels need 10 outputs: write dense' 'cnn:dense7'
refused 'model=softmax:dense: softmax takes no layers; with layers there is mlp, cnn, mnist-cnn, cifar-cnn, cifar-tutorial or split-mlp' 'softmax:dense'
fails 2 'privet: model: layer 1 (conv16x3same) needs images, and the data is a table of 4 columns: data.image=28x28 says that rows are images' \
    train small --quiet --model cnn --out no.pvt

# A step so large that the weights overflow: one line, no model, and it says what to do.
run train small --quiet --model mlp --epsilon 5 --delta 1e-4 optimizer.steps=50 optimizer.step=1e12 optimizer.momentum=0.99 --out no.pvt
check 'diverging training does not end in success with a file' sh -c "[ $code -eq 0 ] || [ ! -e no.pvt ]"
only_files small t-images-idx3-ubyte t-labels-idx1-ubyte no.pvt
finish
