/* threshold.c - the cut that makes what sticks out add up to R: exact projection onto simplex and l1 ball.
 *
 * For values v_1..v_d and R > 0 find theta with
 *   (1)  f(theta) = sum_i max(v_i - theta, 0) - R = 0.
 * f is convex, piecewise linear and decreasing where positive, so Newton's method from the left,
 *   (2)  theta <- (sum_{v_i > theta} v_i - R) / #{v_i > theta},
 * rises monotonically and ends on the root after finitely many steps, exactly up to the rounding of one
 * sum.  Each step lowers f times the slope to a quarter or less (f'/f + s'/s <= 1 for convex f), so at most
 * about (log2 d + 53)/2 passes happen whatever the input; four to eight are usual.  No sort, no memory.
 *
 *   (3)  Fewer values give a smaller f and so a smaller root: the root of a part is a start from the left for the
 *        whole.  Parts of d/64 and d/8 values save most of the passes over all d.
 *
 * Everything is measured from the largest value top: the root lies in [top - R, top), so values below that
 * never count, and subtracting top first keeps the digits of R when the values are huge beside it.
 *
 * Reference  (2): Michelot, J. Optim. Theory Appl. 50 (1986); Condat, Math. Program. 158 (2016). */
#include "reg.h"

enum { LANES = 8, MAX_PASSES = 200 };

static double value_at(const double *w, int64_t j, bool magnitude)
{
    return magnitude ? fabs(w[j]) : w[j];
}

static double largest(const double *w, int64_t d, bool magnitude)
{
    double top = value_at(w, 0, magnitude);
    for (int64_t j = 0; j < d; j++) {
        const double v = value_at(w, j, magnitude);
        if (isnan(v)) return v;
        top = v > top ? v : top;
    }
    return top;
}

/* Sum and number of the values above top + shift, each relative to top. */
static double sum_above(const double *w, int64_t d, bool magnitude, double top, double shift, double *count)
{
    double s[LANES] = { 0 }, c[LANES] = { 0 };
    int64_t j = 0;
    for (; j + LANES <= d; j += LANES)
        for (int k = 0; k < LANES; k++) {
            const double v = value_at(w, j + k, magnitude) - top;
            s[k] += v > shift ? v : 0.0;
            c[k] += v > shift ? 1.0 : 0.0;
        }
    for (; j < d; j++) {
        const double v = value_at(w, j, magnitude) - top;
        s[j % LANES] += v > shift ? v : 0.0;
        c[j % LANES] += v > shift ? 1.0 : 0.0;
    }
    *count = pvi_sum(c, LANES);
    return pvi_sum(s, LANES);
}

/* (2) over the first n values until it stands still. */
static double newton(const double *w, int64_t n, bool magnitude, double top, double shift, double R)
{
    for (int pass = 0; pass < MAX_PASSES; pass++) {
        double count;
        const double sum = sum_above(w, n, magnitude, top, shift, &count);
        const double next = (sum - R) / count; /* (2); no value above: not a number or -inf, and we stop */
        if (!(next > shift)) break;
        shift = next;
    }
    return shift;
}

pvi_cut pvi_cut_find(const double *w, int64_t d, bool magnitude, double R)
{
    pvi_cut cut = { .top = largest(w, d, magnitude), .shift = -R };
    for (int64_t n = d / 64 > 64 ? d / 64 : d; n < d; n *= 8) /* (3) */
        cut.shift = newton(w, n, magnitude, cut.top, cut.shift, R);
    cut.shift = newton(w, d, magnitude, cut.top, cut.shift, R);
    return cut;
}

/* (v - theta)_+, written so that NaN stays NaN. */
double pvi_cut_apply(pvi_cut cut, double v)
{
    const double x = (v - cut.top) - cut.shift;
    return x <= 0.0 ? 0.0 : x;
}
