/* test_source_memory.c - rows from memory with the first, second, third ... allocation failing: an error, no leak,
 * and what was handed over is given back. */
#include "alloctest.h"
#include "arrowtest.h"
#include "memorytest.h"

enum { N = 300, P = 3 };
static double x[N * P];
static uint8_t y[N];
static const char *word[N];
static mt t;

typedef pv_status open_fn(pv_data **out);

/* Opens and loads with allocation n failing, for every n until none fails. */
static void every_failure(open_fn *open, const char *schema, int64_t layout)
{
    pvt_memory c = { .once = true };
    mt_open(&t);
    pv_ctx_free(t.d.ctx);
    t.d.ctx = pvt_counted(&c);
    PVT_OK(pvi_set_threads(t.d.ctx, 2));
    t.d.cfg.schema = schema;
    t.d.cfg.layout = layout;
    t.d.expect.classes = 2;
    at_live = 0;
    const int64_t before = c.live;
    int64_t n = 0;
    for (;; n++) {
        pvi_matrix *m = NULL;
        pv_data *d = (pv_data *)&t;
        c.left = n;
        pv_status s = open(&d);
        PVT_TRUE((s == PV_OK) == (d != NULL));
        if (s == PV_OK) s = pvi_data_load(t.d.ctx, &t.d.cfg, &t.d.expect, d, &m);
        const bool used = c.left < 0;
        c.left = INT64_MAX;
        PVT_CHECK(s == PV_OK || (s == PV_E_NOMEM && !m), "%d %s", (int)s, pv_ctx_errmsg(t.d.ctx));
        pvi_matrix_free(m);
        pv_data_free(d);
        PVT_IS(c.live, before);
        PVT_IS(at_live, 0);
        if (s == PV_OK && !used) break;
        PVT_TRUE(n < 10000);
    }
    PVT_TRUE(n > 10);
    mt_close(&t);
    PVT_IS(c.live, 0);
}

static void make_rows(void)
{
    for (int i = 0; i < N * P; i++) x[i] = (i * 7 % 10) * 0.1;
    for (int i = 0; i < N; i++) y[i] = i % 2, word[i] = i % 3 ? "a" : "b";
}

static const char schema[] =
    "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0, \"max\": 1}, {\"name\": \"b\", \"type\": "
    "\"number\", \"min\": 0, \"max\": 1}, {\"name\": \"c\", \"type\": \"category\", \"values\": [0, 0.1, 0.2, "
    "0.30000000000000004, 0.4, 0.5, 0.6000000000000001, 0.7000000000000001, 0.8, 0.9]}, {\"name\": \"y\", \"type\": "
    "\"label\", \"values\": [0, 1]}]}";

static pv_status open_dense(pv_data **out)
{
    pv_status s = pv_data_dense(t.d.ctx, x, PV_FLOAT64, N, P, P, 1, out);
    return s == PV_OK ? pv_data_labels(*out, y, PV_UINT8, N) : s;
}

static void dense(void **state)
{
    (void)state;
    make_rows();
    every_failure(open_dense, NULL, PVI_LAYOUT_AUTO);
    every_failure(open_dense, NULL, PVI_LAYOUT_SPARSE);
    every_failure(open_dense, schema, PVI_LAYOUT_AUTO);
}

static pv_status open_csr(pv_data **out)
{
    static int64_t ptr[N + 1];
    static int32_t idx[N * P];
    for (int i = 0; i < N * P; i++) idx[i] = i % P;
    for (int i = 0; i <= N; i++) ptr[i] = (int64_t)i * P;
    pv_status s = pv_data_csr(t.d.ctx, N, P, ptr, PV_INT64, idx, PV_INT32, x, PV_FLOAT64, out);
    return s == PV_OK ? pv_data_labels(*out, y, PV_UINT8, N) : s;
}

static void csr(void **state)
{
    (void)state;
    make_rows();
    every_failure(open_csr, NULL, PVI_LAYOUT_AUTO);
    every_failure(open_csr, NULL, PVI_LAYOUT_SPARSE);
}

static pv_status open_arrow(pv_data **out)
{
    static const char *const dictionary[] = { "a", "b" };
    static const at_column words = { .format = "u", .text = dictionary };
    static const at_column column[] = { { "n", "g", x, 8, NULL, NULL, NULL, 0 },
                                        { "w", "u", NULL, 0, word, NULL, NULL, 0 },
                                        { "d", "C", y, 1, NULL, NULL, &words, 2 },
                                        { "y", "C", y, 1, NULL, NULL, NULL, 0 } };
    static const at_batch batch[] = { { 0, 100, 3, 0, true }, { 100, 200, 0, 1, false } };
    static at_table table = { column, 4, batch, 2, 0, -1, NULL, NULL, NULL, NULL };
    struct ArrowArrayStream s = at_stream(&table);
    const pv_status st = pv_data_arrow(t.d.ctx, &s, out);
    PVT_TRUE(s.release == NULL);
    return st;
}

static void arrow(void **state)
{
    (void)state;
    make_rows();
    every_failure(open_arrow,
                  "{\"columns\": [{\"name\": \"y\", \"type\": \"label\", \"values\": [0, 1]}, {\"name\": \"d\", "
                  "\"type\": \"category\", \"values\": [\"b\", \"a\"]}, {\"name\": \"n\", \"type\": \"number\", "
                  "\"min\": 0, \"max\": 1}, {\"name\": \"w\", \"type\": \"category\", \"values\": [\"b\", \"a\"]}]}",
                  PVI_LAYOUT_AUTO);
}

static int64_t fed;

static pv_status next(void *user, pv_batch *b)
{
    (void)user;
    if (fed == N) return PV_DONE;
    *b = (pv_batch) { 100, x + fed * P, P, 1, y + fed };
    fed += 100;
    return PV_OK;
}

static pv_status open_batches(pv_data **out)
{
    fed = 0;
    return pv_data_batches(t.d.ctx, next, NULL, -1, P, PV_FLOAT64, PV_UINT8, out);
}

static void batches(void **state)
{
    (void)state;
    make_rows();
    every_failure(open_batches, NULL, PVI_LAYOUT_AUTO);
    every_failure(open_batches, schema, PVI_LAYOUT_AUTO);
}

static pv_status open_files(pv_data **out)
{
    dt_write(t.d.path, "a,y\n1,no\n0,yes\n", 15);
    const char *const path[] = { t.d.path, t.d.path };
    return pv_data_files(t.d.ctx, path, 2, out);
}

static void files(void **state)
{
    (void)state;
    every_failure(open_files,
                  "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0, \"max\": 1}, {\"name\": \"y\", "
                  "\"type\": \"label\", \"values\": [\"no\", \"yes\"]}]}",
                  PVI_LAYOUT_AUTO);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(dense), cmocka_unit_test(csr), cmocka_unit_test(arrow),
                                      cmocka_unit_test(batches), cmocka_unit_test(files) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
