/* reg_l2.c - ridge penalty.
 *
 *   (1) r(w) = (lambda/2) ||w||^2     (2) r'(w) = lambda w     (3) r'' = lambda
 *   (4) prox_eta(w) = w / (1 + eta lambda): set the derivative of r(x) + ||x - w||^2/(2 eta) to zero.
 *
 * All weights are penalised alike, the one of the bias column included. */
#include "reg.h"

typedef struct cfg {
    double lambda;
} cfg;

static const pv_param params[] = {
    { "lambda", PV_F64, offsetof(cfg, lambda), 1e-4, 0.0, 1e12, false, "lambda of (lambda/2) ||w||^2", NULL },
    { 0 },
};

static double value(const void *c_, const double *w, int64_t d)
{
    const cfg *c = c_;
    const double norm = pvi_norm2(w, d);
    return 0.5 * c->lambda * norm * norm;
}

static void grad(const void *c_, const double *w, double *g, int64_t d)
{
    const double lambda = ((const cfg *)c_)->lambda;
    for (int64_t j = 0; j < d; j++) g[j] += lambda * w[j];
}

static void curv(const void *c_, const double *w, double *h, int64_t d)
{
    const double lambda = ((const cfg *)c_)->lambda;
    (void)w;
    for (int64_t j = 0; j < d; j++) h[j] += lambda;
}

static void prox(const void *c_, double eta, double *w, int64_t d)
{
    pvi_scale(w, 1.0 / (1.0 + eta * ((const cfg *)c_)->lambda), d); /* (4) */
}

static double lambda_of(const void *c_)
{
    return ((const cfg *)c_)->lambda;
}

const pv_reg_ops pv_reg_l2 = {
    .head = { .name = "l2",
              .summary = "ridge: (lambda/2) ||w||^2",
              .reference = "Hoerl, Kennard 1970",
              .cfg_size = sizeof(cfg),
              .params = params },
    .props = PV_CONVEX | PV_SMOOTH | PV_STRONG | PV_PROX | PV_HESSIAN | PV_ELASTIC,
    .value = value,
    .grad = grad,
    .curv = curv,
    .prox = prox,
    .smooth = lambda_of,
    .strong = lambda_of,
};
