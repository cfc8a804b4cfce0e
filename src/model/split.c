/* split.c - a network trained block by block: each layer has its own problem, and its own gradient.
 *
 *   D hidden layers of relu, weights theta_0 .. theta_D with biases (theta x stands for theta x + bias throughout)
 *   x_d  input of layer d      V_d = theta_d x_d  its output      U_d  what the output should be
 *   R    the loss of theta_D x_D: ||. - y||^2/2, or cross-entropy      gamma  weight of the splitting      C  clip
 *
 *   (1) F = R(theta_D x_D; y) + (gamma/2) sum_{d<D} ( ||x_{d+1} - relu(U_d)||^2 + ||U_d - theta_d x_d||^2 )
 * One row's part in it, from a forward pass x_{d+1} = relu(V_d), scaled down to the norm bound `radius` where longer:
 *   (2) x_D <- argmin_x R(theta_D x; y) + (gamma/2) ||x - x_D||^2.  Squared loss: x_D - P_D (V_D - y) with
 *       P_D = (theta'theta + gamma I)^-1 theta'; cross-entropy: Newton (split_prox.c).
 * then for d = D-1, ..., 0
 *   (3) U_d <- argmin_u (x_{d+1} - relu(u))^2 + (u - V_d)^2, number by number: of u = max(0, (x_{d+1} + V_d)/2) and
 *       u = min(0, V_d), each the best on its side of 0, the one with the lower value
 *   (4) the gradient of F by theta_d is gamma (V_d - U_d) x_d'; by theta_D it is R'(V_D) x_D'
 *   (5) x_d <- argmin_x ||U_d - theta_d x||^2 + ||x - x_d||^2 = x_d + P_d (U_d - V_d), P_d as above with gamma = 1
 * The printed (theta'theta + I)^-1 (theta'U_d + relu(U_{d-1})) is (5) with x_d = relu(V_{d-1}): subtract x_d, which
 * solves the same equation for U_d = V_d.  Going backward carries the target to the first layer in one pass; going
 * forward, all but the last layer would find U_d = V_d.  x_d and U_d are made anew for every query from the weights, so
 * nothing about a row outlives the query.
 *
 * Privacy.  (2) to (5) use one row and the weights, so a row's part is a function of that row alone, and the sum over a
 * batch is a Gaussian query as any other.  Each layer's part is clipped to C/sqrt(D + 1): all of them together to C.
 *   (M1) With b = U_d - V_d as computed, the squared norm of layer d's part is gamma^2 ||b||^2 (||x_d||^2 + 1), in double;
 *        the factor f gamma is a float, f b another: three roundings of 2^-24 against a bound lowered by 2^-22.
 *   (M2) One multiply-add per row and coordinate, as in glm.c (5).
 *   (M3) A row that is not finite or has no usable label is left out.
 * Floats of a row do not depend on the rows beside it (net_run.h); P_d depends on weights only.
 *
 * Reference  three splitting: Zeng, Lau, Lin, Yao, ICML 2019; DP-SBCD, Algorithm 2 and (4) to (6). */
#include "model/split.h"

#include <float.h>

extern const pvi_split_kernel PVI_DECLARE_ISA(pvi_split_kernel);
const pvi_split_kernel *const pvi_split_kernel_isa[PVI_ISA_COUNT] = PVI_EACH_REF(pvi_split_kernel);
extern const pv_model_ops pv_model_mlp; /* start weights, dimensions and tensors are the same */

enum { PAD = 16, LOSS_SQUARED = 2 };

typedef struct work { /* one thread's scratch; the floats follow */
    int64_t n;        /* rows of this micro-batch */
    int64_t row[PVI_NET_BATCH], label[PVI_NET_BATCH];
    bool usable[PVI_NET_BATCH];
    float factor[PVI_NET_BATCH][PVI_MAX_LAYERS];
    int32_t at[PVI_NET_BATCH], bt[PVI_NET_BATCH];
    _Alignas(64) float f[];
} work;

static int64_t pad(int64_t n)
{
    return (n + PAD - 1) / PAD * PAD;
}

/* ---- settings ------------------------------------------------------------------------------------------ */

