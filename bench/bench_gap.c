/* bench_gap.c - how far above the minimum does a private run end?
 *
 *   bench_gap RUNS[:FIRST] DATA SCHEMA setting=value ... [-- setting=value ...] ...          (SCHEMA -: none)
 *
 * The settings before the first `--` hold for all; each later group is one variant, run RUNS times (seeds FIRST,
 * FIRST + 1, ..., from 1 unless said, so the numbers can be repeated, and none of the runs is private).  The minimum
 * is the lowest value that several trust-region runs without privacy reach; where a penalty has many local minima a
 * gap may be negative.  Of every variant: mean, standard deviation and least of the gap, mean gradient norm, smallest
 * eigenvalue of the Hessian, accuracy, seconds.  Whatever is printed here is computed on the rows without noise. */
#include "core/eigen.h"
#include "run/run.h"

#include <stdlib.h>
#include <time.h>

enum { MAX_VARIANTS = 64 };

typedef struct bench {
    pv_ctx *ctx;
    pvi_matrix *m;
    int n_common, runs, first;
    char **common;
    pvi_job *job; /* of the non-private plan: model, penalty */
    pv_plan *plan;
} bench;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(const bench *b, pv_status s)
{
    if (s == PV_OK) return;
    fprintf(stderr, "bench_gap: %s\n", pv_ctx_errmsg(b->ctx));
    exit(1);
}

static void set(const bench *b, pv_plan *p, char *pair)
{
    char *eq = strchr(pair, '=');
    if (!eq) {
        fprintf(stderr, "bench_gap: %s is not setting=value\n", pair);
        exit(1);
    }
    *eq = '\0';
    const pv_status s = pv_plan_set(p, pair, eq + 1);
    *eq = '=';
    check(b, s);
}

static pv_plan *new_plan(const bench *b, int n, char **pairs)
{
    pv_plan *p;
    check(b, pv_plan_create(b->ctx, &p));
    for (int i = 0; i < b->n_common; i++) set(b, p, b->common[i]);
    for (int i = 0; i < n; i++) set(b, p, pairs[i]);
    return p;
}

typedef struct point {
    double value, gradient, lowest, accuracy;
} point;

/* F, ||F'||, the smallest eigenvalue of F'' and the accuracy at w: one exact pass over the rows. */
static point measure(const bench *b, const double *w)
{
    const pvi_job *j = b->job;
    const int64_t d = j->prob.d, n = j->dom.n, p = j->joint.width, hess = p * (p + 1) / 2;
    const pv_model_ops *ops = j->model.ops;
    const int64_t blocks = j->joint.blocks * (j->joint.blocks + 1) / 2;
    pv_arena *a = pvi_arena_create(b->ctx);
    void *st = pv_arena_get(a, ops->head.state_size);
    void *scratch =
        pv_arena_get(a, ops->scratch(j->model.cfg, &j->dom, 4096) + ops->hess->scratch(j->model.cfg, &j->dom));
    float *g = pv_arena_get(a, sizeof(float) * (size_t)(d + blocks * hess));
    float *score = pv_arena_get(a, sizeof(float) * 256 * (size_t)ops->outputs(j->model.cfg, &j->dom));
    double *sum = pv_arena_f64(a, d + blocks * hess), *H = pv_arena_f64(a, d * d), *work = pv_arena_f64(a, 2 * d);
    point out = { 0 };
    int64_t bad = 0;

    check(b, ops->begin(st, j->model.cfg, &j->dom, w, 0, a));
    for (int64_t i = 0; i < n; i += 256) {
        const pv_rows rows = pvi_matrix_rows(b->m, i, n - i < 256 ? n - i : 256);
        memset(g, 0, sizeof(float) * (size_t)(d + blocks * hess));
        ops->hess->sum(st, j->model.cfg, &rows, &j->joint, g, g + d, &bad, scratch);
        for (int64_t k = 0; k < d + blocks * hess; k++) sum[k] += (double)g[k] / (double)n;
        out.value += ops->value_sum(st, j->model.cfg, &rows, scratch) / (double)n;
        if (j->model.loss) {
            ops->predict(st, j->model.cfg, &rows, score, scratch);
            for (int64_t k = 0; k < rows.n; k++) out.accuracy += (score[k] > 0) == (rows.y[k] > 0);
        }
    }
    out.accuracy /= (double)n;
    out.value += j->prob.reg->value(j->prob.reg_cfg, w, d);
    j->prob.reg->grad(j->prob.reg_cfg, w, sum, d);
    for (int64_t k = 0; k < d; k++) out.gradient += sum[k] * sum[k];
    out.gradient = sqrt(out.gradient);
    if (j->joint.blocks == 1) {
        j->prob.reg->curv(j->prob.reg_cfg, w, work, d);
        for (int64_t r = 0, k = d; r < d; r++)
            for (int64_t c = 0; c <= r; c++, k++) H[r * d + c] = H[c * d + r] = sum[k] + (r == c ? work[r] : 0.0);
        check(b, pvi_eigen(d, H, work, work + d));
        out.lowest = work[0];
    }
    pvi_arena_free(a);
    return out;
}

