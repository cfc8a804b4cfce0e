/* test_sums.c - thousands of different releases: sums that are rounded to the wrong side once a term show in
 * the total.
 *
 * Each closed formula is computed again in interval arithmetic from the same doubles:
 *   gaussian        mu^2 = sum 1/z^2, then the curve of single.c
 *   zcdp, paper     rho + 2 sqrt(rho ln(1/delta)), rho = sum of 1/(2 z^2), min(e^2/2, e), min(e^2/8, e)
 *   tv              1 - prod (1 - d)
 *   compose         basic: sum e;  advanced: sum e tanh(e/2) + sqrt(2 sum e^2 L), L the smaller logarithm
 *   event.c         Gaussians from one sample: 1/z^2 = sum 1/z_i^2 */
#include <math.h>
#include <stdio.h>

#include "acct/acct.h"
#include "pvtest.h"
#include "single.h"

enum { N = 4000, PREC = 256 };
static pv_ctx *ctx;
static pv_arena *arena;

typedef double (*draw)(uint64_t *s);

static double noise(uint64_t *s)
{
    return 20.0 + 100.0 * pvt_uniform(s);
}

static double small(uint64_t *s)
{
    return 1e-6 + 1e-3 * pvt_uniform(s);
}

static double large(uint64_t *s)
{
    return 0.5 + pvt_uniform(s);
}

/* N different releases of one kind, each on a sample if rate is below 1; their parameters in a. */
static const pv_event *sampled(pv_ev_kind kind, draw d, double rate, double a[N])
{
    static const pv_event *part[N];
    uint64_t s = 5;
    for (int i = 0; i < N; i++) {
        part[i] = pv_ev_leaf(arena, kind, a[i] = d(&s), 0.0);
        if (rate < 1.0) part[i] = pv_ev_sampled(arena, PV_EV_POISSON, rate, part[i]);
    }
    return pv_ev_seq(arena, N, part);
}

static const pv_event *many(pv_ev_kind kind, draw d, double a[N])
{
    return sampled(kind, d, 1.0, a);
}

/* x <= claimed, and not much larger */
static void at_least(double claimed, const arb_t x, const char *what)
{
    const double truth = arf_get_d(arb_midref(x), ARF_RND_NEAR);
    arb_t c;
    arb_init(c);
    arb_set_d(c, claimed);
    PVT_CHECK(!arb_lt(c, x), "%s: claimed %.17g, the formula gives %.17g", what, claimed, truth);
    PVT_CHECK(claimed <= truth * (1 + 1e-10), "%s: claimed %.17g, the formula gives %.17g", what, claimed, truth);
    arb_clear(c);
}

