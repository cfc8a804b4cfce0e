/* net.c - neural networks: exact per-example clipping without per-example gradients in memory.
 *
 *   a      input of a layer for one example        b    gradient of the example's loss by the layer's output
 *   C      clip                                     f    clip factor of one example
 *   t      output pixels of a convolution, a_t the patch of the input below pixel t
 *   u      2^-24
 *
 * Rows go through the network in micro-batches that stay in the cache.  The loss of a row is
 *   (1) log sum_c e^(z_c) - z_y  or  ||z - y||^2/2  (y the unit vector of the class, or the number itself)
 * of its outputs z.  Going backward, the squared norms of a row's gradient are found layer by layer:
 *   (2) dense      the gradient is a b', its bias b:   (||a||^2 + 1) ||b||^2.  No product is formed.
 *   (3) conv       sum_t a_t b_t', its bias sum_t b_t.  This matrix is formed for one row at a time in a scratch
 *                  of one layer's size.  That costs no arithmetic: the same products are needed for the sum of
 *                  the clipped gradients anyhow, where (3) is multiplied by f and added.  (The other way, norms
 *                  from the inner products of all pairs a_s'a_t, b_s'b_t and then the sum, needs both.)
 *   (4) groupnorm  two vectors, formed likewise.
 * Then  flat       f = min(1, C/n),  n^2 the sum of all layers' squared norms
 *       per layer  f_l = min(1, C_l/n_l) for each of the L layers with weights, with
 *   (5)            C_l = C/sqrt(L),  or  C_l = C c_l/||c|| where model.clips lists norms c_1 .. c_L.
 *                  Either way sum_l C_l^2 = C^2: the whole is at most C = sqrt(sum_l C_l^2) long.  With the list
 *                  and nothing else said, C is ||c|| (the slot constants), so C_l = c_l; a smaller `clip` scales all.
 *       automatic  f = C/(n + gamma)
 * and g += f (3), f (4) row by row; dense layers get b <- f b and one product sum_i a_i b_i' per micro-batch,
 * accumulated row after row.
 *
 * With model.augment the gradient of a row is the mean over several views of it, formed as in (3): net_views.c.
 *
 * Privacy.  Activations and b of a row are fixed sequences of float operations on that row and the weights, the
 * same wherever it stands in a micro-batch and whatever stands beside it (net_run.h).  What a row adds is
 * therefore a function of the row alone: the exact vector q with parts a (f b)' and f (3), where f b and (3) are the
 * floats as computed.
 *   (M1) n^2 is a sum of squares of these very floats, in double: exact to d 2^-52.  f is C (1 - 4u)/n as a float,
 *        off by u, and f b another u:  ||q|| <= C; layer by layer ||q_l|| <= C_l likewise, (5) in double.  A row
 *        whose n^2 is not finite adds nothing and is counted.
 *   (M2) Each coordinate of g is a sequence of one multiply-add per row, as in glm.c (5), which holds for any d.
 *   (M3) Likewise: a row that adds nothing is left out or adds exact zeros.
 * Public quantities only: shapes, start weights (a fixed stream, not the run's randomness), micro-batch size.
 *
 * Start     weights uniform in +-sqrt(6/fan_in) before relu and gelu, +-sqrt(6/(fan_in + fan_out)) elsewhere.
 * Input     the row as the model sees it, fl(s v_j) (row.c), multiplied by `scale`, by default sqrt(p)/R: a row at
 *           the norm bound R has mean square 1.
 * Reference Abadi et al. 2016 (clipping); Goodfellow 2015 (2); Bu et al. 2023 (automatic clipping);
 *           He et al. 2015, Glorot, Bengio 2010 (start). */
#include "model/net_run.h"

#include <float.h>

extern const pvi_net_kernel PVI_DECLARE_ISA(pvi_net_kernel);
const pvi_net_kernel *const pvi_net_kernel_isa[PVI_ISA_COUNT] = PVI_EACH_ISA(pvi_net_kernel);

