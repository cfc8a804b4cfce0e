/* net_parse.c - the description of a network, layer by layer.
 *
 *   description = layer { "," layer }
 *   layer = "conv" F "x" K [ "s" S ] [ "same" | "valid" ]      F filters of K x K, every S pixels
 *         | ( "pool" | "maxpool" | "avgpool" ) K [ "s" S ] [ "same" | "valid" ]      S = K unless said
 *         | "relu" | "tanh" | "gelu" | "sigmoid" | "flatten"
 *         | "groupnorm" G                                      G groups of channels
 *         | "lrn" R                                            over R channels on either side
 *         | "dense" [ N ]                                      without N: one output per class
 * Names are lower case; blanks around a layer are skipped.  Numbers are 1 .. 65536. */
#include "model/net.h"

#include <ctype.h>

const char *const pvi_layer_names[] = { "conv", "dense",   "pool",      "avgpool", "relu",   "tanh",
                                        "gelu", "sigmoid", "groupnorm", "lrn",     "flatten" };
enum { KINDS = sizeof pvi_layer_names / sizeof *pvi_layer_names, MOST = 65536 };

typedef struct reader {
    pv_ctx *ctx;
    const char *at, *end; /* inside the layer's text */
    int64_t number;       /* of the layer, from 1 */
    pvi_layer *layer;
} reader;

static pv_status fail_layer(const reader *r, const char *what)
{
    return pvi_fail(r->ctx, PV_E_PARAM, "model: layer %lld (%s): %s", (long long)r->number, r->layer->text, what);
}

static bool take_word(reader *r, const char *word)
{
    const size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return false;
    r->at += n;
    return true;
}

static bool take_number(reader *r, int64_t *out)
{
    int64_t x = 0;
    const char *from = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9' && x <= MOST) x = 10 * x + (*r->at++ - '0');
    *out = x;
    return r->at > from && x >= 1 && x <= MOST;
}

/* [ "s" S ] [ "same" | "valid" ] */
static pv_status read_stride(reader *r, const char *form)
{
    pvi_layer *l = r->layer;
    if (take_word(r, "same")) return l->same = true, PV_OK;
    if (take_word(r, "valid")) return PV_OK;
    if (take_word(r, "s") && !take_number(r, &l->stride)) return fail_layer(r, form);
    l->same = take_word(r, "same");
    if (!l->same) take_word(r, "valid");
    return PV_OK;
}

static pv_status read_conv(reader *r)
{
    pvi_layer *l = r->layer;
    static const char form[] =
        "a convolution is written conv16x8s2same: 16 filters of 8 x 8, stride 2, same or valid";
    l->stride = 1;
    if (!take_number(r, &l->units) || !take_word(r, "x") || !take_number(r, &l->kernel)) return fail_layer(r, form);
    return read_stride(r, form);
}

static pv_status read_pool(reader *r)
{
    pvi_layer *l = r->layer;
    static const char form[] =
        "pooling is written pool2s1 or avgpool2s1same: windows of 2 x 2, stride 1, same or valid";
    if (!take_number(r, &l->kernel)) return fail_layer(r, form);
    l->stride = l->kernel;
    return read_stride(r, form);
}

static pv_status read_dense(reader *r)
{
    if (r->at < r->end && !take_number(r, &r->layer->units))
        return fail_layer(r, "a dense layer is written dense32, or dense for one output per class");
    return PV_OK;
}

static pv_status read_groupnorm(reader *r)
{
    if (!take_number(r, &r->layer->groups)) return fail_layer(r, "say how many groups of channels, as in groupnorm4");
    return PV_OK;
}

static pv_status read_lrn(reader *r)
{
    if (!take_number(r, &r->layer->radius))
        return fail_layer(r, "say over how many channels on either side, as in lrn4");
    return PV_OK;
}

