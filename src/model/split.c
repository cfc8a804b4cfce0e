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
 * forward, all but the last layer would find U_d = V_d.  x_d and U_d are made anew for every query from the weights,
 * so nothing about a row outlives the query.
 *
 * Privacy.  (2) to (5) use one row and the weights, so a row's part is a function of that row alone, and the sum over
 * a batch is a Gaussian query as any other.  Each layer's part is clipped to C/sqrt(D + 1), or to what
 * model.clips says of it: all of them together to C (net.c (5)).
 *   (M1) With b = U_d - V_d as computed, the squared norm of layer d's part is gamma^2 ||b||^2 (||x_d||^2 + 1), in
 *        double; the factor f gamma is a float, f b another: three roundings of 2^-24 against a bound lowered by
 *        2^-22.
 *   (M2) One multiply-add per row and coordinate, as in glm.c (5).
 *   (M3) A row that is not finite or has no usable label is left out.
 * Floats of a row do not depend on the rows beside it (net_run.h); P_d depends on weights only.
 *
 * Convolutions are layers like these, with another matrix: split_conv.c.
 *
 * Reference  three splitting: Zeng, Lau, Lin, Yao, ICML 2019; DP-SBCD, Algorithm 2 and (4) to (6). */
#include "model/split.h"

#include <float.h>

extern const pvi_split_kernel PVI_DECLARE_ISA(pvi_split_kernel);
const pvi_split_kernel *const pvi_split_kernel_isa[PVI_ISA_COUNT] = PVI_EACH_ISA(pvi_split_kernel);

enum { BATCH = PVI_SPLIT_BATCH, LOSS_SQUARED = 2 };

typedef struct work { /* one thread's scratch; the floats follow */
    int64_t n;        /* rows of this micro-batch */
    int64_t row[BATCH], label[BATCH];
    bool usable[BATCH];
    double square[PVI_MAX_LAYERS][BATCH]; /* ||x_d||^2 + 1 */
    _Alignas(64) float f[];
} work;

static int64_t pad(int64_t n)
{
    return pvi_split_pad(n);
}

static int64_t size_of(pvi_hwc s)
{
    return s.h * s.w * s.c;
}

/* ---- settings ------------------------------------------------------------------------------------------ */

static pv_status open_split(void *c_, const pv_domain *dom, pv_ctx *ctx)
{
    pvi_net_cfg *c = c_;
    int64_t widest = 0;
    c->clipping = PVI_CLIP_LAYER; /* there is no other */
    const pv_status s = pvi_net_open(c, dom, ctx);
    if (s != PV_OK) return s;
    for (int64_t i = 0; i < c->net.n; i++) {
        const pvi_layer *l = &c->net.layer[i];
        const bool linear = l->kind == PVI_LAYER_DENSE || l->kind == PVI_LAYER_CONV;
        if (i % 2 ? l->kind != PVI_LAYER_RELU : !linear)
            return pvi_fail(ctx, PV_E_PARAM,
                            "model: layer %lld (%s): training block by block is for dense layers and convolutions "
                            "with relu between them, such as dense200,relu,dense200,relu,dense",
                            (long long)i + 1, l->text);
        const pv_status fits = l->kind == PVI_LAYER_CONV ? pvi_split_conv_check(ctx, l, i == 0, i + 1) : PV_OK;
        if (fits != PV_OK) return fits;
        if (l->n_weights && size_of(l->out) > widest) widest = size_of(l->out);
    }
    if (isnan(c->radius)) c->radius = 2.0 * sqrt((double)widest);
    return PV_OK;
}

/* Of the outputs: changes of x_D's problem apart from the gradient, and what Newton needs. */
static int64_t tail_floats(const pvi_net *net)
{
    return BATCH * pad(net->outputs) + 2 * pad(net->outputs * (net->outputs + 8));
}

