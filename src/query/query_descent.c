/* query_descent.c - where gradient descent on the rows leads: output perturbation.
 *
 * Solves    min F(w) + r(w), F the mean over the n rows of psi (glm_double.c (1)): convex, L-smooth, gradients of
 *           rows of norm at most C; r(w) = a ||w||_1 + (lambda/2) ||w||^2
 * Asked at  nothing: w_0 = 0.  T steps, none of which is released,
 *             w_t = c soft(w_{t-1} - eta g(w_{t-1})),  c = 1/(1 + eta lambda),  eta <= 2/L                     (1)
 *           with the soft threshold at eta a: proximal gradient descent (prox.c (2)).  g is the computed mean of
 *           gradients, within e of grad F (glm_double.c (6)).  T and eta are public, and nothing stops earlier.
 *
 * How far the ends of two neighbouring tables are apart.
 *   (2) ||(w - eta grad F(w)) - (v - eta grad F(v))|| <= ||w - v|| for any two points.  With q = grad F(w) -
 *       grad F(v) the square of the left side is ||w - v||^2 - 2 eta <q, w - v> + eta^2 ||q||^2, and <q, w - v> is at
 *       least ||q||^2/L for a convex L-smooth F (Baillon-Haddad), so that eta <= 2/L makes the last two terms
 *       together at most 0.
 *   (3) At one point the gradients of the two tables differ by at most C/n (a unit left out) or 2 C/n (another).
 *   (4) The soft threshold brings no two points further apart, whatever it is; the factor c shrinks distances.
 *   (5) Rounding: the step, the threshold and the factor are each off by at most u = 2^-53 of numbers of norm at most
 *       V = 1.01 eta C (A + 1), A of (6), since ||g|| <= 1.005 C: together 4.1 u V on each table.
 *   (6) By (2) on one table, (3) for the other, e on both, (4) and (5), the distance D_t of the two runs obeys
 *       D_0 = 0, D_t <= c (D_{t-1} + eta (C/n + 2 e) + 9 u V/c), and so
 *         D_T <= (eta (C/n + 2 e) + 9 u V/c) A,   A = c + c^2 + .. + c^T = (1 - (1 + eta lambda)^-T)/(eta lambda),
 *       A = T without lambda.  The computed c is above the exact one by less than 4 u: a factor of 1 + T 2^-47, which
 *       also pays for an L that is rounded.
 *       Its limits: C/(n lambda) for T -> infinity, what one row can move the minimiser by (Chaudhuri, Monteleoni,
 *       Sarwate 2011), although none need be reached; T eta C/n for a loss that is only convex (Zhang et al. 2017).
 * Unit      the vector k w_T, k so that one unit moves it, as computed, by at most C: k (D_T + 2 u V) <= C     (7)
 *           Every entry is cut to [-n C, n C], which brings no two vectors further apart.  It never has to be:
 *           a table without rows leads to 0, and n units to at most n C.
 * Bound     absent C; other 2 C, since 2 C/n for C/n in (6) at most doubles it
 * Rounding  none but the grid's: the rest is in (6) and (7)
 * Answer    d numbers: w_T, noisy */
#include "query/query.h"
#include "reg/reg.h"

static pvi_glm_double rows_of(const pvi_query *q)
{
    const pvi_glm_cfg *cfg = q->cfg;
    const double y = fmax(fabs(q->dom->y_lo), fabs(q->dom->y_hi)), C = q->prob->C;
    return (pvi_glm_double) { .cfg = cfg,
                              .clip = C,
                              .y_most = cfg->loss->props & PV_MARGIN ? 0.0 : y,
                              .grid = pvi_glm_double_grid(C, q->prob->n) };
}

/* A of (6), not below it. */
static double accumulated(const pvi_query *q)
{
    const double T = (double)q->descent.passes, x = q->descent.step * pvi_penalty_strong(q->prob);
    const double A = x > 0.0 ? -expm1(-T * log1p(x)) / x : T;
    return fmin(T, A * (1.0 + 0x1p-40)) * (1.0 + T * 0x1p-47);
}

