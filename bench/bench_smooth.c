/* bench_smooth.c - Laplacian smoothing of ten million parameters: against memory and against an FFT.
 *
 * Usage: bench_smooth [d] [sigma].  Everything runs in one process, interleaved, best of several rounds.
 *   smooth   pvi_smooth, in place
 *   memory   x *= c in place on as many threads: what reading and writing every element once costs
 *   fft      FFTW real transform, division by the eigenvalues, inverse; planned and precomputed outside the clock
 *            (FFTW_MEASURE plans for minutes at this size and gave the same time) */
#include "opt/smooth.h"

#include <fftw3.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 9, PIECES = 64 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct vec {
    double *x;
    int64_t d;
} vec;

static void scale_piece(void *arg, int64_t k, int thread)
{
    const vec *v = arg;
    (void)thread;
    for (int64_t i = v->d * k / PIECES; i < v->d * (k + 1) / PIECES; i++) v->x[i] *= 1.0 + 0x1p-40;
}

typedef struct fft {
    fftw_plan to, back;
    fftw_complex *f;
    double *inverse; /* 1 / (d eigenvalue) */
    int64_t d;
} fft;

static void fft_open(fft *t, double *x, int64_t d, double sigma)
{
    t->d = d;
    t->f = fftw_alloc_complex((size_t)d / 2 + 1);
    t->inverse = malloc(((size_t)d / 2 + 1) * sizeof *t->inverse);
    t->to = fftw_plan_dft_r2c_1d((int)d, x, t->f, FFTW_ESTIMATE);
    t->back = fftw_plan_dft_c2r_1d((int)d, t->f, x, FFTW_ESTIMATE);
    for (int64_t i = 0; i <= d / 2; i++)
        t->inverse[i] = 1.0 / ((1.0 + 2.0 * sigma * (1.0 - cos(2.0 * M_PI * (double)i / (double)d))) * (double)d);
}

static void fft_smooth(const fft *t)
{
    fftw_execute(t->to);
    for (int64_t i = 0; i <= t->d / 2; i++) {
        t->f[i][0] *= t->inverse[i];
        t->f[i][1] *= t->inverse[i];
    }
    fftw_execute(t->back);
}

/* Largest difference between the two on the same vector, relative to the largest element. */
static double difference(pv_ctx *ctx, const fft *t, double *x, double sigma)
{
    pv_arena *a = pvi_arena_create(ctx);
    pvi_smoother s;
    double *y = malloc((size_t)t->d * sizeof *y), worst = 0.0, top = 0.0;
    if (!a || !y || pvi_smooth_open(&s, a, sigma, t->d) != PV_OK) exit(1);
    memcpy(y, x, (size_t)t->d * sizeof *y);
    pvi_smooth(&s, y, t->d);
    fft_smooth(t);
    for (int64_t i = 0; i < t->d; i++) {
        worst = fmax(worst, fabs(x[i] - y[i]));
        top = fmax(top, fabs(x[i]));
    }
    free(y);
    pvi_arena_free(a);
    return worst / top;
}

static void fft_close(fft *t)
{
    fftw_destroy_plan(t->to);
    fftw_destroy_plan(t->back);
    fftw_free(t->f);
    free(t->inverse);
}

static void run(pv_ctx *ctx, int64_t d, double sigma, int threads, double *x, double fft_time)
{
    double smooth = INFINITY, memory = INFINITY;
    pv_arena *a = pvi_arena_create(ctx);
    pvi_smoother s;
    vec v = { x, d };
    if (!a || pvi_set_threads(ctx, threads) != PV_OK || pvi_smooth_open(&s, a, sigma, d) != PV_OK) {
        fprintf(stderr, "%s\n", pv_ctx_errmsg(ctx));
        exit(1);
    }
    for (int r = 0; r < ROUNDS; r++) {
        double t = now();
        pvi_smooth(&s, x, d);
        smooth = fmin(smooth, now() - t);
        t = now();
        pvi_parallel(ctx, PIECES, scale_piece, &v);
        memory = fmin(memory, now() - t);
    }
    printf("%7d  %9.2f  %9.2f  %9.1f  %8.0f %%  %7.1fx\n", pvi_threads(ctx), 1e3 * smooth, 1e3 * memory,
           1e3 * fft_time, 100.0 * memory / smooth, fft_time / smooth);
    pvi_arena_free(a);
}

int main(int argc, char **argv)
{
    const int64_t d = argc > 1 ? (int64_t)atof(argv[1]) : 10000000;
    const double sigma = argc > 2 ? atof(argv[2]) : 1.0;
    pv_ctx *ctx;
    double *x = d > 1 && d < 1 << 30 ? fftw_alloc_real((size_t)d) : NULL;
    if (!x || pv_ctx_create(NULL, &ctx) != PV_OK) return 1;
    fft t;
    fft_open(&t, x, d, sigma); /* planning overwrites x */
    for (int64_t i = 0; i < d; i++) x[i] = (double)(i * 2654435761u % 1000003) / 1000003.0 - 0.5;
    const double off = difference(ctx, &t, x, sigma);
    double fft_time = INFINITY;
    for (int r = 0; r < 3; r++) {
        const double start = now();
        fft_smooth(&t);
        fft_time = fmin(fft_time, now() - start);
    }
    fft_close(&t);
    printf("Laplacian smoothing, d = %lld, sigma = %g (FFTW on one thread), relative difference %.1e\n", (long long)d,
           sigma, off);
    printf("threads  smooth ms  memory ms     fft ms   of memory   of fft\n");
    run(ctx, d, sigma, 1, x, fft_time);
    run(ctx, d, sigma, 0, x, fft_time);
    fftw_free(x);
    pv_ctx_free(ctx);
    return 0;
}
