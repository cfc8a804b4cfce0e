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

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(epsilon_is_bracketed), cmocka_unit_test(delta_is_bracketed) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
