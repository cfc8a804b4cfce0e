/* test_checker.c - the checker against itself: formulas of single.c against intervals of convolve.c, which share
 * nothing, and against what can be counted by hand. */
#include <math.h>
#include <stdio.h>

#include "convolve.h"
#include "pvtest.h"

static ck_release release(ck_kind kind, double a, double b, double rate)
{
    return (ck_release) { kind, a, b, rate < 1 ? CK_POISSON : CK_WHOLE, rate, 1.0, 1.0, false };
}

/* delta(eps) lies in [lo, hi] */
static void inside(const arb_t d, const ck_truth *t, const char *what)
{
    arb_t lo, hi;
    arb_init(lo), arb_init(hi);
    arb_set_d(lo, t->delta_lo);
    arb_set_d(hi, t->delta_hi);
    PVT_CHECK(!arb_gt(lo, d) && !arb_lt(hi, d), "%s at %g: %g is not in [%g, %g]", what, t->eps,
              arf_get_d(arb_midref(d), ARF_RND_NEAR), t->delta_lo, t->delta_hi);
    PVT_CHECK(t->eps_lo <= t->eps_hi && t->eps_hi <= 1.1 * t->eps_lo, "%s: epsilon in [%g, %g]", what, t->eps_lo,
              t->eps_hi);
    arb_clear(lo), arb_clear(hi);
}

static void one_release(void **state)
{
    (void)state;
    const ck_release r[] = {
        release(CK_GAUSSIAN, 1.0, 0, 1.0),       release(CK_GAUSSIAN, 0.5, 0, 0.01),
        release(CK_GAUSSIAN, 0.02, 0, 0.5),      release(CK_LAPLACE, 0.5, 0, 1.0),
        release(CK_LAPLACE, 0.5, 0, 0.1),        release(CK_EPS_DELTA, 2.0, 1e-9, 1.0),
        release(CK_EPS_DELTA, 2.0, 1e-9, 0.125), release(CK_SELECT, 2.0, 0, 1.0),
        release(CK_SELECT, 2.0, 0, 0.25),
    };
    for (size_t i = 0; i < sizeof r / sizeof *r; i++) {
        const ck_step s = { r[i], 1 };
        ck_truth t;
        double lo, hi;
        arb_t d;
        ck_truth_of(&s, 1, 1e-6, 1024, &t);
        ck_epsilon(&r[i], 1e-6, &lo, &hi);
        if (r[i].kind == CK_SELECT) { /* one law of two losses is not the worst at every eps */
            PVT_CHECK(t.eps_lo <= hi && lo <= t.eps_hi, "selection: %g is not in [%g, %g]", hi, t.eps_lo, t.eps_hi);
            continue;
        }
        arb_init(d);
        ck_delta(d, &r[i], t.eps);
        inside(d, &t, "one release");
        PVT_CHECK(t.eps_lo <= hi && lo <= t.eps_hi, "%g is not in [%g, %g]", hi, t.eps_lo, t.eps_hi);
        arb_clear(d);
    }
}

/* n Gaussians are one, with mu sqrt(n) */
static void many_gaussians(void **state)
{
    (void)state;
    const ck_step s[] = { { release(CK_GAUSSIAN, 8.0, 0, 1.0), 37 }, { release(CK_GAUSSIAN, 4.0, 0, 1.0), 11 } };
    ck_release all = release(CK_GAUSSIAN, 8.0, 0, 1.0);
    ck_truth t;
    arb_t d;
    all.times = 37 + 4 * 11;
    arb_init(d);
    ck_truth_of(s, 2, 1e-20, 1024, &t);
    ck_delta(d, &all, t.eps);
    inside(d, &t, "Gaussians");
    arb_clear(d);
}

/* n times randomised response: the loss is (2k - n) e0 with k binomial */
static void many_responses(void **state)
{
    (void)state;
    enum { N = 12 };
    const double e0 = 0.375;
    const ck_step s = { release(CK_EPS_DELTA, e0, 0.0, 1.0), N };
    ck_truth t;
    double sum = 0, ways = 1;
    ck_truth_of(&s, 1, 1e-4, 512, &t);
    for (int k = N; k >= 0; ways = ways * k / (N - k + 1), k--) /* ways: N choose k */
        sum += ways * fmax(0.0, exp(k * e0) - exp(t.eps + (N - k) * e0)) / pow(1.0 + exp(e0), N);
    PVT_CHECK(t.delta_lo <= sum * (1 + 1e-12) && sum <= t.delta_hi * (1 + 1e-12), "%g is not in [%g, %g]", sum,
              t.delta_lo, t.delta_hi);
    PVT_REL(t.delta_hi, t.delta_lo, 1e-6); /* all losses are lattice points */
}

/* A concrete pair of neighbours under replace costs no more than the group bound says. */
static void group_bound_is_one(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        const double eps = i < 30 ? 1e-3 : 0.1 * i;
        ck_release r = release(CK_GAUSSIAN, exp2(i % 6 - 3), 0, exp2(-1 - i % 7));
        arb_t d, a;
        r.replace = true;
        arb_init(d), arb_init(a);
        ck_delta(d, &r, eps);
        ck_attack(a, &r, eps);
        PVT_TRUE(!arb_gt(a, d));
        r.replace = false;
        ck_delta(d, &r, eps); /* and no less than leaving the row out */
        PVT_TRUE(!arb_lt(a, d));
        arb_clear(d), arb_clear(a);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(one_release),
        cmocka_unit_test(many_gaussians),
        cmocka_unit_test(many_responses),
        cmocka_unit_test(group_bound_is_one),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
