/* test_reader_csv.c - tables with and without a schema: encoding, policies, quoting, every refusal. */
#include "data/format/csv.h"
#include "datatest.h"

static dt t;
static const char schema[] =
    "{\"header\": true, \"missing\": [\"\", \"?\"], \"columns\": [\n"
    " {\"name\": \"age\", \"type\": \"number\", \"min\": 10, \"max\": 60},\n"
    " {\"name\": \"job\", \"type\": \"category\", \"values\": [\"a\", [\"b\", \"B.\"], \"c d\"]},\n"
    " {\"name\": \"id\", \"type\": \"ignore\"},\n"
    " {\"name\": \"pay\", \"type\": \"label\", \"values\": [[\"<=50K\", \"<=50K.\"], \">50K\"]}]}";
#define HEAD "age,job,id,pay\n"

static int setup(void **state)
{
    (void)state;
    dt_open(&t);
    t.cfg.schema = t.schema;
    t.cfg.bias = 0;
    t.cfg.row_norm = 1e6;
    dt_write(t.schema, schema, sizeof schema - 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    dt_close(&t);
    return 0;
}

static void use(const char *text)
{
    dt_write(t.schema, text, strlen(text));
}

static void expect_rows(const pvi_matrix *m, int64_t n, int64_t p, const float *x, const float *y)
{
    PVT_IS(m->domain.n, n);
    PVT_IS(m->domain.p, p);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < p; j++)
            PVT_CHECK(dt_at(m, i, j) == x[i * p + j], "row %lld column %lld: got %g, want %g", (long long)i,
                      (long long)j, (double)dt_at(m, i, j), (double)x[i * p + j]);
        PVT_CHECK(m->y[i] == y[i], "label %lld: %g", (long long)i, (double)m->y[i]);
    }
}

static void encodes(void **state)
{
    (void)state;
    static const float x[] = { 0, 1, 0, 0, 1, 0, 1, 0, 0.5f, 0, 0, 1, 0.25f, 0, 0, 0, 0.02f, 0, 1, 0 };
    static const float y[] = { -1, 1, -1, 1, -1 };
    pvi_matrix *m = dt_load(
        &t, HEAD
        "10,a,,<=50K\r\n 60.0 , B. ,7, >50K\n\n\"35\",\"c d\",\"x,\"\"\n\",\"<=50K.\"\n22.5,?,,>50K\n1.1e1,b,,<=50K");
    expect_rows(m, 5, 4, x, y);
    PVT_TRUE(m->has_labels && !m->features_measured && m->domain.classes == 2);
    assert_string_equal(m->class_names[0], "<=50K");
    assert_string_equal(m->class_names[1], ">50K");
    /* what the model file keeps reads back to the same rows */
    char *text = strdup(m->schema_json);
    t.cfg.schema = text;
    pvi_matrix *again = dt_load(&t, NULL);
    dt_same(m, again);
    assert_string_equal(again->schema_json, text);
    pvi_matrix_free(again);
    pvi_matrix_free(m);
    free(text);
}

