/* test_pld_terms.c - the loss-distribution accountant's list: hundreds of different terms, of every kind. */
#include "acct/acct.h"
#include "acct/pld.h"
#include "pvtest.h"

extern const pv_accountant_ops pv_accountant_pld;
static const pv_accountant_ops *const ops = &pv_accountant_pld;
static pv_ctx *ctx;
static pv_arena *arena;
static void *st;
static double settings[1]; /* the precision */

static int setup(void **state)
{
    (void)state;
    if (pv_ctx_create(NULL, &ctx) != PV_OK) return 1;
    arena = pvi_arena_create(ctx);
    st = pvi_alloc(ctx, ops->head.state_size);
    pvi_param_defaults(ops->head.params, settings);
    ops->open(st, ctx);
    return !arena || !st;
}

static int teardown(void **state)
{
    (void)state;
    pvi_free(ctx, st);
    pvi_arena_free(arena);
    pv_ctx_free(ctx);
    return 0;
}

static pv_status add(pv_ev_kind kind, double a, double b, double rate, int64_t count)
{
    const pv_event *e = pv_ev_leaf(arena, kind, a, b);
    if (rate < 1) e = pv_ev_sampled(arena, PV_EV_POISSON, rate, e);
    return ops->compose(st, settings, PV_REL_ZERO_OUT, pv_ev_repeat(arena, count, e));
}

/* Bounds at delta, each of which must be on its side of the truth. */
static void enclosed(double delta, long double truth, double gap)
{
    double ub, lb;
    PVT_OK(ops->epsilon_ub(st, settings, delta, &ub));
    PVT_OK(ops->epsilon_lb(st, settings, delta, &lb));
    PVT_CHECK(ub >= truth && lb <= truth, "[%.17g, %.17g] does not contain %.17Lg", lb, ub, truth);
    PVT_CHECK(lb >= 0 && ub <= truth * (1 + gap) && lb >= truth * (1 - gap), "[%g, %g] is far from %Lg", lb, ub,
              truth);
}

/* Next to grid values: the logarithm cannot tell on which side of them a parameter lies, the bounds must. */
static void parameters_next_to_the_grid(void **state)
{
    (void)state;
    const double width = 0x1p-20;
    long double sum = 0;
    int above = 0, below = 0;
    for (int64_t k = 6000000; above + below < 600; k += 977) {
        const double x = exp((double)k * width), more = nextafter(x, INFINITY), less = nextafter(x, 0);
        if (above < 300 && ceil(log(more) / width) <= (double)k) { /* belongs to k + 1 */
            PVT_OK(add(PV_EV_EPS_DELTA, more, 0, 1, 1));
            sum += more;
            above++;
        }
        if (below < 300 && floor(log(less) / width) >= (double)k) { /* belongs to k - 1 */
            PVT_OK(add(PV_EV_LAPLACE, less, 0, 1, 1));
            sum += 1 / (long double)less;
            below++;
        }
    }
    enclosed(0, sum, 0.05);
}

/* delta = 0: what a step can cost at most is known exactly, and so is the sum. */
static void many_terms_of_every_pure_kind(void **state)
{
    (void)state;
    long double upper = 0, lower = 0;
    double ub, lb;
    for (int i = 0; i < 300; i++)
        for (int k = 0; k < 6; k++) {
            const pv_ev_kind kind = k % 3 == 0 ? PV_EV_LAPLACE : k % 3 == 1 ? PV_EV_SELECT : PV_EV_EPS_DELTA;
            const double a = 1.5 + 0.001 * i, rate = k < 3 ? 1.0 : 0.3 - 1e-4 * i;
            PVT_OK(add(kind, a, 0, rate, 1 + i % 3));
            const long double e0 = kind == PV_EV_LAPLACE ? 1 / (long double)a : a;
            const long double e1 = kind == PV_EV_SELECT ? 0.5L * e0 : e0; /* two candidates: half of the range */
            upper += (1 + i % 3) * log1pl(rate * expm1l(e0));
            lower += (1 + i % 3) * log1pl(rate * expm1l(e1));
        }
    PVT_OK(ops->epsilon_ub(st, settings, 0, &ub));
    PVT_OK(ops->epsilon_lb(st, settings, 0, &lb));
    PVT_CHECK(ub >= upper && ub <= 1.05L * upper, "%g, want %Lg", ub, upper);
    PVT_CHECK(lb <= lower && lb >= 0.95L * lower, "%g, want %Lg", lb, lower);
}

