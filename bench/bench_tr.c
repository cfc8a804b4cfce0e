/* bench_tr.c - how fast are private trust-region steps, and how close to the processor's limit is the Hessian?
 *
 *   bench_tr [rounds] [threads] [rows] [columns]
 *
 * 581,012 x 55 rows of length 1 (Covertype's shape with a bias), logistic loss: eight steps of `tr` with noise; then
 * the pass that sums gradients and Hessians alone, on one thread, as useful
 * floating point operations (a multiplication and an addition for each entry of the lower triangle of every row) per
 * second.  The best of all rounds is printed, wall clock and processor time: on a busy machine the second says more.
 * bench/peers/tr_peer.py does the same with numpy and scipy; with PRIVET_PYTHON set it is run in between, on as many
 * threads, and the ratios are printed. */
#include "mech/mech.h"
#include "run/run.h"

#include <stdlib.h>
#include <time.h>

extern const pv_loss_ops pv_loss_logistic;
extern const pv_model_ops pv_model_glm;

static double seconds(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *get(size_t size)
{
    void *p = aligned_alloc(64, (size + 127) / 64 * 64);
    if (!p) abort();
    memset(p, 0, size);
    return p;
}

static float *fill(pvi_matrix *m, int64_t n, int64_t p)
{
    uint64_t s = 88172645463325252u;
    m->domain = (pv_domain) { .n = n, .p = p, .row_norm = 1.0, .classes = 2 };
    m->ld = p;
    float *x = get(sizeof(float) * (size_t)(n * p));
    m->x = x;
    m->y = get(sizeof(float) * (size_t)n);
    m->norm = get(sizeof(float) * (size_t)n);
    memset(m->digest, '0', 64);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int64_t j = 0; j < p; j++) {
            s ^= s << 13, s ^= s >> 7, s ^= s << 17;
            x[i * p + j] = (float)(s >> 40) * 0x1p-24f;
            sum += (double)x[i * p + j] * (double)x[i * p + j];
        }
        for (int64_t j = 0; j < p; j++) x[i * p + j] *= (float)(0.999999 / sqrt(sum));
        m->norm[i] = 1.0f;
        m->y[i] = x[i * p] + x[i * p + 1] > x[i * p + 2] + x[i * p + 3] ? 1.0f : -1.0f;
    }
    return x;
}

typedef struct took {
    double wall, cpu;
} took;

/* When the steps began and ended: what precedes them, the reading of rows, is no part of the race. */
static took began, ended;
static bool note_time(void *user, const char *what, double done, double total, double epsilon)
{
    (void)user, (void)epsilon;
    const took now = { seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID) };
    if (strcmp(what, "training") == 0 && done == 0.0) began = now;
    if (strcmp(what, "training") == 0 && done == total) ended = now;
    return true;
}

static took eight_steps(pv_ctx *ctx, const pvi_matrix *m, int rounds, int threads)
{
    double wall = INFINITY, cpu = INFINITY;
    pv_data *rows;
    pv_ctx_on_progress(ctx, note_time, NULL);
    if (pv_data_dense(ctx, m->x, PV_FLOAT32, m->domain.n, m->domain.p, m->ld, 1, &rows) != PV_OK ||
        pv_data_labels(rows, m->y, PV_FLOAT32, m->domain.n) != PV_OK)
        abort();
    for (int k = 0; k < rounds; k++) {
        pv_plan *p;
        pv_result *r;
        if (pv_plan_create(ctx, &p) != PV_OK || pv_plan_set(p, "data.labels", "-1,1") != PV_OK ||
            pv_plan_set(p, "data.bias", "0") != PV_OK || pv_plan_set(p, "data.key_path", "none") != PV_OK ||
            pv_plan_set_i64(p, "run.threads", threads) != PV_OK || pv_plan_set(p, "optimizer", "tr") != PV_OK ||
            pv_plan_set(p, "optimizer.steps", "8") != PV_OK ||
            pv_plan_set(p, "optimizer.share", "0") != PV_OK || /* as the peer: in the coordinates of the weights */
            pv_plan_set(p, "reg", "nonconvex") != PV_OK)
            abort();
        if (pv_plan_run_on(p, rows, &r) != PV_OK) {
            fprintf(stderr, "%s\n", pv_ctx_errmsg(ctx));
            exit(1);
        }
        wall = fmin(wall, ended.wall - began.wall);
        cpu = fmin(cpu, ended.cpu - began.cpu);
        pv_result_free(r);
        pv_plan_free(p);
    }
    pv_data_free(rows);
    printf("eight steps of tr, %d threads: %.3f s wall, %.3f s processor\n", threads, wall, cpu);
    return (took) { wall, cpu };
}

