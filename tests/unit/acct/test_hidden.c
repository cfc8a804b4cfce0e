/* test_hidden.c - last-iterate accounting: the linear case worked out exactly, the gates one by one. */
#include "acct/acct.h"
#include "ctxtest.h"

static pvi_hidden problem(double z, double gap, int64_t batches, int64_t passes)
{
    return (pvi_hidden) { .z = z,
                          .shift = 1,
                          .eta = 1,
                          .smooth = 1,
                          .strong = gap,
                          .diameter = INFINITY,
                          .batches = batches,
                          .passes = passes,
                          .last_iterate_only = true,
                          .no_clipping = true,
                          .exact_projection = true,
                          .fixed_order = true };
}

static double mu_of(pvi_hidden h)
{
    double mu;
    const pv_status s = pvi_hidden_mu(ctx, &h, &mu);
    PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(ctx));
    return mu;
}

/* A quadratic loss: the iterates are Gaussian, their means drift apart by c m + eta a a step, their
 * variance is c^2 v + (eta z a)^2.  The formula must give the quotient, step by step. */
static void linear_case_is_exact(void **state)
{
    (void)state;
    static const double gap[] = { 1e-6, 0.01, 0.3, 0.9 };
    for (int i = 0; i < 4; i++) {
        double mean = 0, var = 0;
        for (int64_t t = 1; t <= 200; t++) {
            mean = (1 - gap[i]) * mean + 1;
            var = (1 - gap[i]) * (1 - gap[i]) * var + 4.0;
            PVT_REL(mu_of(problem(2, gap[i], 1, t)), mean / sqrt(var), 1e-9);
        }
    }
}

/* The record is in one batch of l: a run that shows the last batch first is a lower bound, composition
 * an upper one. */
static void cyclic_lies_between(void **state)
{
    (void)state;
    for (int64_t l = 2; l < 50; l *= 3)
        for (int64_t E = 1; E < 300; E *= 4)
            for (double gap = 1e-4; gap < 1; gap *= 5) {
                double mean = 0, var = 0;
                const double c = 1 - gap;
                for (int64_t t = 1; t <= l * E; t++) {
                    mean = c * mean + (t % l == 0);
                    var = c * c * var + 1;
                }
                const double mu = mu_of(problem(1, gap, l, E));
                PVT_CHECK(mu >= mean / sqrt(var) && mu <= sqrt((double)E) * (1 + 1e-12), "l=%ld E=%ld gap=%g: %g",
                          (long)l, (long)E, gap, mu);
            }
}

static void published_numbers(void **state)
{
    (void)state;
    static const int64_t t[] = { 10, 40, 160, 1000 };
    static const double want[] = { 1.185, 2.212, 2.557, 2.558 };
    for (int i = 0; i < 4; i++) PVT_NEAR(pvi_gdp_epsilon_ub(mu_of(problem(10, 0.05, 1, t[i])), 1e-5), want[i], 6e-4);
}

static void bounded_sets(void **state)
{
    (void)state;
    pvi_hidden h = problem(8, 0, 1, 1000);
    h.eta = 0.1, h.shift = 0.5, h.diameter = 1.03;
    PVT_REL(mu_of(h), sqrt(3 * 20.6 + 21.0) / 8, 1e-9);
    h.passes = 50; /* fewer steps than that: composition */
    PVT_REL(mu_of(h), sqrt(50) / 8, 1e-9);
    h.passes = 1000, h.batches = 20;
    PVT_REL(mu_of(h), sqrt(1 + (61.8 + 21.0) / 20) / 8, 1e-9);
    h.strong = 0.5; /* strong convexity may be better still */
    PVT_TRUE(mu_of(h) < sqrt(1 + 4.0) / 8);
    PVT_REL(mu_of(problem(3, 0, 1, 49)), 7.0 / 3, 1e-9); /* convex, unbounded: composition */
    pvi_hidden edge = problem(3, 1, 4, 1);
    PVT_REL(mu_of(edge), 1.0 / 3, 1e-9); /* c = 0, one pass */
    edge.eta = 2;                        /* step exactly 2/M: no contraction */
    edge.passes = 9;
    PVT_REL(mu_of(edge), 1, 1e-9);
}

static void every_gate_closes(void **state)
{
    (void)state;
    const pvi_hidden ok = problem(1, 0.1, 1, 10);
    pvi_hidden h;
    double mu;
#define CLOSED(change, want, text)                                                                                   \
    do {                                                                                                             \
        h = ok;                                                                                                      \
        change;                                                                                                      \
        PVT_IS(pvi_hidden_mu(ctx, &h, &mu), want);                                                                   \
        PVT_TRUE(isinf(mu) && strstr(pv_ctx_errmsg(ctx), text) != NULL);                                             \
    } while (0)
    CLOSED(h.eta = 2.1, PV_E_UNSUPPORTED, "longer than 2/M");
    CLOSED(h.last_iterate_only = false, PV_E_UNSUPPORTED, "last iterate");
    CLOSED(h.no_clipping = false, PV_E_UNSUPPORTED, "clipping");
    CLOSED(h.exact_projection = false, PV_E_UNSUPPORTED, "projection");
    CLOSED(h.fixed_order = false, PV_E_UNSUPPORTED, "fixed order");
    CLOSED(h.z = 0, PV_E_ARG, "constant");
    CLOSED(h.eta = NAN, PV_E_ARG, "constant");
    CLOSED(h.smooth = 0, PV_E_ARG, "constant");
    CLOSED(h.strong = -1, PV_E_ARG, "constant");
    CLOSED(h.strong = 2, PV_E_ARG, "constant");
    CLOSED(h.shift = 0, PV_E_ARG, "constant");
    CLOSED(h.diameter = 0, PV_E_ARG, "constant");
    CLOSED(h.batches = 0, PV_E_ARG, "constant");
    CLOSED(h.passes = 0, PV_E_ARG, "constant");
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(linear_case_is_exact), cmocka_unit_test(cyclic_lies_between),
                                      cmocka_unit_test(published_numbers), cmocka_unit_test(bounded_sets),
                                      cmocka_unit_test(every_gate_closes) };
    return cmocka_run_group_tests(all, setup, teardown);
}
