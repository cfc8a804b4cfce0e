/* net_plan.c - where a micro-batch keeps its values, and the weights as the kernels want them.
 *
 * Layers before the first dense one (the head) go backward one example after the other, so that of their gradients a
 * thread holds those of one example; dense layers go backward for the whole micro-batch.  The micro-batch is as large
 * as fits CACHE: a function of the network only. */
#include "model/net_run.h"

enum { PAD = 16, CACHE = 1 << 20 };

static int64_t pad(int64_t n)
{
    return (n + PAD - 1) / PAD * PAD;
}

static int64_t size_of(pvi_hwc s)
{
    return s.h * s.w * s.c;
}

static int64_t take(pvi_net_plan *p, int64_t floats)
{
    const int64_t at = p->floats;
    p->floats += pad(floats);
    return at;
}

static pvi_hwc padded_shape(const pvi_layer *l)
{
    return (pvi_hwc) { l->in.h + l->pad_top + l->pad_bottom, l->in.w + l->pad_left + l->pad_right, l->in.c };
}

/* A pool cuts its windows instead. */
static bool needs_padding(const pvi_layer *l)
{
    return l->kind == PVI_LAYER_CONV && l->pad_top + l->pad_bottom + l->pad_left + l->pad_right > 0;
}

/* relu, tanh and sigmoid overwrite their input where nobody needs it to go backward. */
static bool works_in_place(const pvi_net *net, int64_t i)
{
    if (net->layer[i].kind == PVI_LAYER_FLATTEN) return true;
    const pvi_layer_kind kind = net->layer[i].kind;
    if (i == 0 || (kind != PVI_LAYER_RELU && kind != PVI_LAYER_TANH && kind != PVI_LAYER_SIGMOID)) return false;
    switch (net->layer[i - 1].kind) {
    case PVI_LAYER_CONV:
    case PVI_LAYER_DENSE:
    case PVI_LAYER_GROUPNORM:
    case PVI_LAYER_AVGPOOL: return true;
    default: return false;
    }
}

static bool has_product(const pvi_layer *l)
{
    return l->kind == PVI_LAYER_CONV || l->kind == PVI_LAYER_DENSE;
}

static void place_values(const pvi_net *net, pvi_net_plan *p)
{
    int64_t at = needs_padding(&net->layer[0]) ? -1 : take(p, p->batch * size_of(net->in)), size = size_of(net->in);
    for (int64_t i = 0; i < net->n; i++) {
        const pvi_layer *l = &net->layer[i];
        pvi_place *c = &p->place[i];
        c->padded = needs_padding(l);
        c->in_size = c->padded ? size_of(padded_shape(l)) : size;
        c->in = c->padded ? take(p, p->batch * c->in_size) : at;
        c->out_size = size_of(l->out);
        c->out = works_in_place(net, i) ? c->in : take(p, p->batch * c->out_size);
        if (l->kind == PVI_LAYER_GROUPNORM) c->stat = take(p, p->batch * 4 * l->groups);
        if (l->kind == PVI_LAYER_LRN) c->stat = take(p, p->batch * c->out_size);
        c->fused = has_product(l) ? i + 1 < net->n && net->layer[i + 1].kind == PVI_LAYER_RELU
                                  : l->kind == PVI_LAYER_RELU && i > 0 && has_product(&net->layer[i - 1]);
        at = c->out;
        size = c->out_size;
    }
}

static void place_gradients(const pvi_net *net, pvi_net_plan *p)
{
    int64_t most = 0, col = 0;
    for (int64_t i = 0; i < p->first_dense; i++) {
        const pvi_layer *l = &net->layer[i];
        const pvi_place *c = &p->place[i];
        if (c->in_size > most) most = c->in_size;
        if (c->out_size > most) most = c->out_size;
        const int64_t columns = l->kind == PVI_LAYER_CONV ? l->out.h * l->out.w * l->kernel * l->kernel * l->in.c : 0;
        if (i > p->back0 && columns > col) col = columns;
    }
    for (int64_t i = p->first_dense > 0 ? p->first_dense - 1 : 0; i < net->n; i++) {
        p->place[i].delta = take(p, p->batch * p->place[i].out_size);
        if (i >= p->first_dense && net->layer[i].kind == PVI_LAYER_GROUPNORM)
            p->place[i].inst = take(p, p->batch * (net->layer[i].n_weights + net->layer[i].n_biases));
    }
    p->d[0] = take(p, most);
    p->d[1] = take(p, most);
    p->col = take(p, col);
    p->inst = take(p, p->head);
}

static void plan_for(const pvi_net *net, int64_t views, bool units, int64_t batch, pvi_net_plan *p)
{
    memset(p, 0, sizeof *p);
    p->batch = batch;
    while (net->layer[p->first_dense].kind != PVI_LAYER_DENSE) p->first_dense++; /* the last one is */
    while (net->layer[p->back0].n_weights == 0) p->back0++;
    p->head = net->layer[p->first_dense].weights;
    place_values(net, p);
    place_gradients(net, p);
    if (views > 1) p->image = take(p, p->place[0].in_size);
    if (views > 1 || units) p->mean = take(p, net->d);
}

