/* test_memory_csr.c - CSR rows in memory give what the same LIBSVM lines give: values, norms, labels, digest. */
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

enum { N = 3000, MOST = 24 };
typedef struct rows {
    int64_t ptr64[N + 1], idx64[N * MOST];
    int32_t ptr32[N + 1], idx32[N * MOST];
    float f32[N * MOST], y[N];
    double f64[N * MOST];
} rows;
static rows r;

/* Rows of 0 to MOST values in `columns` columns, the first value of each block of rows in the last column. */
static void make_rows(int64_t columns)
{
    uint64_t s = 3;
    int64_t n = 0;
    for (int64_t i = 0; i < N; i++) {
        int64_t j = -1;
        r.y[i] = mt_uniform(&s, 0, 1) < 0.5 ? -1.0f : 1.0f;
        for (int k = 0; k < MOST; k++) {
            j += 1 + (int64_t)mt_uniform(&s, 0, (double)columns / 8.0);
            if (i % 500 == 7 && k == 0) j = columns - 1;
            if (j >= columns) break;
            r.idx64[n] = j;
            r.idx32[n] = (int32_t)j;
            r.f32[n] = k % 5 == 4 ? 0.0f : (float)mt_uniform(&s, -0.6, 0.6);
            r.f64[n] = (double)r.f32[n];
            n++;
        }
        r.ptr64[i + 1] = n;
        r.ptr32[i + 1] = (int32_t)n;
    }
}

static void write_lines(void)
{
    FILE *f = fopen(t.d.path, "w");
    PVT_TRUE(f != NULL);
    for (int64_t i = 0; i < N; i++) {
        fprintf(f, "%d", (int)r.y[i]);
        for (int64_t k = r.ptr64[i]; k < r.ptr64[i + 1]; k++)
            fprintf(f, " %lld:%.17g", (long long)r.idx64[k] + 1, r.f64[k]);
        fputc('\n', f);
    }
    PVT_TRUE(fclose(f) == 0);
}

static pv_data *open_rows(int64_t columns, int k)
{
    pv_data *d;
    PVT_OK(pv_data_csr(t.d.ctx, N, columns, k & 1 ? (void *)r.ptr32 : (void *)r.ptr64, k & 1 ? PV_INT32 : PV_INT64,
                       k & 2 ? (void *)r.idx32 : (void *)r.idx64, k & 2 ? PV_INT32 : PV_INT64,
                       k & 4 ? (void *)r.f32 : (void *)r.f64, k & 4 ? PV_FLOAT32 : PV_FLOAT64, &d));
    PVT_OK(pv_data_labels(d, r.y, PV_FLOAT32, N));
    return d;
}

static void like_lines(void **state)
{
    (void)state;
    static const int64_t widths[] = { 40, 3000 }; /* dense and sparse */
    for (int w = 0; w < 2; w++) {
        make_rows(widths[w]);
        write_lines();
        for (int k = 0; k < 8; k++) {
            t.d.cfg.bias = k % 2;
            t.d.cfg.layout = k == 7 ? PVI_LAYOUT_SPARSE : PVI_LAYOUT_AUTO;
            pvi_matrix *a = mt_file(&t);
            pv_data *d = open_rows(widths[w], k);
            pvi_matrix *b = mt_load(&t, d), *c = mt_load(&t, d); /* a second time */
            dt_same(a, b);
            dt_same(a, c);
            PVT_TRUE(b->has_labels && b->features_measured);
            pvi_matrix_free(a), pvi_matrix_free(b), pvi_matrix_free(c);
            pv_data_free(d);
        }
    }
}

/* Columns above data.features or the trained model's. */
static void columns_above(void **state)
{
    (void)state;
    make_rows(40);
    write_lines();
    pv_data *d = open_rows(40, 0);
    t.d.cfg.features = 30;
    pvi_matrix *m;
    PVT_IS(pvi_data_load(t.d.ctx, &t.d.cfg, &t.d.expect, d, &m), PV_E_FORMAT);
    PVT_TRUE(strstr(pv_ctx_errmsg(t.d.ctx), "is not below data.features=30; data.outside=missing drops it") != NULL);
    for (int k = 0; k < 2; k++) {
        t.d.cfg.outside = PVI_OUTSIDE_MISSING;
        t.d.cfg.features = k ? PV_AUTO_I64 : 30;
        t.d.expect.features = k ? 50 : 0; /* as many as a model has, more than the rows */
        pvi_matrix *a = mt_file(&t), *b = mt_load(&t, d);
        dt_same(a, b);
        PVT_TRUE(!b->features_measured);
        pvi_matrix_free(a), pvi_matrix_free(b);
    }
    pv_data_free(d);
}

typedef struct bad {
    int64_t ptr[4], idx[4];
    double val[4];
    const char *message;
} bad;

