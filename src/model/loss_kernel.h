/* loss_kernel.h - a loss in vector instructions: one file loss_NAME.kernel.c, compiled once per instruction set.
 *
 * The file gives phi, phi', phi'' of one vector, and then
 *
 *     PVI_LOSS_KERNEL(NAME)
 *     {
 *         const float k[] = { what phi needs, from cfg };
 *         loss_loop(phi, k, n, m, v, d1, d2);
 *     }
 *
 * which is the body of eval() for one instruction set.  eval() itself, which calls the best of them, and all that
 * follows #ifdef PVI_ISA_ONCE (parameters, suprema, the ops struct) exist once. */
#ifndef PVI_LOSS_KERNEL_H
#define PVI_LOSS_KERNEL_H
#include "model/model.h"
#include "model/simd.h"

typedef struct vloss {
    vf v, d1, d2;
} vloss;
typedef vloss vloss_fn(vf m, const float *k);

PVI_INLINE void loss_store(vloss r, int64_t n, float *v, float *d1, float *d2)
{
    if (v) vstore_n(v, r.v, n);
    if (d1) vstore_n(d1, r.d1, n);
    if (d2) vstore_n(d2, r.d2, n);
}

/* The common request (phi' alone) has its own loop, so that the unused ones cost nothing. */
PVI_INLINE void loss_loop(vloss_fn *f, const float *k, int64_t n, const float *m, float *v, float *d1, float *d2)
{
    int64_t i = 0;
    if (!v && !d2)
        for (; i + W <= n; i += W) vstore(d1 + i, f(vload(m + i), k).d1);
    for (; i < n; i += W) {
        const int64_t left = n - i < W ? n - i : W;
        loss_store(f(vload_n(m + i, left), k), left, v ? v + i : NULL, d1 ? d1 + i : NULL, d2 ? d2 + i : NULL);
    }
}

#define PVI_LOSS_ARGUMENTS                                                                                           \
    const void *cfg __attribute__((unused)), int64_t n, const float *m, float *v, float *d1, float *d2
#ifdef PVI_ISA_ONCE
#define PVI_LOSS_KERNEL(name)                                                                                        \
    PVI_LOSS_TABLE(name);                                                                                            \
    pvi_loss_fn PVI_DECLARE_ISA(pvi_loss_##name);                                                                    \
    pvi_loss_fn *const pvi_loss_##name##_isa[PVI_ISA_COUNT] = PVI_EACH_ISA(pvi_loss_##name);                         \
    static void eval(PVI_LOSS_ARGUMENTS)                                                                             \
    {                                                                                                                \
        pvi_loss_##name##_isa[pvi_isa()](cfg, n, m, v, d1, d2);                                                      \
    }                                                                                                                \
    void PVI_ISA_NAME(pvi_loss_##name)(PVI_LOSS_ARGUMENTS)
#else
#define PVI_LOSS_KERNEL(name)                                                                                        \
    pvi_loss_fn PVI_ISA_NAME(pvi_loss_##name);                                                                       \
    void PVI_ISA_NAME(pvi_loss_##name)(PVI_LOSS_ARGUMENTS)
#endif
#endif
