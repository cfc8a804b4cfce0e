/* model_isa.c - which instruction set the kernels may use. */
#include "model.h"

pvi_isa_level pvi_isa(void)
{
#ifdef PVI_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return PVI_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return PVI_AVX2;
#endif
    return PVI_BASE;
}
