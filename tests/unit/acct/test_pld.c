/* test_pld.c - the privacy-loss-distribution accountant, from its parts to the plug-in. */
#include "arenatest.h"
#include "acct/acct.h"
#include "acct/pld.h"
#include "alloctest.h"

static pvi_pld_term term(pv_ev_kind kind, double a, double b, double rate, int64_t count)
{
    return (pvi_pld_term) { kind, a, b, rate, 0x1p-44, count };
}

/* ---- truth, in long double, from closed forms --------------------------------------------------------- */

static long double normal_tail(long double x)
{
    return 0.5L * erfcl(x * 0.707106781186547524400844362104849L);
}

/* P0(l > t) and Q0(l > t) of the unsampled pair; atoms at t itself do not matter for H. */
static void base_tails(const pvi_pld_term *e, long double t, long double *P, long double *Q)
{
    const long double a = e->a;
    if (e->kind == PV_EV_GAUSSIAN) {
        *P = normal_tail(a * t - 0.5L / a);
        *Q = normal_tail(a * t + 0.5L / a);
    } else if (e->kind == PV_EV_LAPLACE) { /* mass of x < (1 - a t)/2 under Laplace(0, a) and Laplace(1, a) */
        const long double e0 = 1 / a;
        if (t < -e0) *P = *Q = 1;
        else if (t >= e0) *P = *Q = 0;
        else *P = 1 - 0.5L * expl((t - e0) / 2), *Q = 0.5L * expl(-(t + e0) / 2);
    } else if (e->kind == PV_EV_SELECT) {
        if (t < -a) *P = *Q = 1;
        else if (t >= a) *P = *Q = 0;
        else {
            const long double s = expl(a / 2) - expl(-a / 2);
            *P = (expl(a / 2) - expl(t / 2)) / s;
            *Q = (expl(-t / 2) - expl(-a / 2)) / s;
        }
    } else { /* randomised response, without infinite losses */
        *P = t < -a ? 1 : t < a ? 1 / (1 + expl(-a)) : 0;
        *Q = t < -a ? 1 : t < a ? 1 / (1 + expl(a)) : 0;
    }
}

/* H_g(P||Q) of one sampled step. */
static long double curve(const pvi_pld_term *e, bool add, long double g)
{
    const long double q = e->rate, u = add ? 1 / g : g, w = (u - (1 - q)) / q; /* e^l > w: remove-loss > ln u */
    long double P = 1, Q = 1;
    if (w > 0) base_tails(e, logl(w), &P, &Q);
    const long double mix = (1 - q) * Q + q * P;
    return add ? (1 - Q) - g * (1 - mix) : mix - g * Q;
}

static long double curve_of(const pvi_pld_mass *m, double h, long double g)
{
    long double sum = m->inf;
    for (int64_t i = 0; i < m->len; i++) {
        const long double x = 1 - g * expl(-(m->offset + (long double)m->k[i] * h));
        if (x > 0) sum += m->p[i] * x;
    }
    return sum;
}

/* ---- masses ----------------------------------------------------------------------------------------------- */

static void check_masses(const pvi_pld_term *e, pvi_pld_grid g)
{
    pvi_pld_mass up, low;
    pvi_pld_pair x;
    double lo, hi;
    pvi_pld_pair_init(&x, e, g.add, false, g.h);
    pvi_pld_pair_range(&x, 1e-9, &lo, &hi);
    PVT_OK(pvi_pld_mass_build(arena, e, &g, 1 << 20, &up));
    g.low = true;
    PVT_OK(pvi_pld_mass_build(arena, e, &g, 1 << 20, &low));
    for (int64_t i = 1; i < up.len; i++) PVT_TRUE(up.k[i] >= up.k[i - 1]);
    for (int64_t i = 1; i < low.len; i++) PVT_TRUE(low.k[i] >= low.k[i - 1]);
    for (int i = -2; i <= 402; i++) {
        const long double t = lo + (hi - lo) * (i / 400.0L), H = curve(e, g.add, expl(t));
        const long double above = curve_of(&up, g.h, expl(t)), below = curve_of(&low, g.h, expl(t));
        const long double slip = 1e-17L * (1 + expl(t)); /* of this test's own arithmetic */
        PVT_CHECK(above >= H - slip, "kind %d a %g q %g add %d h %g c %g: at %Lg %Lg < %Lg", e->kind, e->a, e->rate,
                  g.add, g.h, g.c, t, above, H);
        PVT_CHECK(below <= H + slip, "kind %d a %g q %g add %d h %g c %g: at %Lg %Lg > %Lg", e->kind, e->a, e->rate,
                  g.add, g.h, g.c, t, below, H);
    }
}

