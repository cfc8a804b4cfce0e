/* decimal_scan.h - decimal numbers found by comparing 64 bytes at once, for kernel files.
 *
 * Bit i of a window's mask says that byte i is no digit.  The lowest bits are the colon, sign, point and end of the
 * next token, so where the token after it starts follows from a few bit operations instead of a loop over
 * digits, and the values are computed off that path:
 *
 *   (1) 16 bytes that end with the number; those up to the point move up by one, over the point;
 *   (2) bytes before the number become zero;
 *   (3) pairs, fours, eights:  10 a + b,  100 a + b,  10000 a + b.
 *
 * At most 15 digits (8 on each side of the point without AVX2), so m < 2^53 and m / 10^f is rounded once, as
 * decimal.h (2).  Anything else - exponents, longer numbers, a leading '+' or point - is left to the slow paths,
 * which read all of them and give the same values.  Text needs 16 readable bytes in front and 80 behind. */
#ifndef PVI_DECIMAL_SCAN_H
#define PVI_DECIMAL_SCAN_H
#include "core/isa.h"
#include "decimal.h"

#ifdef __AVX2__
#include <immintrin.h>
#define PVI_SCAN __attribute__((target("bmi,bmi2")))
#else
#define PVI_SCAN
#endif
/* An inner loop of its own, so that what surrounds it takes no registers. */
#define PVI_SCAN_LOOP   static __attribute__((noinline)) PVI_SCAN
#define PVI_SCAN_INLINE PVI_INLINE PVI_SCAN

PVI_SCAN_INLINE size_t first_bit(uint64_t m) /* 64: none */
{
#ifdef __AVX2__
    return _tzcnt_u64(m);
#else
    return m ? (size_t)__builtin_ctzll(m) : 64;
#endif
}

/* Up to 8 digits at p. */
PVI_SCAN_INLINE uint64_t join8(const char *p, size_t n)
{
    const size_t half = 4 * (8 - n); /* in two steps, since a shift by 64 (n = 0) is undefined */
    uint64_t t = (pvi_load8(p) ^ 0x3030303030303030u) << half << half;
    t = t * 10 + (t >> 8);
    return ((t & 0x000000FF000000FFu) * 0x000F424000000064u +
            ((t >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >>
           32;
}

/* 1 to 4 digits. */
PVI_SCAN_INLINE uint64_t join4(const char *p, size_t n)
{
    uint32_t t = (uint32_t)(pvi_load8(p) ^ 0x30303030u) << (32 - 8 * n);
    t = t * 10 + (t >> 8);
    return (t & 0xff) * 100 + (t >> 16 & 0xff);
}

#ifdef __AVX2__
PVI_SCAN_INLINE uint64_t other_mask(const char *p)
{
    const __m256i zero = _mm256_set1_epi8('0'), nine = _mm256_set1_epi8(9);
    const __m256i a = _mm256_sub_epi8(_mm256_loadu_si256((const __m256i *)(const void *)p), zero);
    const __m256i b = _mm256_sub_epi8(_mm256_loadu_si256((const __m256i *)(const void *)(p + 32)), zero);
    const uint32_t lo = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(a, nine), a));
    const uint32_t hi = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(b, nine), b));
    return ~((uint64_t)hi << 32 | lo);
}

