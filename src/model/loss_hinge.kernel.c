/* loss_hinge.kernel.c - smoothed hinge: the loss of a support vector machine, twice differentiable.
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
#include "model/loss_kernel.h"

typedef struct hinge_cfg {
    double h;
} hinge_cfg;

/* k = { 1 + h, 1/h, h/16, 3/(4h), 1 - h } */
PVI_INLINE vloss hinge(vf m, const float *k)
{
    vf a = (k[0] - m) * k[1];
    a = vsel(a < 0.0f, vset(0.0f), a);
    a = vsel(a > 2.0f, vset(2.0f), a);
    const vf over = vsel(m < k[4], k[4] - m, vset(0.0f));
    const vf slope = a * a * (3.0f - a) * 0.25f;                     /* (3) */
    return (vloss) { vfma(a * a * a * (4.0f - a), vset(k[2]), over), /* (2) */
                     -vsel(slope > 1.0f, vset(1.0f), slope), a * (2.0f - a) * k[3] };
}

PVI_LOSS_KERNEL(hinge)
{
    const double h = ((const hinge_cfg *)cfg)->h;
    const float k[] = { (float)(1 + h), (float)(1 / h), (float)(h / 16), pvi_float_down(0.75 / h), (float)(1 - h) };
    loss_loop(hinge, k, n, m, v, d1, d2);
}

#ifdef PVI_ISA_ONCE
static const pv_param params[] = {
    { "h", PV_F64, offsetof(hinge_cfg, h), 0.5, 1e-3, 1e3, true, "half width h of the smoothed corner", NULL }, { 0 }
};

static void sup(const void *cfg, double out[3])
{
    const double h = ((const hinge_cfg *)cfg)->h;
    out[0] = 1.0;
    out[1] = 0.75 / h;
    out[2] = 1.5 / (h * h);
}

static double slope(const void *cfg, double m)
{
    const double h = ((const hinge_cfg *)cfg)->h, a = fmin(fmax((1.0 + h - m) / h, 0.0), 2.0);
    return -a * a * (3.0 - a) * 0.25; /* (3) */
}

const pv_loss_ops pv_loss_hinge = {
    .head = { .name = "hinge",
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
    .slope = slope,
};
#endif