static double largest(const pvi_query *q) /* V of (5) */
{
    return 1.01 * q->descent.step * q->prob->C * (accumulated(q) + 1.0);
}

/* D_T of (6), a unit left out. */
static double moved(const pvi_query *q)
{
    const pvi_glm_double rows = rows_of(q);
    const double eta = q->descent.step, V = largest(q), u = 0x1p-53;
    const double e = pvi_glm_double_error(&rows, q->dom, V), c = 1.0 / (1.0 + eta * pvi_penalty_strong(q->prob));
    return pv_up((eta * (q->prob->C / (double)q->prob->n + 2.0 * e) + 9.0 * u * V / c) * accumulated(q), 16);
}

static double unit_scale(const pvi_query *q) /* k of (7) */
{
    return pvi_down(q->prob->C / pv_up(moved(q) + 0x1p-52 * largest(q), 2), 2);
}

static bool is_smooth(const pv_plugin *h, uint32_t of)
{
    const pv_loss_ops *loss = (const pv_loss_ops *)(const void *)h;
    return (loss->props & of) == of && loss->slope;
}

static pv_words words(const char *what, const char *names)
{
    pv_words w = { "" };
    pv_words_add(&w, "", what);
    pv_words_add(&w, "", names);
    return w;
}

static pv_words lacking(const pvi_query *q)
{
    const pv_problem *p = q->prob;
    const pvi_glm_cfg *cfg = q->model->props & PV_OF_LOSSES ? q->cfg : NULL;
    if (!cfg || !(cfg->loss->props & PV_CONVEX) || !cfg->loss->slope || !isfinite(p->L))
        return words("a convex and smooth loss of one number: model=",
                     pv_names_where(PV_KIND_loss, is_smooth, PV_CONVEX).text);
    if (!isfinite(rows_of(q).y_most))
        return words("declared bounds of the label: data.y_min and data.y_max, or a schema", "");
    if (!(p->reg->props & PV_ELASTIC))
        return words("a convex penalty: reg=", pv_names_with(PV_KIND_reg, PV_ELASTIC).text);
    if (p->start) return words("a start at 0: leave optimizer.start out", "");
    if (p->set) return words("weights without a constraint: leave the set out", "");
    return (pv_words) { "" };
}

static pv_status open(pvi_query *q, pv_ctx *ctx)
{
    const pv_words lack = lacking(q);
    if (*lack.text) return pvi_fail(ctx, PV_E_UNSUPPORTED, "output perturbation needs %s", lack.text);
    if (!(q->descent.step * q->prob->L <= 2.0)) /* (2) */
        return pvi_fail(ctx, PV_E_PARAM, "optimizer.step = %g: output perturbation has a proof for at most 2/L = %g",
                        q->descent.step, 2.0 / q->prob->L);
    q->length = q->values = q->prob->d;
    q->bound = (pvi_bound) { q->prob->C, 2.0 * q->prob->C }; /* (7) */
    q->unit = (double)q->prob->n / unit_scale(q);
    pvi_log(ctx, PV_LOG_NOTE, "one row moves the weights by at most %.3g, noise is in proportion", moved(q));
    return PV_OK;
}

/* ---- the descent ---------------------------------------------------------------------------------------------- */

enum { TASK_GROUPS = 16 };
typedef struct pass {
    const pv_rows *all;
    pvi_glm_double rows;
    const double *w;
    pvi_lane *lane;
} pass;

/* Room of a lane: a sum in double; the first one's also w and g. */
static double *room(const pvi_lane *l, int64_t d, int k)
{
    return (double *)l->scratch + k * d;
}

