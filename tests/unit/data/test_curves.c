/* test_curves.c - numbers of a table as hat functions: values, knots, missing values, norms, every refusal. */
#include "data/curves.h"
#include "datatest.h"

static dt t;
#define SCHEMA(age)                                                                                                  \
    "{\"missing\": [\"?\"], \"columns\": [{\"name\": \"age\", \"type\": \"number\", \"min\": 0, \"max\": 100" age    \
    "},"                                                                                                             \
    " {\"name\": \"job\", \"type\": \"category\", \"values\": [\"a\", \"b\"]},"                                      \
    " {\"name\": \"pay\", \"type\": \"label\", \"values\": [\"no\", \"yes\"]}]}"
#define HEAD "age,job,pay\n"

static int setup(void **state)
{
    (void)state;
    dt_open(&t);
    t.cfg.schema = t.schema;
    t.cfg.curves = "5";
    t.expect.curves = PVI_CURVES_FIT;
    t.expect.epsilon = 1.0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    dt_close(&t);
    return 0;
}

static pvi_matrix *load(const char *schema, const char *rows)
{
    dt_write(t.schema, schema, strlen(schema));
    return dt_load(&t, rows);
}

static void row_is(const pvi_matrix *m, int64_t r, int64_t n, const float *x)
{
    for (int64_t j = 0; j < n; j++)
        PVT_CHECK(dt_raw(m, r, j) == x[j], "row %lld feature %lld is %g, not %g", (long long)r, (long long)j,
                  (double)dt_raw(m, r, j), (double)x[j]);
}

static void hats_of_equal_distances(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        t.cfg.layout = sparse ? PVI_LAYOUT_SPARSE : PVI_LAYOUT_AUTO;
        pvi_matrix *m = load(SCHEMA(""), HEAD "0,a,no\n25,b,yes\n62.5,a,yes\n100,b,no\n90,b,no\n");
        PVT_IS(m->domain.p, 5 + 2 + 1);
        PVT_TRUE(sparse ? m->ptr != NULL : m->cell != NULL);
        row_is(m, 0, 7, (const float[]) { 1, 0, 0, 0, 0, 1, 0 });
        row_is(m, 1, 7, (const float[]) { 0, 1, 0, 0, 0, 0, 1 });
        row_is(m, 2, 7, (const float[]) { 0, 0, 0.5f, 0.5f, 0, 1, 0 });
        row_is(m, 3, 7, (const float[]) { 0, 0, 0, 0, 1, 0, 1 });
        const float f = (0.9f - 0.75f) / 0.25f;
        row_is(m, 4, 7, (const float[]) { 0, 0, 0, 1 - f, f, 0, 1 });
        for (int64_t r = 0; r < 5; r++) { /* (3): one norm for all, above every row's own */
            double own = 0;
            for (int64_t j = 0; j < m->domain.p; j++) own += pow((double)dt_raw(m, r, j), 2);
            PVT_TRUE(m->norm[r] == m->norm[0] && (double)m->norm[r] >= sqrt(own));
            PVT_TRUE((double)m->norm[r] < sqrt(3.0) * (1 + 1e-5));
        }
        PVT_TRUE(strstr(m->schema_json, "\"knots\":[0,25,50,75,100]") != NULL);
        pvi_matrix_free(m);
    }
}

static void a_weight_for_what_is_missing(void **state)
{
    (void)state;
    static const char *const how[] = { SCHEMA(", \"missing\": \"zero\""), SCHEMA(", \"missing\": \"middle\"") };
    for (int k = 0; k < 2; k++) {
        pvi_matrix *m = load(how[k], HEAD "?,a,no\n0,b,yes\n");
        PVT_IS(m->domain.p, 5 + 1 + 2 + 1);
        row_is(m, 0, 8, (const float[]) { 0, 0, 0, 0, 0, 1, 1, 0 });
        row_is(m, 1, 8, (const float[]) { 1, 0, 0, 0, 0, 0, 0, 1 });
        pvi_matrix_free(m);
    }
}

