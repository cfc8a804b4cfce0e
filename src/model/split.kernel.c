/* split.kernel.c - the inner loops of the split network; what they compute is said in split.h and split.c.
 *
 * Every number of lift() is a fixed sequence of operations without fusion, so it does not depend on its place. */
#include "model/simd.h"
#include "model/split.h"

static double dot(int64_t n, const double *x, const double *y)
{
    double s[16] = { 0 };
    int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        for (int k = 0; k < 16; k++) s[k] += x[i + k] * y[i + k];
    for (; i < n; i++) s[0] += x[i] * y[i];
    for (int k = 8; k > 0; k /= 2)
        for (int j = 0; j < k; j++) s[j] += s[j + k];
    return s[0];
}

static bool cholesky(int64_t m, double *a)
{
    for (int64_t i = 0; i < m; i++) {
        double *const row = a + i * m;
        for (int64_t j = 0; j < i; j++) row[j] = (row[j] - dot(j, row, a + j * m)) / a[j * m + j];
        const double pivot = row[i] - dot(i, row, row);
        if (!(pivot > 0.0) || pivot > 1e300) return false;
        row[i] = sqrt(pivot);
    }
    return true;
}

static void invert(int64_t m, const double *l, double *inverse)
{
    for (int64_t i = 0; i < m; i++) {
        double *restrict const row = inverse + i * m;
        for (int64_t j = 0; j < m; j++) row[j] = j == i;
        for (int64_t k = 0; k < i; k++) {
            const double c = l[i * m + k];
            const double *restrict const other = inverse + k * m;
            for (int64_t j = 0; j <= k; j++) row[j] -= c * other[j];
        }
        for (int64_t j = 0; j <= i; j++) row[j] /= l[i * m + i];
    }
}

static void lift(int64_t n, const float *v, const float *x, float *d)
{
    for (int64_t j = 0; j < n; j++) {
        const float target = x[j] + d[j], t = (x[j] - v[j]) + d[j]; /* x_new, and x_new - V */
        const float up = v[j] + 0.5f * t < 0.0f ? -v[j] : 0.5f * t, down = v[j] > 0.0f ? -v[j] : 0.0f;
        const float above = (t - up) * (t - up) + up * up, below = target * target + down * down;
        d[j] = above < below ? up : down;
    }
}

extern const pvi_split_kernel PVI_NAME(pvi_split_kernel);
const pvi_split_kernel PVI_NAME(pvi_split_kernel) = { cholesky, invert, lift };
