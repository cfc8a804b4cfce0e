/* band.c - how far privacy noise can move a weight of an additive model: from public quantities alone.
 *
 * Descent with constant step g and momentum b (pv_motion) on releases with noise n_t of variance s^2 in every entry,
 *   (1) x_t = v_t-1 - g (grad(v_t-1) + n_t),   v_t = x_t + b (x_t - x_t-1),
 * is linear in small noise.  In a direction of curvature h of the clipped loss, unit noise in step k moves x_t by
 * r_t-k(h), which is (1) with grad(v) = h v, and the mean of the last half of the iterates by the mean of these, so
 * that
 *   (2) V(h) = s^2 sum_k (2/T sum_{t > T/2, t >= k} r_t-k(h))^2
 * is the variance of what is returned.  h depends on the rows: no release tells it weight by weight, and looking at
 * rows for it would cost privacy.  What is public is its range, where the clipped loss is convex and what a unit adds
 * is of one row or a mean: 0 <= h <= L, and
 *   (3) V <= max over 0 <= h <= L of V(h),
 * which is V(0), a random walk, where momentum does not overshoot; a grid of h is looked at.  A weight minus the mean
 * of its column is a direction of length below 1, so (3) holds for it as well; that of a missing value, which is not
 * in the mean, is of length sqrt(1 + 1/K) <= sqrt(3/2), for K >= 2 knots (api/effects.c).  Weights at knots without
 * rows have h = 0, so (3) is what they get; with many rows noise is far smaller.
 * Linear    (2) takes h as constant along the run.
 * Privacy   n, step, momentum, T, s and L are public: nothing here depends on a row. */
#include "run/run.h"

enum { GRID = 33 };

/* The sum of (2); room: T numbers. */
static double gain(const pv_motion *by, double h, double *room)
{
    const int64_t T = by->steps, half = T / 2;
    double v = 0.0, x = 0.0, total = 0.0;
    for (int64_t t = 0; t < T; t++) { /* r, summed up */
        const double next = v - by->step * (h * v + (t == 0));
        v = next + by->momentum * (next - x);
        x = next;
        room[t] = x + (t > 0 ? room[t - 1] : 0.0);
    }
    for (int64_t k = 0; k < T; k++) {
        const double before = half > k ? room[half - k - 1] : 0.0;
        total += pow((room[T - k - 1] - before) / (double)(T - half), 2.0);
    }
    return total;
}

pv_status pvi_noise_at_most(const pvi_job *j, pv_arena *a, double *stddev)
{
    pv_motion by;
    const double s = j->prob.planned[0].stddev;
    *stddev = 0.0;
    const bool sums = j->dom.unit_rows > 1 && j->dom.unit_combine == PV_UNIT_SUM; /* of several rows: h <= L fails */
    if (sums || !j->opt->motion || !(s > 0.0) || !j->opt->motion(j->opt_cfg, &j->prob, &by)) return PV_OK;
    double *room = pv_arena_f64(a, by.steps), most = 0.0;
    if (!room) return pvi_nomem(j->ctx);
    for (int k = 0; k < GRID; k++) most = fmax(most, gain(&by, j->prob.L * k / (GRID - 1.0), room)); /* (3) */
    most = by.shrink * s * sqrt(most);
    *stddev = isfinite(most) ? pvi_digits_up(most, 3) : 0.0;
    return PV_OK;
}
