/* numbers.kernel.c - numbers of one column to features, and whether one of them needs a closer look.
 *
 *   x = (v - from) / range - center, in double, rounded once more to a float
 * A division and not a product with 1 / range: the reader of text divides, and both give the same bits.  Numbers
 * outside are counted as doubles, since compilers make a loop of single comparisons out of a truth that is carried
 * along. */
#include "memory_table.h"

pvi_numbers_fn PVI_ISA_NAME(pvi_numbers);
bool PVI_ISA_NAME(pvi_numbers)(const pvi_column *col, double center, const double *v, int64_t n, float *x)
{
    const double lo = col->lo, hi = col->hi, from = col->from, range = col->range;
    double outside = 0.0;
#pragma omp simd reduction(+ : outside)
    for (int64_t j = 0; j < n; j++) outside += ((v[j] >= lo) & (v[j] <= hi)) ? 0.0 : 1.0;
    if (from == 0.0 && range == 1.0 && center == 0.0) { /* v itself: nothing is rounded on the way */
#pragma omp simd
        for (int64_t j = 0; j < n; j++) x[j] = (float)v[j];
    } else {
#pragma omp simd
        for (int64_t j = 0; j < n; j++) x[j] = (float)((v[j] - from) / range - center);
    }
    return outside == 0.0;
}
