/* test_gaussian.c - the Gaussian mechanism: moments on the grid.  Fixed seed; a correct sampler fails a
 * check with probability under 1e-9 (6.2 standard errors). */
#include "mech/mech.h"
#include "pvtest.h"

static pv_ctx *ctx;
static pv_rng *rng;

static int setup(void **state)
{
    (void)state;
    return pv_ctx_create(NULL, &ctx) != PV_OK || pvi_rng_create_test(ctx, 11, &rng) != PV_OK;
}

static int teardown(void **state)
{
    (void)state;
    pvi_rng_free(rng);
    pv_ctx_free(ctx);
    return 0;
}

enum { N = 1 << 20 };
static int64_t x[N];

static void moments(void **state)
{
    (void)state;
    const pv_mechanism_ops *m = (const pv_mechanism_ops *)pv_find(PV_KIND_mechanism, "gaussian");
    PVT_TRUE(m && m->norm == PV_L2 && m->event == PV_EV_GAUSSIAN);
    const double scale = 3.0, h = 0x1p-30;
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
    PVT_OK(m->add(rng, scale, h, x, N));
    for (int i = 0; i < N; i++) {
        const double z = (double)x[i] * h / scale;
        m1 += z / N;
        m2 += z * z / N;
        m3 += z * z * z / N;
        m4 += z * z * z * z / N;
    }
    const double se = 6.2 / sqrt(N); /* variances of z, z^2, z^3, z^4: 1, 2, 15, 96 */
    PVT_NEAR(m1, 0, se);
    PVT_NEAR(m2, 1, se * sqrt(2));
    PVT_NEAR(m3, 0, se * sqrt(15));
    PVT_NEAR(m4, 3, se * sqrt(96));
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(moments) };
    return cmocka_run_group_tests(all, setup, teardown);
}
