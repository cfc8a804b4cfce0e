/* net_pass.c - a micro-batch forward, and backward to the gradients that clipping needs; see net.c. */
#include "model/net_run.h"

static float *values(pvi_net_work *k, int64_t place, int64_t size, int64_t e)
{
    return k->x + place + e * size;
}

/* Mean and 1/deviation of each group: doubles in the room of floats. */
static double *stats(pvi_net_work *k, const pvi_place *c, const pvi_layer *l, int64_t e)
{
    return (double *)(void *)(k->x + c->stat) + e * 2 * l->groups;
}

/* ---- input ---------------------------------------------------------------------------------------------- */

/* One channel: lines stay lines. */
static void fill_gray(const pvi_net_state *s, const float *x, float gain, float *to)
{
    const int64_t width = s->net->in.w;
    for (int64_t i = 0; i < s->net->in.h; i++, x += width) {
        float *const line = to + s->input[i * width];
        for (int64_t j = 0; j < width; j++) line[j] = s->scale * (gain * x[j]);
    }
}

/* The same floats as of a dense row. */
static void fill_bytes(const pvi_net_state *s, const uint8_t *byte, const float *level, float gain, int64_t inputs,
                       float *to)
{
    float value[256];
    for (int b = 0; b < 256; b++) value[b] = s->scale * (gain * level[b]);
    for (int64_t j = 0; j < inputs; j++) to[s->input[j]] = value[byte[j]];
}

static void fetch_row(const pv_rows *rows, int64_t r)
{
    __builtin_prefetch(rows->norm + r);
    for (int64_t j = 0; rows->x && j < rows->p; j += 16) __builtin_prefetch(rows->x + r * rows->ld + j);
    for (int64_t j = 0; rows->byte && j < rows->ld; j += 64) __builtin_prefetch(rows->byte + r * rows->ld + j);
}

/* A row that only double can scale: row.c (5).  Never bytes. */
static void fill_far(const pvi_net_state *s, const pv_rows *rows, int64_t r, int64_t inputs, float *to)
{
    const double gain = pvi_far_gain(rows, r, rows->norm[r]);
    const int64_t q = pvi_stored(rows);
    if (inputs > q) to[s->input[q]] = s->scale * (float)(gain * (double)rows->bias);
    for (int64_t j = 0; rows->x && j < inputs && j < q; j++)
        to[s->input[j]] = s->scale * (float)(gain * (double)rows->x[r * rows->ld + j]);
    for (int64_t e = rows->x ? 0 : rows->ptr[r]; !rows->x && e < rows->ptr[r + 1]; e++)
        if (rows->idx[e] < inputs) to[s->input[rows->idx[e]]] = s->scale * (float)(gain * (double)rows->val[e]);
}

void pvi_net_fill_row(const pvi_net_state *s, const pv_rows *rows, int64_t r, float *to)
{
    const int64_t inputs = s->net->in.h * s->net->in.w * s->net->in.c, q = pvi_stored(rows);
    const float *const x = rows->x ? rows->x + r * rows->ld : NULL, gain = pvi_gain(rows, rows->norm[r]);
    memset(to, 0, sizeof *to * (size_t)s->plan.place[0].in_size);
    if (pvi_is_far(rows, rows->norm[r])) {
        fill_far(s, rows, r, inputs, to);
        return;
    }
    if (inputs > q) to[s->input[q]] = s->scale * (gain * rows->bias); /* images have no use for the bias */
    if (rows->byte) fill_bytes(s, rows->byte + r * rows->ld, rows->level, gain, inputs, to);
    else if (x && s->net->in.c == 1 && inputs <= q) fill_gray(s, x, gain, to);
    else if (x)
        for (int64_t j = 0; j < inputs && j < q; j++) to[s->input[j]] = s->scale * (gain * x[j]);
    else
        for (int64_t e = rows->ptr[r]; e < rows->ptr[r + 1]; e++)
            if (rows->idx[e] < inputs) to[s->input[rows->idx[e]]] = s->scale * (gain * rows->val[e]);
}

int64_t pvi_net_fill(const pvi_net_state *s, const pv_rows *rows, int64_t first, pvi_net_work *k)
{
    const int64_t left = rows->n - first, parts = (left + s->plan.batch - 1) / s->plan.batch;
    k->n = (left + parts - 1) / parts; /* equal parts: no small one at the end */
    for (int64_t e = 0; e < k->n; e++) {
        k->row[e] = rows->pick ? rows->pick[first + e] : first + e;
        if (e + 1 < k->n) fetch_row(rows, rows->pick ? rows->pick[first + e + 1] : first + e + 1);
        pvi_net_fill_row(s, rows, k->row[e], values(k, s->plan.place[0].in, s->plan.place[0].in_size, e));
    }
    return k->n;
}

