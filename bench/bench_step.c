/* bench_step.c - whole training steps of the tutorial network for MNIST, beside PyTorch and Opacus.
 *
 * 60,000 made-up images, as bytes, Poisson batches of 256, SGD with momentum: draw the batch, clipped gradient sum,
 * noise, move.  "Noise and clipping off" is privacy=off: no noise is drawn and no gradient is shortened, though their
 * norms are still taken.  One thread is measured in processor time, which other work on the machine hardly changes;
 * more threads in time on the clock.  A step's time is the tenth percentile over the run, for this program and the
 * peers alike.  Peers run when PRIVET_PEERS_PYTHON names a Python with torch (and opacus).
 *
 *   PRIVET_PEERS_PYTHON=v/bin/python bench_step [threads, 2] [steps, 300] [path of net_peer.py] */
#include "run/run.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { N = 60000, SIDE = 28, P = SIDE * SIDE, BATCH = 256, MOST = 100000 };

typedef struct watch {
    double last, took[MOST];
    int64_t n;
} watch;

static int threads = 2;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool tick(void *user, const char *what, double done, double total, double epsilon)
{
    watch *w = user;
    const double now = seconds();
    (void)what;
    (void)total;
    (void)epsilon;
    if (done > 0 && w->n < MOST) w->took[w->n++] = now - w->last;
    w->last = now;
    return true;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double tenth(watch *w)
{
    qsort(w->took, (size_t)w->n, sizeof *w->took, by_size);
    return w->n ? w->took[w->n / 10] : 0.0;
}

static void fill(pvi_matrix *m)
{
    uint64_t seed = 88172645463325252u;
    m->domain = (pv_domain) {
        .n = N, .p = P, .row_norm = 1, .classes = 10, .y_hi = 9, .height = SIDE, .width = SIDE, .channels = 1
    };
    m->ld = P;
    m->byte = malloc((size_t)N * P);
    m->y = calloc(N, sizeof(float));
    m->norm = calloc(N, sizeof(float));
    if (!m->byte || !m->y || !m->norm) abort();
    memset(m->digest, '0', 64);
    for (int64_t i = 0; i < (int64_t)N * P; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        m->byte[i] = seed % 5 ? 0 : (uint8_t)(seed >> 56);
    }
    for (int b = 0; b < 256; b++) m->level[b] = (float)(b / 255.0);
    for (int64_t i = 0; i < N; i++) m->y[i] = (float)(i % 10), m->norm[i] = 9.0f;
}

/* Seconds a step takes with these settings. */
static double train(pv_ctx *ctx, pvi_matrix *m, const char *steps, bool private_run)
{
    static watch w;
    pv_plan *plan;
    pv_result *r;
    memset(&w, 0, sizeof w);
    pv_ctx_on_progress(ctx, tick, &w);
    if (pv_plan_create(ctx, &plan) != PV_OK) return 0;
    const char *const set[][2] = { { "data.bias", "0" },         { "data.image", "28x28" },
                                   { "model", "mnist-cnn" },     { "model.augment", "1" },
                                   { "optimizer", "sgd" },       { "optimizer.steps", steps },
                                   { "optimizer.step", "0.05" }, { "sampler", "poisson" },
                                   { "sampler.batch", "256" },   { "budget.noise_multiplier", "1.1" },
                                   { "budget.epsilon", "1000" }, { "privacy", private_run ? "on" : "off" } };
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        if (pv_plan_set(plan, set[i][0], set[i][1]) != PV_OK) return 0;
    if (pvi_set_threads(ctx, threads) != PV_OK || pvi_run_matrix(plan, m, NULL, NULL, &r) != PV_OK) {
        fprintf(stderr, "%s\n", pv_ctx_errmsg(ctx));
        return 0;
    }
    pv_result_free(r);
    pv_plan_free(plan);
    return tenth(&w);
}

static void peers(const char *script, double own)
{
    const char *python = getenv("PRIVET_PEERS_PYTHON");
    char line[512], name[64];
    double took;
    if (!python) {
        puts("peers: skipped, PRIVET_PEERS_PYTHON names no Python with torch");
        return;
    }
    snprintf(line, sizeof line, "'%s' '%s' %d", python, script, threads);
    FILE *f = popen(line, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%63s %lf", name, &took) == 2)
            printf("%-28s %8.3f ms a step, %8.0f rows/s, %5.2f times the private step above\n", name, took * 1e3,
                   BATCH / took, took / own);
        else fputs(line, stdout);
    if (f) pclose(f);
}

int main(int argc, char **argv)
{
    pvi_matrix m = { 0 };
    pv_ctx *ctx;
    if (pv_ctx_create(NULL, &ctx)) return 1;
    fill(&m);
    if (argc > 1) threads = atoi(argv[1]);
    const char *steps = argc > 2 ? argv[2] : "300";
    const double off = train(ctx, &m, steps, false), on = train(ctx, &m, steps, true);
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    printf("%d thread%s\n", threads, threads == 1 ? ", processor time" : "s, time on the clock");
    printf("privet, private               %8.3f ms a step, %8.0f rows/s\n", on * 1e3, BATCH / on);
    printf("noise and clipping off        %8.3f ms a step, %8.0f rows/s: the private one takes %.2f times as long\n",
           off * 1e3, BATCH / off, on / off);
    printf("peak memory                   %8.0f MB, images included\n", (double)u.ru_maxrss / 1024);
    fflush(stdout);
    peers(argc > 3 ? argv[3] : "bench/peers/net_peer.py", on);
    pv_ctx_free(ctx);
    free(m.byte), free(m.y), free(m.norm);
    return on > 0 ? 0 : 1;
}
