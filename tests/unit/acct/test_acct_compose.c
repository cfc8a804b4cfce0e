/* test_acct_compose.c - composition theorems and total variation, against sums written out. */
#include "acct/acct.h"
#include "arenatest.h"

static const pv_event *pairs(double eps, double delta, int64_t n)
{
    return pv_ev_repeat(arena, n, pv_ev_leaf(arena, PV_EV_EPS_DELTA, eps, delta));
}

static double epsilon(const char *accountant, const pv_event *ev, double delta)
{
    pvi_cost c;
    const pv_status s = pvi_account(ctx, accountant, PV_REL_ZERO_OUT, ev, delta, &c);
    PVT_CHECK(s == PV_OK, "%s: %s", accountant, pv_ctx_errmsg(ctx));
    return c.epsilon;
}

static double delta_of(const char *accountant, const pv_event *ev, double eps)
{
    double d;
    PVT_OK(pvi_account_delta(ctx, accountant, PV_REL_ZERO_OUT, ev, eps, &d, NULL));
    return d;
}

/* sum over l of C(k,l) (e^{(k-l) eps} - e^{e + l eps})_+ / (1 + e^eps)^k, term by term */
static long double exact(double eps, int k, double e)
{
    long double sum = 0;
    for (int l = 0; l <= k; l++) {
        const long double P = expl(lgammal(k + 1) - lgammal(l + 1) - lgammal(k - l + 1) + (k - l) * (long double)eps -
                                   k * logl(1 + expl(eps)));
        const long double x = e - (k - 2 * l) * (long double)eps;
        if (x < 0) sum += P * -expm1l(x);
    }
    return sum;
}

static void binomial_curve(void **state)
{
    (void)state;
    static const double eps[] = { 1e-3, 0.1, 1, 3, 30 }, share[] = { 0, 0.03, 0.1, 0.5, 0.9, 0.999 };
    static const int k[] = { 1, 2, 3, 10, 15, 16, 17, 100, 1000 };
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 9; j++)
            for (int s = 0; s < 6; s++) {
                const double e = share[s] * k[j] * eps[i], got = pvi_pure_delta(eps[i], k[j], e);
                const long double want = exact(eps[i], k[j], e);
                PVT_CHECK(got >= want * (1 - 1e-12L) && got <= want * (1 + 1e-9L) + 1e-300L,
                          "eps=%g k=%d e=%g: %.15g, want %.15Lg", eps[i], k[j], e, got, want);
            }
    PVT_NEAR(pvi_pure_delta(0, 5, 1), 0, 0);
    PVT_NEAR(pvi_pure_delta(1, 0, 1), 0, 0);
    PVT_NEAR(pvi_pure_delta(1, 5, 5), 0, 0);
    PVT_NEAR(pvi_pure_delta(1, 1e12, 5), 1, 0); /* beyond the range: no claim */
    PVT_NEAR(pvi_pure_delta(400, 2, 5), 1, 0);
    /* normal limit: k = 1e9 coins of eps = 1e-5 are nearly a Gaussian with mu = eps sqrt(k) */
    const double many = pvi_pure_delta(1e-5, 1e9, 1.0);
    PVT_REL(many, pvi_gdp_delta_ub(1e-5 * sqrt(1e9), 1.0), 1e-3);
}

static void homogeneous_is_optimal(void **state)
{
    (void)state;
    const double e = epsilon("compose", pairs(0.1, 1e-8, 100), 1e-5);
    const double lost = -expm1(100 * log1p(-1e-8)), d = (1e-5 - lost) / (1 - lost);
    PVT_TRUE((double)exact(0.1, 100, e) <= d * (1 + 1e-9) &&
             (double)exact(0.1, 100, e * (1 - 1e-9)) >= d * (1 - 1e-7));
    PVT_REL(delta_of("compose", pairs(0.1, 1e-8, 100), e), 1e-5, 1e-6);
    const double U = 100 * 0.1 * tanh(0.05), V = 100 * 0.01;
    const double advanced = epsilon("compose:method=advanced", pairs(0.1, 1e-8, 100), 1e-5);
    PVT_REL(advanced, U + sqrt(2 * V * fmin(log(1 / d), log(exp(1) + sqrt(V) / d))), 1e-9);
    PVT_REL(epsilon("compose:method=basic", pairs(0.1, 1e-8, 100), 1e-5), 10, 1e-12);
    PVT_TRUE(e < advanced && advanced < 10);
    PVT_REL(delta_of("compose:method=advanced", pairs(0.1, 0, 100), advanced),
            exp(-(advanced - U) * (advanced - U) / (2 * V)), 1e-9);
    PVT_NEAR(delta_of("compose:method=advanced", pairs(0.1, 0, 100), 0.1), 1, 0);
    PVT_NEAR(delta_of("compose:method=basic", pairs(0.1, 0, 100), 9.99), 1, 0);
    PVT_REL(delta_of("compose:method=basic", pairs(0.1, 1e-8, 100), 10.01), lost, 1e-12);
}

