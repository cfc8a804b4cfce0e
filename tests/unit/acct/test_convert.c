/* test_convert.c - Renyi bounds to (epsilon, delta), the search for the order, rounding. */
#include "acct/acct.h"
#include "pvtest.h"

/* One order only: the divergence is infinite at the others. */
typedef struct only {
    double m, rdp, tv; /* tv: the divergence at orders close to 1 */
} only;

static double one_order(const void *user, double m)
{
    const only *o = user;
    if (m < 1e-3) return o->tv;
    return m <= o->m * (1 + 1e-9) ? o->rdp : INFINITY;
}

static double gauss(const void *user, double m)
{
    return *(const double *)user * (1 + m);
}

static void conversion_formulas(void **state)
{
    (void)state;
    for (double alpha = 1.5; alpha < 100; alpha *= 1.7) {
        const double rdp = 0.3 * alpha, delta = 1e-6, m = alpha - 1;
        const double eps = rdp + log(1 - 1 / alpha) - (log(delta) + log(alpha)) / m;
        const only o = { m, rdp, 50 };
        PVT_TRUE(pvi_rdp_epsilon(one_order, &o, delta, m) >= eps * (1 - 1e-9));
        PVT_REL(pvi_rdp_epsilon(one_order, &o, delta, m), eps, 1e-4);
        PVT_REL(log(pvi_rdp_delta(one_order, &o, eps, m)), log(delta), 1e-4);
    }
    /* continuous orders: a dense scan finds nothing better, whatever the start */
    for (double rho = 1e-6; rho < 1e4; rho *= 30)
        for (double start = 1e-8; start < 1e9; start *= 1e4) {
            double best = INFINITY;
            for (double u = -15; u < 15; u += 1e-3) {
                const double m = exp(u);
                best = fmin(best, rho * (1 + m) - log1p(1 / m) - (log(1e-6) + log1p(m)) / m);
            }
            const double got = pvi_rdp_epsilon(gauss, &rho, 1e-6, start);
            PVT_CHECK(got <= fmax(best, 0) * (1 + 1e-7) + 1e-12 && got >= fmax(best, 0) * (1 - 1e-5),
                      "rho=%g: %g, %g", rho, got, best);
            PVT_TRUE(pvi_rdp_delta(gauss, &rho, got, start) <= 1e-6 * (1 + 1e-6) || got == 0);
        }
}

static void conversion_edges(void **state)
{
    (void)state;
    const double none = 0, some = 1, much = INFINITY, little = 1e-12;
    PVT_NEAR(pvi_rdp_epsilon(gauss, &none, 0, 1), 0, 0); /* no divergence, no cost */
    PVT_NEAR(pvi_rdp_delta(gauss, &none, 0, NAN), 0, 0);
    PVT_TRUE(isinf(pvi_rdp_epsilon(gauss, &some, 0, INFINITY)) && isinf(pvi_rdp_epsilon(gauss, &much, 0.1, 1)));
    PVT_NEAR(pvi_rdp_delta(gauss, &much, 5, 1), 1, 0);
    PVT_NEAR(pvi_rdp_delta(gauss, &some, INFINITY, INFINITY), 0, 0);
    PVT_NEAR(pvi_rdp_epsilon(gauss, &little, 0.1, 1), 0, 0); /* total variation is below 0.1 already */
    PVT_TRUE(pvi_rdp_delta(gauss, &little, 0, 1) <= sqrt(little) * (1 + 1e-5) &&
             pvi_rdp_delta(gauss, &little, 0, 1) > 5e-7);
    PVT_TRUE(pvi_rdp_delta(gauss, &some, 1e5, 1) > 0); /* underflow is not zero */
    PVT_NEAR(pvi_rdp_delta(gauss, &some, 0, 1), 1, 0.3);
}

typedef struct valley {
    double at;
    int kind, calls;
} valley;

static double shape(void *user, double m)
{
    valley *v = user;
    const double x = log(m) - v->at;
    v->calls++;
    switch (v->kind) {
    case 0: return 1 + x * x;
    case 1: return 1 + fabs(x);              /* a corner: parabolas help little */
    case 2: return x < 0 ? INFINITY : 1 + x; /* a wall */
    case 3: return x > 0 ? INFINITY : 1 - x;
    case 4: return x > 0 ? 0 : -x;                  /* falls to zero */
    case 5: return 3;                               /* level everywhere */
    case 6: return 1 + exp(-x);                     /* falls for ever, upwards */
    case 7: return 1 + exp(x);                      /* falls for ever, downwards */
    case 8: return x < 0 ? 0 : x;                   /* falls to zero downwards */
    default: return fabs(x) > 3 ? INFINITY : x * x; /* touches zero */
    }
}

static void minimum_is_found(void **state)
{
    (void)state;
    static const double want[] = { 1, 1, 1, 1, 0, 3, 1, 1, 0, 0 };
    for (int kind = 0; kind < 10; kind++)
        for (double at = -8; at <= 8; at += 1.3) {
            if ((kind == 9 && fabs(at) > 2) || (kind == 2 && at > 0)) continue; /* bounds are finite at low orders */
            valley v = { at, kind, 0 };
            const double got = pvi_minimize(shape, &v, 0.0);
            PVT_CHECK(got >= want[kind] && got <= want[kind] + 2e-5, "kind %d at %g: %.10g", kind, at, got);
            PVT_CHECK(v.calls < 120, "kind %d at %g: %d calls", kind, at, v.calls);
        }
    valley far = { 0, 0, 0 };
    PVT_REL(pvi_minimize(shape, &far, -1e4), 1, 1e-9); /* a start outside the range */
    PVT_REL(pvi_minimize(shape, &far, 1e4), 1, 1e-9);
}

/* Against long double, which holds sums and products of two doubles more exactly. */
static void rounding_up(void **state)
{
    (void)state;
    uint64_t rng = 3;
    PVT_NEAR(pvi_mul_up(10, 0.5), 5, 0);
    PVT_NEAR(pvi_add_up(1, 2), 3, 0);
    PVT_NEAR(pvi_div_up(1, 4), 0.25, 0);
    for (int i = 0; i < 100000; i++) {
        const double x = exp(10 * pvt_uniform(&rng) - 5), y = exp(10 * pvt_uniform(&rng) - 5);
        const double s = pvi_add_up(x, y), p = pvi_mul_up(x, y), q = pvi_div_up(x, y);
        PVT_TRUE((long double)s >= (long double)x + y && (long double)p >= (long double)x * y &&
                 (long double)q * y >= x);
        PVT_TRUE(s <= nextafter(x + y, INFINITY) && p <= nextafter(x * y, INFINITY) &&
                 q <= nextafter(x / y, INFINITY));
    }
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(conversion_formulas), cmocka_unit_test(conversion_edges),
                                      cmocka_unit_test(minimum_is_found), cmocka_unit_test(rounding_up) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
