/* net_shape.c - from what is written to shapes and places of the weights.
 *
 *   (1) valid  out = floor((in - K)/S) + 1
 *   (2) same   out = ceil(in/S), with max((out - 1) S + K - in, 0) zeros around the input, the smaller half in front;
 *              windows of a pool leave out what is beyond the edge instead, in the largest value and in the mean
 * Layers before the first dense one see images; from there on everything is a vector, and the last layer is dense. */
#include "model/net.h"

#define MOST_WEIGHTS ((int64_t)1 << 31)
#define MOST_VALUES  ((int64_t)1 << 28) /* of one layer's output for one example */

typedef struct shaper {
    pv_ctx *ctx;
    pvi_net *net;
    int64_t number; /* of the layer, from 1 */
    pvi_hwc at;     /* what comes in */
    bool vector;    /* a dense layer has been */
} shaper;

static pv_status misfit(const shaper *s, const char *needs)
{
    return pvi_fail(s->ctx, PV_E_PARAM, "model: layer %lld (%s) gets %lldx%lldx%lld, %s", (long long)s->number,
                    s->net->layer[s->number - 1].text, (long long)s->at.h, (long long)s->at.w, (long long)s->at.c,
                    needs);
}

static pv_status too_many(const shaper *s)
{
    return misfit(s, "and would have more than 2^31 weights");
}

/* (2) */
static void pad_side(int64_t in, int64_t kernel, int64_t stride, int64_t *front, int64_t *back)
{
    const int64_t out = (in + stride - 1) / stride, all = (out - 1) * stride + kernel - in;
    *front = all > 0 ? all / 2 : 0;
    *back = all > 0 ? all - all / 2 : 0;
}

/* (1), (2) */
static pv_status shape_window(shaper *s, pvi_layer *l)
{
    if (l->same) {
        pad_side(s->at.h, l->kernel, l->stride, &l->pad_top, &l->pad_bottom);
        pad_side(s->at.w, l->kernel, l->stride, &l->pad_left, &l->pad_right);
    }
    const int64_t h = s->at.h + l->pad_top + l->pad_bottom, w = s->at.w + l->pad_left + l->pad_right;
    char needs[128];
    if (s->vector) return misfit(s, "a vector; it works on images and belongs before the first dense layer");
    snprintf(needs, sizeof needs, "smaller than its window of %lldx%lld: a smaller window, or same, would do",
             (long long)l->kernel, (long long)l->kernel);
    if (h < l->kernel || w < l->kernel) return misfit(s, needs);
    l->out = (pvi_hwc) { (h - l->kernel) / l->stride + 1, (w - l->kernel) / l->stride + 1, s->at.c };
    return PV_OK;
}

static pv_status shape_conv(shaper *s, pvi_layer *l)
{
    const pv_status st = shape_window(s, l);
    if (st != PV_OK) return st;
    l->out.c = l->units;
    if ((double)l->kernel * (double)l->kernel * (double)s->at.c * (double)l->units > (double)MOST_WEIGHTS)
        return too_many(s);
    l->n_weights = l->kernel * l->kernel * s->at.c * l->units;
    l->n_biases = l->units;
    return PV_OK;
}

static pv_status shape_dense(shaper *s, pvi_layer *l)
{
    if (l->units == 0) l->units = s->net->outputs;
    s->vector = true;
    l->in = (pvi_hwc) { 1, 1, s->at.h * s->at.w * s->at.c };
    l->out = (pvi_hwc) { 1, 1, l->units };
    if (l->in.c > MOST_WEIGHTS / l->units) return too_many(s);
    l->n_weights = l->in.c * l->units;
    l->n_biases = l->units;
    return PV_OK;
}

static pv_status shape_groupnorm(shaper *s, pvi_layer *l)
{
    char needs[96];
    snprintf(needs, sizeof needs, "and needs a number of channels that %lld divides", (long long)l->groups);
    if (s->at.c % l->groups != 0) return misfit(s, needs);
    if (s->at.h * s->at.w * s->at.c == l->groups)
        return misfit(s, "and groups of one value leave nothing to normalise");
    l->n_weights = l->n_biases = s->at.c;
    return PV_OK;
}

static pv_status shape_layer(shaper *s, pvi_layer *l)
{
    l->in = l->out = s->at;
    switch (l->kind) {
    case PVI_LAYER_CONV: return shape_conv(s, l);
    case PVI_LAYER_DENSE: return shape_dense(s, l);
    case PVI_LAYER_MAXPOOL:
    case PVI_LAYER_AVGPOOL: return shape_window(s, l);
    case PVI_LAYER_GROUPNORM: return shape_groupnorm(s, l);
    case PVI_LAYER_LRN:
        return s->vector
                   ? misfit(s, "a vector; it works on channels of images and belongs before the first dense layer")
                   : PV_OK;
    case PVI_LAYER_FLATTEN: return l->out = (pvi_hwc) { 1, 1, s->at.h * s->at.w * s->at.c }, PV_OK;
    default: return PV_OK;
    }
}

static pv_status place(shaper *s, pvi_layer *l)
{
    pvi_net *net = s->net;
    if (l->out.h * l->out.w > MOST_VALUES / l->out.c) return misfit(s, "and its output would be too large");
    if (net->d + l->n_weights + l->n_biases > MOST_WEIGHTS) return too_many(s);
    l->weights = net->d;
    l->biases = net->d + l->n_weights;
    net->d += l->n_weights + l->n_biases;
    return PV_OK;
}

static pv_status check_last(const pvi_net *net, pv_ctx *ctx)
{
    const pvi_layer *l = &net->layer[net->n - 1];
    if (l->kind != PVI_LAYER_DENSE)
        return pvi_fail(ctx, PV_E_PARAM,
                        "model: the last layer is %s and must be dense: it gives one number per class", l->text);
    if (l->units != net->outputs)
        return pvi_fail(ctx, PV_E_PARAM, "model: the last layer is %s, but the labels need %lld outputs: write dense",
                        l->text, (long long)net->outputs);
    return PV_OK;
}

pv_status pvi_net_shape(pv_ctx *ctx, pvi_net *net, pvi_hwc in, int64_t outputs)
{
    shaper s = { .ctx = ctx, .net = net, .at = in };
    if (!(in.h >= 1 && in.w >= 1 && in.c >= 1) || (double)in.h * (double)in.w * (double)in.c > (double)MOST_VALUES)
        return pvi_fail(ctx, PV_E_PARAM, "model: an input of %lldx%lldx%lld is out of range", (long long)in.h,
                        (long long)in.w, (long long)in.c);
    net->in = in;
    net->outputs = outputs;
    net->d = 0;
    for (int64_t i = 0; i < net->n; i++) {
        pvi_layer *l = &net->layer[i];
        s.number = i + 1;
        pv_status st = shape_layer(&s, l);
        if (st == PV_OK) st = place(&s, l);
        if (st != PV_OK) return st;
        s.at = l->out;
    }
    return check_last(net, ctx);
}
