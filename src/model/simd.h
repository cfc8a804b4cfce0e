/* simd.h - float vectors for kernel files; each is compiled once per instruction set.
 *
 * W lanes: 16 with AVX-512, 8 with AVX2 and FMA, 4 elsewhere (SSE2, NEON, anything the compiler can
 * vectorise).  Only what the language's vector types lack is written with intrinsics.  Every function is
 * lane-wise pure, so a value does not depend on its position in an array.
 *
 * (1) exp(x), x <= 0: n = round(x / ln 2), r = x - n ln 2 in two parts, |r| <= ln2/2 (1 + tiny), and
 *         exp(x) = 2^n (1 + r + r^2 Q(r)),   Q of degree 4, relative error 0.06 * 2^-24 before rounding;
 *     results below 2^-126 are 0.
 * (2) log(1 + t), 0 <= t <= 1: s = t / (2 + t), z = s^2 <= 1/9, and
 *         log(1 + t) = 2 s + 2 s z P(z),     P of degree 3, relative error 0.08 * 2^-24 before rounding.
 * Q and P are weighted minimax fits; tests/unit/model/test_loss.c measures the error in units in the last place.
 * NaN in, NaN out. */
#ifndef PVI_SIMD_H
#define PVI_SIMD_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/isa.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include <immintrin.h>
#define PVI_W 16
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define PVI_W 8
#else
#define PVI_W 4
#endif
enum { W = PVI_W };

typedef float vf __attribute__((vector_size(4 * PVI_W)));
typedef int32_t vi __attribute__((vector_size(4 * PVI_W)));
typedef float vf_any __attribute__((vector_size(4 * PVI_W), aligned(4), may_alias));

PVI_INLINE vf vload(const float *p)
{
    return *(const vf_any *)p;
}

PVI_INLINE void vstore(float *p, vf a)
{
    *(vf_any *)p = a;
}

PVI_INLINE vf vset(float a)
{
    return a - (vf) { 0 };
}

/* a b + c, with one rounding where the machine has it and two elsewhere. */
PVI_INLINE vf vfma(vf a, vf b, vf c)
{
#if PVI_W == 16
    return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif PVI_W == 8
    return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

#if PVI_W == 8
PVI_INLINE __m256i lanes_below(int64_t n)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane);
}
#endif

/* The first n lanes (1 <= n <= W) from memory, zero in the others; reads nothing beyond. */
PVI_INLINE vf vload_n(const float *p, int64_t n)
{
#if PVI_W == 16
    return (vf)_mm512_maskz_loadu_ps((__mmask16)(0xffffu >> (16 - n)), p);
#elif PVI_W == 8
    return (vf)_mm256_maskload_ps(p, lanes_below(n));
#else
    if (n == W) return vload(p);
    float t[W] = { 0 };
    for (int64_t i = 0; i < n; i++) t[i] = p[i];
    return vload(t);
#endif
}

/* The first n lanes (0 <= n <= W) from memory, the others from `rest`, whose first n are 0; reads nothing beyond. */
PVI_INLINE vf vload_rest(const float *p, int64_t n, vf rest)
{
#if PVI_W == 16
    return (vf)_mm512_mask_loadu_ps((__m512)rest, (__mmask16)(0xffffu >> (16 - n)), p);
#elif PVI_W == 8
    return (vf)((vi)_mm256_maskload_ps(p, lanes_below(n)) | (vi)rest);
#else
    if (n == W) return vload(p);
    float t[W];
    vstore(t, rest);
    for (int64_t i = 0; i < n; i++) t[i] = p[i];
    return vload(t);
#endif
}

/* a in one lane, zeros in the others. */
PVI_INLINE vf vlane(float a, int64_t lane)
{
    float t[W] = { 0 };
    t[lane] = a;
    return vload(t);
}

/* How a row of q numbers and a bias (0: none) ends: full vectors up to `at`, then `lanes` numbers (0: none), the
 * first `have` of them in memory and the last, if that is not all, in `rest`. */
