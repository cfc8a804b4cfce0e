/* set_linfball.c - the cube C = { |w_j| <= R for every j }.
 *
 *   (1) projection      each coordinate clamped to [-R, R]
 *   (2) linear oracle   -R sign(g_j) (g_j = 0: +R)
 *   (3) radius          R sqrt(d)
 *   (4) Gaussian width  R E||z||_1 = R d sqrt(2/pi)
 *
 * It has 2^d vertices, too many to name as atoms.  Soft thresholding first is exact: prox.c (4). */
#include "reg.h"

typedef struct cfg {
    double radius;
} cfg;

static const pv_param params[] = {
    { "radius", PV_F64, offsetof(cfg, radius), 1.0, 1e-12, 1e12, false, "R of max_j |w_j| <= R", NULL },
    { 0 },
};

static void project(const void *st, const void *c_, double *w, int64_t d)
{
    const double R = ((const cfg *)c_)->radius;
    (void)st;
    for (int64_t j = 0; j < d; j++) w[j] = w[j] > R ? R : w[j] < -R ? -R : w[j]; /* (1) */
}

static void lmo(const void *st, const void *c_, const double *g, double *v, int64_t d)
{
    const double R = ((const cfg *)c_)->radius;
    (void)st;
    for (int64_t j = 0; j < d; j++) v[j] = g[j] > 0.0 ? -R : R; /* (2) */
}

static double radius(const void *st, const void *c_, int64_t d)
{
    (void)st;
    return ((const cfg *)c_)->radius * sqrt((double)d); /* (3) */
}

static double width(const void *st, const void *c_, int64_t d)
{
    (void)st;
    return ((const cfg *)c_)->radius * (double)d * sqrt(M_2_PI); /* (4) */
}

const pv_set_ops pv_set_linfball = {
    .head = { .name = "linfball",
              .summary = "cube |w_j| <= R",
              .reference = "Jaggi 2013, Table 1",
              .cfg_size = sizeof(cfg),
              .params = params },
    .props = PV_CONVEX | PV_COMPACT | PV_PROX | PV_LMO | PV_L1_FIRST,
    .project = project,
    .lmo = lmo,
    .radius = radius,
    .width = width,
};
