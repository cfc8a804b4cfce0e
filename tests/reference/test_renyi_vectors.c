/* test_renyi_vectors.c - sampled Gaussians: Renyi divergences against mpmath, and the RDP accountant
 * against recorded values of another library. */
#include "acct/acct.h"
#include "pvtest.h"
#include "renyi_vectors.h"
#include "sampled_vectors.h"

static void upper_bound_to_1e_12(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof renyi_vectors / sizeof *renyi_vectors; i++) {
        const double *v = renyi_vectors[i], got = pvi_renyi_poisson(v[0], v[1], v[2] - 1) / (v[2] - 1);
        PVT_CHECK(got >= v[3] * (1 - 1e-15) && got <= v[3] * (1 + 1e-12), "z=%g q=%g order=%g: %.17g, want %.17g",
                  v[0], v[1], v[2], got, v[3]);
    }
}

static void whole_orders_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof order_vectors / sizeof *order_vectors; i++) {
        const double *v = order_vectors[i], got = pvi_renyi_poisson(v[0], v[1], v[2] - 1) / (v[2] - 1);
        PVT_CHECK(fabs(got / v[3] - 1) <= 1e-6, "z=%g q=%g order=%g: %.17g, want %.17g", v[0], v[1], v[2], got, v[3]);
    }
}

/* Never below the truth; never above the same conversion over a fixed list of orders. */
static void epsilon_between_truth_and_fixed_orders(void **state)
{
    (void)state;
    pv_ctx *ctx;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    for (size_t i = 0; i < sizeof sampled_vectors / sizeof *sampled_vectors; i++) {
        const double *v = sampled_vectors[i];
        pv_arena *a = pvi_arena_create(ctx);
        const pv_event *g = pv_ev_sampled(a, PV_EV_POISSON, v[1], pv_ev_leaf(a, PV_EV_GAUSSIAN, v[0], 0));
        pvi_cost c;
        PVT_OK(pvi_account(ctx, "rdp", PV_REL_ZERO_OUT, pv_ev_repeat(a, (int64_t)v[2], g), v[3], &c));
        PVT_CHECK(c.epsilon >= v[5] && c.epsilon <= v[6] * (1 + 1e-6),
                  "z=%g q=%g T=%g delta=%g: %.17g not in [%g, %g]", v[0], v[1], v[2], v[3], c.epsilon, v[5], v[6]);
        pvi_arena_free(a);
    }
    pv_ctx_free(ctx);
}

static void calibration_agrees(void **state)
{
    (void)state;
    pv_ctx *ctx;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    for (size_t i = 0; i < sizeof calibration_vectors / sizeof *calibration_vectors; i++) {
        const double *v = calibration_vectors[i];
        pv_arena *a = pvi_arena_create(ctx);
        const pv_event *g = pv_ev_sampled(a, PV_EV_POISSON, v[0], pv_ev_leaf(a, PV_EV_GAUSSIAN, 1, 0));
        pvi_cost c;
        double z;
        PVT_OK(pvi_calibrate(ctx, "rdp", PV_REL_ZERO_OUT, pv_ev_repeat(a, (int64_t)v[1], g), v[3], v[2], &z, &c));
        PVT_TRUE(c.epsilon <= v[3]);
        PVT_CHECK(z <= v[4] * (1 + 2e-6) && z >= v[4] * 0.97, "q=%g T=%g delta=%g eps=%g: %.10g, other %.10g", v[0],
                  v[1], v[2], v[3], z, v[4]);
        pvi_arena_free(a);
    }
    pv_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(upper_bound_to_1e_12), cmocka_unit_test(whole_orders_agree),
                                      cmocka_unit_test(epsilon_between_truth_and_fixed_orders),
                                      cmocka_unit_test(calibration_agrees) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
