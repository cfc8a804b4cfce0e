/* test_account.c - naming an accountant, `best`, the group bound, calibration. */
#include "acct/acct.h"
#include "arenatest.h"

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
    char text[512];
    snprintf(text, sizeof text, "zcdp:conversion=%0400d", 0);
    PVT_IS(pvi_account(ctx, text, PV_REL_ZERO_OUT, g, 1e-5, &c), PV_E_PARAM);
    PVT_OK(pvi_account(ctx, "zcdp:conversion=paper,", PV_REL_ZERO_OUT, g, 1e-5, &c));
    PVT_IS(pvi_account(ctx, "best", PV_REL_ZERO_OUT, pv_ev_leaf(arena, PV_EV_GAUSSIAN, 0, 0), 1e-5, &c), PV_E_ARG);
    PVT_IS(pvi_account(ctx, "tv", PV_REL_REPLACE, g, 1e-5, &c), PV_E_UNSUPPORTED);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "under replace") != NULL);
    PVT_IS(pvi_account(ctx, "gaussian", PV_REL_ZERO_OUT, bad, 1e-5, &c), PV_E_UNSUPPORTED);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "gaussian has no answer") != NULL);
    PVT_IS(pvi_account(ctx, "best", PV_REL_REPLACE, bad, 1e-5, &c), PV_E_UNSUPPORTED);
    PVT_IS(pvi_account_delta(ctx, "best", PV_REL_ZERO_OUT, g, -1, &d, NULL), PV_E_ARG);
    PVT_IS(pvi_calibrate(ctx, "best", PV_REL_ZERO_OUT, g, 0, 1e-5, &s, &c), PV_E_ARG);
    PVT_IS(pvi_calibrate(ctx, "best", PV_REL_ZERO_OUT, bad, 1, 1e-5, &s, &c), PV_E_ARG);
}

/* An accountant that breaks its contract: refused, whatever it breaks. */
static struct {
    pv_status compose, epsilon, delta, middle, lower; /* middle: of delta above 2.5 and below 4 */
    double value;
    bool closed;
} mock;

static pv_status mock_compose(void *st, const void *cfg, pv_relation rel, const pv_event *ev)
{
    (void)st, (void)cfg, (void)rel, (void)ev;
    return mock.compose;
}

static pv_status mock_epsilon(const void *st, const void *cfg, double delta, double *eps)
{
    (void)st, (void)cfg, (void)delta;
    *eps = mock.value;
    return mock.epsilon;
}

static pv_status mock_delta(const void *st, const void *cfg, double eps, double *delta)
{
    (void)st, (void)cfg;
    *delta = eps < 3 ? 0.5 : mock.value;
    return eps > 2.5 && eps < 4 ? mock.middle : eps < 3 ? PV_OK : mock.delta;
}

static pv_status mock_lower(const void *st, const void *cfg, double delta, double *eps)
{
    (void)st, (void)cfg, (void)delta;
    *eps = 0;
    return mock.lower;
}

static void mock_close(void *st)
{
    (void)st;
    mock.closed = true;
}