enum { LOSS_AUTO, LOSS_CROSS_ENTROPY, LOSS_SQUARED };

/* ---- the network behind the settings --------------------------------------------------------------------- */

static int64_t layers_with_weights(const pvi_net *net)
{
    int64_t n = 0;
    for (int64_t i = 0; i < net->n; i++) n += net->layer[i].n_weights > 0;
    return n;
}

/* A norm for each layer, or none: one alone would not say how large the others are. */
static pv_status open_clips(pvi_net_cfg *c, pv_ctx *ctx)
{
    const int64_t layers = layers_with_weights(&c->net);
    double sum = 0.0;
    c->all_clips = (double)INFINITY;
    if (c->clips.n == 0) return PV_OK;
    if (c->clips.n != layers)
        return pvi_fail(ctx, PV_E_PARAM, "model.clips has %lld norms, and the network has %lld layers with weights",
                        (long long)c->clips.n, (long long)layers);
    if (c->clipping != PVI_CLIP_LAYER)
        return pvi_fail(ctx, PV_E_PARAM, "model.clips are norms of single layers: add model.clipping=layer");
    for (int64_t i = 0; i < layers; i++) sum += c->clips.v[i] * c->clips.v[i];
    c->all_clips = sqrt(sum);
    return PV_OK;
}

pv_status pvi_net_open(void *c_, const pv_domain *dom, pv_ctx *ctx)
{
    pvi_net_cfg *c = c_;
    const pvi_hwc in =
        dom->height > 0 ? (pvi_hwc) { dom->height, dom->width, dom->channels } : (pvi_hwc) { 1, 1, dom->p };
    pv_status s = pvi_net_parse(ctx, c->layers, &c->net);
    if (s == PV_OK && dom->height == 0 && c->net.layer[0].kind == PVI_LAYER_CONV)
        s = pvi_fail(
            ctx, PV_E_PARAM,
            "model: layer 1 (%s) needs images, and the data is a table of %lld columns: data.image=28x28 says "
            "that rows are images",
            c->net.layer[0].text, (long long)dom->p);
    if (s == PV_OK && dom->height == 0 && c->augment > 1)
        s = pvi_fail(ctx, PV_E_PARAM, "model.augment=%lld moves images, and the data is a table of %lld columns",
                     (long long)c->augment, (long long)dom->p);
    if (s == PV_OK && dom->classes == 0 && c->loss == LOSS_CROSS_ENTROPY)
        s = pvi_fail(ctx, PV_E_PARAM, "model.loss=cross-entropy needs classes as labels, and the labels are numbers");
    if (s == PV_OK) s = pvi_net_shape(ctx, &c->net, in, dom->classes == 0 ? 1 : dom->classes);
    if (s == PV_OK) s = open_clips(c, ctx);
    if (isnan(c->scale)) c->scale = sqrt((double)(in.h * in.w * in.c)) / dom->row_norm;
    return s;
}

int64_t pvi_net_dim(const void *cfg, const pv_domain *dom)
{
    (void)dom;
    return ((const pvi_net_cfg *)cfg)->net.d;
}

static size_t scratch_size(const void *cfg, const pv_domain *dom, int64_t max_rows)
{
    const pvi_net_cfg *c = cfg;
    pvi_net_plan p;
    (void)max_rows;
    pvi_net_plan_make(&c->net, c->augment, dom->unit_rows > 0, &p);
    return pvi_net_scratch(&p);
}

static pv_status begin(void *st, const void *cfg, const pv_domain *dom, const double *w, int64_t number, pv_arena *a)
{
    pvi_net_state *s = st;
    const pvi_net_cfg *c = cfg;
    s->net = &c->net;
    s->kernel = pvi_net_kernel_isa[pvi_isa()];
    s->scale = (float)c->scale;
    s->classes = dom->classes;
    s->query = (uint64_t)number;
    return pvi_net_pack(s, c->augment, dom->unit_rows > 0, w, a);
}

