/* reg_nonconvex.c - the bounded non-convex penalty that shrinks small weights and leaves large ones alone.
 *
 *   (1) r(w)   = lambda sum_j w_j^2 / (1 + w_j^2)
 *   (2) r'(w)  = 2 lambda w / (1 + w^2)^2                       coordinate-wise
 *   (3) r''(w) = lambda (2 - 6 w^2) / (1 + w^2)^3,  between -lambda/2 (at |w| = 1) and 2 lambda (at 0)
 *   (4) r'''(w) = 24 lambda w (w^2 - 1) / (1 + w^2)^4, at most 4.669 lambda in size (at w^2 = 1 - 2/5^(1/2))
 *
 * Smooth, so it enters through its gradient; it has no prox.  Written with t = 1/(1 + w^2), which underflows
 * to the right limits for huge w.
 *
 * Reference  D. Wang, J. Xu, Escaping saddle points of empirical risk privately and scalably, ECML PKDD 2020. */
#include "reg.h"

typedef struct cfg {
    double lambda;
} cfg;

static const pv_param params[] = {
    { "lambda", PV_F64, offsetof(cfg, lambda), 1e-3, 0.0, 1e12, false, "lambda of lambda sum w^2/(1 + w^2)", NULL },
    { 0 },
};

static double value(const void *c_, const double *w, int64_t d)
{
    double s = 0.0;
    for (int64_t j = 0; j < d; j++) {
        const double q = w[j] * w[j], t = 1.0 / (1.0 + q);
        s += q < 1.0 ? q * t : 1.0 - t; /* (1); the first form keeps the digits of a small w */
    }
    return ((const cfg *)c_)->lambda * s;
}

static void grad(const void *c_, const double *w, double *g, int64_t d)
{
    const double lambda = ((const cfg *)c_)->lambda;
    for (int64_t j = 0; j < d; j++) {
        const double t = 1.0 / (1.0 + w[j] * w[j]);
        g[j] += 2.0 * lambda * (w[j] * t) * t; /* (2) */
    }
}

static void curv(const void *c_, const double *w, double *h, int64_t d)
{
    const double lambda = ((const cfg *)c_)->lambda;
    for (int64_t j = 0; j < d; j++) {
        const double t = 1.0 / (1.0 + w[j] * w[j]);
        h[j] += lambda * (8.0 * t - 6.0) * t * t; /* (3), as 2 - 6 w^2 = 8 - 6 (1 + w^2) */
    }
}

static double smooth(const void *c_)
{
    return 2.0 * ((const cfg *)c_)->lambda;
}

static double third(const void *c_)
{
    return 4.67 * ((const cfg *)c_)->lambda; /* (4) */
}

const pv_reg_ops pv_reg_nonconvex = {
    .head = { .name = "nonconvex",
              .summary = "bounded non-convex: lambda sum w^2/(1 + w^2)",
              .reference = "Wang, Xu 2020 (DP-TR)",
              .cfg_size = sizeof(cfg),
              .params = params },
    .props = PV_SMOOTH | PV_HESSIAN,
    .value = value,
    .grad = grad,
    .curv = curv,
    .smooth = smooth,
    .third = third,
};
