/* reg_l1.c - lasso penalty.
 *
 *   (1) r(w) = lambda ||w||_1, not differentiable where a coordinate is zero
 *   (2) prox_eta(w) = sign(w) max(|w| - eta lambda, 0): zero is in lambda d|x| + (x - w)/eta there.
 *
 * All weights are penalised alike, the one of the bias column included. */
#include "reg.h"

typedef struct cfg {
    double lambda;
} cfg;

static const pv_param params[] = {
    { "lambda", PV_F64, offsetof(cfg, lambda), 1e-3, 0.0, 1e12, false, "lambda of lambda ||w||_1", NULL },
    { 0 },
};

static double value(const void *c_, const double *w, int64_t d)
{
    return ((const cfg *)c_)->lambda * pvi_norm1(w, d);
}

static void prox(const void *c_, double eta, double *w, int64_t d)
{
    pvi_soft_threshold(w, eta * ((const cfg *)c_)->lambda, d); /* (2) */
}

static double no_bound(const void *c_)
{
    return ((const cfg *)c_)->lambda > 0.0 ? INFINITY : 0.0;
}

const pv_reg_ops pv_reg_l1 = {
    .head = { .name = "l1",
              .summary = "lasso: lambda ||w||_1",
              .reference = "Tibshirani 1996",
              .cfg_size = sizeof(cfg),
              .params = params },
    .props = PV_CONVEX | PV_PROX | PV_ELASTIC,
    .value = value,
    .prox = prox,
    .smooth = no_bound,
};
