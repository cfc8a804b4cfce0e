/* test_accountants.c - what every registered accountant must keep, whoever wrote it. */
#include "acct/acct.h"
#include "arenatest.h"
#include "../reference/sampled_vectors.h"

static const pv_accountant_ops *nth(int64_t i)
{
    return (const pv_accountant_ops *)pv_nth(PV_KIND_accountant, i);
}

typedef struct bench {
    const pv_accountant_ops *ops;
    void *cfg, *st;
} bench;

static bench open_bench(const pv_accountant_ops *ops)
{
    bench b = { ops, pvi_alloc(ctx, ops->head.cfg_size), pvi_alloc(ctx, ops->head.state_size) };
    pvi_param_defaults(ops->head.params, b.cfg);
    if (ops->open) ops->open(b.st, ctx);
    return b;
}

static void close_bench(bench *b)
{
    if (b->ops->close) b->ops->close(b->st);
    pvi_free(ctx, b->st);
    pvi_free(ctx, b->cfg);
}

static const pv_event *leaf(pv_ev_kind kind, double a, double b)
{
    return pv_ev_leaf(arena, kind, a, b);
}

static const pv_event *steps(double z, double q, int64_t T)
{
    const pv_event *g = leaf(PV_EV_GAUSSIAN, z, 0);
    return pv_ev_repeat(arena, T, q < 1 ? pv_ev_sampled(arena, PV_EV_POISSON, q, g) : g);
}

/* epsilon of ev by one accountant, or -1 when it does not support it */
static double epsilon(const pv_accountant_ops *ops, const pv_event *ev, double delta)
{
    pvi_cost c;
    if (ops->supports(NULL, PV_REL_ZERO_OUT, ev) != PV_OK) return -1;
    const pv_status s = pvi_account(ctx, ops->head.name, PV_REL_ZERO_OUT, ev, delta, &c);
    PVT_CHECK(s == PV_OK, "%s: %s", ops->head.name, pv_ctx_errmsg(ctx));
    PVT_CHECK(c.epsilon >= 0 && c.epsilon_lower <= c.epsilon, "%s: [%g, %g]", ops->head.name, c.epsilon_lower,
              c.epsilon);
    return c.epsilon;
}

static void head_is_complete(void **state)
{
    (void)state;
    int64_t i = 0;
    for (; nth(i); i++) {
        const pv_accountant_ops *a = nth(i);
        PVT_TRUE(a->head.name && a->head.summary && a->head.reference && a->head.params);
        PVT_TRUE(a->supports && a->compose && a->epsilon_ub && a->delta_ub);
        PVT_TRUE(pv_find(PV_KIND_accountant, a->head.name) == &a->head);
    }
    PVT_TRUE(i >= 5);
}

static void refuses_and_leaves_no_trace(void **state)
{
    (void)state;
    const pv_event *g = leaf(PV_EV_GAUSSIAN, 1, 0), *lap = leaf(PV_EV_LAPLACE, 1, 0);
    const pv_event *ball = leaf(PV_EV_BALL, 0.1, 0);
    const pv_event *bad[] = { leaf((pv_ev_kind)777, 1, 0),
                              leaf(PV_EV_NONPRIVATE, 0, 0),
                              leaf(PV_EV_GAUSSIAN, NAN, 0),
                              leaf(PV_EV_GAUSSIAN, -1, 0),
                              leaf(PV_EV_BALL, 2, 0),
                              leaf(PV_EV_LAPLACE, INFINITY, 0),
                              pv_ev_sampled(arena, PV_EV_POISSON, 0, g) };
    for (int64_t i = 0; nth(i); i++)
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            bench b = open_bench(nth(i));
            const pv_event *good[] = { g, lap, ball, leaf(PV_EV_NONE, 0, 0) };
            /* something it supports first, then the bad part: nothing of the sequence may stick */
            for (int j = 0; j < 4; j++) {
                const pv_event *parts[] = { good[j], bad[k] };
                const pv_event *both = pv_ev_seq(arena, 2, parts);
                PVT_TRUE(b.ops->supports(b.cfg, PV_REL_ZERO_OUT, both) != PV_OK);
                PVT_TRUE(b.ops->compose(b.st, b.cfg, PV_REL_ZERO_OUT, both) != PV_OK);
            }
            PVT_TRUE(b.ops->supports(b.cfg, PV_REL_REPLACE, bad[k]) != PV_OK);
            double eps = NAN, delta = NAN;
            PVT_OK(b.ops->epsilon_ub(b.st, b.cfg, 1e-6, &eps));
            PVT_OK(b.ops->delta_ub(b.st, b.cfg, 0.1, &delta));
            PVT_CHECK(eps == 0 && delta == 0, "%s: %g, %g", b.ops->head.name, eps, delta);
            close_bench(&b);
        }
    for (int64_t i = 0; nth(i); i++) PVT_IS(nth(i)->supports(NULL, PV_REL_ZERO_OUT, bad[0]), PV_E_UNSUPPORTED);
}

