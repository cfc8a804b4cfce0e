/* mirror_entropy.c - negative entropy on the simplex { x >= 0, sum x = R }: exponentiated gradient.
 *
 *   (1)  psi(x) = sum_j x_j ln x_j,   D(x, w) = sum_j x_j ln(x_j/w_j) - x_j + w_j   (Kullback-Leibler)
 *   (2)  modulus 1/R in l1 (Pinsker: D >= ||x - w||_1^2 / (2R) on the simplex)
 *   (3)  argmin eta <g, x> + D(x, w):  ln x_j - ln w_j + eta g_j is the same number for all j, so
 *        x_j = R w_j exp(-eta g_j) / sum_k w_k exp(-eta g_k), computed after subtracting the largest exponent.
 * An l1 penalty is constant on the simplex and drops out; a quadratic one would break (3) and is refused.
 *
 * A coordinate that starts positive stays positive in (3), but might round to zero and then be lost for ever, so it
 * is kept at a number too small to matter instead. */
#include "reg.h"

#define TINY 1e-280 /* times R/d still a normal number for every R and d allowed */

extern const pv_mirror_ops pv_mirror_entropy;

static pv_status check(pv_ctx *ctx, const pv_reg_ops *reg, const pv_set_ops *set)
{
    return pvi_mirror_l1_check(ctx, &pv_mirror_entropy, reg, set);
}

static void step(const pv_problem *p, double eta, const double *g, double *w)
{
    const double R = p->set->radius(p->set_st, p->set_cfg, p->d);
    double top = -INFINITY;
    for (int64_t j = 0; j < p->d; j++) {
        w[j] = log(w[j]) - eta * g[j]; /* zero becomes -inf and zero again */
        if (!(w[j] <= top)) top = w[j];
    }
    for (int64_t j = 0; j < p->d; j++) {
        const bool zero = w[j] == -INFINITY;
        w[j] = exp(w[j] - top);
        if (w[j] < TINY && !zero) w[j] = TINY;
    }
    pvi_scale(w, R / pvi_sum(w, p->d), p->d); /* (3) */
}

/* (1 + r) ln(1 + r) - r, by its series where the difference would cancel. */
static double relative_entropy(double r)
{
    if (fabs(r) > 1e-3) return (1.0 + r) * log1p(r) - r;
    return r * r * (1.0 / 2.0 - r * (1.0 / 6.0 - r * (1.0 / 12.0 - r * (1.0 / 20.0 - r / 30.0))));
}

static double divergence(const pv_problem *p, const double *x, const double *w)
{
    double s = 0.0;
    for (int64_t j = 0; j < p->d; j++) {
        if (w[j] > 0.0 && x[j] > 0.0) s += w[j] * relative_entropy((x[j] - w[j]) / w[j]); /* (1) */
        else s += x[j] > 0.0 ? INFINITY : w[j];
    }
    return s;
}

static double modulus(const pv_problem *p)
{
    return 1.0 / p->set->radius(p->set_st, p->set_cfg, p->d); /* (2) */
}

const pv_mirror_ops pv_mirror_entropy = {
    .head = { .name = "entropy",
              .summary = "negative entropy on the simplex (exponentiated gradient)",
              .reference = "Beck, Teboulle 2003, section 5",
              .params = pv_no_params },
    .on = PV_L1_FLAT,
    .check = check,
    .step = step,
    .divergence = divergence,
    .modulus = modulus,
};
