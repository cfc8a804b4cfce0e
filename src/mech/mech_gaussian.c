/* mech_gaussian.c - the Gaussian mechanism on the grid.
 *
 *   (1) M(x) = x + round(N / h) for x in grid units, N ~ N(0, noise_scale^2) per coordinate, h the spacing
 *
 * Privacy   x is a vector of integers, so (1) equals round(x + N / h): a post-processing of the Gaussian
 *           mechanism on the sums.  Every accountant of the continuous Gaussian applies, with
 *           a = noise_scale / sensitivity, the sensitivity including the rounding to the grid.
 *           The draw itself is within pvi_normal_tv_per_draw() of (1) in total variation: normal.c.
 * Reference Dwork, Roth, "The Algorithmic Foundations of Differential Privacy", App. A;
 *           Balle, Wang, ICML 2018, Theorem 8 (exact curve). */
#include "mech/mech.h"

static double shown_value(const pv_noise *n)
{
    return n->scale;
}

static double leaf(double z, double d)
{
    (void)d;
    return z;
}

/* Events spent together make one release with less noise, by the root of their number at most. */
static pvi_close close(const pv_noise *n, double T)
{
    const double s = n->scale / n->spacing;
    return pvi_normal_close(s / sqrt(T), s * n->max_ratio, 0.5 * T * ((double)n->length + 1.0));
}

static double distance(const pv_noise *n, double T)
{
    return T * (double)n->length * pvi_normal_tv_per_draw();
}

static void draw(const pv_noise *n, pv_rng *rng, double times, double unit, int64_t *sum, const double *score,
                 double *out)
{
    (void)score;
    if (!n->off) pvi_normal_add(rng, pvi_noise_scale(n, times), n->spacing, sum, n->length);
    pvi_grid_value(sum, n->spacing, unit, out, n->length);
}

const pv_mechanism_ops pv_mechanism_gaussian = {
    .head = { .name = "gaussian",
              .summary = "Gaussian noise, rounded to the grid",
              .reference = "Balle-Wang 2018, Theorem 8",
              .params = pv_no_params },
    .norm = PV_L2,
    .event = PV_EV_GAUSSIAN,
    .relations = 1u << PV_REL_ZERO_OUT | 1u << PV_REL_REPLACE,
    .shown = "noise_stddev",
    .shown_value = shown_value,
    .entry = shown_value,
    .leaf = leaf,
    .plan = pvi_noise_plan,
    .close = close,
    .distance = distance,
    .draw = draw,
};
