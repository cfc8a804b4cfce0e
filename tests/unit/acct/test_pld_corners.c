/* test_pld_corners.c - what the loss-distribution accountant does where numbers end: masses that underflow, lattices
 * that are too fine, losses that overflow, more steps than rounding allows. */
#include "acct/acct.h"
#include "acct/pld.h"
#include "arenatest.h"

static pvi_pld_term term(pv_ev_kind kind, double a, double b, double rate, int64_t count)
{
    return (pvi_pld_term) { kind, a, b, rate, 0x1p-44, count };
}

/* ---- cells to masses below them ------------------------------------------------------------------------- */

/* sum over cells of (P - t Q)_+ with Q = (P - E) e^{-kh}: what balancing must stay below. */
static long double cells_at(int64_t n, const int64_t *k, const double *P, const double *E, double h, long double t)
{
    long double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += fmaxl(P[i] - t * (P[i] - E[i]) * expl(-(long double)k[i] * h), 0);
    return sum;
}

#define TINY 4.9406564584124654e-324 /* rounding is not relative there */

static void check_balance(int64_t n, const int64_t *k, const double *P, const double *E, double h)
{
    int64_t own_k[8];
    double own_p[8];
    memcpy(own_k, k, (size_t)n * sizeof *k);
    memcpy(own_p, P, (size_t)n * sizeof *P);
    pvi_pld_mass m = { .len = n, .count = 1, .k = own_k, .p = own_p };
    PVT_OK(pvi_pld_balance(arena, h, E, &m));
    for (int i = -40; i <= 40; i++) {
        const long double t = expl(0.1L * i * h);
        long double got = 0;
        for (int64_t j = 0; j < m.len; j++) got += m.p[j] * fmaxl(1 - t * expl(-(long double)m.k[j] * h), 0);
        const long double want = cells_at(n, k, P, E, h, t);
        PVT_CHECK(got <= want * (1 + 1e-15L) + 2 * TINY && got >= 0, "at %Lg: %Lg is above %Lg", logl(t), got, want);
    }
}

static void masses_that_underflow(void **state)
{
    (void)state;
    /* two cells lean on the last, which has one unit to give */
    check_balance(3, (int64_t[]) { 0, 1, 2 }, (double[]) { 0.1, 0.1, TINY }, (double[]) { -0.01, -0.01, 0 }, 0.5);
    /* one that has given all it had cannot move up */
    check_balance(3, (int64_t[]) { -1, 0, 1 }, (double[]) { 0.1, TINY, 0.1 }, (double[]) { -0.01, TINY, -0.001 },
                  0.5);
    check_balance(2, (int64_t[]) { 0, 1 }, (double[]) { TINY, TINY }, (double[]) { -TINY, TINY }, 0.7);
}

/* Nothing of Q: the loss is larger than any neighbour's, and the mass stays where it is. */
static void cells_without_q(void **state)
{
    (void)state;
    check_balance(1, (int64_t[]) { 0 }, (double[]) { 0.5 }, (double[]) { 0.5 }, 0.5);
    check_balance(3, (int64_t[]) { -2, 0, 2 }, (double[]) { 1e-9, 0.5, 0.1 }, (double[]) { 0, 0.5, -0.01 }, 0.5);
}

/* ---- lattices ---------------------------------------------------------------------------------------------- */

static pv_status build(double z, double q, pvi_pld_grid g)
{
    const pvi_pld_term t = term(PV_EV_GAUSSIAN, z, 0, q, 1);
    pvi_pld_mass m;
    return pvi_pld_mass_build(arena, &t, &g, 1000, &m);
}

static void lattices_that_are_too_fine(void **state)
{
    (void)state;
    pvi_pld_grid g = { .h = 1e-17, .c = 0.1, .cap = INFINITY, .tail = 1e-12 };
    PVT_IS(build(1, 1, g), PV_E_NUMERIC);    /* both ends beyond 2^52 points */
    PVT_IS(build(1, 1e-4, g), PV_E_NUMERIC); /* only the upper one: sampled losses are bounded below */
    const pvi_pld_term rr = term(PV_EV_EPS_DELTA, 1, 0, 1, 1);
    pvi_pld_mass m;
    PVT_IS(pvi_pld_mass_build(arena, &rr, &g, 1000, &m), PV_E_NUMERIC);
    g.h = 1e-9;
    g.cap = 1e-9;
    PVT_IS(build(1, 1, g), PV_E_NUMERIC); /* more cells than there is room for */
    g.low = true;
    g.h = g.cap = 1e-19; /* the cell at the bounded end has no width in doubles */
    PVT_IS(build(1, 0.5, g), PV_E_NUMERIC);
    g.add = true;
    PVT_IS(build(1, 0.5, g), PV_E_NUMERIC);
}