/* The heart of the certificate: on random events and grids the curves enclose the true one. */
static void masses_enclose_the_curve(void **state)
{
    (void)state;
    static const pv_ev_kind kinds[] = { PV_EV_GAUSSIAN, PV_EV_LAPLACE, PV_EV_SELECT, PV_EV_EPS_DELTA };
    uint64_t s = 7;
    for (int i = 0; i < 400; i++) {
        const pv_ev_kind kind = i % 2 ? PV_EV_GAUSSIAN : kinds[pvt_u64(&s) % 4];
        const double rate = pvt_uniform(&s) < 0.3 ? 1.0 : exp(-12.0 * pvt_uniform(&s));
        const double a = kind == PV_EV_GAUSSIAN ? exp(log(0.1) + log(1e4) * pvt_uniform(&s))
                                                : exp(log(0.1) + log(100.0) * pvt_uniform(&s));
        const pvi_pld_term e = term(kind, a, 0, rate, 1);
        pvi_pld_pair x;
        double lo, hi;
        pvi_pld_grid g = { .c = exp(-5.0 * pvt_uniform(&s)) * 0.2, .tail = 1e-12, .cap = INFINITY };
        g.add = rate < 1 && pvt_uniform(&s) < 0.5;
        pvi_pld_pair_init(&x, &e, g.add, false, 1.0);
        pvi_pld_pair_range(&x, 1e-12, &lo, &hi);
        g.h = fmax(-lo, hi) * exp(-9.0 * pvt_uniform(&s)) * 0.5;
        if (pvt_uniform(&s) < 0.3) g.cap = 10 * g.h / g.c;
        check_masses(&e, g);
    }
}

/* A coarse lattice must stay correct when the whole law lies within one step of it. */
static void coarse_lattice(void **state)
{
    (void)state;
    const double h[] = { 0.01, 0.3, 5.0, 200.0 };
    for (int i = 0; i < 4; i++)
        for (int add = 0; add < 2; add++) {
            const pvi_pld_term e = term(PV_EV_GAUSSIAN, 0.7, 0, 1e-5, 1);
            check_masses(&e, (pvi_pld_grid) { .h = h[i], .c = 0.1, .cap = 1.0, .tail = 1e-20, .add = add });
        }
}

/* ---- composition -------------------------------------------------------------------------------------------- */

/* delta(eps) of n-fold composition by convolving naively. */
static long double brute(const pvi_pld_mass *m, int64_t terms, double h, double eps)
{
    enum { SIZE = 20001, ZERO = 10000 };
    static long double x[SIZE], y[SIZE];
    long double A = 0, finite = 1, sum = 0;
    memset(x, 0, sizeof x);
    x[ZERO] = 1;
    for (int64_t e = 0; e < terms; e++)
        for (int64_t n = 0; n < m[e].count; n++) {
            memset(y, 0, sizeof y);
            for (int64_t i = 0; i < m[e].len; i++)
                for (int64_t k = 0; k < SIZE; k++)
                    if (x[k] > 0) y[k + m[e].k[i]] += x[k] * m[e].p[i];
            memcpy(x, y, sizeof x);
            A += m[e].offset;
            finite *= 1 - m[e].inf;
        }
    for (int64_t k = 0; k < SIZE; k++) {
        const long double L = A + (k - ZERO) * (long double)h;
        if (L > eps) sum += x[k] * (1 - expl(eps - L));
    }
    return sum + (1 - finite);
}

static void check_composition(pvi_pld_mass *m, int64_t terms, double h, double theta, int64_t N, double scale)
{
    pvi_pld_law *law;
    double work = 0;
    PVT_OK(pvi_pld_compose(arena, m, terms, h, theta, N, scale, &work, &law));
    PVT_TRUE(work > 0);
    for (double eps = 0; eps < 3.0; eps += 0.237) {
        const long double want = brute(m, terms, h, eps);
        const double t = theta + 4.0, y = (double)N * h, ub = pvi_pld_delta_ub(law, eps);
        const double lb = pvi_pld_delta_lb(law, eps, pvi_pld_excess(m, terms, h, theta, y, t, eps));
        PVT_CHECK(ub >= want, "eps %g: %.17g is below %.17Lg", eps, ub, want);
        PVT_CHECK(lb <= want, "eps %g: %.17g is above %.17Lg", eps, lb, want);
        if (want > 1e-12)
            PVT_CHECK(ub <= want * 1.001L && lb >= want * 0.999L, "eps %g: [%g, %g] %Lg", eps, lb, ub, want);
    }
}