static void broken_accountants(void **state)
{
    (void)state;
    const pv_accountant_ops ops = { .head = { .name = "mock", .state_size = 8, .params = pv_no_params },
                                    .compose = mock_compose,
                                    .epsilon_ub = mock_epsilon,
                                    .delta_ub = mock_delta,
                                    .epsilon_lb = mock_lower,
                                    .close = mock_close };
    const pv_event *g = pv_ev_leaf(arena, PV_EV_GAUSSIAN, 1, 0);
    const pv_event *sampled[] = { g, pv_ev_sampled(arena, PV_EV_POISSON, 0.5, g) };
    double e[] = { 1, 5 }, d[2];
    const pvi_curve curve = { 2, e, d };
    const pvi_question eps = { PVI_ASK_EPSILON, PV_REL_ZERO_OUT, g, 1e-5, 0, NULL };
    const pvi_question delta = { PVI_ASK_DELTA, PV_REL_ZERO_OUT, g, 0, 5, NULL };
    const pvi_question line = { PVI_ASK_CURVE, PV_REL_ZERO_OUT, g, 0, 0, &curve };
    const pvi_question group = { PVI_ASK_EPSILON, PV_REL_REPLACE, pv_ev_seq(arena, 2, sampled), 1e-5, 0, NULL };
    const pvi_question group_delta = { PVI_ASK_DELTA, PV_REL_REPLACE, sampled[1], 0, 10, NULL };
    pvi_cost c;
#define MOCK(...)                                                                                                    \
    (mock.compose = mock.epsilon = mock.delta = mock.middle = mock.lower = PV_OK, mock.value = 0.25, __VA_ARGS__)
    MOCK(mock.closed = false);
    PVT_OK(pvi_ask(ctx, &ops, "", &eps, &c));
    PVT_TRUE(c.epsilon == 0.25 && mock.closed);
    PVT_OK(pvi_ask(ctx, &ops, "", &delta, &c));
    PVT_NEAR(c.delta, 0.25, 0);
    d[0] = d[1] = 1;
    PVT_OK(pvi_ask(ctx, &ops, "", &line, &c));
    PVT_TRUE(d[0] == 0.5 && d[1] == 0.25);
    MOCK(mock.compose = PV_E_UNSUPPORTED);
    PVT_IS(pvi_ask(ctx, &ops, "", &eps, &c), PV_E_UNSUPPORTED);
    MOCK(mock.epsilon = PV_E_NUMERIC);
    PVT_IS(pvi_ask(ctx, &ops, "", &eps, &c), PV_E_NUMERIC);
    MOCK(mock.lower = PV_E_INTERNAL);
    PVT_IS(pvi_ask(ctx, &ops, "", &eps, &c), PV_E_INTERNAL);
    MOCK(mock.value = NAN);
    PVT_IS(pvi_ask(ctx, &ops, "", &eps, &c), PV_E_NUMERIC);
    PVT_IS(pvi_ask(ctx, &ops, "", &delta, &c), PV_E_NUMERIC);
    PVT_IS(pvi_ask(ctx, &ops, "", &line, &c), PV_E_NUMERIC);
    MOCK(mock.value = -1e-3);
    PVT_IS(pvi_ask(ctx, &ops, "", &eps, &c), PV_E_NUMERIC);
    PVT_IS(pvi_ask(ctx, &ops, "", &delta, &c), PV_E_NUMERIC);
    MOCK(mock.value = 1.5);
    PVT_IS(pvi_ask(ctx, &ops, "", &delta, &c), PV_E_NUMERIC);
    MOCK(mock.delta = PV_E_INTERNAL);
    PVT_IS(pvi_ask(ctx, &ops, "", &delta, &c), PV_E_INTERNAL);
    PVT_IS(pvi_ask(ctx, &ops, "", &group, &c), PV_E_INTERNAL);
    PVT_IS(pvi_ask(ctx, &ops, "", &group_delta, &c), PV_E_INTERNAL);
    MOCK(mock.value = 0.25);
    PVT_OK(pvi_ask(ctx, &ops, "", &group, &c)); /* never within the budget */
    PVT_TRUE(isinf(c.epsilon) && c.group_bound);
    PVT_OK(pvi_ask(ctx, &ops, "", &group_delta, &c));
    PVT_NEAR(c.delta, 1, 0);
    MOCK(mock.value = 0.0); /* enough from 3 on */
    PVT_OK(pvi_ask(ctx, &ops, "", &group, &c));
    PVT_REL(c.epsilon, 6, 1e-8);
    MOCK(mock.value = 0.0, mock.middle = PV_E_INTERNAL); /* the search between 2 and 4 fails */
    PVT_IS(pvi_ask(ctx, &ops, "", &group, &c), PV_E_INTERNAL);
}

static pv_status claims_two(const void *st, const void *cfg, double delta, double *eps)
{
    (void)st, (void)cfg, (void)delta;
    return *eps = 2.0, PV_OK;
}

static pv_status claims_three(const void *st, const void *cfg, double delta, double *eps)
{
    (void)st, (void)cfg, (void)delta;
    return *eps = 3.0, PV_OK;
}

