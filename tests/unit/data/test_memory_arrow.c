/* test_memory_arrow.c - an Arrow stream gives what the same table as CSV gives: values, norms, labels, digest; and
 * what cannot be a table is refused, with everything given back. */
#include <time.h>

#include "arrowtest.h"
#include "memorytest.h"

static mt t;

static int setup(void **state)
{
    (void)state;
    mt_open(&t);
    at_live = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    PVT_IS(at_live, 0);
    mt_close(&t);
    return 0;
}

static pv_data *open_stream(at_table *table)
{
    struct ArrowArrayStream s = at_stream(table);
    pv_data *d;
    PVT_OK(pv_data_arrow(t.d.ctx, &s, &d));
    PVT_TRUE(s.release == NULL); /* moved */
    PVT_IS(pv_data_rows(d), -1);
    return d;
}

static pvi_matrix *load(at_table *table)
{
    pv_data *d = open_stream(table);
    pvi_matrix *m = mt_load(&t, d);
    pv_data_free(d);
    return m;
}

static void fails(at_table *table, pv_status want, const char *message)
{
    pv_data *d = open_stream(table);
    mt_fails(&t, d, want, message);
    pv_data_free(d);
    PVT_IS(at_live, 0);
}

/* ---- every type ------------------------------------------------------------------------------------------------ */
enum { N = 1500, WORDS = 5 };
static struct {
    int8_t i8[N], word8[N];
    int16_t i16[N];
    int32_t i32[N], day[N];
    int64_t i64[N], ms[N], stamp[4][N], date64[N];
    uint8_t u8[N], bit[N], null[N], word[N];
    uint16_t u16[N], half[N];
    uint32_t u32[N], word32[N];
    uint64_t u64[N], word64[N];
    float f32[N];
    double f64[N];
    __int128 decimal[N];
    const char *text[N], *label[N], *numeral[N];
} v;
static const char *const words[WORDS] = { "red", "green", "a word of more than sixteen bytes", "blue, \"light\"",
                                          "é" };
static const char *const numerals[WORDS] = { "0.5", "-1e-1", "0.123456789012345678", "1", "" };

static void make_values(void)
{
    static const double halves[] = { 0.5, -1.25, 0.0, 0.0009765625, 1 };
    static const uint16_t half_bits[] = { 0x3800, 0xbd00, 0, 0x1400, 0x3c00 };
    uint64_t s = 11;
    (void)halves;
    for (int i = 0; i < N; i++) {
        v.i8[i] = (int8_t)mt_uniform(&s, -128, 127);
        v.i16[i] = (int16_t)mt_uniform(&s, -30000, 30000);
        v.i32[i] = (int32_t)mt_uniform(&s, -2e9, 2e9);
        v.i64[i] = (int64_t)mt_uniform(&s, -9e18, 9e18);
        v.u8[i] = (uint8_t)mt_uniform(&s, 0, 255);
        v.u16[i] = (uint16_t)mt_uniform(&s, 0, 65535);
        v.u32[i] = (uint32_t)mt_uniform(&s, 0, 4e9);
        v.u64[i] = (uint64_t)mt_uniform(&s, 0, 1.8e19);
        v.f32[i] = i % 9 ? (float)mt_uniform(&s, -1, 1) : i % 2 ? -0.0f : 0.0f;
        v.f64[i] = i % 9 ? mt_uniform(&s, -1, 1) : i % 2 ? -0.0 : 0.0;
        v.half[i] = half_bits[i % 5];
        v.bit[i] = mt_uniform(&s, 0, 1) < 0.5;
        v.null[i] = i % 13 == 5;
        v.day[i] = (int32_t)mt_uniform(&s, -10000, 30000);
        v.date64[i] = (int64_t)v.day[i] * 86400000;
        for (int k = 0; k < 4; k++) {
            static const double unit[] = { 1, 1e3, 1e6, 1e9 };
            v.stamp[k][i] = (int64_t)mt_uniform(&s, -1e9 * unit[k], 4e9 * unit[k]);
        }
        v.decimal[i] = (__int128)v.i64[i] * 1000000 + 7;
        const int w = (int)mt_uniform(&s, 0, WORDS);
        v.word[i] = (uint8_t)w, v.word8[i] = (int8_t)w, v.word32[i] = (uint32_t)w, v.word64[i] = (uint64_t)w;
        v.text[i] = v.null[i] ? NULL : words[w];
        v.numeral[i] = numerals[w];
        v.label[i] = mt_uniform(&s, 0, 1) < 0.5 ? "no" : "yes";
    }
}

static const at_column dictionary = { .format = "u", .text = words }, many = { .format = "U", .text = words },
                       viewed = { .format = "vu", .text = words };