static void composition_is_enclosed(void **state)
{
    (void)state;
    int64_t k1[] = { -3, -1, 0, 1, 2, 5 }, k2[] = { -7, 7, 8 };
    double p1[] = { 0.05, 0.2, 0.5, 0.15, 0.05, 0.04 }, p2[] = { 0.4, 0.5, 0.1 };
    pvi_pld_mass m[2] = { { .len = 6, .count = 3, .k = k1, .p = p1, .offset = -0.003, .inf = 0.01 },
                          { .len = 3, .count = 2, .k = k2, .p = p2, .offset = 0.0, .inf = 0.0 } };
    check_composition(m, 2, 0.1, 2.0, 256, 1e-3);
    check_composition(m, 2, 0.1, 7.0, 128, 0.0);
    m[0].count = 200; /* many steps: few frequencies, summed directly */
    check_composition(m, 2, 0.01, 3.0, 4096, 1e-3);
    check_composition(m, 2, 0.01, 3.0, 4096, INFINITY);
    m[0].count = 0x7fffffffffff;
    k1[0] = -300000, k1[1] = -100000;
    pvi_pld_law *law;
    double work = 0;
    PVT_IS(pvi_pld_compose(arena, m, 2, 1e-9, 1.0, 256, 1.0, &work, &law), PV_E_NUMERIC);
    m[0].count = 1;
    work = PVI_PLD_WORK;
    PVT_IS(pvi_pld_compose(arena, m, 2, 0.1, 1.0, 256, 1.0, &work, &law), PV_E_NUMERIC);
}

/* Frequencies left out are accounted for even when the estimate of what is needed was far off. */
static void left_out_frequencies_are_bounded(void **state)
{
    (void)state;
    int64_t k[] = { -1, 0, 1 };
    double p[] = { 0.3, 0.5, 0.2 };
    pvi_pld_mass m = { .len = 3, .count = 40, .k = k, .p = p };
    pvi_pld_law *law;
    double work = 0;
    PVT_OK(pvi_pld_compose(arena, &m, 1, 0.05, 2.0, 1024, 1.0, &work, &law));
    for (double eps = 0; eps < 1; eps += 0.11) {
        const long double want = brute(&m, 1, 0.05, eps);
        PVT_TRUE(pvi_pld_delta_ub(law, eps) >= want);
        PVT_TRUE(pvi_pld_delta_lb(law, eps, pvi_pld_excess(&m, 1, 0.05, 2.0, 51.2, 6.0, eps)) <= want);
    }
    /* beyond every lattice point, and where the index overflows */
    PVT_TRUE(pvi_pld_delta_ub(law, 1e300) == 1.0);
    PVT_TRUE(pvi_pld_delta_lb(law, 1e300, 0) == 0.0);
}

/* ---- epsilon against closed forms --------------------------------------------------------------------------- */

static void bracket(const pvi_pld_term *t, int64_t n, double delta, double *ub, double *lb)
{
    PVT_OK(pvi_pld_epsilon(ctx, t, n, delta, PVI_PLD_TOLERANCE, &(double) { 0 }, ub, lb));
    PVT_CHECK(*lb <= *ub && *lb >= 0, "[%g, %g]", *lb, *ub);
}

static void gaussians_of_different_noise(void **state)
{
    (void)state;
    const double deltas[] = { 1e-3, 1e-6, 1e-12, 1e-30 };
    for (int i = 0; i < 4; i++) {
        const pvi_pld_term t[] = { term(PV_EV_GAUSSIAN, 3, 0, 1, 7), term(PV_EV_GAUSSIAN, 11, 0, 1, 300),
                                   term(PV_EV_GAUSSIAN, 0.9, 0, 1, 1) };
        const double mu = sqrt(7 / 9.0 + 300 / 121.0 + 1 / 0.81);
        double ub, lb;
        bracket(t, 3, deltas[i], &ub, &lb);
        PVT_TRUE(ub >= pvi_gdp_epsilon_lb(mu, deltas[i]) && lb <= pvi_gdp_epsilon_ub(mu, deltas[i]));
        PVT_CHECK(ub - lb <= 0.003 * ub, "delta %g: [%g, %g]", deltas[i], lb, ub);
    }
}

/* Optimal composition of k (e0, d0) events: Kairouz, Oh, Viswanath 2015, Thm 3.3. */
static long double kov(double e0, double d0, int k, long double eps)
{
    long double sum = 0, none = powl(1 - (long double)d0, k);
    for (int i = 0; i <= k; i++) {
        const long double x = (k - 2 * i) * (long double)e0;
        if (x <= eps) continue;
        const long double c =
            lgammal(k + 1) - lgammal(i + 1) - lgammal(k - i + 1) - k * log1pl(expl(-(long double)e0));
        sum += expl(c - i * (long double)e0) * (1 - expl(eps - x));
    }
    return 1 - none + none * sum;
}