/* Behind all others: one padded input, and the gradients of one row. */
static int64_t place_convolutions(pvi_split_state *s, int64_t next)
{
    s->image = next;
    for (int64_t i = 0; i < s->n; i++)
        if (s->layer[i].conv && s->image + pad(pvi_split_conv_image(s->layer[i].conv)) > next)
            next = s->image + pad(pvi_split_conv_image(s->layer[i].conv));
    for (int64_t i = 0; i < s->n; i++) {
        const pvi_layer *l = s->layer[i].conv;
        s->layer[i].grad = next;
        if (l) next += pad(l->n_weights + l->n_biases);
    }
    return next;
}

/* Layers with their places in a micro-batch; returns the floats in all. */
static int64_t place(const pvi_net *net, pvi_split_state *s)
{
    int64_t next = 0;
    s->n = 0;
    for (int64_t i = 0; i < net->n; i += 2) {
        const pvi_layer *l = &net->layer[i];
        pvi_split_layer *k = &s->layer[s->n++];
        k->conv = l->kind == PVI_LAYER_CONV ? l : NULL;
        k->in = size_of(l->in);
        k->out = size_of(l->out);
        k->ldx = pad(k->in + 1);
        k->ldv = pad(k->out);
        k->weights = l->weights;
        k->biases = l->biases;
        k->x = next;
        k->v = k->x + BATCH * k->ldx;
        k->d = k->v + BATCH * k->ldv;
        next = k->d + BATCH * k->ldv;
    }
    return place_convolutions(s, next + tail_floats(net));
}

static size_t scratch_size(const void *cfg, const pv_domain *dom, int64_t max_rows)
{
    const pvi_net *net = &((const pvi_net_cfg *)cfg)->net;
    pvi_split_state s;
    (void)dom;
    (void)max_rows;
    return sizeof(work) + sizeof(float) * (size_t)place(net, &s);
}

/* ---- weights ---------------------------------------------------------------------------------------------- */

static float *floats(pv_arena *a, int64_t n)
{
    return pv_arena_get(a, sizeof(float) * (size_t)n);
}

/* back: not the first layer, whose input is what it is: nothing goes back to it. */
static bool layer_room(pvi_split_layer *l, bool back, pv_arena *a)
{
    if (l->conv && !pvi_split_conv_room(l, a)) return false;
    if (!l->conv) {
        l->forward = floats(a, l->in * l->ldv);
        l->bias = floats(a, l->ldv);
        if (!l->forward || !l->bias) return false;
    }
    if (l->conv && !back) return true;
    l->w = floats(a, l->in * l->ldv);
    if (!l->w || !back) return l->w;
    l->transposed = floats(a, l->out * pad(l->in));
    l->back = floats(a, l->out * pad(l->in));
    l->system = floats(a, pvi_split_system(l));
    return l->transposed && l->back && l->system;
}

static pv_status make_room(pvi_split_state *s, pv_arena *a)
{
    bool lost = false;
    place(s->net, s);
    for (int64_t i = 0; i < s->n; i++) lost |= !layer_room(&s->layer[i], i > 0, a);
    s->k = pv_arena_f64(a, s->net->outputs * s->net->outputs);
    if (lost || !s->k) return PV_E_NOMEM;
    s->ready = true;
    return PV_OK;
}

/* false: not finite as floats */
static bool fill_layer(const pvi_split_state *s, pvi_split_layer *l, const double *w)
{
    float most = 0.0f;
    if (l->conv) return pvi_split_conv_fill(s->split, l, w);
    for (int64_t j = 0; j <= l->in; j++) {
        const double *const from = w + l->weights + j * l->out;
        float *const to = j < l->in ? l->w + j * l->ldv : l->bias;
        for (int64_t n = 0; n < l->out; n++) {
            to[n] = (float)from[n];
            most = fabsf(to[n]) <= most ? most : fabsf(to[n]); /* a NaN stays */
        }
    }
    if (!isfinite(most)) return false;
    s->split->pack(l->in, l->ldv, l->w, l->ldv, l->forward);
    if (l->transposed) s->split->transpose(l->in, l->out, l->w, l->ldv, l->transposed, pad(l->in));
    return true;
}

