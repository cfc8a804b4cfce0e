/* bench_units.c - gradient sums of persons with 1 to 10 rows against those of the same rows without persons.
 *
 * An epoch in groups of 64 units, each group's float sum added to the grid as a training query does; then as many
 * units drawn in samples.  Processor time on one thread, readings interleaved, ratios of medians.
 *
 *   bench_units [rounds] [name of one case] */
#include <sys/mman.h>

#include "mech/mech.h"
#include "bench.h"
#include "model/net.h"

enum { GROUP = 64, MOST = 10, ROUNDS = 101 };

typedef struct table {
    pv_domain dom;
    int64_t rows, units, d;
    float *x, *y, *norm;
    float *val; /* CSR */
    int32_t *idx;
    int64_t *ptr, *start, *pick, *pick_rows;
} table;

typedef struct subject {
    const pv_model_ops *model;
    void *cfg, *st, *scratch;
    float *g;
    int64_t *sum;
} subject;

static double seconds(void)
{
    return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/* Large pages for the values of rows, as the library asks for (core/ctx.c). */
static float *get_values(int64_t n)
{
    enum { LARGE = 2 << 20 };
    const size_t size = (sizeof(float) * (size_t)n + LARGE - 1) / LARGE * LARGE;
    float *p = aligned_alloc(LARGE, size);
    if (!p) abort();
#ifdef MADV_HUGEPAGE
    madvise(p, size, MADV_HUGEPAGE);
#endif
    return p;
}

static table make(int64_t rows, int64_t p, int64_t classes, int64_t side, int64_t filled)
{
    table t = { .dom = { .p = p, .row_norm = 1, .classes = classes, .unit_rows = MOST }, .rows = rows };
    if (side) t.dom.height = t.dom.width = side, t.dom.channels = 1;
    t.y = get_lines(sizeof *t.y * (size_t)rows);
    t.norm = get_lines(sizeof *t.norm * (size_t)rows);
    t.start = get_lines(sizeof *t.start * (size_t)(rows + 1));
    t.pick = get_lines(sizeof *t.pick * (size_t)rows);
    t.pick_rows = get_lines(sizeof *t.pick_rows * (size_t)rows);
    if (filled) {
        t.val = get_lines(sizeof *t.val * (size_t)(rows * filled));
        t.idx = get_lines(sizeof *t.idx * (size_t)(rows * filled));
        t.ptr = get_lines(sizeof *t.ptr * (size_t)(rows + 1));
    } else {
        t.x = get_values(rows * p);
    }
    for (int64_t i = 0; i < rows * (filled ? filled : p); i++) {
        const float v = (float)((double)(next() >> 40) * 0x1p-24 - 0.5) / sqrtf((float)(filled ? filled : p));
        if (!filled) t.x[i] = v;
        else
            t.val[i] = v,
            t.idx[i] = (int32_t)(i % filled * (p / filled) + (int64_t)(next() % (uint64_t)(p / filled)));
    }
    for (int64_t i = 0; i < rows; i++) {
        t.y[i] = classes == 2 ? (next() & 1 ? 1.0f : -1.0f) : (float)(next() % (uint64_t)classes);
        t.norm[i] = 1.0f;
        if (filled) t.ptr[i + 1] = (i + 1) * filled;
    }
    for (int64_t r = 0; r < rows; t.units++) {
        const int64_t k = 1 + (int64_t)(next() % MOST);
        t.start[t.units + 1] = r = r + k < rows ? r + k : rows;
    }
    t.dom.n = t.units;
    return t;
}

static void open(subject *s, const char *model, const char *layers, table *t, pv_ctx *ctx, pv_arena *a)
{
    const bool is_loss = strcmp(model, "logistic") == 0;
    s->model = (const pv_model_ops *)(const void *)pv_find(PV_KIND_model, is_loss ? "glm" : model);
    s->cfg = get_lines(s->model->head.cfg_size + 1);
    pvi_param_defaults(s->model->head.params, s->cfg);
    if (is_loss)
        *(pvi_glm_cfg *)s->cfg =
            (pvi_glm_cfg) { (const pv_loss_ops *)(const void *)pv_find(PV_KIND_loss, model), NULL };
    if (layers) ((pvi_net_cfg *)s->cfg)->layers = layers;
    if (s->model->open) ((pvi_net_cfg *)s->cfg)->augment = 1;
    if (s->model->open && s->model->open(s->cfg, &t->dom, ctx) != PV_OK) abort();
    t->d = s->model->dim(s->cfg, &t->dom);
    double *w = get_lines(sizeof *w * (size_t)t->d);
    if (s->model->start) s->model->start(s->cfg, &t->dom, w);
    else
        for (int64_t j = 0; j < t->d; j++) w[j] = (double)(j % 7) - 3;
    s->st = get_lines(s->model->head.state_size);
    if (s->model->begin(s->st, s->cfg, &t->dom, w, 1, a) != PV_OK) abort();
    s->scratch = get_lines(s->model->scratch(s->cfg, &t->dom, 2 * GROUP));
    s->g = get_lines(sizeof *s->g * (size_t)t->d);
    s->sum = get_lines(sizeof *s->sum * (size_t)t->d);
    free(w);
}

static void add(const subject *s, const table *t, pv_rows *v)
{
    int64_t bad = 0;
    v->p = t->dom.p;
    v->ld = t->dom.p;
    v->bound = INFINITY;
    if (!t->x) {
        s->model->grid_sum(s->st, s->cfg, v, 0.5, 0x1p-40, s->sum, &bad, s->scratch);
        return;
    }
    memset(s->g, 0, sizeof *s->g * (size_t)t->d);
    s->model->grad_sum(s->st, s->cfg, v, 0.5, s->g, &bad, s->scratch);
    pvi_grid_add(s->g, 0x1p-40, s->sum, t->d);
}

static pv_rows whole(const table *t)
{
    return (pv_rows) { .x = t->x, .ptr = t->ptr, .idx = t->idx, .val = t->val, .y = t->y, .norm = t->norm };
}

/* Units first .. as persons, or their rows without persons in groups as large. */
static double epoch(const subject *s, const table *t, bool persons, bool drawn)
{
    const int64_t n = persons ? t->units : t->rows;
    const double from = seconds();
    for (int64_t i = 0; i < n; i += GROUP) {
        pv_rows v = whole(t);
        v.n = n - i < GROUP ? n - i : GROUP;
        if (persons) v.start = t->start + (drawn ? 0 : i), v.unit_rows = MOST;
        if (drawn) v.pick = (persons ? t->pick : t->pick_rows) + i;
        if (!persons && !drawn) {
            v.x = t->x ? t->x + i * t->dom.p : NULL;
            v.ptr = t->ptr ? t->ptr + i : NULL;
            v.y += i;
            v.norm += i;
        }
        add(s, t, &v);
    }
    return seconds() - from;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_size);
    return x[n / 2];
}

