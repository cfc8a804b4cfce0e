/* test_memory_dense.c - a matrix in memory gives what the same .npy file gives: values, norms, labels, digest. */
#include "memorytest.h"
#include "data/memory/memory_table.h"

static mt t;

static int setup(void **state)
{
    (void)state;
    mt_open(&t);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mt_close(&t);
    return 0;
}

enum { N = 700, P = 37 }; /* more than one block */
static float x32[N * P];
static double x64[N * P];
static int32_t y[N];

static void make_rows(void)
{
    uint64_t s = 7;
    for (int i = 0; i < N * P; i++) {
        x32[i] = i % 11 == 0 ? 0.0f : (float)mt_uniform(&s, -0.4, 0.4);
        x64[i] = (double)x32[i];
    }
    for (int i = 0; i < N; i++) y[i] = (int32_t)(i * 7 % 10);
}

/* Dense rows of memory with labels y against the same in x.npy and y.npy. */
static void same_as_npy(pv_data *d, const char *descr, const void *x, size_t size)
{
    mt_npy(t.rows, descr, N, P, x, size);
    mt_npy(t.labels, "<i4", N, 0, y, sizeof y);
    t.d.cfg.path = t.rows;
    pvi_matrix *a = mt_file(&t);
    PVT_OK(pv_data_labels(d, y, PV_INT32, N));
    pvi_matrix *b = mt_load(&t, d);
    dt_same(a, b);
    PVT_IS(b->features_measured, a->features_measured);
    PVT_TRUE(b->has_labels);
    pvi_matrix_free(a), pvi_matrix_free(b);
}

static void like_an_array(void **state)
{
    (void)state;
    make_rows();
    static const int64_t layouts[] = { PVI_LAYOUT_AUTO, PVI_LAYOUT_DENSE, PVI_LAYOUT_SPARSE };
    static const double centers[] = { 0.0, 0.25 };
    for (int k = 0; k < 6; k++) {
        pv_data *d;
        t.d.cfg.layout = layouts[k % 3];
        t.d.cfg.center = centers[k / 3];
        t.d.cfg.bias = k % 2;
        PVT_OK(pv_data_dense(t.d.ctx, x32, PV_FLOAT32, N, P, P, 1, &d));
        PVT_IS(pv_data_rows(d), N);
        same_as_npy(d, "<f4", x32, sizeof x32);
        pv_data_free(d);
        PVT_OK(pv_data_dense(t.d.ctx, x64, PV_FLOAT64, N, P, P, 1, &d));
        same_as_npy(d, "<f8", x64, sizeof x64);
        pv_data_free(d);
    }
}

/* Columns one after the other, every second row: strides in values. */
static void strides(void **state)
{
    (void)state;
    static float turned[2 * N * P];
    pv_data *d;
    make_rows();
    for (int i = 0; i < N; i++)
        for (int j = 0; j < P; j++) turned[2 * (j * N + i)] = x32[i * P + j];
    PVT_OK(pv_data_dense(t.d.ctx, turned, PV_FLOAT32, N, P, 2, 2 * N, &d));
    same_as_npy(d, "<f4", x32, sizeof x32);
    pv_data_free(d);
    static float padded[N * (P + 3)];
    for (int i = 0; i < N; i++) memcpy(padded + i * (P + 3), x32 + i * P, P * 4);
    PVT_OK(pv_data_dense(t.d.ctx, padded, PV_FLOAT32, N, P, P + 3, 1, &d));
    same_as_npy(d, "<f4", x32, sizeof x32);
    pv_data_free(d);
}

static void bytes_are_fractions(void **state)
{
    (void)state;
    static uint8_t x[N * P];
    pv_data *d;
    make_rows();
    for (int i = 0; i < N * P; i++) x[i] = (uint8_t)(i * 31);
    PVT_OK(pv_data_dense(t.d.ctx, x, PV_UINT8, N, P, P, 1, &d));
    same_as_npy(d, "|u1", x, sizeof x);
    pv_data_free(d);
}