/* An upper bound below somebody's certified lower bound is an error of one of them: best believes neither. */
static void best_keeps_above_lower_bounds(void **state)
{
    (void)state;
    const pv_accountant_ops low = { .head = { .name = "low", .state_size = 1, .params = pv_no_params },
                                    .compose = mock_compose,
                                    .epsilon_ub = mock_epsilon };
    pv_accountant_ops high = low, only = low;
    const pv_event *g = pv_ev_leaf(arena, PV_EV_GAUSSIAN, 1, 0);
    const pvi_question q = { PVI_ASK_EPSILON, PV_REL_ZERO_OUT, g, 1e-5, 0, NULL };
    pvi_cost c;
    MOCK(mock.value = 0.25);
    high.epsilon_ub = claims_three;
    high.epsilon_lb = only.epsilon_lb = claims_two;
    PVT_OK(pvi_ask_best(ctx, (const pv_accountant_ops *[]) { &low }, 1, &q, &c));
    PVT_NEAR(c.epsilon, 0.25, 0);
    PVT_OK(pvi_ask_best(ctx, (const pv_accountant_ops *[]) { &low, &high }, 2, &q, &c));
    PVT_TRUE(c.epsilon == 3.0 && c.epsilon_lower == 2.0);
    PVT_OK(pvi_ask_best(ctx, (const pv_accountant_ops *[]) { &high, &low }, 2, &q, &c));
    PVT_TRUE(c.epsilon == 3.0 && c.epsilon_lower == 2.0);
    PVT_IS(pvi_ask_best(ctx, (const pv_accountant_ops *[]) { &only, &low }, 2, &q, &c), PV_E_NUMERIC);
}

/* Deltas far below any epsilon are compared all the same. */
static void best_of_tiny_deltas(void **state)
{
    (void)state;
    double d;
    const char *used;
    const pv_event *lap = pv_ev_leaf(arena, PV_EV_LAPLACE, 1, 0);
    PVT_OK(pvi_account_delta(ctx, "best", PV_REL_ZERO_OUT, lap, 1.5, &d, &used));
    PVT_CHECK(d == 0.0, "delta %g by %s", d, used);
}

static void zcdp_on_paper(void **state)
{
    (void)state;
    double d;
    PVT_OK(pvi_account_delta(ctx, "zcdp:conversion=paper", PV_REL_ZERO_OUT, gaussians(1, 1), 0.4, &d, NULL));
    PVT_NEAR(d, 1, 0); /* below rho nothing is claimed */
    pvi_cost c;
    const pv_event *none = pv_ev_leaf(arena, PV_EV_NONE, 0, 0);
    PVT_OK(pvi_account(ctx, "zcdp:conversion=paper", PV_REL_ZERO_OUT, none, 1e-5, &c));
    PVT_NEAR(c.epsilon, 0, 0);
    PVT_OK(pvi_account_delta(ctx, "zcdp:conversion=paper", PV_REL_ZERO_OUT, none, 0.4, &d, NULL));
    PVT_NEAR(d, 0, 0);
    PVT_OK(pvi_account_delta(ctx, "zcdp:conversion=paper", PV_REL_ZERO_OUT, gaussians(1, 1), 0.4, &d, NULL));
    PVT_OK(pvi_account_delta(ctx, "zcdp", PV_REL_ZERO_OUT, gaussians(1, 1), 0.4, &d, NULL));
    PVT_TRUE(d < 1 && d >= pvi_gdp_delta_lb(1, 0.4));
}

