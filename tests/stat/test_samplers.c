/* test_samplers.c - uniform integers, Poisson and fixed-size samples: sizes, inclusion, subsets, independence.
 * False-alarm rate: see stattest.h. */
#include "stat/stattest.h"

enum { NMAX = 60000 };
static int64_t rows[NMAX];

static int64_t sample(const pvi_sampler_ops *kind, double rate, int64_t n)
{
    int64_t count;
    pvi_sample(rng, kind, rate, n, 0, rows, &count);
    return count;
}

/* n = 3 * 2^62: a product without the refusals would give every third value twice as often. */
static void below_is_unbiased(void **state)
{
    (void)state;
    enum { M = DRAWS(60000) };
    double big[3] = { 0 }, small[7] = { 0 }, want[7];
    for (int i = 0; i < M; i++) {
        big[pvi_rng_below(rng, 3ull << 62) % 3]++;
        small[pvi_rng_below(rng, 7)]++;
    }
    for (int i = 0; i < 7; i++) want[i] = M / 3.0;
    PVT_PLAUSIBLE(pearson_p(big, want, 3), "thirds");
    for (int i = 0; i < 7; i++) want[i] = M / 7.0;
    PVT_PLAUSIBLE(pearson_p(small, want, 7), "sevenths");
}

static void uniforms(void **state)
{
    (void)state;
    enum { M = DRAWS(200000) };
    static double u[M];
    for (int i = 0; i < M; i++) u[i] = ((double)(pvi_rng_u64(rng) >> 12) + 0.5) * 0x1p-52;
    PVT_PLAUSIBLE(ks_p(u, M), "uniform");
}

static double binomial(int n, int k, double q)
{
    return exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(q) + (n - k) * log1p(-q));
}

/* Skips for q < 1/8, a comparison per row above and for tiny q; n at the ends of words and chunks. */
static void poisson_batch_sizes(void **state)
{
    (void)state;
    enum { M = DRAWS(12000) };
    const double rates[] = { 1e-8, 0x1p-24, 1e-5, 0.002, 1.0 / 470, 0.05, 0.1249999, 0.125, 0.3, 0.5, 0.9, 0.999 };
    const int ns[] = { 1, 2, 63, 64, 65, 1000 };
    for (int c = 0; c < 12; c++)
        for (int a = 0; a < 6; a++) {
            static double seen[1001], want[1001];
            for (int k = 0; k <= ns[a]; k++) {
                seen[k] = 0;
                want[k] = M * binomial(ns[a], k, rates[c]);
            }
            for (int i = 0; i < M; i++) seen[sample(&pvi_poisson, rates[c], ns[a])]++;
            PVT_PLAUSIBLE(pearson_p(seen, want, ns[a] + 1), "q = %g, n = %d", rates[c], ns[a]);
        }
}

static void poisson_rows_alike(void **state)
{
    (void)state;
    enum { N = 1000, M = DRAWS(40000) };
    const double rates[] = { 0.01, 0.4 };
    for (int c = 0; c < 2; c++) {
        static double hits[N], want[N];
        double together = 0, next = 0;
        memset(hits, 0, sizeof hits);
        bool before = false; /* row 17 in the previous sample */
        for (int i = 0; i < M; i++) {
            const int64_t count = sample(&pvi_poisson, rates[c], N);
            bool has17 = false, has18 = false;
            for (int64_t k = 0; k < count; k++) {
                hits[rows[k]]++;
                has17 |= rows[k] == 17;
                has18 |= rows[k] == 18;
            }
            together += has17 && has18;
            next += has17 && before;
            before = has17;
        }
        double stat = 0;
        for (int i = 0; i < N; i++) {
            want[i] = M * rates[c];
            stat += (hits[i] - want[i]) * (hits[i] - want[i]) / (want[i] * (1 - rates[c]));
        }
        PVT_PLAUSIBLE(chi2_p(stat, N), "q = %g: some row more often (%g)", rates[c], stat);
        const double q2 = rates[c] * rates[c], se = sqrt(M * q2 * (1 - q2));
        PVT_CHECK(fabs(together - M * q2) <= 5.5 * se + 5, "neighbouring rows: %g of %g", together, M * q2);
        PVT_CHECK(fabs(next - M * q2) <= 5.5 * se + 5, "successive samples: %g of %g", next, M * q2);
    }
}