static void check_kov(double e0, double d0, int k, double delta)
{
    const pvi_pld_term t = term(PV_EV_EPS_DELTA, e0, d0, 1, k);
    double ub, lb, d;
    bracket(&t, 1, delta, &ub, &lb);
    PVT_CHECK(kov(e0, d0, k, ub) <= delta * (1 + 1e-9L), "e0 %g d0 %g k %d delta %g: %g is too small", e0, d0, k,
              delta, ub);
    if (lb > 0)
        PVT_CHECK(kov(e0, d0, k, lb) >= delta * (1 - 1e-9L), "e0 %g d0 %g k %d delta %g: %g is too large", e0, d0, k,
                  delta, lb);
    PVT_CHECK(ub - lb <= 2e-3 * ub + 2e-4 * e0, "e0 %g d0 %g k %d delta %g: [%.12g, %.12g]", e0, d0, k, delta, lb,
              ub);
    PVT_OK(pvi_pld_delta(ctx, &t, 1, 0.5 * ub, PVI_PLD_TOLERANCE, &(double) { 0 }, &d));
    const long double want = kov(e0, d0, k, 0.5L * ub);
    PVT_CHECK(d >= want * (1 - 1e-12L) && d <= want * 1.1L, "delta(%g) = %g, want %Lg", 0.5 * ub, d, want);
}

static void randomized_response_is_a_binomial_sum(void **state)
{
    (void)state;
    check_kov(1.0, 0, 1, 1e-5);
    check_kov(1.0, 0, 10, 1e-5);
    check_kov(0.1, 0, 100, 1e-6);
    check_kov(0.01, 0, 1000, 1e-9);
    check_kov(3.0, 0, 5, 1e-3);
    check_kov(0.3, 0, 30, 1e-25);
    check_kov(0.2, 1e-8, 50, 1e-6);
    check_kov(0.2, 1e-7, 50, 1e-5);
}

static void two_kinds_of_randomized_response(void **state)
{
    (void)state;
    const pvi_pld_term t[] = { term(PV_EV_EPS_DELTA, 0.5, 0, 1, 4), term(PV_EV_EPS_DELTA, 0.31, 0, 1, 6) };
    double ub, lb;
    bracket(t, 2, 1e-4, &ub, &lb);
    long double d[2] = { 0, 0 };
    for (int side = 0; side < 2; side++)
        for (int i = 0; i <= 4; i++)
            for (int j = 0; j <= 6; j++) {
                const long double L = (4 - 2 * i) * 0.5L + (6 - 2 * j) * 0.31L, eps = side ? lb : ub;
                if (L > eps)
                    d[side] += tgammal(5) / tgammal(i + 1) / tgammal(5 - i) * tgammal(7) / tgammal(j + 1) /
                               tgammal(7 - j) * expl(-i * 0.5L - j * 0.31L) / powl(1 + expl(-0.5L), 4) /
                               powl(1 + expl(-0.31L), 6) * (1 - expl(eps - L));
            }
    PVT_CHECK(d[0] <= 1e-4L && d[1] >= 1e-4L, "[%g, %g]: %Lg %Lg", lb, ub, d[0], d[1]);
    PVT_CHECK(ub - lb < 0.03 * ub, "[%g, %g]", lb, ub);
}

/* One selection: H = (sqrt E - sqrt g)^2/(E - 1), E = e^a; randomised response with a/2 is one of them. */
static void selection(void **state)
{
    (void)state;
    const pvi_pld_term t = term(PV_EV_SELECT, 0.8, 0, 1, 1), many = term(PV_EV_SELECT, 0.1, 0, 1, 400);
    double ub, lb, d, pure, low;
    bracket(&t, 1, 1e-2, &ub, &lb);
    PVT_NEAR(ub, 2 * log(exp(0.4) - sqrt(1e-2 * expm1(0.8))), 2e-3);
    PVT_TRUE(pow(exp(0.4) - exp(ub / 2), 2) / expm1(0.8) <= 1e-2);
    PVT_TRUE(kov(0.4, 0, 1, lb) >= 1e-2L * (1 - 1e-9L));
    PVT_OK(pvi_pld_delta(ctx, &t, 1, 0.0, PVI_PLD_TOLERANCE, &(double) { 0 }, &d));
    PVT_REL(d, pow(exp(0.4) - 1, 2) / expm1(0.8), 1e-3);
    bracket(&many, 1, 1e-6, &ub, &lb);
    const pvi_pld_term rr = term(PV_EV_EPS_DELTA, 0.1, 0, 1, 400);
    bracket(&rr, 1, 1e-6, &pure, &low);
    PVT_CHECK(ub < 0.7 * pure, "bounded range gains: %g against %g", ub, pure);
}

