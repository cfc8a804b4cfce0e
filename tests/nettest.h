/* nettest.h - networks one example at a time in double, by the definitions, without any of the library's code. */
#ifndef NETTEST_H
#define NETTEST_H
#include "model/net.h"
#include "modeltest.h"

typedef struct nt_net { /* a model with rows to try it on */
    const pv_model_ops *ops;
    pvi_net_cfg cfg;
    pv_domain dom;
    int64_t d;
    void *st, *scratch;
    double *w;
    mt_rows t;
} nt_net;

static inline void nt_begin(nt_net *f, pv_arena *a)
{
    PVT_OK(f->ops->begin(f->st, &f->cfg, &f->dom, f->w, 0, a));
}

/* classes 0: real labels.  h = 0: a table of c columns. */
static inline void nt_make(nt_net *f, pv_ctx *host, pv_arena *a, const char *model, const char *layers, int64_t h,
                           int64_t w, int64_t c, int64_t classes, int64_t rows, uint64_t seed)
{
    *f = (nt_net) { .ops = (const pv_model_ops *)(const void *)pv_find(PV_KIND_model, model) };
    pvi_param_defaults(f->ops->head.params, &f->cfg);
    if (layers) f->cfg.layers = layers;
    f->cfg.augment = 1; /* more: nt_augment */
    const int64_t p = h ? h * w * c : c;
    f->dom = (pv_domain) { .n = rows, .p = p, .row_norm = 2, .classes = classes, .y_lo = -1, .y_hi = 1 };
    if (h) f->dom.height = h, f->dom.width = w, f->dom.channels = c;
    PVT_OK(f->ops->open(&f->cfg, &f->dom, host));
    f->d = f->ops->dim(&f->cfg, &f->dom);
    f->t = mt_make(seed, rows, p, 1, classes);
    f->st = calloc(1, f->ops->head.state_size);
    const size_t room = (f->ops->scratch(&f->cfg, &f->dom, rows) + 63) / 64 * 64;
    f->scratch = aligned_alloc(64, room);
    memset(f->scratch, 0xff, room); /* NaN wherever nobody wrote */
    f->w = calloc((size_t)f->d, sizeof *f->w);
    f->ops->start(&f->cfg, &f->dom, f->w);
    for (int64_t j = 0; j < f->d; j++)
        f->w[j] = (double)(float)(f->w[j] + (f->d < 5000 ? 0.1 : 0.01) * pvt_normal(&seed));
    nt_begin(f, a);
}

/* Several views of every row from now on, with the scratch they need. */
static inline void nt_augment(nt_net *f, pv_arena *a, int64_t views, int64_t shift, bool flip)
{
    f->cfg.augment = views;
    f->cfg.shift = shift;
    f->cfg.flip = flip;
    free(f->st), free(f->scratch);
    f->st = calloc(1, f->ops->head.state_size);
    const size_t room = (f->ops->scratch(&f->cfg, &f->dom, f->t.n) + 63) / 64 * 64;
    f->scratch = aligned_alloc(64, room);
    memset(f->scratch, 0xff, room);
    nt_begin(f, a);
}

static inline void nt_free(nt_net *f)
{
    mt_free(&f->t);
    free(f->st), free(f->scratch), free(f->w);
}

/* ---- one example forward, by the definitions ------------------------------------------------------------ */

static inline double *nt_conv(const pvi_layer *l, const double *x, const double *w)
{
    double *y = calloc((size_t)(l->out.h * l->out.w * l->out.c), sizeof *y);
    for (int64_t i = 0; i < l->out.h; i++)
        for (int64_t j = 0; j < l->out.w; j++)
            for (int64_t n = 0; n < l->units; n++) {
                double s = w[l->biases + n];
                for (int64_t a = 0; a < l->kernel; a++)
                    for (int64_t b = 0; b < l->kernel; b++)
                        for (int64_t c = 0; c < l->in.c; c++) {
                            const int64_t r = i * l->stride + a - l->pad_top, q = j * l->stride + b - l->pad_left;
                            if (r < 0 || r >= l->in.h || q < 0 || q >= l->in.w) continue;
                            s += x[(r * l->in.w + q) * l->in.c + c] *
                                 w[l->weights + ((a * l->kernel + b) * l->in.c + c) * l->units + n];
                        }
                y[(i * l->out.w + j) * l->units + n] = s;
            }
    return y;
}

