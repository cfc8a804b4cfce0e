/* mech_isa.c - which instruction set the kernels run on; asked of the processor, never of the build machine. */
#include "mech/kernel.h"

/* clang-format off */
#define KERNELS(isa)                                                                                               \
    { .name = #isa, .chacha = pvi_chacha_blocks_##isa, .stream = pvi_chacha_blocks_##isa,                          \
      .gauss = pvi_draw_gauss_##isa, .exponential = pvi_draw_exponential_##isa,                                   \
      .gumbel = pvi_draw_gumbel_##isa,                                                                             \
      .keep_best = pvi_keep_best_##isa, .round_add = pvi_round_add_##isa, .grid_add = pvi_grid_round_##isa }
/* clang-format on */

const pvi_mech_kernels *pvi_mech_pick(int level, bool has_avx2, bool has_avx512)
{
    static const pvi_mech_kernels base = KERNELS(base);
#ifdef PVI_X86
    static const pvi_mech_kernels avx2 = KERNELS(avx2), avx512 = KERNELS(avx512);
    if (level == PVI_ISA_AVX512) return has_avx512 ? &avx512 : NULL;
    if (level == PVI_ISA_AVX2) return has_avx2 ? &avx2 : NULL;
#endif
    return level == PVI_ISA_BASE ? &base : NULL;
}

const pvi_mech_kernels *pvi_mech_isa(int level)
{
#ifdef PVI_X86
    const bool a2 = __builtin_cpu_supports("avx2"), fma = __builtin_cpu_supports("fma");
    const bool f = __builtin_cpu_supports("avx512f"), dq = __builtin_cpu_supports("avx512dq");
    const bool bw = __builtin_cpu_supports("avx512bw"), vl = __builtin_cpu_supports("avx512vl");
    return pvi_mech_pick(level, a2 & fma, a2 & fma & f & dq & bw & vl);
#else
    return pvi_mech_pick(level, false, false);
#endif
}

const pvi_mech_kernels *pvi_mech_best(void)
{
    const pvi_mech_kernels *k = NULL;
    for (int level = PVI_ISA_AVX512; !k; level--) k = pvi_mech_isa(level);
    return k;
}