/* Integers at their value, whatever their width. */
static void integers(void **state)
{
    (void)state;
    static const int8_t i8[] = { -128, 127, 0, 5 };
    static const int16_t i16[] = { -128, 127, 0, 5 };
    static const int32_t i32[] = { -128, 127, 0, 5 };
    static const int64_t i64[] = { -128, 127, 0, 5 };
    static const uint16_t u16[] = { 0, 65535 };
    static const uint32_t u32[] = { 0, 4294967295u };
    static const uint64_t u64[] = { 0, 18446744073709551615u };
    static const uint8_t bit[] = { 0, 1 };
    static const int8_t label[] = { -1, 1 };
    static const struct {
        const void *x;
        pv_type type;
        int64_t columns;
        double want[4];
    } all[] = { { i8, PV_INT8, 2, { -128, 127, 0, 5 } },
                { i16, PV_INT16, 2, { -128, 127, 0, 5 } },
                { i32, PV_INT32, 2, { -128, 127, 0, 5 } },
                { i64, PV_INT64, 2, { -128, 127, 0, 5 } },
                { u16, PV_UINT16, 1, { 0, 65535 } },
                { u32, PV_UINT32, 1, { 0, 4294967295.0 } },
                { u64, PV_UINT64, 1, { 0, 18446744073709551615.0 } },
                { bit, PV_BOOL8, 1, { 0, 1 } } };
    t.d.expect.classes = 2;
    t.d.cfg.bias = 0;
    t.d.cfg.norm = PVI_NORM_MAX;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        pv_data *d;
        t.d.cfg.row_norm = all[k].type >= PV_UINT32 && all[k].type <= PV_UINT64 ? 1e30 : 1e6;
        PVT_OK(pv_data_dense(t.d.ctx, all[k].x, all[k].type, 2, all[k].columns, all[k].columns, 1, &d));
        PVT_OK(pv_data_labels(d, label, PV_INT8, 2));
        pvi_matrix *m = mt_load(&t, d);
        for (int64_t i = 0; i < 2 * all[k].columns; i++) PVT_TRUE(m->x[i] == (float)all[k].want[i]);
        PVT_TRUE(m->y[0] == -1 && m->y[1] == 1);
        pvi_matrix_free(m);
        pv_data_free(d);
    }
}

/* 1, 1.0, "1" and "+1" are one label; words are matched as in a table. */
static void labels(void **state)
{
    (void)state;
    static const float x[] = { 1, 2, 3 };
    static const double f64[] = { 1, 2.5, 1 };
    static const float f32[] = { 1, 2.5f, 1 };
    static const char *const words[] = { "1.0", "2.5", "+1" };
    static const int64_t i64[] = { 9007199254740993, -3, -3 };
    static const char *const list[] = { "2.5", "1", "not declared, and not used" };
    static const int16_t place[] = { 1, 0, 1 };
    t.d.cfg.labels = "1,2.5";
    pv_data *d;
    PVT_OK(pv_data_dense(t.d.ctx, x, PV_FLOAT32, 3, 1, 1, 1, &d));
    for (int k = 0; k < 5; k++) { /* what was given last counts */
        PVT_OK(k == 0   ? pv_data_labels(d, f64, PV_FLOAT64, 3)
               : k == 1 ? pv_data_labels(d, f32, PV_FLOAT32, 3)
               : k == 3 ? pv_data_label_places(d, place, PV_INT16, 3, list, 3)
                        : pv_data_label_words(d, words, 3));
        pvi_matrix *m = mt_load(&t, d);
        PVT_TRUE(m->y[0] == -1 && m->y[1] == 1 && m->y[2] == -1 && m->domain.classes == 2);
        assert_string_equal(m->class_names[1], "2.5");
        pvi_matrix_free(m);
    }
    t.d.cfg.labels = "-3,9007199254740993,0.1";
    PVT_OK(pv_data_labels(d, i64, PV_INT64, 3));
    pvi_matrix *m = mt_load(&t, d);
    PVT_TRUE(m->y[0] == 1 && m->y[1] == 0 && m->y[2] == 0);
    pvi_matrix_free(m);
    static const float tenth[] = { 0.1f, 0.1f, -3.0f }; /* the text of the float, not of the double behind it */
    PVT_OK(pv_data_labels(d, tenth, PV_FLOAT32, 3));
    m = mt_load(&t, d);
    PVT_TRUE(m->y[0] == 2 && m->y[2] == 0);
    pvi_matrix_free(m);
    t.d.cfg.labels = NULL;
    t.d.expect.classes = 0;
    t.d.expect.y_lo = 0, t.d.expect.y_hi = 4;
    PVT_OK(pv_data_labels(d, f64, PV_FLOAT64, 3));
    m = mt_load(&t, d);
    PVT_TRUE(m->y[0] == 1.0f && m->y[1] == 2.5f && m->domain.classes == 0);
    pvi_matrix_free(m);
    pv_data_free(d);
}