/* ---- one step ------------------------------------------------------------------------------------------------ */

/* (P - e^eps Q)_+ of all masses when eps is below every loss; and at infinity, where only infinite losses count. */
static void curves_beyond_all_losses(void **state)
{
    (void)state;
    int64_t k[] = { 1, 2 };
    double p[] = { 0.25, 0.5 }, work = 0;
    pvi_pld_law *law;
    pvi_pld_mass m = { .len = 2, .count = 1, .k = k, .p = p, .inf = 0.125 };
    for (m.count = 1; m.count < 3; m.count++) {
        PVT_OK(pvi_pld_compose(arena, &m, 1, 0.5, 1.0, 64, 1.0, &work, &law));
        const double inf = m.count == 1 ? 0.125 : 1 - 0.875 * 0.875;
        PVT_REL(pvi_pld_delta_ub(law, INFINITY), inf, 1e-13);
        PVT_TRUE(pvi_pld_delta_ub(law, INFINITY) >= inf && pvi_pld_delta_lb(law, INFINITY, 0) <= inf);
        if (m.count > 1) continue;
        const double want = 0.125 + 0.25 * -expm1(-1.5) + 0.5 * -expm1(-2);
        PVT_REL(pvi_pld_delta_ub(law, -1), want, 1e-12);
        PVT_TRUE(pvi_pld_delta_ub(law, -1) >= want && pvi_pld_delta_lb(law, -1, 0) <= want);
    }
}

/* ---- answers --------------------------------------------------------------------------------------------------- */

static void losses_that_overflow(void **state)
{
    (void)state;
    const pvi_pld_term t = term(PV_EV_GAUSSIAN, 1e-200, 0, 1, 1);
    double ub, lb, d;
    PVT_IS(pvi_pld_epsilon(ctx, &t, 1, 1e-5, PVI_PLD_TOLERANCE, &(double) { 0 }, &ub, &lb), PV_E_NUMERIC);
    PVT_IS(pvi_pld_delta(ctx, &t, 1, 1.0, PVI_PLD_TOLERANCE, &(double) { 0 }, &d), PV_E_NUMERIC);
}

/* delta a few units in the last place above the probability of an infinite loss: what is left for the Gaussian needs
 * epsilon above 4; never 0. */
static void delta_just_above_infinite_losses(void **state)
{
    (void)state;
    const pvi_pld_term t[] = { term(PV_EV_BALL, 1e-6, 0, 1, 1), term(PV_EV_GAUSSIAN, 2, 0, 1, 1) };
    double delta = 1e-6 * (1 - 100 * 0x1p-53);
    for (int i = 0; i < 400; i++, delta = nextafter(delta, 1)) {
        double ub, lb;
        PVT_OK(pvi_pld_epsilon(ctx, t, 2, delta, PVI_PLD_TOLERANCE, &(double) { 0 }, &ub, &lb));
        PVT_CHECK(ub >= 4 && lb <= ub, "delta 1e-6 %+g: [%g, %g]", delta - 1e-6, lb, ub);
        if (delta > 1e-6 * (1 + 1e-15)) i += 3, delta += 1e-6 * 3 * 0x1p-52;
    }
}

/* Everything is infinite, or nothing is left at all. */
static void certain_and_impossible(void **state)
{
    (void)state;
    const pvi_pld_term all = term(PV_EV_BALL, 1, 0, 1, 1), rr = term(PV_EV_EPS_DELTA, 1, 0, 1, 10);
    double d, ub, lb;
    PVT_OK(pvi_pld_delta(ctx, &all, 1, 3, PVI_PLD_TOLERANCE, &(double) { 0 }, &d));
    PVT_TRUE(d == 1);
    PVT_OK(pvi_pld_epsilon(ctx, &all, 1, 0.999, PVI_PLD_TOLERANCE, &(double) { 0 }, &ub, &lb));
    PVT_TRUE(ub == INFINITY);
    PVT_OK(pvi_pld_delta(ctx, &rr, 1, 1e5, PVI_PLD_TOLERANCE, &(double) { 0 }, &d)); /* 10 is the largest loss */
    PVT_TRUE(d >= 0 && d < 1e-100);
    const pvi_pld_term g = term(PV_EV_GAUSSIAN, 1, 0, 1, 1);
    PVT_OK(pvi_pld_delta(ctx, &g, 1, 1e4, PVI_PLD_TOLERANCE, &(double) { 0 }, &d)); /* e^-5e7 */
    PVT_TRUE(d > 0 && d < 1e-100);
}