/* ---- forward ---------------------------------------------------------------------------------------------- */

/* The lines of an image into the middle of one with zeros around it. */
void pvi_net_pad(const pvi_layer *l, const float *x, float *to, int64_t size)
{
    const int64_t line = l->in.w * l->in.c, width = line + (l->pad_left + l->pad_right) * l->in.c;
    memset(to, 0, sizeof *to * (size_t)size);
    for (int64_t i = 0; i < l->in.h; i++)
        memcpy(to + (i + l->pad_top) * width + l->pad_left * l->in.c, x + i * line, sizeof *x * (size_t)line);
}

static void forward_each(const pvi_net_state *s, pvi_net_work *k, int64_t i, int64_t e)
{
    const pvi_layer *l = &s->net->layer[i];
    const pvi_place *c = &s->plan.place[i];
    const float *const x = values(k, c->in, c->in_size, e);
    float *const y = values(k, c->out, c->out_size, e);
    switch (l->kind) {
    case PVI_LAYER_RELU: s->kernel->relu(x, c->out_size, y); break;
    case PVI_LAYER_TANH: s->kernel->tanh(x, c->out_size, y); break;
    case PVI_LAYER_GELU: s->kernel->gelu(x, c->out_size, y); break;
    case PVI_LAYER_SIGMOID: s->kernel->sigmoid(x, c->out_size, y); break;
    case PVI_LAYER_LRN: s->kernel->lrn(l, x, y, values(k, c->stat, c->out_size, e)); break;
    case PVI_LAYER_MAXPOOL: s->kernel->maxpool(l, x, y); break;
    case PVI_LAYER_AVGPOOL: s->kernel->avgpool(l, x, y); break;
    case PVI_LAYER_GROUPNORM: pvi_groupnorm(l, s->pack[i].w, s->pack[i].bias, x, y, stats(k, c, l, e)); break;
    default: break;
    }
}

static void forward_layer(const pvi_net_state *s, pvi_net_work *k, int64_t i)
{
    const pvi_layer *l = &s->net->layer[i];
    const pvi_place *c = &s->plan.place[i];
    const pvi_pack *w = &s->pack[i];
    if (c->padded && i > 0)
        for (int64_t e = 0; e < k->n; e++)
            pvi_net_pad(l, values(k, s->plan.place[i - 1].out, s->plan.place[i - 1].out_size, e),
                        values(k, c->in, c->in_size, e), c->in_size);
    if (l->kind == PVI_LAYER_CONV || l->kind == PVI_LAYER_DENSE)
        s->kernel->product(&w->taps, k->n, k->x + c->in, c->in_size, w->w, w->ldw, w->bias, l->units, c->fused,
                           k->x + c->out);
    else if (!c->fused)
        for (int64_t e = 0; e < k->n; e++) forward_each(s, k, i, e);
}

const float *pvi_net_forward(const pvi_net_state *s, pvi_net_work *k)
{
    for (int64_t i = 0; i < s->net->n; i++) forward_layer(s, k, i);
    return k->x + s->plan.place[s->net->n - 1].out;
}

/* ---- backward ----------------------------------------------------------------------------------------------- */

/* A layer without weights: dx from dy, the same array allowed for activations. */
static void back_plain(const pvi_net_state *s, pvi_net_work *k, int64_t i, int64_t e, const float *dy, float *dx)
{
    const pvi_layer *l = &s->net->layer[i];
    const pvi_place *c = &s->plan.place[i];
    const float *const x = values(k, c->in, c->in_size, e), *const y = values(k, c->out, c->out_size, e);
    switch (l->kind) {
    case PVI_LAYER_RELU: s->kernel->relu_back(y, dy, c->out_size, dx); break;
    case PVI_LAYER_TANH: s->kernel->tanh_back(y, dy, c->out_size, dx); break;
    case PVI_LAYER_GELU: s->kernel->gelu_back(x, dy, c->out_size, dx); break;
    case PVI_LAYER_SIGMOID: s->kernel->sigmoid_back(y, dy, c->out_size, dx); break;
    case PVI_LAYER_LRN: s->kernel->lrn_back(l, x, y, dy, values(k, c->stat, c->out_size, e), dx); break;
    case PVI_LAYER_MAXPOOL:
        memset(dx, 0, sizeof *dx * (size_t)c->in_size);
        s->kernel->maxpool_back(l, x, y, dy, dx);
        break;
    case PVI_LAYER_AVGPOOL:
        memset(dx, 0, sizeof *dx * (size_t)c->in_size);
        s->kernel->avgpool_back(l, dy, dx);
        break;
    default: memmove(dx, dy, sizeof *dx * (size_t)c->out_size); break;
    }
}