static void balls_and_infinite_losses(void **state)
{
    (void)state;
    const pvi_pld_term ball = term(PV_EV_BALL, 1e-6, 0, 1, 3), both[] = { ball, term(PV_EV_GAUSSIAN, 2, 0, 1, 1) };
    double ub, lb, d;
    bracket(&ball, 1, 1e-5, &ub, &lb);
    PVT_TRUE(ub == 0 && lb == 0);
    bracket(&ball, 1, 1e-7, &ub, &lb);
    PVT_TRUE(ub == INFINITY && lb == 0);
    PVT_OK(pvi_pld_delta(ctx, &ball, 1, 1.0, PVI_PLD_TOLERANCE, &(double) { 0 }, &d));
    PVT_REL(d, 3e-6 - 3e-12, 1e-9);
    bracket(both, 2, 1e-5, &ub, &lb);
    /* 1 - (1 - 1e-6)^3 off, the rest is a Gaussian of 0.9999... of the mass */
    const double rest = (1e-5 - (1 - pow(1 - 1e-6, 3))) / pow(1 - 1e-6, 3);
    PVT_TRUE(ub >= pvi_gdp_epsilon_lb(0.5, rest) && lb <= pvi_gdp_epsilon_ub(0.5, rest) && ub - lb < 0.003 * ub);
    const pvi_pld_term q = term(PV_EV_EPS_DELTA, 1, 1e-4, 0.1, 1);
    bracket(&q, 1, 2e-5, &ub, &lb); /* sampled: infinite with probability 1e-5 only */
    PVT_TRUE(ub < 1 && lb > 0);
    bracket(&q, 1, 0.9e-5, &ub, &lb);
    PVT_TRUE(ub == INFINITY);
}

/* Sampled randomised response, one step, by hand: losses ln(1 - q + q e^{+-e}). */
static void sampled_response(void **state)
{
    (void)state;
    const double e = 1.3, q = 0.2, P = 1 / (1 + exp(-e)), Q = 1 / (1 + exp(e));
    const pvi_pld_term t = term(PV_EV_EPS_DELTA, e, 0, q, 1);
    for (double eps = 0; eps < 0.4; eps += 0.07) {
        double d, ub, lb;
        const double x = (1 - q) * Q + q * P - exp(eps) * Q, y = P - exp(eps) * ((1 - q) * P + q * Q);
        const double want = fmax(fmax(x, y), 0);
        PVT_OK(pvi_pld_delta(ctx, &t, 1, eps, PVI_PLD_TOLERANCE, &(double) { 0 }, &d));
        PVT_CHECK(d >= want * (1 - 1e-12) && d <= want * 1.01, "delta(%g) = %g, want %g", eps, d, want);
        bracket(&t, 1, want, &ub, &lb);
        PVT_CHECK(lb <= eps * (1 + 1e-12) && ub >= eps * (1 - 1e-12) && ub - lb < 0.01, "[%g, %g] %g", lb, ub, eps);
    }
}

/* ---- properties ----------------------------------------------------------------------------------------------- */

static void monotone(void **state)
{
    (void)state;
    double ub, lb, last_ub = 0, last_lb = 0;
    for (int i = 0; i < 12; i++) { /* more steps */
        const pvi_pld_term t = term(PV_EV_GAUSSIAN, 1.3, 0, 0.01, 1 << i);
        bracket(&t, 1, 1e-6, &ub, &lb);
        PVT_TRUE(ub >= last_lb && lb >= last_lb * (1 - 0.003) && ub >= last_ub * (1 - 0.003));
        last_ub = ub, last_lb = lb;
    }
    last_ub = INFINITY;
    for (int i = 0; i < 12; i++) { /* more noise */
        const pvi_pld_term t = term(PV_EV_GAUSSIAN, 0.5 * pow(1.4, i), 0, 0.03, 500);
        bracket(&t, 1, 1e-6, &ub, &lb);
        PVT_TRUE(lb <= last_ub);
        last_ub = ub;
    }
    last_lb = 0;
    for (int i = 1; i <= 30; i++) { /* smaller delta */
        const pvi_pld_term t = term(PV_EV_GAUSSIAN, 1.3, 0, 0.02, 1000);
        bracket(&t, 1, pow(10, -i), &ub, &lb);
        PVT_CHECK(ub >= last_lb && ub - lb <= 0.01 * ub + 1e-4, "delta 1e-%d: [%g, %g]", i, lb, ub);
        last_lb = lb;
    }
}

/* epsilon(delta(eps)) = eps up to the brackets. */
static void delta_and_epsilon_are_inverse(void **state)
{
    (void)state;
    uint64_t s = 3;
    for (int i = 0; i < 30; i++) {
        const pvi_pld_term t = term(PV_EV_GAUSSIAN, 0.6 + 4 * pvt_uniform(&s), 0, exp(-8 * pvt_uniform(&s)),
                                    1 + (int64_t)(exp(9 * pvt_uniform(&s))));
        double ub, lb, d;
        bracket(&t, 1, 1e-6, &ub, &lb);
        PVT_OK(pvi_pld_delta(ctx, &t, 1, ub, PVI_PLD_TOLERANCE, &(double) { 0 }, &d));
        PVT_CHECK(d >= 1e-6 * 0.8 * exp(-(ub - lb) * 300) && d <= 1.5e-6, "delta(%g) = %g", ub, d);
        PVT_OK(pvi_pld_delta(ctx, &t, 1, lb, PVI_PLD_TOLERANCE, &(double) { 0 }, &d));
        PVT_CHECK(d >= 1e-6, "lower bound: delta(%g) = %g", lb, d);
    }
}