/* More labels than are remembered at a time. */
static void many_labels(void **state)
{
    (void)state;
    enum { CLASSES = 500 };
    static char text[CLASSES * 8];
    static int16_t label[3 * CLASSES];
    static float ones[3 * CLASSES];
    pv_data *d;
    for (int i = 0; i < CLASSES; i++) sprintf(text + strlen(text), "%s%d", i ? "," : "", 3 * i - 200);
    for (int i = 0; i < 3 * CLASSES; i++) label[i] = (int16_t)(3 * (i * 7 % CLASSES) - 200), ones[i] = 1;
    t.d.cfg.labels = text;
    PVT_OK(pv_data_dense(t.d.ctx, ones, PV_FLOAT32, 3 * CLASSES, 1, 1, 1, &d));
    PVT_OK(pv_data_labels(d, label, PV_INT16, 3 * CLASSES));
    pvi_matrix *m = mt_load(&t, d);
    for (int i = 0; i < 3 * CLASSES; i++) PVT_TRUE(m->y[i] == (float)(i * 7 % CLASSES));
    pvi_matrix_free(m);
    pv_data_free(d);
}

static void bad_labels(void **state)
{
    (void)state;
    static const float x[] = { 1, 2, 3 };
    static const double nan[] = { 1, NAN, 1 }, two[] = { 0, 1, 2 };
    static const int8_t place[] = { 0, 1, -1 };
    static const char *const words[] = { "no", "yes", "maybe" }, *const hole[] = { "no", NULL, "yes" };
    pv_data *d;
    t.d.expect.classes = 2;
    PVT_OK(pv_data_dense(t.d.ctx, x, PV_FLOAT32, 3, 1, 1, 1, &d));
    mt_fails(&t, d, PV_E_FORMAT, "dense rows: no labels: pv_data_labels or pv_data_label_words gives them");
    mt_refused(&t, pv_data_labels(d, two, PV_FLOAT64, 2), "dense rows: 2 labels for 3 rows");
    mt_refused(&t, pv_data_labels(d, NULL, PV_FLOAT64, 3), "pv_data_labels: y is NULL");
    mt_refused(&t, pv_data_labels(d, two, (pv_type)0, 3), "labels: 0 is no type of values");
    mt_refused(&t, pv_data_labels(d, two, (pv_type)99, 3), "labels: 99 is no type of values");
    mt_refused(&t, pv_data_label_words(d, hole, 3), "labels: label 2 is NULL");
    mt_refused(&t, pv_data_label_places(d, two, PV_FLOAT64, 3, words, 3),
               "labels: places in a list of words are integers");
    mt_refused(&t, pv_data_label_places(d, place, PV_INT8, 3, words, 3), "labels: label 3 is none of 3 words");
    mt_refused(&t, pv_data_label_places(d, place, PV_INT8, 3, words, 1), "labels: label 2 is none of 1 words");
    mt_refused(&t, pv_data_label_places(d, place, PV_INT8, 3, hole, 3), "labels: word 2 is NULL");
    mt_refused(&t, pv_data_label_places(d, place, PV_INT8, 2, words, 2), "dense rows: 2 labels for 3 rows");
    PVT_IS(pv_data_labels(NULL, two, PV_FLOAT64, 3), PV_E_ARG);
    PVT_IS(pv_data_label_words(NULL, words, 3), PV_E_ARG);
    PVT_OK(pv_data_labels(d, two, PV_FLOAT64, 3));
    mt_fails(&t, d, PV_E_FORMAT,
             "dense rows: label 3: label '2' is not -1, 0 or +1; declare the labels, as in data.labels=no,yes");
    PVT_OK(pv_data_labels(d, nan, PV_FLOAT64, 3));
    mt_fails(&t, d, PV_E_FORMAT,
             "dense rows: label 2: label 'nan' is not -1, 0 or +1; declare the labels, as in data.labels=no,yes");
    t.d.cfg.labels = "no,yes";
    PVT_OK(pv_data_label_words(d, words, 3));
    mt_fails(&t, d, PV_E_FORMAT, "dense rows: label 3: label 'maybe' is none of: no, yes");
    t.d.cfg.messages = PVI_TELL_PLACE;
    mt_fails(&t, d, PV_E_FORMAT, "dense rows: label 3: refused; data.messages=full tells why, and quotes it");
    pv_data_free(d);
}