/* ---- start ------------------------------------------------------------------------------------------------ */

typedef struct stream { /* uniform numbers from a public key: ChaCha20 of zeros, the seed as nonce */
    uint64_t seed, block;
    uint32_t word[16];
    int left;
} stream;

static double next_uniform(stream *s) /* in (-1, 1) */
{
    static const uint8_t key[PVI_KEY_SIZE];
    if (s->left == 0) {
        pvi_chacha20(key, s->seed, s->block++, (uint8_t *)s->word, sizeof s->word);
        s->left = 16;
    }
    return ((double)s->word[--s->left] + 0.5) * 0x1p-31 - 1.0;
}

static double start_range(const pvi_net *net, int64_t i)
{
    const pvi_layer *l = &net->layer[i];
    const double in = (double)(l->n_weights / l->units),
                 out = (double)l->units * (l->kind == PVI_LAYER_CONV ? (double)(l->kernel * l->kernel) : 1.0);
    for (int64_t k = i + 1; k < net->n && !net->layer[k].n_weights; k++) {
        const pvi_layer_kind kind = net->layer[k].kind;
        if (kind == PVI_LAYER_TANH || kind == PVI_LAYER_SIGMOID) break;
        if (kind == PVI_LAYER_RELU || kind == PVI_LAYER_GELU) return sqrt(6.0 / in);
    }
    return sqrt(6.0 / (in + out));
}

void pvi_net_start(const void *cfg, const pv_domain *dom, double *w)
{
    const pvi_net_cfg *c = cfg;
    stream s = { .seed = (uint64_t)c->seed };
    (void)dom;
    memset(w, 0, sizeof *w * (size_t)c->net.d);
    for (int64_t i = 0; i < c->net.n; i++) {
        const pvi_layer *l = &c->net.layer[i];
        if (l->n_weights == 0) continue;
        const double range = l->kind == PVI_LAYER_GROUPNORM ? 0.0 : start_range(&c->net, i);
        for (int64_t j = 0; j < l->n_weights; j++)
            w[l->weights + j] = l->kind == PVI_LAYER_GROUPNORM ? 1.0 : range * next_uniform(&s);
    }
}

/* The image that a dense layer sees as a vector, channels last; a vector is one pixel. */
static pvi_hwc seen_by(const pvi_net *net, int64_t i)
{
    for (; i > 0; i--) {
        const pvi_layer *l = &net->layer[i - 1];
        if (l->kind == PVI_LAYER_FLATTEN) return l->in;
        if (l->n_weights || l->kind == PVI_LAYER_MAXPOOL || l->kind == PVI_LAYER_AVGPOOL) return l->out;
    }
    return net->in;
}

static pv_tensor weights_of(const pvi_net *net, int64_t i)
{
    const pvi_layer *l = &net->layer[i];
    if (l->kind == PVI_LAYER_CONV)
        return (pv_tensor) { l->n_weights, l->kernel * l->kernel, l->in.c, l->units,
                             (l->kernel + l->stride - 1) / l->stride };
    if (l->kind != PVI_LAYER_DENSE) return (pv_tensor) { l->n_weights, 1, l->n_weights, 1, 1 };
    const pvi_hwc in = seen_by(net, i);
    return (pv_tensor) { l->n_weights, in.h * in.w, in.c, l->units, 1 };
}

int64_t pvi_net_tensors(const void *cfg, const pv_domain *dom, pv_tensor *out)
{
    const pvi_net *net = &((const pvi_net_cfg *)cfg)->net;
    int64_t n = 0;
    (void)dom;
    for (int64_t i = 0; i < net->n; i++) {
        const pvi_layer *l = &net->layer[i];
        if (l->n_weights == 0) continue;
        if (out) {
            out[n] = weights_of(net, i);
            out[n + 1] = (pv_tensor) { l->n_biases, 1, l->n_biases, 1, 1 };
        }
        n += 2;
    }
    return n;
}