/* Every extreme of the documented range: no NaN, no error, lower <= upper; and the exact value for rate 1. */
static void extremes(void **state)
{
    (void)state;
    const double zs[] = { 0.05, 1.0, 30.0, 1e4 }, qs[] = { 1e-7, 1e-3, 0.3, 1.0 };
    const double steps[] = { 1, 1e3, 1e9 }, deltas[] = { 1e-3, 1e-10, 1e-30 };
    double widest = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++) {
                    const pvi_pld_term t = term(PV_EV_GAUSSIAN, zs[i], 0, qs[j], (int64_t)steps[k]);
                    double ub, lb;
                    bracket(&t, 1, deltas[l], &ub, &lb);
                    PVT_CHECK(ub < INFINITY, "%g %g %g %g", zs[i], qs[j], steps[k], deltas[l]);
                    if (lb > 0) widest = fmax(widest, (ub - lb) / ub);
                    if (qs[j] < 1) continue;
                    const double mu = sqrt(steps[k]) / zs[i];
                    PVT_CHECK(ub >= pvi_gdp_epsilon_lb(mu, deltas[l]) && lb <= pvi_gdp_epsilon_ub(mu, deltas[l]),
                              "%g x%g delta %g: [%.12g, %.12g] against %.12g", zs[i], steps[k], deltas[l], lb, ub,
                              pvi_gdp_epsilon_ub(mu, deltas[l]));
                }
    print_message("largest gap over the extremes: %.3g %%\n", 100 * widest);
}

/* ---- the plug-in --------------------------------------------------------------------------------------------- */

extern const pv_accountant_ops pv_accountant_pld;

static const pv_event *leaf(pv_ev_kind kind, double a, double b)
{
    return pv_ev_leaf(arena, kind, a, b);
}

static const pv_event *poisson(double rate, const pv_event *sub)
{
    return pv_ev_sampled(arena, PV_EV_POISSON, rate, sub);
}

static void headline(void **state)
{
    (void)state;
    pvi_cost c;
    const pv_event *ev = pv_ev_repeat(arena, 14063, poisson(256.0 / 60000, leaf(PV_EV_GAUSSIAN, 1.1, 0)));
    PVT_OK(pvi_account(ctx, "pld", PV_REL_ZERO_OUT, ev, 1e-5, &c));
    PVT_CHECK(c.epsilon > 2.3816 && c.epsilon < 2.395, "%.10g", c.epsilon);
    PVT_CHECK(c.epsilon_lower > c.epsilon * 0.998 && c.epsilon_lower < 2.3817, "%.10g", c.epsilon_lower);
    PVT_OK(pvi_account(ctx, "best", PV_REL_ZERO_OUT, ev, 1e-5, &c));
    assert_string_equal(c.accountant, "pld");
    PVT_OK(pvi_account(ctx, "pld", PV_REL_REPLACE, ev, 1e-5, &c));
    PVT_TRUE(c.group_bound && c.epsilon > 4.76);
    double d;
    PVT_OK(pvi_account_delta(ctx, "pld", PV_REL_ZERO_OUT, ev, 2.3817, &d, NULL));
    PVT_CHECK(d > 0.9999e-5 && d < 1.01e-5, "%g", d);
}

static void supports(void **state)
{
    (void)state;
    const pv_accountant_ops *o = &pv_accountant_pld;
    const pv_event *g = leaf(PV_EV_GAUSSIAN, 1, 0);
    PVT_OK(o->supports(NULL, PV_REL_REPLACE, g));
    PVT_OK(o->supports(NULL, PV_REL_ZERO_OUT, poisson(0.1, leaf(PV_EV_LAPLACE, 1, 0))));
    PVT_OK(o->supports(NULL, PV_REL_ZERO_OUT, poisson(0.1, leaf(PV_EV_SELECT, 1, 0))));
    PVT_OK(o->supports(NULL, PV_REL_ZERO_OUT, leaf(PV_EV_BALL, 0.1, 0)));
    PVT_OK(o->supports(NULL, PV_REL_ZERO_OUT, leaf(PV_EV_NONE, 0, 0)));
    PVT_OK(o->supports(NULL, PV_REL_ZERO_OUT, leaf(PV_EV_EPS_DELTA, 1, 0.1)));
    PVT_IS(o->supports(NULL, PV_REL_REPLACE, poisson(0.1, g)), PV_E_UNSUPPORTED);
    PVT_IS(o->supports(NULL, PV_REL_REPLACE, pv_ev_sampled(arena, PV_EV_FIXED, 0.1, g)), PV_E_UNSUPPORTED);
    PVT_IS(o->supports(NULL, PV_REL_ZERO_OUT, leaf(PV_EV_NONPRIVATE, 0, 0)), PV_E_UNSUPPORTED);
    PVT_IS(o->supports(NULL, PV_REL_ZERO_OUT, poisson(0.1, leaf(PV_EV_SELECT, 501, 0))), PV_E_UNSUPPORTED);
    PVT_OK(o->supports(NULL, PV_REL_ZERO_OUT, leaf(PV_EV_SELECT, 501, 0)));
}

