/* row_norm.c - how long a row is: a float norm[i] >= ||(v, b)|| for every stored row v and bias b, without rounding
 * errors in our favour.
 *
 * Rows are stored as they came.  What scales them is the gain that the model derives from norm[i] (row.c (1)).
 *   (1) norm[i] = ub rounded up to a float, ub >= ||(v, b)|| a double
 *   (2) r       the largest float <= R; a row that is no longer than r has norm[i] <= r, so that its gain is 1
 *
 * Squares of floats are exact in double.  Feature j is added to lane j mod 8, so that the sum does not depend on
 * whether zeros are stored: dense (row_norm.kernel.c), sparse and borrowed rows get the same norm.  A lane adds at
 * most 2^28 + 1 of them, and is off by at most that times 2^-53 relative; adding the lanes and the root add less than
 * 2^-48:
 *   (3) root (1 + 2^-24) >= ||(v, b)|| for every row of at most 2^31 features
 * That decides whether ||(v, b)|| <= r but for rows within that distance of r.  Those are summed again with the
 * rounding errors kept (two-sum), and the comparison with r^2, also exact, then errs only on the safe side.  A row of
 * 0/1 values with ||(v, b)|| = R exactly therefore has norm[i] = r, and is left alone.
 * A sum of squares of floats neither overflows nor underflows in double; a norm above all floats becomes infinity,
 * and such a row adds nothing to a linear model (row.c (5)).
 *
 * With data.norm=max, R bounds the largest |x_j| instead of the length, and norm[i] is the largest of the |v_j| and
 * |b|, a float already.
 *
 * Privacy  norm[i] depends on the row alone, so neighbouring tables differ in one stored row and its norm only. */
#include "reader.h"

pvi_squares_fn PVI_DECLARE_NARROW(pvi_squares);
pvi_squares_fn *const pvi_squares_isa[PVI_ISA_COUNT] = PVI_EACH_NARROW(pvi_squares);

enum { LANES = 8, SOME = 64 };
static const double slack = 1.0 + 0x1p-24; /* (3) */

pvi_row_norm pvi_row_norm_of(const pvi_data_cfg *cfg)
{
    float r = (float)cfg->row_norm;
    if ((double)r > cfg->row_norm) r = nextafterf(r, 0.0f); /* (2) */
    return (pvi_row_norm) { .bound = r,
                            .unit = cfg->norm == PVI_NORM_UNIT,
                            .max = cfg->norm == PVI_NORM_MAX,
                            .bias = (float)cfg->bias,
                            .near = { (double)r / slack, (double)r * slack },
                            .squares = pvi_squares_isa[pvi_isa()] };
}

static double square(float v)
{
    return (double)v * (double)v; /* exact: 24 + 24 bits */
}

/* Of a row without some or all of its zeros. */
static double sum_squares(const pvi_row_norm *b, const int32_t *idx, const float *v, int64_t n)
{
    double a[LANES] = { square(b->bias) };
    for (int64_t j = 0; j < n; j++) a[idx[j] % LANES] += square(v[j]);
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

static float bound_of(const pvi_row_norm *b, double sum, const float *v, int64_t n)
{
    const double root = sqrt(sum);
    if (root <= b->near[1] && root >= b->near[0] && fits_exactly(b, v, n)) return b->bound; /* on the border: (2) */
    return round_up(root * slack);                                                          /* (1), (3) */
}

void pvi_row_bounds(const pvi_row_norm *b, const float *v, int64_t rows, int64_t ld, int64_t n, float *norm)
{
    double sum[SOME];
    for (int64_t i = 0; i < rows && b->max; i++) norm[i] = largest(b, v + i * ld, n);
    for (int64_t i = 0; i < rows && !b->max; i += SOME) {
        const int64_t m = rows - i < SOME ? rows - i : SOME;
        b->squares(v + i * ld, m, ld, n, b->bias, sum);
        for (int64_t k = 0; k < m; k++) norm[i + k] = bound_of(b, sum[k], v + (i + k) * ld, n);
    }
}

float pvi_row_bound(const pvi_row_norm *b, const int32_t *idx, const float *v, int64_t n)
{
    float norm;
    if (idx && !b->max) return bound_of(b, sum_squares(b, idx, v, n), v, n);
    pvi_row_bounds(b, v, 1, n, n, &norm);
    return norm;
}