/* K of split_prox.c, and the way back from its solution. */
static void fill_softmax(pvi_split_state *s, pvi_split_layer *l)
{
    const int64_t ld = pad(l->in);
    for (int64_t i = 0; i < l->out; i++)
        for (int64_t j = 0; j < l->out; j++) {
            double sum = 0.0;
            for (int64_t q = 0; q < l->in; q++)
                sum += (double)l->transposed[i * ld + q] * (double)l->transposed[j * ld + q];
            s->k[i * l->out + j] = sum;
        }
    s->split->pack(l->out, ld, l->transposed, ld, l->back);
}

typedef struct filling { /* layers are filled by different threads */
    pvi_split_state *s;
    const double *w;
    pv_status status[PVI_MAX_LAYERS];
} filling;

static void fill(void *arg, int64_t i, int thread)
{
    filling *f = arg;
    pvi_split_state *s = f->s;
    pvi_split_layer *l = &s->layer[i];
    (void)thread;
    f->status[i] = fill_layer(s, l, f->w) ? PV_OK : PV_E_NUMERIC;
    if (f->status[i] != PV_OK || i == 0) return;
    if (i + 1 == s->n && !s->squared) fill_softmax(s, l);
    else f->status[i] = pvi_split_back(s->split, l, i + 1 == s->n ? (double)s->gamma : 1.0);
}

static pv_status begin(void *st, const void *cfg, const pv_domain *dom, const double *w, int64_t number, pv_arena *a)
{
    pvi_split_state *s = st;
    const pvi_net_cfg *c = cfg;
    (void)number;
    s->net = &c->net;
    s->kernel = pvi_net_kernel_isa[pvi_isa()];
    s->split = pvi_split_kernel_isa[pvi_isa()];
    s->scale = (float)c->scale;
    s->radius = (float)(c->radius * (1.0 - 0x1p-22));
    s->gamma = (float)c->gamma;
    s->classes = dom->classes;
    s->channels = c->net.layer[0].kind == PVI_LAYER_CONV && c->net.in.c > 1 ? c->net.in.c : 0;
    s->pixels = c->net.in.h * c->net.in.w;
    s->squared = dom->classes == 0 || c->loss == LOSS_SQUARED;
    pv_status status = s->ready ? PV_OK : make_room(s, a);
    filling f = { .s = s, .w = w };
    if (status == PV_OK) pvi_parallel(pvi_arena_ctx(a), s->n, fill, &f);
    for (int64_t i = 0; status == PV_OK && i < s->n; i++) status = f.status[i];
    return status;
}

/* ---- forward ------------------------------------------------------------------------------------------------ */

/* What follows the numbers of a row of inputs: 1, which the biases see, and zeros. */
static void end_row(const pvi_split_layer *l, float *x)
{
    memset(x + l->in, 0, sizeof *x * (size_t)(l->ldx - l->in));
    x[l->in] = 1.0f;
}

/* Where column j of a row goes: rows hold planes, convolutions want channels last. */
static int64_t place_of(const pvi_split_state *s, int64_t j)
{
    return s->channels ? j % s->pixels * s->channels + j / s->pixels : j;
}

/* A row that only double can scale: row.c (5). */
static void fill_far(const pvi_split_state *s, const pv_rows *rows, int64_t r, int64_t n, float *to)
{
    const double gain = pvi_far_gain(rows, r, rows->norm[r]);
    const int64_t q = pvi_stored(rows);
    memset(to, 0, sizeof *to * (size_t)n);
    if (n > q) to[q] = s->scale * (float)(gain * (double)rows->bias);
    for (int64_t j = 0; rows->x && j < n && j < q; j++)
        to[place_of(s, j)] = s->scale * (float)(gain * (double)rows->x[r * rows->ld + j]);
    for (int64_t e = rows->x ? 0 : rows->ptr[r]; !rows->x && e < rows->ptr[r + 1]; e++)
        if (rows->idx[e] < n) to[place_of(s, rows->idx[e])] = s->scale * (float)(gain * (double)rows->val[e]);
}