static void budgets_at_the_edge(void **state)
{
    (void)state;
    PVT_TRUE(isinf(epsilon("compose", pairs(0.1, 1e-6, 100), 1e-5))); /* 1e-4 is lost already */
    PVT_REL(epsilon("compose", pairs(0.1, 0, 100), 0), 10, 1e-12);    /* delta 0: basic */
    PVT_NEAR(epsilon("compose", pairs(0.001, 0, 1), 0.1), 0, 0);      /* delta covers it all */
    PVT_NEAR(epsilon("compose", pairs(0, 1e-6, 2), 1e-5), 0, 0);
    const pv_event *const mixed[] = { pairs(0.1, 0, 50), pairs(0.3, 0, 5), pv_ev_leaf(arena, PV_EV_LAPLACE, 4, 0),
                                      pv_ev_leaf(arena, PV_EV_SELECT, 0.2, 0),
                                      pv_ev_leaf(arena, PV_EV_BALL, 1e-9, 0) };
    const double e = epsilon("compose", pv_ev_seq(arena, 5, mixed), 1e-5);
    PVT_TRUE(e > 1 && e <= 50 * 0.1 + 5 * 0.3 + 0.25 + 0.2);
}

static void sampling_amplifies(void **state)
{
    (void)state;
    const pv_event *pair = pv_ev_leaf(arena, PV_EV_EPS_DELTA, 1, 1e-6);
    const pv_event *poisson = pv_ev_sampled(arena, PV_EV_POISSON, 0.1, pair),
                   *fixed = pv_ev_sampled(arena, PV_EV_FIXED, 0.1, pair);
    const double eps = log1p(0.1 * expm1(1.0));
    pvi_cost c;
    PVT_OK(pvi_account(ctx, "compose:method=basic", PV_REL_ZERO_OUT, poisson, 1e-7 * (1 + 1e-12), &c));
    PVT_REL(c.epsilon, eps, 1e-12);
    PVT_OK(pvi_account(ctx, "compose:method=basic", PV_REL_REPLACE, fixed, 1e-7 * (1 + 1e-12), &c));
    PVT_REL(c.epsilon, eps, 1e-12);
    PVT_IS(pvi_account(ctx, "compose", PV_REL_ZERO_OUT, fixed, 1e-5, &c), PV_E_UNSUPPORTED);
    /* Poisson under replace: two zero-out steps, labelled */
    PVT_OK(pvi_account(ctx, "compose", PV_REL_REPLACE, poisson, 1e-3, &c));
    PVT_TRUE(c.group_bound);
    const pv_event *pure = pv_ev_sampled(arena, PV_EV_POISSON, 0.1, pv_ev_leaf(arena, PV_EV_LAPLACE, 1, 0));
    pvi_cost exact;
    PVT_OK(pvi_account(ctx, "compose:method=basic", PV_REL_REPLACE, pure, 0, &exact)); /* pure: twice epsilon */
    PVT_REL(exact.epsilon, 2 * eps, 1e-8);
    PVT_TRUE((1 + exp(c.epsilon / 2)) * delta_of("compose", poisson, c.epsilon / 2) <= 1e-3 * (1 + 1e-9));
    PVT_TRUE((1 + exp(c.epsilon / 2 * 0.999)) * delta_of("compose", poisson, c.epsilon / 2 * 0.999) > 1e-3);
    double d;
    PVT_OK(pvi_account_delta(ctx, "compose", PV_REL_REPLACE, poisson, 0.2, &d, NULL));
    PVT_REL(d, (1 + exp(0.1)) * delta_of("compose", poisson, 0.1), 1e-12);
}

static void total_variation(void **state)
{
    (void)state;
    const pv_event *ball = pv_ev_leaf(arena, PV_EV_BALL, 0.01, 0);
    PVT_REL(delta_of("tv", pv_ev_repeat(arena, 200, ball), 3), 1 - pow(0.99, 200), 1e-12);
    PVT_NEAR(epsilon("tv", pv_ev_repeat(arena, 200, ball), 0.9), 0, 0);
    PVT_TRUE(isinf(epsilon("tv", pv_ev_repeat(arena, 200, ball), 0.8)));
    PVT_REL(delta_of("tv", pv_ev_sampled(arena, PV_EV_FIXED, 1e-3, ball), 0), 1e-5, 1e-12);
    PVT_REL(delta_of("tv", pv_ev_repeat(arena, 1000000000, pv_ev_leaf(arena, PV_EV_BALL, 1e-15, 0)), 0), 1e-6, 1e-6);
    PVT_NEAR(delta_of("tv", pv_ev_leaf(arena, PV_EV_BALL, 1, 0), 0), 1, 0);
    PVT_REL(delta_of("tv", pairs(0, 1e-3, 1), 0), 1e-3, 1e-12);
    pvi_cost c;
    PVT_IS(pvi_account(ctx, "tv", PV_REL_ZERO_OUT, pairs(0.1, 1e-3, 1), 0.5, &c), PV_E_UNSUPPORTED);
    /* the paper's sum is a bound on the tight product */
    PVT_TRUE(delta_of("tv", pv_ev_repeat(arena, 50, ball), 0) < 50 * 0.01);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(binomial_curve),      cmocka_unit_test(homogeneous_is_optimal),
        cmocka_unit_test(budgets_at_the_edge), cmocka_unit_test(sampling_amplifies),
        cmocka_unit_test(total_variation),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