static void back_dense(const pvi_net_state *s, pvi_net_work *k, int64_t i)
{
    const pvi_layer *l = &s->net->layer[i];
    const pvi_place *c = &s->plan.place[i];
    const pvi_pack *w = &s->pack[i];
    for (int64_t e = 0; e < k->n; e++)
        k->norm2[e][i] = s->kernel->squares(values(k, c->delta, c->out_size, e), c->out_size) *
                         (s->kernel->squares(values(k, c->in, c->in_size, e), c->in_size) + 1.0); /* (2) */
    if (i > s->plan.back0)
        s->kernel->product(&w->back, k->n, k->x + c->delta, c->out_size, w->wt, w->ldt, NULL, l->in.c, false,
                           k->x + s->plan.place[i - 1].delta);
}

static void back_norm(const pvi_net_state *s, pvi_net_work *k, int64_t i, int64_t e, const float *dy, float *dx,
                      float *grad)
{
    const pvi_layer *l = &s->net->layer[i];
    const pvi_place *c = &s->plan.place[i];
    pvi_groupnorm_back(l, s->pack[i].w, values(k, c->in, c->in_size, e), stats(k, c, l, e), dy, dx, grad,
                       grad + l->n_weights);
    k->norm2[e][i] = s->kernel->squares(grad, l->n_weights + l->n_biases);
}

void pvi_net_back_tail(const pvi_net_state *s, pvi_net_work *k)
{
    for (int64_t i = s->net->n - 1; i >= s->plan.first_dense; i--) {
        const pvi_layer *l = &s->net->layer[i];
        const pvi_place *c = &s->plan.place[i];
        if (l->kind == PVI_LAYER_DENSE) {
            back_dense(s, k, i);
            continue;
        }
        for (int64_t e = 0; e < k->n; e++) {
            const float *const dy = values(k, c->delta, c->out_size, e);
            float *const dx = values(k, s->plan.place[i - 1].delta, c->out_size, e);
            if (l->kind == PVI_LAYER_GROUPNORM)
                back_norm(s, k, i, e, dy, dx, values(k, c->inst, l->n_weights + l->n_biases, e));
            else back_plain(s, k, i, e, dy, dx);
        }
    }
}

/* The middle of an image with something around it, in place. */
static void crop_image(const pvi_layer *l, float *x)
{
    const int64_t line = l->in.w * l->in.c, width = line + (l->pad_left + l->pad_right) * l->in.c;
    for (int64_t i = 0; i < l->in.h; i++)
        memmove(x + i * line, x + (i + l->pad_top) * width + l->pad_left * l->in.c, sizeof *x * (size_t)line);
}

static void back_conv(const pvi_net_state *s, pvi_net_work *k, int64_t i, int64_t e, const float *dy, float *dx)
{
    const pvi_layer *l = &s->net->layer[i];
    const pvi_place *c = &s->plan.place[i];
    const pvi_pack *w = &s->pack[i];
    float *const grad = k->x + s->plan.inst, *const col = k->x + s->plan.col;
    s->kernel->outer(&w->taps, values(k, c->in, c->in_size, e), dy, w->back.at, l->units, false, grad + l->weights);
    s->kernel->columns(w->taps.rows, l->units, dy, grad + l->biases);
    k->norm2[e][i] = s->kernel->squares(grad + l->weights, l->n_weights + l->n_biases); /* (3) */
    if (i == s->plan.back0) return;
    s->kernel->product(&w->back, 1, dy, 0, w->wt, w->ldt, NULL, w->k, false, col);
    memset(dx, 0, sizeof *dx * (size_t)c->in_size);
    s->kernel->scatter(&w->taps, col, dx);
    if (c->padded) crop_image(l, dx);
}

void pvi_net_back_head(const pvi_net_state *s, pvi_net_work *k, int64_t e)
{
    const pvi_net_plan *p = &s->plan;
    if (p->head == 0) return;
    const pvi_place *top = &p->place[p->first_dense - 1];
    float *dy = values(k, top->delta, top->out_size, e);
    int side = 0;
    for (int64_t i = p->first_dense - 1; i >= p->back0; i--) {
        const pvi_layer *l = &s->net->layer[i];
        float *dx = k->x + p->d[side];
        switch (l->kind) {
        case PVI_LAYER_CONV: back_conv(s, k, i, e, dy, dx); break;
        case PVI_LAYER_GROUPNORM: back_norm(s, k, i, e, dy, dx, k->x + p->inst + l->weights); break;
        case PVI_LAYER_LRN:
        case PVI_LAYER_MAXPOOL:
        case PVI_LAYER_AVGPOOL: back_plain(s, k, i, e, dy, dx); break;
        case PVI_LAYER_FLATTEN: continue;
        default: back_plain(s, k, i, e, dy, dy); continue;
        }
        dy = dx;
        side = !side;
    }
}
