/* set_simplex.c - the simplex C = { w >= 0, sum_j w_j = R }.
 *
 *   (1) projection      max(w - theta, 0) with theta from threshold.c
 *   (2) linear oracle   R e_j at the smallest g_j
 *   (3) atoms           d: R e_k
 *   (4) Gaussian width  R E max_j z_j
 *
 * ||w||_1 = R on all of C, so an l1 penalty changes nothing: prox.c (6). */
#include "reg.h"

typedef struct cfg {
    double radius;
} cfg;

static const pv_param params[] = {
    { "radius", PV_F64, offsetof(cfg, radius), 1.0, 1e-12, 1e12, false, "R of w >= 0, sum w = R", NULL },
    { 0 },
};

static void project(const void *st, const void *c_, double *w, int64_t d)
{
    (void)st;
    if (d < 1) return;
    const pvi_cut cut = pvi_cut_find(w, d, false, ((const cfg *)c_)->radius);
    for (int64_t j = 0; j < d; j++) w[j] = pvi_cut_apply(cut, w[j]); /* (1) */
}

static void atom(const void *st, const void *c_, int64_t k, double *v, int64_t d)
{
    (void)st;
    memset(v, 0, (size_t)d * sizeof *v);
    v[k] = ((const cfg *)c_)->radius; /* (3) */
}

static void lmo(const void *st, const void *c_, const double *g, double *v, int64_t d)
{
    int64_t best = 0;
    for (int64_t j = 1; j < d; j++)
        if (g[j] < g[best]) best = j;
    atom(st, c_, best, v, d); /* (2) */
}

static int64_t atoms(const void *st, const void *c_, int64_t d)
{
    (void)st, (void)c_;
    return d;
}

static void scores(const void *st, const void *c_, const double *g, double *score, int64_t d)
{
    (void)st;
    for (int64_t j = 0; j < d; j++) score[j] = ((const cfg *)c_)->radius * g[j];
}

static double radius(const void *st, const void *c_, int64_t d)
{
    (void)st, (void)d;
    return ((const cfg *)c_)->radius;
}

static double width(const void *st, const void *c_, int64_t d)
{
    (void)st;
    return ((const cfg *)c_)->radius * pvi_mean_max(d); /* (4) */
}

const pv_set_ops pv_set_simplex = {
    .head = { .name = "simplex",
              .summary = "simplex w >= 0, sum w = R",
              .reference = "Duchi, Shalev-Shwartz, Singer, Chandra 2008; Condat 2016",
              .cfg_size = sizeof(cfg),
              .params = params },
    .props = PV_CONVEX | PV_COMPACT | PV_PROX | PV_LMO | PV_L1_FLAT,
    .project = project,
    .lmo = lmo,
    .atoms = atoms,
    .atom = atom,
    .radius = radius,
    .width = width,
    .scores = scores,
    .radius1 = radius,
};