static const at_column all[] = {
    { "i8", "c", v.i8, 1, NULL, v.null, NULL, 0 },
    { "i16", "s", v.i16, 2, NULL, NULL, NULL, 0 },
    { "i32", "i", v.i32, 4, NULL, v.null, NULL, 0 },
    { "i64", "l", v.i64, 8, NULL, NULL, NULL, 0 },
    { "u8", "C", v.u8, 1, NULL, NULL, NULL, 0 },
    { "u16", "S", v.u16, 2, NULL, v.null, NULL, 0 },
    { "u32", "I", v.u32, 4, NULL, NULL, NULL, 0 },
    { "u64", "L", v.u64, 8, NULL, NULL, NULL, 0 },
    { "f32", "f", v.f32, 4, NULL, v.null, NULL, 0 },
    { "f64", "g", v.f64, 8, NULL, v.null, NULL, 0 },
    { "half", "e", v.half, 2, NULL, NULL, NULL, 0 },
    { "decimal", "d:38,6", v.decimal, 16, NULL, v.null, NULL, 0 },
    { "day", "tdD", v.day, 4, NULL, v.null, NULL, 0 },
    { "date64", "tdm", v.date64, 8, NULL, NULL, NULL, 0 },
    { "s", "tss:", v.stamp[0], 8, NULL, NULL, NULL, 0 },
    { "ms", "tsm:UTC", v.stamp[1], 8, NULL, v.null, NULL, 0 },
    { "us", "tsu:", v.stamp[2], 8, NULL, NULL, NULL, 0 },
    { "ns", "tsn:Europe/Berlin", v.stamp[3], 8, NULL, NULL, NULL, 0 },
    { "nothing", "n", NULL, 0, NULL, NULL, NULL, 0 },
    { "numeral", "u", NULL, 0, v.numeral, NULL, NULL, 0 },
    { "text", "u", NULL, 0, v.text, NULL, NULL, 0 },
    { "long", "U", NULL, 0, v.text, NULL, NULL, 0 },
    { "view", "vu", NULL, 0, v.text, NULL, NULL, 0 },
    { "bit", "b", v.bit, 1, NULL, v.null, NULL, 0 },
    { "d8", "c", v.word8, 1, NULL, v.null, &dictionary, WORDS },
    { "d32", "I", v.word32, 4, NULL, NULL, &many, WORDS },
    { "d64", "L", v.word64, 8, NULL, NULL, &viewed, WORDS },
    { "ci", "C", v.word, 1, NULL, NULL, NULL, 0 },
    { "y", "u", NULL, 0, v.label, NULL, NULL, 0 },
};
enum { COLUMNS = sizeof all / sizeof *all, FIRST_CATEGORY = 20, FIRST_DATE = 12, LAST_DATE = 17 };

/* The text that a CSV would have; the number behind it is written with all its digits. */
static void write_field(FILE *f, const at_column *c, int i)
{
    static const double halves[] = { 0.5, -1.25, 0.0, 0.0009765625, 1 };
    static const double unit[] = { 1, 1e3, 1e6, 1e9 };
    const char *name = c->name;
    if (c->null && c->null[i]) return;
    if (c->words) fprintf(f, "\"%s\"", strchr(words[v.word[i]], '"') ? "blue, \"\"light\"\"" : words[v.word[i]]);
    else if (c->text == v.text)
        fprintf(f, "\"%s\"", !v.text[i] ? "" : strchr(v.text[i], '"') ? "blue, \"\"light\"\"" : v.text[i]);
    else if (c->text) fprintf(f, "%s", c->text[i]);
    else if (!strcmp(name, "i8")) fprintf(f, "%d", v.i8[i]);
    else if (!strcmp(name, "i16")) fprintf(f, "%d", v.i16[i]);
    else if (!strcmp(name, "i32")) fprintf(f, "%d", v.i32[i]);
    else if (!strcmp(name, "i64")) fprintf(f, "%lld", (long long)v.i64[i]);
    else if (!strcmp(name, "u8")) fprintf(f, "%d", v.u8[i]);
    else if (!strcmp(name, "u16")) fprintf(f, "%d", v.u16[i]);
    else if (!strcmp(name, "u32")) fprintf(f, "%u", v.u32[i]);
    else if (!strcmp(name, "u64")) fprintf(f, "%llu", (unsigned long long)v.u64[i]);
    else if (!strcmp(name, "f32")) fprintf(f, "%.17g", (double)v.f32[i]);
    else if (!strcmp(name, "f64")) fprintf(f, "%.17g", v.f64[i]);
    else if (!strcmp(name, "half")) fprintf(f, "%.17g", halves[i % 5]);
    else if (!strcmp(name, "decimal")) fprintf(f, "%s%lld.%06d", v.i64[i] < 0 ? "" : "", (long long)v.i64[i], 7);
    else if (!strcmp(name, "ci")) fprintf(f, "%d", v.word[i]);
    else if (!strcmp(name, "bit")) fprintf(f, "%s", v.bit[i] ? "true" : "false");
    else if (c->format[0] == 't') {
        const int k = !strcmp(name, "s") ? 0 : !strcmp(name, "ms") ? 1 : !strcmp(name, "us") ? 2 : 3;
        const bool date = c->format[1] == 'd';
        const int64_t u = (int64_t)unit[k], x = v.stamp[k][i];
        const time_t second = date ? (time_t)v.day[i] * 86400 : (time_t)(x / u - (x % u < 0));
        char text[64];
        struct tm tm;
        strftime(text, sizeof text, date ? "%Y-%m-%d" : "%Y-%m-%d %H:%M:%S", gmtime_r(&second, &tm));
        fprintf(f, "%s", text);
        if (!date && k) fprintf(f, ".%0*lld", 3 * k, (long long)((x % u + u) % u));
        if (!date && c->format[4]) fprintf(f, "Z");
    }
}