static double cost(const char *accountant, const pv_event *ev, double delta, double *lower)
{
    pvi_cost c;
    PVT_CHECK(pvi_account(ctx, accountant, PV_REL_ZERO_OUT, ev, delta, &c) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    if (lower) *lower = c.epsilon_lower;
    return c.epsilon;
}

/* sum of f(a_i), f = 1/a^2 (square -2), a, a^2 */
static void sum_of(arb_t sum, const double *a, int n, int power)
{
    arb_t x;
    arb_init(x);
    arb_zero(sum);
    for (int i = 0; i < n; i++) {
        arb_set_d(x, a[i]);
        if (power == -2) arb_inv(x, x, PREC);
        if (power != 1) arb_mul(x, x, x, PREC);
        arb_add(sum, sum, x, PREC);
    }
    arb_clear(x);
}

static double end_of(const arb_t x, bool up)
{
    arf_t y;
    arf_init(y);
    if (up) arb_get_ubound_arf(y, x, 53);
    else arb_get_lbound_arf(y, x, 53);
    const double d = arf_get_d(y, up ? ARF_RND_CEIL : ARF_RND_FLOOR);
    arf_clear(y);
    return d;
}

static void gaussians(void **state)
{
    (void)state;
    static double z[N];
    const pv_event *ev = many(PV_EV_GAUSSIAN, noise, z);
    ck_release r = { .kind = CK_GAUSSIAN, .a = 1.0, .rate = 1.0, .times = 1.0 };
    arb_t mu, d, x;
    double lower;
    arb_init(mu), arb_init(d), arb_init(x);
    sum_of(mu, z, N, -2);
    arb_sqrt(mu, mu, PREC);
    const double eps = cost("gaussian", ev, 1e-9, &lower);
    arb_set_d(x, 1e-9);
    r.rows = end_of(mu, false);
    ck_delta(d, &r, eps);
    PVT_CHECK(!arb_gt(d, x), "at epsilon %.17g delta is above 1e-9", eps);
    r.rows = end_of(mu, true);
    ck_delta(d, &r, lower);
    PVT_CHECK(!arb_lt(d, x), "at the lower bound %.17g delta is below 1e-9", lower);
    PVT_REL(lower, eps, 1e-10);
    arb_clear(mu), arb_clear(d), arb_clear(x);
}

/* rho + 2 sqrt(rho ln(1/delta)) */
static void zcdp_formula(arb_t eps, const arb_t rho, double delta)
{
    arb_t L;
    arb_init(L);
    arb_set_d(L, delta);
    arb_log(L, L, PREC);
    arb_neg(L, L);
    arb_mul(L, L, rho, PREC);
    arb_sqrt(L, L, PREC);
    arb_mul_2exp_si(L, L, 1);
    arb_add(eps, rho, L, PREC);
    arb_clear(L);
}

static const struct concentrated {
    pv_ev_kind kind;
    draw d;
    int power, shift; /* rho = a^power 2^shift */
} kinds[] = {
    { PV_EV_GAUSSIAN, noise, -2, -1 },
    { PV_EV_LAPLACE, noise, -2, -1 },
    { PV_EV_SELECT, small, 2, -3 },
    { PV_EV_EPS_DELTA, small, 2, -1 },
};

static void concentrated(void **state)
{
    (void)state;
    static double a[N];
    arb_t rho;
    arb_init(rho);
    for (int i = 0; i < 4; i++) {
        const pv_event *ev = many(kinds[i].kind, kinds[i].d, a);
        sum_of(rho, a, N, kinds[i].power);
        arb_mul_2exp_si(rho, rho, kinds[i].shift);
        zcdp_formula(rho, rho, 1e-9);
        at_least(cost("zcdp:conversion=paper", ev, 1e-9, NULL), rho, pvi_event_name(kinds[i].kind));
    }
    arb_clear(rho);
}

/* A single release leaves no room for any operation to be rounded to the wrong side. */
static void one_concentrated(void **state)
{
    (void)state;
    uint64_t s = 7;
    arb_t rho;
    arb_init(rho);
    for (int i = 0; i < 400; i++) {
        const struct concentrated *k = &kinds[i % 4];
        const double a = k->d(&s), delta = 1e-3 * pvt_uniform(&s);
        sum_of(rho, &a, 1, k->power);
        arb_mul_2exp_si(rho, rho, k->shift);
        zcdp_formula(rho, rho, delta);
        at_least(cost("zcdp:conversion=paper", pv_ev_leaf(arena, k->kind, a, 0.0), delta, NULL), rho,
                 pvi_event_name(k->kind));
    }
    arb_clear(rho);
}

/* 1 - prod (1 - rate d) */
static void check_variation(double rate)
{
    static double a[N];
    const pv_event *ev = sampled(PV_EV_BALL, small, rate, a);
    static const char *const names[] = { "tv", "compose" };
    arb_t keep, x, q;
    double d;
    arb_init(keep), arb_init(x), arb_init(q);
    arb_one(keep);
    arb_set_d(q, rate);
    for (int i = 0; i < N; i++) {
        arb_set_d(x, a[i]);
        arb_mul(x, x, q, PREC);
        arb_sub_ui(x, x, 1, PREC);
        arb_neg(x, x);
        arb_mul(keep, keep, x, PREC);
    }
    arb_sub_ui(keep, keep, 1, PREC);
    arb_neg(keep, keep);
    for (int i = 0; i < 2; i++) {
        PVT_OK(pvi_account_delta(ctx, names[i], PV_REL_ZERO_OUT, ev, 1.0, &d, NULL));
        at_least(d, keep, names[i]);
    }
    arb_clear(keep), arb_clear(x), arb_clear(q);
}

static void variation(void **state)
{
    (void)state;
    check_variation(1.0);
    check_variation(0.3);
}

/* sum e tanh(e/2) + sqrt(2 sum e^2 L), L = min(ln(1/d), ln(e + sqrt(sum e^2)/d)) */
static void advanced_formula(arb_t eps, const double a[N], double d)
{
    arb_t V, U, x, y;
    arb_init(V), arb_init(U), arb_init(x), arb_init(y);
    sum_of(V, a, N, 2);
    for (int i = 0; i < N; i++) {
        arb_set_d(x, a[i]);
        arb_mul_2exp_si(y, x, -1);
        arb_tanh(y, y, PREC);
        arb_addmul(U, x, y, PREC);
    }
    arb_set_d(x, d);
    arb_sqrt(y, V, PREC);
    arb_div(y, y, x, PREC);
    arb_const_e(eps, PREC);
    arb_add(y, y, eps, PREC);
    arb_log(y, y, PREC);
    arb_log(x, x, PREC);
    arb_neg(x, x);
    arb_min(x, x, y, PREC);
    arb_mul(x, x, V, PREC);
    arb_mul_2exp_si(x, x, 1);
    arb_sqrt(x, x, PREC);
    arb_add(eps, x, U, PREC);
    arb_clear(V), arb_clear(U), arb_clear(x), arb_clear(y);
}

static void pure(void **state)
{
    (void)state;
    static double a[N];
    static const draw draws[] = { small, large };
    arb_t x;
    arb_init(x);
    for (int i = 0; i < 2; i++) {
        const pv_event *ev = many(PV_EV_EPS_DELTA, draws[i], a);
        sum_of(x, a, N, 1);
        at_least(cost("compose:method=basic", ev, 1e-9, NULL), x, "basic");
        at_least(cost("compose", ev, 0.0, NULL), x, "no delta");
        advanced_formula(x, a, 1e-3);
        at_least(cost("compose:method=advanced", ev, 1e-3, NULL), x, "advanced");
    }
    arb_clear(x);
}

static pv_status keep_term(void *user, const pvi_term *t)
{
    *(pvi_term *)user = *t;
    return PV_OK;
}

static void one_sample(void **state)
{
    (void)state;
    static double z[N];
    const pv_event *ev = pv_ev_sampled(arena, PV_EV_POISSON, 0.25, many(PV_EV_GAUSSIAN, noise, z));
    pvi_term t = { 0 };
    arb_t x, c;
    arb_init(x), arb_init(c);
    PVT_OK(pvi_event_each(ev, keep_term, &t));
    sum_of(x, z, N, -2);
    arb_rsqrt(x, x, PREC);
    arb_set_d(c, t.a);
    PVT_CHECK(!arb_gt(c, x), "a multiplier of %.17g, but together they are %.17g", t.a, end_of(x, false));
    PVT_REL(t.a, end_of(x, false), 1e-10);
    arb_clear(x), arb_clear(c);
}

/* One operation: on the right side, and by no more than an ulp. */
static void single_operations(void **state)
{
    (void)state;
    uint64_t s = 6;
    arb_t x, y, e;
    arb_init(x), arb_init(y), arb_init(e);
    for (int i = 0; i < 3000; i++) {
        const double a = exp(40.0 * pvt_uniform(&s) - 20.0), b = exp(40.0 * pvt_uniform(&s) - 20.0);
        const double got[] = { pvi_add_up(a, b), pvi_mul_up(a, b), pvi_div_up(a, b), pv_up(a, 1), pvi_down(a, 1) };
        arb_set_d(x, a), arb_set_d(y, b);
        for (int k = 0; k < 3; k++) {
            if (k == 0) arb_add(e, x, y, PREC);
            if (k == 1) arb_mul(e, x, y, PREC);
            if (k == 2) arb_div(e, x, y, PREC);
            PVT_CHECK(got[k] >= end_of(e, true) && got[k] <= nextafter(end_of(e, true), INFINITY),
                      "%d: %.17g and %.17g", k, a, b);
        }
        PVT_TRUE(got[3] > a && got[4] < a && nextafter(got[3], 0) == a && nextafter(got[4], INFINITY) == a);
    }
    arb_clear(x), arb_clear(y), arb_clear(e);
}

static int setup(void **state)
{
    (void)state;
    if (pv_ctx_create(NULL, &ctx) != PV_OK) return 1;
    return !(arena = pvi_arena_create(ctx));
}

static int teardown(void **state)
{
    (void)state;
    pvi_arena_free(arena);
    pv_ctx_free(ctx);
    return 0;
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(gaussians),         cmocka_unit_test(concentrated), cmocka_unit_test(one_concentrated),
        cmocka_unit_test(variation),         cmocka_unit_test(pure),         cmocka_unit_test(one_sample),
        cmocka_unit_test(single_operations),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