static void bad_rows(void **state)
{
    (void)state;
    static float x[N * P];
    static const uint8_t bits[] = { 1, 0, 2, 1 };
    static const double wide[] = { 1, 1e39 };
    static const int8_t one[] = { 1, 1 };
    pv_data *d;
    make_rows();
    for (int k = 0; k < 3; k++) {
        memcpy(x, x32, sizeof x);
        x[650 * P + 4] = k == 0 ? NAN : k == 1 ? INFINITY : -INFINITY;
        x[690 * P + 2] = NAN; /* a later block */
        PVT_OK(pv_data_dense(t.d.ctx, x, PV_FLOAT32, N, P, P, 1, &d));
        PVT_OK(pv_data_labels(d, y, PV_INT32, N));
        t.d.cfg.layout = k == 2 ? PVI_LAYOUT_SPARSE : PVI_LAYOUT_AUTO;
        mt_fails(&t, d, PV_E_FORMAT, "dense rows: row 651, column 5: not a finite 32-bit number");
        pv_data_free(d);
    }
    PVT_OK(pv_data_dense(t.d.ctx, wide, PV_FLOAT64, 2, 1, 1, 1, &d));
    PVT_OK(pv_data_labels(d, one, PV_INT8, 2));
    mt_fails(&t, d, PV_E_FORMAT, "dense rows: row 2, column 1: not a finite 32-bit number");
    pv_data_free(d);
    PVT_OK(pv_data_dense(t.d.ctx, bits, PV_BOOL8, 2, 2, 2, 1, &d));
    PVT_OK(pv_data_labels(d, one, PV_INT8, 2));
    mt_fails(&t, d, PV_E_FORMAT, "dense rows: row 2, column 1: a truth value is 0 or 1");
    t.d.cfg.features = 3;
    mt_fails(&t, d, PV_E_FORMAT, "dense rows: rows of 2 values, but 3 are declared");
    t.d.cfg.features = PV_AUTO_I64;
    t.d.cfg.rows = 5;
    mt_fails(&t, d, PV_E_FORMAT, "dense rows: 2 rows, but data.rows=5");
    pv_data_free(d);
}

