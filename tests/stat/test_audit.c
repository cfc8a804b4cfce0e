/* test_audit.c - tries to disprove the claimed privacy of one noisy step.
 *
 * Worst case in one dimension: the neighbouring sums are +C and -C (replace) or C and 0 (zero-out), put on the grid
 * and noised by the registered mechanism.  For a threshold t, a = P(M(x) > t) and b = P(M(x') > t) obey
 *   (1) a <= e^epsilon b + delta   for every (epsilon, delta) the mechanism satisfies, so with Clopper-Pearson bounds
 *       a >= a_lo and b <= b_hi, each at confidence 99.99 % (99.9 % over the ten thresholds and both sides together),
 *   (2) epsilon_lo = ln((a_lo - delta) / b_hi) must not exceed the claimed epsilon.
 *   (3) The Gaussian's claim is the whole curve of mu = sensitivity / deviation, Phi^-1(a) - Phi^-1(b) <= mu, which
 *       is far sharper: mu_lo = Phi^-1(a_lo) - Phi^-1(b_hi), and epsilon_lo(delta) is the curve's at mu_lo.
 * The test would have no teeth if it could not come near: with a quarter less noise it must find a violation. */
#include "stat/stattest.h"

enum { TRIALS = 100000, CUTS = 10 };

/* Regularised incomplete beta by its continued fraction (Lentz), for the Clopper-Pearson bounds. */
static double beta_cf(double a, double b, double x)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1), h;
    d = 1 / d;
    h = d;
    for (int m = 1; m < 10000; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        h *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-14) break;
    }
    return h;
}

static double beta_cdf(double a, double b, double x)
{
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_cf(a, b, x) / a : 1 - front * beta_cf(b, a, 1 - x) / b;
}

/* Lower Clopper-Pearson bound at confidence 1 - tail: the p with P(Bin(n, p) >= k) = tail. */
static double lower(double k, double n, double tail)
{
    double lo = 0, hi = 1;
    if (k <= 0) return 0;
    for (int i = 0; i < 200; i++) {
        const double mid = 0.5 * (lo + hi);
        if (beta_cdf(k, n - k + 1, mid) > tail) hi = mid;
        else lo = mid;
    }
    return lo;
}

static double upper(double k, double n, double tail)
{
    return 1 - lower(n - k, n, tail);
}

static void clopper_pearson_is_right(void **state)
{
    (void)state;
    PVT_NEAR(lower(10, 10, 0.05), pow(0.05, 0.1), 1e-12); /* p^n = tail */
    PVT_NEAR(upper(0, 10, 0.05), 1 - pow(0.05, 0.1), 1e-12);
    double sum = 0;
    const double p = lower(3, 8, 0.01); /* against the binomial sum */
    for (int k = 3; k <= 8; k++)
        sum += exp(lgamma(9) - lgamma(k + 1.0) - lgamma(9.0 - k)) * pow(p, k) * pow(1 - p, 8 - k);
    PVT_NEAR(sum, 0.01, 1e-10);
}

/* Counts of M(g) above each cut, where g is one clipped gradient. */
static void above(const pv_mechanism_ops *m, float g, double noise_scale, double h, const double *cut, double *count)
{
    for (int c = 0; c < CUTS; c++) count[c] = 0;
    for (int i = 0; i < TRIALS; i++) {
        int64_t acc = 0;
        double out;
        pvi_grid_add(&g, h, &acc, 1);
        m->draw(&(pv_noise) { .scale = noise_scale, .spacing = h, .length = 1 }, rng, 1.0, 1.0, &acc, NULL, &out);
        for (int c = 0; c < CUTS; c++) count[c] += out > cut[c];
    }
}

static double quantile(double p)
{
    double lo = -40, hi = 40;
    for (int i = 0; i < 200; i++) {
        const double mid = 0.5 * (lo + hi);
        if (phi_cdf(mid) < p) lo = mid;
        else hi = mid;
    }
    return lo;
}

typedef struct finding {
    double epsilon, mu; /* largest lower bounds (2) at delta = 0 and (3) over cuts and both directions */
} finding;

static finding audit(const char *name, double C, double other, double noise_scale)
{
    const pv_mechanism_ops *m = (const pv_mechanism_ops *)pv_find(PV_KIND_mechanism, name);
    const double h = pvi_grid_spacing(C, 1, noise_scale, 1), tail = 1e-3 / (4 * CUTS);
    double cut[CUTS], a[CUTS], b[CUTS];
    finding f = { 0, 0 };
    PVT_TRUE(h > 0);
    for (int c = 0; c < CUTS; c++) cut[c] = other + (C - other) * (c - 2.0) / (CUTS - 5.0); /* around both sums */
    above(m, (float)C, noise_scale, h, cut, a);
    above(m, (float)other, noise_scale, h, cut, b);
    for (int c = 0; c < CUTS; c++)
        for (int side = 0; side < 2; side++) {
            const double hit = side ? TRIALS - b[c] : a[c], miss = side ? TRIALS - a[c] : b[c];
            const double lo = lower(hit, TRIALS, tail), hi = upper(miss, TRIALS, tail);
            f.epsilon = fmax(f.epsilon, log(lo / hi));
            f.mu = fmax(f.mu, quantile(lo) - quantile(hi));
        }
    return f;
}

/* epsilon at delta of one Gaussian with mu = sensitivity / deviation (Balle, Wang 2018, Theorem 8). */
static double gaussian_epsilon(double mu, double delta)
{
    double lo = 0, hi = 1e3;
    for (int i = 0; i < 200; i++) {
        const double e = 0.5 * (lo + hi);
        if (phi_cdf(mu / 2 - e / mu) - exp(e) * phi_cdf(-mu / 2 - e / mu) > delta) lo = e;
        else hi = e;
    }
    return hi;
}

static void gaussian_keeps_its_claim(void **state)
{
    (void)state;
    const double zs[] = { 0.5, 1, 2, 5 }, delta = 1e-5;
    for (int i = 0; i < 4; i++) { /* replace, zero-out, in turn */
        const double C = 1.0, other = i % 2 ? 0 : -C, sensitivity = C - other,
                     claim = gaussian_epsilon(1 / zs[i], delta);
        const double found = gaussian_epsilon(audit("gaussian", C, other, zs[i] * sensitivity).mu, delta);
        const double weak = gaussian_epsilon(audit("gaussian", C, other, 0.75 * zs[i] * sensitivity).mu, delta);
        print_message("gaussian z = %g: audited %.3f of claimed %.3f; with a quarter less noise %.3f\n", zs[i], found,
                      claim, weak);
        PVT_CHECK(found <= claim, "z = %g: epsilon at least %g, claimed %g", zs[i], found, claim);
        PVT_CHECK(weak > claim, "z = %g: a quarter less noise went unnoticed (%g)", zs[i], weak);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(clopper_pearson_is_right),
                                      cmocka_unit_test(gaussian_keeps_its_claim) };
    return cmocka_run_group_tests(all, stat_setup, stat_teardown);
}
