/* isa.h - instruction sets: which this processor has, and how code is written once and compiled for each.
 *
 * A file NAME.kernel.c is compiled once per level, with PVI_ISA set to its suffix and the features of the level as
 * compiler flags (CMakeLists.txt).  Its entry is called PVI_ISA_NAME(fn): fn_base, fn_avx2, fn_avx512.  A table
 * fn_isa, filled by PVI_EACH_ISA, holds them all, and fn_isa[pvi_isa()] is the one to call. */
#ifndef PVI_ISA_H
#define PVI_ISA_H
#include <stdbool.h>

typedef enum pvi_isa_level {
    PVI_ISA_BASE, /* what the compiler assumes of every processor of this kind */
#ifdef PVI_X86
    PVI_ISA_AVX2,
    PVI_ISA_AVX512,
#endif
    PVI_ISA_COUNT
} pvi_isa_level;
pvi_isa_level pvi_isa(void); /* the best this processor runs; it runs all below it too */
bool pvi_isa_aes(void);      /* AES on two blocks at a time */

/* The functions or objects of all levels: PVI_DECLARE_ISA to declare them, PVI_EACH_ISA to fill a table.
 * Kernels that gain nothing from 512 bits (PRIVET_NARROW in CMakeLists.txt) are not built for it: PVI_EACH_NARROW. */
#ifdef PVI_X86
#define PVI_DECLARE_ISA(fn)    fn##_base, fn##_avx2, fn##_avx512
#define PVI_DECLARE_NARROW(fn) fn##_base, fn##_avx2
/* clang-format off */
#define PVI_EACH_ISA(fn)    { &fn##_base, &fn##_avx2, &fn##_avx512 }
#define PVI_EACH_NARROW(fn) { &fn##_base, &fn##_avx2, &fn##_avx2 }
#else
#define PVI_DECLARE_ISA(fn)    fn##_base
#define PVI_DECLARE_NARROW(fn) fn##_base
#define PVI_EACH_ISA(fn)    { &fn##_base }
#define PVI_EACH_NARROW(fn) { &fn##_base }
/* clang-format on */
#endif

/* ---- for kernel files ------------------------------------------------------------------------------------- */
#define PVI_PASTE2(a, b) a##_##b
#define PVI_PASTE(a, b)  PVI_PASTE2(a, b)
#define PVI_ISA_NAME(fn) PVI_PASTE(fn, PVI_ISA)
#define PVI_INLINE       static inline __attribute__((always_inline, unused))
/* PVI_ISA_ONCE: defined in one of the compilations, for what a kernel file holds besides kernels. */
#define PVI_ISA_IS_base 1
#if defined(PVI_ISA) && PVI_PASTE(PVI_ISA_IS, PVI_ISA)
#define PVI_ISA_ONCE
#endif
#endif