static void center_and_bias(void **state)
{
    (void)state;
    t.cfg.center = 0.5;
    t.cfg.bias = 2;
    static const float x[] = { -0.5f, 1, 0, 0, 2, 0.5f, 0, 0, 0, 2 }, y[] = { -1, 1 };
    pvi_matrix *m = dt_load(&t, HEAD "10,a,,<=50K\n60,?,,>50K\n");
    expect_rows(m, 2, 5, x, y);
    pvi_matrix_free(m);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *rest;
    } bad[] = {
        { HEAD "10,a,,<=50K\n10,a,>50K\n", ":3:10: the record has 3 columns, 4 are declared" },
        { HEAD "10,a,,<=50K,\n",
          ":2:12: the record has more than the 4 columns declared; \"trailing\": true beside \"columns\" takes a "
          "separator at the end" },
        { HEAD "9,a,,<=50K\n",
          ":2:1: column \"age\": 9 is outside the declared 10 .. 60; data.outside=usual would clamp it" },
        { HEAD "10,a,,<=50K\n 1e9,a,,<=50K\n",
          ":3:2: column \"age\": 1e9 is outside the declared 10 .. 60; data.outside=usual would clamp it" },
        { HEAD "nan,a,,<=50K\n", ":2:1: column \"age\": 'nan' is not a number; \"missing\": [\"\", \"nan\"] beside "
                                 "\"columns\" says that it stands for no value" },
        { HEAD "1e999,a,,<=50K\n", ":2:1: column \"age\": '1e999' is not a finite number" },
        { HEAD "x,a,,<=50K\n", ":2:1: column \"age\": 'x' is not a number; \"text\": \"missing\" and \"missing\": "
                               "\"middle\" of the column would treat it as missing" },
        { HEAD "12 3,a,,<=50K\n", ":2:1: column \"age\": '12 3' is not a number; \"text\": \"missing\" and "
                                  "\"missing\": \"middle\" of the column would treat it as missing" },
        { HEAD "?,a,,<=50K\n", ":2:1: column \"age\" has no value ('?'); \"missing\": \"middle\" or \"zero\" in the "
                               "schema would allow it" },
        { HEAD ",a,,<=50K\n", ":2:1: column \"age\" has no value (''); \"missing\": \"middle\" or \"zero\" in the "
                              "schema would allow it" },
        { HEAD "10,e,,<=50K\n", ":2:4: column \"job\": 'e' is not one of its declared values; data.outside=usual "
                                "would take it for \"other\" or none" },
        { HEAD "10,a,,<50K\n", ":2:7: label '<50K' in column \"pay\" is none of: <=50K, <=50K., >50K" },
        { HEAD "10,a,,\n", ":2:7: label '' in column \"pay\" is none of: <=50K, <=50K., >50K" },
        { HEAD "10,a,\"x\"y,<=50K\n", ":2:9: text follows a closing quote" },
        { HEAD "10,a,\"x,<=50K\n11,a,,<=50K\n", ":2:6: a quoted field is never closed" },
        { HEAD "10,a,\"\n\n\",<=50K\n11,a,,nope\n",
          ":5:7: label 'nope' in column \"pay\" is none of: <=50K, <=50K., >50K" },
        { "age,job,id\n10,a,,<=50K\n", ":1:1: the column of the label, \"pay\", is missing" },
        { "age,work,id,pay\n10,a,,<=50K\n", ":1:5: the header has no column \"job\"; column 2 is \"work\"" },
        { "pay,Job,age\n", ":1:5: the header has no column \"job\"; column 2 is \"Job\"" },
        { "pay,age\n", ":1:1: the header has no column \"job\"" },
        { "age,job,age,pay\n", ":1:9: the header has \"age\" twice" },
        { "10,a,,<=50K\n",
          ":1:1: the header has no column \"age\"; column 1 is \"10\"; \"header\": false in the schema is for files "
          "without one" },
        { "age;job;id;pay\n10;a;;<=50K\n", ":1:1: the header has no column \"age\"; column 1 is \"age;job;id;pay\"; "
                                           "\"separator\": \";\" in the schema reads semicolons" },
        { "age\tjob\tid\tpay\n", ":1:1: the header has no column \"age\"; column 1 is \"age?job?id?pay\"; "
                                 "\"separator\": \"\\t\" in the schema reads tabs" },
        { "age,job,id,pay\r10,a,,<=50K\r", ":1:12: the header has no column \"pay\"; column 4 is \"pay?10\"; lines "
                                           "must end with a line feed, not with a carriage return alone" },
        { HEAD, ": no rows" },
        { "\n\n", ": no rows" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) dt_fails(&t, bad[i].text, PV_E_FORMAT, bad[i].rest);
    char big[900] = HEAD;
    memset(big + strlen(big), '1', 700);
    strcat(big, ",a,,<=50K\n");
    dt_fails(
        &t, big, PV_E_FORMAT,
        ":2:1: column \"age\": a number of more than 511 characters: 1111111111111111111111111111111111111111...");
}

