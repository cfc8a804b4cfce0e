/* loss_weighted.kernel.c - logistic loss whose classes count differently, for outcomes that are rare.
 *
 * (1) l(m, y) = a_y phi(m), phi(m) = log(1 + e^-m) as in loss_logistic.kernel.c, m = y <w,x>, with
 *       a_+ = rho/max(1, rho), a_- = 1/max(1, rho), rho = class_weight (1 - q)/q
 *     q = prevalence, the declared share of the second class: with class_weight = 1 both classes count as if each
 *     had half of the rows.  Only the ratio rho matters to the minimum: its log odds are those of the rows as they
 *     come, plus log rho, where the model can express that.
 * eval() is phi, without a_y: the margin does not tell the class.  Linear models multiply by it (glm_block.h).
 *
 * Suprema: those of phi, since a_y <= 1: a row's gradient a_y phi'(m) y x is no longer than without weights.  Second
 *            derivatives are left out of the promise: no optimiser that asks for them takes this loss.
 * Privacy  a_y is a function of the row's own label and of public settings; the product is clipped like any other
 *          coefficient, glm.c (1) to (4), so that the sensitivity does not depend on a_y at all. */
#include "model/loss_kernel.h"

PVI_INLINE vloss weighted(vf m, const float *k)
{
    (void)k;
    const vf t = vexp_neg(-vabs(m)), q = 1.0f / (1.0f + t), tq = t * q; /* loss_logistic.kernel.c (2), (3) */
    const vf p = vsel(m < 0.0f, q, tq);
    return (vloss) { vsel(m > 0.0f, vset(0.0f), -m) + vlog1p_unit(t), -p, tq * q };
}

PVI_LOSS_KERNEL(weighted)
{
    loss_loop(weighted, NULL, n, m, v, d1, d2);
}

#ifdef PVI_ISA_ONCE
typedef struct weighted_cfg {
    double class_weight, prevalence;
} weighted_cfg;

static const pv_param params[] = {
    { "class_weight", PV_F64, offsetof(weighted_cfg, class_weight), 1.0, 1e-6, 1e6, true,
      "how much a row of the second class counts beside one of the first, after prevalence", NULL },
    { "prevalence", PV_F64, offsetof(weighted_cfg, prevalence), 0.5, 1e-6, 1.0 - 1e-6, true,
      "q, the second class's share of rows, from public knowledge: both classes count as if each had half", NULL },
    { 0 }
};

static void weights(const void *cfg, double a[2])
{
    const weighted_cfg *c = cfg;
    const double rho = c->class_weight * (1.0 - c->prevalence) / c->prevalence; /* (1) */
    a[0] = 1.0 / fmax(1.0, rho);
    a[1] = rho / fmax(1.0, rho);
}

const pv_loss_ops pv_loss_weighted = {
    .head = { .name = "weighted",
              .summary = "logistic loss whose second class counts more or less, for rare outcomes",
              .reference = "King, Zeng 2001",
              .cfg_size = sizeof(weighted_cfg),
              .params = params },
    .props = PV_CONVEX | PV_SMOOTH | PV_LIPSCHITZ | PV_CLASSIFY | PV_MARGIN | PV_FOR_TWO,
    .sup1 = 1.0,
    .sup2 = 0.25,
    .sup3 = INFINITY, /* without PV_HESSIAN none is promised */
    .eval = eval,
    .weights = weights,
};
#endif