static void fill_row(const pvi_split_state *s, const pv_rows *rows, int64_t r, float *to)
{
    const int64_t n = s->layer[0].in, q = pvi_stored(rows), both = n < q ? n : q;
    const float gain = pvi_gain(rows, rows->norm[r]);
    end_row(&s->layer[0], to);
    if (pvi_is_far(rows, rows->norm[r])) {
        fill_far(s, rows, r, n, to);
        return;
    }
    if (n > q) to[q] = s->scale * (gain * rows->bias); /* images have no use for the bias */
    if (rows->x && s->channels) {
        for (int64_t j = 0; j < both; j++) to[place_of(s, j)] = s->scale * (gain * rows->x[r * rows->ld + j]);
        return;
    }
    if (rows->x) {
        for (int64_t j = 0; j < both; j++) to[j] = s->scale * (gain * rows->x[r * rows->ld + j]);
        return;
    }
    memset(to, 0, sizeof *to * (size_t)both);
    for (int64_t e = rows->ptr[r]; e < rows->ptr[r + 1]; e++)
        if (rows->idx[e] < n) to[place_of(s, rows->idx[e])] = s->scale * (gain * rows->val[e]);
}

/* The input of layer i + 1, within the radius, from the outputs of layer i. */
static void activate(const pvi_split_state *s, int64_t i, work *k)
{
    const pvi_split_layer *l = &s->layer[i], *above = &s->layer[i + 1];
    for (int64_t e = 0; e < k->n; e++) {
        float *const x = k->f + above->x + e * above->ldx;
        s->kernel->relu(k->f + l->v + e * l->ldv, l->out, x);
        end_row(above, x);
        double square = s->split->squares(above->ldx, x); /* the number 1 included */
        if (!(square <= 1.0 + (double)s->radius * (double)s->radius)) {
            const float f = (float)((double)s->radius / sqrt(square - 1.0));
            for (int64_t j = 0; j < l->out; j++) x[j] *= f;
            square = s->split->squares(above->ldx, x);
        }
        k->square[i + 1][e] = square;
    }
}

static void forward(const pvi_split_state *s, const pv_rows *rows, int64_t first, work *k)
{
    k->n = rows->n - first < BATCH ? rows->n - first : BATCH;
    for (int64_t e = 0; e < k->n; e++) {
        float *const x = k->f + e * s->layer[0].ldx;
        k->row[e] = rows->pick ? rows->pick[first + e] : first + e;
        fill_row(s, rows, k->row[e], x);
        k->square[0][e] = s->split->squares(s->layer[0].ldx, x);
    }
    for (int64_t i = 0; i < s->n; i++) {
        const pvi_split_layer *l = &s->layer[i];
        if (!l->conv) s->split->product(k->n, l->in, k->f + l->x, l->ldx, l->forward, l->ldv, l->bias, k->f + l->v);
        for (int64_t e = 0; l->conv && e < k->n; e++)
            pvi_split_conv_forward(s->kernel, l, k->f + l->x + e * l->ldx, k->f + s->image, k->f + l->v + e * l->ldv);
        if (i + 1 < s->n) activate(s, i, k);
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

/* ---- backward -------------------------------------------------------------------------------------------------- */

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
        const float *const z = k->f + l->v + e * l->ldv;
        float *const gradient = k->f + l->d + e * l->ldv;
        memset(gradient, 0, sizeof *gradient * (size_t)l->ldv);
        k->label[e] = label_of(s, y);
        k->usable[e] = isfinite(row_loss(s, z, k->label[e], y, gradient));
        if (k->usable[e] && s->n > 1)
            k->usable[e] = loss_prox(s, z, gradient, k->label[e], room, change + e * l->ldv);
        if (k->usable[e]) continue;
        memset(gradient, 0, sizeof *gradient * (size_t)l->out); /* whatever has been written */
        memset(change + e * l->ldv, 0, sizeof *change * (size_t)l->out);
    }
}

