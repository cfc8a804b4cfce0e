/* normal.c - Gaussian draws, by Box and Muller. */
#include "mech/mech.h"

static void pair(pv_rng *r, double z[2])
{
    const double u = pvi_rng_uniform(r), v = pvi_rng_uniform(r);
    const double radius = sqrt(-2.0 * log(u)), angle = 6.283185307179586 * v;
    z[0] = radius * cos(angle);
    z[1] = radius * sin(angle);
}

void pvi_normal_fill(pv_rng *r, double *out, int64_t n)
{
    double z[2] = { 0 };
    for (int64_t i = 0; i < n; i++) {
        if (i % 2 == 0) pair(r, z);
        out[i] = z[i % 2];
    }
}

void pvi_normal_add(pv_rng *r, double noise_scale, double spacing, int64_t *x, int64_t d)
{
    const double s = noise_scale / spacing;
    PVI_REQUIRE(noise_scale > 0.0 && s < 0x1p47);
    double z[2] = { 0 };
    for (int64_t j = 0; j < d; j++) {
        if (j % 2 == 0) pair(r, z);
        x[j] += (int64_t)rint(s * z[j % 2]);
    }
}