/* ---- with a schema ------------------------------------------------------------ */
#define SCHEMA(number)                                                                                               \
    "{\"missing\": [\"\", \"1\"], \"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": -1, \"max\": 1, "   \
    "\"missing\": \"middle\"}, {\"name\": \"id\", \"type\": \"ignore\"}, {\"name\": \"b\", \"type\": \"" number      \
    "\", \"min\": 0, \"max\": 7, \"missing\": \"zero\", \"outside\": \"clamp\"}, {\"name\": \"c\", \"type\": "       \
    "\"category\", \"values\": [\"0\", [\"1.0\", \"one\"], \"2.5\"]}, {\"name\": \"y\", \"type\": \"label\", "       \
    "\"values\": "                                                                                                   \
    "[\"no\", [\"1\", \"yes\"], \"2\"]}]}"
static const char numbers_only[] =
    "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": -1, \"max\": 1, "
    "\"missing\": \"middle\"}, {\"name\": \"id\", \"type\": \"ignore\"}, {\"name\": \"b\", \"type\": \"number\", "
    "\"min\": 0, \"max\": 7, "
    "\"missing\": \"zero\", \"outside\": \"clamp\"}, {\"name\": \"c\", \"type\": \"number\", \"min\": 0, \"max\": 3, "
    "\"missing\": \"middle\"}, {\"name\": \"y\", \"type\": \"label\", \"min\": 0, \"max\": 2}]}";

/* 2000 records of five columns, NaN where a field is empty. */
enum { RECORDS = 2000 };
static double table[RECORDS * 5];

static void make_table(bool apart)
{
    uint64_t s = 5;
    FILE *f = fopen(t.d.path, "w");
    PVT_TRUE(f != NULL);
    fprintf(f, "a,id,b,c,y\n");
    for (int i = 0; i < RECORDS; i++) {
        static const char *const text[] = { "0", "1.0", "2.5" };
        static const double value[] = { 0, 1, 2.5 };
        const int c = (int)mt_uniform(&s, 0, 3), label = (int)mt_uniform(&s, 1, 3);
        double *v = table + 5 * i;
        v[0] = i % 7 == 0 ? NAN : i % 7 == 1 ? 1 : i % 7 == 2 ? -0.0 : mt_uniform(&s, -1, 1);
        v[1] = i;
        v[2] = i % 5 == 0 ? NAN : mt_uniform(&s, -1, 9);
        v[3] = i % 11 == 0 ? NAN : value[c];
        v[4] = label;
        if (isnan(v[0])) fprintf(f, ",");
        else fprintf(f, "%.17g,", v[0]);
        fprintf(f, "%d,", i);
        if (isnan(v[2])) fprintf(f, ",");
        else fprintf(f, "%.17g,", v[2]);
        fprintf(f, "%s,%d\n", isnan(v[3]) ? "" : text[c], label);
    }
    PVT_TRUE(fclose(f) == 0);
    for (int i = 0; i < RECORDS && apart; i++) memmove(table + 4 * i, table + 5 * i, 4 * sizeof *table);
}

/* The schema as it is for files, and with numbers only (whole rows); dense and sparse; the label inside and apart. */
static void like_a_table(void **state)
{
    (void)state;
    static const char *const schemas[] = { SCHEMA("number"), SCHEMA("date"), numbers_only };
    static double apart_y[RECORDS];
    for (int k = 0; k < 24; k++) {
        const bool apart = k & 1;
        t.d.cfg.schema = schemas[k / 8];
        t.d.cfg.layout = k & 2 ? PVI_LAYOUT_SPARSE : PVI_LAYOUT_AUTO;
        t.d.cfg.center = k & 4 ? 0.5 : 0;
        t.d.cfg.outside = k / 8 == 2 ? PVI_OUTSIDE_CLAMP : PVI_OUTSIDE_ERROR;
        t.d.expect.classes = k / 8 == 2 ? 0 : 3;
        t.d.cfg.bias = k % 3 == 0 ? 0.25 : 0;
        make_table(false);
        for (int i = 0; i < RECORDS; i++) apart_y[i] = table[5 * i + 4];
        pvi_matrix *a = mt_file(&t);
        make_table(apart);
        pv_data *d;
        const int64_t columns = apart ? 4 : 5;
        PVT_OK(pv_data_dense(t.d.ctx, table, PV_FLOAT64, RECORDS, columns, columns, 1, &d));
        if (apart) PVT_OK(pv_data_labels(d, apart_y, PV_FLOAT64, RECORDS));
        pvi_matrix *b = mt_load(&t, d);
        dt_same(a, b);
        PVT_TRUE(b->has_labels);
        assert_string_equal(a->schema_json, b->schema_json);
        pvi_matrix_free(a), pvi_matrix_free(b);
        pv_data_free(d);
    }
}