static void nothing_costs_nothing(void **state)
{
    (void)state;
    const pv_event *none[] = { leaf(PV_EV_NONE, 0, 0), pv_ev_seq(arena, 0, NULL),
                               pv_ev_repeat(arena, 0, leaf(PV_EV_GAUSSIAN, 1, 0)),
                               pv_ev_repeat(arena, 1000000000, leaf(PV_EV_NONE, 0, 0)) };
    for (int64_t i = 0; nth(i); i++)
        for (int k = 0; k < 4; k++) PVT_NEAR(epsilon(nth(i), none[k], 1e-9), 0, 0);
}

static void bad_questions(void **state)
{
    (void)state;
    for (int64_t i = 0; nth(i); i++) {
        bench b = open_bench(nth(i));
        double x = 7;
        static const double deltas[] = { -1, 1, 2, NAN };
        for (int k = 0; k < 4; k++) PVT_IS(b.ops->epsilon_ub(b.st, b.cfg, deltas[k], &x), PV_E_ARG);
        PVT_IS(b.ops->delta_ub(b.st, b.cfg, -1, &x), PV_E_ARG);
        PVT_IS(b.ops->delta_ub(b.st, b.cfg, NAN, &x), PV_E_ARG);
        for (int k = 0; k < 4 && b.ops->epsilon_lb; k++)
            PVT_IS(b.ops->epsilon_lb(b.st, b.cfg, deltas[k], &x), PV_E_ARG);
        close_bench(&b);
    }
}

/* The property that may never fail: not below the exact curve of the Gaussian. */
static double Q(double x)
{
    return 0.5 * erfc(x / sqrt(2.0));
}

static double exact_delta(double mu, double eps)
{
    const double tail = Q(eps / mu + mu / 2);
    return Q(eps / mu - mu / 2) - (tail > 0 ? exp(eps + log(tail)) : 0.0);
}

static void never_below_the_gaussian(void **state)
{
    (void)state;
    static const double z[] = { 0.05, 0.5, 1, 2, 8, 50, 1e4 }, delta[] = { 1e-3, 1e-6, 1e-10 };
    static const int64_t T[] = { 1, 10, 1000, 1000000 };
    for (int64_t i = 0; nth(i); i++)
        for (int a = 0; a < 7; a++)
            for (int b = 0; b < 4; b++)
                for (int c = 0; c < 3; c++) {
                    const double eps = epsilon(nth(i), steps(z[a], 1, T[b]), delta[c]),
                                 mu = sqrt((double)T[b]) / z[a];
                    if (eps < 0 || mu > 50 || isinf(eps)) continue;
                    PVT_CHECK(exact_delta(mu, eps) <= delta[c] * (1 + 1e-9), "%s z=%g T=%ld delta=%g: %g too small",
                              nth(i)->head.name, z[a], (long)T[b], delta[c], eps);
                }
}

/* Never below recorded certified values for sampled Gaussians. */
static void never_below_the_sampled_gaussian(void **state)
{
    (void)state;
    for (int64_t i = 0; nth(i); i++)
        for (size_t k = 0; k < sizeof sampled_vectors / sizeof *sampled_vectors; k++) {
            const double *v = sampled_vectors[k];
            const double eps = epsilon(nth(i), steps(v[0], v[1], (int64_t)v[2]), v[3]);
            if (eps < 0) continue;
            PVT_CHECK(eps >= v[5] * (1 - 1e-9), "%s z=%g q=%g T=%g delta=%g: %.10g below %.10g", nth(i)->head.name,
                      v[0], v[1], v[2], v[3], eps, v[5]);
        }
}

/* One Laplace of scale 1/e loses at most e; delta(x) = 1 - exp((x - e)/2) for x < e.  One (e, d) event and
 * one selection are attained by randomised response: delta(x) = d + (1-d) (e^e - e^x)/(1 + e^e).           */
