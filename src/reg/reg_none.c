/* reg_none.c - no penalty: r(w) = 0. */
#include "reg.h"

static double value(const void *cfg, const double *w, int64_t d)
{
    (void)cfg, (void)w, (void)d;
    return 0.0;
}

static void no_change(const void *cfg, const double *w, double *g, int64_t d)
{
    (void)cfg, (void)w, (void)g, (void)d;
}

static void prox(const void *cfg, double eta, double *w, int64_t d)
{
    (void)cfg, (void)eta, (void)w, (void)d;
}

static double zero(const void *cfg)
{
    (void)cfg;
    return 0.0;
}

const pv_reg_ops pv_reg_none = {
    .head = { .name = "none", .summary = "no penalty", .reference = "-", .params = pv_no_params },
    .props = PV_CONVEX | PV_SMOOTH | PV_PROX | PV_HESSIAN | PV_ELASTIC | PV_ZERO,
    .value = value,
    .grad = no_change,
    .curv = no_change,
    .prox = prox,
    .smooth = zero,
    .strong = zero,
};