static pv_status open_split(void *c_, const pv_domain *dom, pv_ctx *ctx)
{
    pvi_net_cfg *c = c_;
    int64_t widest = 0;
    const pv_status s = pvi_net_open(c, dom, ctx);
    if (s != PV_OK) return s;
    for (int64_t i = 0; i < c->net.n; i++) {
        const pvi_layer *l = &c->net.layer[i];
        if (l->kind != (i % 2 ? PVI_LAYER_RELU : PVI_LAYER_DENSE))
            return pvi_fail(ctx, PV_E_PARAM,
                            "model: layer %lld (%s): training block by block is for dense layers with relu between "
                            "them, such as dense200,relu,dense200,relu,dense",
                            (long long)i + 1, l->text);
        if (l->units > widest) widest = l->units;
    }
    if (dom->p > INT32_MAX / PVI_NET_BATCH || widest > INT32_MAX / PVI_NET_BATCH)
        return pvi_fail(ctx, PV_E_UNSUPPORTED, "model: layers of up to %d numbers are trained block by block",
                        (int)(INT32_MAX / PVI_NET_BATCH));
    if (isnan(c->radius)) c->radius = 2.0 * sqrt((double)widest);
    return PV_OK;
}

/* Dense layers with their places in a micro-batch; returns the floats in all. */
static int64_t place(const pvi_net *net, pvi_split_state *s)
{
    int64_t next = 0;
    s->n = 0;
    for (int64_t i = 0; i < net->n; i += 2) {
        const pvi_layer *l = &net->layer[i];
        pvi_split_layer *k = &s->layer[s->n++];
        k->in = l->in.h * l->in.w * l->in.c;
        k->out = l->units;
        k->ldw = pad(k->out);
        k->ldt = pad(k->in);
        k->weights = l->weights;
        k->biases = l->biases;
        k->x = next;
        k->v = k->x + pad(PVI_NET_BATCH * k->in);
        k->d = k->v + pad(PVI_NET_BATCH * k->out);
        next = k->d + pad(PVI_NET_BATCH * k->out);
    }
    return next;
}

/* Of the outputs: changes of x_D's problem apart from the gradient, and what Newton needs. */
static int64_t tail_floats(const pvi_net *net)
{
    return pad(PVI_NET_BATCH * net->outputs) + 2 * pad(net->outputs * (net->outputs + 8));
}

static size_t scratch_size(const void *cfg, const pv_domain *dom, int64_t max_rows)
{
    const pvi_net *net = &((const pvi_net_cfg *)cfg)->net;
    pvi_split_state s;
    (void)dom;
    (void)max_rows;
    return sizeof(work) + sizeof(float) * (size_t)(place(net, &s) + tail_floats(net));
}

/* ---- weights ---------------------------------------------------------------------------------------------- */

static float *floats(pv_arena *a, int64_t n)
{
    return pv_arena_get(a, sizeof(float) * (size_t)n);
}

static pv_status make_room(pvi_split_state *s, pv_arena *a)
{
    int64_t most = 0, small = 0;
    bool lost = false;
    place(s->net, s);
    for (int64_t i = 0; i < s->n; i++) {
        pvi_split_layer *l = &s->layer[i];
        l->w = floats(a, l->in * l->ldw);
        l->bias = floats(a, l->ldw);
        lost |= !l->w || !l->bias;
        if (i == 0) continue;
        l->wt = floats(a, l->out * l->ldt);
        l->back = floats(a, l->out * l->ldt);
        lost |= !l->wt || !l->back;
        const int64_t m = l->in < l->out ? l->in : l->out, far = l->in < l->out ? l->out : l->in;
        if (m > small) small = m;
        if (far > most) most = far;
    }
    s->at = pv_arena_get(a, sizeof *s->at * (size_t)(most + 1));
    s->a = pv_arena_f64(a, small * small + 1);
    s->l = pv_arena_f64(a, small * small + 1);
    s->gram = floats(a, small * pad(small) + 1);
    s->li = floats(a, small * pad(small) + 1);
    s->k = pv_arena_f64(a, s->net->outputs * s->net->outputs);
    if (lost || !s->at || !s->a || !s->l || !s->gram || !s->li || !s->k) return PV_E_NOMEM;
    s->ready = true;
    return PV_OK;
}

