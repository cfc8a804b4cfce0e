/* loss_logistic.kernel.c - logistic loss.
 *
 * (1) phi(m) = log(1 + e^-m), m = y <w,x>; phi' = -1/(1 + e^m), phi'' = p (1 - p) with p = -phi',
 *     phi''' = -p (1 - p) (1 - 2p).  Convex.
 * With t = e^-|m| in [0, 1] and q = 1/(1 + t) nothing overflows:
 * (2) p = t q for m >= 0 and q for m < 0;   phi'' = t q^2
 * (3) phi = max(-m, 0) + log(1 + t)
 * m = +inf gives (0, 0, 0), m = -inf gives (inf, -1, 0).
 *
 * Suprema: |phi'| < 1 (m -> -inf); phi'' <= 1/4 (m = 0); |phi'''| = |p (1-p) (1-2p)| is largest at
 * p = 1/2 -+ 1/(2 sqrt 3), where it is 1/(6 sqrt 3).  In float q <= 1 and t q^2 <= 1/4 (q = 1/2 at t = 1;
 * the loss tests scan for it). */
#include "model/loss_kernel.h"

PVI_INLINE vloss logistic(vf m, const float *k)
{
    (void)k;
    const vf t = vexp_neg(-vabs(m)), q = 1.0f / (1.0f + t), tq = t * q; /* (2) */
    const vf p = vsel(m < 0.0f, q, tq);
    const vf hinge = vsel(m > 0.0f, vset(0.0f), -m);
    return (vloss) { hinge + vlog1p_unit(t), -p, tq * q }; /* (3) */
}

PVI_LOSS_KERNEL(logistic)
{
    loss_loop(logistic, NULL, n, m, v, d1, d2);
}

#ifdef PVI_ISA_ONCE
static double slope(const void *cfg, double m)
{
    const double t = exp(-fabs(m)), q = 1.0 / (1.0 + t);
    (void)cfg;
    return m < 0.0 ? -q : -t * q; /* (2) */
}

const pv_loss_ops pv_loss_logistic = {
    .head = { .name = "logistic",
              .summary = "logistic loss log(1 + exp(-m)), labels -1 and +1",
              .reference = "Berkson 1944",
              .params = pv_no_params },
    .props = PV_CONVEX | PV_SMOOTH | PV_LIPSCHITZ | PV_HESSIAN | PV_CLASSIFY | PV_MARGIN | PV_FOR_TWO,
    .sup1 = 1.0,
    .sup2 = 0.25,
    .sup3 = 0.096225044864937627, /* 1 / (6 sqrt 3) */
    .eval = eval,
    .slope = slope,
};
#endif
