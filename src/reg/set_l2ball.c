/* set_l2ball.c - the Euclidean ball C = { ||w||_2 <= R }.
 *
 *   (1) projection      w min(1, R/||w||)
 *   (2) linear oracle   argmin_{v in C} <v, g> = -R g/||g||, by Cauchy-Schwarz (g = 0: any; we take 0)
 *   (3) Gaussian width  E sup_{v in C} <v, z> = R E||z|| = R sqrt(2) Gamma((d+1)/2)/Gamma(d/2)
 *
 * Soft thresholding first is exact for an l1 penalty: prox.c (3). */
#include "reg.h"

typedef struct cfg {
    double radius;
} cfg;

static const pv_param params[] = {
    { "radius", PV_F64, offsetof(cfg, radius), 1.0, 1e-12, 1e12, false, "R of ||w||_2 <= R", NULL },
    { 0 },
};

static void project(const void *st, const void *c_, double *w, int64_t d)
{
    const double R = ((const cfg *)c_)->radius, norm = pvi_norm2(w, d);
    (void)st;
    if (norm > R) pvi_scale(w, R / norm, d); /* (1) */
}

static void lmo(const void *st, const void *c_, const double *g, double *v, int64_t d)
{
    const double norm = pvi_norm2(g, d);
    (void)st;
    for (int64_t j = 0; j < d; j++) v[j] = norm > 0.0 ? -((const cfg *)c_)->radius * (g[j] / norm) : 0.0; /* (2) */
}

static double radius(const void *st, const void *c_, int64_t d)
{
    (void)st, (void)d;
    return ((const cfg *)c_)->radius;
}

static double width(const void *st, const void *c_, int64_t d)
{
    (void)st;
    return ((const cfg *)c_)->radius * pvi_mean_norm(d); /* (3) */
}

const pv_set_ops pv_set_l2ball = {
    .head = { .name = "l2ball",
              .summary = "Euclidean ball ||w||_2 <= R",
              .reference = "Wang, Xu 2019 (DP-PGD, DP-FW-L2)",
              .cfg_size = sizeof(cfg),
              .params = params },
    .props = PV_CONVEX | PV_COMPACT | PV_PROX | PV_LMO | PV_L1_FIRST,
    .project = project,
    .lmo = lmo,
    .radius = radius,
    .width = width,
};