static inline double *nt_pool(const pvi_layer *l, const double *x)
{
    double *y = calloc((size_t)(l->out.h * l->out.w * l->out.c), sizeof *y);
    for (int64_t i = 0; i < l->out.h; i++)
        for (int64_t j = 0; j < l->out.w; j++)
            for (int64_t c = 0; c < l->in.c; c++) {
                double most = -INFINITY, sum = 0, n = 0;
                for (int64_t a = 0; a < l->kernel; a++)
                    for (int64_t b = 0; b < l->kernel; b++) { /* what is beyond the edge does not count */
                        const int64_t r = i * l->stride + a - l->pad_top, q = j * l->stride + b - l->pad_left;
                        if (r < 0 || r >= l->in.h || q < 0 || q >= l->in.w) continue;
                        const double v = x[(r * l->in.w + q) * l->in.c + c];
                        most = fmax(most, v);
                        sum += v;
                        n++;
                    }
                y[(i * l->out.w + j) * l->in.c + c] = l->kind == PVI_LAYER_MAXPOOL ? most : sum / n;
            }
    return y;
}

static inline double *nt_groupnorm(const pvi_layer *l, const double *x, const double *w)
{
    const int64_t pixels = l->in.h * l->in.w, wide = l->in.c / l->groups;
    double *y = calloc((size_t)(pixels * l->in.c), sizeof *y);
    for (int64_t g = 0; g < l->groups; g++) {
        double mean = 0, var = 0, m = (double)(pixels * wide);
        for (int64_t p = 0; p < pixels; p++)
            for (int64_t c = g * wide; c < (g + 1) * wide; c++) mean += x[p * l->in.c + c] / m;
        for (int64_t p = 0; p < pixels; p++)
            for (int64_t c = g * wide; c < (g + 1) * wide; c++) var += pow(x[p * l->in.c + c] - mean, 2) / m;
        for (int64_t p = 0; p < pixels; p++)
            for (int64_t c = g * wide; c < (g + 1) * wide; c++)
                y[p * l->in.c + c] =
                    w[l->weights + c] * (x[p * l->in.c + c] - mean) / sqrt(var + 1e-5) + w[l->biases + c];
    }
    return y;
}

/* As tf.nn.lrn(x, radius, bias=1, alpha=0.001/(2 radius + 1), beta=0.75). */
static inline double *nt_lrn(const pvi_layer *l, const double *x)
{
    const int64_t pixels = l->in.h * l->in.w, C = l->in.c;
    double *y = calloc((size_t)(pixels * C), sizeof *y);
    for (int64_t p = 0; p < pixels; p++)
        for (int64_t c = 0; c < C; c++) {
            double sum = 0;
            for (int64_t b = 0; b < C; b++)
                if (llabs(b - c) <= l->radius) sum += x[p * C + b] * x[p * C + b];
            y[p * C + c] = x[p * C + c] / pow(1 + 0.001 / (double)(2 * l->radius + 1) * sum, 0.75);
        }
    return y;
}

static inline double *nt_dense(const pvi_layer *l, const double *x, const double *w)
{
    double *y = calloc((size_t)l->units, sizeof *y);
    for (int64_t n = 0; n < l->units; n++) {
        y[n] = w[l->biases + n];
        for (int64_t k = 0; k < l->in.c; k++) y[n] += x[k] * w[l->weights + k * l->units + n];
    }
    return y;
}