static void bad_rows(void **state)
{
    (void)state;
    static const bad all[] = {
        { { 1, 1, 2, 3 }, { 0, 1, 2 }, { 1, 1, 1 }, "CSR rows: row pointers begin with 1, not with 0" },
        { { 0, 2, 1, 3 }, { 0, 1, 2 }, { 1, 1, 1 }, "CSR rows: row 2: row pointers must not decrease" },
        { { 0, 2, -1, 3 }, { 0, 1, 2 }, { 1, 1, 1 }, "CSR rows: row 2: row pointers must not decrease" },
        { { 0, 0, 6, 6 }, { 0, 1, 2 }, { 1, 1, 1 }, "CSR rows: row 2: more values than the 5 columns" },
        { { 0, 1, 3, 3 }, { 0, 3, 2 }, { 1, 1, 1 }, "CSR rows: row 2: column 2 after 3: columns must ascend" },
        { { 0, 1, 3, 3 }, { 0, 2, 2 }, { 1, 1, 1 }, "CSR rows: row 2: column 2 occurs twice" },
        { { 0, 1, 3, 3 }, { 0, 2, 5 }, { 1, 1, 1 }, "CSR rows: row 2: column 5 is not one of 0 .. 4" },
        { { 0, 1, 3, 3 }, { 0, -1, 2 }, { 1, 1, 1 }, "CSR rows: row 2: column -1 is not one of 0 .. 4" },
        { { 0, 1, 2, 3 },
          { 0, 1, 2 },
          { 1, 1, NAN },
          "CSR rows: row 3: the value in column 2 is not a finite 32-bit number" },
        { { 0, 1, 2, 3 },
          { 0, 1, 2 },
          { 1, 1, -1e39 },
          "CSR rows: row 3: the value in column 2 is not a finite 32-bit number" },
    };
    static const int8_t y[] = { 1, -1, 1 };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        pv_data *d;
        PVT_OK(pv_data_csr(t.d.ctx, 3, 5, all[i].ptr, PV_INT64, all[i].idx, PV_INT64, all[i].val, PV_FLOAT64, &d));
        PVT_OK(pv_data_labels(d, y, PV_INT8, 3));
        mt_fails(&t, d, PV_E_FORMAT, all[i].message);
        pv_data_free(d);
    }
}

static void bad_settings(void **state)
{
    (void)state;
    static const int32_t ptr[] = { 0, 1, 2 }, idx[] = { 0, 1 };
    static const float val[] = { 1, 2 }, y[] = { 1, -1 };
    pv_data *d;
    PVT_OK(pv_data_csr(t.d.ctx, 2, 2, ptr, PV_INT32, idx, PV_INT32, val, PV_FLOAT32, &d));
    mt_fails(&t, d, PV_E_FORMAT, "CSR rows: no labels: pv_data_labels or pv_data_label_words gives them");
    PVT_OK(pv_data_labels(d, y, PV_FLOAT32, 2));
    t.d.cfg.center = 0.5;
    mt_fails(&t, d, PV_E_PARAM, "data.center is for tables: CSR rows leave zeros out, and must stay sparse");
    t.d.cfg.center = 0;
    t.d.cfg.schema = "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0, \"max\": 9}]}";
    mt_fails(&t, d, PV_E_PARAM, "data.schema is for tables; CSR rows have none");
    pv_data_free(d);
    t.d.cfg.schema = NULL;
    PVT_OK(pv_data_csr(t.d.ctx, 2, 2, ptr, PV_INT32, NULL, PV_INT32, val, PV_FLOAT32, &d));
    PVT_OK(pv_data_labels(d, y, PV_FLOAT32, 2));
    mt_fails(&t, d, PV_E_FORMAT, "CSR rows: no columns or values: a pointer is NULL");
    pv_data_free(d);
}

static void bad_arguments(void **state)
{
    (void)state;
    static const int32_t p[] = { 0, 1 };
    static const float v[] = { 1 };
    pv_data *d;
#define REFUSED(call, text)                                                                                          \
    do {                                                                                                             \
        d = (pv_data *)&t;                                                                                           \
        mt_refused(&t, call, text);                                                                                  \
        PVT_TRUE(d == NULL);                                                                                         \
    } while (0)
    REFUSED(pv_data_csr(t.d.ctx, 0, 1, p, PV_INT32, p, PV_INT32, v, PV_FLOAT32, &d),
            "CSR rows: 0 rows: at least one is needed");
    REFUSED(pv_data_csr(t.d.ctx, 1, 0, p, PV_INT32, p, PV_INT32, v, PV_FLOAT32, &d),
            "CSR rows: 0 columns: 1 to 2147483647 can be");
    REFUSED(pv_data_csr(t.d.ctx, 1, (int64_t)1 << 31, p, PV_INT32, p, PV_INT32, v, PV_FLOAT32, &d),
            "CSR rows: 2147483648 columns: 1 to 2147483647 can be");
    REFUSED(pv_data_csr(t.d.ctx, 1, 1, NULL, PV_INT32, p, PV_INT32, v, PV_FLOAT32, &d), "pv_data_csr: ptr is NULL");
    REFUSED(pv_data_csr(t.d.ctx, 1, 1, p, PV_INT16, p, PV_INT32, v, PV_FLOAT32, &d),
            "CSR rows: row pointers and columns are PV_INT32 or PV_INT64");
    REFUSED(pv_data_csr(t.d.ctx, 1, 1, p, PV_INT32, p, PV_UINT32, v, PV_FLOAT32, &d),
            "CSR rows: row pointers and columns are PV_INT32 or PV_INT64");
    REFUSED(pv_data_csr(t.d.ctx, 1, 1, p, PV_INT32, p, PV_INT32, v, PV_INT32, &d),
            "CSR rows: values are PV_FLOAT32 or PV_FLOAT64");
    PVT_IS(pv_data_csr(NULL, 1, 1, p, PV_INT32, p, PV_INT32, v, PV_FLOAT32, &d), PV_E_ARG);
    PVT_IS(pv_data_csr(t.d.ctx, 1, 1, p, PV_INT32, p, PV_INT32, v, PV_FLOAT32, NULL), PV_E_ARG);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(like_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(columns_above, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_settings, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_arguments, setup, teardown),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
