/* link_tukey.kernel.c - Tukey's biweight on vectors; k = { c, 1/c, c^2/6, sup|phi'| }. */
#include "model/link_eval.h"

PVI_INLINE vlink tukey(vf r, const float *k)
{
    const vf size = vabs(r), a = vsel(size > k[0], vset(k[0]), size);
    vf u = (a * k[1]) * (a * k[1]);
    u = vsel(u > 1.0f, vset(1.0f), u);
    const vf b = 1.0f - u, slope = a * b * b;
    return (vlink) { k[2] * u * vfma(u, u - 3.0f, vset(3.0f)), /* (2) */
                     vcopysign(vsel(slope > k[3], vset(k[3]), slope), r), b * vfma(vset(-5.0f), u, vset(1.0f)) };
}

pvi_link_fn PVI_ISA_NAME(pvi_link_tukey);
void PVI_ISA_NAME(pvi_link_tukey)(const float *k, int64_t n, const float *m, float *v, float *d1, float *d2)
{
    link_loop(tukey, k, n, m, v, d1, d2);
}