static void never_below_pure_releases(void **state)
{
    (void)state;
    static const double e[] = { 0.01, 0.5, 3, 20 }, share[] = { 0.1, 0.5, 0.9 };
    for (int64_t i = 0; nth(i); i++)
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 3; b++) {
                const double x = share[b] * e[a], lap = 1 - exp((x - e[a]) / 2),
                             rr = (exp(e[a]) - exp(x)) / (1 + exp(e[a]));
                const double got = epsilon(nth(i), leaf(PV_EV_LAPLACE, 1 / e[a], 0), lap);
                PVT_CHECK(got < 0 || got >= x * (1 - 1e-9), "%s laplace %g: %.10g below %.10g", nth(i)->head.name,
                          e[a], got, x);
                const double both = epsilon(nth(i), leaf(PV_EV_EPS_DELTA, e[a], 0), rr);
                PVT_CHECK(both < 0 || both >= x * (1 - 1e-9), "%s pure %g: %.10g below %.10g", nth(i)->head.name,
                          e[a], both, x);
                const double loose = epsilon(nth(i), leaf(PV_EV_EPS_DELTA, e[a], 0.01), 0.01 + 0.99 * rr);
                PVT_CHECK(loose < 0 || loose >= x * (1 - 1e-9), "%s pair %g: %.10g below %.10g", nth(i)->head.name,
                          e[a], loose, x);
            }
}

/* One selection of bounded range e: the log-ratio is t or t - e, and the worst t = (x + e)/2 gives
 * delta(x) = (1 - exp((x - e)/2))^2/(1 - exp(-e)).  Many small ones tend to a Gaussian of mu = e sqrt(k)/2. */
static void never_below_selections(void **state)
{
    (void)state;
    static const double e[] = { 0.05, 0.5, 3, 12 }, share[] = { 0.05, 0.3, 0.8 };
    int supported = 0;
    for (int64_t i = 0; nth(i); i++) {
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 3; b++) {
                const double x = share[b] * e[a], root = -expm1((x - e[a]) / 2), delta = root * root / -expm1(-e[a]);
                const double got = epsilon(nth(i), leaf(PV_EV_SELECT, e[a], 0), delta);
                PVT_CHECK(got < 0 || got >= x * (1 - 1e-9), "%s select %g: %.10g below %.10g", nth(i)->head.name,
                          e[a], got, x);
            }
        const double many = epsilon(nth(i), pv_ev_repeat(arena, 400, leaf(PV_EV_SELECT, 0.1, 0)), 1e-5);
        supported += many >= 0;
        PVT_CHECK(many < 0 || many > 0.95 * pvi_gdp_epsilon_lb(1.0, 1e-5), "%s: %g", nth(i)->head.name, many);
    }
    PVT_TRUE(supported >= 3);
}

static void monotone(void **state)
{
    (void)state;
    static const double q[] = { 1e-4, 0.01, 0.3, 1 };
    const double slack = 1 - 1e-3; /* grids and searches may wobble, trends may not */
    for (int64_t i = 0; nth(i); i++)
        for (int a = 0; a < 4; a++) {
            const pv_accountant_ops *A = nth(i);
            if (epsilon(A, steps(2, q[a], 100), 1e-6) < 0) continue;
            for (double z = 0.6; z < 40; z *= 1.5)
                PVT_TRUE(epsilon(A, steps(z, q[a], 100), 1e-6) >=
                         slack * epsilon(A, steps(1.5 * z, q[a], 100), 1e-6));
            for (int64_t T = 1; T < 100000; T *= 4)
                PVT_TRUE(epsilon(A, steps(2, q[a], 4 * T), 1e-6) >= slack * epsilon(A, steps(2, q[a], T), 1e-6));
            for (double d = 1e-3; d > 1e-14; d /= 10)
                PVT_TRUE(epsilon(A, steps(2, q[a], 100), d / 10) >= slack * epsilon(A, steps(2, q[a], 100), d));
            if (a < 3)
                PVT_TRUE(epsilon(A, steps(2, q[a + 1], 100), 1e-6) >= slack * epsilon(A, steps(2, q[a], 100), 1e-6));
        }
}

/* epsilon(delta) and delta(epsilon) describe the same curve, and asking changes nothing. */
static void both_questions_agree(void **state)
{
    (void)state;
    const pv_event *tests[] = { steps(1, 1, 1), steps(2, 0.01, 1000), leaf(PV_EV_LAPLACE, 2, 0),
                                leaf(PV_EV_SELECT, 0.7, 0),
                                pv_ev_repeat(arena, 20, leaf(PV_EV_EPS_DELTA, 0.2, 1e-9)) };
    for (int64_t i = 0; nth(i); i++)
        for (int k = 0; k < 5; k++) {
            bench b = open_bench(nth(i));
            if (b.ops->compose(b.st, b.cfg, PV_REL_ZERO_OUT, tests[k]) == PV_OK) {
                double eps, again, delta;
                PVT_OK(b.ops->epsilon_ub(b.st, b.cfg, 1e-5, &eps));
                /* two certified bounds of one curve: as far apart as an accountant's own gap, 1 % of epsilon */
                PVT_OK(b.ops->delta_ub(b.st, b.cfg, eps * 1.01, &delta));
                PVT_CHECK(delta <= 1e-5 * (1 + 1e-3), "%s test %d: delta(%g) = %g", b.ops->head.name, k, eps, delta);
                PVT_OK(b.ops->epsilon_ub(b.st, b.cfg, 1e-5, &again));
                PVT_TRUE(eps == again);
                PVT_OK(b.ops->delta_ub(b.st, b.cfg, INFINITY, &delta));
                PVT_CHECK(delta >= 0 && delta < 1e-6, "%s test %d: delta(inf) = %g", b.ops->head.name, k, delta);
            }
            close_bench(&b);
        }
}

