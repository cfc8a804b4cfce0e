/* bench_eigen.c - processor time of our symmetric eigensolver beside LAPACK's dsyevd, in the same run.
 *
 *   OPENBLAS_NUM_THREADS=1 bench_eigen [rounds] [LAPACK's library, default liblapack.so.3]
 *
 * The library is opened when the program runs; without one only our time is shown.  Matrices: x x' of 2 n random rows
 * with columns of unequal length, as second moments are, plus noise.  The least of all rounds, ours and theirs in
 * turn; then the largest |A v - e v| of ours over the largest eigenvalue. */
#include "core/eigen.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

typedef void dsyevd_fn(const char *job, const char *half, const int *n, double *a, const int *lda, double *value,
                       double *work, const int *lwork, int *iwork, const int *liwork, int *info);

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53 - 0.5;
}

static void fill(int64_t n, double *a)
{
    uint64_t seed = (uint64_t)n;
    double *x = malloc((size_t)n * sizeof *x);
    if (!x) exit(1);
    memset(a, 0, (size_t)(n * n) * sizeof *a);
    for (int64_t r = 0; r < 2 * n; r++) {
        for (int64_t i = 0; i < n; i++) x[i] = uniform(&seed) / (1.0 + 0.1 * (double)i);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++) a[i * n + j] += x[i] * x[j];
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) a[j * n + i] = a[i * n + j] += 1e-3 * uniform(&seed);
    free(x);
}

static double residual(int64_t n, const double *a, const double *V, const double *e)
{
    double most = 0.0, *y = malloc((size_t)n * sizeof *y);
    if (!y) exit(1);
    for (int64_t k = 0; k < n; k++) {
        pvi_matvec(n, a, V + k * n, y);
        for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(y[i] - e[k] * V[k * n + i]));
    }
    free(y);
    return most / fmax(fabs(e[0]), fabs(e[n - 1]));
}

static double theirs(dsyevd_fn *dsyevd, int64_t n, double *a, double *value)
{
    const int m = (int)n, lwork = 1 + 6 * m + 2 * m * m, liwork = 3 + 5 * m;
    double *work = malloc((size_t)lwork * sizeof *work);
    int *iwork = malloc((size_t)liwork * sizeof *iwork), info;
    if (!work || !iwork) exit(1);
    const double t = seconds();
    dsyevd("V", "L", &m, a, &m, value, work, &lwork, iwork, &liwork, &info);
    const double took = seconds() - t;
    free(work), free(iwork);
    return info == 0 ? took : NAN;
}

static void measure(int64_t n, int rounds, dsyevd_fn *dsyevd)
{
    const size_t size = (size_t)(n * n) * sizeof(double);
    double *a = malloc(size), *V = malloc(size), *e = malloc(3 * (size_t)n * sizeof *e),
           best[2] = { INFINITY, INFINITY };
    if (!a || !V || !e) exit(1);
    fill(n, a);
    double apart = 0.0, off = 0.0;
    for (int r = 0; r < rounds; r++) {
        memcpy(V, a, size);
        const double t = seconds();
        if (pvi_eigen(n, V, e, e + n) != PV_OK) exit(1);
        best[0] = fmin(best[0], seconds() - t);
        if (r == 0) off = residual(n, a, V, e);
        if (!dsyevd) continue;
        memcpy(V, a, size);
        best[1] = fmin(best[1], theirs(dsyevd, n, V, e + 2 * n));
        for (int64_t k = 0; k < n; k++) apart = fmax(apart, fabs(e[k] - e[2 * n + k]) / e[n - 1]);
    }
    printf("%5lld  ours %10.3f ms", (long long)n, 1e3 * best[0]);
    if (dsyevd)
        printf("  dsyevd %10.3f ms  ratio %5.2f  eigenvalues apart %.1e", 1e3 * best[1], best[0] / best[1], apart);
    printf("  residual %.1e\n", off);
    free(a), free(V), free(e);
}

int main(int argc, char **argv)
{
    static const int64_t sizes[] = { 23, 55, 100, 200, 500, 1000, 2000 };
    const int rounds = argc > 1 ? atoi(argv[1]) : 5;
    const char *name = argc > 2 ? argv[2] : "liblapack.so.3";
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    dsyevd_fn *dsyevd = NULL;
    if (library) *(void **)&dsyevd = dlsym(library, "dsyevd_");
    printf("symmetric eigenproblem, processor time, best of %d; %s\n", rounds,
           dsyevd ? name : "no LAPACK to compare with");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        measure(sizes[i], sizes[i] > 500 ? 1 + rounds / 4 : rounds, dsyevd);
    if (library) dlclose(library);
    return 0;
}