static void add_rows(void *arg, int64_t task, int thread)
{
    const pass *p = arg;
    const int64_t width = (int64_t)TASK_GROUPS * GLM_DOUBLE_ROWS, n = p->all->n;
    const int64_t end = (task + 1) * width < n ? (task + 1) * width : n;
    pvi_lane *l = &p->lane[thread];
    for (int64_t i = task * width; i < end; i += GLM_DOUBLE_ROWS)
        pvi_glm_double_add(&p->rows, p->all, p->w, i, end - i < GLM_DOUBLE_ROWS ? end - i : GLM_DOUBLE_ROWS,
                           room(l, p->all->p, 0), l->sum);
}

/* The mean of gradients at w; integers, so that threads do not change a bit. */
static void gradient(const pvi_query *q, pass *p, int lanes, double *g)
{
    const int64_t d = q->length, width = (int64_t)TASK_GROUPS * GLM_DOUBLE_ROWS;
    const double unit = p->rows.grid / (double)p->all->n;
    for (int i = 0; i < lanes; i++) memset(p->lane[i].sum, 0, sizeof(int64_t) * (size_t)d);
    pvi_parallel(q->prob->ctx, (p->all->n + width - 1) / width, add_rows, p);
    for (int i = 1; i < lanes; i++)
        for (int64_t j = 0; j < d; j++) p->lane[0].sum[j] += p->lane[i].sum[j];
    for (int64_t j = 0; j < d; j++) g[j] = (double)p->lane[0].sum[j] * unit;
}

static pv_status evaluate(const pvi_query *q, const pv_rows *all, double spacing, pvi_lane *lane, int lanes)
{
    const int64_t d = q->length, T = q->descent.passes;
    const double eta = q->descent.step, k = unit_scale(q), most = (double)all->n * q->bound.absent;
    double *w = room(&lane[0], d, 1), *g = room(&lane[0], d, 2);
    pass p = { all, rows_of(q), w, lane };
    memset(w, 0, sizeof *w * (size_t)d);
    for (int64_t t = 0; t < T; t++) {
        if (!pvi_progress(q->prob->ctx, "training", (double)t, (double)T, -1.0))
            return pvi_fail(q->prob->ctx, PV_E_CANCELLED,
                            "stopped after %lld of %lld passes: no model was written, and the budget of the whole "
                            "run counts as spent",
                            (long long)t, (long long)T);
        gradient(q, &p, lanes, g);
        for (int64_t j = 0; j < d; j++) w[j] -= eta * g[j];
        pv_prox(q->prob, eta, w); /* (1) */
    }
    for (int64_t j = 0; j < d; j++) w[j] = fmin(fmax(k * w[j], -most), most); /* (7) */
    memset(lane[0].sum, 0, sizeof(int64_t) * (size_t)d);
    pvi_grid_add_f64(w, spacing, lane[0].sum, d);
    return PV_OK;
}

static size_t scratch(const pvi_query *q, int64_t most)
{
    (void)most;
    return 3 * sizeof(double) * (size_t)q->length;
}

static double rounding(const pvi_query *q, int64_t m)
{
    (void)q, (void)m;
    return 0.0;
}

static void value(const pvi_query *q, const double *noisy, double share, double *out)
{
    for (int64_t j = 0; j < q->length; j++) out[j] += share * q->unit * noisy[j];
}

static double other(double B, double C, bool semidefinite)
{
    (void)C, (void)semidefinite;
    return 2.0 * B;
}

const pvi_query_ops pvi_query_descent = {
    .name = "descent",
    .summary = "end of a gradient descent over all rows",
    .caveat = "One release is made, of the weights that gradient descent on all rows leads to, in units in which one "
              "row moves them by at most clip_norm; the proof is for the recorded loss, penalty, step and passes.",
    .full = 64,
    .sampled = 64,
    .mean = 64,
    .batch_share = 1.0,
    .batch_most = INFINITY,
    .open = open,
    .scratch = scratch,
    .rounding = rounding,
    .evaluate = evaluate,
    .value = value,
    .other = other,
};
