/* test_sampler.c - samplers: what holds for every draw; how far the laws of draws are from the ideal ones. */
#include "mech/mech.h"
#include "pvtest.h"

static pv_ctx *ctx;
static pv_rng *rng;

static int setup(void **state)
{
    (void)state;
    return pv_ctx_create(NULL, &ctx) != PV_OK || pvi_rng_create_test(ctx, 7, &rng) != PV_OK;
}

static int teardown(void **state)
{
    (void)state;
    pvi_rng_free(rng);
    pv_ctx_free(ctx);
    return 0;
}

static int64_t rows[5000];

static int64_t sample(const pvi_sampler_ops *kind, double rate, int64_t n, int64_t step)
{
    int64_t count = -1;
    pvi_sample(rng, kind, rate, n, step, rows, &count);
    PVT_TRUE(count >= 0 && count <= n);
    for (int64_t i = 0; i < count; i++) PVT_TRUE(rows[i] >= 0 && rows[i] < n && (i == 0 || rows[i] > rows[i - 1]));
    return count;
}

static void ascending_and_in_range(void **state)
{
    (void)state;
    const double rates[] = { 1e-9, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.9, 0.999, 1.0 };
    for (int64_t n = 0; n < 400; n += n < 140 ? 1 : 37)
        for (int i = 0; i < 9; i++) {
            sample(&pvi_poisson, rates[i], n, 0);
            PVT_IS(sample(&pvi_fixed, rates[i], n, 0), (int64_t)rint(rates[i] * (double)n));
            PVT_IS(sample(&pvi_full, rates[i], n, 0), n);
        }
    PVT_IS(sample(&pvi_poisson, 1.0, 4999, 0), 4999);
    PVT_IS(sample(&pvi_fixed, 1.0, 4999, 0), 4999);
    PVT_IS(sample(&pvi_full, 0.0, 10, 3), 10);
}

/* Every row exactly once per cycle, blocks of nearly equal size. */
static void cyclic_covers_each_row_once(void **state)
{
    (void)state;
    const int64_t ns[] = { 1, 7, 100, 4999 };
    for (int a = 0; a < 4; a++)
        for (int64_t l = 1; l <= ns[a] && l <= 50; l++) {
            int64_t next = 0;
            for (int64_t t = 0; t < l; t++) {
                const int64_t count = sample(&pvi_cyclic, 1.0 / (double)l, ns[a], 3 * l + t);
                PVT_TRUE(count == ns[a] / l || count == ns[a] / l + 1);
                PVT_IS(rows[0], next);
                next += count;
            }
            PVT_IS(next, ns[a]);
        }
    PVT_IS(sample(&pvi_cyclic, 1e-6, 10, 3), 1); /* never more blocks than rows */
}

static void distances(void **state)
{
    (void)state;
    PVT_TRUE(pvi_sample_tv(&pvi_poisson, 1.0 / 470, 60000) > 0 &&
             pvi_sample_tv(&pvi_poisson, 1.0 / 470, 60000) < 0x1p-53);
    PVT_TRUE(pvi_sample_tv(&pvi_poisson, 0.5, 60000) == 0 && pvi_sample_tv(&pvi_poisson, 1e-9, 60000) == 0);
    PVT_TRUE(pvi_sample_tv(&pvi_fixed, 0.01, 60000) == 0 && pvi_sample_tv(&pvi_full, 1, 60000) == 0);
}

/* sampler.c (5): the largest factor of a skip, over all k, for every skip that a query may make. */
static void ratios_of_samples(void **state)
{
    (void)state;
    static const struct {
        double q;
        int64_t n;
    } at[] = { { 0x1p-24, 100000 }, { 1e-3, 60000 }, { 0.01, 5000 }, { 0.12, 2000 } };
    for (int i = 0; i < 4; i++) {
        const double q = at[i].q, l = -log1p(-q), n = (double)at[i].n;
        const pvi_close c = pvi_sample_close(&pvi_poisson, q, at[i].n);
        double most = 0;
        for (double k = 0; k < n && k * l <= 104 * log(2.0); k++) {
            double off = 0;
            for (double e = k; e <= k + 1; e++)
                off += 2.0 * (0x1p-118 * (fmax(1.0, e * l) + e) + 0x1p-204 * exp(e * l)) * exp((k - e) * l);
            most = fmax(most, off / q);
        }
        PVT_TRUE(c.kappa >= (n + 1.0) * most && c.kappa < 1e-6);
        PVT_TRUE(c.tau >= (n * q + 1.0) * 0x1p-103 && c.tau < 1e-24);
    }
    const pvi_close all_bits = pvi_sample_close(&pvi_poisson, 0.5, 60000);
    PVT_TRUE(all_bits.kappa == 0 && all_bits.tau == 0 && pvi_sample_close(&pvi_fixed, 0.01, 60000).kappa == 0);
}

/* normal.c: the part of its mass that a square of side 1/s at distance r from 0 may gain or lose. */
static double square_error(double s, double r)
{
    const double L = 0.5 * r * r;
    return 8.0 * s * (1.0 + 0x1p-14) * (0x1p-118 * fmax(1.0, L) / r + 0x1p-121 * r + 0x1p-204 * exp(L) / r);
}

/* normal.c (5): all pairs at the worst distance from 2^-j on, and 40 next to 0. */
static void ratios_of_noise(void **state)
{
    (void)state;
    for (double s = 0x1p20; s <= 0x1p40; s *= 32)
        for (double pairs = 1; pairs < 0x1p60; pairs *= 37) {
            const pvi_close c = pvi_normal_close(s, s, pairs);
            const double far = sqrt(208 * log(2.0)), near = fmin(0.125, 1.0 / sqrt(pairs));
            double most = 0;
            for (double r = near; r < far; r *= 1.01) most = fmax(most, square_error(s, r));
            most = fmax(most, square_error(s, far));
            PVT_TRUE(c.kappa >= pairs * most + 40.0 * square_error(s, 0.5 / s));
            PVT_TRUE(c.tau >= pairs * 0x1p-104 && pairs * 0x1p-102 + 0x1p-150 >= c.tau);
        }
    PVT_TRUE(pvi_normal_close(0x1p30, 0x1p36, 1e6).kappa >= pvi_normal_close(0x1p36, 0x1p36, 1e6).kappa);
    PVT_TRUE(pvi_normal_close(0x1p19, 0x1p30, 1e6).kappa == INFINITY); /* no proof */
    PVT_TRUE(pvi_normal_close(0x1p30, 0x1p41, 1e6).kappa == INFINITY);
    PVT_TRUE(pvi_normal_close(0x1p30, 0x1p30, 0x1p60).kappa == INFINITY);
    PVT_TRUE(pvi_normal_close(NAN, 0x1p30, 1e6).kappa == INFINITY);
}

static void chosen_by_name(void **state)
{
    static const pvi_sampler_ops *const want[] = { NULL, &pvi_full, &pvi_poisson, &pvi_fixed, &pvi_cyclic };
    (void)state;
    for (int i = 0; i < 5; i++) PVT_TRUE(pvi_sampler_chosen(i) == want[i]);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(ascending_and_in_range),      cmocka_unit_test(chosen_by_name),
        cmocka_unit_test(cyclic_covers_each_row_once), cmocka_unit_test(distances),
        cmocka_unit_test(ratios_of_samples),           cmocka_unit_test(ratios_of_noise)
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
