/* test_gaussian_vectors.c - the bracketed Gaussian curve against 80-digit arithmetic. */
#include "acct/acct.h"
#include "pvtest.h"
#include "gaussian_vectors.h"

static void epsilon_is_bracketed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof epsilon_vectors / sizeof *epsilon_vectors; i++) {
        const double mu = epsilon_vectors[i][0], delta = epsilon_vectors[i][1], want = epsilon_vectors[i][2];
        const double ub = pvi_gdp_epsilon_ub(mu, delta), lb = pvi_gdp_epsilon_lb(mu, delta);
        PVT_CHECK(lb <= want && want <= ub, "mu=%g delta=%g: [%.17g, %.17g] misses %.17g", mu, delta, lb, ub, want);
        PVT_CHECK(ub - lb <= 1e-10 * want, "mu=%g delta=%g: gap %g", mu, delta, (ub - lb) / want);
    }
}

static void delta_is_bracketed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof delta_vectors / sizeof *delta_vectors; i++) {
        const double mu = delta_vectors[i][0], eps = delta_vectors[i][1], want = delta_vectors[i][2];
        const double ub = pvi_gdp_delta_ub(mu, eps), lb = pvi_gdp_delta_lb(mu, eps);
        PVT_CHECK(lb <= want && want <= ub, "mu=%g eps=%g: [%.17g, %.17g] misses %.17g", mu, eps, lb, ub, want);
        /* conditioning: t - mu/2 cancels, so delta inherits a * t rounding errors */
        PVT_CHECK(ub - lb <= 1e-8 * want + 1e-300, "mu=%g eps=%g: gap %g", mu, eps, (ub - lb) / want);
    }
}

static void edges(void **state)
{
    (void)state;
    PVT_NEAR(pvi_gdp_delta_ub(0, 1), 0, 0);
    PVT_NEAR(pvi_gdp_delta_lb(0, 1), 0, 0);
    PVT_NEAR(pvi_gdp_delta_ub(1, INFINITY), 0, 0);
    PVT_NEAR(pvi_gdp_delta_lb(1, INFINITY), 0, 0);
    PVT_TRUE(pvi_gdp_delta_ub(1, 1e6) > 0 &&
             pvi_gdp_delta_ub(1, 1e6) < 1e-300); /* tiny, but never claimed to be none */
    PVT_NEAR(pvi_gdp_delta_lb(1, 1e6), 0, 0);
    PVT_NEAR(pvi_gdp_epsilon_ub(0, 0), 0, 0);
    PVT_TRUE(isinf(pvi_gdp_epsilon_ub(1, 0)) && isinf(pvi_gdp_epsilon_lb(1, 0)));
    PVT_NEAR(pvi_gdp_epsilon_lb(0, 1e-5), 0, 0);
    PVT_NEAR(pvi_gdp_delta_ub(1e5, 0), 1, 1e-12);
    /* delta close to its largest value: epsilon close to 0, still bracketed */
    for (double mu = 1e-8; mu < 100; mu *= 10) {
        const double most = pvi_gdp_delta_lb(mu, 0);
        for (double gap = 1e-15; gap < 1; gap *= 10) {
            const double lb = pvi_gdp_epsilon_lb(mu, most * (1 - gap)), ub = pvi_gdp_epsilon_ub(mu, most * (1 - gap));
            PVT_CHECK(lb >= 0 && lb <= ub, "mu=%g gap=%g: [%g, %g]", mu, gap, lb, ub);
        }
    }
    /* far outside every use: ordered and finite */
    for (double mu = 1e6; mu < 1e90; mu *= 1e7)
        PVT_TRUE(pvi_gdp_epsilon_lb(mu, 1e-9) <= pvi_gdp_epsilon_ub(mu, 1e-9) &&
                 isfinite(pvi_gdp_epsilon_ub(mu, 1e-9)));
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(epsilon_is_bracketed), cmocka_unit_test(delta_is_bracketed),
                                      cmocka_unit_test(edges) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
