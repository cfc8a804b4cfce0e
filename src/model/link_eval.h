/* link_eval.h - the loop around a link's vector function, for link_*.kernel.c.
 *
 * A link gives phi, phi', phi'' of one vector; the common request (phi' alone) has its own loop, so
 * that the unused ones cost nothing. */
#ifndef PVI_LINK_EVAL_H
#define PVI_LINK_EVAL_H
#include "model/model.h"
#include "model/simd.h"

typedef struct vlink {
    vf v, d1, d2;
} vlink;
typedef vlink vlink_fn(vf m, const float *k);

PVI_INLINE void link_store(vlink r, int64_t n, float *v, float *d1, float *d2)
{
    if (v) vstore_n(v, r.v, n);
    if (d1) vstore_n(d1, r.d1, n);
    if (d2) vstore_n(d2, r.d2, n);
}

PVI_INLINE void link_loop(vlink_fn *f, const float *k, int64_t n, const float *m, float *v, float *d1, float *d2)
{
    int64_t i = 0;
    if (!v && !d2)
        for (; i + W <= n; i += W) vstore(d1 + i, f(vload(m + i), k).d1);
    for (; i < n; i += W) {
        const int64_t left = n - i < W ? n - i : W;
        link_store(f(vload_n(m + i, left), k), left, v ? v + i : NULL, d1 ? d1 + i : NULL, d2 ? d2 + i : NULL);
    }
}
#endif
