/* fuzz_net.c - a description of a network is refused in one line, or every layer gets a shape and its weights a
 * place.
 *
 * First three bytes: height, width and channels of the input; fourth: outputs; the rest is the description. */
#include "model/net.h"

#include "fuzz.h"

static bool positive(pvi_hwc s)
{
    return s.h >= 1 && s.w >= 1 && s.c >= 1;
}

/* Layers follow one another without gaps, in shapes and in weights. */
static void check_net(const pvi_net *net)
{
    int64_t d = 0;
    pvi_hwc at = net->in;
    FUZZ_REQUIRE(net->n >= 1 && net->n <= PVI_MAX_LAYERS);
    for (int64_t i = 0; i < net->n; i++) {
        const pvi_layer *l = &net->layer[i];
        FUZZ_REQUIRE(positive(l->in) && positive(l->out));
        FUZZ_REQUIRE(l->in.h * l->in.w * l->in.c == at.h * at.w * at.c);
        FUZZ_REQUIRE(l->n_weights >= 0 && l->n_biases >= 0 && (l->n_weights > 0) == (l->n_biases > 0));
        FUZZ_REQUIRE(l->weights == d && l->biases == d + l->n_weights);
        d = l->biases + l->n_biases;
        at = l->out;
    }
    FUZZ_REQUIRE(d == net->d && d > 0 && at.c == net->outputs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pv_ctx *ctx;
    static pvi_net net;
    if (size < 4 || size > 4096 || pv_ctx_create(NULL, &ctx) != PV_OK) return 0;
    char *text = calloc(1, size);
    memcpy(text, data + 4, size - 4);
    const pvi_hwc in = { data[0] + 1, data[1] + 1, data[2] + 1 };
    pv_status s = pvi_net_parse(ctx, text, &net);
    if (s == PV_OK) s = pvi_net_shape(ctx, &net, in, 1 + data[3] % 16);
    if (s == PV_OK) check_net(&net);
    else fuzz_refused(ctx, s);
    free(text);
    pv_ctx_free(ctx);
    return 0;
}
