/* test_acct_rdp.c - Renyi accounting: each kind of term against its definition, the bound under `replace`
 * against integration in the plane, schedules with more terms than the table holds. */
#include "acct/acct.h"
#include "arenatest.h"

static const pv_event *leaf(pv_ev_kind kind, double a)
{
    return pv_ev_leaf(arena, kind, a, 0);
}

static double account(const pv_event *ev, pv_relation rel, double delta)
{
    pvi_cost c;
    const pv_status s = pvi_account(ctx, "rdp", rel, ev, delta, &c);
    PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(ctx));
    PVT_TRUE(!c.group_bound);
    return c.epsilon;
}

/* The conversion minimised over a dense list of orders, K(m) given by its definition. */
typedef long double (*definition)(long double eps, long double m);

static double by_definition(definition K, double eps, double count, double delta)
{
    double best = INFINITY;
    for (double u = -12; u < 20; u += 1e-3) {
        const long double m = expl(u), rdp = count * K(eps, m) / m;
        const double e = (double)(rdp + log1pl(-1 / (1 + m)) - (logl(delta) + log1pl(m)) / m);
        if (e < best) best = e;
    }
    return best > 0 ? best : 0;
}

static long double laplace_K(long double e, long double m)
{
    const long double a = 1 + m;
    if (m * e > 5000) return m * e + logl(a / (2 * a - 1)); /* the other exponential has vanished */
    return logl(a / (2 * a - 1) * expl(m * e) + m / (2 * a - 1) * expl(-a * e));
}

static long double pure_K(long double e, long double m)
{
    const long double p = 1 / (1 + expl(-e));
    if (m * e > 5000) return m * e + logl(p);
    return logl(powl(p, 1 + m) * powl(1 - p, -m) + powl(1 - p, 1 + m) * powl(p, -m));
}

/* Bounded range: the worst two-point law, found by scanning t. */
static long double select_K(long double e, long double m)
{
    long double best = 0;
    if (m * e > 1000) return m * e;
    for (int i = 1; i < 400; i++) {
        const long double t = e * i / 400, q = (expl(-t) - expl(-e)) / (1 - expl(-e));
        const long double K = logl(q * expl((1 + m) * t) + (1 - q) * expl((1 + m) * (t - e)));
        if (K > best) best = K;
    }
    return best;
}

static void terms_match_their_definitions(void **state)
{
    (void)state;
    static const double e[] = { 0.02, 0.3, 1, 4 };
    static const int64_t n[] = { 1, 30 };
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++) {
            const double want = by_definition(laplace_K, e[i], (double)n[j], 1e-6);
            const double got =
                account(pv_ev_repeat(arena, n[j], leaf(PV_EV_LAPLACE, 1 / e[i])), PV_REL_ZERO_OUT, 1e-6);
            PVT_CHECK(got >= want * (1 - 1e-7) - 1e-9 && got <= want * (1 + 1e-6) + 1e-9, "laplace %g: %.12g, %.12g",
                      e[i], got, want);
            const double p_want = by_definition(pure_K, e[i], (double)n[j], 1e-6);
            const double p_got =
                account(pv_ev_repeat(arena, n[j], leaf(PV_EV_EPS_DELTA, e[i])), PV_REL_ZERO_OUT, 1e-6);
            PVT_CHECK(p_got >= p_want * (1 - 1e-7) - 1e-9 && p_got <= p_want * (1 + 1e-6) + 1e-9,
                      "pure %g: %.12g, %.12g", e[i], p_got, p_want);
        }
    for (int i = 0; i < 4; i++) { /* the scan in t is coarse and below; e^2/8 bounds it from above */
        double want = INFINITY, quadratic = INFINITY;
        for (double u = -3; u < 9; u += 0.01) {
            const double m = exp(u), conv = -log1p(1 / m) - (log(1e-6) + log1p(m)) / m;
            const double w = 10 * (double)select_K(e[i], m) / m + conv, h = 10 * (1 + m) * e[i] * e[i] / 8 + conv;
            if (w < want) want = w;
            if (h < quadratic) quadratic = h;
        }
        const double got = account(pv_ev_repeat(arena, 10, leaf(PV_EV_SELECT, e[i])), PV_REL_ZERO_OUT, 1e-6);
        PVT_CHECK(got >= want * (1 - 1e-3) && got <= quadratic * (1 + 1e-6), "select %g: %.12g not in [%.12g, %.12g]",
                  e[i], got, want, quadratic);
        if (e[i] >= 1) PVT_CHECK(got <= want * 1.01, "select %g: %.12g far above %.12g", e[i], got, want);
    }
}

/* ---- replace: E_Q (P/Q)^alpha for explicit centres a, b, c in the plane, by a plain sum ------------- */

typedef struct centre {
    double x, y;
} centre;

static double density(double z, centre p, double x, double y)
{
    return exp(-((x - p.x) * (x - p.x) + (y - p.y) * (y - p.y)) / (2 * z * z)) / (2 * 3.14159265358979 * z * z);
}