static const double settings[1] = { PVI_PLD_TOLERANCE };

/* compose() in pieces, and refusals that leave no trace. */
static void composing_in_pieces(void **state)
{
    (void)state;
    const pv_accountant_ops *o = &pv_accountant_pld;
    void *s = pvi_alloc(ctx, o->head.state_size), *t = pvi_alloc(ctx, o->head.state_size);
    o->open(s, ctx), o->open(t, ctx);
    const pv_event *a = poisson(0.01, leaf(PV_EV_GAUSSIAN, 1.5, 0)), *b = leaf(PV_EV_LAPLACE, 20, 0);
    const pv_event *parts[] = { pv_ev_repeat(arena, 30, a), b, leaf(PV_EV_GAUSSIAN, 9, 0),
                                pv_ev_repeat(arena, 20, a) };
    double x, y, lb;
    PVT_OK(o->epsilon_ub(s, settings, 1e-5, &x));
    PVT_TRUE(x == 0);
    PVT_OK(o->delta_ub(s, settings, 0, &x));
    PVT_TRUE(x == 0);
    for (int i = 0; i < 4; i++) PVT_OK(o->compose(s, settings, PV_REL_ZERO_OUT, parts[i]));
    PVT_OK(o->compose(t, settings, PV_REL_ZERO_OUT, pv_ev_seq(arena, 4, parts)));
    PVT_OK(o->epsilon_ub(s, settings, 1e-5, &x));
    PVT_OK(o->epsilon_ub(t, settings, 1e-5, &y));
    PVT_TRUE(x == y);
    const pv_event *bad[] = { a, leaf(PV_EV_NONPRIVATE, 0, 0) };
    PVT_IS(o->compose(s, settings, PV_REL_ZERO_OUT, pv_ev_seq(arena, 2, bad)), PV_E_UNSUPPORTED);
    PVT_OK(o->epsilon_ub(s, settings, 1e-5, &y));
    PVT_TRUE(x == y);
    PVT_OK(o->epsilon_lb(s, settings, 1e-5, &lb));
    PVT_TRUE(lb <= x && lb > 0.99 * x);
    PVT_OK(o->compose(s, settings, PV_REL_ZERO_OUT, a));
    PVT_OK(o->epsilon_ub(s, settings, 1e-5, &y));
    PVT_TRUE(y > x);
    PVT_IS(o->epsilon_ub(s, settings, 1.0, &y), PV_E_ARG);
    PVT_IS(o->epsilon_ub(s, settings, NAN, &y), PV_E_ARG);
    PVT_IS(o->epsilon_lb(s, settings, -1, &y), PV_E_ARG);
    PVT_IS(o->delta_ub(s, settings, -1, &y), PV_E_ARG);
    PVT_IS(o->delta_ub(s, settings, NAN, &y), PV_E_ARG);
    pvi_free(ctx, s);
    pvi_free(ctx, t);
}

/* delta = 0: the largest loss, if it is finite. */
static void pure_epsilon(void **state)
{
    (void)state;
    pvi_cost c;
    const pv_event *parts[] = { leaf(PV_EV_LAPLACE, 2, 0),
                                pv_ev_repeat(arena, 3, poisson(0.1, leaf(PV_EV_SELECT, 1, 0))) };
    PVT_OK(pvi_account(ctx, "pld", PV_REL_ZERO_OUT, pv_ev_seq(arena, 2, parts), 0, &c));
    PVT_REL(c.epsilon, 0.5 + 3 * log1p(0.1 * expm1(1)), 1e-10);
    PVT_REL(c.epsilon_lower, 0.5 + 3 * log1p(0.1 * expm1(0.5)), 1e-10);
    PVT_OK(pvi_account(ctx, "pld", PV_REL_ZERO_OUT, leaf(PV_EV_GAUSSIAN, 1, 0), 0, &c));
    PVT_TRUE(c.epsilon == INFINITY);
    PVT_OK(pvi_account(ctx, "pld", PV_REL_ZERO_OUT, leaf(PV_EV_EPS_DELTA, 1, 1e-9), 0, &c));
    PVT_TRUE(c.epsilon == INFINITY);
}

