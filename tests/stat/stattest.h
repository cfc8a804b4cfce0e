/* stattest.h - test statistics with their p-values.
 *
 * Seeds are fixed, so a test always gives the same verdict; a correct sampler would fail one check for fewer than
 * one seed in 10^7 (PVT_PLAUSIBLE), and no file makes more than a few hundred checks on its own, so the
 * false-alarm rate of every reported statistic is below 1e-6. */
#ifndef STATTEST_H
#define STATTEST_H
#include "mech/mech.h"
#include "pvtest.h"

/* Instrumented for coverage, code is slow, and few draws reach the same branches as many. */
#ifdef PRIVET_COVERAGE
#define DRAWS(n) ((n) / 16)
#else
#define DRAWS(n) (n)
#endif
#define PVT_PLAUSIBLE(p, ...) PVT_CHECK((p) > 1e-7, __VA_ARGS__)

static pv_ctx *ctx;
static pv_rng *rng;

static inline int stat_setup(void **state)
{
    (void)state;
    return pv_ctx_create(NULL, &ctx) != PV_OK || pvi_rng_create_test(ctx, 2024, &rng) != PV_OK;
}

static inline int stat_teardown(void **state)
{
    (void)state;
    pvi_rng_free(rng);
    pv_ctx_free(ctx);
    return 0;
}

/* Upper regularised incomplete gamma Q(a, x): series below a + 1, Lentz's continued fraction above. */
static inline double gamma_q(double a, double x)
{
    const double front = exp(a * log(x) - x - lgamma(a));
    if (!(x > 0)) return 1.0;
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int k = 1; k < 100000 && term > sum * 1e-16; k++) sum += term *= x / (a + k);
        return 1 - front * sum;
    }
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int k = 1; k < 100000; k++) {
        const double an = -k * (k - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        h *= c * d;
        if (fabs(c * d - 1) < 1e-15) break;
    }
    return front * h;
}

/* P(chi-square with `freedom` degrees >= value). */
static inline double chi2_p(double value, double freedom)
{
    return gamma_q(freedom / 2, value / 2);
}

/* Pearson's statistic over cells with expected counts; cells expecting less than 10 are merged. */
static inline double pearson_p(const double *observed, const double *expected, int cells)
{
    double stat = 0, o = 0, e = 0;
    int used = 0;
    for (int i = 0; i < cells; i++) {
        o += observed[i];
        e += expected[i];
        double rest = 0;
        for (int k = i + 1; k < cells; k++) rest += expected[k];
        if (e < 10 || (rest > 0 && rest < 10)) continue;
        stat += (o - e) * (o - e) / e;
        used++;
        o = e = 0;
    }
    return used > 1 ? chi2_p(stat, used - 1) : 1.0;
}

static inline int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov-Smirnov: sorts u, which should be uniform on (0, 1).  Asymptotic p-value with Stephens' correction. */
static inline double ks_p(double *u, int n)
{
    double d = 0, p = 0;
    qsort(u, (size_t)n, sizeof *u, compare_doubles);
    for (int i = 0; i < n; i++) d = fmax(d, fmax(u[i] - (double)i / n, (i + 1.0) / n - u[i]));
    const double root = sqrt(n), x = (root + 0.12 + 0.11 / root) * d;
    for (int k = 1; k < 200; k++) p += (k % 2 ? 2 : -2) * exp(-2.0 * k * k * x * x);
    return fmin(1, fmax(0, x < 0.2 ? 1 : p));
}

/* Two-sided p-value of a standard normal statistic. */
static inline double normal_p(double z)
{
    return erfc(fabs(z) / sqrt(2.0));
}

static inline double phi_cdf(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}
#endif
