/* bench_sbcd.c - how fast is an epoch of block coordinate descent, beside the same updates in numpy?
 *
 *   PRIVET_PYTHON=python-with-numpy-and-scipy bench_sbcd [rounds, 10] [threads, 2]
 *
 * 4,800 x 20 rows of five classes, five layers of 200, squared loss, five mini-batches of 960 in turn.  Ours is the
 * whole of 51 noisy steps, from the call to the finished result, less one of a single step, by 10.  Best of all
 * rounds, ours before and after the peer, wall clock and processor time.  The peer is bench/peers/sbcd_peer.py,
 * OpenBLAS with as many threads. */
#include "privet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N = 4800, P = 20 };

static double seconds(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static pv_data *fill(pv_ctx *ctx)
{
    static float x[N * P];
    static uint8_t y[N];
    pv_data *rows;
    uint64_t s = 88172645463325252u;
    for (int64_t i = 0; i < N; i++) {
        double sum = 0.0;
        for (int64_t j = 0; j < P; j++) {
            s ^= s << 13, s ^= s >> 7, s ^= s << 17;
            x[i * P + j] = (float)(s >> 40) * 0x1p-23f - 1.0f;
            sum += (double)x[i * P + j] * (double)x[i * P + j];
        }
        for (int64_t j = 0; j < P; j++) x[i * P + j] *= (float)(0.999999 / sqrt(sum));
        y[i] = (uint8_t)(s % 5);
    }
    if (pv_data_dense(ctx, x, PV_FLOAT32, N, P, P, 1, &rows) != PV_OK ||
        pv_data_labels(rows, y, PV_UINT8, N) != PV_OK)
        abort();
    return rows;
}

static void set(pv_plan *p, const char *key, const char *value)
{
    if (pv_plan_set(p, key, value) != PV_OK) abort();
}

static void run(pv_ctx *ctx, pv_data *rows, const char *threads, const char *steps, double best[2])
{
    pv_plan *p;
    pv_result *r;
    if (pv_plan_create(ctx, &p) != PV_OK) abort();
    set(p, "data.labels", "0,1,2,3,4");
    set(p, "data.bias", "0");
    set(p, "data.key_path", "none");
    set(p, "run.threads", threads);
    set(p, "optimizer", "sbcd");
    set(p, "model", "mlp:dense200,relu,dense200,relu,dense200,relu,dense200,relu,dense200,relu,dense");
    set(p, "sampler", "cyclic");
    set(p, "sampler.batch", "960");
    set(p, "optimizer.steps", steps);
    set(p, "budget.noise_multiplier", "10");
    set(p, "budget.epsilon", "1000");
    set(p, "accountant", "gaussian");
    const double w = seconds(CLOCK_MONOTONIC), c = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (pv_plan_run_on(p, rows, &r) != PV_OK) {
        fprintf(stderr, "%s\n", pv_ctx_errmsg(ctx));
        exit(1);
    }
    best[0] = fmin(best[0], seconds(CLOCK_MONOTONIC) - w);
    best[1] = fmin(best[1], seconds(CLOCK_PROCESS_CPUTIME_ID) - c);
    pv_result_free(r);
    pv_plan_free(p);
}

static void race(pv_ctx *ctx, pv_data *rows, const char *threads, int rounds, double one[2], double many[2])
{
    for (int k = 0; k < rounds; k++) {
        run(ctx, rows, threads, "1", one);
        run(ctx, rows, threads, "51", many);
    }
}

/* Wall and processor seconds of the peer's epoch; false: there is none. */
static bool peer(int rounds, const char *threads, double out[2])
{
    const char *python = getenv("PRIVET_PYTHON"), *source = getenv("PRIVET_SOURCE");
    char command[4096];
    if (!python) return false;
    snprintf(command, sizeof command, "OPENBLAS_NUM_THREADS=%s %s %s/bench/peers/sbcd_peer.py %d", threads, python,
             source ? source : ".", 10 * rounds);
    FILE *f = popen(command, "r");
    const bool read = f && fscanf(f, "%lf %lf", &out[0], &out[1]) == 2;
    return f && pclose(f) == 0 && read;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 10;
    const char *threads = argc > 2 ? argv[2] : "2";
    double one[2] = { INFINITY, INFINITY }, many[2] = { INFINITY, INFINITY }, other[2];
    pv_ctx *ctx;
    if (pv_ctx_create(NULL, &ctx) != PV_OK) return 1;
    pv_data *rows = fill(ctx);
    race(ctx, rows, threads, (rounds + 1) / 2, one, many);
    const bool met = peer(rounds, threads, other);
    race(ctx, rows, threads, (rounds + 1) / 2, one, many);
    const double wall = 0.1 * (many[0] - one[0]), cpu = 0.1 * (many[1] - one[1]);
    printf("an epoch of sbcd, %s threads: %.4f s wall, %.4f s processor\n", threads, wall, cpu);
    if (met)
        printf("the same in numpy: %.4f s wall, %.4f s processor: %.2f and %.2f times as long\n", other[0], other[1],
               other[0] / wall, other[1] / cpu);
    else puts("numpy skipped: PRIVET_PYTHON names no Python with numpy and scipy");
    pv_data_free(rows);
    pv_ctx_free(ctx);
    return 0;
}
