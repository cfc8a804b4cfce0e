/* link_squared.kernel.c - half the squared residual on vectors. */
#include "model/link_eval.h"

PVI_INLINE vlink squared(vf r, const float *k)
{
    (void)k;
    return (vlink) { 0.5f * r * r, r, vsel(r != r, r, vset(1.0f)) };
}

pvi_link_fn PVI_ISA_NAME(pvi_link_squared);
void PVI_ISA_NAME(pvi_link_squared)(const float *k, int64_t n, const float *m, float *v, float *d1, float *d2)
{
    link_loop(squared, k, n, m, v, d1, d2);
}
