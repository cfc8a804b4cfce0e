/* row_norm.c - rows no longer than declared: ||x||_2 <= R holds for the stored floats, not only on paper.
 *
 *   (1) clip   s = min(1, r / ||v||)      unit   s = r / ||v||  (zero rows stay zero)
 *   (2) r      the largest float <= R, so that the float bound norm[i] <= r <= R
 *   (3) stored x_j = fl32(s v_j) with s = (1 - 2^-22) r / ub, ub >= ||v||, whenever a row is scaled
 *
 * Why (3) is enough: rounding to float changes x_j by at most 2^-24 |s v_j| + 2^-150 (the second term for
 * results below the normal range), so ||x|| <= (1 + 2^-24) s ||v|| + sqrt(p) 2^-150
 * <= (1 + 2^-24)(1 - 2^-22) r + 2^-134 < r, since p < 2^32, r >= 10^-6 and s is off by a few 2^-53 relative.
 *
 * Squares of floats are exact in double, and a sum of k of them is off by at most k 2^-53 relative; that decides
 * whether ||v|| <= r but for rows within that distance of r.  Those are summed again with the rounding errors kept
 * (two-sum), and the comparison with r^2, also exact, then errs only on the safe side.  A row of 0/1 values
 * with ||v|| = R exactly is therefore stored unchanged.
 *
 * With data.norm=max, R bounds the largest |x_j| instead of the length: s = min(1, r / max|v_j|) in (1), and
 * norm[i] is max|x_j|, a float already.
 *
 * Privacy  s depends on the row alone, so neighbouring tables differ in one stored row only. */
#include "reader.h"

pvi_row_norm pvi_row_norm_of(const pvi_data_cfg *cfg)
{
    float r = (float)cfg->row_norm;
    if ((double)r > cfg->row_norm) r = nextafterf(r, 0.0f); /* (2) */
    return (pvi_row_norm) {
        .bound = r, .unit = cfg->norm == PVI_NORM_UNIT, .max = cfg->norm == PVI_NORM_MAX, .bias = (float)cfg->bias
    };
}

static double square(float v)
{
    return (double)v * (double)v; /* exact: 24 + 24 bits */
}

/* Sum of squares, off by at most (n + 4) 2^-53 relative. */
static double sum_squares(const pvi_row_norm *b, const float *v, int64_t n)
{
    double a[4] = { square(b->bias), 0, 0, 0 };
    int64_t j = 0;
    for (; j + 4 <= n; j += 4)
        for (int k = 0; k < 4; k++) a[k] += square(v[j + k]);
    for (; j < n; j++) a[0] += square(v[j]);
    return (a[0] + a[1]) + (a[2] + a[3]);
}

/* Is the exact sum of squares <= r^2?  May say no when it is, never yes when it is not. */
static bool fits_exactly(const pvi_row_norm *b, const float *v, int64_t n)
{
    double sum = square(b->bias), lost = 0.0;
    for (int64_t j = 0; j < n; j++) {
        const double x = square(v[j]), t = sum + x, back = t - sum;
        lost += fabs((sum - (t - back)) + (x - back)); /* the rounding error of t, exact */
        sum = t;
    }
    /* lost is itself rounded, by less than lost (n+1) 2^-53; twice lost covers it.  Rounding of the last sum may hide
     * an excess when it gives r^2 itself, so that is a yes only when nothing was lost. */
    const double most = sum + 2.0 * lost, r2 = square(b->bound);
    return lost > 0.0 ? most < r2 : sum <= r2;
}

static float round_up(double x)
{
    const float f = (float)x;
    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

static float largest(const pvi_row_norm *b, const float *v, int64_t n, double s)
{
    float most = fabsf((float)(s * (double)b->bias));
    for (int64_t j = 0; j < n; j++) most = fmaxf(most, fabsf((float)(s * (double)v[j])));
    return most;
}

static double max_scale(const pvi_row_norm *b, const float *v, int64_t n, float *norm)
{
    double s = 1.0;
    *norm = largest(b, v, n, s);
    if (*norm > b->bound) s = (double)b->bound / (double)*norm;
    while ((*norm = largest(b, v, n, s)) > b->bound) s *= 1.0 - 0x1p-24;
    return s;
}

double pvi_row_scale(const pvi_row_norm *b, const float *v, int64_t n, float *norm)
{
    if (b->max) return max_scale(b, v, n, norm);
    const double sum = sum_squares(b, v, n), r = (double)b->bound;
    if (sum == 0.0) return *norm = 0.0f, 1.0;
    const double slack = 1.0 + ((double)n + 16.0) * 0x1p-53, root = sqrt(sum), ub = root * slack;
    *norm = b->bound;
    if (!b->unit && ub <= r) return *norm = round_up(ub), 1.0;
    if (root <= r * slack && root >= r / slack && fits_exactly(b, v, n)) return 1.0; /* on the border, either mode */
    return r / ub * (1.0 - 0x1p-22);                                                 /* (3) */
}