static void declared_knots(void **state)
{
    (void)state;
    t.cfg.curves = "auto";
    pvi_matrix *m = load(SCHEMA(", \"knots\": [10, 20, 60]"), HEAD "5,a,no\n15,b,yes\n60,a,no\n99,a,no\n");
    PVT_IS(m->domain.p, 3 + 2 + 1);
    row_is(m, 0, 3, (const float[]) { 1, 0, 0 });
    const float f = (0.15f - 0.1f) / (0.2f - 0.1f);
    row_is(m, 1, 3, (const float[]) { 1 - f, f, 0 });
    row_is(m, 2, 3, (const float[]) { 0, 0, 1 });
    row_is(m, 3, 3, (const float[]) { 0, 0, 1 });
    pvi_matrix_free(m);
    m = load(SCHEMA(", \"curve\": false"), HEAD "50,a,no\n");
    row_is(m, 0, 3, (const float[]) { 0.5f, 1, 0 });
    PVT_IS(m->domain.p, 4);
    pvi_matrix_free(m);
}

static void scales(void **state)
{
    (void)state;
    pvi_matrix *m = load(
        "{\"columns\": [{\"name\": \"age\", \"type\": \"number\", \"min\": 1, \"max\": 10000, \"scale\": \"log\"},"
        "{\"name\": \"job\", \"type\": \"number\", \"min\": -1000, \"max\": 1000, \"scale\": \"symlog\"},"
        "{\"name\": \"pay\", \"type\": \"label\", \"values\": [\"no\", \"yes\"]}]}",
        HEAD "1,0,no\n");
    const char *const json = m->schema_json;
    double k[5];
    PVT_IS(sscanf(strstr(json, "\"knots\":["), "\"knots\":[%lf,%lf,%lf,%lf,%lf]", k, k + 1, k + 2, k + 3, k + 4), 5);
    for (int i = 0; i < 5; i++) PVT_TRUE(fabs(k[i] / pow(10, i) - 1) < 1e-12);
    PVT_IS(sscanf(strstr(strstr(json, "\"job\""), "\"knots\":["), "\"knots\":[%lf,%lf,%lf,%lf,%lf]", k, k + 1, k + 2,
                  k + 3, k + 4),
           5);
    PVT_TRUE(k[0] == -1000 && k[2] == 0 && k[4] == 1000 && k[1] == -k[3]);
    PVT_TRUE(fabs(k[3] - (sqrt(1001.0) - 1)) < 1e-9); /* s = 1: half of log(1001) */
    pvi_matrix_free(m);
}

/* n and epsilon decide, and the table has its limit. */
static void how_many(void **state)
{
    (void)state;
    static const struct {
        double n, epsilon;
        int64_t knots;
    } is[] = { { 10, 0.1, 2 },   { 1000, 1, 6 }, { 32561, 0.1, 10 },
               { 32561, 1, 25 }, { 1e7, 1, 32 }, { 100, INFINITY, 32 } };
    dt_write(t.schema, SCHEMA(""), sizeof SCHEMA("") - 1);
    pvi_knots_ask knots = { 0 };
    t.cfg.curves = "auto";
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        int64_t features = 0;
        t.expect.epsilon = is[i].epsilon;
        PVT_OK(pvi_curves_features(t.ctx, &t.cfg, &t.expect, is[i].n, &features, &knots));
        PVT_IS(features, is[i].knots + 2);
    }
    int64_t features = 0;
    t.expect = (pvi_expect) { .classes = 0, .curves = PVI_CURVES_FIT, .epsilon = 1.0 };
    PVT_OK(pvi_curves_features(t.ctx, &t.cfg, &t.expect, 20000, &features, &knots));
    PVT_IS(features, 6 + 2); /* as for 1000 units with classes */
}