/* (5), then (3), from the last layer down: d of every layer becomes U - V. */
static void sweep(const pvi_split_state *s, work *k, const float *change)
{
    for (int64_t i = s->n - 1; i > 0; i--) {
        const pvi_split_layer *l = &s->layer[i], *below = &s->layer[i - 1];
        const float *const from = i == s->n - 1 ? change : k->f + l->d;
        s->split->product(k->n, l->out, from, l->ldv, l->back, below->ldv, NULL, k->f + below->d);
        for (int64_t e = 0; e < k->n; e++)
            s->split->lift(l->in, k->f + below->v + e * below->ldv, k->f + l->x + e * l->ldx,
                           k->f + below->d + e * below->ldv);
    }
}

/* Nothing of this row in any layer's sum. */
static void leave_out(const pvi_split_state *s, work *k, int64_t e)
{
    for (int64_t i = 0; i < s->n; i++) {
        const pvi_split_layer *l = &s->layer[i];
        memset(k->f + l->x + e * l->ldx, 0, sizeof(float) * (size_t)l->ldx);
        memset(k->f + l->d + e * l->ldv, 0, sizeof(float) * (size_t)l->ldv);
    }
}

/* The squared norm of layer i's gradient, without gamma; a convolution's is formed for it. */
static double square_of(const pvi_split_state *s, work *k, int64_t i, int64_t e)
{
    const pvi_split_layer *l = &s->layer[i];
    const float *const d = k->f + l->d + e * l->ldv;
    if (!l->conv) return s->split->squares(l->ldv, d) * k->square[i][e];
    return pvi_split_conv_gradient(s->kernel, l, k->f + l->x + e * l->ldx, d, k->f + s->image, k->f + l->grad);
}

/* Every layer's d times the sign, gamma, and the clip, and convolutions into the sum; false: the row is not usable
 * and left out. */
static bool clip_row(const pvi_split_state *s, const pvi_net_cfg *c, work *k, int64_t e, double clip, float *g)
{
    const double bound = clip * (1.0 - 0x1p-22); /* (M1) */
    bool finite = k->usable[e];
    float factor[PVI_MAX_LAYERS];
    for (int64_t i = 0; finite && i < s->n; i++) {
        const float weight = i + 1 == s->n ? 1.0f : -s->gamma;
        const double norm = fabs((double)weight) * sqrt(square_of(s, k, i, e));
        finite = norm < (double)INFINITY;
        const double share = pvi_net_share(c, bound, i, (double)s->n);
        const double f = norm <= share ? 1.0 : share / norm;
        factor[i] = f >= (double)FLT_MIN ? pvi_times((float)f, weight) : 0.0f;
    }
    if (!finite) leave_out(s, k, e);
    for (int64_t i = 0; finite && i < s->n; i++) {
        const pvi_split_layer *l = &s->layer[i];
        if (l->conv)
            s->kernel->axpy(factor[i], k->f + l->grad, l->conv->n_weights + l->conv->n_biases, g + l->weights);
        else s->split->scale(l->ldv, factor[i], k->f + l->d + e * l->ldv);
    }
    return finite;
}

