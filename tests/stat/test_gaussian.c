/* test_gaussian.c - the Gaussian mechanism against the normal distribution: moments, shape, tails, small supports,
 * low bits, independence.  False-alarm rate: see stattest.h. */
#include "stat/stattest.h"

enum { N = DRAWS(1 << 20) };
static int64_t x[N];
static double out[N];
static double u[N];

static const double scale = 3.0, h = 0x1p-30;

static void draw(void)
{
    const pv_mechanism_ops *m = (const pv_mechanism_ops *)pv_find(PV_KIND_mechanism, "gaussian");
    PVT_TRUE(m && m->norm == PV_L2 && m->event == PV_EV_GAUSSIAN);
    memset(x, 0, sizeof x);
    m->draw(&(pv_noise) { .scale = scale, .spacing = h, .length = N }, rng, 1.0, 1.0, x, NULL, out);
}

static double z(int i)
{
    return (double)x[i] * h / scale;
}

static void moments(void **state)
{
    (void)state;
    double m[9] = { 0 };
    draw();
    for (int i = 0; i < N; i++)
        for (int k = 1; k <= 8; k++) m[k] += pow(z(i), k) / N;
    const double want[] = { 1, 0, 1, 0, 3, 0, 15, 0, 105 };
    const double variance[] = { 0, 1, 2, 15, 96, 945, 10170 }; /* E z^2k - (E z^k)^2 */
    for (int k = 1; k <= 6; k++)
        PVT_PLAUSIBLE(normal_p((m[k] - want[k]) / sqrt(variance[k] / N)), "moment %d is %g", k, m[k]);
}

static void shape(void **state)
{
    (void)state;
    for (int rep = 0; rep < 4; rep++) {
        draw();
        for (int i = 0; i < N; i++) u[i] = phi_cdf(z(i));
        const double p = ks_p(u, N);
        PVT_PLAUSIBLE(p, "KS p = %g", p);
    }
}

/* 2^26 draws, counted beyond 3, 3.5, ..., 6 on either side: a uniform of 32 bits or a cut tail would show. */
static void tails(void **state)
{
    (void)state;
    enum { REPS = 64, CUTS = 7 };
    double seen[2 * CUTS] = { 0 }, want[2 * CUTS];
    for (int rep = 0; rep < REPS; rep++) {
        draw();
        for (int i = 0; i < N; i++)
            for (int c = 0; c < CUTS; c++) {
                seen[2 * c] += z(i) > 3 + 0.5 * c;
                seen[2 * c + 1] += z(i) < -3 - 0.5 * c;
            }
    }
    for (int c = 0; c < 2 * CUTS; c++) {
        want[c] = (double)N * REPS * phi_cdf(-3 - 0.5 * (c / 2));
        const double slack = 7 * sqrt(want[c]) + 14; /* Poisson: beyond 1e-8 either way (Chernoff) */
        PVT_CHECK(fabs(seen[c] - want[c]) <= slack, "beyond %g: %g seen, %g expected", 3 + 0.5 * (c / 2), seen[c],
                  want[c]);
    }
}

/* P(round(s N) = k) = Phi((k + 1/2)/s) - Phi((k - 1/2)/s), for scales around one grid unit. */
static void small_supports(void **state)
{
    (void)state;
    enum { K = 60 };
    const double scales[] = { 0x1p-4, 0.25, 0.5, 1, 1.7, 5, 12 };
    for (int c = 0; c < 7; c++) {
        double seen[2 * K + 1] = { 0 }, want[2 * K + 1];
        memset(x, 0, sizeof x);
        pvi_normal_add(rng, scales[c], 1.0, x, N);
        for (int i = 0; i < N; i++) seen[(x[i] < -K ? -K : x[i] > K ? K : x[i]) + K]++;
        for (int k = -K; k <= K; k++) {
            const double lo = (fabs((double)k) - 0.5) / scales[c], hi = (fabs((double)k) + 0.5) / scales[c];
            want[k + K] = N * 0.5 * (erfc(lo / sqrt(2.0)) - (abs(k) < K ? erfc(hi / sqrt(2.0)) : 0));
        }
        PVT_PLAUSIBLE(pearson_p(seen, want, 2 * K + 1), "scale %g", scales[c]);
    }
}

/* Low bits are uniform whatever the value added to, and independent of the high ones. */
static void low_bits(void **state)
{
    (void)state;
    const int64_t sums[] = { 0, 1, (int64_t)1 << 40, -123456789 };
    for (int c = 0; c < 4; c++) {
        double seen[512] = { 0 }, want[512];
        for (int i = 0; i < N; i++) x[i] = sums[c];
        pvi_normal_add(rng, scale, h, x, N);
        for (int i = 0; i < N; i++) seen[(x[i] & 255) + 256 * (x[i] > sums[c])]++;
        for (int i = 0; i < 512; i++) want[i] = N / 512.0;
        PVT_PLAUSIBLE(pearson_p(seen, want, 512), "low bits on %lld", (long long)sums[c]);
    }
}

/* Draws at any lag, halves of a pair (256 apart), and successive calls are uncorrelated, and so are their squares. */
static void independence(void **state)
{
    (void)state;
    static double first[N];
    draw();
    for (int i = 0; i < N; i++) first[i] = z(i);
    draw();
    const int lags[] = { 1, 2, 7, 8, 16, 255, 256, 257, 511, 512, 513, 1024, 4096 };
    for (int c = 0; c < 13; c++) {
        double plain = 0, squares = 0;
        for (int i = 0; i + lags[c] < N; i++) {
            plain += z(i) * z(i + lags[c]);
            squares += (z(i) * z(i) - 1) * (z(i + lags[c]) * z(i + lags[c]) - 1) / 2;
        }
        PVT_PLAUSIBLE(normal_p(plain / sqrt(N)), "lag %d", lags[c]);
        PVT_PLAUSIBLE(normal_p(squares / sqrt(N)), "squares at lag %d", lags[c]);
    }
    double across = 0, across_squares = 0;
    for (int i = 0; i < N; i++) {
        across += first[i] * z(i);
        across_squares += (first[i] * first[i] - 1) * (z(i) * z(i) - 1) / 2;
    }
    PVT_PLAUSIBLE(normal_p(across / sqrt(N)), "calls");
    PVT_PLAUSIBLE(normal_p(across_squares / sqrt(N)), "squares across calls");
}

/* d = 1, 2, 3 at a time: no draw of a short call is special. */
static void short_calls(void **state)
{
    (void)state;
    enum { M = DRAWS(60000) };
    for (int d = 1; d <= 3; d++)
        for (int which = 0; which < d; which++) {
            for (int i = 0; i < M; i++) {
                int64_t v[3] = { 0 };
                pvi_normal_add(rng, scale, h, v, d);
                u[i] = phi_cdf((double)v[which] * h / scale);
            }
            PVT_PLAUSIBLE(ks_p(u, M), "d = %d, coordinate %d", d, which);
        }
}

static void certified_distance(void **state)
{
    (void)state;
    PVT_TRUE(pvi_normal_tv_per_draw() > 0 && pvi_normal_tv_per_draw() <= 0x1p-50);
    PVT_TRUE(pvi_ball_tv(1000) > 0 && pvi_ball_tv(1000) <= 0x1p-50);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(moments),     cmocka_unit_test(shape),
        cmocka_unit_test(tails),       cmocka_unit_test(small_supports),
        cmocka_unit_test(low_bits),    cmocka_unit_test(independence),
        cmocka_unit_test(short_calls), cmocka_unit_test(certified_distance),
    };
    return cmocka_run_group_tests(all, stat_setup, stat_teardown);
}
