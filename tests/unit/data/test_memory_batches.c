/* test_memory_batches.c - rows in batches give what they give as one matrix, however they are cut; and callbacks that
 * do not keep to what was declared are refused. */
#include "memorytest.h"

static mt t;

static int setup(void **state)
{
    (void)state;
    mt_open(&t);
    t.d.expect.classes = 2;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mt_close(&t);
    return 0;
}

enum { N = 1000, P = 6 };
static double x[N * P];
static int8_t y[N];

typedef struct feed { /* batches of step rows, each a copy that is spoiled when the next is asked for */
    int64_t at, step, rows;
    const double *x;
    int64_t columns, column_stride;
    bool labels;
    int64_t calls, end_at; /* the call that returns `end` */
    pv_status end;
    void (*spoil)(struct feed *f, pv_batch *b);
    double copy[N * P];
    int8_t label[N];
} feed;

static pv_status next(void *user, pv_batch *b)
{
    feed *f = user;
    PVT_TRUE(b->rows == 0 && !b->x && !b->y && b->row_stride == 0);
    memset(f->copy, 0xff, sizeof f->copy); /* what was handed over is gone */
    memset(f->label, 0x55, sizeof f->label);
    if (++f->calls == f->end_at) return f->end;
    if (f->at >= f->rows) return PV_DONE;
    const int64_t n = f->rows - f->at < f->step ? f->rows - f->at : f->step;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < f->columns; j++)
            f->copy[f->column_stride == 1 ? i * f->columns + j : j * n + i] = f->x[(f->at + i) * P + j];
        f->label[i] = y[f->at + i];
    }
    *b = (pv_batch) { .rows = n,
                      .x = f->copy,
                      .row_stride = f->column_stride == 1 ? f->columns : 1,
                      .column_stride = f->column_stride == 1 ? 1 : n,
                      .y = f->labels ? f->label : NULL };
    f->at += n;
    if (f->spoil) f->spoil(f, b);
    return PV_OK;
}

static void make_rows(void)
{
    uint64_t s = 1;
    for (int i = 0; i < N * P; i++) x[i] = i % 8 ? mt_uniform(&s, -0.5, 0.5) : 0.0;
    for (int i = 0; i < N; i++) y[i] = mt_uniform(&s, 0, 1) < 0.5 ? -1 : 1;
}

static feed made(int64_t step)
{
    return (feed) { .step = step, .rows = N, .x = x, .columns = P, .column_stride = 1, .labels = true };
}

static const char schema[] =
    "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": -1, \"max\": 1}, {\"name\": \"b\", \"type\": "
    "\"number\", \"min\": 0, \"max\": 1, \"outside\": \"clamp\"}, {\"name\": \"i\", \"type\": \"ignore\"}, "
    "{\"name\": "
    "\"c\", \"type\": \"number\", \"min\": -1, \"max\": 2}, {\"name\": \"d\", \"type\": \"number\", \"min\": -1, "
    "\"max\": 1}, {\"name\": \"y\", \"type\": \"label\", \"values\": [-1, 1]}, {\"name\": \"e\", \"type\": "
    "\"number\", "
    "\"min\": -1, \"max\": 1}]}";

/* Cut into batches of any size, with and without a schema, by rows and by columns, labels in them or apart. */
static void like_a_matrix(void **state)
{
    (void)state;
    static const int64_t steps[] = { N, 1, 7, 333 };
    static feed f;
    make_rows();
    for (int k = 0; k < 32; k++) {
        pv_data *d, *whole;
        t.d.cfg.schema = k & 1 ? schema : NULL;
        t.d.cfg.layout = k & 4 ? PVI_LAYOUT_SPARSE : PVI_LAYOUT_AUTO;
        f = made(steps[k / 8]);
        f.column_stride = k & 2 ? 2 : 1;
        PVT_OK(pv_data_dense(t.d.ctx, x, PV_FLOAT64, N, P, P, 1, &whole));
        PVT_OK(pv_data_labels(whole, y, PV_INT8, N));
        f.labels = k % 3 != 0;
        PVT_OK(pv_data_batches(t.d.ctx, next, &f, k & 1 ? N : -1, P, PV_FLOAT64, PV_INT8, &d));
        PVT_IS(pv_data_rows(d), k & 1 ? N : -1);
        if (!f.labels) PVT_OK(pv_data_labels(d, y, PV_INT8, N));
        pvi_matrix *a = mt_load(&t, whole), *b = mt_load(&t, d);
        dt_same(a, b);
        PVT_TRUE(b->has_labels && b->features_measured == a->features_measured);
        mt_fails(&t, d, PV_E_ARG, "batches: has been read, which is possible once");
        pvi_matrix_free(a), pvi_matrix_free(b);
        pv_data_free(d), pv_data_free(whole);
    }
}

