/* bench_memory.c - how fast rows in memory become a matrix: GB of the caller's memory per second of a core.
 *
 *   bench_memory [rows] [columns] [repeats] [threads] [only]     default 1000000 50 3 1, all sources
 *
 * Prints one line per source, only those whose names begin with `only`: the best of the repeats with and without the
 * digest, GB/s of the first, its ratio to copying the same bytes with memcpy into memory that has not been touched
 * before, and the most memory that the library held at a time, in bytes a row.
 *
 * Then ("train") how long training takes on float32 rows that the library reads where they are, beside rows that it
 * copied (into memory at a line of the cache, in huge pages where the system has them): full batches, and batches of
 * one row in twenty.  The caller's rows lie in huge or in small pages, at a line of the cache, where malloc puts them
 * (16 bytes behind one) or 4 bytes behind one; what the page costs and what the place in a line costs stand apart.
 * Each round takes all of them in turn; printed is the median over the rounds of the ratio to copied rows. */
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "../tests/arrowtest.h"
#include "data/data.h"

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* of all threads: what others do on the machine does not count */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t next(uint64_t *s)
{
    uint64_t z = (*s += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

typedef struct held {
    size_t now, most;
} held;

typedef struct bench {
    pv_ctx *ctx;
    held held;
    pvi_data_cfg cfg;
    pvi_expect expect;
    int64_t n, p, repeats;
    float *f32;
    double *f64;
    int32_t *i32;
    uint8_t *null, *y;
    int64_t *ptr;
    int32_t *idx;
    char *schema;
    int64_t fed;
    const char *only;
} bench;

static double copying(size_t bytes)
{
    double best = INFINITY;
    char *from = malloc(bytes);
    memset(from, 1, bytes);
    for (int k = 0; k < 3; k++) {
        const double t = seconds();
        char *to = malloc(bytes);
        memcpy(to, from, bytes);
        const double took = seconds() - t;
        if (to[bytes / 2] && took < best) best = took;
        free(to);
    }
    free(from);
    return (double)bytes / best;
}

/* ---- memory that the library holds: an allocator that counts -------------------------------------------------- */
static void *get(void *self, size_t n)
{
    held *h = self;
    char *p = n <= PTRDIFF_MAX ? malloc(n + 64) : NULL;
    if (!p) return NULL;
    memcpy(p, &n, sizeof n);
    h->now += n;
    if (h->now > h->most) h->most = h->now;
    return p + 64;
}

static void put(void *self, void *p)
{
    held *h = self;
    size_t n;
    if (!p) return;
    memcpy(&n, (char *)p - 64, sizeof n);
    h->now -= n;
    free((char *)p - 64);
}

/* ---- one source ------------------------------------------------------------------------------------------------ */
typedef pv_status open_fn(bench *b, pv_data **out);

/* Seconds of the best load. */
static double load(bench *b, const char *what, open_fn *open, bool digest)
{
    double best = INFINITY;
    b->expect.undigested = !digest;
    for (int64_t k = 0; k < b->repeats; k++) {
        pv_data *d;
        pvi_matrix *m = NULL;
        pv_status s = open(b, &d);
        if (s == PV_OK) s = pv_data_labels(d, b->y, PV_UINT8, b->n);
        const double t = seconds();
        if (s == PV_OK) s = pvi_data_load(b->ctx, &b->cfg, &b->expect, d, &m);
        const double took = seconds() - t;
        if (s != PV_OK) {
            fprintf(stderr, "%s: %s\n", what, pv_ctx_errmsg(b->ctx));
            exit(1);
        }
        if (took < best) best = took;
        pvi_matrix_free(m);
        pv_data_free(d);
    }
    return best;
}

static void measure(bench *b, const char *what, open_fn *open, size_t bytes, double speed, bool schema)
{
    if (strncmp(what, b->only, strlen(b->only)) != 0) return;
    b->cfg.schema = schema ? b->schema : NULL;
    b->held.most = b->held.now;
    const size_t before = b->held.now;
    const double with = load(b, what, open, true), without = load(b, what, open, false);
    const double rate = (double)bytes / with;
    printf("%-34s %7.3f s, %7.3f without digest  %6.2f GB/s  %5.2f of memcpy  %6.1f bytes a row\n", what, with,
           without, 1e-9 * rate, rate / speed, (double)(b->held.most - before) / (double)b->n);
}

/* ---- sources --------------------------------------------------------------------------------------------------- */
static pv_status dense_f32(bench *b, pv_data **out)
{
    return pv_data_dense(b->ctx, b->f32, PV_FLOAT32, b->n, b->p, b->p, 1, out);
}

static pv_status dense_f64(bench *b, pv_data **out)
{
    return pv_data_dense(b->ctx, b->f64, PV_FLOAT64, b->n, b->p, b->p, 1, out);
}

static pv_status turned_f32(bench *b, pv_data **out)
{
    return pv_data_dense(b->ctx, b->f32, PV_FLOAT32, b->n, b->p, 1, b->n, out);
}

static pv_status csr(bench *b, pv_data **out)
{
    return pv_data_csr(b->ctx, b->n, b->p, b->ptr, PV_INT64, b->idx, PV_INT32, b->f32, PV_FLOAT32, out);
}

enum { ROWS = 65536 };
static pv_status feed(void *user, pv_batch *batch)
{
    bench *b = user;
    if (b->fed == b->n) return PV_DONE;
    const int64_t rows = b->n - b->fed < ROWS ? b->n - b->fed : ROWS;
    *batch = (pv_batch) { rows, b->f32 + b->fed * b->p, b->p, 1, NULL };
    b->fed += rows;
    return PV_OK;
}

static pv_status batches(bench *b, pv_data **out)
{
    b->fed = 0;
    return pv_data_batches(b->ctx, feed, b, b->n, b->p, PV_FLOAT32, PV_UINT8, out);
}

/* Arrow arrays that point at the caller's columns: nothing is copied but by the library. */
typedef struct stream {
    bench *b;
    char format[2];
    const void *values;
    size_t size;
    bool nulls;
    int64_t at;
    struct ArrowSchema *schema, **schemas;
    struct ArrowArray *array, **arrays;
    const void **buffers;
    char (*name)[24];
} stream;

static void keep_schema(struct ArrowSchema *s)
{
    s->release = NULL;
}

static void keep_array(struct ArrowArray *a)
{
    a->release = NULL;
}

static int get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    stream *st = s->private_data;
    for (int64_t j = 0; j < st->b->p; j++) {
        snprintf(st->name[j], 24, "x%lld", (long long)j);
        st->schema[j] = (struct ArrowSchema) { .format = st->format, .name = st->name[j], .release = keep_schema };
        st->schemas[j] = &st->schema[j];
    }
    *out = (struct ArrowSchema) {
        .format = "+s", .n_children = st->b->p, .children = st->schemas, .release = keep_schema
    };
    return 0;
}

static int get_next(struct ArrowArrayStream *s, struct ArrowArray *out)
{
    stream *st = s->private_data;
    static const void *none[1];
    *out = (struct ArrowArray) { 0 };
    if (st->at == st->b->n) return 0;
    const int64_t rows = st->b->n - st->at < ROWS ? st->b->n - st->at : ROWS;
    for (int64_t j = 0; j < st->b->p; j++) {
        st->buffers[2 * j] = st->nulls ? st->b->null : NULL;
        st->buffers[2 * j + 1] = (const char *)st->values + st->size * (size_t)(j * st->b->n);
        st->array[j] = (struct ArrowArray) { .length = rows,
                                             .null_count = st->nulls ? -1 : 0,
                                             .offset = st->at,
                                             .n_buffers = 2,
                                             .buffers = &st->buffers[2 * j],
                                             .release = keep_array };
        st->arrays[j] = &st->array[j];
    }
    *out = (struct ArrowArray) { .length = rows,
                                 .n_buffers = 1,
                                 .buffers = none,
                                 .n_children = st->b->p,
                                 .children = st->arrays,
                                 .release = keep_array };
    st->at += rows;
    return 0;
}

static void close_stream(struct ArrowArrayStream *s)
{
    stream *st = s->private_data;
    free(st->schema), free(st->schemas), free(st->array), free(st->arrays), free(st->buffers), free(st->name);
    free(st);
    s->release = NULL;
}

static pv_status arrow(bench *b, const char *format, const void *values, size_t size, bool nulls, pv_data **out)
{
    stream *st = calloc(1, sizeof *st);
    const size_t p = (size_t)b->p;
    *st = (stream) { .b = b, .format = { format[0] }, .values = values, .size = size, .nulls = nulls };
    st->schema = calloc(p, sizeof *st->schema), st->schemas = calloc(p, sizeof *st->schemas);
    st->array = calloc(p, sizeof *st->array), st->arrays = calloc(p, sizeof *st->arrays);
    st->buffers = calloc(2 * p, sizeof *st->buffers), st->name = calloc(p, sizeof *st->name);
    struct ArrowArrayStream s = { get_schema, get_next, NULL, close_stream, st };
    return pv_data_arrow(b->ctx, &s, out);
}

static pv_status arrow_f64(bench *b, pv_data **out)
{
    return arrow(b, "g", b->f64, 8, false, out);
}

static pv_status arrow_f64_nulls(bench *b, pv_data **out)
{
    return arrow(b, "g", b->f64, 8, true, out);
}

static pv_status arrow_f32(bench *b, pv_data **out)
{
    return arrow(b, "f", b->f32, 4, false, out);
}

static pv_status arrow_i32(bench *b, pv_data **out)
{
    return arrow(b, "i", b->i32, 4, false, out);
}

/* ---- training on borrowed rows -------------------------------------------------------------------------------- */
typedef struct place {
    const char *name;
    bool huge;
    size_t shift; /* bytes behind a line of the cache */
    char *map;
    float *x; /* NULL: rows that the library copies */
    double *took;
} place;

static size_t map_size(const bench *b)
{
    return ((size_t)(b->n * b->p) * 4 + (4u << 20)) >> 21 << 21;
}

static void lay_out(bench *b, place *p)
{
    p->map = mmap(NULL, map_size(b), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p->map == MAP_FAILED) abort();
    madvise(p->map, map_size(b), p->huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    p->x = (float *)(void *)(((uintptr_t)p->map + (1u << 21) - 1) / (1u << 21) * (1u << 21) + p->shift);
    memcpy(p->x, b->f32, (size_t)(b->n * b->p) * 4);
}

static double began, ended;
static bool note_time(void *user, const char *what, double done, double total, double epsilon)
{
    (void)user, (void)epsilon;
    if (strcmp(what, "training") == 0 && done == 0.0) began = seconds();
    if (strcmp(what, "training") == 0 && done == total) ended = seconds();
    return true;
}

static void must(pv_ctx *ctx, pv_status s)
{
    if (s == PV_OK) return;
    fprintf(stderr, "bench_memory: %s\n", pv_ctx_errmsg(ctx));
    exit(1);
}

/* Processor time of the steps alone, without reading, planning and certifying; the weights have this sum. */
static double train(bench *b, pv_ctx *ctx, const place *p, const char *const *settings, double *sum)
{
    pv_plan *plan;
    pv_data *d;
    pv_result *r;
    double w[64];
    int64_t n;
    must(ctx, pv_plan_create(ctx, &plan));
    for (; *settings; settings += 2) must(ctx, pv_plan_set(plan, settings[0], settings[1]));
    b->fed = 0;
    if (p->x) must(ctx, pv_data_dense(ctx, p->x, PV_FLOAT32, b->n, b->p, b->p, 1, &d));
    else must(ctx, pv_data_batches(ctx, feed, b, b->n, b->p, PV_FLOAT32, PV_UINT8, &d));
    must(ctx, pv_data_labels(d, b->y, PV_UINT8, b->n));
    must(ctx, pv_plan_run_on(plan, d, &r));
    must(ctx, pv_result_weights(r, w, 64, &n));
    *sum = 0.0;
    for (int64_t k = 0; k < n && k < 64; k++) *sum += w[k];
    pv_result_free(r);
    pv_data_free(d);
    pv_plan_free(plan);
    return ended - began;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int64_t n)
{
    qsort(x, (size_t)n, sizeof *x, by_size);
    return n % 2 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

static void train_on(bench *b, pv_ctx *ctx, place *p, int places, const char *what, const char *const *settings)
{
    double sum, first = 0.0, *ratio = malloc(sizeof *ratio * (size_t)b->repeats);
    for (int64_t k = 0; k < b->repeats; k++)
        for (int i = 0; i < places; i++) {
            p[i].took[k] = train(b, ctx, &p[i], settings, &sum);
            if (k == 0 && i == 0) first = sum;
            if (sum != first) printf("other weights: %s\n", p[i].name);
        }
    for (int i = 0; i < places; i++) {
        for (int64_t k = 0; k < b->repeats; k++) ratio[k] = p[i].took[k] / p[0].took[k];
        const double of = median(ratio, b->repeats);
        printf("train, %-14s %-36s %7.4f s  %5.3f of copied\n", what, p[i].name, median(p[i].took, b->repeats), of);
    }
    free(ratio);
}

/* Both ways to read rows: all of them in turn, or one in twenty. */
static void train_both(bench *b, pv_ctx *ctx, place *p, int places)
{
    char batch[24];
    const char *settings[] = { "model",
                               "logistic",
                               "data.labels",
                               "0,1",
                               "data.row_norm",
                               "100",
                               "data.key_path",
                               "none",
                               "run.seed",
                               "1",
                               "run.threads",
                               "1",
                               "budget.noise_multiplier",
                               "50",
                               "optimizer",
                               "pgd",
                               "optimizer.steps",
                               "20",
                               NULL,
                               NULL,
                               NULL };
    train_on(b, ctx, p, places, "full batch", settings);
    snprintf(batch, sizeof batch, "%lld", (long long)(b->n / 20));
    settings[15] = "sgd", settings[17] = "100", settings[18] = "sampler.batch", settings[19] = batch;
    train_on(b, ctx, p, places, "rows picked", settings);
}

static void train_all(bench *b)
{
    enum { PLACES = 6 };
    place p[PLACES] = { { .name = "copied" },
                        { .name = "borrowed, huge pages, line", .huge = true },
                        { .name = "borrowed, huge pages, line + 16", .huge = true, .shift = 16 },
                        { .name = "borrowed, small pages, line" },
                        { .name = "borrowed, small pages, line + 16", .shift = 16 },
                        { .name = "borrowed, small pages, line + 4", .shift = 4 } };
    pv_ctx *ctx;
    if (strncmp("train", b->only, strlen(b->only)) != 0) return;
    if (pv_ctx_create(NULL, &ctx) != PV_OK) abort();
    pv_ctx_on_progress(ctx, note_time, NULL);
    for (int i = 0; i < PLACES; i++) {
        if (i > 0) lay_out(b, &p[i]);
        p[i].took = malloc(sizeof *p[i].took * (size_t)b->repeats);
    }
    train_both(b, ctx, p, PLACES);
    for (int i = 0; i < PLACES; i++) {
        if (p[i].map) munmap(p[i].map, map_size(b));
        free(p[i].took);
    }
    pv_ctx_free(ctx);
}

/* ---- all ------------------------------------------------------------------------------------------------------- */
static void make(bench *b)
{
    const size_t cells = (size_t)(b->n * b->p);
    uint64_t s = 1;
    b->f32 = malloc(cells * 4), b->f64 = malloc(cells * 8), b->i32 = malloc(cells * 4);
    b->idx = malloc(cells * 4), b->ptr = malloc((size_t)(b->n + 1) * 8);
    b->null = malloc((size_t)b->n / 8 + 1), b->y = malloc((size_t)b->n);
    for (size_t i = 0; i < cells; i++) {
        const uint64_t u = next(&s);
        b->f64[i] = (double)(u >> 11) * 0x1p-53;
        b->f32[i] = (float)b->f64[i];
        b->i32[i] = (int32_t)(u % 1000);
        b->idx[i] = (int32_t)(i % (size_t)b->p);
    }
    for (int64_t i = 0; i <= b->n; i++) b->ptr[i] = i * b->p;
    for (int64_t i = 0; i < b->n; i++) b->y[i] = next(&s) & 1;
    for (int64_t i = 0; i <= b->n / 8; i++) b->null[i] = (uint8_t) ~(1u << (next(&s) % 16)); /* one in sixteen */
    b->schema = malloc((size_t)b->p * 96 + 200);
    char *t = b->schema + sprintf(b->schema, "{\"columns\": [");
    for (int64_t j = 0; j < b->p; j++)
        t += sprintf(
            t, "{\"name\": \"x%lld\", \"type\": \"number\", \"min\": 0, \"max\": 1000, \"missing\": \"middle\"}, ",
            (long long)j);
    sprintf(t, "{\"name\": \"y\", \"type\": \"label\", \"values\": [0, 1]}]}");
}

int main(int argc, char **argv)
{
    bench b = { .n = argc > 1 ? atoll(argv[1]) : 1000000,
                .p = argc > 2 ? atoll(argv[2]) : 50,
                .repeats = argc > 3 ? atoll(argv[3]) : 3,
                .expect = { .classes = 2 },
                .only = argc > 5 ? argv[5] : "" };
    const pv_alloc counted = { get, put, &b.held };
    if (pv_ctx_create(&counted, &b.ctx) != PV_OK || pvi_set_threads(b.ctx, argc > 4 ? atoi(argv[4]) : 1) != PV_OK)
        return 1;
    pvi_param_defaults(pvi_data_params, &b.cfg);
    b.cfg.row_norm = 1e6; /* rows as they are */
    make(&b);
    const size_t cells = (size_t)(b.n * b.p);
    const double speed = copying(4 * cells);
    printf("%lld rows of %lld columns, %d threads; memcpy %.2f GB/s\n", (long long)b.n, (long long)b.p,
           pvi_threads(b.ctx), 1e-9 * speed);
    measure(&b, "dense float32", dense_f32, 4 * cells, speed, false);
    measure(&b, "dense float64", dense_f64, 8 * cells, speed, false);
    measure(&b, "dense float32, by columns", turned_f32, 4 * cells, speed, false);
    measure(&b, "dense float64, schema", dense_f64, 8 * cells, speed, true);
    measure(&b, "batches float32", batches, 4 * cells, speed, false);
    measure(&b, "CSR, all columns", csr, 8 * cells, speed, false);
    measure(&b, "Arrow float64", arrow_f64, 8 * cells, speed, false);
    measure(&b, "Arrow float64, schema", arrow_f64, 8 * cells, speed, true);
    measure(&b, "Arrow float64, schema, nulls", arrow_f64_nulls, 8 * cells, speed, true);
    measure(&b, "Arrow float32, schema", arrow_f32, 4 * cells, speed, true);
    measure(&b, "Arrow int32, schema", arrow_i32, 4 * cells, speed, true);
    train_all(&b);
    return 0;
}