PVI_SCAN_INLINE __m128i bytes16(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

/* The `count` digits that end before `end`, the last f of them behind a point; f = 16: no point. */
PVI_SCAN_INLINE uint64_t join(const char *end, size_t count, size_t f)
{
    static const int8_t last[48] = { [16] = -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                     -1,        -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
    static const int8_t zeros[16] = { 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48, 48 };
    static const int8_t tens[16] = { 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1 };
    static const int8_t hundreds[16] = { 100, 0, 1, 0, 100, 0, 1, 0, 100, 0, 1, 0, 100, 0, 1, 0 };
    static const int8_t myriads[16] = { 16, 39, 1, 0, 16, 39, 1, 0, 16, 39, 1, 0, 16, 39, 1, 0 };
    const __m128i t = _mm_sub_epi8(bytes16(end - 16), bytes16(zeros));
    __m128i x =
        _mm_blendv_epi8(_mm_slli_si128(t, 1), t, bytes16(last + f)); /* (1) last + f: the last f bytes are set */
    x = _mm_and_si128(x, bytes16(last + count));                     /* (2) */
    x = _mm_madd_epi16(_mm_maddubs_epi16(x, bytes16(tens)), bytes16(hundreds)); /* (3) */
    x = _mm_madd_epi16(_mm_packus_epi32(x, x), bytes16(myriads));
    const uint64_t both = (uint64_t)_mm_cvtsi128_si64(x);
    return (uint32_t)both * (uint64_t)100000000 + (both >> 32);
}

PVI_SCAN_INLINE bool too_long(size_t count, size_t f)
{
    (void)f;
    return count - 1 > 14;
}

#else

PVI_SCAN_INLINE uint64_t other_mask(const char *p)
{
    uint64_t mask = 0;
    for (int i = 0; i < 8; i++) {
        const uint64_t t = pvi_load8(p + 8 * i) ^ 0x3030303030303030u;
        const uint64_t other = (t | ((t & 0x7f7f7f7f7f7f7f7fu) + 0x7676767676767676u)) & 0x8080808080808080u;
        mask |= ((other >> 7) * 0x0102040810204080u >> 56) << (8 * i);
    }
    return mask;
}

PVI_SCAN_INLINE uint64_t join(const char *end, size_t count, size_t f)
{
    if (f == 16) return join8(end - count, count);
    return join8(end - count - 1, count - f) * pvi_ten_u64[f] + join8(end - f, f);
}

PVI_SCAN_INLINE bool too_long(size_t count, size_t f)
{
    return count - 1 > 14 || (f == 16 ? count : f) > 8 || count - (f & 15) > 8;
}
#endif

/* The number that starts at byte `at` of the window p, whose mask *m has lost the bits before it: *digits / *divisor.
 * On success *m still has the bit of *end, the byte behind the number, which the caller has to judge. */
PVI_SCAN_INLINE bool scan_number(const char *p, uint64_t *m, size_t at, size_t *end, uint64_t *digits, double *out)
{
    uint64_t rest = *m;
    const size_t negative = rest >> (at & 63) & 1; /* no digit first: a sign, or a case for the slow path */
    if (negative & (p[at] != '-')) return false;
    rest = negative ? rest & (rest - 1) : rest;
    const size_t a = first_bit(rest), point = p[a] == '.';
    rest = point ? rest & (rest - 1) : rest;
    const size_t b = first_bit(rest), f = b - a - point, count = b - at - negative - point;
    if (rest == 0 || too_long(count, point ? f : 16)) return false;
    *digits = join(p + b, count, point ? f : 16);
    *out = (double)(int64_t)*digits / pvi_signed_ten[negative][f];
    *m = rest;
    *end = b;
    return true;
}

/* The same for numbers of 16 to 19 digits: two joins, then decimal.c for the rounding. */
PVI_SCAN_INLINE bool scan_long(const char *p, uint64_t *m, size_t at, size_t *end, double *out)
{
#ifdef __AVX2__
    uint64_t rest = *m;
    const size_t negative = rest >> (at & 63) & 1;
    if (negative & (p[at] != '-')) return false;
    rest = negative ? rest & (rest - 1) : rest;
    const size_t a = first_bit(rest), point = p[a] == '.';
    rest = point ? rest & (rest - 1) : rest;
    const size_t b = first_bit(rest), f = b - a - point, count = b - at - negative - point;
    if (rest == 0 || count - 16 > 3) return false;
    const size_t low = point && f < 16 ? 15 : 16; /* digits among the last 16 bytes */
    const uint64_t lo = join(p + b, low, low == 15 ? f : 16);
    const uint64_t hi = join(p + b - 16, count - low, point && f >= 16 ? f - 16 : 16);
    const uint64_t digits = hi * pvi_ten_u64[low] + lo;
    double x = (double)(int64_t)digits / pvi_ten_f64[f];
    if (digits > (uint64_t)1 << 53 && !pvi_decimal_wide(digits, -(int64_t)f, &x)) return false;
    *out = negative ? -x : x;
    *m = rest;
    *end = b;
    return true;
#else
    (void)p, (void)m, (void)at, (void)end, (void)out;
    return false;
#endif
}
#endif
