/* bench_gradient.c - how close is one full logistic gradient to reading the data once?
 *
 * 581,012 x 54 floats, groups of 64 rows, each group's float sum added to int64 sums on the grid as a
 * training query does.  Read bandwidth is measured by a plain vectorised sum of the same array.  Readings are
 * interleaved and the best of each kind is printed, with ratios.  On a busy machine no whole pass runs undisturbed;
 * the last line adds up the best time of every piece of 4096 rows on one thread instead.
 *
 *   bench_gradient [rounds] [rows] [columns] */
#include "mech/mech.h"
#include "bench.h"
#include "model/model.h"

extern const pv_model_ops pv_model_glm;
extern const pv_loss_ops pv_loss_logistic;

enum { GROUP = 64, GROUPS_PER_TASK = 64, MAX_THREADS = 64 };

typedef struct job {
    int64_t n, p;
    float *x, *y, *norm;
    pvi_glm_cfg cfg;
    pvi_glm_state st;
    double spacing;
    struct {
        _Alignas(64) float *g;
        int64_t *acc;
        void *scratch;
        int64_t sum, bad;
    } thread[MAX_THREADS];
} job;

static double seconds(void)
{
    return clock_seconds(CLOCK_MONOTONIC);
}

#if defined(__GNUC__) && !defined(__clang__) && defined(PVI_X86)
__attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#endif
static int64_t
read_sum(const int32_t *x, int64_t n)
{
    int32_t s[64] = { 0 };
    int64_t i = 0, total = 0;
    for (; i + 64 <= n; i += 64)
        for (int k = 0; k < 64; k++) s[k] ^= x[i + k];
    for (int k = 0; k < 64; k++) total += s[k];
    return total;
}

static int64_t tasks(const job *b)
{
    return (b->n + GROUP * GROUPS_PER_TASK - 1) / (GROUP * GROUPS_PER_TASK);
}

static void read_task(void *arg, int64_t task, int thread)
{
    job *b = arg;
    const int64_t first = task * GROUP * GROUPS_PER_TASK, rows = GROUP * GROUPS_PER_TASK;
    const int64_t n = b->n - first < rows ? b->n - first : rows;
    b->thread[thread].sum += read_sum((const int32_t *)(const void *)(b->x + first * b->p), n * b->p);
}

static void grad_task(void *arg, int64_t task, int thread)
{
    job *b = arg;
    float *const g = b->thread[thread].g;
    for (int64_t k = 0; k < GROUPS_PER_TASK; k++) {
        const int64_t first = (task * GROUPS_PER_TASK + k) * GROUP;
        if (first >= b->n) break;
        const pv_rows rows = { .n = b->n - first < GROUP ? b->n - first : GROUP,
                               .p = b->p,
                               .ld = b->p,
                               .x = b->x + first * b->p,
                               .y = b->y + first,
                               .norm = b->norm + first,
                               .bound = INFINITY };
        memset(g, 0, sizeof *g * (size_t)b->p);
        pv_model_glm.grad_sum(&b->st, &b->cfg, &rows, 1.0, g, &b->thread[thread].bad, b->thread[thread].scratch);
        pvi_grid_add(g, b->spacing, b->thread[thread].acc, b->p);
    }
}

static void fill(job *b, pv_arena *a)
{
    const pv_domain dom = { .n = b->n, .p = b->p, .row_norm = 1, .classes = 2 };
    uint64_t s = 88172645463325252u;
    double *w = get_lines(sizeof *w * (size_t)b->p);
    for (int64_t i = 0; i < b->n * b->p; i++) {
        s ^= s << 13, s ^= s >> 7, s ^= s << 17;
        b->x[i] = (float)((double)(s >> 40) * 0x1p-24 - 0.5) / sqrtf((float)b->p);
    }
    for (int64_t i = 0; i < b->n; i++) {
        b->y[i] = i % 3 ? 1 : -1;
        b->norm[i] = 1;
    }
    for (int64_t j = 0; j < b->p; j++) w[j] = (double)(j % 7) - 3;
    if (pv_model_glm.begin(&b->st, &b->cfg, &dom, w, 0, a) != PV_OK) abort();
    for (int t = 0; t < MAX_THREADS; t++) {
        b->thread[t].g = get_lines(sizeof(float) * (size_t)b->p);
        b->thread[t].acc = get_lines(sizeof(int64_t) * (size_t)b->p);
        b->thread[t].scratch = get_lines(pv_model_glm.scratch(&b->cfg, &dom, GROUP));
    }
    free(w);
}