static void grad_sum(const void *st, const void *cfg, const pv_rows *rows, double clip, float *g, int64_t *n_bad,
                     void *scratch)
{
    const pvi_split_state *s = st;
    const pvi_split_layer *last = &s->layer[s->n - 1];
    work *k = scratch;
    float *const change = k->f + last->d + BATCH * last->ldv;
    double *const room = (double *)(void *)(change + BATCH * last->ldv);
    PVI_REQUIRE(!rows->start && ((clip >= PVI_CLIP_MIN && clip <= PVI_CLIP_MAX) || clip == (double)INFINITY));
    for (int64_t first = 0; first < rows->n; first += k->n) {
        forward(s, rows, first, k);
        start_back(s, rows, k, change, room);
        sweep(s, k, change);
        for (int64_t e = 0; e < k->n; e++)
            if (!clip_row(s, cfg, k, e, clip, g)) ++*n_bad;
        for (int64_t i = 0; i < s->n; i++) { /* weights and, for the number 1 at the end of x, biases */
            const pvi_split_layer *l = &s->layer[i];
            float *const to = g + l->weights;
            if (l->conv) continue;
            s->split->outer(k->n, k->f + l->x, l->ldx, k->f + l->d, l->ldv, l->in + 1, l->out, true, to, l->out);
        }
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
    const pvi_split_state *s = st;
    const pvi_split_layer *last = &s->layer[s->n - 1];
    work *k = scratch;
    double sum = 0.0;
    (void)cfg;
    for (int64_t first = 0; first < rows->n; first += k->n) {
        forward(s, rows, first, k);
        for (int64_t e = 0; e < k->n; e++) {
            const float y = rows->y[k->row[e]];
            const double loss = row_loss(s, k->f + last->v + e * last->ldv, label_of(s, y), y, NULL);
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
        for (int64_t e = 0; e < k->n; e++) {
            const pvi_split_layer *const last = &s->layer[s->n - 1];
            const float *const z = k->f + last->v + e * last->ldv;
            if (s->classes != 2) memcpy(score + (first + e) * n, z, sizeof *z * (size_t)n);
            else score[first + e] = z[1] - z[0];
        }
    }
}

/* L: of each layer's problem on its own; what clipping leaves of cross-entropy need not be convex. */
static void constants(const void *cfg, const pv_domain *dom, double *G, double *L)
{
    const pvi_net_cfg *c = cfg;
    const double X = fmax(c->radius, c->scale * dom->row_norm);
    *G = c->all_clips;
    bool dense = true; /* what clipping leaves of a sum over pixels need not be the gradient of anything */
    for (int64_t i = 0; i < c->net.n; i++) dense = dense && c->net.layer[i].kind != PVI_LAYER_CONV;
    *L = dense && (dom->classes == 0 || c->loss == LOSS_SQUARED) ? fmax(1.0, c->gamma) * (X * X + 1.0)
                                                                 : (double)INFINITY;
}

#define ROW(key, type, field, def, lo, hi, cert, help, text)                                                         \
    {                                                                                                                \
        key, type, offsetof(pvi_net_cfg, field), def, lo, hi, cert, help, text                                       \
    }
static const pv_param params[] = {
    ROW("layers", PV_STR, layers, 0, 0, 0, true, "the network: convolutions and dense layers with relu between them",
        "dense64,relu,dense"),
    ROW("loss", PV_ENUM, loss, LOSS_SQUARED, 0, 0, true, "auto: cross-entropy for classes, squared for numbers",
        "auto|cross-entropy|squared"),
    PVI_CLIPS_ROW,
    ROW("gamma", PV_F64, gamma, 1, 1e-6, 1e6, true, "gamma, weight of the splitting against the loss", NULL),
    ROW("radius", PV_F64, radius, PV_AUTO, 1e-6, 1e9, true,
        "bound on the norm of a hidden layer's values; auto: 2 sqrt(values of the widest)", NULL),
    ROW("scale", PV_F64, scale, PV_AUTO, 1e-6, 1e6, true, "factor of every input value; auto: sqrt(columns)/R", NULL),
    ROW("seed", PV_I64, seed, 1, 0, 9e15, false, "of the public start weights", NULL),
    { 0 }
};

const pv_model_ops pv_model_split_mlp = {
    .head = { .name = "split-mlp",
              .summary = "a network of dense layers or convolutions and relu, trained block by block",
              .reference = "Zeng et al. 2019; DP-SBCD (4)-(6)",
              .cfg_size = sizeof(pvi_net_cfg),
              .state_size = sizeof(pvi_split_state),
              .params = params },
    .props = PV_ANY_LABEL | PV_BLOCKS | PV_NETWORK,
    .dim = pvi_net_dim,
    .scratch = scratch_size,
    .begin = begin,
    .grad_sum = grad_sum,
    .rounding = rounding,
    .value_sum = value_sum,
    .outputs = pvi_net_outputs,
    .predict = predict,
    .constants = constants,
    .open = open_split,
    .start = pvi_net_start,
    .tensors = pvi_net_tensors,
    .clip = 0.3,
};
