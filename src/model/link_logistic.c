/* link_logistic.c - logistic loss.
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
 * the link tests scan for it). */
#include "model.h"

pvi_link_fn PVI_DECLARE_ISA(pvi_link_logistic);
pvi_link_fn *const pvi_link_logistic_isa[PVI_ISA_COUNT] = PVI_EACH_ISA(pvi_link_logistic);

static void eval(const void *cfg, int64_t n, const float *m, float *v, float *d1, float *d2)
{
    (void)cfg;
    pvi_link_logistic_isa[pvi_isa()](NULL, n, m, v, d1, d2);
}

const pv_link_ops pv_link_logistic = {
    .head = { .abi = PV_PLUGIN_ABI,
              .name = "logistic",
              .summary = "logistic loss log(1 + exp(-m)), labels -1 and +1",
              .reference = "Berkson 1944",
              .params = pv_no_params },
    .props = PV_CONVEX | PV_SMOOTH | PV_LIPSCHITZ | PV_HESSIAN | PV_CLASSIFY | PV_MARGIN | PV_FOR_TWO,
    .sup1 = 1.0,
    .sup2 = 0.25,
    .sup3 = 0.096225044864937627, /* 1 / (6 sqrt 3) */
    .eval = eval,
};
