/* row_norm.c - how long a row is: a float norm[i] >= ||(v, b)|| for every stored row v and bias b, without rounding
 * errors in our favour.
 *
 * Rows are stored as they came.  What scales them is the gain that the model derives from norm[i] (row.c (1)).
 *   (1) norm[i] = ub rounded up to a float, ub >= ||(v, b)|| a double
 *   (2) r       the largest float <= R; a row that is no longer than r has norm[i] <= r, so that its gain is 1
 *
 * Squares of floats are exact in double.  Feature j is added to lane j mod 8, so that the sum does not depend on
 * whether zeros are stored: dense, sparse and borrowed rows get the same norm.  A lane adds at most 2^28 + 1 of them,
 * and is off by at most that times 2^-53 relative; adding the lanes and the root add less than 2^-48:
 *   (3) root (1 + 2^-24) >= ||(v, b)|| for every row of at most 2^31 features
 * That decides whether ||(v, b)|| <= r but for rows within that distance of r.  Those are summed again with the
 * rounding errors kept (two-sum), and the comparison with r^2, also exact, then errs only on the safe side.  A row of
 * 0/1 values with ||(v, b)|| = R exactly therefore has norm[i] = r, and is left alone.
 * A sum of squares of floats neither overflows nor underflows in double; a norm above all floats becomes infinity,
 * and such a row adds nothing (row.c (2)).
 *
 * With data.norm=max, R bounds the largest |x_j| instead of the length, and norm[i] is the largest of the |v_j| and
 * |b|, a float already.
 *
 * Privacy  norm[i] depends on the row alone, so neighbouring tables differ in one stored row and its norm only. */
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

enum { LANES = 8 };
static const double slack = 1.0 + 0x1p-24; /* (3) */

/* idx NULL: v has every feature. */
static double sum_squares(const pvi_row_norm *b, const int32_t *idx, const float *v, int64_t n)
{
    double a[LANES] = { square(b->bias) };
    int64_t j = 0;
    for (; idx && j < n; j++) a[idx[j] % LANES] += square(v[j]);
    for (; j + LANES <= n; j += LANES)
        for (int k = 0; k < LANES; k++) a[k] += square(v[j + k]);
    for (; j < n; j++) a[j % LANES] += square(v[j]);
    return ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
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

/* The next float of one that is not negative is that of the next bit pattern, infinity behind the largest. */
static float round_up(double x)
{
    float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    bits += (double)f < x;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static float largest(const pvi_row_norm *b, const float *v, int64_t n)
{
    float most = fabsf(b->bias);
    for (int64_t j = 0; j < n; j++) most = fmaxf(most, fabsf(v[j]));
    return most;
}

float pvi_row_bound(const pvi_row_norm *b, const int32_t *idx, const float *v, int64_t n)
{
    if (b->max) return largest(b, v, n);
    const double root = sqrt(sum_squares(b, idx, v, n)), r = (double)b->bound;
    if (root <= r * slack && root >= r / slack && fits_exactly(b, v, n)) return b->bound; /* on the border: (2) */
    return round_up(root * slack);                                                        /* (1), (3) */
}