/* Columns in another order, more of them, without the one that is ignored: the same rows and digest. */
static void columns_by_name(void **state)
{
    (void)state;
    static const char *const other[] = {
        "pay,job,age\n<=50K,b,60\n>50K,a,10\n<=50K,?,35\n",
        "job,,age,x y,\"pay\",age2,\nb,1,60,2,<=50K,3,\na,,10,,>50K,,\n?,,35,,<=50K,,\n",
        "id,age,pay,job\n\"1,2\",60,<=50K,b\n,10,>50K,a\n,35,<=50K,?\n"
    };
    for (t.cfg.layout = PVI_LAYOUT_DENSE; t.cfg.layout <= PVI_LAYOUT_SPARSE; t.cfg.layout++) {
        pvi_matrix *want = dt_load(&t, HEAD "60,b,,<=50K\n10,a,,>50K\n35,?,,<=50K\n");
        for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
            pvi_matrix *m = dt_load(&t, other[i]);
            dt_same(want, m);
            assert_string_equal(m->digest, want->digest);
            assert_string_equal(m->schema_json, want->schema_json);
            pvi_matrix_free(m);
        }
        pvi_matrix_free(want);
    }
    t.cfg.layout = PVI_LAYOUT_AUTO;
    dt_fails(&t, "pay,job,age\n<=50K,b,60\n>50K,e,10\n", PV_E_FORMAT,
             ":3:6: column \"job\": 'e' is not one of its declared values; data.outside=usual would take it for "
             "\"other\" or none");
    dt_fails(&t, "pay,job,age,m,n\n<=50K,b,60\n", PV_E_FORMAT, ":2:11: the record has 3 columns, the header 5");
}

static void policies(void **state)
{
    (void)state;
    t.cfg.outside = PVI_OUTSIDE_CLAMP;
    static const float a[] = { 0, 1, 0, 0, 1, 0, 0, 0 }, y[] = { -1, -1 };
    pvi_matrix *m = dt_load(&t, HEAD "-5,a,,<=50K\n1e30,?,,<=50K\n");
    expect_rows(m, 2, 4, a, y);
    pvi_matrix_free(m);
    dt_fails(&t, HEAD "10,e,,<=50K\n", PV_E_FORMAT,
             ":2:4: column \"job\": 'e' is not one of its declared values; data.outside=usual would take it for "
             "\"other\" or none");
    t.cfg.outside = PVI_OUTSIDE_MISSING;
    dt_fails(
        &t, HEAD "9,a,,<=50K\n", PV_E_FORMAT,
        ":2:1: column \"age\" has no value ('9'); \"missing\": \"middle\" or \"zero\" in the schema would allow it");
    use("{\"header\": false, \"missing\": [\"-999\", \"NA\"], \"columns\": [\n"
        " {\"name\": \"u\", \"type\": \"number\", \"min\": -1000, \"max\": 1000, \"missing\": \"middle\"},\n"
        " {\"name\": \"v\", \"type\": \"number\", \"min\": 0, \"max\": 1, \"missing\": \"zero\", \"outside\": "
        "\"missing\"},\n"
        " {\"name\": \"w\", \"type\": \"number\", \"min\": 0, \"max\": 1, \"outside\": \"error\"},\n"
        " {\"name\": \"c\", \"type\": \"category\", \"values\": [\"NA\", \"x\"], \"missing\": \"error\"},\n"
        " {\"name\": \"y\", \"type\": \"label\", \"min\": 0, \"max\": 10, \"outside\": \"clamp\"}]}");
    t.cfg.outside = PVI_OUTSIDE_CLAMP;
    static const float b[] = { 0.5f, 0, 1, 1, 0, 0.5f, 1, 0, 0, 1 }, z[] = { 10, 2.5f };
    m = dt_load(&t, "-999,7,1,NA,11\nNA,1,0,x,2.5\n");
    expect_rows(m, 2, 5, b, z);
    PVT_TRUE(m->domain.classes == 0 && m->domain.y_lo == 0 && m->domain.y_hi == 10 && !m->class_names);
    pvi_matrix_free(m);
    dt_fails(&t, "1,1,2,x,1\n", PV_E_FORMAT,
             ":1:5: column \"w\": 2 is outside the declared 0 .. 1; data.outside=usual would clamp it");
    dt_fails(
        &t, "1,1,1,-999,1\n", PV_E_FORMAT,
        ":1:7: column \"c\" has no value ('-999'); \"missing\": \"middle\" or \"zero\" in the schema would allow it");
}