/* Total variation composes to 1 - prod(1 - d), whatever epsilon is. */
static void many_balls(void **state)
{
    (void)state;
    long double none = 1;
    double d, ub;
    for (int i = 0; i < 300; i++) {
        const double a = 1e-6 * (1 + 0.01 * i), rate = i % 2 ? 1 : 0.5;
        PVT_OK(add(PV_EV_BALL, a, 0, rate, 2));
        none *= powl(1 - rate * (long double)a, 2);
    }
    PVT_OK(ops->delta_ub(st, settings, 0.1, &d));
    PVT_CHECK(d >= 1 - none && d <= (1 - none) * 1.05L, "%g, want %Lg", d, 1 - none);
    PVT_OK(ops->epsilon_ub(st, settings, 1.05 * (double)(1 - none), &ub));
    PVT_TRUE(ub == 0);
    PVT_OK(ops->epsilon_ub(st, settings, 0.95 * (double)(1 - none), &ub));
    PVT_TRUE(ub == INFINITY);
    PVT_OK(add(PV_EV_BALL, 1.0, 0, 1, 1)); /* the grid has no value above 1 */
    PVT_OK(ops->delta_ub(st, settings, 0.1, &d));
    PVT_TRUE(d == 1);
}

/* All kinds at once.  Every parameter lies in a narrow range, so the few terms of its two ends enclose the truth. */
static void all_kinds_at_once(void **state)
{
    (void)state;
    static const pv_ev_kind kinds[] = { PV_EV_GAUSSIAN, PV_EV_LAPLACE, PV_EV_SELECT, PV_EV_BALL, PV_EV_EPS_DELTA };
    static const double a[] = { 30, 40, 0.01, 1e-9, 0.02 };
    pvi_pld_term ends[2][10];
    double ub, lb, x[2], y[2];
    for (int i = 0; i < 100; i++)
        for (int k = 0; k < 10; k++) {
            const double f = 1 + 1e-5 * i, b = k % 5 == 4 ? 1e-9 * f : 0;
            PVT_OK(add(kinds[k % 5], a[k % 5] * f, b, k < 5 ? 1 : 0.2, 1));
            for (int end = 0; end < 2; end++) {
                const bool noise = k % 5 < 2;
                const double g = (end == 0) == noise ? 1 : 1.001;
                ends[end][k] = (pvi_pld_term) { kinds[k % 5],    a[k % 5] * g, k % 5 == 4 ? 1e-9 * g : 0,
                                                k < 5 ? 1 : 0.2, 0x1p-44,      100 };
            }
        }
    PVT_OK(ops->epsilon_ub(st, settings, 1e-6, &ub));
    PVT_OK(ops->epsilon_lb(st, settings, 1e-6, &lb));
    for (int end = 0; end < 2; end++)
        PVT_OK(pvi_pld_epsilon(ctx, ends[end], 10, 1e-6, PVI_PLD_TOLERANCE, &(double) { 0 }, &x[end], &y[end]));
    const double most = fmax(x[0], x[1]), least = fmin(y[0], y[1]);
    PVT_CHECK(ub >= least && lb <= most && lb <= ub, "[%g, %g] and [%g, %g]", lb, ub, least, most);
    PVT_CHECK(ub <= 1.1 * most, "%g is far above %g", ub, most);
}

/* Parameters over many magnitudes: bounds within the square of the grid's ratio, or a refusal, never a wrong one. */
static void parameters_of_every_size(void **state)
{
    (void)state;
    long double sum = 0;
    double ub, lb;
    for (int i = 0; i < 300; i++) {
        const double x = pow(10, -0.05 * i);
        PVT_OK(i % 2 ? add(PV_EV_EPS_DELTA, x, 0, 1, 1) : add(PV_EV_LAPLACE, 1 / x, 0, 1, 1));
        sum += i % 2 ? x : 1 / (long double)(1 / x);
    }
    PVT_OK(ops->epsilon_ub(st, settings, 0, &ub));
    PVT_OK(ops->epsilon_lb(st, settings, 0, &lb));
    PVT_CHECK(ub >= sum && ub <= 7.4L * sum, "%g, truth %Lg", ub, sum);
    PVT_CHECK(lb <= sum && lb >= sum / 7.5L, "%g, truth %Lg", lb, sum);
}