/* ---- loss ---------------------------------------------------------------------------------------------------- */

static double squared_loss(const pvi_net_state *s, const float *z, float y, float *delta)
{
    double sum = 0.0;
    for (int64_t c = 0; c < s->net->outputs; c++) {
        const float want = s->classes == 0 ? y : (float)((float)c == y), d = z[c] - want;
        sum += 0.5 * (double)d * (double)d;
        if (delta) delta[c] = d;
    }
    return sum;
}

static double cross_entropy(const pvi_net_state *s, const float *z, float y, float *delta)
{
    const int64_t k = s->net->outputs, own = (int64_t)y;
    double top = (double)z[0], others = 0.0;
    for (int64_t c = 1; c < k; c++) top = fmax(top, (double)z[c]);
    for (int64_t c = 0; c < k; c++)
        if (c != own) others += exp((double)z[c] - top);
    const double mine = exp((double)z[own] - top), sum = others + mine;
    for (int64_t c = 0; delta && c < k; c++)
        delta[c] = (float)((c == own ? -others : exp((double)z[c] - top)) / sum); /* own: precise near p = 1 */
    return log(sum) + top - (double)z[own];
}

double pvi_net_loss(const pvi_net_state *s, const pvi_net_cfg *c, const float *z, float y, float *delta) /* (1) */
{
    for (int64_t j = 0; j < s->net->outputs; j++)
        if (!isfinite(z[j])) return (double)NAN;
    if (s->classes == 2) y = 0.5f * (y + 1.0f); /* two classes are stored as -1 and +1 */
    if (!isfinite(y)) return (double)NAN;
    if (s->classes > 0 && !(y >= 0.0f && y < (float)s->classes && y == floorf(y))) return (double)NAN;
    return s->classes == 0 || c->loss == LOSS_SQUARED ? squared_loss(s, z, y, delta) : cross_entropy(s, z, y, delta);
}

/* ---- clipping ------------------------------------------------------------------------------------------------- */

static float as_factor(double f)
{
    return f >= (double)FLT_MIN ? (float)f : 0.0f;
}

bool pvi_net_factors(const pvi_net_state *s, const pvi_net_cfg *c, double clip, const double *norm2, float *factor)
{
    const pvi_net *net = s->net;
    const double bound = clip * (1.0 - 0x1p-22); /* (M1) */
    double total = 0.0, parts = 0.0;
    for (int64_t i = 0; i < net->n; i++) {
        if (net->layer[i].n_weights == 0) continue;
        total += norm2[i];
        parts += 1.0;
    }
    if (!(total < (double)INFINITY)) return false;
    const double n = sqrt(total);
    for (int64_t i = 0, part = 0; i < net->n; i++) {
        if (net->layer[i].n_weights == 0) continue;
        const double own = sqrt(norm2[i]), share = pvi_net_share(c, bound, part++, parts); /* (5) */
        double f = n <= bound ? 1.0 : bound / n;
        if (c->clipping == PVI_CLIP_LAYER) f = own <= share ? 1.0 : share / own;
        if (c->clipping == PVI_CLIP_AUTOMATIC) f = bound / (n + c->gamma);
        factor[i] = clip < (double)INFINITY ? as_factor(f) : 1.0f;
    }
    return true;
}

/* Layers whose gradient was formed for this row. */
static void add_formed(const pvi_net_state *s, const pvi_net_work *k, int64_t e, float *g)
{
    const pvi_net_plan *p = &s->plan;
    for (int64_t i = 0; i < s->net->n; i++) {
        const pvi_layer *l = &s->net->layer[i];
        const int64_t n = l->n_weights + l->n_biases;
        if (n == 0 || l->kind == PVI_LAYER_DENSE) continue;
        const float *const v = i < p->first_dense ? k->x + p->inst + l->weights : k->x + p->place[i].inst + e * n;
        s->kernel->axpy(k->factor[e][i], v, n, g + l->weights);
    }
}

