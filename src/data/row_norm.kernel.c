/* row_norm.kernel.c - sums of squares of dense rows, the same bits on every processor.
 *
 *   (1) a_k = sum of v_j^2 over j = k mod 8, in the order of j, after bias^2 in a_0
 *   (2) sum = ((a_0 + a_1) + (a_2 + a_3)) + ((a_4 + a_5) + (a_6 + a_7))
 * as row_norm.c adds the values of a sparse row.  Squares are exact, so that each addition of (1) rounds once whether
 * or not it is joined with the product, and zeros behind the last value change no lane: a_k >= 0.  Rows do not wait
 * for each other, so that the sums of several are under way at a time. */
#include "reader.h"

enum { LANES = 8 };

#ifdef __AVX2__
#include <immintrin.h>

PVI_INLINE __m256d add_squares(__m256d a, __m128 x)
{
    const __m256d d = _mm256_cvtps_pd(x);
    return _mm256_add_pd(a, _mm256_mul_pd(d, d));
}

PVI_INLINE double sum_row(double first, const float *v, int64_t n)
{
    __m256d low = _mm256_setr_pd(first, 0.0, 0.0, 0.0), high = _mm256_setzero_pd();
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        low = add_squares(low, _mm_loadu_ps(v + j));
        high = add_squares(high, _mm_loadu_ps(v + j + 4));
    }
    if (j < n) {
        const __m256i k = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        const __m256 x = _mm256_maskload_ps(v + j, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n - j)), k));
        low = add_squares(low, _mm256_castps256_ps128(x));
        high = add_squares(high, _mm256_extractf128_ps(x, 1));
    }
    const __m256d two = _mm256_hadd_pd(low, high); /* a_0 + a_1, a_4 + a_5, a_2 + a_3, a_6 + a_7 */
    const __m128d four = _mm_add_pd(_mm256_castpd256_pd128(two), _mm256_extractf128_pd(two, 1));
    return _mm_cvtsd_f64(_mm_add_sd(four, _mm_unpackhi_pd(four, four)));
}
#else
PVI_INLINE double sum_row(double first, const float *v, int64_t n)
{
    double a[LANES] = { first };
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int k = 0; k < LANES; k++) a[k] += (double)v[j + k] * (double)v[j + k];
    for (; j < n; j++) a[j % LANES] += (double)v[j] * (double)v[j];
    return ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
}
#endif

pvi_squares_fn PVI_ISA_NAME(pvi_squares);
void PVI_ISA_NAME(pvi_squares)(const float *v, int64_t rows, int64_t ld, int64_t n, float bias, double *sum)
{
    for (int64_t i = 0; i < rows; i++) sum[i] = sum_row((double)bias * (double)bias, v + i * ld, n);
}
