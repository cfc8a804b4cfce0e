/* query_moments.c - second moments of the rows.
 *
 * Asked at  nothing
 * Unit      V = svec(x x' / R^2), a positive semidefinite matrix of Frobenius norm ||x||^2/R^2 <= 1; a longer row,
 *           which the declared bound R rules out, is cut to it                                               (1)
 *           of a person of several rows, the mean of their V: positive semidefinite, and of norm at most 1
 *           (glm_joint.c (9))
 * Bound     absent 1; other sqrt 2, since <V, V'> >= 0                                                       (2)
 * Rounding  as of Hessians, with 1 for B (query_hessian.c (3))
 * Answer    d^2 numbers: the noisy average of x x'/R^2, both triangles */
#include "query/svec.h"

static pv_status open(pvi_query *q, pv_ctx *ctx)
{
    const int64_t d = q->prob->d;
    if (!(q->joint.row_norm > 0.0))
        return pvi_fail(ctx, PV_E_UNSUPPORTED, "second moments of rows are known for a loss of one number only");
    q->joint.scale = 1.0;
    q->joint.plain = false;
    q->length = svec_length(&q->joint);
    q->values = d * d;
    q->bound = (pvi_bound) { 1.0, pv_up(sqrt(2.0), 1) }; /* (1), (2) */
    return PV_OK;
}

static size_t scratch(const pvi_query *q, int64_t most)
{
    (void)most;
    return q->model->hess->scratch(q->cfg, q->dom);
}

static double rounding(const pvi_query *q, int64_t m)
{
    return q->bound.absent * (q->model->hess->rounding(q->cfg, m, q->prob->d) + 0x1p-23 * (double)m);
}

static void add(const pvi_query *q, const void *st, const pv_rows *units, double spacing, pvi_lane *l)
{
    (void)st;
    memset(l->g, 0, (size_t)q->length * sizeof *l->g);
    q->model->hess->moment(units, q->joint.row_norm, l->g, &l->bad, l->scratch);
    svec_add(&q->joint, l->g, spacing, l->sum);
}

static void value(const pvi_query *q, const double *noisy, double share, double *out)
{
    svec_unpack(&q->joint, noisy, share, out);
}

static double other(double B, double C, bool semidefinite)
{
    (void)C, (void)semidefinite;
    return pv_up(sqrt(2.0), 1) * B;
}

const pvi_query_ops pvi_query_moments = {
    .name = "moments",
    .summary = "second moments of the rows",
    .full = 256,
    .sampled = 256,
    .mean = 96,
    .batch_share = 10.0,
    .batch_most = INFINITY,
    .transforms = true,
    .units = true,
    .open = open,
    .scratch = scratch,
    .rounding = rounding,
    .add = add,
    .value = value,
    .other = other,
};
