/* bench_noise.c - randomness and noise on one core, against the targets.
 *
 * Prints the best of many short runs, since a shared machine only ever makes a run slower.  Every figure is of
 * the whole operation as the library performs it: bits from the keyed stream, transformation, exact rounding. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mech/kernel.h"

enum { D = 1 << 16, ROWS = 60000, SCORES = 100000 };
static int64_t x[D], rows[ROWS];
static float g[D];
static double score[SCORES];
static uint8_t bytes[8 * D];
static pv_rng *rng;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void gauss(void)
{
    pvi_normal_add(rng, 1.1, 0x1p-30, x, D);
}

static void gauss_fine(void)
{
    pvi_normal_add(rng, 1.1, 0x1p-36, x, D);
}

static void gauss_small(void)
{
    for (int i = 0; i < 1000; i++) pvi_normal_add(rng, 1.1, 0x1p-30, x, 20);
}

static void ball(void)
{
    pvi_ball_add(rng, 1.1, 0x1p-30, x, 1000);
}

static void grid(void)
{
    pvi_grid_add(g, 0x1p-30, x, D);
}

static void selection(void)
{
    pvi_select(rng, score, SCORES, 0.5);
}

static void stream(void)
{
    pvi_rng_bytes(rng, bytes, sizeof bytes);
}

static int64_t count;
static void poisson(void)
{
    for (int i = 0; i < 100; i++) pvi_sample(rng, &pvi_poisson, 1.0 / 470, ROWS, 0, rows, &count);
}

static void poisson_large(void)
{
    pvi_sample(rng, &pvi_poisson, 0.25, ROWS, 0, rows, &count);
}

static void fixed(void)
{
    for (int i = 0; i < 100; i++) pvi_sample(rng, &pvi_fixed, 1.0 / 470, ROWS, 0, rows, &count);
}

static double best(void (*fn)(void))
{
    double least = 1e9;
    const double end = now() + 1.5;
    for (int i = 0; i < 3 || now() < end; i++) {
        const double t = now();
        fn();
        const double took = now() - t;
        if (took < least) least = took;
    }
    return least;
}

/* target 0: none */
static void row(const char *what, void (*fn)(void), double units, const char *unit, double target)
{
    const double rate = units / best(fn);
    printf("  %-44s %10.3g %s", what, rate, unit);
    if (target > 0) printf(", %.2f x the target %.3g", rate / target, target);
    printf("\n");
    fflush(stdout);
}

int main(void)
{
    pv_ctx *ctx;
    if (pv_ctx_create(NULL, &ctx) != PV_OK || pvi_rng_create(ctx, &rng) != PV_OK) return 1;
    for (int i = 0; i < SCORES; i++) score[i] = 1e-6 * (double)(i % 1000);
    for (int i = 0; i < D; i++) g[i] = (float)(i % 77) * 0.01f;
    for (int isa = (int)pvi_isa(); isa >= PVI_ISA_BASE; isa--) {
        const bool aim = isa == (int)pvi_isa(), aes = aim && pvi_isa_aes();
        pvi_mech_kernels k = *pvi_mech_kernels_isa[isa];
        k.stream = pvi_stream_pick(aes, k.chacha); /* as a private run has it */
        pvi_rng_use(rng, &k);
        printf("instruction set %d, one core, bits of draws from %s\n", isa, aes ? "AES-256" : "ChaCha20");
        row("ChaCha20 stream", stream, sizeof bytes, "bytes/s", 0);
        row("grid Gaussian, 2^30 units a deviation", gauss, D, "draws/s", aim ? 1e8 : 0);
        if (aim) row("grid Gaussian, against the aim", gauss, D, "draws/s", 3e8);
        row("grid Gaussian, 2^36 units a deviation", gauss_fine, D, "draws/s", 0);
        row("grid Gaussian, 20 at a time", gauss_small, 20000, "draws/s", 0);
        row("ball, d = 1000", ball, 1000, "draws/s", 0);
        row("Gumbel selection among 10^5", selection, SCORES, "scores/s", 0);
        row("Poisson sample, n = 60000, q = 1/470", poisson, 100, "samples/s", 0);
        row("Poisson sample, n = 60000, q = 1/4", poisson_large, 1, "samples/s", 0);
        row("fixed-size sample, n = 60000, k = 128", fixed, 100, "samples/s", 0);
    }
    row("grid addition (best instruction set)", grid, D, "floats/s", 0);
    pvi_rng_free(rng);
    pv_ctx_free(ctx);
    return 0;
}