typedef struct tail {
    int64_t at, lanes, have;
    vf rest;
} tail;
PVI_INLINE tail tail_of(int64_t q, float bias)
{
    const int64_t have = q % W;
    return (tail) { q - have, have + (bias != 0.0f), have, vlane(bias, have) };
}

PVI_INLINE void vstore_n(float *p, vf a, int64_t n)
{
#if PVI_W == 16
    _mm512_mask_storeu_ps(p, (__mmask16)(0xffffu >> (16 - n)), (__m512)a);
#elif PVI_W == 8
    _mm256_maskstore_ps(p, lanes_below(n), (__m256)a);
#else
    float t[W];
    vstore(t, a);
    for (int64_t i = 0; i < n; i++) p[i] = t[i];
#endif
}

/* Comparisons give lanes of all ones or all zeros, false for NaN. */
PVI_INLINE vf vsel(vi mask, vf yes, vf no)
{
    return (vf)((mask & (vi)yes) | (~mask & (vi)no));
}

PVI_INLINE vf vabs(vf a)
{
    return (vf)((vi)a & 0x7fffffff);
}

/* |a| with the sign of b. */
PVI_INLINE vf vcopysign(vf a, vf b)
{
    return (vf)(((vi)a & 0x7fffffff) | ((vi)b & INT32_MIN));
}

PVI_INLINE vf vmax(vf a, vf b)
{
    return vsel(a > b, a, b);
}

PVI_INLINE vf vsqrt(vf a)
{
#if PVI_W == 16
    return (vf)_mm512_sqrt_ps((__m512)a);
#elif PVI_W == 8
    return (vf)_mm256_sqrt_ps((__m256)a);
#else
    for (int i = 0; i < W; i++) a[i] = __builtin_sqrtf(a[i]);
    return a;
#endif
}

/* The gain of rows with these norms, as pvi_gain() in model.h. */
PVI_INLINE vf vgain(vf norm, float bound, bool unit)
{
    vf s = (bound / norm) * 0x1.fffff8p-1f;
    s = vsel(s >= 0x1p-126f, s, vset(0.0f)); /* NaN: 0 */
    s = vsel(s <= 0x1.fffffep127f, s, vset(0x1.fffffep127f));
    return vsel(unit ? (norm == bound) | (norm == 0.0f) : norm <= bound, vset(1.0f), s);
}

/* Lanes of rows whose sums are made in double, as pvi_is_odd() in model.h. */
PVI_INLINE vi vodd(vf norm)
{
    return (norm != 0.0f) & ~((norm >= 0x1p-60f) & (norm <= 0x1p60f));
}

PVI_INLINE bool vany(vi mask)
{
#if PVI_W == 16
    return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif PVI_W == 8
    return !_mm256_testz_si256((__m256i)mask, (__m256i)mask);
#else
    int32_t any = 0;
    for (int i = 0; i < W; i++) any |= mask[i];
    return any != 0;
#endif
}

/* Is the gain 1 and no row odd for all of these norms?  May say no when it is so; a NaN, whose row adds nothing, does
 * not count. */
PVI_INLINE bool vplain(float bound, bool unit, int64_t n, const float *norm)
{
    const float most = bound <= 0x1p60f ? bound : 0x1p60f, least = unit ? bound : 0x1p-60f;
    vi out = { 0 };
    for (int64_t i = 0; i < n; i += W) {
        const vf r = vload(norm + i);
        out |= (r > most) | (r < least);
    }
    return !vany(out);
}