static void write_csv(const at_column *column, int columns, int rows)
{
    FILE *f = fopen(t.d.path, "w");
    PVT_TRUE(f != NULL);
    for (int j = 0; j < columns; j++) fprintf(f, "%s%s", j ? "," : "", column[j].name);
    for (int i = 0; i < rows; i++) {
        fputc('\n', f);
        for (int j = 0; j < columns; j++) {
            if (j) fputc(',', f);
            write_field(f, &column[j], i);
        }
    }
    fputc('\n', f);
    PVT_TRUE(fclose(f) == 0);
}

/* Decimals of both signs: those of v.decimal are i64 + 7e-6, which is not its text for negative ones. */
static void make_decimals(void)
{
    for (int i = 0; i < N; i++) v.decimal[i] = (__int128)v.i64[i] * 1000000 + (v.i64[i] < 0 ? -7 : 7);
}

static const char *schema_text(void)
{
    static char out[8000];
    char *s = out + sprintf(out, "{\"columns\": [");
    for (int j = 0; j < COLUMNS; j++) {
        const char *name = all[j].name;
        s += sprintf(s, "%s{\"name\": \"%s\", ", j ? ", " : "", name);
        if (!strcmp(name, "y")) s += sprintf(s, "\"type\": \"label\", \"values\": [\"no\", \"yes\"]}");
        else if (!strcmp(name, "ci")) s += sprintf(s, "\"type\": \"category\", \"values\": [0, 1, 2, 3, 4]}");
        else if (!strcmp(name, "bit")) s += sprintf(s, "\"type\": \"category\", \"values\": [\"false\", \"true\"]}");
        else if (j >= FIRST_CATEGORY)
            s += sprintf(s, "\"type\": \"category\", \"values\": [\"red\", \"green\", \"a word of more than sixteen "
                            "bytes\", \"blue, \\\"light\\\"\", \"é\"]}");
        else if (j >= FIRST_DATE && j <= LAST_DATE)
            s += sprintf(s, "\"type\": \"%s\", \"min\": %s, \"max\": %s, \"missing\": \"middle\"}",
                         j % 2 ? "date" : "number", j % 2 ? "\"1930-01-01\"" : "-20000.5",
                         j % 2 ? "\"2100-12-31 12:00\"" : "50000");
        else {
            const bool small = !strcmp(name, "f32") || !strcmp(name, "f64") || !strcmp(name, "numeral");
            s += sprintf(s, "\"type\": \"number\", \"min\": %s, \"max\": %s, \"missing\": \"%s\"}",
                         small ? "-1" : "-1e19", small ? "1" : "2e19", j % 2 ? "zero" : "middle");
        }
    }
    sprintf(s, "]}");
    return out;
}

