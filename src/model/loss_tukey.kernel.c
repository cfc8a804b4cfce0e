/* loss_tukey.kernel.c - Tukey's biweight on real labels: bounded, so that far outliers lose all influence.
 *
 * r = <w,x> - y, u = min((r/c)^2, 1):
 * (1) phi = (c^2/6) (1 - (1 - u)^3),  phi' = r (1 - u)^2,  phi'' = (1 - u)(1 - 5u);  constant for |r| >= c
 * (2) phi = (c^2/6) u (3 - 3u + u^2), without cancellation at small u
 * Suprema: |phi'| at u = 1/5, where it is 16 c/(25 sqrt 5); |phi''| = 1 at r = 0 (its minimum, at u = 3/5, is
 * -4/5); phi''' = (20 s^3 - 12 s)/c with s = r/c has its largest size 8/c at s -> 1 from inside, the Lipschitz
 * constant of phi''.  Not convex.
 * Reference: Beaton, Tukey 1974, The fitting of power series; c = 4.685 is the usual choice for residuals of
 * unit scale (95 % efficiency under normal errors). */
#include "model/loss_kernel.h"

typedef struct tukey_cfg {
    double c;
} tukey_cfg;

#define SUP1_PER_C 0.28621670111997307 /* 16 / (25 sqrt 5) */

/* k = { c, 1/c, c^2/6, sup|phi'| } */
PVI_INLINE vloss tukey(vf r, const float *k)
{
    const vf size = vabs(r), a = vsel(size > k[0], vset(k[0]), size);
    vf u = (a * k[1]) * (a * k[1]);
    u = vsel(u > 1.0f, vset(1.0f), u);
    const vf b = 1.0f - u, slope = a * b * b;
    return (vloss) { k[2] * u * vfma(u, u - 3.0f, vset(3.0f)), /* (2) */
                     vcopysign(vsel(slope > k[3], vset(k[3]), slope), r), b * vfma(vset(-5.0f), u, vset(1.0f)) };
}

PVI_LOSS_KERNEL(tukey)
{
    const double c = ((const tukey_cfg *)cfg)->c;
    const float k[] = { (float)c, (float)(1 / c), (float)(c * c / 6), pvi_float_down(SUP1_PER_C * c) };
    loss_loop(tukey, k, n, m, v, d1, d2);
}

#ifdef PVI_ISA_ONCE
static const pv_param params[] = { { "c", PV_F64, offsetof(tukey_cfg, c), 4.685, 1e-6, 1e6, true,
                                     "residual c beyond which the loss is constant", NULL },
                                   { 0 } };

static void sup(const void *cfg, double out[3])
{
    const double c = ((const tukey_cfg *)cfg)->c;
    out[0] = SUP1_PER_C * c;
    out[1] = 1.0;
    out[2] = 8.0 / c;
}

const pv_loss_ops pv_loss_tukey = {
    .head = { .name = "tukey",
              .summary = "Tukey's biweight, real labels: bounded loss, non-convex",
              .reference = "Beaton, Tukey 1974",
              .cfg_size = sizeof(tukey_cfg),
              .params = params },
    .props = PV_SMOOTH | PV_LIPSCHITZ | PV_HESSIAN,
    .sup1 = SUP1_PER_C * 4.685,
    .sup2 = 1.0,
    .sup3 = 8.0 / 4.685,
    .eval = eval,
    .sup = sup,
};
#endif