/* The label as a column, as labels beside a schema that has none, and no label at all. */
static void labels(void **state)
{
    (void)state;
    static feed f;
    static double with[N * P];
    pv_data *d;
    make_rows();
    memcpy(with, x, sizeof x);
    for (int i = 0; i < N; i++) with[i * P + 5] = y[i];
    static const char inside[] =
        "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": -1, \"max\": 1}, "
        "{\"name\": \"b\", \"type\": \"number\", \"min\": -1, \"max\": 1}, {\"name\": \"c\", "
        "\"type\": \"ignore\"}, {\"name\": \"d\", \"type\": \"ignore\"}, {\"name\": \"e\", "
        "\"type\": \"ignore\"}, {\"name\": \"y\", \"type\": \"label\", \"values\": [-1, 1]}]}";
    static const char none[] = "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": -1, \"max\": 1}, "
                               "{\"name\": \"b\", \"type\": \"number\", \"min\": -1, \"max\": 1}]}";
    t.d.cfg.schema = inside;
    f = made(100);
    f.x = with, f.labels = false;
    PVT_OK(pv_data_batches(t.d.ctx, next, &f, N, P, PV_FLOAT64, (pv_type)0, &d));
    pvi_matrix *a = mt_load(&t, d);
    pv_data_free(d);
    t.d.cfg.schema = none;
    f = made(77);
    f.columns = 2;
    PVT_OK(pv_data_batches(t.d.ctx, next, &f, N, 2, PV_FLOAT64, PV_INT8, &d));
    pvi_matrix *b = mt_load(&t, d);
    dt_same(a, b);
    pvi_matrix_free(a), pvi_matrix_free(b);
    pv_data_free(d);
    f = made(77);
    f.columns = 2, f.labels = false;
    PVT_OK(pv_data_batches(t.d.ctx, next, &f, N, 2, PV_FLOAT64, PV_INT8, &d));
    mt_fails(&t, d, PV_E_FORMAT, "batches: no labels, neither y of the batches nor by pv_data_labels");
    pv_data_free(d);
    f = made(77);
    f.columns = 2, f.labels = false;
    t.d.expect.labels_optional = true;
    PVT_OK(pv_data_batches(t.d.ctx, next, &f, N, 2, PV_FLOAT64, PV_INT8, &d));
    a = mt_load(&t, d);
    PVT_TRUE(!a->has_labels);
    pvi_matrix_free(a);
    pv_data_free(d);
    t.d.expect.labels_optional = false;
    t.d.cfg.schema = inside;
    f = made(77);
    f.x = with;
    PVT_OK(pv_data_batches(t.d.ctx, next, &f, N, P, PV_FLOAT64, PV_INT8, &d));
    mt_fails(&t, d, PV_E_FORMAT, "batch 1: labels, and a column of the label as well");
    pv_data_free(d);
}

static void no_rows(feed *f, pv_batch *b)
{
    if (f->calls == 2) b->rows = 0;
}

static void negative(feed *f, pv_batch *b)
{
    if (f->calls == 2) b->rows = -3;
}

static void no_values(feed *f, pv_batch *b)
{
    if (f->calls == 2) b->x = NULL;
}

static void bad_stride(feed *f, pv_batch *b)
{
    if (f->calls == 2) b->row_stride = -1;
}

static void far(feed *f, pv_batch *b)
{
    if (f->calls == 2) b->row_stride = INT64_MAX / 4;
}

static void not_aligned(feed *f, pv_batch *b)
{
    if (f->calls == 2) b->x = (const char *)b->x + 1;
}

static void no_labels(feed *f, pv_batch *b)
{
    if (f->calls == 2) b->y = NULL;
}

static void late_labels(feed *f, pv_batch *b)
{
    b->y = f->calls == 2 ? f->label : NULL;
}

static void not_finite(feed *f, pv_batch *b)
{
    (void)b;
    if (f->calls == 2) f->copy[3 * P + 1] = NAN;
}

static void bad_label(feed *f, pv_batch *b)
{
    (void)b;
    if (f->calls == 2) f->label[3] = 7;
}