static double plane(double z, double q, double m, const centre t[3])
{
    const double reach = 9 * z + 1.3 * (1 + m), h = z / 4;
    double sum = 0;
    for (double x = -reach; x < reach; x += h)
        for (double y = -reach; y < reach; y += h) {
            const double A = density(z, t[0], x, y), B = density(z, t[1], x, y), C = density(z, t[2], x, y);
            const double P = (1 - q) * A + q * C, Q = (1 - q) * A + q * B;
            if (Q > 0 && P > 0) sum += h * h * exp((1 + m) * log(P) - m * log(Q));
        }
    return log(sum);
}

static void replace_bound_holds(void **state)
{
    (void)state;
    static const centre triangles[][3] = {
        { { 0, 0 }, { 1, 0 }, { 0.5, 0.8660254 } }, { { 0, 0 }, { 0.5, 0 }, { -0.5, 0 } },
        { { 0, 0 }, { 1, 0 }, { 0, 0 } },           { { 0, 0 }, { 0, 0 }, { 1, 0 } },
        { { 0, 0 }, { 0.9, 0.1 }, { 0.3, 0.85 } },
    };
    static const double z[] = { 0.8, 1, 2, 4 }, q[] = { 0.01, 0.1, 0.6 }, m[] = { 0.4, 1, 2.5, 5 };
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++) {
                const double bound = pvi_renyi_replace(z[i], q[j], m[k]);
                double worst = 0;
                for (int t = 0; t < 5; t++) {
                    const double K = plane(z[i], q[j], m[k], triangles[t]);
                    if (K > worst) worst = K;
                }
                PVT_CHECK(bound >= worst * (1 - 1e-4), "z=%g q=%g m=%g: %g below %g", z[i], q[j], m[k], bound, worst);
                if (m[k] == 1 && z[i] * (1 - q[j]) > 1.5)
                    PVT_CHECK(bound <= 1.1 * worst, "z=%g q=%g: %g far above %g", z[i], q[j], bound, worst);
            }
}

static void replace_is_accounted(void **state)
{
    (void)state;
    const pv_event *g = leaf(PV_EV_GAUSSIAN, 2);
    const pv_event *fixed = pv_ev_repeat(arena, 100, pv_ev_sampled(arena, PV_EV_FIXED, 0.01, g));
    const pv_event *poisson = pv_ev_repeat(arena, 100, pv_ev_sampled(arena, PV_EV_POISSON, 0.01, g));
    const double replace = account(fixed, PV_REL_REPLACE, 1e-6), zero_out = account(poisson, PV_REL_ZERO_OUT, 1e-6);
    PVT_TRUE(replace >= zero_out && replace < account(pv_ev_repeat(arena, 100, g), PV_REL_REPLACE, 1e-6));
    pvi_cost c;
    PVT_IS(pvi_account(ctx, "rdp", PV_REL_ZERO_OUT, fixed, 1e-6, &c), PV_E_UNSUPPORTED);
    const pv_accountant_ops *rdp = (const pv_accountant_ops *)pv_find(PV_KIND_accountant, "rdp");
    PVT_IS(rdp->supports(NULL, PV_REL_REPLACE, poisson), PV_E_UNSUPPORTED);
    /* with and without a sampler in one run: both terms are kept */
    const pv_event *const both[] = { fixed, g, pv_ev_sampled(arena, PV_EV_FIXED, 0.01, g) };
    PVT_TRUE(account(pv_ev_seq(arena, 3, both), PV_REL_REPLACE, 1e-6) > account(g, PV_REL_REPLACE, 1e-6));
    PVT_TRUE(account(pv_ev_seq(arena, 3, both), PV_REL_REPLACE, 1e-6) > replace);
    /* small noise, large orders: never above no sampling at all */
    static const double z[] = { 1e-4, 0.05, 1, 1000 }, m[] = { 1e-3, 1, 7.7, 5000, 1e5 };
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) {
            const double plain = 0.5 * m[j] * (1 + m[j]) / (z[i] * z[i]), K = pvi_renyi_replace(z[i], 0.3, m[j]);
            PVT_CHECK(K > 0 && K <= plain * (1 + 1e-12), "z=%g m=%g: %g, plain %g", z[i], m[j], K, plain);
        }
}

static void pure_releases_are_amplified(void **state)
{
    (void)state;
    const pv_event *lap = leaf(PV_EV_LAPLACE, 0.5), *huge = leaf(PV_EV_EPS_DELTA, 5000);
    const double eps = log1p(0.1 * expm1(2.0));
    const double want = by_definition(pure_K, eps, 50, 1e-5);
    const pv_event *poisson = pv_ev_repeat(arena, 50, pv_ev_sampled(arena, PV_EV_POISSON, 0.1, lap));
    PVT_REL(account(poisson, PV_REL_ZERO_OUT, 1e-5), want, 1e-6);
    PVT_REL(account(pv_ev_repeat(arena, 50, pv_ev_sampled(arena, PV_EV_FIXED, 0.1, lap)), PV_REL_REPLACE, 1e-5), want,
            1e-6);
    PVT_REL(account(pv_ev_sampled(arena, PV_EV_POISSON, 0.1, huge), PV_REL_ZERO_OUT, 1e-5), 5000, 1e-3);
    PVT_NEAR(account(leaf(PV_EV_EPS_DELTA, 0), PV_REL_ZERO_OUT, 1e-5), 0, 0);
    PVT_REL(account(leaf(PV_EV_SELECT, 5000), PV_REL_ZERO_OUT, 1e-5), 5000, 1e-2);
    PVT_REL(account(leaf(PV_EV_LAPLACE, 1e-4), PV_REL_ZERO_OUT, 1e-5), 1e4, 1e-2);
}