/* b <- f b of a dense layer of example e; returns whether it adds anything. */
static bool scale_delta(const pvi_net_state *s, pvi_net_work *k, int64_t i, int64_t e)
{
    const pvi_place *c = &s->plan.place[i];
    float *const b = k->x + c->delta + e * c->out_size;
    const float f = k->factor[e][i];
    for (int64_t j = 0; f != 1.0f && j < c->out_size; j++) b[j] = pvi_times(b[j], f);
    return f != 0.0f;
}

/* g += sum of a (f b)' and f b over usable rows of the micro-batch, one after the other. */
static void add_dense(const pvi_net_state *s, pvi_net_work *k, int64_t i, int64_t from, int64_t to, float *g)
{
    const pvi_layer *l = &s->net->layer[i];
    const pvi_place *c = &s->plan.place[i];
    static const int32_t zero[PVI_NET_BATCH];
    const float one = 1.0f;
    int64_t rows = 0;
    for (int64_t e = from; e < to; e++) {
        if (!scale_delta(s, k, i, e)) continue;
        k->at[rows] = (int32_t)(e * c->in_size);
        k->bt[rows++] = (int32_t)(e * c->out_size);
    }
    const pvi_taps weights = { k->at, rows, 1, l->in.c, 0 }, biases = { zero, rows, 1, 1, 0 };
    s->kernel->outer(&weights, k->x + c->in, k->x + c->delta, k->bt, l->units, true, g + l->weights);
    s->kernel->outer(&biases, &one, k->x + c->delta, k->bt, l->units, true, g + l->biases);
}

void pvi_net_start_batch(const pvi_net_state *s, const pvi_net_cfg *c, const pv_rows *rows, int64_t first,
                         pvi_net_work *k)
{
    const pvi_place *last = &s->plan.place[s->net->n - 1];
    pvi_net_fill(s, rows, first, k);
    const float *const z = pvi_net_forward(s, k);
    for (int64_t e = 0; e < k->n; e++) {
        float *const delta = k->x + last->delta + e * last->out_size;
        k->usable[e] = isfinite(pvi_net_loss(s, c, z + e * last->out_size, rows->y[k->row[e]], delta));
        if (!k->usable[e]) memset(delta, 0, sizeof *delta * (size_t)last->out_size);
    }
    pvi_net_back_tail(s, k);
}

/* Example e but for its dense layers. */
static bool find_factors(const pvi_net_state *s, const pvi_net_cfg *c, double clip, int64_t e, float *g,
                         int64_t *n_bad, pvi_net_work *k)
{
    memset(k->factor[e], 0, sizeof k->factor[e]);
    if (k->usable[e]) pvi_net_back_head(s, k, e);
    const bool good = k->usable[e] && pvi_net_factors(s, c, clip, k->norm2[e], k->factor[e]);
    if (good) add_formed(s, k, e, g);
    else ++*n_bad;
    return good;
}

bool pvi_net_clip_example(const pvi_net_state *s, const pvi_net_cfg *c, double clip, int64_t e, float *g,
                          int64_t *n_bad, pvi_net_work *k)
{
    const bool good = find_factors(s, c, clip, e, g, n_bad, k);
    for (int64_t i = s->plan.first_dense; i < s->net->n && good; i++)
        if (s->net->layer[i].kind == PVI_LAYER_DENSE) scale_delta(s, k, i, e);
    return good;
}

void pvi_net_add_examples(const pvi_net_state *s, const pvi_net_cfg *c, double clip, int64_t from, int64_t to,
                          float *g, int64_t *n_bad, pvi_net_work *k)
{
    for (int64_t e = from; e < to; e++) find_factors(s, c, clip, e, g, n_bad, k);
    for (int64_t i = s->plan.first_dense; i < s->net->n; i++)
        if (s->net->layer[i].kind == PVI_LAYER_DENSE) add_dense(s, k, i, from, to, g);
}