static void lies(void **state)
{
    (void)state;
    static const struct {
        void (*spoil)(feed *f, pv_batch *b);
        int64_t rows, end_at;
        pv_status end, want;
        const char *message;
    } all[] = {
        { no_rows, -1, 0, 0, PV_E_ARG, "batch 2: 0 rows: at least one is needed" },
        { negative, -1, 0, 0, PV_E_ARG, "batch 2: -3 rows: at least one is needed" },
        { no_values, -1, 0, 0, PV_E_ARG, "batch 2: no values: the pointer is NULL" },
        { bad_stride, -1, 0, 0, PV_E_ARG, "batch 2: a negative stride" },
        { far, -1, 0, 0, PV_E_ARG, "batch 2: rows times stride is beyond memory" },
        { not_aligned, -1, 0, 0, PV_E_ARG, "batch 2: the values are not aligned" },
        { no_labels, -1, 0, 0, PV_E_FORMAT, "batch 2: no labels, but the batches before have some" },
        { not_finite, -1, 0, 0, PV_E_FORMAT, "batch 2: row 4, column 2: not a finite 32-bit number" },
        { bad_label, -1, 0, 0, PV_E_FORMAT,
          "batch 2: row 4: label '7' is not -1, 0 or +1; declare the labels, as in data.labels=no,yes" },
        { NULL, N - 1, 0, 0, PV_E_FORMAT, "batch 10: more rows than the 999 that were declared" },
        { NULL, N + 1, 0, 0, PV_E_FORMAT, "batches: 1000 rows came, but 1001 were declared" },
        { NULL, -1, 1, PV_DONE, PV_E_FORMAT, "batches: no rows" },
        { NULL, N, 1, PV_DONE, PV_E_FORMAT, "batches: 0 rows came, but 1000 were declared" },
        { NULL, -1, 3, PV_E_IO, PV_E_IO, "batches: the callback ended before batch 3: input or output failed" },
        { NULL, -1, 1, PV_E_NOMEM, PV_E_NOMEM, "batches: the callback ended before batch 1: out of memory" },
    };
    static feed f;
    make_rows();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        pv_data *d;
        f = made(100);
        f.spoil = all[i].spoil, f.end_at = all[i].end_at, f.end = all[i].end;
        PVT_OK(pv_data_batches(t.d.ctx, next, &f, all[i].rows, P, PV_FLOAT64, PV_INT8, &d));
        mt_fails(&t, d, all[i].want, all[i].message);
        pv_data_free(d);
    }
    pv_data *d;
    t.d.expect.labels_optional = true;
    f = made(100);
    f.spoil = late_labels;
    PVT_OK(pv_data_batches(t.d.ctx, next, &f, -1, P, PV_FLOAT64, PV_INT8, &d));
    mt_fails(&t, d, PV_E_FORMAT, "batch 2: has labels, but the batches before have none");
    pv_data_free(d);
    f = made(100);
    PVT_OK(pv_data_batches(t.d.ctx, next, &f, -1, P, PV_FLOAT64, (pv_type)77, &d));
    mt_fails(&t, d, PV_E_ARG, "batch 1: 77 is no type of labels");
    pv_data_free(d);
    t.d.cfg.schema = schema;
    f = made(100);
    f.spoil = not_finite;
    PVT_OK(pv_data_batches(t.d.ctx, next, &f, -1, P, PV_FLOAT64, PV_INT8, &d));
    mt_fails(&t, d, PV_E_FORMAT,
             "batch 2: row 4: column \"b\" has no value ('nan'); \"missing\": \"middle\" or \"zero\" "
             "in the schema would allow it");
    pv_data_free(d);
    f = made(100);
    f.spoil = bad_label;
    PVT_OK(pv_data_batches(t.d.ctx, next, &f, -1, P, PV_FLOAT64, PV_INT8, &d));
    mt_fails(&t, d, PV_E_FORMAT, "batch 2: row 4: label '7' in column \"y\" is none of: -1, 1");
    pv_data_free(d);
}

static void bad_arguments(void **state)
{
    (void)state;
    static feed f;
    pv_data *d;
#define REFUSED(call, text)                                                                                          \
    do {                                                                                                             \
        d = (pv_data *)&t;                                                                                           \
        mt_refused(&t, call, text);                                                                                  \
        PVT_TRUE(d == NULL);                                                                                         \
    } while (0)
    REFUSED(pv_data_batches(t.d.ctx, NULL, &f, -1, P, PV_FLOAT64, PV_INT8, &d), "pv_data_batches: next is NULL");
    REFUSED(pv_data_batches(t.d.ctx, next, &f, 0, P, PV_FLOAT64, PV_INT8, &d),
            "batches: 0 rows: at least one is needed, or -1 if unknown");
    REFUSED(pv_data_batches(t.d.ctx, next, &f, -2, P, PV_FLOAT64, PV_INT8, &d),
            "batches: -2 rows: at least one is needed, or -1 if unknown");
    REFUSED(pv_data_batches(t.d.ctx, next, &f, -1, 0, PV_FLOAT64, PV_INT8, &d),
            "batches: 0 columns: 1 to 2147483647 can be");
    REFUSED(pv_data_batches(t.d.ctx, next, &f, -1, P, (pv_type)0, PV_INT8, &d), "batches: 0 is no type of values");
    PVT_IS(pv_data_batches(NULL, next, &f, -1, P, PV_FLOAT64, PV_INT8, &d), PV_E_ARG);
    PVT_IS(pv_data_batches(t.d.ctx, next, &f, -1, P, PV_FLOAT64, PV_INT8, NULL), PV_E_ARG);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = { TEST(like_a_matrix), TEST(labels), TEST(lies), TEST(bad_arguments) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
