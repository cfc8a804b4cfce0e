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

static pv_status add(pv_rng *rng, double noise_scale, double spacing, int64_t *x, int64_t d)
{
    pvi_normal_add(rng, noise_scale, spacing, x, d);
    return PV_OK;
}

const pv_mechanism_ops pv_mechanism_gaussian = {
    .head = { .abi = PV_PLUGIN_ABI,
              .name = "gaussian",
              .summary = "Gaussian noise, rounded to the grid",
              .reference = "Balle-Wang 2018, Theorem 8",
              .params = pv_no_params },
    .norm = PV_L2,
    .event = PV_EV_GAUSSIAN,
    .add = add,
};