void pvi_net_plan_make(const pvi_net *net, int64_t views, bool units, pvi_net_plan *out)
{
    plan_for(net, views, false, 1, out); /* a unit's sum is no part of what an example takes */
    const int64_t most = views < 2 ? PVI_NET_BATCH : views, fit = CACHE / (int64_t)sizeof(float) / out->floats;
    plan_for(net, views, units, fit < 1 ? 1 : fit > most ? most : fit, out);
}

size_t pvi_net_scratch(const pvi_net_plan *p)
{
    return sizeof(pvi_net_work) + sizeof(float) * (size_t)p->floats;
}

/* ---- weights -------------------------------------------------------------------------------------------- */

static int32_t *offsets(pv_arena *a, int64_t n)
{
    return pv_arena_get(a, sizeof(int32_t) * (size_t)n);
}

static pv_status conv_taps(const pvi_layer *l, pvi_pack *k, pv_arena *a)
{
    const int64_t width = padded_shape(l).w * l->in.c, rows = l->out.h * l->out.w;
    int32_t *at = offsets(a, rows), *back = offsets(a, rows);
    if (!at || !back) return PV_E_NOMEM;
    for (int64_t t = 0; t < rows; t++) {
        at[t] = (int32_t)(t / l->out.w * l->stride * width + t % l->out.w * l->stride * l->in.c);
        back[t] = (int32_t)(t * l->units);
    }
    k->taps = (pvi_taps) { at, rows, l->kernel, l->kernel * l->in.c, width };
    k->back = (pvi_taps) { back, rows, 1, l->units, 0 };
    return PV_OK;
}

static pv_status dense_taps(const pvi_layer *l, pvi_pack *k, pv_arena *a)
{
    const int32_t *zero = offsets(a, 1);
    if (!zero) return PV_E_NOMEM;
    k->taps = (pvi_taps) { zero, 1, 1, l->in.c, 0 };
    k->back = (pvi_taps) { zero, 1, 1, l->units, 0 };
    return PV_OK;
}

static pv_status make_pack(const pvi_layer *l, bool back, pvi_pack *k, pv_arena *a)
{
    if (l->n_weights == 0) return PV_OK;
    if (!has_product(l)) { /* groupnorm: gains and biases as they are */
        k->w = pv_arena_get(a, sizeof(float) * (size_t)l->n_weights);
        k->bias = pv_arena_get(a, sizeof(float) * (size_t)l->n_biases);
        return k->w && k->bias ? PV_OK : PV_E_NOMEM;
    }
    k->k = l->n_weights / l->units;
    k->ldw = pad(l->units);
    k->ldt = pad(k->k);
    k->w = pv_arena_get(a, sizeof(float) * (size_t)(k->k * k->ldw));
    k->bias = pv_arena_get(a, sizeof(float) * (size_t)k->ldw);
    if (back) k->wt = pv_arena_get(a, sizeof(float) * (size_t)(l->units * k->ldt));
    if (!k->w || !k->bias || (back && !k->wt)) return PV_E_NOMEM;
    return l->kind == PVI_LAYER_CONV ? conv_taps(l, k, a) : dense_taps(l, k, a);
}

static void fill_pack(const pvi_layer *l, const double *w, pvi_pack *k)
{
    const int64_t n = k->ldw ? l->units : l->n_weights, rows = l->n_weights / n;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < n; j++) k->w[i * k->ldw + j] = (float)w[l->weights + i * n + j];
    for (int64_t j = 0; j < l->n_biases; j++) k->bias[j] = (float)w[l->biases + j];
    for (int64_t j = 0; k->wt && j < n; j++)
        for (int64_t i = 0; i < rows; i++) k->wt[j * k->ldt + i] = k->w[i * k->ldw + j];
}

/* Where column j of a row goes in the first layer's input: rows hold planes, layers want channels last. */
static pv_status make_input(pvi_net_state *s, pv_arena *a)
{
    const pvi_layer *l = &s->net->layer[0];
    const bool padded = s->plan.place[0].padded;
    const pvi_hwc in = s->net->in, full = padded ? padded_shape(l) : in;
    const int64_t top = padded ? l->pad_top : 0, left = padded ? l->pad_left : 0;
    int32_t *to = offsets(a, size_of(in));
    if (!to) return PV_E_NOMEM;
    for (int64_t c = 0, j = 0; c < in.c; c++)
        for (int64_t y = 0; y < in.h; y++)
            for (int64_t x = 0; x < in.w; x++, j++) to[j] = (int32_t)(((y + top) * full.w + x + left) * in.c + c);
    s->input = to;
    return PV_OK;
}

pv_status pvi_net_pack(pvi_net_state *s, int64_t views, bool units, const double *w, pv_arena *a)
{
    const pvi_net *net = s->net;
    pv_status st = PV_OK;
    if (!s->ready) {
        pvi_net_plan_make(net, views, units, &s->plan);
        for (int64_t i = 0; st == PV_OK && i < net->n; i++)
            st = make_pack(&net->layer[i], i > s->plan.back0, &s->pack[i], a);
        if (st == PV_OK) st = make_input(s, a);
        if (st != PV_OK) return st;
        s->ready = true;
    }
    for (int64_t j = 0; j < net->d; j++)
        if (!isfinite((float)w[j])) return PV_E_NUMERIC;
    for (int64_t i = 0; i < net->n; i++)
        if (net->layer[i].n_weights) fill_pack(&net->layer[i], w, &s->pack[i]);
    return PV_OK;
}
