/* loss_huber.kernel.c - Huber's loss on real labels: squared near zero, linear beyond delta.
 *
 * r = <w,x> - y, a = min(|r|, delta):
 * (1) phi = a (|r| - a/2),  phi' = a with the sign of r,  phi'' = 1 for |r| <= delta, else 0.
 * Suprema: |phi'| = delta, |phi''| = 1; phi'' jumps at delta, so there is no bound on phi''' (INFINITY), and
 * the loss does not claim a Hessian: what needs one is refused.  Convex.  delta is rounded down to a float,
 * so |phi'| never exceeds the declared bound.
 * Reference: Huber 1964, Robust estimation of a location parameter. */
#include "model/loss_kernel.h"

typedef struct huber_cfg {
    double delta;
} huber_cfg;

/* k = { delta } */
PVI_INLINE vloss huber(vf r, const float *k)
{
    const vf size = vabs(r), a = vsel(size > k[0], vset(k[0]), size);
    const vf inside = vsel(size > k[0], vset(0.0f), vset(1.0f));
    return (vloss) { a * (size - 0.5f * a), vcopysign(a, r), vsel(r != r, r, inside) };
}

PVI_LOSS_KERNEL(huber)
{
    const float k[] = { pvi_float_down(((const huber_cfg *)cfg)->delta) };
    loss_loop(huber, k, n, m, v, d1, d2);
}

#ifdef PVI_ISA_ONCE
static const pv_param params[] = { { "delta", PV_F64, offsetof(huber_cfg, delta), 1.0, 1e-6, 1e6, true,
                                     "residual delta beyond which the loss is linear", NULL },
                                   { 0 } };

static void sup(const void *cfg, double out[3])
{
    out[0] = ((const huber_cfg *)cfg)->delta;
    out[1] = 1.0;
    out[2] = INFINITY;
}

static double slope(const void *cfg, double r)
{
    return copysign(fmin(fabs(r), ((const huber_cfg *)cfg)->delta), r); /* (1) */
}

const pv_loss_ops pv_loss_huber = {
    .head = { .name = "huber",
              .summary = "Huber loss, real labels: squared within delta, linear beyond",
              .reference = "Huber 1964",
              .cfg_size = sizeof(huber_cfg),
              .params = params },
    .props = PV_CONVEX | PV_SMOOTH | PV_LIPSCHITZ,
    .sup1 = 1.0,
    .sup2 = 1.0,
    .sup3 = INFINITY,
    .eval = eval,
    .sup = sup,
    .slope = slope,
};
#endif