/* All types in one table, in one batch and in several that are slices of longer arrays. */
static void like_a_table(void **state)
{
    (void)state;
    static const at_batch one[] = { { 0, N, 0, 0, false } },
                          several[] = { { 0, 7, 3, 0, true },  { 7, 0, 0, 0, false },    { 7, 64, 1, 5, false },
                                        { 71, 1, 0, 0, true }, { 72, 900, 13, 7, true }, { 972, 528, 64, 64, false },
                                        { N, 0, 3, 0, true } };
    make_values();
    make_decimals();
    write_csv(all, COLUMNS, N);
    t.d.cfg.schema = schema_text();
    for (int k = 0; k < 8; k++) {
        t.d.cfg.layout = k & 1 ? PVI_LAYOUT_SPARSE : PVI_LAYOUT_AUTO;
        t.d.cfg.center = k & 2 ? 0.5 : 0;
        at_table table = { all, COLUMNS, k & 4 ? several : one, k & 4 ? 7 : 1, 0, -1, NULL, NULL, NULL, NULL };
        pvi_matrix *a = mt_file(&t), *b = load(&table);
        dt_same(a, b);
        assert_string_equal(a->schema_json, b->schema_json);
        PVT_TRUE(b->has_labels);
        pvi_matrix_free(a), pvi_matrix_free(b);
    }
}

/* Columns in another order, and the whole with one row of memory more: matched by name. */
static void by_name(void **state)
{
    (void)state;
    static at_column turned[COLUMNS];
    static const at_batch one[] = { { 0, N, 0, 0, false } };
    make_values();
    make_decimals();
    write_csv(all, COLUMNS, N);
    for (int j = 0; j < COLUMNS; j++) turned[j] = all[COLUMNS - 1 - j];
    t.d.cfg.schema = schema_text();
    at_table table = { turned, COLUMNS, one, 1, 0, -1, NULL, NULL, NULL, NULL };
    pvi_matrix *a = mt_file(&t), *b = load(&table);
    dt_same(a, b);
    pvi_matrix_free(a), pvi_matrix_free(b);
    table.columns = COLUMNS - 1; /* without "i8" */
    fails(&table, PV_E_FORMAT, "Arrow stream: the column \"i8\" of the schema is missing");
    table.column = all; /* without the label */
    fails(&table, PV_E_FORMAT, "Arrow stream: the column of the label, \"y\", is missing");
    t.d.expect.labels_optional = true;
    pvi_matrix *c = load(&table);
    PVT_TRUE(!c->has_labels);
    pvi_matrix_free(c);
    t.d.expect.labels_optional = false;
    pv_data *d = open_stream(&table);
    PVT_OK(pv_data_label_words(d, v.label, N));
    a = mt_file(&t), b = mt_load(&t, d);
    dt_same(a, b);
    pvi_matrix_free(a), pvi_matrix_free(b);
    mt_fails(&t, d, PV_E_ARG, "Arrow stream: has been read, which is possible once");
    pv_data_free(d);
}

/* Numbers only: rows go in whole.  With and without a schema, the label last or apart. */
static void numbers(void **state)
{
    (void)state;
    static uint8_t label[N];
    static const at_batch two[] = { { 0, 700, 0, 0, false }, { 700, 800, 9, 2, false } };
    static const at_column column[] = { { "f32", "f", v.f32, 4, NULL, NULL, NULL, 0 },
                                        { "f64", "g", v.f64, 8, NULL, NULL, NULL, 0 },
                                        { "u16", "S", v.u16, 2, NULL, NULL, NULL, 0 },
                                        { "i8", "c", v.i8, 1, NULL, NULL, NULL, 0 },
                                        { "ci", "C", v.word, 1, NULL, NULL, NULL, 0 } };
    make_values();
    write_csv(column, 5, N);
    t.d.cfg.schema =
        "{\"columns\": [{\"name\": \"f32\", \"type\": \"number\", \"min\": -1, \"max\": 1}, {\"name\": "
        "\"f64\", \"type\": \"number\", \"min\": -1, \"max\": 2}, {\"name\": \"u16\", \"type\": \"number\", "
        "\"min\": 0, \"max\": 65535}, {\"name\": \"i8\", \"type\": \"number\", \"min\": -100, \"max\": 100, "
        "\"outside\": \"clamp\"}, {\"name\": \"ci\", \"type\": \"label\", \"values\": [0, 1, 2, 3, 4]}]}";
    at_table table = { column, 5, two, 2, 0, -1, NULL, NULL, NULL, NULL };
    pvi_matrix *a = mt_file(&t), *b = load(&table);
    dt_same(a, b);
    pvi_matrix_free(a), pvi_matrix_free(b);
    t.d.cfg.schema = NULL;
    t.d.cfg.labels = "0,1,2,3,4";
    /* a CSV without a schema has no header: data behind the first line */
    FILE *f = fopen(t.d.path, "w");
    PVT_TRUE(f != NULL);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < 5; j++) {
            if (j) fputc(',', f);
            write_field(f, &column[j], i);
        }
        fputc('\n', f);
        label[i] = v.word[i];
    }
    PVT_TRUE(fclose(f) == 0);
    for (int k = 0; k < 4; k++) {
        t.d.cfg.layout = k & 1 ? PVI_LAYOUT_SPARSE : PVI_LAYOUT_AUTO;
        t.d.cfg.center = k & 2 ? 0.25 : 0;
        table.columns = 5;
        a = mt_file(&t), b = load(&table);
        dt_same(a, b);
        PVT_TRUE(b->features_measured && a->features_measured);
        pvi_matrix_free(b);
        table.columns = 4;
        pv_data *d = open_stream(&table);
        PVT_OK(pv_data_labels(d, label, PV_UINT8, N));
        b = mt_load(&t, d);
        dt_same(a, b);
        pvi_matrix_free(a), pvi_matrix_free(b);
        pv_data_free(d);
    }
}