/* Many terms share the room for cells: too little of it for a tiny delta, and Markov's bound is what is left. */
static void little_room(void **state)
{
    (void)state;
    static pvi_pld_term t[257];
    double mu2 = 1, ub, lb;
    t[0] = term(PV_EV_GAUSSIAN, 1, 0, 1, 1);
    for (int i = 1; i < 257; i++) t[i] = term(PV_EV_GAUSSIAN, 1e4 + i, 0, 1, 1), mu2 += 1 / (t[i].a * t[i].a);
    PVT_OK(pvi_pld_epsilon(ctx, t, 257, 1e-250, PVI_PLD_TOLERANCE, &(double) { 0 }, &ub, &lb));
    const double want = pvi_gdp_epsilon_ub(sqrt(mu2), 1e-250);
    PVT_CHECK(ub >= want * (1 - 1e-9) && ub <= 1.1 * want && lb <= want, "[%g, %g], truth %g", lb, ub, want);
}

/* As many steps as there can be: rounding leaves little, what is left is a bound.  Truth: at rate 1, with all but the
 * last place of z known. */
static void more_steps_than_rounding_allows(void **state)
{
    (void)state;
    static const double counts[] = { 1e12, 1e14, 1e15, 0x1p53 }, zs[] = { 1, 1e3, 1e6, 1e9 };
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int r = 0; r < 3; r++) {
                static const double rates[] = { 1e-6, 0.5, 1 - 0x1p-53 };
                const pvi_pld_term t = term(PV_EV_GAUSSIAN, zs[j], 0, rates[r], (int64_t)counts[i]);
                double ub, lb;
                PVT_OK(pvi_pld_epsilon(ctx, &t, 1, 1e-6, PVI_PLD_TOLERANCE, &(double) { 0 }, &ub, &lb));
                PVT_CHECK(lb >= 0 && lb <= ub, "%g x %g: [%g, %g]", zs[j], counts[i], lb, ub);
                if (r < 2) continue;
                const double mu = sqrt(counts[i]) / zs[j];
                PVT_CHECK(ub >= pvi_gdp_epsilon_lb(mu, 1e-6) * (1 - 1e-9) &&
                              lb <= pvi_gdp_epsilon_ub(mu, 1e-6) * (1 + 1e-9),
                          "%g x %g: [%g, %g], truth %g", zs[j], counts[i], lb, ub, pvi_gdp_epsilon_ub(mu, 1e-6));
            }
}

/* Releases so loud that e^loss leaves the range of a double cost what they cost, or too much: never nothing. */
static void releases_that_hide_nothing(void **state)
{
    (void)state;
    static const double e0[] = { 5e3, 1e4, 2e4, 1e6, 1e12, 1e200 };
    for (int i = 0; i < 6; i++)
        for (int steps = 1; steps <= 100; steps += 99) {
            const pvi_pld_term t[] = { term(PV_EV_SELECT, e0[i], 0, 1, steps),
                                       term(PV_EV_LAPLACE, 1 / e0[i], 0, 1, steps) };
            for (int k = 0; k < 2; k++) {
                double ub = 0, lb = 0, delta = 0;
                const pv_status s =
                    pvi_pld_epsilon(ctx, &t[k], 1, 1e-6, PVI_PLD_TOLERANCE, &(double) { 0 }, &ub, &lb);
                PVT_CHECK(s != PV_OK || ub >= 0.4 * e0[i], "epsilon %g for a loss of %g", ub, e0[i]);
                if (pvi_pld_delta(ctx, &t[k], 1, 0.1 * e0[i], PVI_PLD_TOLERANCE, &(double) { 0 }, &delta) == PV_OK)
                    PVT_CHECK(delta > 0.3, "delta %g for a loss of %g", delta, e0[i]);
            }
        }
    const pv_event *loud = pv_ev_leaf(arena, PV_EV_SELECT, 2e4, 0);
    pvi_cost c;
    PVT_OK(pvi_account(ctx, "best", PV_REL_ZERO_OUT, loud, 1e-6, &c));
    PVT_TRUE(c.epsilon >= 1e4 && c.epsilon >= c.epsilon_lower);
}

/* Markov's bound on delta is above 1 here, from which a window of negative tilt and an endless sum were made. */
static void more_steps_than_delta_can_hold(void **state)
{
    (void)state;
    const pvi_pld_term t = term(PV_EV_GAUSSIAN, 0.11414072780771711, 0, 0.003990824394456683, 1000000);
    double work = 0, d;
    PVT_OK(pvi_pld_delta(ctx, &t, 1, 0.5, PVI_PLD_TOLERANCE, &work, &d));
    PVT_CHECK(d > 0.99 && d <= 1 && work >= 0 && work < 2 * PVI_PLD_WORK, "delta %g, work %g", d, work);
}

/* ---- losses beyond the range of exp ---------------------------------------------------------------------- */

