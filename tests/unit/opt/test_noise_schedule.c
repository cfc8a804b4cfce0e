/* test_noise_schedule.c - noise by epoch: what each rule gives, and what is refused. */
#include "opt/noise_schedule.h"
#include "pvtest.h"

static void values(void **state)
{
    (void)state;
    PVT_NEAR(pvi_noise_variance("constant", 3, 9), 1, 0);
    PVT_NEAR(pvi_noise_variance("constant:0.01", 3, 9), 0.01, 0);
    for (int64_t k = 0; k < 9; k++) {
        PVT_NEAR(pvi_noise_variance("linear:2,1", k, 9), 2 - (double)k / 8, 1e-12);
        PVT_NEAR(pvi_noise_variance("linear:1,5", k, 9), 1 + (double)k / 2, 1e-12);
        PVT_NEAR(pvi_noise_variance("ramp:2,1,5", k, 9), k < 5 ? 2 - (double)k / 4 : 1, 1e-12);
        PVT_NEAR(pvi_noise_variance("table:3,2,1", k, 9), k < 3 ? 3 - (double)k : 1, 1e-12);
    }
    PVT_NEAR(pvi_noise_variance("linear:2,1", 0, 1), 1, 0);
    PVT_NEAR(pvi_noise_variance("ramp:2,1,1", 0, 9), 1, 0);
}

static void refusals(void **state)
{
    (void)state;
    static const char *const bad[] = { "",          "linear",     "linear:1",     "linear:1,2,3", "linear:1,x",
                                       "constant:", "ramp:1,2",   "ramp:1,2,0",   "ramp:1,2,1.5", "table:",
                                       "table:1,",  "table:1,,2", "linear:inf,1", "Constant",     "constant:nan" };
    static const char *const low[] = { "constant:0", "linear:1,0", "linear:1,-1",
                                       "ramp:1,0,3", "table:1,0",  "table:-1" };
    pv_ctx *ctx;
    double least;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        PVT_IS(pvi_noise_check(ctx, bad[i], 4, &least), PV_E_PARAM);
        PVT_CHECK(strstr(pv_ctx_errmsg(ctx), "not a schedule") != NULL, "%s: %s", bad[i], pv_ctx_errmsg(ctx));
    }
    for (size_t i = 0; i < sizeof low / sizeof *low; i++) {
        PVT_IS(pvi_noise_check(ctx, low[i], 4, &least), PV_E_PARAM);
        PVT_CHECK(strstr(pv_ctx_errmsg(ctx), "above 0") != NULL, "%s: %s", low[i], pv_ctx_errmsg(ctx));
    }
    PVT_IS(pvi_noise_check(ctx, "linear:1e9,1", 4, &least), PV_E_PARAM);
    PVT_OK(pvi_noise_check(ctx, "linear:4,0.5", 4, &least));
    PVT_NEAR(least, 0.5, 0);
    pv_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(values), cmocka_unit_test(refusals) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