static void fill_layer(pvi_split_layer *l, const double *w)
{
    for (int64_t j = 0; j < l->in; j++)
        for (int64_t n = 0; n < l->out; n++) l->w[j * l->ldw + n] = (float)w[l->weights + j * l->out + n];
    for (int64_t n = 0; n < l->out; n++) l->bias[n] = (float)w[l->biases + n];
    for (int64_t n = 0; l->wt && n < l->out; n++)
        for (int64_t j = 0; j < l->in; j++) l->wt[n * l->ldt + j] = l->w[j * l->ldw + n];
}

/* K of split_prox.c, and the way back from its solution. */
static void fill_softmax(pvi_split_state *s, pvi_split_layer *l)
{
    for (int64_t i = 0; i < l->out; i++)
        for (int64_t j = 0; j < l->out; j++) {
            double sum = 0.0;
            for (int64_t q = 0; q < l->in; q++) sum += (double)l->wt[i * l->ldt + q] * (double)l->wt[j * l->ldt + q];
            s->k[i * l->out + j] = sum;
        }
    memcpy(l->back, l->wt, sizeof *l->back * (size_t)(l->out * l->ldt));
}

static pv_status begin(void *st, const void *cfg, const pv_domain *dom, const double *w, pv_arena *a)
{
    pvi_split_state *s = st;
    const pvi_net_cfg *c = cfg;
    s->net = &c->net;
    s->kernel = pvi_net_kernel_isa[pvi_isa()];
    s->split = pvi_split_kernel_isa[pvi_isa()];
    s->scale = (float)c->scale;
    s->radius = (float)(c->radius * (1.0 - 0x1p-22));
    s->gamma = (float)c->gamma;
    s->classes = dom->classes;
    s->squared = dom->classes == 0 || c->loss == LOSS_SQUARED;
    pv_status status = s->ready ? PV_OK : make_room(s, a);
    for (int64_t j = 0; status == PV_OK && j < c->net.d; j++)
        if (!isfinite((float)w[j])) status = PV_E_NUMERIC;
    for (int64_t i = 0; status == PV_OK && i < s->n; i++) {
        pvi_split_layer *l = &s->layer[i];
        fill_layer(l, w);
        if (i == 0) continue; /* the input is what it is */
        if (i + 1 == s->n && !s->squared) fill_softmax(s, l);
        else status = pvi_split_back(s, l, i + 1 == s->n ? (double)s->gamma : 1.0);
    }
    return status;
}

/* ---- forward ------------------------------------------------------------------------------------------------ */

static void fill_row(const pvi_split_state *s, const pv_rows *rows, int64_t r, float *to)
{
    const int64_t n = s->layer[0].in;
    if (rows->x) {
        for (int64_t j = 0; j < n; j++) to[j] = s->scale * rows->x[r * rows->ld + j];
        return;
    }
    memset(to, 0, sizeof *to * (size_t)n);
    for (int64_t e = rows->ptr[r]; e < rows->ptr[r + 1]; e++)
        if (rows->idx[e] < n) to[rows->idx[e]] = s->scale * rows->val[e];
}

static void forward(const pvi_split_state *s, const pv_rows *rows, int64_t first, work *k)
{
    static const int32_t zero = 0;
    k->n = rows->n - first < PVI_NET_BATCH ? rows->n - first : PVI_NET_BATCH;
    for (int64_t e = 0; e < k->n; e++) {
        k->row[e] = rows->pick ? rows->pick[first + e] : first + e;
        fill_row(s, rows, k->row[e], k->f + e * s->layer[0].in);
    }
    for (int64_t i = 0; i < s->n; i++) {
        const pvi_split_layer *l = &s->layer[i];
        const pvi_taps taps = { &zero, 1, 1, l->in, 0 };
        s->kernel->product(&taps, k->n, k->f + l->x, l->in, l->w, l->ldw, l->bias, l->out, false, k->f + l->v);
        for (int64_t e = 0; i + 1 < s->n && e < k->n; e++) {
            float *const x = k->f + s->layer[i + 1].x + e * l->out;
            s->kernel->relu(k->f + l->v + e * l->out, l->out, x);
            const double size = sqrt(s->kernel->squares(x, l->out));
            const float f = size <= (double)s->radius ? 1.0f : (float)((double)s->radius / size);
            for (int64_t j = 0; f != 1.0f && j < l->out; j++) x[j] *= f;
        }
    }
}