/* In every group of four lanes: the sums of the group's lanes of a, b, c, d. */
PVI_INLINE vf vsum_quads(vf a, vf b, vf c, vf d)
{
#if PVI_W == 16
    const __m512 x = (__m512)a, y = (__m512)b, z = (__m512)c, t = (__m512)d;
    const __m512 p = _mm512_add_ps(_mm512_unpacklo_ps(x, y), _mm512_unpackhi_ps(x, y));
    const __m512 q = _mm512_add_ps(_mm512_unpacklo_ps(z, t), _mm512_unpackhi_ps(z, t));
    return (vf)_mm512_shuffle_ps(p, q, 0x44) + (vf)_mm512_shuffle_ps(p, q, 0xee);
#elif PVI_W == 8
    const __m256 x = (__m256)a, y = (__m256)b, z = (__m256)c, t = (__m256)d;
    const __m256 p = _mm256_add_ps(_mm256_unpacklo_ps(x, y), _mm256_unpackhi_ps(x, y));
    const __m256 q = _mm256_add_ps(_mm256_unpacklo_ps(z, t), _mm256_unpackhi_ps(z, t));
    return (vf)_mm256_shuffle_ps(p, q, 0x44) + (vf)_mm256_shuffle_ps(p, q, 0xee);
#else
    const vf p = __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const vf q = __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
    return __builtin_shufflevector(p, q, 0, 1, 4, 5) + __builtin_shufflevector(p, q, 2, 3, 6, 7);
#endif
}

/* One group of four lanes per vector: a[g] folded to four lanes becomes group g. */
PVI_INLINE vf vfold_quads(const vf *a)
{
#if PVI_W == 16
    const __m512 x = (__m512)a[0], y = (__m512)a[1], z = (__m512)a[2], t = (__m512)a[3];
    const __m512 p = _mm512_add_ps(_mm512_mask_blend_ps(0xff00, x, y), _mm512_shuffle_f32x4(x, y, 0x4e));
    const __m512 q = _mm512_add_ps(_mm512_mask_blend_ps(0xff00, z, t), _mm512_shuffle_f32x4(z, t, 0x4e));
    return (vf)_mm512_shuffle_f32x4(p, q, 0x88) + (vf)_mm512_shuffle_f32x4(p, q, 0xdd);
#elif PVI_W == 8
    const __m256 x = (__m256)a[0], y = (__m256)a[1];
    return (vf)_mm256_blend_ps(x, y, 0xf0) + (vf)_mm256_permute2f128_ps(x, y, 0x21);
#else
    return a[0];
#endif
}

/* Asks for the cache lines of x[from] .. x[to), every `step` floats; never faults. */
enum { LINE = 16 };
PVI_INLINE void fetch(const float *x, int64_t from, int64_t to, int64_t step)
{
    for (int64_t j = from; j < to; j += step) __builtin_prefetch(x + j, 0, 2);
}

/* (1) */
PVI_INLINE vf vexp_neg(vf x)
{
    const float magic = 0x1.8p23f; /* adding it rounds to an integer, found in the low bits */
    const vf top = vsel(x < -88.0f, vset(-88.0f), x);
    const vf shifted = vfma(top, vset(0x1.715476p0f), vset(magic));
    const vf n = shifted - magic;
    const vf r = vfma(n, vset(-0x1.7f7d1cp-20f), vfma(n, vset(-0x1.62e4p-1f), top));
    vf q = vfma(vset(0x1.6a2434p-10f), r, vset(0x1.1239e2p-7f));
    q = vfma(q, r, vset(0x1.5558f2p-5f));
    q = vfma(q, r, vset(0x1.555492p-3f));
    q = vfma(q, r, vset(0x1.fffffcp-2f));
    const vf e = vfma(r * r, q, r) + 1.0f;
    const vf scale = (vf)(((vi)shifted << 23) + 0x3f800000);
    return vsel(x < -0x1.5d589ep6f, vset(0.0f), e * scale); /* -126 ln 2 */
}

/* (2) */
PVI_INLINE vf vlog1p_unit(vf t)
{
    const vf s = t / (t + 2.0f), z = s * s;
    vf p = vfma(vset(0x1.1ef870p-3f), z, vset(0x1.1eb612p-3f));
    p = vfma(p, z, vset(0x1.99d27cp-3f));
    p = vfma(p, z, vset(0x1.5555p-2f));
    return 2.0f * vfma(s * z, p, s);
}
#endif