/* Times and truth values as words, and as labels. */
static void words_of_values(void **state)
{
    (void)state;
    static const int64_t stamp[] = { 0, 1706704496123456, -1 };
    static const int32_t day[] = { 0, 19753, -1 };
    static const uint8_t bit[] = { 1, 0, 1 };
    static const float tenth[] = { 0.1f, 2.0f, 0.1f };
    static const at_batch one[] = { { 0, 3, 0, 0, false } };
    static const at_column column[] = {
        { "t", "tsu:", stamp, 8, NULL, NULL, NULL, 0 }, { "z", "tsu:UTC", stamp, 8, NULL, NULL, NULL, 0 },
        { "d", "tdD", day, 4, NULL, NULL, NULL, 0 },    { "f", "f", tenth, 4, NULL, NULL, NULL, 0 },
        { "b", "b", bit, 1, NULL, NULL, NULL, 0 },      { "y", "b", bit, 1, NULL, NULL, NULL, 0 }
    };
#define CATEGORY(name, values) "{\"name\": \"" name "\", \"type\": \"category\", \"values\": [" values "]}, "
    t.d.cfg.schema = "{\"columns\": [" CATEGORY(
        "t", "\"1970-01-01 00:00:00.000000\", \"2024-01-31 12:34:56.123456\", \"1969-12-31 23:59:59.999999\"")
        CATEGORY("z",
                 "\"1970-01-01 00:00:00.000000Z\", \"2024-01-31 12:34:56.123456Z\", \"1969-12-31 23:59:59.999999Z\"")
            CATEGORY("d", "\"1970-01-01\", \"2024-01-31\", \"1969-12-31\"") CATEGORY("f", "\"0.1\", \"2.0\"")
                CATEGORY(
                    "b",
                    "\"0\", \"1\"") "{\"name\": \"y\", \"type\": \"label\", \"values\": [\"false\", \"true\"]}]}";
    at_table table = { column, 6, one, 1, 0, -1, NULL, NULL, NULL, NULL };
    t.d.cfg.bias = 0;
    t.d.cfg.norm = PVI_NORM_MAX;
    pvi_matrix *m = load(&table);
    static const int want[3][5] = { { 0, 3, 6, 9, 12 }, { 1, 4, 7, 10, 11 }, { 2, 5, 8, 9, 12 } };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 13; j++) {
            bool one_here = false;
            for (int k = 0; k < 5; k++) one_here |= want[i][k] == j;
            PVT_CHECK(dt_at(m, i, j) == (one_here ? 1.0f : 0.0f), "row %d feature %d", i, j);
        }
    PVT_TRUE(m->y[0] == 1 && m->y[1] == -1 && m->y[2] == 1);
    pvi_matrix_free(m);
}

/* ---- refusals -------------------------------------------------------------------------------------------------- */
#define SMALL                                                                                                        \
    "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0, \"max\": 9}, {\"name\": \"c\", \"type\": "   \
    "\"category\", \"values\": [\"red\", \"green\"], \"missing\": \"error\"}, {\"name\": \"y\", \"type\": "          \
    "\"label\", \"values\": [\"no\", \"yes\"]}]}"
static double a4[4];
static const char *c4[4], *y4[4];
static uint8_t i4[4], null4[4];
static const at_column three_words = { .format = "u", .text = (const char *const[]) { "red", "green", "pink" } };
static at_column small[3];
static const at_batch halves4[] = { { 0, 2, 0, 0, false }, { 2, 2, 1, 0, false } };
static at_table small_table;

static void make_small(void)
{
    for (int i = 0; i < 4; i++) {
        a4[i] = i, c4[i] = i % 2 ? "red" : "green", y4[i] = i % 2 ? "no" : "yes", i4[i] = (uint8_t)(i % 2);
        null4[i] = 0;
    }
    small[0] = (at_column) { "a", "g", a4, 8, NULL, null4, NULL, 0 };
    small[1] = (at_column) { "c", "u", NULL, 0, c4, NULL, NULL, 0 };
    small[2] = (at_column) { "y", "u", NULL, 0, y4, NULL, NULL, 0 };
    small_table = (at_table) { small, 3, halves4, 2, 0, -1, NULL, NULL, NULL, NULL };
    t.d.cfg.schema = SMALL;
}

