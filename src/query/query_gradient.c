/* query_gradient.c - the sum of clipped gradients.
 *
 * Asked at  w, the weights
 * Unit      v = clip(grad f(w; z)), ||v|| <= C = min(clip, G), G the loss's own bound               (1)
 *           proved where models clip, contract M1: glm.c, softmax.c, net.c, split.c
 *           A person of several rows is one unit: v = clip(mean of the gradients of their rows), or what else
 *           units.c (2) makes of them, at most K, clipped as a whole.  v depends on the rows of that person alone,
 *           however many they are                                                                       (3)
 * Bound     absent C; other 2 C (sensitivity.c (2)); by (3) of a row and of a person alike
 * Rounding  a float sum of m units is off by at most C rounding(m, d), contract M2 of the model.  CSR rows of a model
 *           that can are rounded to the grid one by one: no float sums, and the grid's error is all        (2)
 * Answer    d numbers: the noisy sum over the expected number of units */
#include "query/query.h"

static pv_status open(pvi_query *q, pv_ctx *ctx)
{
    (void)ctx;
    q->length = q->values = q->prob->d;
    q->per_unit = q->sparse; /* (2) */
    q->bound = (pvi_bound) { q->prob->C, 2.0 * q->prob->C };
    return PV_OK;
}

static size_t scratch(const pvi_query *q, int64_t most)
{
    return q->model->scratch(q->cfg, q->dom, most);
}

static double rounding(const pvi_query *q, int64_t m)
{
    return q->per_unit ? 0.0 : q->bound.absent * q->model->rounding(q->cfg, m, q->length);
}

static void add(const pvi_query *q, const void *st, const pv_rows *units, double spacing, pvi_lane *l)
{
    if (q->per_unit) { /* (2) */
        q->model->grid_sum(st, q->cfg, units, q->bound.absent, spacing, l->sum, &l->bad, l->scratch);
        return;
    }
    memset(l->g, 0, (size_t)q->length * sizeof *l->g);
    q->model->grad_sum(st, q->cfg, units, q->bound.absent, l->g, &l->bad, l->scratch);
    pvi_grid_add(l->g, spacing, l->sum, q->length);
}

static double other(double B, double C, bool semidefinite)
{
    (void)C, (void)semidefinite;
    return 2.0 * B;
}

const pvi_query_ops pvi_query_gradient = {
    .name = "gradient",
    .summary = "sum of clipped gradients",
    .full = 64,
    .sampled = 128,
    .mean = 32,
    .batch_share = 20.0,
    .batch_most = 16384.0,
    .takes_weights = true,
    .units = true,
    .open = open,
    .scratch = scratch,
    .rounding = rounding,
    .add = add,
    .other = other,
};
