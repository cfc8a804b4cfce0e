/* query_curvature.c - the Hessian alone, on a sample of its own.
 *
 * Asked at  w, the weights
 * Unit      v = svec(H), the clipped Hessian of one unit (svec.h): ||v|| = ||H||_F <= K, which the model enforces for
 *           whatever it adds as (g, s H), ||g|| <= C (M1 of plugin.h); g is left where it was computed      (1)
 *           of a person of several rows, the mean over their rows, within the same K
 * Bound     absent K; other 2 K, or sqrt 2 K where every H is positive semidefinite: <H, H'> >= 0, which is
 *           sensitivity.c (2) with C = 0                                                                      (2)
 *           plain (calibration=paper): v without the weights of svec, so ||v|| <= ||H||_F; the bound is the paper's
 *           K sqrt d, other 2 K sqrt d
 * Rounding  M2 bounds the error of the float sum of (g, s H) by (C^2 + s^2 K^2)^(1/2) rounding(m, d) for every s, and
 *           the sum of the H does not depend on s where nothing is shared between g and H.  So the error of svec H
 *           alone is at most ((C/s)^2 + K^2)^(1/2) rounding(m, d); s = 2^10 C/K: K (1 + 2^-20).  u m K for the
 *           diagonal, as in query_hessian.c (3)                                                                (3)
 * Answer    d^2 numbers: the noisy average Hessian, both triangles */
#include "query/svec.h"

static pv_status open(pvi_query *q, pv_ctx *ctx)
{
    pv_joint *j = &q->joint;
    const double K = j->hess, d = (double)q->prob->d;
    if (!(K > 0.0 && isfinite(K)))
        return pvi_fail(ctx, PV_E_UNSUPPORTED, "Hessians need a loss whose second derivative is bounded");
    j->grad = q->prob->C;
    j->scale = 1.0;
    q->length = svec_length(j);
    q->values = q->prob->d * q->prob->d;
    const double B = j->plain ? pv_up(K * pv_up(sqrt(d), 1), 1) : K;
    q->bound = (pvi_bound) { B, pvi_replace_change(B, 0.0, j->convex && !j->plain) }; /* (1), (2) */
    return PV_OK;
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* The model's own, and behind it the gradient nobody asked for. */
static size_t scratch(const pvi_query *q, int64_t most)
{
    (void)most;
    return whole_lines(q->model->hess->scratch(q->cfg, q->dom)) + sizeof(float) * (size_t)q->prob->d;
}

static double rounding(const pvi_query *q, int64_t m)
{
    const double K = q->joint.hess * (1.0 + 0x1p-20);
    return K * (q->model->hess->rounding(q->cfg, m, q->prob->d) + 0x1p-23 * (double)m); /* (3) */
}

static void add(const pvi_query *q, const void *st, const pv_rows *units, double spacing, pvi_lane *l)
{
    const size_t own = whole_lines(q->model->hess->scratch(q->cfg, q->dom));
    float *const g = (float *)(void *)((char *)l->scratch + own);
    pv_joint j = q->joint;
    j.scale = 0x1p10 * j.grad / j.hess;                                   /* (3) */
    j.clip = pv_up(hypot(j.grad, j.scale * j.hess) * (1.0 + 0x1p-30), 4); /* nothing is shared */
    memset(g, 0, sizeof *g * (size_t)q->prob->d);
    memset(l->g, 0, (size_t)q->length * sizeof *l->g);
    q->model->hess->sum(st, q->cfg, units, &j, g, l->g, &l->bad, l->scratch);
    svec_add(&q->joint, l->g, spacing, l->sum);
}

static void value(const pvi_query *q, const double *noisy, double share, double *out)
{
    svec_unpack(&q->joint, noisy, share, out);
}

static double other(double B, double C, bool semidefinite)
{
    (void)C;
    return pvi_replace_change(B, 0.0, semidefinite); /* (2) */
}

const pvi_query_ops pvi_query_curvature = {
    .name = "curvature",
    .summary = "sum of clipped Hessians, without gradients",
    .caveat = "Gradient and Hessian leave in releases of their own, each from a sample of its own: what is said of "
              "clip_norm, batch and noise is of gradients; of Hessians `releases` says it.",
    .full = 256,
    .sampled = 256,
    .mean = 96,
    .batch_share = 10.0,
    .batch_most = INFINITY,
    .own_batch = true,
    .takes_weights = true,
    .units = true,
    .open = open,
    .scratch = scratch,
    .rounding = rounding,
    .add = add,
    .value = value,
    .other = other,
};