static void bad_tables(void **state)
{
    (void)state;
    static const char schema[] = "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0, \"max\": 9}, "
                                 "{\"name\": \"c\", \"type\": \"category\", \"values\": [\"1\", \"2\"], \"missing\": "
                                 "\"error\"}, {\"name\": \"y\", \"type\": \"label\", \"values\": [\"0\", \"1\"]}]}";
    static const struct {
        double row[3];
        const char *message;
    } all[] = {
        { { 10.5, 1, 0 },
          "dense rows: row 3, column \"a\": 10.5 is outside the declared 0 .. 9; data.outside=usual "
          "would clamp it" },
        { { NAN, 1, 0 },
          "dense rows: row 3: column \"a\" has no value ('nan'); \"missing\": \"middle\" or \"zero\" in "
          "the schema would allow it" },
        { { INFINITY, 1, 0 }, "dense rows: row 3, column \"a\": 'inf' is not a finite number" },
        { { 1, 3, 0 },
          "dense rows: row 3, column \"c\": '3' is not one of its declared values; "
          "data.outside=usual would take it for \"other\" or none" },
        { { 1, NAN, 0 },
          "dense rows: row 3: column \"c\" has no value (''); \"missing\": \"middle\" or \"zero\" in the "
          "schema would allow it" },
        { { 1, 1, 2 }, "dense rows: row 3: label '2' in column \"y\" is none of: 0, 1" },
        { { 10, 3, 2 },
          "dense rows: row 3, column \"a\": 10 is outside the declared 0 .. 9; data.outside=usual "
          "would clamp it" },
    };
    pv_data *d;
    t.d.cfg.schema = schema;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double x[4][3] = { { 1, 1, 0 }, { 2, 2, 1 }, { 0 }, { 99, 99, 99 } };
        memcpy(x[2], all[i].row, sizeof x[2]);
        PVT_OK(pv_data_dense(t.d.ctx, x, PV_FLOAT64, 4, 3, 3, 1, &d));
        t.d.cfg.messages = PVI_TELL_FULL;
        mt_fails(&t, d, PV_E_FORMAT, all[i].message);
        t.d.cfg.messages = PVI_TELL_PLACE;
        pvi_matrix *m;
        PVT_IS(pvi_data_load(t.d.ctx, &t.d.cfg, &t.d.expect, d, &m), PV_E_FORMAT);
        const char *column = i == 5 ? "y" : i == 3 || i == 4 ? "c" : "a";
        char want[128];
        snprintf(want, sizeof want,
                 "dense rows: row 3, column \"%s\": refused; data.messages=full tells why, and quotes it", column);
        assert_string_equal(pv_ctx_errmsg(t.d.ctx), want);
        pv_data_free(d);
    }
    t.d.cfg.messages = PVI_TELL_FULL;
    static const double x[4] = { 1, 1, 0, 2 };
    PVT_OK(pv_data_dense(t.d.ctx, x, PV_FLOAT64, 2, 2, 2, 1, &d));
    mt_fails(&t, d, PV_E_FORMAT, "dense rows: 2 columns, but the schema has 3");
    t.d.expect.labels_optional = true;
    pvi_matrix *m = mt_load(&t, d);
    PVT_TRUE(!m->has_labels);
    pvi_matrix_free(m);
    pv_data_free(d);
    PVT_OK(pv_data_dense(t.d.ctx, x, PV_FLOAT64, 1, 3, 3, 1, &d));
    PVT_OK(pv_data_labels(d, x, PV_FLOAT64, 1));
    mt_fails(&t, d, PV_E_FORMAT, "dense rows: the rows have labels of their own, and others were given");
    pv_data_free(d);
}