static pv_status read_numbers(reader *r)
{
    switch (r->layer->kind) {
    case PVI_LAYER_CONV: return read_conv(r);
    case PVI_LAYER_MAXPOOL:
    case PVI_LAYER_AVGPOOL: return read_pool(r);
    case PVI_LAYER_DENSE: return read_dense(r);
    case PVI_LAYER_GROUPNORM: return read_groupnorm(r);
    case PVI_LAYER_LRN: return read_lrn(r);
    default: return PV_OK;
    }
}

static pv_status unknown_layer(reader *r, size_t letters)
{
    char word[32] = { 0 };
    if (letters >= sizeof word) letters = sizeof word - 1;
    memcpy(word, r->at, letters);
    if (strncmp(word, "batch", 5) == 0)
        return fail_layer(r, "batch normalisation mixes the examples of a batch, so no example has a gradient of its "
                             "own: use groupnorm");
    if (strncmp(word, "drop", 4) == 0)
        return fail_layer(r,
                          "dropout draws other weights for every row, and what a row adds would depend on that draw; "
                          "it is there against learning rows by heart, which clipping and noise already bound: "
                          "leave it out");
    const char *near = pvi_nearest(word, pvi_layer_names, KINDS);
    char what[160];
    snprintf(what, sizeof what, "no such layer, %s%s",
             near ? "did you mean "
                  : "there is conv, dense, pool, avgpool, relu, tanh, gelu, sigmoid, groupnorm, lrn, flatten",
             near ? near : "");
    return fail_layer(r, what);
}

static pv_status read_kind(reader *r)
{
    size_t letters = 0;
    while (r->at + letters < r->end && isalpha((unsigned char)r->at[letters])) letters++;
    if (letters == 7 && take_word(r, "maxpool")) return r->layer->kind = PVI_LAYER_MAXPOOL, PV_OK;
    for (int k = 0; k < KINDS; k++)
        if (strlen(pvi_layer_names[k]) == letters && take_word(r, pvi_layer_names[k]))
            return r->layer->kind = (pvi_layer_kind)k, PV_OK;
    return unknown_layer(r, letters);
}

static pv_status read_layer(reader *r)
{
    pv_status s = read_kind(r);
    if (s == PV_OK) s = read_numbers(r);
    if (s == PV_OK && r->at < r->end) {
        char what[64];
        snprintf(what, sizeof what, "\"%.*s\" is not understood", (int)(r->end - r->at), r->at);
        s = fail_layer(r, what);
    }
    return s;
}

/* The text of one layer without blanks; false: empty or too long. */
static bool cut_layer(const char *from, size_t len, pvi_layer *l)
{
    while (len && *from == ' ') from++, len--;
    while (len && from[len - 1] == ' ') len--;
    if (len == 0 || len >= sizeof l->text) return false;
    for (size_t i = 0; i < len; i++)
        if (!isprint((unsigned char)from[i])) return false;
    memcpy(l->text, from, len);
    return true;
}

pv_status pvi_net_parse(pv_ctx *ctx, const char *text, pvi_net *out)
{
    memset(out, 0, sizeof *out);
    for (const char *from = text;; out->n++) {
        const size_t len = strcspn(from, ",");
        pvi_layer *l = &out->layer[out->n];
        if (out->n == PVI_MAX_LAYERS) return pvi_fail(ctx, PV_E_PARAM, "model: more than %d layers", PVI_MAX_LAYERS);
        if (!cut_layer(from, len, l))
            return pvi_fail(ctx, PV_E_PARAM, "model: layer %lld is empty or not a layer: write %s",
                            (long long)out->n + 1, "conv16x8s2same,relu,pool2s1,flatten,dense32,relu,dense");
        reader r = { ctx, l->text, l->text + strlen(l->text), out->n + 1, l };
        const pv_status s = read_layer(&r);
        if (s != PV_OK) return s;
        if (from[len] == '\0') break;
        from += len + 1;
    }
    out->n++;
    return PV_OK;
}