static void bad_values(void **state)
{
    (void)state;
    make_small();
    pvi_matrix_free(load(&small_table));
    a4[2] = 9.5;
    fails(&small_table, PV_E_FORMAT,
          "Arrow stream: row 3, column \"a\": 9.5 is outside the declared 0 .. 9; "
          "data.outside=usual would clamp it");
    t.d.cfg.messages = PVI_TELL_PLACE;
    fails(&small_table, PV_E_FORMAT,
          "Arrow stream: row 3, column \"a\": refused; data.messages=full tells why, and quotes it");
    t.d.cfg.messages = PVI_TELL_FULL;
    a4[2] = NAN;
    fails(&small_table, PV_E_FORMAT,
          "Arrow stream: row 3: column \"a\" has no value ('nan'); \"missing\": \"middle\" "
          "or \"zero\" in the schema would allow it");
    a4[2] = -INFINITY;
    fails(&small_table, PV_E_FORMAT, "Arrow stream: row 3, column \"a\": '-inf' is not a finite number");
    a4[2] = 1;
    null4[3] = 1;
    fails(&small_table, PV_E_FORMAT,
          "Arrow stream: row 4: column \"a\" has no value (''); \"missing\": \"middle\" or "
          "\"zero\" in the schema would allow it");
    null4[3] = 0;
    c4[1] = "pink";
    fails(&small_table, PV_E_FORMAT,
          "Arrow stream: row 2, column \"c\": 'pink' is not one of its declared values; "
          "data.outside=usual would take it for \"other\" or none");
    c4[1] = NULL;
    fails(&small_table, PV_E_FORMAT,
          "Arrow stream: row 2: column \"c\" has no value (''); \"missing\": \"middle\" or "
          "\"zero\" in the schema would allow it");
    c4[1] = "red";
    y4[3] = "maybe";
    fails(&small_table, PV_E_FORMAT, "Arrow stream: row 4: label 'maybe' in column \"y\" is none of: no, yes");
    y4[3] = NULL;
    fails(&small_table, PV_E_FORMAT, "Arrow stream: row 4, column \"y\": the label is missing");
    static const uint8_t row[4] = { 0, 1, 0, 0 };
    y4[3] = "no";
    small_table.null_row = row;
    fails(&small_table, PV_E_FORMAT,
          "Arrow stream: row 2: column \"a\" has no value (''); \"missing\": \"middle\" or "
          "\"zero\" in the schema would allow it");
}

/* A word that is not declared counts only if a row uses it; an index must be one. */
static void dictionaries(void **state)
{
    (void)state;
    make_small();
    small[1] = (at_column) { "c", "C", i4, 1, NULL, NULL, &three_words, 3 };
    pvi_matrix_free(load(&small_table));
    i4[2] = 2;
    fails(&small_table, PV_E_FORMAT,
          "Arrow stream: row 3, column \"c\": 'pink' is not one of its declared values; "
          "data.outside=usual would take it for \"other\" or none");
    i4[2] = 3;
    fails(&small_table, PV_E_FORMAT,
          "Arrow stream: row 3, column \"c\": an index that is none of its dictionary of 3 values");
    small[1].format = "c";
    i4[2] = 0xff;
    fails(&small_table, PV_E_FORMAT,
          "Arrow stream: row 3, column \"c\": an index that is none of its dictionary of 3 values");
    static uint64_t huge[4] = { 0, 0, 0, UINT64_MAX };
    small[1] = (at_column) { "c", "L", huge, 8, NULL, NULL, &three_words, 3 };
    fails(&small_table, PV_E_FORMAT,
          "Arrow stream: row 4, column \"c\": an index that is none of its dictionary of 3 values");
    huge[3] = INT64_MAX; /* as a double it is 2^63, which no int64_t holds */
    small[1].format = "l";
    fails(&small_table, PV_E_FORMAT,
          "Arrow stream: row 4, column \"c\": an index that is none of its dictionary of 3 values");
    static double real[4];
    small[1] = (at_column) { "c", "g", real, 8, NULL, NULL, &three_words, 3 };
    fails(&small_table, PV_E_FORMAT,
          "Arrow stream: column \"c\": a dictionary of this kind cannot be encoded; "
          "\"type\": \"ignore\" leaves it out");
}

