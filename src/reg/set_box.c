/* set_box.c - the box C = { lo <= w_j <= hi for every j }.
 *
 *   (1) projection      each coordinate clamped to [lo, hi]
 *   (2) linear oracle   lo where g_j > 0, else hi
 *   (3) radius          sqrt(d) max(|lo|, |hi|)
 *   (4) Gaussian width  E sum_j (c z_j + h |z_j|) = h d sqrt(2/pi),  c the centre, h = (hi - lo)/2
 *
 * Soft thresholding first is exact for an l1 penalty: prox.c (4). */
#include "reg.h"

typedef struct cfg {
    double lo, hi;
} cfg;

static const pv_param params[] = {
    { "lo", PV_F64, offsetof(cfg, lo), -1.0, -1e12, 1e12, false, "smallest value of every weight", NULL },
    { "hi", PV_F64, offsetof(cfg, hi), 1.0, -1e12, 1e12, false, "largest value of every weight", NULL },
    { 0 },
};

static pv_status open(void *st, const void *c_, int64_t d, pv_ctx *ctx, pv_arena *a)
{
    const cfg *c = c_;
    (void)st, (void)d, (void)a;
    if (!(c->lo < c->hi))
        return pvi_fail(ctx, PV_E_PARAM, "set.lo=%g set.hi=%g: a box needs lo below hi", c->lo, c->hi);
    return PV_OK;
}

static void project(const void *st, const void *c_, double *w, int64_t d)
{
    const double lo = ((const cfg *)c_)->lo, hi = ((const cfg *)c_)->hi;
    (void)st;
    for (int64_t j = 0; j < d; j++) w[j] = w[j] > hi ? hi : w[j] < lo ? lo : w[j]; /* (1) */
}

static void lmo(const void *st, const void *c_, const double *g, double *v, int64_t d)
{
    const double lo = ((const cfg *)c_)->lo, hi = ((const cfg *)c_)->hi;
    (void)st;
    for (int64_t j = 0; j < d; j++) v[j] = g[j] > 0.0 ? lo : hi; /* (2) */
}

static double radius(const void *st, const void *c_, int64_t d)
{
    const cfg *c = c_;
    (void)st;
    return sqrt((double)d) * fmax(fabs(c->lo), fabs(c->hi)); /* (3) */
}

static double width(const void *st, const void *c_, int64_t d)
{
    const cfg *c = c_;
    (void)st;
    return 0.5 * (c->hi - c->lo) * (double)d * sqrt(M_2_PI); /* (4) */
}

const pv_set_ops pv_set_box = {
    .head = { .name = "box",
              .summary = "box lo <= w_j <= hi",
              .reference = "Jaggi 2013, Table 1",
              .cfg_size = sizeof(cfg),
              .params = params },
    .props = PV_CONVEX | PV_COMPACT | PV_PROX | PV_LMO | PV_L1_FIRST,
    .open = open,
    .project = project,
    .lmo = lmo,
    .radius = radius,
    .width = width,
};
