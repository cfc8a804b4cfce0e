/* set_l1ball.c - the cross-polytope C = { ||w||_1 <= R }.
 *
 *   (1) projection      w if ||w||_1 <= R, else sign(w) max(|w| - theta, 0) with theta from threshold.c
 *   (2) linear oracle   -R sign(g_j) e_j at the largest |g_j|
 *   (3) atoms           2d: k < d is +R e_k, k >= d is -R e_{k-d}
 *   (4) Gaussian width  R E max_j |z_j|
 *
 * Soft thresholding first is exact for an l1 penalty: prox.c (5). */
#include "reg.h"

typedef struct cfg {
    double radius;
} cfg;

static const pv_param params[] = {
    { "radius", PV_F64, offsetof(cfg, radius), 1.0, 1e-12, 1e12, false, "R of ||w||_1 <= R", NULL },
    { 0 },
};

static void project(const void *st, const void *c_, double *w, int64_t d)
{
    const double R = ((const cfg *)c_)->radius;
    (void)st;
    if (d < 1 || pvi_norm1(w, d) <= R) return;
    const pvi_cut cut = pvi_cut_find(w, d, true, R);
    for (int64_t j = 0; j < d; j++) w[j] = copysign(pvi_cut_apply(cut, fabs(w[j])), w[j]); /* (1) */
}

static void lmo(const void *st, const void *c_, const double *g, double *v, int64_t d)
{
    const double R = ((const cfg *)c_)->radius;
    int64_t best = 0;
    double most = -1.0;
    (void)st;
    for (int64_t j = 0; j < d; j++)
        if (fabs(g[j]) > most) most = fabs(g[best = j]);
    const double at = g[best] > 0.0 ? -R : R; /* read before v is cleared: v may be g */
    memset(v, 0, (size_t)d * sizeof *v);
    v[best] = at; /* (2) */
}

static int64_t atoms(const void *st, const void *c_, int64_t d)
{
    (void)st, (void)c_;
    return 2 * d;
}

static void atom(const void *st, const void *c_, int64_t k, double *v, int64_t d)
{
    (void)st;
    memset(v, 0, (size_t)d * sizeof *v);
    v[k < d ? k : k - d] = k < d ? ((const cfg *)c_)->radius : -((const cfg *)c_)->radius; /* (3) */
}

static void scores(const void *st, const void *c_, const double *g, double *score, int64_t d)
{
    const double R = ((const cfg *)c_)->radius;
    (void)st;
    for (int64_t j = 0; j < d; j++) {
        score[j] = R * g[j];
        score[d + j] = -R * g[j];
    }
}

static double radius(const void *st, const void *c_, int64_t d)
{
    (void)st, (void)d;
    return ((const cfg *)c_)->radius;
}

static double width(const void *st, const void *c_, int64_t d)
{
    (void)st;
    return ((const cfg *)c_)->radius * pvi_mean_max_abs(d); /* (4) */
}

const pv_set_ops pv_set_l1ball = {
    .head = { .name = "l1ball",
              .summary = "l1 ball ||w||_1 <= R",
              .reference = "Duchi, Shalev-Shwartz, Singer, Chandra 2008; Condat 2016",
              .cfg_size = sizeof(cfg),
              .params = params },
    .props = PV_CONVEX | PV_COMPACT | PV_PROX | PV_LMO | PV_L1_FIRST | PV_L1_BALL,
    .project = project,
    .lmo = lmo,
    .atoms = atoms,
    .atom = atom,
    .radius = radius,
    .width = width,
    .scores = scores,
    .radius1 = radius,
};
