/* isa.c - which instructions this processor has: asked of the processor, never of the build machine, and only here.
 *
 * A level stands for exactly the features its kernels are compiled for: all of them (privet_kernels in
 * CMakeLists.txt) or single functions (bmi and bmi2, decimal_scan.h). */
#include "isa.h"

#ifdef PVI_X86
#include <cpuid.h>

#define HAS(feature) __builtin_cpu_supports(feature)

pvi_isa_level pvi_isa(void)
{
    if (!(HAS("avx2") && HAS("fma") && HAS("bmi") && HAS("bmi2"))) return PVI_ISA_BASE;
    if (!(HAS("avx512f") && HAS("avx512dq") && HAS("avx512bw") && HAS("avx512vl"))) return PVI_ISA_AVX2;
    return PVI_ISA_AVX512;
}

/* clang 14 does not know this one by name; the operating system keeps its registers if it keeps those of AVX2. */
static bool has_vaes(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & bit_VAES);
}

bool pvi_isa_aes(void)
{
    return HAS("avx2") && HAS("aes") && has_vaes();
}
#else
pvi_isa_level pvi_isa(void)
{
    return PVI_ISA_BASE;
}

bool pvi_isa_aes(void)
{
    return false;
}
#endif