static inline double nt_activation(pvi_layer_kind kind, double x)
{
    switch (kind) {
    case PVI_LAYER_RELU: return fmax(x, 0);
    case PVI_LAYER_TANH: return tanh(x);
    case PVI_LAYER_SIGMOID: return 1 / (1 + exp(-x));
    case PVI_LAYER_GELU: return 0.5 * x * (1 + tanh(sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
    default: return x;
    }
}

static inline double *nt_layer(const pvi_layer *l, const double *x, const double *w)
{
    switch (l->kind) {
    case PVI_LAYER_CONV: return nt_conv(l, x, w);
    case PVI_LAYER_DENSE: return nt_dense(l, x, w);
    case PVI_LAYER_MAXPOOL:
    case PVI_LAYER_AVGPOOL: return nt_pool(l, x);
    case PVI_LAYER_GROUPNORM: return nt_groupnorm(l, x, w);
    case PVI_LAYER_LRN: return nt_lrn(l, x);
    default: break;
    }
    const int64_t n = l->in.h * l->in.w * l->in.c;
    double *y = calloc((size_t)n, sizeof *y);
    for (int64_t j = 0; j < n; j++) y[j] = nt_activation(l->kind, x[j]);
    return y;
}

/* The outputs for row r at weights w. */
static inline void nt_outputs(const nt_net *f, int64_t r, const double *w, double *z)
{
    const pvi_net *net = &f->cfg.net;
    const int64_t n = net->in.h * net->in.w * net->in.c;
    double *x = calloc((size_t)n, sizeof *x);
    for (int64_t c = 0; c < net->in.c; c++) /* rows hold planes, networks want channels last */
        for (int64_t p = 0; p < net->in.h * net->in.w; p++)
            x[p * net->in.c + c] =
                (double)(float)f->cfg.scale * (double)f->t.x[r * f->t.ld + c * net->in.h * net->in.w + p];
    for (int64_t i = 0; i < net->n; i++) {
        double *y = nt_layer(&net->layer[i], x, w);
        free(x);
        x = y;
    }
    memcpy(z, x, sizeof *z * (size_t)net->outputs);
    free(x);
}

static inline double nt_loss(const nt_net *f, int64_t r, const double *w)
{
    const int64_t k = f->cfg.net.outputs;
    double z[64], sum = 0;
    nt_outputs(f, r, w, z);
    const double y = f->dom.classes == 2 ? f->t.y[r] > 0 : (double)f->t.y[r];
    if (f->dom.classes == 0) return 0.5 * pow(z[0] - y, 2);
    if (f->cfg.loss == 2) {
        for (int64_t c = 0; c < k; c++) sum += 0.5 * pow(z[c] - ((double)c == y), 2);
        return sum;
    }
    for (int64_t c = 0; c < k; c++) sum += exp(z[c] - z[(int64_t)y]);
    return log(sum);
}

/* The gradient of row r's loss, by central differences in double. */
static inline void nt_gradient(const nt_net *f, int64_t r, double *g)
{
    const double h = 1e-7; /* small: a kink within h would count as an error */
    double *w = malloc(sizeof *w * (size_t)f->d);
    memcpy(w, f->w, sizeof *w * (size_t)f->d);
    for (int64_t j = 0; j < f->d; j++) {
        w[j] = f->w[j] + h;
        const double up = nt_loss(f, r, w);
        w[j] = f->w[j] - h;
        g[j] = (up - nt_loss(f, r, w)) / (2 * h);
        w[j] = f->w[j];
    }
    free(w);
}

/* What clipping makes of a row's gradient, by the definitions. */
static inline void nt_clip(const nt_net *f, double clip, double *g)
{
    const pvi_net *net = &f->cfg.net;
    double total = 0, parts = 0;
    for (int64_t j = 0; j < f->d; j++) total += g[j] * g[j];
    for (int64_t i = 0; i < net->n; i++) parts += net->layer[i].n_weights > 0;
    int64_t part = 0;
    for (int64_t i = 0; i < net->n; i++) {
        const pvi_layer *l = &net->layer[i];
        const int64_t n = l->n_weights + l->n_biases;
        double own = 0;
        for (int64_t j = 0; j < n; j++) own += pow(g[l->weights + j], 2);
        double s = fmin(1, clip / sqrt(total));
        double share = clip / sqrt(parts);
        if (f->cfg.clips.n) { /* C c_l/||c|| */
            double all = 0;
            for (int64_t k = 0; k < f->cfg.clips.n; k++) all += pow(f->cfg.clips.v[k], 2);
            share = clip * f->cfg.clips.v[part] / sqrt(all);
        }
        part += n > 0;
        if (f->cfg.clipping == PVI_CLIP_LAYER) s = fmin(1, share / sqrt(own));
        if (f->cfg.clipping == PVI_CLIP_AUTOMATIC) s = clip / (sqrt(total) + f->cfg.gamma);
        for (int64_t j = 0; j < n; j++) g[l->weights + j] *= s;
    }
}

/* Clipping layer by layer with a norm for each, from now on; off: equal shares again. */
static inline void nt_clips(nt_net *f, pv_ctx *host, bool on)
{
    int64_t layers = f->ops->tensors(&f->cfg, &f->dom, NULL) / 2;
    f->cfg.clipping = on ? PVI_CLIP_LAYER : PVI_CLIP_FLAT;
    f->cfg.clips.n = on ? layers : 0;
    for (int64_t i = 0; i < layers; i++) f->cfg.clips.v[i] = 0.1 + (double)(i * i % 5);
    PVT_OK(f->ops->open(&f->cfg, &f->dom, host));
}
#endif
