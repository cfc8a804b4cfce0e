/* link_kernel.h - a loss in vector instructions: one file link_NAME.kernel.c, compiled once per instruction set.
 *
 * The file gives phi, phi', phi'' of one vector, and then
 *
 *     PVI_LINK_KERNEL(NAME)
 *     {
 *         const float k[] = { what phi needs, from cfg };
 *         link_loop(phi, k, n, m, v, d1, d2);
 *     }
 *
 * which is the body of eval() for one instruction set.  eval() itself, which calls the best of them, and all that
 * follows #ifdef PVI_ISA_ONCE (parameters, suprema, the ops struct) exist once. */
#ifndef PVI_LINK_KERNEL_H
#define PVI_LINK_KERNEL_H
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

/* The common request (phi' alone) has its own loop, so that the unused ones cost nothing. */
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

#define PVI_LINK_ARGUMENTS                                                                                           \
    const void *cfg __attribute__((unused)), int64_t n, const float *m, float *v, float *d1, float *d2
#ifdef PVI_ISA_ONCE
#define PVI_LINK_KERNEL(name)                                                                                        \
    PVI_LINK_TABLE(name);                                                                                            \
    pvi_link_fn PVI_DECLARE_ISA(pvi_link_##name);                                                                    \
    pvi_link_fn *const pvi_link_##name##_isa[PVI_ISA_COUNT] = PVI_EACH_ISA(pvi_link_##name);                         \
    static void eval(PVI_LINK_ARGUMENTS)                                                                             \
    {                                                                                                                \
        pvi_link_##name##_isa[pvi_isa()](cfg, n, m, v, d1, d2);                                                      \
    }                                                                                                                \
    void PVI_ISA_NAME(pvi_link_##name)(PVI_LINK_ARGUMENTS)
#else
#define PVI_LINK_KERNEL(name)                                                                                        \
    pvi_link_fn PVI_ISA_NAME(pvi_link_##name);                                                                       \
    void PVI_ISA_NAME(pvi_link_##name)(PVI_LINK_ARGUMENTS)
#endif
#endif
