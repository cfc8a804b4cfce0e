/* loss_sigmoid.kernel.c - sigmoid loss: a smooth, bounded, non-convex stand-in for the number of errors.
 *
 * (1) phi(m) = 1/(1 + e^m) =: s, m = y <w,x>: 1 for a confident error, 0 for a confident success.
 *     s' = -s (1 - s), so phi' = -s (1 - s), phi'' = s (1 - s) (1 - 2s),
 *     phi''' = -s (1 - s) (1 - 6s + 6s^2).
 *     1/(1 + e^-m), as some papers print it, rewards errors: minimising it learns the opposite labels.
 * With t = e^-|m| and q = 1/(1 + t):
 * (2) s = t q for m >= 0 and q for m < 0;  s (1 - s) = t q^2;  1 - 2s = (1 - t) q with the sign of m.
 *
 * Suprema: |phi'| = 1/4 at m = 0; |phi''| = 1/(6 sqrt 3) at s = 1/2 -+ 1/(2 sqrt 3); |phi'''| = 1/8 at m = 0
 * (its other extrema, at s (1 - s) = 1/12, are 1/24). */
#include "model/loss_kernel.h"

PVI_INLINE vloss sigmoid(vf m, const float *k)
{
    (void)k;
    const vf t = vexp_neg(-vabs(m)), q = 1.0f / (1.0f + t), tq = t * q, p = tq * q; /* (2) */
    return (vloss) { vsel(m < 0.0f, q, tq), -p, vcopysign(p * ((1.0f - t) * q), m) };
}

PVI_LOSS_KERNEL(sigmoid)
{
    loss_loop(sigmoid, NULL, n, m, v, d1, d2);
}

#ifdef PVI_ISA_ONCE
const pv_loss_ops pv_loss_sigmoid = {
    .head = { .name = "sigmoid",
              .summary = "sigmoid loss 1/(1 + exp(m)), labels -1 and +1; non-convex",
              .reference = "Mason, Baxter, Bartlett, Frean 1999",
              .params = pv_no_params },
    .props = PV_SMOOTH | PV_LIPSCHITZ | PV_HESSIAN | PV_CLASSIFY | PV_MARGIN,
    .sup1 = 0.25,
    .sup2 = 0.096225044864937627, /* 1 / (6 sqrt 3) */
    .sup3 = 0.125,
    .eval = eval,
};
#endif