static void separators_and_skip(void **state)
{
    (void)state;
    use("{\"header\": true, \"separator\": \"\\t\", \"skip\": 2, \"columns\": [{\"name\": \"a b\", \"type\": "
        "\"number\", \"min\": 0, "
        "\"max\": 4}, {\"name\": \"y\", \"type\": \"label\", \"values\": [0, 1]}]}");
    static const float x[] = { 0.25f, 1 }, y[] = { -1, 1 };
    pvi_matrix *m = dt_load(&t, "# one\n\"two\n\n a b\t\"y\"\n1\t0.0\n4 \t+1\n");
    expect_rows(m, 2, 1, x, y);
    pvi_matrix_free(m);
    dt_fails(&t, "#\n#\na b\ty\n1\t0\n1,0\n", PV_E_FORMAT,
             ":5:1: column \"a b\": '1,0' is not a number; \"decimal\": \",\" beside \"columns\" reads decimal "
             "commas; the first of 2 "
             "problems");
}

static void scoring(void **state)
{
    (void)state;
    t.expect = (pvi_expect) { .classes = 2, .labels_optional = true, .features = 4 };
    pvi_matrix *m = dt_load(&t, "age,job,id\n60,a,3\n");
    PVT_TRUE(!m->has_labels && m->domain.n == 1 && dt_at(m, 0, 0) == 1 && m->domain.classes == 2);
    pvi_matrix_free(m);
    m = dt_load(&t, HEAD "60,a,3,>50K\n");
    PVT_TRUE(m->has_labels && m->y[0] == 1);
    pvi_matrix_free(m);
    dt_fails(&t, "age,job,id\n60,a,3,>50K\n", PV_E_FORMAT, ":2:7: the record has more than the 3 columns declared");
    t.expect.features = 5;
    dt_fails(&t, HEAD, PV_E_PARAM, "the schema makes 4 features, but the model has 5");
}

static void without_a_schema(void **state)
{
    (void)state;
    t.cfg.schema = NULL;
    t.cfg.format = "csv";
    dt_fails(&t, "1,2,0\n", PV_E_PARAM,
             ": a table needs data.schema=FILE, as in {\"columns\": [{\"name\": \"age\", \"type\": \"number\", "
             "\"min\": 0, \"max\": 99}, "
             "{\"name\": \"ill\", \"type\": \"label\", \"values\": [\"no\", \"yes\"]}]}; without one, all columns "
             "must be numbers, the "
             "label last, and data.labels=no,yes declared");
    t.cfg.labels = "1|3,2";
    t.cfg.format = "auto";
    static const float x[] = { 1.5f, -2, 0, 3000 }, y[] = { -1, 1 };
    pvi_matrix *m = dt_load(&t, "1.5,-2,3\n\n0,\"3e3\",2\n");
    expect_rows(m, 2, 2, x, y);
    PVT_TRUE(m->features_measured && !m->schema_json);
    pvi_matrix_free(m);
    dt_fails(&t, "age,sex,y\n1,2,3\n", PV_E_FORMAT,
             ":1:1: columns without a schema must be numbers, found 'age'; a schema can declare text, a header and "
             "missing values; the first of 3 problems");
    dt_fails(&t, "1,2,3\n1,,3\n", PV_E_FORMAT,
             ":2:3: columns without a schema must be numbers, found ''; a schema can declare text, a header and "
             "missing values");
    dt_fails(&t, "1,1e39,3\n", PV_E_FORMAT, ":1:3: column \"\": 1e39 is too large for a 32-bit float");
    dt_fails(&t, "1,2,3\n1,2\n", PV_E_FORMAT, ":2:4: the record has 2 columns, 3 are declared");
    char late[2000];
    memset(late, '\n', sizeof late);
    strcpy(late + sizeof late - 8, "1,2,3\n"); /* the first record comes after several reads */
    t.cfg.chunk = 16;
    m = dt_load(&t, late);
    PVT_TRUE(m->domain.n == 1 && m->domain.p == 2);
    pvi_matrix_free(m);
    t.cfg.features = 3;
    dt_fails(&t, "1,2,3\n", PV_E_FORMAT, ":1:1: 3 columns, but 3 features and a label are declared");
    t.expect = (pvi_expect) { .classes = 2, .labels_optional = true, .features = 3 };
    m = dt_load(&t, "1,2,3\n");
    PVT_TRUE(!m->has_labels && m->domain.p == 3 && dt_at(m, 0, 2) == 3);
    pvi_matrix_free(m);
}

