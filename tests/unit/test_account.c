/* test_account.c - naming an accountant, `best`, the group bound, calibration. */
#include "acct/acct.h"
#include "pvtest.h"

static pv_ctx *ctx;
static pv_arena *arena;

static int setup(void **state)
{
    (void)state;
    return pv_ctx_create(NULL, &ctx) != PV_OK || !(arena = pvi_arena_create(ctx));
}

static int teardown(void **state)
{
    (void)state;
    pvi_arena_free(arena);
    pv_ctx_free(ctx);
    return 0;
}

static const pv_event *gaussians(double z, int64_t n)
{
    return pv_ev_repeat(arena, n, pv_ev_leaf(arena, PV_EV_GAUSSIAN, z, 0));
}

static void full_batch_value(void **state)
{
    (void)state;
    pvi_cost c;
    PVT_OK(pvi_account(ctx, "best", PV_REL_ZERO_OUT, gaussians(10, 100), 1e-5, &c));
    PVT_NEAR(c.epsilon, 4.3772, 5e-5);
    PVT_TRUE(c.epsilon_lower <= c.epsilon && c.epsilon_lower > c.epsilon - 1e-9);
    assert_string_equal(c.accountant, "gaussian");
    PVT_OK(pvi_account(ctx, "zcdp:conversion=paper", PV_REL_REPLACE, gaussians(1, 1), 1e-5, &c));
    PVT_NEAR(c.epsilon, 0.5 + 2 * sqrt(0.5 * log(1e5)), 1e-12);
    double delta;
    const char *used;
    PVT_OK(pvi_account_delta(ctx, "best", PV_REL_ZERO_OUT, gaussians(10, 100), 4.3771780957, &delta, &used));
    PVT_REL(delta, 1e-5, 1e-9);
    PVT_OK(
        pvi_account_delta(ctx, "zcdp:conversion=paper", PV_REL_ZERO_OUT, gaussians(1, 1), c.epsilon, &delta, NULL));
    PVT_REL(delta, 1e-5, 1e-12);
}

static void refusals(void **state)
{
    (void)state;
    pvi_cost c;
    double d, s;
    const pv_event *g = gaussians(1, 1), *bad = pv_ev_leaf(arena, PV_EV_NONPRIVATE, 0, 0);
    PVT_IS(pvi_account(ctx, "best", PV_REL_ZERO_OUT, g, -1, &c), PV_E_ARG);
    PVT_IS(pvi_account(ctx, "best", PV_REL_ZERO_OUT, g, NAN, &c), PV_E_ARG);
    PVT_IS(pvi_account(ctx, "best", (pv_relation)0, g, 1e-5, &c), PV_E_ARG);
    PVT_IS(pvi_account(ctx, "nobody", PV_REL_ZERO_OUT, g, 1e-5, &c), PV_E_PARAM);
    PVT_IS(pvi_account(ctx, "zcdp:x", PV_REL_ZERO_OUT, g, 1e-5, &c), PV_E_PARAM);
    PVT_IS(pvi_account(ctx, "zcdp:conversion=none", PV_REL_ZERO_OUT, g, 1e-5, &c), PV_E_PARAM);
    PVT_IS(pvi_account(ctx, "gaussian", PV_REL_ZERO_OUT, bad, 1e-5, &c), PV_E_UNSUPPORTED);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "gaussian has no proof") != NULL);
    PVT_IS(pvi_account(ctx, "best", PV_REL_REPLACE, bad, 1e-5, &c), PV_E_UNSUPPORTED);
    PVT_IS(pvi_account_delta(ctx, "best", PV_REL_ZERO_OUT, g, -1, &d, NULL), PV_E_ARG);
    PVT_IS(pvi_calibrate(ctx, "best", PV_REL_ZERO_OUT, g, 0, 1e-5, &s, &c), PV_E_ARG);
    PVT_IS(pvi_calibrate(ctx, "best", PV_REL_ZERO_OUT, bad, 1, 1e-5, &s, &c), PV_E_ARG);
}

static void calibration_is_tight_and_safe(void **state)
{
    (void)state;
    static const double target[] = { 1e-4, 0.1, 1, 8, 1000 };
    for (int i = 0; i < 5; i++) {
        pvi_cost c;
        double s, mu = 0;
        PVT_OK(pvi_calibrate(ctx, "best", PV_REL_ZERO_OUT, gaussians(1, 50), target[i], 1e-6, &s, &c));
        PVT_TRUE(c.epsilon <= target[i]);
        mu = sqrt(50) / s;
        PVT_TRUE(pvi_gdp_epsilon_ub(mu * (1 - 1e-12), 1e-6) <= target[i]);
        PVT_TRUE(pvi_gdp_epsilon_lb(mu * (1 + 1e-6), 1e-6) > target[i]);
    }
}

/* Poisson under replace: (2e, (1 + e^e) d) of zero-out, even at rate 1, where the multiplier still refers to
 * the zero-out sensitivity; and the same whoever accounts. */
static void group_bound(void **state)
{
    (void)state;
    static const double rate[] = { 0.01, 1 };
    for (int i = 0; i < 2; i++) {
        const pv_event *g = pv_ev_leaf(arena, PV_EV_GAUSSIAN, 3, 0);
        const pv_event *ev = pv_ev_repeat(arena, 40, pv_ev_sampled(arena, PV_EV_POISSON, rate[i], g));
        pvi_cost c, best;
        double d;
        PVT_OK(pvi_account(ctx, "rdp", PV_REL_REPLACE, ev, 1e-6, &c));
        PVT_TRUE(c.group_bound && c.epsilon_lower == 0);
        PVT_OK(pvi_account_delta(ctx, "rdp", PV_REL_ZERO_OUT, ev, c.epsilon / 2, &d, NULL));
        PVT_TRUE((1 + exp(c.epsilon / 2)) * d <= 1e-6 * (1 + 1e-12));
        PVT_OK(pvi_account_delta(ctx, "rdp", PV_REL_ZERO_OUT, ev, c.epsilon / 2 * (1 - 1e-6), &d, NULL));
        PVT_TRUE((1 + exp(c.epsilon / 2)) * d > 1e-6);
        PVT_OK(pvi_account(ctx, "best", PV_REL_REPLACE, ev, 1e-6, &best));
        PVT_TRUE(best.group_bound && best.epsilon <= c.epsilon);
        PVT_OK(pvi_account_delta(ctx, "best", PV_REL_REPLACE, ev, best.epsilon, &d, NULL));
        PVT_TRUE(d <= 1e-6 * (1 + 1e-9));
        PVT_OK(pvi_account(ctx, "best", PV_REL_REPLACE, pv_ev_sampled(arena, PV_EV_FIXED, rate[i], g), 1e-6, &c));
        PVT_TRUE(!c.group_bound);
    }
    /* so little noise that e^e leaves the range of a double: infinite, not wrong */
    pvi_cost c;
    const pv_event *bad = pv_ev_sampled(arena, PV_EV_POISSON, 0.5, pv_ev_leaf(arena, PV_EV_GAUSSIAN, 0.01, 0));
    PVT_OK(pvi_account(ctx, "rdp", PV_REL_REPLACE, bad, 1e-6, &c));
    PVT_TRUE(isinf(c.epsilon));
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(full_batch_value), cmocka_unit_test(refusals),
                                      cmocka_unit_test(group_bound),
                                      cmocka_unit_test(calibration_is_tight_and_safe) };
    return cmocka_run_group_tests(all, setup, teardown);
}