static double run(const bench *b, pv_plan *p, double *w)
{
    pv_result *r;
    int64_t d;
    const double t = seconds();
    check(b, pvi_run_matrix(p, b->m, NULL, NULL, &r));
    const double took = seconds() - t;
    check(b, pv_result_weights(r, w, b->job->prob.d, &d));
    pv_result_free(r);
    return took;
}

/* Lowest of the reference runs. */
static double reference(const bench *b, double *w)
{
    static const char *const radius[] = { "optimizer.radius=1", "optimizer.radius=3", "optimizer.radius=1000" };
    double best = INFINITY;
    for (int k = 0; k < 3; k++) {
        pv_plan *p;
        check(b, pv_plan_create(b->ctx, &p));
        for (int i = 0; i < b->n_common; i++) set(b, p, b->common[i]);
        char pairs[][32] = { "privacy=off", "optimizer=tr", "optimizer.steps=60", "optimizer.growth=1", "" };
        snprintf(pairs[4], sizeof pairs[4], "%s", radius[k]);
        for (int i = 0; i < 5; i++) set(b, p, pairs[i]);
        run(b, p, w);
        const point at = measure(b, w);
        printf("reference %-24s value %.6f gradient %.2e lowest %.2e accuracy %.4f\n", radius[k], at.value,
               at.gradient, at.lowest, at.accuracy);
        fflush(stdout);
        best = fmin(best, at.value);
        pv_plan_free(p);
    }
    return best;
}

static void variant(const bench *b, int n, char **pairs, double best, double *w)
{
    double sum = 0.0, square = 0.0, took = 0.0, least = INFINITY;
    point mean = { 0 };
    pv_plan *p = new_plan(b, n, pairs);
    for (int k = b->first; k < b->first + b->runs; k++) {
        char seed[32];
        snprintf(seed, sizeof seed, "run.seed=%d", k);
        set(b, p, seed);
        took += run(b, p, w) / b->runs;
        const point at = measure(b, w);
        const double gap = at.value - best;
        sum += gap;
        square += gap * gap;
        least = fmin(least, gap);
        mean.gradient += at.gradient / b->runs;
        mean.lowest += at.lowest / b->runs;
        mean.accuracy += at.accuracy / b->runs;
    }
    sum /= b->runs;
    printf("gap %.7f sd %.7f least %.7f gradient %.6f lowest %+.5f accuracy %.4f seconds %.3f ", sum,
           sqrt(fmax(0.0, square / b->runs - sum * sum)), least, mean.gradient, mean.lowest, mean.accuracy, took);
    for (int i = 0; i < n; i++) printf(" %s", pairs[i]);
    printf("\n");
    fflush(stdout);
    pv_plan_free(p);
}

int main(int argc, char **argv)
{
    bench b = { 0 };
    if (argc < 4) return fprintf(stderr, "usage: bench_gap RUNS[:FIRST] DATA SCHEMA setting=value ... -- ...\n"), 2;
    if (pv_ctx_create(NULL, &b.ctx) != PV_OK) return 1;
    const char *colon = strchr(argv[1], ':');
    b.runs = atoi(argv[1]);
    b.first = colon ? atoi(colon + 1) : 1;
    b.common = argv + 4;
    while (4 + b.n_common < argc && strcmp(argv[4 + b.n_common], "--") != 0) b.n_common++;
    b.plan = new_plan(&b, 0, NULL);
    check(&b, pv_plan_set(b.plan, "data.path", argv[2]));
    if (strcmp(argv[3], "-") != 0) check(&b, pv_plan_set(b.plan, "data.schema", argv[3]));
    check(&b, pv_plan_set(b.plan, "optimizer", "tr"));
    check(&b, pv_plan_set(b.plan, "privacy", "off"));
    check(&b, pvi_set_threads(b.ctx, (int)b.plan->s.threads));
    const pvi_expect expect = { .classes = 2 };
    check(&b, pvi_data_load(b.ctx, &b.plan->s.data, &expect, NULL, &b.m));
    check(&b, pvi_job_create(b.plan, b.m, &b.job));
    double *w = calloc((size_t)b.job->prob.d, sizeof *w);
    const double best = reference(&b, w);
    for (int i = 5 + b.n_common, k; i < argc; i = k + 1) {
        for (k = i; k < argc && strcmp(argv[k], "--") != 0;) k++;
        variant(&b, k - i, argv + i, best, w);
    }
    free(w);
    pvi_job_free(b.job);
    pvi_matrix_free(b.m);
    pv_plan_free(b.plan);
    pv_ctx_free(b.ctx);
    return 0;
}