static void bad_schemas(void **state)
{
    (void)state;
    static const struct {
        const char *json, *rest;
    } bad[] = {
        { "[]", ":1:1: a schema is an object, as in {\"columns\": [...]}" },
        { "{}", ":1:1: \"columns\" must list the columns of the table" },
        { "{\"colums\": []}", ":1:12: unknown key \"colums\" in the schema; did you mean \"columns\"?" },
        { "{\"columns\": [{\"name\": \"a\", \"type\": \"int\"}]}",
          ":1:36: column \"a\": no type \"int\"; there is number, date, category, boolean, label, person, text and "
          "ignore" },
        { "{\"columns\": [{\"name\": \"a\", \"type\": 1}]}",
          ":1:36: column \"a\" needs a \"type\": number, date, category, boolean, label, person, text or ignore" },
        { "{\"columns\": [{\"name\": \"a\", \"type\": \"label\"}]}",
          ":1:14: column \"a\" needs \"min\" and \"max\", or \"values\" if it names classes: declared, not taken "
          "from the rows" },
        { "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0}]}",
          ":1:14: column \"a\" needs \"min\" and \"max\": declared, not taken from the rows" },
        { "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 1, \"max\": 1}]}",
          ":1:63: column \"a\": \"max\" must be above \"min\"" },
        { "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"mx\": 1}]}",
          ":1:52: unknown key \"mx\" in a column; did you mean \"max\"?" },
        { "{\"columns\": [{\"name\": \"a\", \"type\": \"category\"}]}",
          ":1:14: category \"a\" needs \"values\": every one it may take" },
        { "{\"columns\": [{\"name\": \"a\", \"type\": \"category\", \"values\": [\"x\", \"x\"]}]}",
          ":1:64: \"x\" is listed twice" },
        { "{\"columns\": [{\"name\": \"a\", \"type\": \"category\", \"values\": [\"x\", \"\"]}]}",
          ":1:64: an empty text cannot be a value; list it under \"missing\"" },
        { "{\"columns\": [{\"name\": \"a\", \"type\": \"label\", \"values\": [\"x\"]}]}",
          ":1:55: label \"a\" needs two or more values" },
        { "{\"columns\": [{\"name\": \"a\", \"type\": \"ignore\"}]}",
          ":1:13: no column of type number or category: nothing to learn from" },
        { "{\"columns\": [{\"type\": \"ignore\"}]}", ":1:14: column 1 needs a \"name\"" },
        { "{\"separator\": \"ab\", \"columns\": []}",
          ":1:15: \"separator\" must be a tab (\"\\t\"), a blank or one of , ; | : ~ ^ ! / & = * #" },
        { "{\"header\": 1, \"columns\": []}", ":1:12: \"header\" must be true or false" },
        { "{\"skip\": -1, \"columns\": []}", ":1:10: \"skip\" must be the number of lines before the table" },
        { "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0, \"max\": 1, \"missing\": \"mean\"}]}",
          ":1:77: \"missing\" must be \"error\", \"zero\" or \"middle\"" },
        { "{\"columns\": [{\"name\": \"a\", \"type\": \"category\", \"values\": [1], \"outside\": \"clamp\"}]}",
          ":1:74: \"clamp\" is for numbers only" },
        { "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0, \"max\": 1},\n {\"name\": \"a\", "
          "\"type\": \"ignore\"}]}",
          ":2:2: two columns named \"a\"" },
        { "{\"columns\": [{\"name\": \"a\", \"type\": \"label\", \"min\": 0, \"max\": 1},\n {\"name\": \"b\", "
          "\"type\": \"label\", "
          "\"min\": 0, \"max\": 1}]}",
          ":2:2: a second label: only one column can be it" },
        { "{\"columns\": [", ":1:14: the text ends in the middle" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pvi_matrix *m;
        use(bad[i].json);
        dt_write(t.path, "1\n", 2);
        const pv_status s = pvi_data_load(t.ctx, &t.cfg, &t.expect, NULL, &m);
        const char *msg = pv_ctx_errmsg(t.ctx) + strlen(t.schema);
        PVT_CHECK(s == PV_E_FORMAT && strcmp(msg, bad[i].rest) == 0, "%d %s, wanted %s", (int)s, msg, bad[i].rest);
    }
}

static void conflicts(void **state)
{
    (void)state;
    t.cfg.labels = "a,b";
    dt_fails(&t, HEAD, PV_E_PARAM,
             "data.labels and data.schema both declare labels; the schema's \"values\" are enough");
    t.cfg.labels = NULL;
    t.expect.classes = 0;
    dt_fails(&t, HEAD, PV_E_PARAM, "the model predicts a real number, but the declared label has 2 classes");
    t.expect.classes = 3;
    dt_fails(&t, HEAD, PV_E_PARAM, "the model tells 3 classes apart, but 2 are declared");
    t.cfg.features = 9;
    dt_fails(&t, HEAD, PV_E_PARAM, "data.features=9, but the schema makes 4");
}

static void shape(void **state)
{
    (void)state;
    int64_t features;
    pvi_expect e;
    PVT_OK(pvi_schema_shape(t.ctx, &t.cfg, &features, &e));
    PVT_IS(features, 4);
    PVT_IS(e.classes, 2);
    t.cfg.schema = NULL;
    t.cfg.labels = "a,b,c";
    PVT_OK(pvi_schema_shape(t.ctx, &t.cfg, &features, &e));
    PVT_IS(features, PV_AUTO_I64);
    PVT_IS(e.classes, 3);
    t.cfg.labels = NULL;
    t.cfg.features = 7;
    PVT_OK(pvi_schema_shape(t.ctx, &t.cfg, &features, &e));
    PVT_TRUE(features == 7 && e.classes == -1);
}

/* Quoted fields with line ends, so that most cuts are wrong at first. */
static char *random_text(uint64_t seed, int rows)
{
    static const char *const job[] = { "a", "\"b\"", " c d", "?", "B.", "\"c d\" " };
    static const char *const id[] = { "", "x", "\"\n\"", "\"a,\"\"b\n\n\n10,a,,>50K\n\"", "\"quoted \"\" twice\"" };
    char *text = malloc((size_t)rows * 80 + 100), *p = text + sprintf(text, HEAD);
    for (int i = 0; i < rows; i++) {
        const uint64_t u = pvt_u64(&seed);
        p += sprintf(p, "%.*g,%s,%s,%s%s", (int)(u % 12) + 1, 10 + 50 * pvt_uniform(&seed), job[(u >> 8) % 6],
                     id[(u >> 16) % 5], (u >> 32) % 2 ? ">50K" : "<=50K.", (u >> 40) % 5 ? "\n" : "\r\n\n");
    }
    return text;
}

static void threads_and_chunks_change_nothing(void **state)
{
    (void)state;
    t.cfg.bias = 1;
    t.cfg.row_norm = 1;
    t.cfg.outside = PVI_OUTSIDE_CLAMP; /* %.1g may round 59 up and away */
    char *text = random_text(11, 4000);
    t.cfg.chunk = 1 << 24;
    PVT_OK(pvi_set_threads(t.ctx, 1));
    pvi_matrix *want = dt_load(&t, text);
    PVT_IS(want->domain.n, 4000);
    for (int threads = 1; threads <= 3; threads += 2)
        for (int64_t chunk = 16; chunk < 1 << 20; chunk *= 7) {
            PVT_OK(pvi_set_threads(t.ctx, threads));
            t.cfg.chunk = chunk;
            pvi_matrix *m = dt_load(&t, NULL);
            dt_same(m, want);
            pvi_matrix_free(m);
        }
    pvi_matrix_free(want);
    const size_t n = strlen(text);
    text[n - 2] = 'X'; /* the last label */
    int64_t line = 1;
    for (size_t i = 0; i + 3 < n; i++) line += text[i] == '\n';
    for (int threads = 1; threads <= 3; threads += 2)
        for (int64_t chunk = 16; chunk < 1 << 20; chunk *= 7) {
            pvi_matrix *m;
            char want_at[160];
            PVT_OK(pvi_set_threads(t.ctx, threads));
            t.cfg.chunk = chunk;
            dt_write(t.path, text, n);
            PVT_IS(pvi_data_load(t.ctx, &t.cfg, &t.expect, NULL, &m), PV_E_FORMAT);
            snprintf(want_at, sizeof want_at, "%s:%lld:", t.path, (long long)line);
            PVT_CHECK(strncmp(pv_ctx_errmsg(t.ctx), want_at, strlen(want_at)) == 0, "%s, wanted %s",
                      pv_ctx_errmsg(t.ctx), want_at);
        }
    free(text);
}

/* Each kernel gives what strtod gives, for numbers in every shape, with and without blanks and quotes. */
static void kernels_agree(void **state)
{
    (void)state;
    enum { LINES = 2000, COLUMNS = 9, ROOM = LINES * COLUMNS };
    static char text[128 + ROOM * 48 + 128];
    static float want[ROOM], val[ROOM + 1], y[LINES];
    static int32_t idx[ROOM + 1];
    static uint32_t end[LINES];
    pv_arena *a = pvi_arena_create(t.ctx);
    pvi_schema *sc;
    PVT_OK(pvi_schema_plain(t.ctx, a, COLUMNS + 1, -1, &sc));
    struct pv_load job = { .ctx = t.ctx, .labelled = false };
    const pvi_csv st = { .job = &job, .sc = sc, .columns = COLUMNS };
    uint64_t s = 13;
    size_t n = 0;
    char *p = text + 64;
    for (int i = 0; i < LINES; i++)
        for (int j = 0; j < COLUMNS; j++) {
            char number[64];
            const uint64_t u = pvt_u64(&s);
            if (u % 4 == 0)
                snprintf(number, sizeof number, "%lld", (long long)(pvt_u64(&s) >> (u >> 8) % 63) * (u % 8 ? 1 : -1));
            else
                snprintf(number, sizeof number,
                         u % 4 == 1   ? "%.*f"
                         : u % 4 == 2 ? "%.*g"
                                      : "%.*e",
                         (int)((u >> 8) % 19), pvt_normal(&s) * 100);
            const char *quote = (u >> 16) % 11 ? "" : "\"", *blank = (u >> 24) % 7 ? "" : " \t";
            p += sprintf(p, "%s%s%s%s%s%s", blank, quote, number, quote, blank,
                         j < COLUMNS - 1 ? ","
                         : (u >> 32) % 5 ? "\n"
                                         : "\r\n");
            if ((float)strtod(number, NULL) != 0.0f) want[n++] = (float)strtod(number, NULL);
        }
    for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
        pvi_chunk c = { .begin = text + 64, .end = p, .stop = text + 64, .last = true };
        c.seg.end = end;
        c.seg.y = y;
        c.seg.idx = idx;
        c.seg.val = val;
        pvi_csv_parse_isa[isa](&st, &c);
        PVT_CHECK(c.bad == NULL, "%s: %.30s", c.why, c.bad);
        PVT_IS(c.seg.rows, LINES);
        PVT_IS(end[LINES - 1], n);
        for (size_t i = 0; i < n; i++)
            PVT_CHECK(val[i] == want[i], "kernel %d entry %zu: %.9g, want %.9g", isa, i, (double)val[i],
                      (double)want[i]);
    }
    pvi_arena_free(a);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest all[] = {
        T(encodes),       T(center_and_bias),     T(refusals), T(columns_by_name),
        T(policies),      T(separators_and_skip), T(scoring),  T(without_a_schema),
        T(bad_schemas),   T(conflicts),           T(shape),    T(threads_and_chunks_change_nothing),
        T(kernels_agree),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