/* A model's knots for another declaration of the same columns. */
static void of_a_trained_model(void **state)
{
    (void)state;
    pvi_matrix *m = load(SCHEMA(""), HEAD "62.5,a,yes\n");
    t.cfg.curves = "off";
    t.expect =
        (pvi_expect) { .classes = -1, .curves = PVI_CURVES_DECLARED, .trained = m->schema_json, .features = 7 };
    pvi_matrix *same = load(SCHEMA(", \"outside\": \"clamp\""), HEAD "62.5,a,yes\n");
    PVT_IS(same->domain.p, m->domain.p);
    for (int64_t j = 0; j < 7; j++) PVT_TRUE(dt_raw(same, 0, j) == dt_raw(m, 0, j));
    PVT_TRUE(same->norm[0] == m->norm[0] && strcmp(same->digest, m->digest) == 0);
    pvi_matrix_free(same);
    dt_write(t.schema, SCHEMA(", \"missing\": \"zero\""), sizeof SCHEMA(", \"missing\": \"zero\"") - 1);
    PVT_IS(pvi_data_load(t.ctx, &t.cfg, &t.expect, NULL, &same), PV_E_PARAM);
    PVT_TRUE(strstr(pv_ctx_errmsg(t.ctx), "the model has a curve for it") != NULL);
    pvi_matrix_free(m);
}

/* What a model sees of rows stored as cells is what it sees of dense ones: values, labels, norms, owners. */
static void same_views(const pvi_matrix *cells, const pvi_matrix *dense, int64_t first, int64_t n,
                       const int64_t *pick)
{
    pv_rows a = pvi_matrix_rows(cells, first, n), b = pvi_matrix_rows(dense, first, n);
    void *room = malloc(pvi_matrix_room(cells, n));
    a.pick = b.pick = pick;
    pvi_matrix_show(cells, &a, room);
    for (int64_t i = 0; i < n; i++) {
        const int64_t u = pick ? pick[i] : i, first_a = a.start ? a.start[i] : i, first_b = b.start ? b.start[u] : u;
        const int64_t rows = b.start ? b.start[u + 1] - b.start[u] : 1;
        if (a.start) PVT_IS(a.start[i + 1] - a.start[i], rows);
        for (int64_t k = 0; k < rows; k++) {
            const int64_t r = first_a + k, q = first_b + k;
            PVT_TRUE(a.y[r] == b.y[q] && a.norm[r] == b.norm[q]);
            PVT_TRUE(memcmp(a.x + r * a.ld, b.x + q * b.ld, sizeof(float) * (size_t)(b.p - 1)) == 0);
        }
    }
    free(room);
}

static void cells_are_shown_as_dense_rows(void **state)
{
    (void)state;
    static const char schema[] = /* a column behind a curve's last knot, a category, a line, a curve at the end */
        "{\"missing\": [\"?\"], \"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0, \"max\": 1},"
        "{\"name\": \"b\", \"type\": \"number\", \"min\": 0, \"max\": 1, \"curve\": false},"
        "{\"name\": \"c\", \"type\": \"category\", \"values\": [\"u\", \"v\"], \"missing\": \"zero\"},"
        "{\"name\": \"p\", \"type\": \"person\", \"rows\": 3},"
        "{\"name\": \"y\", \"type\": \"label\", \"values\": [\"no\", \"yes\"]},"
        "{\"name\": \"d\", \"type\": \"number\", \"min\": 0, \"max\": 1, \"missing\": \"middle\"}]}";
    static const char *const word[] = { "u", "v", "?" }, *const last[] = { "0", "?", "1", "0.37", "0.25" };
    char text[4096] = "a,b,c,p,y,d\n";
    for (int i = 0; i < 60; i++)
        sprintf(text + strlen(text), "%g,%g,%s,%d,%s,%s\n", i % 11 / 10.0, i % 7 / 6.0, word[i % 3], i % 25,
                i % 2 ? "yes" : "no", last[i % 5]);
    dt_write(t.schema, schema, sizeof schema - 1);
    for (int persons = 0; persons < 2; persons++) {
        static const int64_t pick[] = { 3, 4, 17, 24 };
        t.expect.persons = persons;
        t.expect.seed = 1;
        t.cfg.layout = PVI_LAYOUT_AUTO;
        pvi_matrix *cells = dt_load(&t, text);
        t.cfg.layout = PVI_LAYOUT_DENSE;
        pvi_matrix *dense = dt_load(&t, text);
        PVT_TRUE(cells->cell && !cells->x && dense->x && !cells->start == !persons);
        same_views(cells, dense, 0, 25, NULL);
        same_views(cells, dense, 7, 11, NULL);
        same_views(cells, dense, 0, 4, pick);
        for (int64_t r = 0; r < cells->stored; r++)
            for (int64_t j = 0; j < cells->domain.p; j++) PVT_TRUE(dt_raw(cells, r, j) == dt_raw(dense, r, j));
        pvi_matrix_free(cells);
        pvi_matrix_free(dense);
    }
    t.cfg.layout = PVI_LAYOUT_AUTO;
    t.expect.persons = false;
    t.expect.whole = true; /* a query of all rows at once */
    pvi_matrix *m = dt_load(&t, text);
    PVT_TRUE(m->x && !m->cell);
    pvi_matrix_free(m);
}

