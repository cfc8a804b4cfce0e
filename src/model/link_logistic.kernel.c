/* link_logistic.kernel.c - the logistic loss on vectors; the mathematics is in link_logistic.c. */
#include "model/link_eval.h"

PVI_INLINE vlink logistic(vf m, const float *k)
{
    (void)k;
    const vf t = vexp_neg(-vabs(m)), q = 1.0f / (1.0f + t), tq = t * q; /* (2) */
    const vf p = vsel(m < 0.0f, q, tq);
    const vf hinge = vsel(m > 0.0f, vset(0.0f), -m);
    return (vlink) { hinge + vlog1p_unit(t), -p, tq * q }; /* (3) */
}

pvi_link_fn PVI_ISA_NAME(pvi_link_logistic);
void PVI_ISA_NAME(pvi_link_logistic)(const float *k, int64_t n, const float *m, float *v, float *d1, float *d2)
{
    link_loop(logistic, k, n, m, v, d1, d2);
}