static void grad_sum(const void *st, const void *cfg, const pv_rows *rows, double clip, float *g, int64_t *n_bad,
                     void *scratch)
{
    const pvi_net_state *s = st;
    pvi_net_work *k = scratch;

    PVI_REQUIRE((clip >= PVI_CLIP_MIN && clip <= PVI_CLIP_MAX) || clip == (double)INFINITY);
    if (rows->start) {
        pvi_net_sum_units(s, cfg, rows, clip, g, n_bad, k);
        return;
    }
    if (((const pvi_net_cfg *)cfg)->augment > 1) {
        pvi_net_sum_views(s, cfg, rows, clip, g, n_bad, k);
        return;
    }
    for (int64_t first = 0; first < rows->n; first += k->n) {
        pvi_net_start_batch(s, cfg, rows, first, k);
        pvi_net_add_examples(s, cfg, clip, 0, k->n, g, n_bad, k);
    }
}

static double rounding(const void *cfg, int64_t m, int64_t d)
{
    (void)cfg;
    return pvi_sum_rounding(m, d);
}

/* ---- values and scores ----------------------------------------------------------------------------------------- */

static double value_sum(const void *st, const void *cfg, const pv_rows *rows, void *scratch)
{
    const pvi_net_state *s = st;
    pvi_net_work *k = scratch;
    double sum = 0.0;
    for (int64_t first = 0; first < rows->n; first += k->n) {
        pvi_net_fill(s, rows, first, k);
        const float *const z = pvi_net_forward(s, k);
        for (int64_t e = 0; e < k->n; e++) {
            const double loss = pvi_net_loss(s, cfg, z + e * s->net->outputs, rows->y[k->row[e]], NULL);
            if (isfinite(loss)) sum += loss;
        }
    }
    return sum;
}

int64_t pvi_net_outputs(const void *cfg, const pv_domain *dom)
{
    (void)cfg;
    return dom->classes <= 2 ? 1 : dom->classes;
}

/* Two classes: the margin of the second; otherwise all outputs. */
static void predict(const void *st, const void *cfg, const pv_rows *rows, float *score, void *scratch)
{
    const pvi_net_state *s = st;
    pvi_net_work *k = scratch;
    const int64_t n = s->net->outputs;
    (void)cfg;
    for (int64_t first = 0; first < rows->n; first += k->n) {
        pvi_net_fill(s, rows, first, k);
        const float *const z = pvi_net_forward(s, k);
        if (s->classes != 2) memcpy(score + first * n, z, sizeof *z * (size_t)(k->n * n));
        else
            for (int64_t e = 0; e < k->n; e++) score[first + e] = z[2 * e + 1] - z[2 * e];
    }
}

static void constants(const void *cfg, const pv_domain *dom, double *G, double *L)
{
    (void)dom;
    *G = ((const pvi_net_cfg *)cfg)->all_clips; /* (5) */
    *L = (double)INFINITY;
}

/* ---- the models ------------------------------------------------------------------------------------------------ */

#define ROW(key, type, field, def, lo, hi, cert, help, text)                                                         \
    {                                                                                                                \
        key, type, offsetof(pvi_net_cfg, field), def, lo, hi, cert, help, text                                       \
    }