/* ---- loss ------------------------------------------------------------------------------------------------------ */

/* The number of the class, 0 for a real label; -1: not usable. */
static int64_t label_of(const pvi_split_state *s, float y)
{
    if (s->classes == 2) y = 0.5f * (y + 1.0f); /* two classes are stored as -1 and +1 */
    if (s->classes == 0) return isfinite(y) ? 0 : -1;
    return y >= 0.0f && y < (float)s->classes && y == floorf(y) ? (int64_t)y : -1;
}

static double squared_loss(const pvi_split_state *s, const float *z, int64_t label, float y, float *gradient)
{
    double sum = 0.0;
    for (int64_t c = 0; c < s->net->outputs; c++) {
        const float d = z[c] - (s->classes == 0 ? y : (float)(c == label));
        sum += 0.5 * (double)d * (double)d;
        if (gradient) gradient[c] = d;
    }
    return sum;
}

static double cross_entropy(const pvi_split_state *s, const float *z, int64_t label, float *gradient)
{
    double top = (double)z[0], others = 0.0;
    for (int64_t c = 1; c < s->net->outputs; c++) top = fmax(top, (double)z[c]);
    for (int64_t c = 0; c < s->net->outputs; c++)
        if (c != label) others += exp((double)z[c] - top);
    const double mine = exp((double)z[label] - top), sum = others + mine;
    for (int64_t c = 0; gradient && c < s->net->outputs; c++)
        gradient[c] = (float)((c == label ? -others : exp((double)z[c] - top)) / sum);
    return log(sum) + top - (double)z[label];
}

static double row_loss(const pvi_split_state *s, const float *z, int64_t label, float y, float *gradient)
{
    if (label < 0) return (double)NAN;
    return s->squared ? squared_loss(s, z, label, y, gradient) : cross_entropy(s, z, label, gradient);
}

/* ---- backward ---------------------------------------------------------------------------------------------------- */

/* (2) of one row: what `back` of the last layer takes to the change of x_D. */
static bool loss_prox(const pvi_split_state *s, const float *z, const float *gradient, int64_t label, double *room,
                      float *change)
{
    const int64_t n = s->net->outputs;
    if (s->squared) {
        for (int64_t c = 0; c < n; c++) change[c] = -gradient[c];
        return true;
    }
    double *const z0 = room, *const a = room + n;
    for (int64_t c = 0; c < n; c++) z0[c] = (double)z[c];
    if (!pvi_split_softmax(n, s->k, z0, label, (double)s->gamma, a, room + 2 * n)) return false;
    for (int64_t c = 0; c < n; c++) change[c] = (float)a[c];
    return true;
}

/* R'(V_D) of every row into d of the last layer, the change for (2) into `change`; marks who is usable. */
static void start_back(const pvi_split_state *s, const pv_rows *rows, work *k, float *change, double *room)
{
    const pvi_split_layer *l = &s->layer[s->n - 1];
    for (int64_t e = 0; e < k->n; e++) {
        const float y = rows->y[k->row[e]];
        const float *const z = k->f + l->v + e * l->out;
        float *const gradient = k->f + l->d + e * l->out;
        k->label[e] = label_of(s, y);
        k->usable[e] = isfinite(row_loss(s, z, k->label[e], y, gradient));
        if (k->usable[e] && s->n > 1)
            k->usable[e] = loss_prox(s, z, gradient, k->label[e], room, change + e * l->out);
        if (k->usable[e]) continue;
        memset(gradient, 0, sizeof *gradient * (size_t)l->out);
        memset(change + e * l->out, 0, sizeof *change * (size_t)l->out);
    }
}