static void composing_twice_is_composing_once(void **state)
{
    (void)state;
    const pv_event *tests[] = { steps(3, 1, 10), steps(3, 0.05, 200), leaf(PV_EV_LAPLACE, 3, 0),
                                leaf(PV_EV_BALL, 1e-7, 0), leaf(PV_EV_SELECT, 0.3, 0) };
    for (int64_t i = 0; nth(i); i++)
        for (int k = 0; k < 5; k++) {
            bench b = open_bench(nth(i));
            if (b.ops->compose(b.st, b.cfg, PV_REL_ZERO_OUT, tests[k]) == PV_OK) {
                double eps;
                PVT_OK(b.ops->compose(b.st, b.cfg, PV_REL_ZERO_OUT, tests[k]));
                PVT_OK(b.ops->epsilon_ub(b.st, b.cfg, 1e-5, &eps));
                const double once = epsilon(b.ops, pv_ev_repeat(arena, 2, tests[k]), 1e-5);
                PVT_CHECK(eps == once || fabs(eps - once) < 1e-2 * once, "%s test %d: %.10g, %.10g", b.ops->head.name,
                          k, eps, once);
            }
            close_bench(&b);
        }
}

static void calibrated_never_exceeds(void **state)
{
    (void)state;
    static const double target[] = { 0.05, 1, 10 };
    const pv_event *tests[] = { steps(1, 1, 30), steps(1, 0.02, 500),
                                pv_ev_repeat(arena, 10, leaf(PV_EV_SELECT, 1, 0)) };
    for (int64_t i = 0; nth(i); i++)
        for (int k = 0; k < 3; k++)
            for (int t = 0; t < 3; t++) {
                pvi_cost c, again;
                double s;
                const char *name = nth(i)->head.name;
                if (nth(i)->supports(NULL, PV_REL_ZERO_OUT, tests[k]) != PV_OK) continue;
                PVT_CHECK(pvi_calibrate(ctx, name, PV_REL_ZERO_OUT, tests[k], target[t], 1e-6, &s, &c) == PV_OK,
                          "%s: %s", name, pv_ctx_errmsg(ctx));
                PVT_TRUE(c.epsilon <= target[t]);
                PVT_OK(pvi_account(ctx, name, PV_REL_ZERO_OUT, pvi_event_scale(arena, tests[k], s), 1e-6, &again));
                PVT_TRUE(again.epsilon == c.epsilon);
                PVT_OK(pvi_account(ctx, name, PV_REL_ZERO_OUT, pvi_event_scale(arena, tests[k], s * (1 - 3e-6)), 1e-6,
                                   &again));
                PVT_CHECK(again.epsilon >= target[t] * (1 - 1e-4), "%s: %g%% of the target is left", name,
                          100 * (1 - again.epsilon / target[t]));
            }
}

static void extremes(void **state)
{
    (void)state;
    static const double z[] = { 0.05, 1, 30, 1e4 }, q[] = { 1e-7, 0.004, 0.999, 1 }, delta[] = { 1e-3, 1e-10, 1e-30 };
    static const int64_t T[] = { 1, 10000, 1000000000 };
    for (int64_t i = 0; nth(i); i++)
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                for (int c = 0; c < 3; c++)
                    for (int d = 0; d < 3; d++) {
                        const double eps = epsilon(nth(i), steps(z[a], q[b], T[c]), delta[d]);
                        PVT_CHECK(eps == -1 || eps >= 0, "%s z=%g q=%g T=%ld delta=%g: %g", nth(i)->head.name, z[a],
                                  q[b], (long)T[c], delta[d], eps);
                    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(head_is_complete),
        cmocka_unit_test(refuses_and_leaves_no_trace),
        cmocka_unit_test(nothing_costs_nothing),
        cmocka_unit_test(bad_questions),
        cmocka_unit_test(never_below_the_gaussian),
        cmocka_unit_test(never_below_the_sampled_gaussian),
        cmocka_unit_test(never_below_pure_releases),
        cmocka_unit_test(never_below_selections),
        cmocka_unit_test(monotone),
        cmocka_unit_test(both_questions_agree),
        cmocka_unit_test(composing_twice_is_composing_once),
        cmocka_unit_test(calibrated_never_exceeds),
        cmocka_unit_test(extremes),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
