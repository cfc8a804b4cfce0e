/* link_hinge.c - smoothed hinge: the loss of a support vector machine, twice differentiable.
 *
 * h > 0 is the half width of the smoothed corner, m = y <w,x>.
 * (1) phi(m) = 0 for m >= 1 + h, 1 - m for m <= 1 - h, and between, with z = 1 - m,
 *         phi = -z^4/(16 h^3) + 3 z^2/(8h) + z/2 + 3h/16.
 * With a = (1 + h - m)/h clamped to [0, 2] this factors without cancellation:
 * (2) phi   = h a^3 (4 - a)/16 + max(1 - h - m, 0)
 * (3) phi'  = -a^2 (3 - a)/4
 * (4) phi'' = 3 a (2 - a)/(4h), continuous and 0 at both ends
 * Suprema: |phi'| = 1 (a = 2); phi'' = 3/(4h) (a = 1); |phi'''| = |3 (a - 1)/(2 h^2)| = 3/(2 h^2).  Convex.
 * Reference: Chaudhuri, Monteleoni, Sarwate 2011, Differentially private empirical risk minimization,
 * section 3.4 (the doubly differentiable approximation of the hinge). */
#include "model.h"

typedef struct hinge_cfg {
    double h;
} hinge_cfg;

static const pv_param params[] = {
    { "h", PV_F64, offsetof(hinge_cfg, h), 0.5, 1e-3, 1e3, true, "half width h of the smoothed corner", NULL }, { 0 }
};

pvi_link_fn PVI_DECLARE_ISA(pvi_link_hinge);
pvi_link_fn *const pvi_link_hinge_isa[PVI_ISA_COUNT] = PVI_EACH_ISA(pvi_link_hinge);

static void eval(const void *cfg, int64_t n, const float *m, float *v, float *d1, float *d2)
{
    const double h = ((const hinge_cfg *)cfg)->h;
    const float k[] = { (float)(1 + h), (float)(1 / h), (float)(h / 16), pvi_float_down(0.75 / h), (float)(1 - h) };
    pvi_link_hinge_isa[pvi_isa()](k, n, m, v, d1, d2);
}

static void sup(const void *cfg, double out[3])
{
    const double h = ((const hinge_cfg *)cfg)->h;
    out[0] = 1.0;
    out[1] = 0.75 / h;
    out[2] = 1.5 / (h * h);
}

const pv_link_ops pv_link_hinge = {
    .head = { .abi = PV_PLUGIN_ABI,
              .name = "hinge",
              .summary = "smoothed hinge (support vector machine), labels -1 and +1",
              .reference = "Chaudhuri, Monteleoni, Sarwate 2011, section 3.4",
              .cfg_size = sizeof(hinge_cfg),
              .params = params },
    .props = PV_CONVEX | PV_SMOOTH | PV_LIPSCHITZ | PV_HESSIAN | PV_CLASSIFY | PV_MARGIN,
    .sup1 = 1.0,
    .sup2 = 1.5,
    .sup3 = 6.0,
    .eval = eval,
    .sup = sup,
};
