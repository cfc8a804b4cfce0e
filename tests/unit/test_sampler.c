/* test_sampler.c - samplers: what holds for every draw. */
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

static int64_t sample(pvi_sampler kind, double rate, int64_t n, int64_t step)
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
            sample(PVI_POISSON, rates[i], n, 0);
            PVT_IS(sample(PVI_FIXED_SIZE, rates[i], n, 0), (int64_t)rint(rates[i] * (double)n));
            PVT_IS(sample(PVI_FULL_BATCH, rates[i], n, 0), n);
        }
    PVT_IS(sample(PVI_POISSON, 1.0, 4999, 0), 4999);
    PVT_IS(sample(PVI_FIXED_SIZE, 1.0, 4999, 0), 4999);
    PVT_IS(sample(PVI_FULL_BATCH, 0.0, 10, 3), 10);
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
                const int64_t count = sample(PVI_CYCLIC, 1.0 / (double)l, ns[a], 3 * l + t);
                PVT_TRUE(count == ns[a] / l || count == ns[a] / l + 1);
                PVT_IS(rows[0], next);
                next += count;
            }
            PVT_IS(next, ns[a]);
        }
    PVT_IS(sample(PVI_CYCLIC, 1e-6, 10, 3), 1); /* never more blocks than rows */
}

static void distances(void **state)
{
    (void)state;
    PVT_TRUE(pvi_sample_tv(PVI_POISSON, 1.0 / 470, 60000) > 0 &&
             pvi_sample_tv(PVI_POISSON, 1.0 / 470, 60000) < 0x1p-53);
    PVT_TRUE(pvi_sample_tv(PVI_POISSON, 0.5, 60000) == 0 && pvi_sample_tv(PVI_POISSON, 1e-9, 60000) == 0);
    PVT_TRUE(pvi_sample_tv(PVI_FIXED_SIZE, 0.01, 60000) == 0 && pvi_sample_tv(PVI_FULL_BATCH, 1, 60000) == 0);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(ascending_and_in_range),
                                      cmocka_unit_test(cyclic_covers_each_row_once), cmocka_unit_test(distances) };
    return cmocka_run_group_tests(all, setup, teardown);
}