/* Numbers in runs of 9, 8 and 4 columns, a category and the label between them, and values outside in two places: the
 * first row counts, and in it the first column. */
enum { WIDE = 23, LONG = 300 };
static const char *wide_schema(void)
{
    static char schema[WIDE * 80 + 64];
    char *at = schema + sprintf(schema, "{\"columns\": [");
    for (int j = 0; j < WIDE; j++)
        if (j == 9) at += sprintf(at, "{\"name\": \"c\", \"type\": \"category\", \"values\": [\"0\", \"1\"]}, ");
        else if (j == 18) at += sprintf(at, "{\"name\": \"y\", \"type\": \"label\", \"values\": [\"0\", \"1\"]}, ");
        else at += sprintf(at, "{\"name\": \"x%d\", \"type\": \"number\", \"min\": 0, \"max\": 3}, ", j);
    strcpy(at - 2, "]}");
    return schema;
}

static void the_first_counts(void **state)
{
    (void)state;
    static double x[LONG * WIDE];
    uint64_t s = 8;
    t.d.cfg.schema = wide_schema();
    t.d.cfg.messages = PVI_TELL_PLACE;
    for (int k = 0; k < 400; k++) {
        const bool by_rows = k & 1;
        const int64_t down = by_rows ? WIDE : 1, across = by_rows ? 1 : LONG;
        for (int i = 0; i < LONG * WIDE; i++) x[i] = (double)(i % 2);
        int64_t row[2], column[2];
        for (int e = 0; e < 2; e++) {
            row[e] = e && k % 4 == 0 ? row[0] : (int64_t)mt_uniform(&s, 0, LONG);
            column[e] = (int64_t)mt_uniform(&s, 0, WIDE);
            x[row[e] * down + column[e] * across] = 5;
        }
        const int e = row[1] < row[0] || (row[1] == row[0] && column[1] < column[0]);
        char name[16], want[128];
        snprintf(name, sizeof name, "x%d", (int)column[e]);
        snprintf(want, sizeof want,
                 "dense rows: row %d, column \"%s\": refused; data.messages=full tells why, and quotes it",
                 (int)row[e] + 1,
                 column[e] == 9    ? "c"
                 : column[e] == 18 ? "y"
                                   : name);
        pv_data *d;
        PVT_OK(pv_data_dense(t.d.ctx, x, PV_FLOAT64, LONG, WIDE, down, across, &d));
        mt_fails(&t, d, PV_E_FORMAT, want);
        pv_data_free(d);
    }
}

/* Each number at its place, by every instruction set as by a plain loop. */
static void numbers_of_a_lane(void **state)
{
    (void)state;
    uint64_t s = 9;
    double v[64];
    float x[64];
    for (int k = 0; k < 2000; k++) {
        const pvi_column col = { .lo = -1, .hi = k % 2 ? 3 : 0, .from = k % 3 ? -1 : 0, .range = k % 3 ? 3.7 : 1 };
        const double center = k % 5 ? 0.0 : 0.5;
        const int64_t n = (int64_t)mt_uniform(&s, 0, 65);
        bool within = true;
        for (int64_t j = 0; j < n; j++) v[j] = mt_uniform(&s, -1, col.hi);
        if (n && k % 4 == 0) v[(int64_t)mt_uniform(&s, 0, (double)n)] = k % 8 ? NAN : k % 16 ? 4 : -INFINITY;
        for (int64_t j = 0; j < n; j++) within &= v[j] >= col.lo && v[j] <= col.hi;
        for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
            PVT_TRUE(pvi_numbers_isa[isa](&col, center, v, n, x) == within);
            for (int64_t j = 0; j < n; j++)
                if (isfinite(v[j])) PVT_TRUE(x[j] == (float)((v[j] - col.from) / col.range - center));
        }
    }
}