static void fails(const char *schema, const char *message)
{
    pvi_matrix *m;
    dt_write(t.schema, schema, strlen(schema));
    dt_write(t.path, HEAD "1,a,no\n", sizeof HEAD "1,a,no\n" - 1);
    PVT_TRUE(pvi_data_load(t.ctx, &t.cfg, &t.expect, NULL, &m) != PV_OK);
    PVT_CHECK(strstr(pv_ctx_errmsg(t.ctx), message) != NULL, "\"%s\"", pv_ctx_errmsg(t.ctx));
}

static void refusals(void **state)
{
    (void)state;
    fails(SCHEMA(", \"knots\": [10, 101]"), "a knot must lie between \"min\" and \"max\"");
    fails(SCHEMA(", \"knots\": [10, 10]"), "knots must increase");
    fails(SCHEMA(", \"knots\": [10, 10.0000001]"), "by more than 32-bit floats are apart");
    fails(SCHEMA(", \"knots\": [10]"), "\"knots\" must list 2 to 1024 numbers");
    fails(SCHEMA(", \"knots\": [10, \"x\"]"), "a knot must be a number");
    fails(SCHEMA(", \"scale\": \"log\""), "\"log\" needs a \"min\" above 0; \"symlog\" takes any");
    fails(SCHEMA(", \"scale\": \"cubic\""), "\"scale\" must be \"linear\", \"log\" or \"symlog\"");
    fails(SCHEMA(", \"curve\": 1"), "\"curve\" must be true or false");
    fails(SCHEMA(", \"curve\": false, \"knots\": [1, 2]"), "is to be straight");
    fails(SCHEMA(", \"scale\": \"linear\", \"knots\": [1, 2]"), "\"scale\" places knots");
    t.cfg.curves = "1";
    fails(SCHEMA(""), "data.curves=1: auto, off or a number of knots from 2 to 1024 is needed");
    t.cfg.curves = "8";
    t.cfg.center = 0.5;
    fails(SCHEMA(""), "data.curves=8 and data.center");
    t.cfg.center = 0;
    t.expect.curves = PVI_CURVES_NONE;
    fails(SCHEMA(""), "is for models that are linear in their features");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hats_of_equal_distances, setup, teardown),
        cmocka_unit_test_setup_teardown(a_weight_for_what_is_missing, setup, teardown),
        cmocka_unit_test_setup_teardown(declared_knots, setup, teardown),
        cmocka_unit_test_setup_teardown(scales, setup, teardown),
        cmocka_unit_test_setup_teardown(how_many, setup, teardown),
        cmocka_unit_test_setup_teardown(of_a_trained_model, setup, teardown),
        cmocka_unit_test_setup_teardown(cells_are_shown_as_dense_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals, setup, teardown)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