/* The pass in pieces of 4096 rows: the best time of every piece, so that interruptions drop out. */
static double one_pass(pv_ctx *ctx, const pvi_matrix *m, int rounds)
{
    const int64_t n = m->domain.n, p = m->domain.p, size = p * (p + 1) / 2, pieces = (n + 4095) / 4096;
    pv_arena *a = pvi_arena_create(ctx);
    const pvi_glm_cfg cfg = { &pv_loss_logistic, NULL };
    pvi_glm_state st = { 0 };
    pv_joint j = { .grad = 1.0 };
    double *w = pv_arena_f64(a, p), *best = pv_arena_f64(a, 2 * pieces), total[2] = { 0 };
    float *g = pv_arena_get(a, sizeof *g * (size_t)(p + size));
    int64_t *acc = pv_arena_get(a, sizeof *acc * (size_t)(p + size)), bad = 0;
    void *scratch = pv_arena_get(a, pv_model_glm.hess->scratch(&cfg, &m->domain));

    pv_model_glm.hess->bounds(&cfg, &m->domain, &j);
    j.scale = 2.8;
    j.clip = pv_model_glm.hess->norm(&cfg, &m->domain, &j);
    if (pv_model_glm.begin(&st, &cfg, &m->domain, w, 0, a) != PV_OK) abort();
    for (int64_t k = 0; k < 2 * pieces; k++) best[k] = INFINITY;
    for (int r = 0; r < rounds; r++)
        for (int64_t k = 0; k < pieces; k++) {
            const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
            double grid = 0.0;
            for (int64_t i = k * 4096; i < n && i < (k + 1) * 4096; i += 256) {
                const pv_rows rows = pvi_matrix_rows(m, i, n - i < 256 ? n - i : 256);
                memset(g, 0, sizeof *g * (size_t)(p + size));
                pv_model_glm.hess->sum(&st, &cfg, &rows, &j, g, g + p, &bad, scratch);
                const double at = seconds(CLOCK_THREAD_CPUTIME_ID);
                pvi_grid_add_times(g, 2.8f, 0x1p-24, acc, p + size);
                grid += seconds(CLOCK_THREAD_CPUTIME_ID) - at;
            }
            best[2 * k] = fmin(best[2 * k], seconds(CLOCK_THREAD_CPUTIME_ID) - start - grid);
            best[2 * k + 1] = fmin(best[2 * k + 1], grid);
        }
    for (int64_t k = 0; k < 2 * pieces; k++) total[k % 2] += best[k];
    printf("one pass, one thread: %.4f s for sums (%.1f useful GFlop/s), %.4f s for the grid\n", total[0],
           (double)n * (double)size * 2e-9 / total[0], total[1]);
    pvi_arena_free(a);
    return (double)n * (double)size * 2e-9 / total[0];
}

/* Runs the peer and prints how many times as long it takes; `rate` is that of the Hessian's pass. */
static void peer(int rounds, int threads, took ours, double rate)
{
    const char *python = getenv("PRIVET_PYTHON"), *source = getenv("PRIVET_SOURCE");
    char command[1024], line[256];
    took at;
    double peak;
    if (!python) {
        puts("peer skipped: PRIVET_PYTHON is not set");
        return;
    }
    snprintf(command, sizeof command, "OPENBLAS_NUM_THREADS=%d '%s' '%s/bench/peers/tr_peer.py' %d", threads, python,
             source ? source : ".", rounds);
    FILE *f = popen(command, "r");
    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        fputs(line, stdout);
        if (colon && sscanf(colon, ": %lf s wall, %lf s processor, %lf", &at.wall, &at.cpu, &peak) == 3)
            printf("  one thread of ours runs at %.2f of that\n", rate / peak);
        else if (colon && sscanf(colon, ": %lf s wall, %lf s processor", &at.wall, &at.cpu) == 2)
            printf("  %.1f times as long by the clock, %.1f times the processor\n", at.wall / ours.wall,
                   at.cpu / ours.cpu);
    }
    if (f) pclose(f);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 5, threads = argc > 2 ? atoi(argv[2]) : 2;
    const int64_t n = argc > 3 ? atoll(argv[3]) : 581012, p = argc > 4 ? atoll(argv[4]) : 55;
    pvi_matrix m = { 0 };
    pv_ctx *ctx;
    if (pv_ctx_create(NULL, &ctx) != PV_OK || pvi_set_threads(ctx, threads) != PV_OK) return 1;
    float *x = fill(&m, n, p);
    const took before = eight_steps(ctx, &m, rounds, threads);
    peer(rounds < 3 ? rounds : 3, threads, before, one_pass(ctx, &m, rounds));
    if (getenv("PRIVET_PYTHON")) eight_steps(ctx, &m, rounds, threads); /* again: is the machine as it was? */
    free(x), free(m.y), free(m.norm);
    pv_ctx_free(ctx);
    return 0;
}