/* The whole distribution on all 2^6 subsets, by both methods. */
static void poisson_subsets(void **state)
{
    (void)state;
    enum { M = DRAWS(200000) };
    const double rates[] = { 0.12, 0.13 };
    for (int c = 0; c < 2; c++) {
        double seen[64] = { 0 }, want[64];
        for (int i = 0; i < M; i++) {
            unsigned set = 0;
            const int64_t count = sample(&pvi_poisson, rates[c], 6);
            for (int64_t k = 0; k < count; k++) set |= 1u << rows[k];
            seen[set]++;
        }
        for (int s = 0; s < 64; s++) {
            const int k = __builtin_popcount((unsigned)s);
            want[s] = M * pow(rates[c], k) * pow(1 - rates[c], 6 - k);
        }
        PVT_PLAUSIBLE(pearson_p(seen, want, 64), "q = %g", rates[c]);
    }
}

/* Skips over a long table: the number of rows in each of 60 stretches, and the mean. */
static void poisson_long_table(void **state)
{
    (void)state;
    enum { M = DRAWS(4000), N = NMAX };
    double stretch[60] = { 0 }, want[60], total = 0;
    for (int i = 0; i < M; i++) {
        const int64_t count = sample(&pvi_poisson, 1.0 / 470, N);
        total += (double)count;
        for (int64_t k = 0; k < count; k++) stretch[rows[k] / 1000]++;
    }
    const double q = 1.0 / 470, mean = (double)N * M * q;
    for (int i = 0; i < 60; i++) want[i] = total / 60;
    PVT_PLAUSIBLE(pearson_p(stretch, want, 60), "stretches");
    PVT_PLAUSIBLE(normal_p((total - mean) / sqrt(mean * (1 - q))), "%g rows, %g expected", total, mean);
}

/* Every subset of n rows of size k equally often, for all n <= 7 and k. */
static void fixed_size_subsets(void **state)
{
    (void)state;
    enum { M = DRAWS(10000) };
    for (int n = 1; n <= 7; n++)
        for (int k = 0; k <= n; k++) {
            double seen[128] = { 0 }, want[128] = { 0 };
            const double rate = k ? (double)k / n : 0.01;
            for (int i = 0; i < M; i++) {
                unsigned set = 0;
                PVT_IS(sample(&pvi_fixed, rate, n), k);
                for (int j = 0; j < k; j++) set |= 1u << rows[j];
                seen[set]++;
            }
            double ways = 0;
            for (unsigned s = 0; s < 1u << n; s++) ways += __builtin_popcount(s) == k;
            for (unsigned s = 0; s < 1u << n; s++) {
                if (__builtin_popcount(s) == k) want[s] = M / ways;
                else PVT_TRUE(seen[s] == 0);
            }
            PVT_PLAUSIBLE(pearson_p(seen, want, 1 << n), "%d of %d", k, n);
        }
}

static void fixed_size_rows_alike(void **state)
{
    (void)state;
    enum { M = DRAWS(20000), N = 1000 };
    const double rates[] = { 0.003, 0.1, 0.5, 0.97 };
    for (int c = 0; c < 4; c++) {
        static double hits[N];
        double stat = 0;
        memset(hits, 0, sizeof hits);
        for (int i = 0; i < M; i++) {
            const int64_t count = sample(&pvi_fixed, rates[c], N);
            for (int64_t k = 0; k < count; k++) hits[rows[k]]++;
        }
        /* Counts of one sample sum to a constant: N - 1 degrees, variance q(1-q) N/(N-1). */
        const double mean = M * rates[c];
        for (int i = 0; i < N; i++) stat += (hits[i] - mean) * (hits[i] - mean) / (mean * (1 - rates[c]));
        PVT_PLAUSIBLE(chi2_p(stat * (N - 1) / N, N - 1), "rate %g: %g", rates[c], stat);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(below_is_unbiased),   cmocka_unit_test(uniforms),
        cmocka_unit_test(poisson_batch_sizes), cmocka_unit_test(poisson_rows_alike),
        cmocka_unit_test(poisson_subsets),     cmocka_unit_test(poisson_long_table),
        cmocka_unit_test(fixed_size_subsets),  cmocka_unit_test(fixed_size_rows_alike),
    };
    return cmocka_run_group_tests(all, stat_setup, stat_teardown);
}