/* delta(eps) of one Poisson-sampled Gaussian, remove: q (P(l > L) - G Q(l > L)), e^L = G = 1 + (e^eps - 1)/q, in
 * long double, whose exponents reach e^11356. */
static long double sampled_delta(long double z, long double q, long double eps)
{
    const long double G = 1 + expm1l(eps) / q, L = log1pl(expm1l(eps) / q), half = 0.5L / z, root = sqrtl(0.5L);
    return q * 0.5L * (erfcl((z * L - half) * root) - G * erfcl((z * L + half) * root));
}

/* The same, add: q e^eps (G Q(l < L) - P(l < L)), e^L = G = 1 + (e^-eps - 1)/q. */
static long double added_delta(long double z, long double q, long double eps)
{
    const long double G = 1 + expm1l(-eps) / q, half = 0.5L / z, root = sqrtl(0.5L);
    if (!(G > 0)) return 0;
    const long double L = log1pl(expm1l(-eps) / q);
    return q * expl(eps) * 0.5L * (G * erfcl(-(z * L + half) * root) - erfcl(-(z * L - half) * root));
}

/* So much noise that losses, and the lattice even more, are as small as rounding: bounds may be loose, not wrong. */
static void losses_as_small_as_rounding(void **state)
{
    (void)state;
    static const double rates[] = { 0.3, 0.98724966675940751, 0.999999999999999 };
    for (int i = 0; i < 3; i++)
        for (double z = 1e9; z < 2e13; z *= 10) { /* from there on long double is too coarse itself */
            const double q = rates[i], delta = 1e-7 / z;
            const pvi_pld_term t = term(PV_EV_GAUSSIAN, z, 0, q, 1);
            double ub, lb;
            PVT_OK(pvi_pld_epsilon(ctx, &t, 1, delta, PVI_PLD_TOLERANCE, &(double) { 0 }, &ub, &lb));
            const long double high = fmaxl(sampled_delta(z, q, ub), added_delta(z, q, ub));
            const long double low = fmaxl(sampled_delta(z, q, lb), added_delta(z, q, lb));
            PVT_CHECK(high <= delta * (1 + 1e-5), "z %g q %g: %g is too small", z, q, ub);
            PVT_CHECK(low >= delta * (1 - 1e-5), "z %g q %g: %g is too large", z, q, lb);
        }
}

static void losses_beyond_the_range_of_exp(void **state)
{
    (void)state;
    static const double cases[][3] = {
        /* z, q, delta */
        { 0.02, 0.5, 1e-5 },
        { 0.0290, 0.5, 1e-5 },
        { 0.025, 0.01, 1e-9 },
        { 0.012, 0.9, 1e-50 },
        { 0.03, 1e-6, 1e-8 },
        { 0.09874, 0.0005248, 1.826e-180 },
        { 0.06881, 5.068e-07, 6.757e-133 },
        { 0.06319, 1.836e-05, 2.68e-118 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double z = cases[i][0], q = cases[i][1], delta = cases[i][2];
        const pvi_pld_term t = term(PV_EV_GAUSSIAN, z, 0, q, 1);
        double ub, lb, d;
        PVT_OK(pvi_pld_epsilon(ctx, &t, 1, delta, PVI_PLD_TOLERANCE, &(double) { 0 }, &ub, &lb));
        PVT_CHECK(sampled_delta(z, q, ub) <= delta, "z %g q %g: %g is too small", z, q, ub);
        PVT_CHECK(sampled_delta(z, q, lb) >= delta * (1 - 1e-9), "z %g q %g: %g is too large", z, q, lb);
        PVT_CHECK(ub <= 1.002 * lb, "z %g q %g: %g and %g are far apart", z, q, lb, ub);
        PVT_OK(pvi_pld_delta(ctx, &t, 1, lb, PVI_PLD_TOLERANCE, &(double) { 0 }, &d));
        PVT_CHECK(d >= sampled_delta(z, q, lb), "z %g q %g: delta %g at %g", z, q, d, lb);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(more_steps_than_delta_can_hold),
        cmocka_unit_test(losses_beyond_the_range_of_exp),
        cmocka_unit_test(losses_as_small_as_rounding),
        cmocka_unit_test(masses_that_underflow),
        cmocka_unit_test(cells_without_q),
        cmocka_unit_test(lattices_that_are_too_fine),
        cmocka_unit_test(curves_beyond_all_losses),
        cmocka_unit_test(losses_that_overflow),
        cmocka_unit_test(delta_just_above_infinite_losses),
        cmocka_unit_test(certain_and_impossible),
        cmocka_unit_test(more_steps_than_rounding_allows),
        cmocka_unit_test(little_room),
        cmocka_unit_test(releases_that_hide_nothing),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
