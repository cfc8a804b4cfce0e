/* grid.c - the fixed-point boundary: sums as int64 multiples of a power of two.
 *
 * Names     h: spacing, a power of two   s = noise_scale / h: noise scale in grid units
 *           C: clip   n: rows   d: dimension
 * Rounding  (1)  q(x) = h * round(x / h), ties to even;  |q(x)_j - x_j| <= h/2,  ||q(x) - x|| <= h sqrt(d)/2
 *           x is a float, so x / h is exact in double and q is the exact function (1): adding h never
 *           depends on what was added before, and integer sums do not depend on their order.
 * Spacing   (2)  h = largest power of two with  h <= noise_scale 2^-30  and  h sqrt(d)/2 <= C 2^-16,
 *                but not below noise_scale 2^-36 (finer only slows the noise down)
 *           (3)  n C / h + 128 s < 2^62: the sum and any noise draw fit
 *           If (3) fails h is doubled until it holds; with s < 2^10 no spacing fits.
 * Privacy   h is a function of public quantities only.  Sums that differ by at most Delta before
 *           rounding differ by at most Delta + 2 pvi_grid_error on the grid for every rounded group
 *           that the row touches; the declared sensitivity includes it.
 * Reference Mironov, CCS 2012; Haney et al. 2022, arXiv:2207.13793; Casacuberta et al. 2022. */
#include "mech/kernel.h"

/* 1 + 2^-53 is a tie and goes down, 1 + 1.5 * 2^-53 goes up: true of no other mode.  Asked of the arithmetic
 * itself, since the control word can be changed behind fegetround(). */
bool pvi_rounds_to_nearest(void)
{
    volatile double one = 1.0;
    const bool tie_down = one + 0x1p-53 == one, rest_up = one + 0x1.8p-53 > one;
    return tie_down & rest_up;
}

double pvi_grid_error(double spacing, int64_t d)
{
    return pv_up(0.5 * spacing * pv_up(sqrt((double)d), 1), 1); /* (1); halving and h are exact */
}

double pvi_grid_spacing(double clip, int64_t n, double noise_scale, int64_t d)
{
    if (!(clip > 0x1p-200 && clip < 0x1p200 && noise_scale > 0x1p-200 && noise_scale < 0x1p200)) return 0.0;
    if (n < 1 || d < 1) return 0.0;
    int e;
    frexp(noise_scale, &e); /* noise_scale >= 2^(e-1) */
    int k = e - 1 - 30;
    while (k > e - 1 - 36 && pvi_grid_error(ldexp(1.0, k), d) > clip * 0x1p-16) k--;                  /* (2) */
    while (!((double)n * clip * ldexp(1.0, -k) + 128.0 * noise_scale * ldexp(1.0, -k) < 0x1p62)) k++; /* (3) */
    return k <= e - 1 - 10 ? ldexp(1.0, k) : 0.0;
}

void pvi_grid_add(const float *x, double spacing, int64_t *acc, int64_t d)
{
    pvi_grid_add_times(x, 1.0f, spacing, acc, d);
}

void pvi_grid_add_times(const float *x, float factor, double spacing, int64_t *acc, int64_t d)
{
    const double inverse = (double)factor / spacing; /* spacing is a power of two */
    PVI_REQUIRE(pvi_rounds_to_nearest());            /* (1) */
    if (!pvi_mech_kernels_isa[pvi_isa()]->grid_add(x, inverse, acc, d)) return;
    for (int64_t j = 0; j < d; j++) { /* what the kernel left out; doubles above 2^51 are whole numbers or halves */
        const double y = (double)x[j] * inverse;
        if (fabs(y) < 0x1p51) continue;
        PVI_REQUIRE(fabs(y) < 0x1p62); /* a NaN or an infinity could release data */
        acc[j] += llrint(y);
    }
}

void pvi_grid_add_f64(const double *x, double spacing, int64_t *acc, int64_t d)
{
    const double inverse = 1.0 / spacing;
    PVI_REQUIRE(pvi_rounds_to_nearest()); /* (1) */
    for (int64_t j = 0; j < d; j++) {
        const double y = x[j] * inverse;
        PVI_REQUIRE(fabs(y) < 0x1p62);
        acc[j] += llrint(y);
    }
}

void pvi_grid_value(const int64_t *acc, double spacing, double scale, double *out, int64_t d)
{
    for (int64_t j = 0; j < d; j++) out[j] = (double)acc[j] * spacing * scale;
}

double pvi_noise_scale(const pv_noise *n, double times)
{
    return times == 1.0 ? n->scale : pv_up(n->scale * times, 2);
}

pv_status pvi_noise_plan(pv_noise *n, pv_ctx *ctx)
{
    n->scale = pv_up(n->multiplier * n->sensitivity, 2);
    const double units = n->scale / n->spacing;
    if (units >= 0x1p-4 && units * n->max_ratio <= 0x1p40) return PV_OK;
    return pvi_fail(
        ctx, PV_E_UNSUPPORTED,
        "noise %g does not fit the grid of sums of %lld rows with clip %g: less noise or fewer steps would", n->scale,
        (long long)n->units, n->bound);
}