static void streams_that_fail(void **state)
{
    (void)state;
    make_small();
    small_table.fail_at = 1;
    small_table.error = "the disk\nis gone\x1b[31m";
    fails(&small_table, PV_E_IO, "Arrow stream: batch 2: the disk?is gone?[31m");
    t.d.cfg.messages = PVI_TELL_PLACE; /* what a producer says may quote a value */
    fails(&small_table, PV_E_IO, "Arrow stream: batch 2: refused; data.messages=full tells why, and quotes it");
    t.d.cfg.messages = PVI_TELL_FULL;
    small_table.error = NULL;
    fails(&small_table, PV_E_IO, "Arrow stream: batch 2: Input/output error");
    small_table.fail_at = -1;
    small_table.batches = 0;
    fails(&small_table, PV_E_FORMAT, "Arrow stream: no rows");
    pv_data *d = (pv_data *)&t;
    struct ArrowArrayStream s = at_stream(&small_table);
    s.get_next = NULL;
    mt_refused(&t, pv_data_arrow(t.d.ctx, &s, &d), "Arrow stream: a function of it is NULL");
    PVT_TRUE(d == NULL && s.release == NULL && at_live == 0); /* given back although the call failed */
    mt_refused(&t, pv_data_arrow(t.d.ctx, &s, &d), "Arrow stream: it has been released");
    mt_refused(&t, pv_data_arrow(t.d.ctx, NULL, &d), "pv_data_arrow: stream is NULL");
    s = at_stream(&small_table);
    PVT_IS(pv_data_arrow(NULL, &s, &d), PV_E_ARG);
    PVT_IS(at_live, 0);
    d = open_stream(&small_table); /* never read */
    pv_data_free(d);
}

static int spoiled; /* which way */

static void spoil(struct ArrowArray *a, int64_t batch)
{
    if (batch != 2) return;
    switch (spoiled) {
    case 0: a->n_children = 2; break;
    case 1: a->children[0]->n_buffers = 1; break;
    case 2: a->children[1]->n_buffers = 2; break;
    case 3: a->children[0]->length = 1; break;
    case 4: a->children[0]->offset = -1; break;
    case 5: a->length = INT64_MAX; break;
    case 6: a->children[0]->dictionary = a->children[1]; break;
    case 7: a->children[0]->buffers[1] = NULL; break;
    case 8:
        a->children[0]->null_count = 1;
        a->children[0]->buffers[0] = NULL;
        break;
    case 9: ((int32_t *)(uintptr_t)a->children[1]->buffers[1])[2] = 99; break;
    case 10: ((int32_t *)(uintptr_t)a->children[1]->buffers[1])[3] = -1; break;
    case 11: a->children[0]->buffers[1] = (const char *)a->children[0]->buffers[1] + 1; break;
    case 12: a->n_buffers = 0; break;
    default: break;
    }
}

static void arrays_that_disagree(void **state)
{
    (void)state;
    static const char *const want[] = {
        "Arrow stream: batch 2: its number of columns does not agree with the schema",
        "Arrow stream: batch 2, column \"a\": its number of buffers does not agree with the schema",
        "Arrow stream: batch 2, column \"c\": its number of buffers does not agree with the schema",
        "Arrow stream: batch 2, column \"a\": it is shorter than the batch",
        "Arrow stream: batch 2, column \"a\": its sizes cannot be",
        "Arrow stream: batch 2: its sizes cannot be",
        "Arrow stream: batch 2, column \"a\": its dictionary does not agree with the schema",
        "Arrow stream: batch 2, column \"a\": a buffer is missing",
        "Arrow stream: batch 2, column \"a\": it has nulls, and no bitmap says where",
        "Arrow stream: row 3, column \"c\": its text lies outside of the buffer",
        "Arrow stream: batch 2, column \"c\": its text ends before it begins",
        "Arrow stream: batch 2, column \"a\": a buffer is not aligned",
        "Arrow stream: batch 2: its number of buffers does not agree with the schema",
    };
    make_small();
    small_table.spoil = spoil;
    for (spoiled = 0; spoiled < (int)(sizeof want / sizeof *want); spoiled++)
        fails(&small_table, PV_E_FORMAT, want[spoiled]);
}

static void spoil_format(struct ArrowSchema *s)
{
    static const char *const kind[] = { "i", NULL };
    s->format = kind[spoiled];
}

