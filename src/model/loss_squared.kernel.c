/* loss_squared.kernel.c - squared loss on real labels.
 *
 * (1) phi(r) = r^2 / 2, r = <w,x> - y; phi' = r, phi'' = 1, phi''' = 0.  Convex and smooth, but phi' is
 *     unbounded: sup1 is INFINITY, so the plan has to clip, or to bound w and y.  Multiplying before the
 *     product with r keeps r^2/2 finite as long as r^2 is below twice the largest float. */
#include "model/loss_kernel.h"

PVI_INLINE vloss squared(vf r, const float *k)
{
    (void)k;
    return (vloss) { 0.5f * r * r, r, vsel(r != r, r, vset(1.0f)) };
}

PVI_LOSS_KERNEL(squared)
{
    loss_loop(squared, NULL, n, m, v, d1, d2);
}

#ifdef PVI_ISA_ONCE
static double slope(const void *cfg, double r)
{
    (void)cfg;
    return r; /* (1) */
}

const pv_loss_ops pv_loss_squared = {
    .head = { .name = "squared",
              .summary = "half the squared residual, real labels; the gradient has to be clipped",
              .reference = "Gauss 1809",
              .params = pv_no_params },
    .props = PV_CONVEX | PV_SMOOTH | PV_HESSIAN | PV_FOR_NUMBERS,
    .sup1 = INFINITY,
    .sup2 = 1.0,
    .sup3 = 0.0,
    .eval = eval,
    .slope = slope,
};
#endif