/* 5000 different multipliers: the table overflows, the result rises by little and never falls. */
static void long_schedules(void **state)
{
    (void)state;
    enum { N = 5000 };
    static const pv_event *parts[N];
    static const pv_ev_kind kinds[] = { PV_EV_GAUSSIAN, PV_EV_SELECT, PV_EV_LAPLACE, PV_EV_EPS_DELTA };
    for (int k = 0; k < 4; k++) {
        double rho = 0;
        for (int i = 0; i < N; i++) {
            const double a = k % 2 ? 0.01 + 0.03 * i / N : 20.0 + 80.0 * i / N;
            parts[i] = leaf(kinds[k], a);
            if (k == 0) parts[i] = pv_ev_sampled(arena, PV_EV_POISSON, 0.02 + 0.5 * i / N, parts[i]);
            rho += k == 1 ? a * a / 8 : k == 3 ? a * a / 2 : 0.5 / (a * a);
        }
        const double eps = account(pv_ev_seq(arena, N, parts), PV_REL_ZERO_OUT, 1e-6);
        if (k > 0) {
            const double zcdp = rho + 2 * sqrt(rho * log(1e6));
            PVT_CHECK(eps > 0.8 * zcdp && eps < 1.02 * zcdp, "kind %d: %g, zcdp %g", k, eps, zcdp);
            continue;
        }
        double K = 0, best = INFINITY; /* the same sum without a table */
        for (double m = 4; m < 60; m *= 1.02) {
            K = 0;
            for (int i = 0; i < N; i += 10) K += 10 * pvi_renyi_poisson(parts[i]->sub->a, parts[i]->a, m);
            const double e = K / m - log1p(1 / m) - (log(1e-6) + log1p(m)) / m;
            if (e < best) best = e;
        }
        PVT_CHECK(eps > best * 0.99 && eps < best * 1.05, "%g, exact terms %g", eps, best);
    }
    /* rates that snap to 1 become unsampled */
    for (int i = 0; i < N; i++)
        parts[i] = pv_ev_sampled(arena, PV_EV_POISSON, 0.9 + 0.0999 * i / N, leaf(PV_EV_GAUSSIAN, 100 + i));
    const double eps = account(pv_ev_seq(arena, N, parts), PV_REL_ZERO_OUT, 1e-6);
    PVT_TRUE(eps > 0.05 && eps < 10);
}

/* Values near zero epsilon: never negative, zero only where total variation allows it. */
static void small_costs(void **state)
{
    (void)state;
    for (double z = 1; z < 1e9; z *= 10) {
        const double eps = account(leaf(PV_EV_GAUSSIAN, z), PV_REL_ZERO_OUT, 1e-5), mu = 1 / z;
        PVT_TRUE(eps >= pvi_gdp_epsilon_lb(mu, 1e-5));
    }
    PVT_NEAR(account(leaf(PV_EV_GAUSSIAN, 1e9), PV_REL_ZERO_OUT, 1e-3), 0, 0);
    PVT_TRUE(pvi_renyi_poisson(1e-4, 0.5, 2) <=
             0.5 * 2 * 3 * 1e8 * (1 + 1e-12));                /* too little noise for quadrature */
    PVT_NEAR(pvi_renyi_poisson(1, 1 - 0x1p-53, 1), 1, 1e-14); /* nearly every row: never above no sampling */
    PVT_TRUE(pvi_renyi_poisson(1, 0.5, 1e13) > 0 && pvi_renyi_poisson(0.02, 0.5, 1e9) > 0);
    pvi_cost c;
    PVT_OK(pvi_account(ctx, "rdp", PV_REL_ZERO_OUT, leaf(PV_EV_GAUSSIAN, 1), 0, &c));
    PVT_TRUE(isinf(c.epsilon));
    double delta;
    PVT_OK(pvi_account_delta(ctx, "rdp", PV_REL_ZERO_OUT, leaf(PV_EV_GAUSSIAN, 1e-3), 1, &delta, NULL));
    PVT_NEAR(delta, 1, 0);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(terms_match_their_definitions),
        cmocka_unit_test(replace_bound_holds),
        cmocka_unit_test(replace_is_accounted),
        cmocka_unit_test(pure_releases_are_amplified),
        cmocka_unit_test(long_schedules),
        cmocka_unit_test(small_costs),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
