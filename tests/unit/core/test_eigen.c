/* test_eigen.c - eigenvectors and eigenvalues: of random matrices, of given ranks, of any size of entries. */
#include "core/eigen.h"
#include "pvtest.h"

/* Symmetric, of the given rank, entries times `size`. */
static void make(int64_t n, int64_t rank, double size, uint64_t seed, double *a)
{
    double *v = malloc(sizeof *v * (size_t)n);
    memset(a, 0, sizeof *a * (size_t)(n * n));
    for (int64_t k = 0; k < rank; k++) {
        for (int64_t i = 0; i < n; i++) v[i] = pvt_normal(&seed);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) a[i * n + j] += (k % 2 ? 1 : -0.5) * size * (v[i] * v[j]);
    }
    free(v);
}

static void check(int64_t n, int64_t rank, double size)
{
    const size_t all = (size_t)(n * n);
    double *a = malloc(sizeof *a * all), *v = malloc(sizeof *v * all), *value = malloc(sizeof *value * (size_t)n),
           *work = malloc(sizeof *work * (size_t)n), norm = 0;
    make(n, rank, size, (uint64_t)(n + rank), a);
    memcpy(v, a, sizeof *v * all);
    PVT_CHECK(pvi_eigen(n, v, value, work) == PV_OK, "n = %lld, rank %lld: no convergence", (long long)n,
              (long long)rank);
    for (size_t i = 0; i < all; i++) norm = fmax(norm, fabs(a[i]));
    for (int64_t k = 0; k < n; k++) {
        PVT_TRUE(k == 0 || value[k] >= value[k - 1]);
        for (int64_t i = 0; i < n; i++) {
            double av = 0, dot = 0;
            for (int64_t j = 0; j < n; j++) {
                av += a[i * n + j] * v[k * n + j];
                dot += v[i * n + j] * v[k * n + j];
            }
            PVT_NEAR(av, value[k] * v[k * n + i], 1e-13 * (double)n * norm);
            PVT_NEAR(dot, i == k, 1e-13 * (double)n);
        }
    }
    free(a);
    free(v);
    free(value);
    free(work);
}

static void any_rank(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 120; n = n * 3 / 2 + 1)
        for (int64_t rank = 0; rank <= n; rank += n > 12 ? n / 3 : 1) {
            check(n, rank, 1);
            check(n, rank, 1e-200);
            check(n, rank, 1e200);
        }
    for (int64_t rank = 40; rank < 80; rank++) check(100, rank, 1); /* a large null space */
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(any_rank) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
