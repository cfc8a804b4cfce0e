/* link_hinge.kernel.c - the smoothed hinge on vectors; k = { 1 + h, 1/h, h/16, 3/(4h), 1 - h }. */
#include "model/link_eval.h"

PVI_INLINE vlink hinge(vf m, const float *k)
{
    vf a = (k[0] - m) * k[1];
    a = vsel(a < 0.0f, vset(0.0f), a);
    a = vsel(a > 2.0f, vset(2.0f), a);
    const vf over = vsel(m < k[4], k[4] - m, vset(0.0f));
    const vf slope = a * a * (3.0f - a) * 0.25f;                     /* (3) */
    return (vlink) { vfma(a * a * a * (4.0f - a), vset(k[2]), over), /* (2) */
                     -vsel(slope > 1.0f, vset(1.0f), slope), a * (2.0f - a) * k[3] };
}

pvi_link_fn PVI_ISA_NAME(pvi_link_hinge);
void PVI_ISA_NAME(pvi_link_hinge)(const float *k, int64_t n, const float *m, float *v, float *d1, float *d2)
{
    link_loop(hinge, k, n, m, v, d1, d2);
}
