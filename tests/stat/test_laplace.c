/* test_laplace.c - the Laplace mechanism against its distribution.  False-alarm rate: see stattest.h. */
#include "stat/stattest.h"

enum { N = DRAWS(1 << 20) };
static int64_t x[N];
static double u[N];

static double cdf(double v)
{
    return v < 0 ? 0.5 * exp(v) : 1 - 0.5 * exp(-v);
}

static void shape_and_moments(void **state)
{
    (void)state;
    const pv_mechanism_ops *m = (const pv_mechanism_ops *)pv_find(PV_KIND_mechanism, "laplace");
    const double scale = 0.7, h = 0x1p-31;
    double m1 = 0, m2 = 0;
    PVT_TRUE(m && m->norm == PV_L1 && m->event == PV_EV_LAPLACE);
    memset(x, 0, sizeof x);
    PVT_OK(m->add(rng, scale, h, x, N));
    for (int i = 0; i < N; i++) {
        const double v = (double)x[i] * h / scale;
        m1 += v / N;
        m2 += v * v / N;
        u[i] = cdf(v);
    }
    PVT_PLAUSIBLE(normal_p(m1 / sqrt(2.0 / N)), "mean %g", m1);
    PVT_PLAUSIBLE(normal_p((m2 - 2) / sqrt(20.0 / N)), "second moment %g", m2);
    PVT_PLAUSIBLE(ks_p(u, N), "KS");
}

static void small_supports(void **state)
{
    (void)state;
    enum { K = 80 };
    const double scales[] = { 0x1p-4, 0.5, 1, 3.3, 9 };
    for (int c = 0; c < 5; c++) {
        double seen[2 * K + 1] = { 0 }, want[2 * K + 1];
        memset(x, 0, sizeof x);
        pvi_laplace_add(rng, scales[c], 1.0, x, N);
        for (int i = 0; i < N; i++) seen[(x[i] < -K ? -K : x[i] > K ? K : x[i]) + K]++;
        for (int k = 0; k <= K; k++) {
            const double lo = (k - 0.5) / scales[c], hi = (k + 0.5) / scales[c];
            want[K + k] = want[K - k] = k ? N * 0.5 * (exp(-lo) - (k < K ? exp(-hi) : 0)) : N * (1 - exp(-hi));
        }
        PVT_PLAUSIBLE(pearson_p(seen, want, 2 * K + 1), "scale %g", scales[c]);
    }
}

static void tails_and_independence(void **state)
{
    (void)state;
    enum { REPS = 16 };
    double seen[14] = { 0 }, plain = 0, signs = 0;
    for (int rep = 0; rep < REPS; rep++) {
        memset(x, 0, sizeof x);
        pvi_laplace_add(rng, 1.0, 0x1p-30, x, N);
        for (int i = 0; i < N; i++)
            for (int c = 0; c < 14; c++) seen[c] += fabs((double)x[i]) * 0x1p-30 > c + 1;
        for (int i = 0; i + 256 < N; i++) {
            plain += (double)x[i] * 0x1p-30 * (double)x[i + 256] * 0x1p-30 / 2;
            signs += (x[i] > 0 ? 1 : -1) * (x[i + 1] > 0 ? 1 : -1);
        }
    }
    for (int c = 0; c < 14; c++) {
        const double want = (double)N * REPS * exp(-c - 1.0);
        PVT_CHECK(fabs(seen[c] - want) <= 7 * sqrt(want) + 14, "beyond %d: %g seen, %g expected", c + 1, seen[c],
                  want);
    }
    PVT_PLAUSIBLE(normal_p(plain / sqrt((double)N * REPS)), "correlated");
    PVT_PLAUSIBLE(normal_p(signs / sqrt((double)N * REPS)), "signs correlated");
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(shape_and_moments), cmocka_unit_test(small_supports),
                                      cmocka_unit_test(tails_and_independence) };
    return cmocka_run_group_tests(all, stat_setup, stat_teardown);
}