static void too_many_sizes_are_refused(void **state)
{
    (void)state;
    const pv_event *part[289];
    pvi_cost c;
    double before, after;
    PVT_OK(add(PV_EV_LAPLACE, 1, 0, 1, 1));
    PVT_OK(ops->epsilon_ub(st, settings, 1e-3, &before));
    for (int i = 0; i < 289; i++) /* 17 scales and 17 rates, each e^2 apart */
        part[i] = pv_ev_sampled(arena, PV_EV_POISSON, exp(-2.0 * (1 + i / 17)),
                                pv_ev_leaf(arena, PV_EV_LAPLACE, exp(2.0 * (i % 17)), 0));
    const pv_event *all = pv_ev_seq(arena, 289, part);
    PVT_IS(ops->supports(NULL, PV_REL_ZERO_OUT, all), PV_E_UNSUPPORTED);
    PVT_IS(ops->compose(st, settings, PV_REL_ZERO_OUT, all), PV_E_UNSUPPORTED);
    PVT_OK(ops->epsilon_ub(st, settings, 1e-3, &after));
    PVT_TRUE(before == after);
    PVT_IS(pvi_account(ctx, "pld", PV_REL_ZERO_OUT, all, 1e-6, &c), PV_E_UNSUPPORTED);
    PVT_OK(pvi_account(ctx, "best", PV_REL_ZERO_OUT, all, 1e-6, &c)); /* another one steps in, and is named */
    PVT_TRUE(strcmp(c.accountant, "pld") != 0 && c.epsilon > 0.1);
}

/* Counts stay exact: beyond 2^53 in all there is no answer, and no endless search for a grid either. */
static void too_many_releases_are_refused(void **state)
{
    (void)state;
    const pv_event *part[300];
    double lb;
    const int64_t half = (int64_t)1 << 52;
    PVT_OK(add(PV_EV_EPS_DELTA, 1e-9, 0, 1, half));
    PVT_OK(add(PV_EV_EPS_DELTA, 1e-9, 0, 1, half));
    PVT_IS(add(PV_EV_EPS_DELTA, 1e-9, 0, 1, 1), PV_E_UNSUPPORTED);
    enclosed(0, 0x1p53L * 1e-9, 1e-9);
    PVT_OK(add(PV_EV_GAUSSIAN, 1e9, 0, 1, half)); /* one term, whatever the number */
    PVT_OK(ops->epsilon_lb(st, settings, 1e-6, &lb));
    for (int i = 0; i < 300; i++)
        part[i] = pv_ev_repeat(
            arena, half,
            pv_ev_sampled(arena, PV_EV_POISSON, 0.1, pv_ev_leaf(arena, PV_EV_GAUSSIAN, 1 + 1e-9 * i, 0)));
    PVT_IS(ops->supports(NULL, PV_REL_ZERO_OUT, pv_ev_seq(arena, 300, part)), PV_E_UNSUPPORTED);
}

static void events_without_cost(void **state)
{
    (void)state;
    double ub;
    PVT_OK(add(PV_EV_EPS_DELTA, 0, 0, 1, 5));
    PVT_OK(add(PV_EV_BALL, 0, 0, 0.1, 5));
    PVT_OK(ops->epsilon_ub(st, settings, 0, &ub));
    PVT_TRUE(ub == 0);
    PVT_OK(add(PV_EV_EPS_DELTA, 0, 1e-6, 1, 5));
    PVT_OK(ops->epsilon_ub(st, settings, 0, &ub));
    PVT_TRUE(ub == INFINITY);
    PVT_OK(ops->epsilon_ub(st, settings, 5.001e-6, &ub));
    PVT_TRUE(ub == 0);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(parameters_next_to_the_grid, setup, teardown),
        cmocka_unit_test_setup_teardown(many_terms_of_every_pure_kind, setup, teardown),
        cmocka_unit_test_setup_teardown(many_balls, setup, teardown),
        cmocka_unit_test_setup_teardown(all_kinds_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(parameters_of_every_size, setup, teardown),
        cmocka_unit_test_setup_teardown(too_many_sizes_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(too_many_releases_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(events_without_cost, setup, teardown),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
