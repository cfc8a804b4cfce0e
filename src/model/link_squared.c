/* link_squared.c - squared loss on real labels.
 *
 * (1) phi(r) = r^2 / 2, r = <w,x> - y; phi' = r, phi'' = 1, phi''' = 0.  Convex and smooth, but phi' is
 *     unbounded: sup1 is INFINITY, so the plan has to clip, or to bound w and y.  Multiplying before the
 *     product with r keeps r^2/2 finite as long as r^2 is below twice the largest float. */
#include "model.h"

pvi_link_fn PVI_DECLARE_ISA(pvi_link_squared);
pvi_link_fn *const pvi_link_squared_isa[PVI_ISA_COUNT] = PVI_EACH_ISA(pvi_link_squared);

static void eval(const void *cfg, int64_t n, const float *m, float *v, float *d1, float *d2)
{
    (void)cfg;
    pvi_link_squared_isa[pvi_isa()](NULL, n, m, v, d1, d2);
}

const pv_link_ops pv_link_squared = {
    .head = { .abi = PV_PLUGIN_ABI,
              .name = "squared",
              .summary = "half the squared residual, real labels; the gradient has to be clipped",
              .reference = "Gauss 1809",
              .params = pv_no_params },
    .props = PV_CONVEX | PV_SMOOTH | PV_HESSIAN | PV_FOR_NUMBERS,
    .sup1 = INFINITY,
    .sup2 = 1.0,
    .sup3 = 0.0,
    .eval = eval,
};
