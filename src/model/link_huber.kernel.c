/* link_huber.kernel.c - Huber's loss on vectors; k = { delta }. */
#include "model/link_eval.h"

PVI_INLINE vlink huber(vf r, const float *k)
{
    const vf size = vabs(r), a = vsel(size > k[0], vset(k[0]), size);
    const vf inside = vsel(size > k[0], vset(0.0f), vset(1.0f));
    return (vlink) { a * (size - 0.5f * a), vcopysign(a, r), vsel(r != r, r, inside) };
}

pvi_link_fn PVI_ISA_NAME(pvi_link_huber);
void PVI_ISA_NAME(pvi_link_huber)(const float *k, int64_t n, const float *m, float *v, float *d1, float *d2)
{
    link_loop(huber, k, n, m, v, d1, d2);
}
