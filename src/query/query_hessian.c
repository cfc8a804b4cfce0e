/* query_hessian.c - gradient and Hessian in one vector.
 *
 * Asked at  w, the weights
 * Unit      v = (g, s svec(H)): clipped gradient, ||g|| <= C, and clipped Hessian (svec.h), together ||v|| <= B   (1)
 *           s, and with it B, is the optimiser's choice (`weigh`); the model finds B and clips to it (glm_joint.c)
 *           of a person of several rows g and H are means over their rows, clipped to the same B: a mean of positive
 *           semidefinite matrices is one
 * Bound     absent B; other 2 B, or sensitivity.c (2) where every H is positive semidefinite                   (2)
 *           plain (calibration=paper): svec without its weights, B = (C^2 + s^2 d K^2)^(1/2), other 2 B
 * Rounding  a float sum of m units is off by at most B rounding(m, d) of the model, and u m B for the diagonal  (3)
 * Answer    d + d^2 numbers: gradient and Hessian (both triangles) of the average, both noisy */
#include "query/svec.h"

static pv_status open(pvi_query *q, pv_ctx *ctx)
{
    pv_joint *j = &q->joint;
    const int64_t d = q->prob->d;
    (void)ctx;
    j->grad = q->prob->C;
    j->clip = pv_up(
        j->plain ? hypot(j->grad, j->scale * j->hess * sqrt((double)d)) : q->model->hess->norm(q->cfg, q->dom, j), 4);
    PVI_REQUIRE(j->scale > 0.0 && j->clip >= j->grad && isfinite(j->clip));
    q->length = d + svec_length(j);
    q->values = d + d * d;
    q->bound = (pvi_bound) { j->clip, pvi_replace_change(j->clip, j->grad, j->convex && !j->plain) }; /* (2) */
    return PV_OK;
}

static size_t scratch(const pvi_query *q, int64_t most)
{
    (void)most;
    return q->model->hess->scratch(q->cfg, q->dom);
}

static double rounding(const pvi_query *q, int64_t m)
{
    return q->bound.absent * (q->model->hess->rounding(q->cfg, m, q->prob->d) + 0x1p-23 * (double)m); /* (3) */
}

static void add(const pvi_query *q, const void *st, const pv_rows *units, double spacing, pvi_lane *l)
{
    const int64_t d = q->prob->d;
    memset(l->g, 0, (size_t)q->length * sizeof *l->g);
    q->model->hess->sum(st, q->cfg, units, &q->joint, l->g, l->g + d, &l->bad, l->scratch);
    pvi_grid_add(l->g, spacing, l->sum, d);
    svec_add(&q->joint, l->g + d, spacing, l->sum + d);
}

static void value(const pvi_query *q, const double *noisy, double share, double *out)
{
    const int64_t d = q->prob->d;
    for (int64_t i = 0; i < d; i++) out[i] += share * noisy[i];
    svec_unpack(&q->joint, noisy + d, share, out + d);
}

const pvi_query_ops pvi_query_hessian = {
    .name = "hessian",
    .summary = "sum of clipped gradients and Hessians in one vector",
    .caveat =
        "Gradient and Hessian leave in one vector: clip_norm bounds what one row adds to it, replace_change how "
        "far another row in its place moves it. A release may spend several events for less noise.",
    .full = 256,
    .sampled = 256,
    .mean = 96,
    .batch_share = 10.0,
    .batch_most = INFINITY,
    .parts = true,
    .takes_weights = true,
    .units = true,
    .open = open,
    .scratch = scratch,
    .rounding = rounding,
    .add = add,
    .value = value,
    .other = pvi_replace_change,
};