#define COMMON_ROWS(views)                                                                                           \
    ROW("loss", PV_ENUM, loss, LOSS_AUTO, 0, 0, true, "auto: cross-entropy for classes, squared for numbers",        \
        "auto|cross-entropy|squared"),                                                                               \
        ROW("clipping", PV_ENUM, clipping, PVI_CLIP_FLAT, 0, 0, true,                                                \
            "how a row's gradient is bounded: as a whole, layer by layer, or scaled to just below C",                \
            "flat|layer|automatic"),                                                                                 \
        PVI_CLIPS_ROW,                                                                                               \
        ROW("gamma", PV_F64, gamma, 0.01, 1e-9, 1e9, false, "gamma of automatic clipping, C g/(||g|| + gamma)",      \
            NULL),                                                                                                   \
        ROW("scale", PV_F64, scale, PV_AUTO, 1e-6, 1e6, false, "factor of every input value; auto: sqrt(columns)/R", \
            NULL),                                                                                                   \
        ROW("augment", PV_I64, augment, views, 1, PVI_MAX_VIEWS, false,                                              \
            "views of every image, whose gradients are averaged before clipping; 1: the image alone", NULL),         \
        ROW("shift", PV_I64, shift, 1, 0, 1000, false, "pixels by which a view is moved, at most", NULL),            \
        ROW("flip", PV_BOOL, flip, 0, 0, 1, false, "views have left and right exchanged at random", NULL),           \
        ROW("seed", PV_I64, seed, 1, 0, 9e15, false, "of the public start weights and views", NULL)

#define NET_MODEL(cname, text, what, views, default_layers, more)                                                    \
    static const pv_param cname##_params[] = { ROW("layers", PV_STR, layers, 0, 0, 0, true,                          \
                                                   "the network, layer by layer", default_layers),                   \
                                               COMMON_ROWS(views),                                                   \
                                               { 0 } };                                                              \
    const pv_model_ops pv_model_##cname = {                                                                          \
        .head = { .name = text,                                                                                      \
                  .summary = what,                                                                                   \
                  .reference = "Abadi et al. 2016; Goodfellow 2015",                                                 \
                  .cfg_size = sizeof(pvi_net_cfg),                                                                   \
                  .state_size = sizeof(pvi_net_state),                                                               \
                  .params = cname##_params },                                                                        \
        .props = PV_ANY_LABEL | PV_PIXELS | PV_NETWORK | PV_UNITS | (more),                                          \
        .dim = pvi_net_dim,                                                                                          \
        .scratch = scratch_size,                                                                                     \
        .begin = begin,                                                                                              \
        .grad_sum = grad_sum,                                                                                        \
        .rounding = rounding,                                                                                        \
        .value_sum = value_sum,                                                                                      \
        .outputs = pvi_net_outputs,                                                                                  \
        .predict = predict,                                                                                          \
        .constants = constants,                                                                                      \
        .open = pvi_net_open,                                                                                        \
        .start = pvi_net_start,                                                                                      \
        .tensors = pvi_net_tensors,                                                                                  \
        .clip = 1.0,                                                                                                 \
    }

NET_MODEL(mlp, "mlp", "a network on tables: layers of a description, dense64,relu,dense unless said", 1,
          "dense64,relu,dense", PV_DENSE);
NET_MODEL(cnn, "cnn", "a network on images: layers of a description, for example conv16x3,relu,pool2,dense", 1,
          "conv16x3same,relu,pool2,conv32x3same,relu,pool2,dense", 0);
NET_MODEL(mnist_cnn, "mnist-cnn", "the tutorial network for MNIST: two convolutions, two dense layers", 3,
          "conv16x8s2same,relu,pool2s1,conv32x4s2valid,relu,pool2s1,flatten,dense32,relu,dense", 0);
NET_MODEL(cifar_cnn, "cifar-cnn", "the tutorial network for CIFAR-10: two convolutions, three dense layers", 1,
          "conv64x5same,relu,pool3s2,conv64x5same,relu,pool3s2,flatten,dense384,relu,dense192,relu,dense", 0);

NET_MODEL(cifar_tutorial, "cifar-tutorial",
          "the TensorFlow tutorial's network for CIFAR-10 as it was, with local response normalisation", 1,
          "conv64x5same,relu,pool3s2same,lrn4,conv64x5same,relu,lrn4,pool3s2same,flatten,dense384,relu,dense192,relu,"
          "dense",
          0);

bool pvi_is_net(const pv_model_ops *model)
{
    return model->props & PV_NETWORK;
}
