/* reg_elastic.c - elastic net.
 *
 *   (1) r(w) = lambda (a ||w||_1 + (1 - a)/2 ||w||^2),  a = l1_ratio in [0, 1]
 *   (2) prox_eta(w) = S_{eta lambda a}(w) / (1 + eta lambda (1 - a)),  S the soft threshold: prox.c (2)
 *
 * All weights are penalised alike, the one of the bias column included. */
#include "reg.h"

typedef struct cfg {
    double lambda, l1_ratio;
} cfg;

static const pv_param params[] = {
    { "lambda", PV_F64, offsetof(cfg, lambda), 1e-3, 0.0, 1e12, false, "lambda, weight of the whole penalty", NULL },
    { "l1_ratio", PV_F64, offsetof(cfg, l1_ratio), 0.5, 0.0, 1.0, false,
      "a, share of ||w||_1; the rest is (1/2)||w||^2", NULL },
    { 0 },
};

static double strong(const void *c_)
{
    const cfg *c = c_;
    return c->lambda * (1.0 - c->l1_ratio);
}

static double value(const void *c_, const double *w, int64_t d)
{
    const cfg *c = c_;
    const double norm = pvi_norm2(w, d);
    return c->lambda * c->l1_ratio * pvi_norm1(w, d) + 0.5 * strong(c) * norm * norm;
}

static void prox(const void *c_, double eta, double *w, int64_t d)
{
    const cfg *c = c_;
    pvi_soft_threshold(w, eta * c->lambda * c->l1_ratio, d);
    pvi_scale(w, 1.0 / (1.0 + eta * strong(c)), d);
}

static double smooth(const void *c_)
{
    const cfg *c = c_;
    return c->lambda * c->l1_ratio > 0.0 ? INFINITY : c->lambda;
}

const pv_reg_ops pv_reg_elastic = {
    .head = { .name = "elastic",
              .summary = "elastic net: lambda (a ||w||_1 + (1-a)/2 ||w||^2)",
              .reference = "Zou, Hastie 2005",
              .cfg_size = sizeof(cfg),
              .params = params },
    .props = PV_CONVEX | PV_STRONG | PV_PROX | PV_ELASTIC,
    .value = value,
    .prox = prox,
    .smooth = smooth,
    .strong = strong,
};