/* A few units here and there, ascending, and the same rows. */
static void draw(table *t)
{
    int64_t n = 0;
    for (int64_t u = 0; u < t->units; u++) t->pick[u] = u;
    for (int64_t u = t->units - 1; u > 0; u--) {
        const int64_t k = (int64_t)(next() % (uint64_t)(u + 1)), keep = t->pick[u];
        t->pick[u] = t->pick[k];
        t->pick[k] = keep;
    }
    for (int64_t u = 0; u < t->units; u++)
        for (int64_t r = t->start[t->pick[u]]; r < t->start[t->pick[u] + 1]; r++) t->pick_rows[n++] = r;
}

static void compare(const char *name, const char *model, const char *layers, table t, int rounds)
{
    static double time[4][ROUNDS];
    subject s = { 0 };
    pv_ctx *ctx;
    if (pv_ctx_create(NULL, &ctx)) abort();
    pv_arena *a = pvi_arena_create(ctx);
    open(&s, model, layers, &t, ctx, a);
    draw(&t);
    for (int r = -1; r < rounds; r++)
        for (int kind = 0; kind < 4; kind++) time[kind][r < 0 ? 0 : r] = epoch(&s, &t, kind & 1, kind & 2);
    const double all = median(time[0], rounds), drawn = median(time[2], rounds);
    printf("%-22s %8lld rows, %7lld persons: epoch %7.2f ms, with persons %.2fx; drawn %7.2f ms, %.2fx\n", name,
           (long long)t.rows, (long long)t.units, 1e3 * all, median(time[1], rounds) / all, 1e3 * drawn,
           median(time[3], rounds) / drawn);
    fflush(stdout);
    pvi_arena_free(a);
    pv_ctx_free(ctx);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *model, *layers;
        int64_t rows, p, classes, side, filled;
    } cases[] = {
        { "logistic, 54 columns", "logistic", NULL, 581012, 54, 2, 0, 0 },
        { "logistic, 500 columns", "logistic", NULL, 20000, 500, 2, 0, 0 },
        { "logistic, sparse", "logistic", NULL, 20000, 20000, 2, 0, 75 },
        { "softmax, 10 classes", "softmax", NULL, 10000, 784, 10, 0, 0 },
        { "mlp, 54 columns", "mlp", NULL, 10000, 54, 7, 0, 0 },
        { "mlp, 784 columns", "mlp", NULL, 3000, 784, 10, 0, 0 },
        { "mnist-cnn", "mnist-cnn", NULL, 1000, 784, 10, 28, 0 },
    };
    const int rounds = argc > 1 && atoi(argv[1]) > 0 && atoi(argv[1]) < ROUNDS ? atoi(argv[1]) : 21;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc > 2 && !strstr(cases[i].name, argv[2])) continue;
        compare(cases[i].name, cases[i].model, cases[i].layers,
                make(cases[i].rows, cases[i].p, cases[i].classes, cases[i].side, cases[i].filled), rounds);
    }
    return 0;
}