static void bad_arguments(void **state)
{
    (void)state;
    static const float x[] = { 1, 2 };
    pv_data *d;
#define REFUSED(call, text)                                                                                          \
    do {                                                                                                             \
        d = (pv_data *)&t;                                                                                           \
        mt_refused(&t, call, text);                                                                                  \
        PVT_TRUE(d == NULL);                                                                                         \
    } while (0)
    REFUSED(pv_data_dense(t.d.ctx, x, PV_FLOAT32, 0, 1, 1, 1, &d), "dense rows: 0 rows: at least one is needed");
    REFUSED(pv_data_dense(t.d.ctx, x, PV_FLOAT32, -4, 1, 1, 1, &d), "dense rows: -4 rows: at least one is needed");
    REFUSED(pv_data_dense(t.d.ctx, x, PV_FLOAT32, 1, 0, 1, 1, &d), "dense rows: 0 columns: 1 to 2147483647 can be");
    REFUSED(pv_data_dense(t.d.ctx, NULL, PV_FLOAT32, 1, 1, 1, 1, &d), "pv_data_dense: x is NULL");
    REFUSED(pv_data_dense(t.d.ctx, x, PV_FLOAT32, 1, 1, -1, 1, &d), "dense rows: a negative stride");
    REFUSED(pv_data_dense(t.d.ctx, x, PV_FLOAT32, 1, 1, 1, -1, &d), "dense rows: a negative stride");
    REFUSED(pv_data_dense(t.d.ctx, x, (pv_type)12, 1, 1, 1, 1, &d), "dense rows: 12 is no type of values");
    REFUSED(pv_data_dense(t.d.ctx, x, (pv_type)-1, 1, 1, 1, 1, &d), "dense rows: -1 is no type of values");
    REFUSED(pv_data_dense(t.d.ctx, x, PV_FLOAT32, INT64_MAX, 1, 2, 1, &d),
            "dense rows: rows times stride is beyond memory");
    REFUSED(pv_data_dense(t.d.ctx, x, PV_FLOAT32, INT64_MAX, 1, 1, 1, &d),
            "dense rows: rows times stride is beyond memory");
    REFUSED(pv_data_dense(t.d.ctx, x, PV_FLOAT64, 2, 2, INT64_MAX / 2, INT64_MAX / 2, &d),
            "dense rows: rows times stride is beyond memory");
    PVT_IS(pv_data_dense(NULL, x, PV_FLOAT32, 1, 1, 1, 1, &d), PV_E_ARG);
    PVT_IS(pv_data_dense(t.d.ctx, x, PV_FLOAT32, 1, 1, 1, 1, NULL), PV_E_ARG);
    PVT_IS(pv_data_rows(NULL), -1);
    pv_data_free(NULL);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(like_an_array, setup, teardown),
        cmocka_unit_test_setup_teardown(strides, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_are_fractions, setup, teardown),
        cmocka_unit_test_setup_teardown(integers, setup, teardown),
        cmocka_unit_test_setup_teardown(labels, setup, teardown),
        cmocka_unit_test_setup_teardown(many_labels, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_labels, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(like_a_table, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_tables, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_counts, setup, teardown),
        cmocka_unit_test(numbers_of_a_lane),
        cmocka_unit_test_setup_teardown(bad_arguments, setup, teardown),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
