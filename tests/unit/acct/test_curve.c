/* test_curve.c - curves, trade-off functions, the Gaussian fit, groups of rows. */
#include "acct/acct.h"
#include "arenatest.h"

enum { N = 200 };
static double eps[N], delta[N];

static pvi_curve curve_of(const pv_event *ev, const char *accountant, pv_relation rel, double end)
{
    pvi_curve c = { N, eps, delta };
    for (int i = 0; i < N; i++) eps[i] = end * i / (N - 1);
    const pv_status s = pvi_account_curve(ctx, accountant, rel, ev, &c);
    PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(ctx));
    return c;
}

static const pv_event *gaussian(double z)
{
    return pv_ev_leaf(arena, PV_EV_GAUSSIAN, z, 0);
}

static double Phi(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

/* The trade-off of a Gaussian is beta = Phi(Phi^-1(1 - alpha) - mu): parametrised by the threshold t. */
static void tradeoff_of_a_gaussian(void **state)
{
    (void)state;
    const double mu = 0.8;
    const pvi_curve c = curve_of(gaussian(1 / mu), "best", PV_REL_ZERO_OUT, 6);
    for (double t = -2.5; t < 2.5; t += 0.1) {
        const double alpha = 1 - Phi(t), beta = Phi(t - mu), f = pvi_tradeoff(&c, alpha);
        PVT_CHECK(f <= beta && f >= beta - 1e-3, "alpha=%g: %g, exact %g", alpha, f, beta);
    }
    PVT_NEAR(pvi_tradeoff(&c, 1), 0, 0);
    PVT_NEAR(pvi_tradeoff(&c, 0), 1, 1e-8);
    PVT_REL(pvi_mu_fit(&c), mu, 1e-9);
    PVT_TRUE(pvi_mu_fit(&c) >= mu);
}

static void fits_of_other_curves(void **state)
{
    (void)state;
    const pv_event *lap = pv_ev_leaf(arena, PV_EV_LAPLACE, 1, 0);
    const pvi_curve c = curve_of(lap, "best", PV_REL_ZERO_OUT, 0.99);
    const double mu = pvi_mu_fit(&c);
    for (int i = 0; i < N; i++) PVT_TRUE(pvi_gdp_delta_ub(mu, eps[i]) >= delta[i]);
    double below = 1;
    for (int i = 0; i < N; i++) below = fmin(below, pvi_gdp_delta_ub(mu * (1 - 1e-6), eps[i]) - delta[i]);
    PVT_TRUE(below < 0);
    for (int i = 0; i < N; i++) delta[i] = 1;
    PVT_TRUE(isinf(pvi_mu_fit(&c)));
    for (int i = 0; i < N; i++) delta[i] = 0;
    PVT_NEAR(pvi_mu_fit(&c), 0, 0);
    for (int i = 0; i < N; i++) delta[i] = 1;
    PVT_NEAR(pvi_tradeoff(&c, 0.3), 0, 0);
}

/* Point by point the curve is pvi_account_delta; replace with Poisson goes through the group bound. */
static void agrees_with_single_questions(void **state)
{
    (void)state;
    const pv_event *ev = pv_ev_repeat(arena, 50, pv_ev_sampled(arena, PV_EV_POISSON, 0.05, gaussian(2)));
    for (int rel = PV_REL_ZERO_OUT; rel <= PV_REL_REPLACE; rel++) {
        curve_of(ev, "rdp", (pv_relation)rel, 3);
        for (int i = 0; i < N; i += 37) {
            double d;
            PVT_OK(pvi_account_delta(ctx, "rdp", (pv_relation)rel, ev, eps[i], &d, NULL));
            PVT_NEAR(d, delta[i], 0);
        }
    }
    pvi_curve c = { N, eps, delta };
    PVT_IS(pvi_account_curve(ctx, "gaussian", PV_REL_ZERO_OUT, ev, &c), PV_E_UNSUPPORTED);
    PVT_IS(pvi_account_curve(ctx, "best", PV_REL_ZERO_OUT, pv_ev_leaf(arena, PV_EV_NONPRIVATE, 0, 0), &c),
           PV_E_UNSUPPORTED);
}

static void groups_of_rows(void **state)
{
    (void)state;
    pvi_cost c;
    PVT_OK(pvi_account_rows(ctx, "best", PV_REL_ZERO_OUT, gaussian(4), 1e-5, 3,
                            &c)); /* noise over three sensitivities */
    PVT_REL(c.epsilon, pvi_gdp_epsilon_ub(0.75, 1e-5), 1e-9);
    PVT_OK(pvi_account_rows(ctx, "best", PV_REL_ZERO_OUT, gaussian(4), 1e-5, 1, &c));
    PVT_REL(c.epsilon, pvi_gdp_epsilon_ub(0.25, 1e-5), 1e-9);
    PVT_IS(pvi_account_rows(ctx, "best", PV_REL_ZERO_OUT, gaussian(4), 1e-5, 0, &c), PV_E_ARG);
    PVT_IS(pvi_account_rows(ctx, "best", PV_REL_ZERO_OUT, pv_ev_leaf(arena, PV_EV_NONPRIVATE, 0, 0), 1e-5, 2, &c),
           PV_E_UNSUPPORTED);

    PVT_OK(pvi_account_rows(ctx, "compose", PV_REL_ZERO_OUT, pv_ev_leaf(arena, PV_EV_LAPLACE, 6, 0), 0, 3, &c));
    PVT_NEAR(c.epsilon, 0.5, 1e-9);
    PVT_OK(pvi_account_rows(ctx, "compose", PV_REL_ZERO_OUT, pv_ev_leaf(arena, PV_EV_SELECT, 0.1, 0), 0, 3, &c));
    PVT_NEAR(c.epsilon, 0.3, 1e-9);
    PVT_OK(pvi_account_rows(ctx, "compose", PV_REL_ZERO_OUT, pv_ev_leaf(arena, PV_EV_EPS_DELTA, 0.1, 0), 0, 3, &c));
    PVT_NEAR(c.epsilon, 0.3, 1e-6);

    /* on parts in turn: noise over k for Gaussians, but nothing certified from below; no such rule for Laplace */
    const pv_event *turns = pv_ev_repeat(arena, 40, pv_ev_cyclic(arena, 10, gaussian(4)));
    PVT_OK(pvi_account_rows(ctx, "best", PV_REL_ZERO_OUT, turns, 1e-5, 3, &c));
    PVT_REL(c.epsilon, pvi_gdp_epsilon_ub(1.5, 1e-5), 1e-9);
    PVT_NEAR(c.epsilon_lower, 0, 0);
    turns = pv_ev_cyclic(arena, 10, pv_ev_leaf(arena, PV_EV_LAPLACE, 6, 0));
    PVT_OK(pvi_account_rows(ctx, "compose", PV_REL_ZERO_OUT, turns, 0, 3, &c));
    PVT_NEAR(c.epsilon, 0.5, 1e-6);

    /* (k e, (e^{ke} - 1)/(e^e - 1) delta(e)) elsewhere */
    const pv_event *ev = pv_ev_repeat(arena, 20, pv_ev_sampled(arena, PV_EV_POISSON, 0.1, gaussian(3)));
    PVT_OK(pvi_account_rows(ctx, "rdp", PV_REL_ZERO_OUT, ev, 1e-5, 5, &c));
    const double e = c.epsilon / 5;
    double d;
    PVT_OK(pvi_account_delta(ctx, "rdp", PV_REL_ZERO_OUT, ev, e, &d, NULL));
    PVT_TRUE(d * expm1(5 * e) / expm1(e) <= 1e-5 * (1 + 1e-9));
    PVT_OK(pvi_account_delta(ctx, "rdp", PV_REL_ZERO_OUT, ev, e * (1 - 1e-5), &d, NULL));
    PVT_TRUE(d * expm1(5 * e) / expm1(e) > 1e-5);

    const pv_event *pair = pv_ev_leaf(arena, PV_EV_EPS_DELTA, 1, 1e-6),
                   *tiny = pv_ev_leaf(arena, PV_EV_EPS_DELTA, 0, 1e-9);
    PVT_OK(pvi_account_rows(ctx, "compose", PV_REL_ZERO_OUT, pair, 1e-4, 2, &c));
    PVT_TRUE(c.epsilon <= 2 * (1 + 1e-6));
    PVT_OK(pvi_account_rows(ctx, "compose", PV_REL_ZERO_OUT, tiny, 1e-4, 100, &c)); /* 100 delta is still enough */
    PVT_NEAR(c.epsilon, 0, 0);
    PVT_OK(pvi_account_rows(ctx, "tv", PV_REL_ZERO_OUT, pv_ev_leaf(arena, PV_EV_BALL, 1e-5, 0), 1.5e-5, 2, &c));
    PVT_TRUE(isinf(c.epsilon));
    PVT_OK(pvi_account_rows(ctx, "tv", PV_REL_ZERO_OUT, pv_ev_leaf(arena, PV_EV_BALL, 1e-3, 0), 1e-5, 2, &c));
    PVT_TRUE(isinf(c.epsilon));
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(tradeoff_of_a_gaussian),
                                      cmocka_unit_test(fits_of_other_curves),
                                      cmocka_unit_test(agrees_with_single_questions),
                                      cmocka_unit_test(groups_of_rows) };
    return cmocka_run_group_tests(all, setup, teardown);
}
