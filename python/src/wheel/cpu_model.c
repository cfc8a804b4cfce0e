/* cpu_model.c - what __builtin_cpu_supports reads (src/core/isa.c), for a compiler whose run-time library does not
 * bring it: zig, which links wheels (tools/wheel.sh).  Layout and numbers of features are those of compiler-rt and
 * libgcc:
 *   avx 9, avx2 10, fma 14, avx512f 15, bmi 16, bmi2 17, aes 18, avx512vl 20, avx512bw 21, avx512dq 22
 * A feature counts where the operating system keeps its registers, too: XCR0 has bits 1 and 2 for AVX, 5 to 7 as
 * well for AVX-512. */
#include <cpuid.h>

struct cpu_model {
    unsigned vendor, type, subtype, features[1];
};
extern struct cpu_model __cpu_model;
struct cpu_model __cpu_model __attribute__((visibility("hidden")));

static unsigned kept(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

__attribute__((constructor(101))) static void ask(void)
{
    unsigned a, b, c, d, one, f = 0;
    if (!__get_cpuid(1, &a, &b, &one, &d)) return;
    if (one & bit_AES) f |= 1u << 18;
    const unsigned state = one & bit_OSXSAVE ? kept() : 0;
    const int avx = (state & 0x6) == 0x6 && (one & bit_AVX), avx512 = avx && (state & 0xe0) == 0xe0;
    if (avx) f |= 1u << 9;
    if (avx && (one & bit_FMA)) f |= 1u << 14;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        if (b & bit_BMI) f |= 1u << 16;
        if (b & bit_BMI2) f |= 1u << 17;
        if (avx && (b & bit_AVX2)) f |= 1u << 10;
        if (avx512 && (b & bit_AVX512F)) f |= 1u << 15;
        if (avx512 && (b & bit_AVX512VL)) f |= 1u << 20;
        if (avx512 && (b & bit_AVX512BW)) f |= 1u << 21;
        if (avx512 && (b & bit_AVX512DQ)) f |= 1u << 22;
    }
    __cpu_model.features[0] = f;
}