/* (5), then (3), from the last layer down: d of every layer becomes U - V. */
static void sweep(const pvi_split_state *s, work *k, const float *change)
{
    static const int32_t zero = 0;
    for (int64_t i = s->n - 1; i > 0; i--) {
        const pvi_split_layer *l = &s->layer[i], *below = &s->layer[i - 1];
        const pvi_taps taps = { &zero, 1, 1, l->out, 0 };
        const float *const from = i == s->n - 1 ? change : k->f + l->d;
        s->kernel->product(&taps, k->n, from, l->out, l->back, l->ldt, NULL, l->in, false, k->f + below->d);
        s->split->lift(k->n * l->in, k->f + below->v, k->f + l->x, k->f + below->d);
    }
}

/* What every layer's d is multiplied with: the sign, gamma, and the clip; false: the row is not usable. */
static bool clip_row(const pvi_split_state *s, work *k, int64_t e, double clip)
{
    const double share = clip * (1.0 - 0x1p-22) / sqrt((double)s->n); /* (M1) */
    bool finite = k->usable[e];
    for (int64_t i = 0; finite && i < s->n; i++) {
        const pvi_split_layer *l = &s->layer[i];
        const float weight = i + 1 == s->n ? 1.0f : -s->gamma;
        const double norm = fabs((double)weight) * sqrt(s->kernel->squares(k->f + l->d + e * l->out, l->out) *
                                                        (s->kernel->squares(k->f + l->x + e * l->in, l->in) + 1.0));
        finite = norm < (double)INFINITY;
        const double f = norm <= share ? 1.0 : share / norm;
        k->factor[e][i] = f >= (double)FLT_MIN ? pvi_times((float)f, weight) : 0.0f;
    }
    if (!finite) memset(k->factor[e], 0, sizeof k->factor[e]);
    return finite;
}

static void add_layer(const pvi_split_state *s, work *k, int64_t i, float *g)
{
    static const int32_t zero[PVI_NET_BATCH];
    const pvi_split_layer *l = &s->layer[i];
    const float one = 1.0f;
    int64_t rows = 0;
    for (int64_t e = 0; e < k->n; e++) {
        float *const b = k->f + l->d + e * l->out;
        const float f = k->factor[e][i];
        if (f == 0.0f) continue;
        for (int64_t j = 0; j < l->out; j++) b[j] = pvi_times(b[j], f);
        k->at[rows] = (int32_t)(e * l->in);
        k->bt[rows++] = (int32_t)(e * l->out);
    }
    const pvi_taps weights = { k->at, rows, 1, l->in, 0 }, biases = { zero, rows, 1, 1, 0 };
    s->kernel->outer(&weights, k->f + l->x, k->f + l->d, k->bt, l->out, true, g + l->weights);
    s->kernel->outer(&biases, &one, k->f + l->d, k->bt, l->out, true, g + l->biases);
}

static void grad_sum(const void *st, const void *cfg, const pv_rows *rows, double clip, float *g, int64_t *n_bad,
                     void *scratch)
{
    const pvi_split_state *s = st;
    const pvi_split_layer *last = &s->layer[s->n - 1];
    work *k = scratch;
    float *const change = k->f + last->d + pad(PVI_NET_BATCH * last->out);
    double *const room = (double *)(void *)(change + pad(PVI_NET_BATCH * last->out));
    (void)cfg;
    PVI_REQUIRE((clip >= PVI_CLIP_MIN && clip <= PVI_CLIP_MAX) || clip == (double)INFINITY);
    for (int64_t first = 0; first < rows->n; first += k->n) {
        forward(s, rows, first, k);
        start_back(s, rows, k, change, room);
        sweep(s, k, change);
        for (int64_t e = 0; e < k->n; e++)
            if (!clip_row(s, k, e, clip)) ++*n_bad;
        for (int64_t i = 0; i < s->n; i++) add_layer(s, k, i, g);
    }
}

static double rounding(const void *cfg, int64_t m, int64_t d)
{
    (void)cfg;
    return pvi_sum_rounding(m, d);
}

/* ---- values and scores ------------------------------------------------------------------------------------------------ */

