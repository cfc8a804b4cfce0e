/* link_sigmoid.kernel.c - the sigmoid loss on vectors; the mathematics is in link_sigmoid.c. */
#include "model/link_eval.h"

PVI_INLINE vlink sigmoid(vf m, const float *k)
{
    (void)k;
    const vf t = vexp_neg(-vabs(m)), q = 1.0f / (1.0f + t), tq = t * q, p = tq * q; /* (2) */
    return (vlink) { vsel(m < 0.0f, q, tq), -p, vcopysign(p * ((1.0f - t) * q), m) };
}

pvi_link_fn PVI_ISA_NAME(pvi_link_sigmoid);
void PVI_ISA_NAME(pvi_link_sigmoid)(const float *k, int64_t n, const float *m, float *v, float *d1, float *d2)
{
    link_loop(sigmoid, k, n, m, v, d1, d2);
}
