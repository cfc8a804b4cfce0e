/* test_pld_vectors.c - certified brackets against dp_accounting and against direct integration.
 *
 * pld_vectors.h: our upper bound is at or above the reference interval's lower end (which the truth is not
 * below) and at most half a percent above its upper end; our lower bound is not above the upper end.
 * pld_exact.h: one and two steps integrated in 25 digits. */
#include "acct/pld.h"
#include "ctxtest.h"
#include "pld_exact.h"
#include "pld_vectors.h"

#define COUNT(x) (sizeof(x) / sizeof *(x))

static pvi_pld_term term(pv_ev_kind kind, double a, double rate, double steps)
{
    return (pvi_pld_term) { kind, a, 0, rate, 0x1p-44, (int64_t)steps };
}

static void brackets_agree_with_reference(void **state)
{
    (void)state;
    double worst = 0, excess = 0;
    for (size_t i = 0; i < COUNT(pld_vectors); i++) {
        const double *v = pld_vectors[i], delta = v[3], lo = v[4], hi = v[5];
        const pvi_pld_term t = term(PV_EV_GAUSSIAN, v[0], v[1], v[2]);
        double ub, lb;
        PVT_OK(pvi_pld_epsilon(ctx, &t, 1, delta, PVI_PLD_TOLERANCE, &(double) { 0 }, &ub, &lb));
        PVT_CHECK(ub >= lo * (1 - 1e-9), "%g %g %g %g: %.12g is below %.12g", v[0], v[1], v[2], delta, ub, lo);
        PVT_CHECK(ub <= hi * 1.005, "%g %g %g %g: %.12g is loose, %.12g", v[0], v[1], v[2], delta, ub, hi);
        PVT_CHECK(lb <= hi * (1 + 1e-9), "%g %g %g %g: lower %.12g, %.12g", v[0], v[1], v[2], delta, lb, hi);
        PVT_CHECK(ub - lb <= 0.01 * ub, "%g %g %g %g: [%.12g, %.12g]", v[0], v[1], v[2], delta, lb, ub);
        if (ub > 0) worst = fmax(worst, (ub - lb) / ub);
        if (hi > 0) excess = fmax(excess, ub / hi - 1);
    }
    print_message("%zu vectors: largest gap %.3g %%, largest excess over the reference %.3g %%\n", COUNT(pld_vectors),
                  100 * worst, 100 * excess);
}

/* delta_ub at eps, and epsilon at the exact delta, which must bracket eps; closely unless delta is far out in a tail
 * made of one large loss, where rounding is the limit. */
static void check_exact(const pvi_pld_term *t, double eps, double delta)
{
    double d, ub, lb;
    PVT_OK(pvi_pld_delta(ctx, t, 1, eps, PVI_PLD_TOLERANCE, &(double) { 0 }, &d));
    PVT_CHECK(d >= delta * (1 - 1e-10), "%d %g %g x%d: delta(%g) = %.12g is below %.12g", t->kind, t->a, t->rate,
              (int)t->count, eps, d, delta);
    if (delta > 1e-12)
        PVT_CHECK(d <= delta * 1.2, "%d %g %g x%d: delta(%g) = %.12g is loose, %.12g", t->kind, t->a, t->rate,
                  (int)t->count, eps, d, delta);
    PVT_OK(pvi_pld_epsilon(ctx, t, 1, delta, PVI_PLD_TOLERANCE, &(double) { 0 }, &ub, &lb));
    PVT_CHECK(lb <= eps * (1 + 1e-12) && ub >= eps * (1 - 1e-12), "%d %g %g x%d: [%.17g, %.17g] misses %.17g",
              t->kind, t->a, t->rate, (int)t->count, lb, ub, eps);
    if (delta > 1e-12)
        PVT_CHECK(ub - lb <= 0.01 * ub + 1e-3 / t->a, "%d %g %g x%d: [%.17g, %.17g]", t->kind, t->a, t->rate,
                  (int)t->count, lb, ub);
}

static void one_and_two_gaussians(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(gaussian_exact); i++) {
        const double *v = gaussian_exact[i];
        const pvi_pld_term t = term(PV_EV_GAUSSIAN, v[0], v[1], v[2]);
        check_exact(&t, v[3], v[4]);
    }
}

static void one_and_two_laplace(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(laplace_exact); i++) {
        const double *v = laplace_exact[i];
        const pvi_pld_term t = term(PV_EV_LAPLACE, v[0], 1.0, v[1]);
        check_exact(&t, v[2], v[3]);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(brackets_agree_with_reference),
        cmocka_unit_test(one_and_two_gaussians),
        cmocka_unit_test(one_and_two_laplace),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