static void bad_types(void **state)
{
    (void)state;
    static const struct {
        const char *format, *what;
    } kinds[] = { { "z", "binary data" },
                  { "vz", "binary data" },
                  { "w:3", "binary data" },
                  { "+l", "a list" },
                  { "+w:2", "a list" },
                  { "+s", "a struct" },
                  { "+m", "a map" },
                  { "+us:0,1", "a union" },
                  { "+r", "run-end encoding" },
                  { "ttm", "a time of day" },
                  { "tDs", "a duration" },
                  { "tiM", "an interval" },
                  { "d:40,2,256", "a decimal that is not of 128 bits, or has no digits" },
                  { "tsx:", "a type that is not known" },
                  { "q", "a type that is not known" } };
    make_small();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char want[160];
        small[0].format = kinds[i].format;
        snprintf(want, sizeof want,
                 "Arrow stream: column \"a\": %s cannot be encoded; \"type\": \"ignore\" leaves it out",
                 kinds[i].what);
        fails(&small_table, PV_E_FORMAT, want);
    }
    small[0].format = "g";
    small_table.spoil_schema = spoil_format;
    for (spoiled = 0; spoiled < 2; spoiled++)
        fails(&small_table, PV_E_FORMAT, "Arrow stream: a table is needed: batches of columns with names");
    small_table.spoil_schema = NULL;
    small[1].name = "a";
    fails(&small_table, PV_E_FORMAT, "Arrow stream: two columns named \"a\"");
    small[1].name = "other";
    fails(&small_table, PV_E_FORMAT, "Arrow stream: the column \"c\" of the schema is missing");
    small[1].name = "c";
    const at_column four[] = { small[0], small[1], small[2], { "e", "g", a4, 8, NULL, NULL, NULL, 0 } };
    small_table.column = four;
    small_table.columns = 4;
    fails(&small_table, PV_E_FORMAT,
          "Arrow stream: the schema has no column \"e\"; \"type\": \"ignore\" leaves one out");
    small_table.columns = 0;
    fails(&small_table, PV_E_FORMAT, "Arrow stream: no columns");
}

static void without_a_schema(void **state)
{
    (void)state;
    make_small();
    t.d.cfg.schema = NULL;
    t.d.cfg.labels = "no,yes";
    fails(&small_table, PV_E_FORMAT,
          "Arrow stream: row 1, column \"c\": columns without a schema must be numbers, "
          "found 'green'; a schema can declare text, a header and missing values");
    const at_column pair[] = { small[0], small[2] };
    small_table.column = pair;
    small_table.columns = 2;
    pvi_matrix_free(load(&small_table));
    null4[1] = 1;
    fails(&small_table, PV_E_FORMAT,
          "Arrow stream: row 2, column \"a\": columns without a schema must be numbers, "
          "found ''; a schema can declare text, a header and missing values");
    null4[1] = 0;
    t.d.cfg.features = 2;
    fails(&small_table, PV_E_FORMAT, "Arrow stream: 2 columns, but 2 features and a label are declared");
    t.d.cfg.features = PV_AUTO_I64;
    small_table.columns = 1;
    fails(&small_table, PV_E_FORMAT, "Arrow stream: one column only: features and a label are needed");
    pv_data *d = open_stream(&small_table);
    PVT_OK(pv_data_label_words(d, y4, 4));
    t.d.cfg.labels = "no,no"; /* refused before the stream is asked for anything: it can still be read */
    mt_fails(&t, d, PV_E_PARAM, "data.labels=no,no: no is listed twice");
    t.d.cfg.labels = "no,yes";
    pvi_matrix_free(mt_load(&t, d));
    pv_data_free(d);
    static const double three[] = { 0, 1, 0 };
    d = open_stream(&small_table);
    PVT_OK(pv_data_labels(d, three, PV_FLOAT64, 3));
    t.d.cfg.labels = "0,1";
    mt_fails(&t, d, PV_E_FORMAT, "Arrow stream: more rows than the 3 labels that were given");
    pv_data_free(d);
    static const double five[] = { 0, 1, 0, 1, 1 };
    d = open_stream(&small_table);
    PVT_OK(pv_data_labels(d, five, PV_FLOAT64, 5));
    mt_fails(&t, d, PV_E_FORMAT, "Arrow stream: fewer rows than the 5 labels that were given");
    pv_data_free(d);
    static const int32_t day[] = { 1, 2, 3, 4 };
    const at_column dated[] = { { "d", "tdD", day, 4, NULL, NULL, NULL, 0 }, small[0] };
    small_table.column = dated;
    small_table.columns = 2;
    fails(&small_table, PV_E_FORMAT, "Arrow stream: column \"d\": a date without a schema cannot be encoded");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = { TEST(like_a_table),      TEST(by_name),
                                        TEST(numbers),           TEST(words_of_values),
                                        TEST(bad_values),        TEST(dictionaries),
                                        TEST(streams_that_fail), TEST(arrays_that_disagree),
                                        TEST(bad_types),         TEST(without_a_schema) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