static double value_sum(const void *st, const void *cfg, const pv_rows *rows, void *scratch)
{
    const pvi_split_state *s = st;
    const pvi_split_layer *last = &s->layer[s->n - 1];
    work *k = scratch;
    double sum = 0.0;
    (void)cfg;
    for (int64_t first = 0; first < rows->n; first += k->n) {
        forward(s, rows, first, k);
        for (int64_t e = 0; e < k->n; e++) {
            const float y = rows->y[k->row[e]];
            const double loss = row_loss(s, k->f + last->v + e * last->out, label_of(s, y), y, NULL);
            if (isfinite(loss)) sum += loss;
        }
    }
    return sum;
}

static void predict(const void *st, const void *cfg, const pv_rows *rows, float *score, void *scratch)
{
    const pvi_split_state *s = st;
    const int64_t n = s->net->outputs;
    work *k = scratch;
    (void)cfg;
    for (int64_t first = 0; first < rows->n; first += k->n) {
        forward(s, rows, first, k);
        const float *const z = k->f + s->layer[s->n - 1].v;
        if (s->classes != 2) memcpy(score + first * n, z, sizeof *z * (size_t)(k->n * n));
        else
            for (int64_t e = 0; e < k->n; e++) score[first + e] = z[2 * e + 1] - z[2 * e];
    }
}

static int64_t dim(const void *cfg, const pv_domain *dom)
{
    return pv_model_mlp.dim(cfg, dom);
}

static void start(const void *cfg, const pv_domain *dom, double *w)
{
    pv_model_mlp.start(cfg, dom, w);
}

static int64_t tensors(const void *cfg, const pv_domain *dom, int64_t *sizes)
{
    return pv_model_mlp.tensors(cfg, dom, sizes);
}

static int64_t outputs(const void *cfg, const pv_domain *dom)
{
    return pv_model_mlp.outputs(cfg, dom);
}

/* L: of each layer's problem on its own; what clipping leaves of cross-entropy need not be convex. */
static void constants(const void *cfg, const pv_domain *dom, double *G, double *L)
{
    const pvi_net_cfg *c = cfg;
    const double X = fmax(c->radius, c->scale * dom->row_norm);
    *G = (double)INFINITY;
    *L = dom->classes == 0 || c->loss == LOSS_SQUARED ? fmax(1.0, c->gamma) * (X * X + 1.0) : (double)INFINITY;
}

#define ROW(key, type, field, def, lo, hi, cert, help, text)                                                         \
    {                                                                                                                \
        key, type, offsetof(pvi_net_cfg, field), def, lo, hi, cert, help, text                                       \
    }
static const pv_param params[] = {
    ROW("layers", PV_STR, layers, 0, 0, 0, true, "the network: dense layers with relu between them",
        "dense200,relu,dense200,relu,dense200,relu,dense"),
    ROW("loss", PV_ENUM, loss, LOSS_SQUARED, 0, 0, true, "auto: cross-entropy for classes, squared for numbers",
        "auto|cross-entropy|squared"),
    ROW("gamma", PV_F64, gamma, 1, 1e-6, 1e6, true, "gamma, weight of the splitting against the loss", NULL),
    ROW("radius", PV_F64, radius, PV_AUTO, 1e-6, 1e9, true,
        "bound on the norm of a hidden layer's values; auto: 2 sqrt(units of the widest)", NULL),
    ROW("scale", PV_F64, scale, PV_AUTO, 1e-6, 1e6, true, "factor of every input value; auto: sqrt(columns)/R", NULL),
    ROW("seed", PV_I64, seed, 1, 0, 9e15, false, "of the public start weights", NULL),
    { 0 }
};

const pv_model_ops pv_model_split_mlp = {
    .head = { .abi = PV_PLUGIN_ABI,
              .name = "split-mlp",
              .summary = "a network of dense layers and relu, trained block by block",
              .reference = "Zeng et al. 2019; DP-SBCD (4)-(6)",
              .cfg_size = sizeof(pvi_net_cfg),
              .state_size = sizeof(pvi_split_state),
              .params = params },
    .props = PV_ANY_LABEL | PV_BLOCKS,
    .dim = dim,
    .scratch = scratch_size,
    .begin = begin,
    .grad_sum = grad_sum,
    .rounding = rounding,
    .value_sum = value_sum,
    .outputs = outputs,
    .predict = predict,
    .constants = constants,
    .open = open_split,
    .start = start,
    .tensors = tensors,
    .clip = 1.0,
};
