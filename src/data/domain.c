/* domain.c - rows inside the declared ball: ||x||_2 <= R holds for the stored floats, not only on paper.
 *
 *   (1) clip   s = min(1, r / ||v||)      unit   s = r / ||v||  (zero rows stay zero)
 *   (2) r      the largest float <= R, so that the float bound norm[i] <= r <= R
 *   (3) stored x_j = fl32(s v_j); if rounding pushed ||x|| above r, s shrinks by 2^-24, 2^-23, ... until not
 *
 * Squares of floats are exact in double.  A sum of k of them is off by at most k 2^-53 relative, which
 * decides all rows but those within that distance of r; those are summed again with the rounding
 * errors kept (two-sum), and the comparison with r^2, also exact, then errs only on the safe side.
 * A row of 0/1 values with ||v|| = R exactly is therefore stored unchanged.
 *
 * With data.norm=max, R bounds the largest |x_j| instead of the length: s = min(1, r / max|v_j|) in (1), and
 * norm[i] is max|x_j|, a float already.
 *
 * Privacy  s depends on the row alone, so neighbouring tables differ in one stored row only. */
#include "reader.h"

bool pvi_bounds_ok(double lo, double hi)
{
    if (!isfinite(lo) || !isfinite(hi) || !(lo < hi) || !isfinite(hi - lo)) return false;
    return hi - lo > 1e-6 * fmax(fabs(lo), fabs(hi)) && fabs(lo) <= 1e38 && fabs(hi) <= 1e38;
}

pvi_ball pvi_ball_of(const pvi_data_cfg *cfg)
{
    float r = (float)cfg->row_norm;
    if ((double)r > cfg->row_norm) r = nextafterf(r, 0.0f); /* (2) */
    return (pvi_ball) { .radius = r, .unit = cfg->norm == PVI_NORM_UNIT, .max = cfg->norm == PVI_NORM_MAX, .bias = (float)cfg->bias };
}

static double square(float v, double s)
{
    const double x = (double)(float)(s * (double)v);
    return x * x;
}

/* Sum of squares of fl32(s v_j), off by at most (n + 1) 2^-53 relative. */
static double sum_squares(const pvi_ball *b, const float *v, int64_t n, double s)
{
    double a[4] = { square(b->bias, s), 0, 0, 0 };
    int64_t j = 0;
    for (; j + 4 <= n; j += 4)
        for (int k = 0; k < 4; k++) a[k] += square(v[j + k], s);
    for (; j < n; j++) a[0] += square(v[j], s);
    return (a[0] + a[1]) + (a[2] + a[3]);
}

/* Is the exact sum of squares <= r^2?  May say no when it is, never yes when it is not. */
static bool fits_exactly(const pvi_ball *b, const float *v, int64_t n, double s)
{
    double sum = square(b->bias, s), lost = 0.0;
    for (int64_t j = 0; j < n; j++) {
        const double x = square(v[j], s), t = sum + x, back = t - sum;
        lost += fabs((sum - (t - back)) + (x - back)); /* the rounding error of t, exact */
        sum = t;
    }
    /* lost is itself rounded, by less than lost * (n+1) 2^-53; twice lost covers it */
    return sum + 2.0 * lost <= (double)b->radius * (double)b->radius;
}

static float round_up(double x)
{
    const float f = (float)x;
    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

/* Upper bound of the norm of fl32(s v), at most r; false: not provably inside. */
static bool inside(const pvi_ball *b, const float *v, int64_t n, double s, double sum, float *norm)
{
    const double slack = 1.0 + ((double)n + 8.0) * 0x1p-53;
    const float ub = round_up(sqrt(sum) * slack * (1.0 + 0x1p-52));
    *norm = ub;
    if (ub <= b->radius) return true;
    *norm = b->radius;
    return sqrt(sum) <= (double)b->radius * slack && fits_exactly(b, v, n, s);
}

static float largest(const pvi_ball *b, const float *v, int64_t n, double s)
{
    float most = fabsf((float)(s * (double)b->bias));
    for (int64_t j = 0; j < n; j++) most = fmaxf(most, fabsf((float)(s * (double)v[j])));
    return most;
}

static double max_scale(const pvi_ball *b, const float *v, int64_t n, float *norm)
{
    double s = 1.0;
    *norm = largest(b, v, n, s);
    if (*norm > b->radius) s = (double)b->radius / (double)*norm;
    while ((*norm = largest(b, v, n, s)) > b->radius) s *= 1.0 - 0x1p-24;
    return s;
}

double pvi_ball_scale(const pvi_ball *b, const float *v, int64_t n, float *norm)
{
    if (b->max) return max_scale(b, v, n, norm);
    const double sum = sum_squares(b, v, n, 1.0);
    if (sum == 0.0) return *norm = 0.0f, 1.0;
    if (inside(b, v, n, 1.0, sum, norm) && (!b->unit || *norm == b->radius)) return 1.0;
    const double s0 = (double)b->radius / sqrt(sum); /* (1) */
    double s = s0, cut = 0x1p-24;
    while (!inside(b, v, n, s, sum_squares(b, v, n, s), norm)) { /* (3) */
        s = s0 * (1.0 - cut);
        cut *= 2.0;
        PVI_REQUIRE(cut < 1.0);
    }
    return s;
}