static void calibration_of_other_releases(void **state)
{
    (void)state;
    pvi_cost c;
    double s;
    const pv_event *lap = pv_ev_leaf(arena, PV_EV_LAPLACE, 1, 0), *pair = pv_ev_leaf(arena, PV_EV_EPS_DELTA, 2, 0);
    const pv_event *const parts[] = { pair, lap };
    PVT_OK(pvi_calibrate(ctx, "compose:method=basic", PV_REL_ZERO_OUT, pv_ev_seq(arena, 2, parts), 3, 0, &s, &c));
    PVT_REL(s, 1, 1e-6);
    PVT_TRUE(c.epsilon <= 3);
    PVT_IS(pvi_calibrate(ctx, "best", PV_REL_ZERO_OUT, pv_ev_seq(arena, 2, parts), 1.5, 0, &s, &c), PV_E_BUDGET);
    PVT_TRUE(isnan(s));
    PVT_IS(pvi_calibrate(ctx, "best", PV_REL_ZERO_OUT, pv_ev_repeat(arena, 0, lap), 1, 1e-5, &s, &c), PV_E_ARG);
    PVT_IS(pvi_calibrate(ctx, "best", PV_REL_ZERO_OUT, pv_ev_seq(arena, 1, parts), 1, 1e-5, &s, &c), PV_E_ARG);
    PVT_IS(pvi_calibrate(ctx, "best", PV_REL_ZERO_OUT, lap, INFINITY, 1e-5, &s, &c), PV_E_ARG);
    PVT_IS(pvi_calibrate(ctx, "best", PV_REL_ZERO_OUT, NULL, 1, 1e-5, &s, &c), PV_E_ARG);
    PVT_IS(pvi_calibrate(ctx, "nobody", PV_REL_ZERO_OUT, lap, 1, 1e-5, &s, &c), PV_E_PARAM);
    PVT_IS(pvi_calibrate(ctx, "best", PV_REL_ZERO_OUT, lap, 1e300, 1e-5, &s, &c), PV_E_ARG);
    PVT_OK(pvi_calibrate(ctx, "best", PV_REL_ZERO_OUT, pv_ev_leaf(arena, PV_EV_SELECT, 1, 0), PVI_EPSILON_MOST, 1e-5,
                         &s, &c)); /* next to no noise is enough: the least there is in range */
    PVT_TRUE(s >= 1e-6 && s < 1.0001e-6);
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

/* Events that stay as they are, before those that are calibrated: squares of mu add up, with a sample between them
 * as little as the accountant says; where the first cost more than the whole, nothing helps. */
static void calibration_after_a_stage(void **state)
{
    (void)state;
    static const double share[] = { 0.05, 0.5, 0.9 };
    for (int i = 0; i < 3; i++) {
        pvi_cost c;
        double s, mu;
        PVT_OK(pvi_gaussian_mu(ctx, PV_REL_ZERO_OUT, 1, 1e-6, &mu));
        const pv_event *stage = pv_ev_leaf(arena, PV_EV_GAUSSIAN, 1 / (sqrt(share[i]) * mu), 0);
        PVT_OK(pvi_calibrate_after(ctx, "best", PV_REL_ZERO_OUT, stage, gaussians(1, 50), 1, 1e-6, &s, &c));
        PVT_REL(50 / (s * s), (1 - share[i]) * mu * mu, 1e-5);
        PVT_TRUE(c.epsilon <= 1 && c.epsilon > 1 - 1e-5);
        const pv_event *one = pv_ev_sampled(arena, PV_EV_POISSON, 0.02, pv_ev_leaf(arena, PV_EV_GAUSSIAN, 1, 0));
        const pv_event *both[2] = { stage, NULL };
        PVT_OK(
            pvi_calibrate_after(ctx, "best", PV_REL_ZERO_OUT, stage, pv_ev_repeat(arena, 50, one), 1, 1e-6, &s, &c));
        both[1] = pvi_event_scale(arena, pv_ev_repeat(arena, 50, one), s);
        pvi_cost again;
        PVT_OK(pvi_account(ctx, "best", PV_REL_ZERO_OUT, pv_ev_seq(arena, 2, both), 1e-6, &again));
        PVT_TRUE(again.epsilon == c.epsilon && c.epsilon <= 1 && c.epsilon > 0.99);
    }
    pvi_cost c;
    double s;
    PVT_IS(pvi_calibrate_after(ctx, "best", PV_REL_ZERO_OUT, gaussians(0.1, 1), gaussians(1, 50), 1, 1e-6, &s, &c),
           PV_E_BUDGET);
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
    const struct CMUnitTest all[] = { cmocka_unit_test(full_batch_value),
                                      cmocka_unit_test(refusals),
                                      cmocka_unit_test(group_bound),
                                      cmocka_unit_test(broken_accountants),
                                      cmocka_unit_test(zcdp_on_paper),
                                      cmocka_unit_test(best_of_tiny_deltas),
                                      cmocka_unit_test(best_keeps_above_lower_bounds),
                                      cmocka_unit_test(calibration_of_other_releases),
                                      cmocka_unit_test(calibration_is_tight_and_safe),
                                      cmocka_unit_test(calibration_after_a_stage) };
    return cmocka_run_group_tests(all, setup, teardown);
}