/* The pieces of one pass on this thread, each timed alone; best keeps the least per piece. */
static void pieces(job *b, pvi_task fn, double *best)
{
    for (int64_t k = 0; k < tasks(b); k++) {
        const double t = seconds();
        fn(b, k, 0);
        best[k] = fmin(best[k], seconds() - t);
    }
}

static double total(const double *best, int64_t n)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++) sum += best[k];
    return sum;
}

static double timed(pv_ctx *ctx, job *b, pvi_task fn)
{
    const double t = seconds();
    pvi_parallel(ctx, tasks(b), fn, b);
    return seconds() - t;
}

int main(int argc, char **argv)
{
    static job b;
    const int rounds = argc > 1 ? atoi(argv[1]) : 15;
    double best[2][2] = { { INFINITY, INFINITY }, { INFINITY, INFINITY } };
    pv_ctx *ctx[2];
    if (pv_ctx_create(NULL, &ctx[0]) || pv_ctx_create(NULL, &ctx[1])) return 1;
    if (pvi_set_threads(ctx[0], 1) || pvi_set_threads(ctx[1], 2)) return 1;
    pv_arena *a = pvi_arena_create(ctx[0]);
    b.n = argc > 2 ? atoll(argv[2]) : 581012;
    b.p = argc > 3 ? atoll(argv[3]) : 54;
    b.cfg = (pvi_glm_cfg) { &pv_loss_logistic, NULL };
    b.spacing = 0x1p-40;
    b.x = get_lines(sizeof(float) * (size_t)(b.n * b.p));
    b.y = get_lines(sizeof(float) * (size_t)b.n);
    b.norm = get_lines(sizeof(float) * (size_t)b.n);
    fill(&b, a);

    double *piece[2];
    for (int kind = 0; kind < 2; kind++) {
        piece[kind] = get_lines(sizeof(double) * (size_t)tasks(&b));
        for (int64_t k = 0; k < tasks(&b); k++) piece[kind][k] = INFINITY;
    }

    for (int r = 0; r < rounds; r++) {
        pieces(&b, read_task, piece[0]);
        pieces(&b, grad_task, piece[1]);
        for (int t = 0; t < 2; t++) {
            best[t][0] = fmin(best[t][0], timed(ctx[t], &b, read_task));
            best[t][1] = fmin(best[t][1], timed(ctx[t], &b, grad_task));
        }
    }
    const double bytes = 4.0 * (double)(b.n * b.p);
    printf("logistic gradient, %lld x %lld floats (%.1f MB), best of %d\n", (long long)b.n, (long long)b.p,
           bytes / 1e6, rounds);
    for (int t = 0; t < 2; t++)
        printf("%d thread%s read %6.2f GB/s   gradient %6.2f GB/s (%.2f ms)   ratio %.0f %%\n", t + 1, t ? "s" : " ",
               bytes / best[t][0] / 1e9, bytes / best[t][1] / 1e9, best[t][1] * 1e3, 100 * best[t][0] / best[t][1]);
    printf("two threads over one: gradient %.2fx, read %.2fx   (checksum %lld)\n", best[0][1] / best[1][1],
           best[0][0] / best[1][0], (long long)(b.thread[0].acc[0] ^ b.thread[0].sum) & 1023);
    const double read = total(piece[0], tasks(&b)), grad = total(piece[1], tasks(&b));
    printf("pieces    read %6.2f GB/s   gradient %6.2f GB/s (%.2f ms)   ratio %.0f %%\n", bytes / read / 1e9,
           bytes / grad / 1e9, grad * 1e3, 100 * read / grad);
    pvi_arena_free(a);
    pv_ctx_free(ctx[0]);
    pv_ctx_free(ctx[1]);
    return 0;
}