/* accountant.precision is the gap, and every gap has the truth in it: the brackets overlap. */
static void precision(void **state)
{
    (void)state;
    static const double gap[] = { 1e-2, PVI_PLD_TOLERANCE, 1e-4, 1e-5 };
    const pv_accountant_ops *o = &pv_accountant_pld;
    const pv_event *e = pv_ev_repeat(arena, 14063, poisson(256.0 / 60000, leaf(PV_EV_GAUSSIAN, 1.1, 0)));
    double ub, lb, least = INFINITY, most = 0, wider = INFINITY;
    PVT_TRUE(o->head.cfg_size == sizeof settings);
    for (int i = 0; i < 4; i++) {
        void *s = pvi_alloc(ctx, o->head.state_size);
        o->open(s, ctx);
        PVT_OK(o->compose(s, &gap[i], PV_REL_ZERO_OUT, e));
        PVT_OK(o->epsilon_ub(s, &gap[i], 1e-5, &ub));
        PVT_OK(o->epsilon_lb(s, &gap[i], 1e-5, &lb));
        least = fmin(least, ub), most = fmax(most, lb);
        PVT_CHECK(ub - lb <= 2.0 * gap[i] * ub && ub - lb < wider, "%g: [%.9g, %.9g]", gap[i], lb, ub);
        wider = ub - lb;
        pvi_free(ctx, s);
    }
    PVT_CHECK(most <= least, "%.9g is not below %.9g", most, least);
}

/* More different events than there is room for: still bounds, still close. */
static void many_different_events(void **state)
{
    (void)state;
    enum { COUNT = 700 };
    const pv_accountant_ops *o = &pv_accountant_pld;
    void *s = pvi_alloc(ctx, o->head.state_size);
    o->open(s, ctx);
    double mu2 = 0, ub, lb;
    for (int i = 0; i < COUNT; i++) {
        const double z = 20.0 + 0.001 * i;
        PVT_OK(
            o->compose(s, settings, PV_REL_ZERO_OUT, poisson(1.0 - 1e-12 - 1e-13 * i, leaf(PV_EV_GAUSSIAN, z, 0))));
        mu2 += 1 / (z * z);
    }
    PVT_OK(o->epsilon_ub(s, settings, 1e-6, &ub));
    PVT_OK(o->epsilon_lb(s, settings, 1e-6, &lb));
    const double want = pvi_gdp_epsilon_ub(sqrt(mu2), 1e-6);
    PVT_CHECK(lb <= want && ub >= want * (1 - 1e-9) && ub - lb < 0.02 * ub, "[%g, %g] %g", lb, ub, want);
    pvi_free(ctx, s);
}

/* ---- no memory ------------------------------------------------------------------------------------------------*/

static void no_memory(void **state)
{
    (void)state;
    pvt_memory m = { 0 };
    const pvi_pld_term t[] = { term(PV_EV_GAUSSIAN, 1.1, 0, 0.01, 3), term(PV_EV_LAPLACE, 4, 0, 1, 2) };
    const pvi_pld_term many = term(PV_EV_GAUSSIAN, 1e9, 0, 0.5, 1000000000000000); /* coarser lattices are tried */
    pv_ctx *c = pvt_counted(&m);
    for (int which = 0; which < 3; which++) {
        pv_status s = PV_E_NOMEM;
        int64_t n = 0;
        for (; s != PV_OK; n++) {
            double ub, lb;
            m.left = n;
            s = which == 0   ? pvi_pld_epsilon(c, t, 2, 1e-5, PVI_PLD_TOLERANCE, &(double) { 0 }, &ub, &lb)
                : which == 1 ? pvi_pld_delta(c, t, 2, 0.5, PVI_PLD_TOLERANCE, &(double) { 0 }, &ub)
                             : pvi_pld_epsilon(c, &many, 1, 1e-6, PVI_PLD_TOLERANCE, &(double) { 0 }, &ub, &lb);
            PVT_TRUE(s == PV_OK || s == PV_E_NOMEM);
        }
        PVT_TRUE(n > 5);
    }
    pv_ctx_free(c);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(masses_enclose_the_curve),
        cmocka_unit_test(coarse_lattice),
        cmocka_unit_test(composition_is_enclosed),
        cmocka_unit_test(left_out_frequencies_are_bounded),
        cmocka_unit_test(gaussians_of_different_noise),
        cmocka_unit_test(randomized_response_is_a_binomial_sum),
        cmocka_unit_test(two_kinds_of_randomized_response),
        cmocka_unit_test(selection),
        cmocka_unit_test(balls_and_infinite_losses),
        cmocka_unit_test(sampled_response),
        cmocka_unit_test(monotone),
        cmocka_unit_test(delta_and_epsilon_are_inverse),
        cmocka_unit_test(extremes),
        cmocka_unit_test(headline),
        cmocka_unit_test(supports),
        cmocka_unit_test(composing_in_pieces),
        cmocka_unit_test(precision),
        cmocka_unit_test(pure_epsilon),
        cmocka_unit_test(many_different_events),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
