/* test_spelling.c - numbers, truth values, records and characters as tables write them, in files and in memory. */
#include "arrowtest.h"
#include "data/data.h"
#include "data/encode.h"
#include "data/utf16.h"
#include "datatest.h"

static dt t;

static int setup(void **state)
{
    (void)state;
    dt_open(&t);
    t.cfg.bias = 0;
    t.cfg.row_norm = 1e6;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    dt_close(&t);
    return 0;
}

/* NAN: no number. */
static double spelt(char decimal, char thousands, const char *text)
{
    const pvi_schema sc = { .decimal = decimal, .thousands = thousands, .respelt = true };
    char room[600] = { 0 };
    double x;
    memcpy(room, text, strlen(text));
    return pvi_spelt_number(&sc, room, strlen(text), &x) ? x : NAN;
}

static void numbers(void **state)
{
    (void)state;
    static const struct {
        char decimal, thousands;
        const char *text;
        double x;
    } good[] = { { ',', 0, "12,5", 12.5 },
                 { ',', 0, "-0,1", -0.1 },
                 { ',', 0, "+7", 7 },
                 { ',', 0, ",5", 0.5 },
                 { ',', 0, "1,5e3", 1500 },
                 { ',', '.', "1.234.567,25", 1234567.25 },
                 { ',', '.', "1234,5", 1234.5 },
                 { '.', ',', "12,345", 12345 },
                 { '.', ',', "-1,234,567.5e-1", -123456.75 },
                 { '.', ',', "999", 999 },
                 { '.', ' ', "1 234", 1234 },
                 { ',', ' ',
                   "1\xc2\xa0"
                   "234\xe2\x80\xaf"
                   "567,5",
                   1234567.5 },
                 { '.', '\'', "1'234.5", 1234.5 },
                 { '.', '\'',
                   "1\xe2\x80\x99"
                   "234",
                   1234 } };
    static const struct {
        char decimal, thousands;
        const char *text;
    } bad[] = {
        { ',', '.', "0.500" },   { ',', '.', "00.123" },  { ',', 0, "12.5" },       { ',', 0, "1.234,5" },
        { ',', '.', "1.23" },    { ',', '.', "1.2345" },  { ',', '.', "1234.567" }, { ',', '.', ".123" },
        { ',', '.', "1,234.5" }, { ',', '.', "1.234.5" }, { '.', ',', "12,34" },    { '.', ',', ",123" },
        { '.', ',', "1,,234" },  { '.', ',', "1,234," },  { '.', ',', "1.5,000" },  { '.', ' ', "1  234" },
        { '.', ' ', "1 234 " },  { '.', '\'', "1'23" },   { '.', ' ', "1'234" },    { ',', 0, "" },
        { ',', 0, "," },         { ',', 0, "-" },         { ',', 0, "1,5,5" },      { '.', ',', "1,234e1,5" }
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        PVT_CHECK(spelt(good[i].decimal, good[i].thousands, good[i].text) == good[i].x, "%s", good[i].text);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        PVT_CHECK(isnan(spelt(bad[i].decimal, bad[i].thousands, bad[i].text)), "%s", bad[i].text);
    char longest[600];
    memset(longest, '0', sizeof longest);
    longest[511] = '\0';
    PVT_TRUE(spelt(',', 0, longest) == 0);
    longest[511] = '0', longest[512] = '\0';
    PVT_TRUE(isnan(spelt(',', 0, longest)));
}

#define COLUMNS                                                                                                      \
    "\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": -2000, \"max\": 2000, \"missing\": "             \
    "\"middle\"}, "                                                                                                  \
    "{\"name\": \"b\", \"type\": \"boolean\"}, {\"name\": \"note\", \"type\": \"text\"}, {\"name\": \"y\", "         \
    "\"type\": \"label\", \"min\": 0, \"max\": 100}]}"

/* The same rows in every dialect, and from an Arrow stream of texts: the same digest. */
static void dialects(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *table;
    } all[] = {
        { "{" COLUMNS, "a,b,note,y\n1234.5,yes,x,1.5\n-7,N,\"a \"\"b\"\", c\",20\n,,z,0.25\n0.125,TRUE,,99\n" },
        { "{\"separator\": \";\", \"decimal\": \",\", \"thousands\": \".\", \"trailing\": true, " COLUMNS,
          "a;b;note;y;\r\n1.234,5;1;x;1,5;\r\n-7;0;\"a \"\"b\"\", c\";20\r\n;;z;0,25; \r\n0,125;t;;99;\r\n" },
        { "{\"separator\": \";\", \"decimal\": \",\", \"trailing\": true, " COLUMNS,
          "a;b;note;y\n1234,5;Y;x;1,5;\n-7;false;;20;\n;;z;0,25;\n0,125;yes;;99;\n" },
        { "{\"separator\": \"\\t\", \"thousands\": \"'\", " COLUMNS,
          "y\ta\tnote\tb\t\n1.5\t1'234.5\t\ttrue\t\n20\t-7\tx\tno\t\n0.25\t\t\t\t\n99\t.125\t\tT\t\n" },
        { "{\"header\": false, \"thousands\": \" \", \"trailing\": true, " COLUMNS,
          "1 234.5,yes,,1.5,\n-7,no,,20,\n,,,0.25,\n.125,y,,99,\n" },
    };
    static const char *const a[] = { "1.234,5", "-7", NULL, "0,125" }, *const b[] = { "Y", "n", NULL, "True" },
                             *const y[] = { "1,5", "20", "0,25", "99" };
    static const at_column column[] = { { "y", "u", NULL, 0, y, NULL, NULL, 0 },
                                        { "a", "vu", NULL, 0, a, NULL, NULL, 0 },
                                        { "b", "U", NULL, 0, b, NULL, NULL, 0 },
                                        { "note", "u", NULL, 0, b, NULL, NULL, 0 } };
    static const at_batch whole = { 0, 4, 0, 0, false };
    t.expect.classes = 0;
    t.cfg.schema = all[0].schema;
    pvi_matrix *want = dt_load(&t, all[0].table);
    PVT_NEAR(dt_at(want, 0, 0), 0.808625, 1e-6);
    PVT_TRUE(dt_at(want, 0, 2) == 1 && dt_at(want, 1, 1) == 1 && dt_at(want, 2, 1) + dt_at(want, 2, 2) == 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        t.cfg.schema = all[i].schema;
        pvi_matrix *m = dt_load(&t, all[i].table);
        assert_string_equal(m->digest, want->digest);
        char *kept = strdup(m->schema_json); /* as the model file has it */
        t.cfg.schema = kept;
        pvi_matrix *again = dt_load(&t, all[i].table);
        assert_string_equal(again->schema_json, kept);
        assert_string_equal(again->digest, want->digest);
        pvi_matrix_free(again);
        pvi_matrix_free(m);
        free(kept);
    }
    at_table table = { column, 4, &whole, 1, 0, -1, NULL, NULL, NULL, NULL };
    struct ArrowArrayStream stream = at_stream(&table);
    pv_data *rows;
    pvi_matrix *m;
    t.cfg.schema = all[1].schema;
    PVT_OK(pv_data_arrow(t.ctx, &stream, &rows));
    const pv_status s = pvi_data_load(t.ctx, &t.cfg, &t.expect, rows, &m);
    PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(t.ctx));
    assert_string_equal(m->digest, want->digest);
    pvi_matrix_free(m);
    pv_data_free(rows);
    pvi_matrix_free(want);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *schema, *message;
    } bad[] = {
        { "{\"decimal\": \";\", " COLUMNS, "schema:1:13: \"decimal\" must be one of \".\" and \",\"" },
        { "{\"thousands\": \"\", " COLUMNS,
          "schema:1:15: \"thousands\" must be one of \",\", \".\", \" \" and \"'\"" },
        { "{\"thousands\": \".\", " COLUMNS,
          "schema:1:15: \"thousands\" and \"decimal\" are the same mark: numbers would mean two things" },
        { "{\"trailing\": 1, " COLUMNS, "schema:1:14: \"trailing\" must be true or false" },
        { "{\"columns\": [{\"name\": \"b\", \"type\": \"boolean\", \"values\": [\"j\"]}]}",
          "schema:1:57: boolean \"b\" has the values no and yes, and no others" },
    };
    t.expect.classes = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        t.cfg.schema = bad[i].schema;
        dt_fails(&t, "a\n", PV_E_FORMAT, bad[i].message);
    }
    t.cfg.schema = "{\"separator\": \";\", \"decimal\": \",\", " COLUMNS;
    dt_fails(&t, "a;b;note;y\n12.5;no;;1\n", PV_E_FORMAT,
             ":2:1: column \"a\": '12.5' is not a number; \"decimal\" or \"thousands\" in the schema says otherwise");
    dt_fails(&t, "a;b;note;y\n1;no;;2.5\n", PV_E_FORMAT, ":2:7: label '2.5' in column \"y\" is not a finite number");
    dt_fails(&t, "a;b;note;y\n1;no;;2;\n", PV_E_FORMAT,
             ":2:8: the record has more than the 4 columns declared; \"trailing\": true beside \"columns\" takes a "
             "separator at the end");
    dt_fails(&t, "a;b;note;y\n1;nein;;2\n", PV_E_FORMAT,
             ":2:3: column \"b\": 'nein' is not one of its declared values; data.outside=usual would take it for "
             "\"other\" or none");
}

/* A number that is no usual one, in UTF-16 of either order, with an error behind all cuts. */
static size_t widen(const char *s, size_t n, bool big, char *out)
{
    size_t k = 0;
    out[k++] = big ? '\xfe' : '\xff';
    out[k++] = big ? '\xff' : '\xfe';
    for (size_t i = 0; i < n; i++, k += 2) {
        out[k] = big ? 0 : s[i];
        out[k + 1] = big ? s[i] : 0;
    }
    return k;
}

static void wide_files(void **state)
{
    (void)state;
    enum { ROWS = 20000 };
    static char text[ROWS * 16], wide[2 * sizeof text + 2];
    size_t n = (size_t)sprintf(text, "a,b,note,y\n");
    for (int i = 0; i < ROWS; i++)
        n += (size_t)sprintf(text + n, "%d.5,%s,,%d\n", i % 1000, i & 1 ? "yes" : "N", i % 7);
    t.expect.classes = 0;
    t.cfg.schema = "{" COLUMNS;
    t.cfg.chunk = 500;
    pvi_matrix *want = dt_load(&t, text);
    for (int big = 0; big < 2; big++) {
        dt_write(t.path, wide, widen(text, n, big, wide));
        pvi_matrix *m = dt_load(&t, NULL);
        assert_string_equal(m->digest, want->digest);
        pvi_matrix_free(m);
    }
    pvi_matrix_free(want);
    const size_t odd = widen(text, n, true, wide) - 1;
    dt_fails_bytes(&t, wide, odd, PV_E_FORMAT, ": truncated: the UTF-16 data ends too early");
    memcpy(wide + odd - 5001, "\xdc\x00", 2); /* half a character */
    dt_fails_bytes(&t, wide, odd + 1, PV_E_FORMAT, ": the UTF-16 data is damaged");
    dt_fails_bytes(&t, "\xff\xfe", 2, PV_E_FORMAT, ": empty");
}

/* Every character, in and out of room of any size. */
static void characters(void **state)
{
    (void)state;
    uint8_t in[4];
    char want[5], got[8];
    for (uint32_t c = 1; c < 0x110000; c++) {
        if (c >= 0xd800 && c < 0xe000) continue;
        const uint32_t lead = 0xd7c0 + (c >> 10), tail = 0xdc00 + (c & 0x3ff), first = c < 0x10000 ? c : lead;
        const size_t n = c < 0x10000 ? 2 : 4, len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        in[0] = (uint8_t)(first >> 8), in[1] = (uint8_t)first, in[2] = (uint8_t)(tail >> 8), in[3] = (uint8_t)tail;
        static const uint8_t mark[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
        for (size_t i = len; i-- > 0;) {
            const uint32_t bits = c >> (6 * (len - 1 - i));
            want[i] = (char)(len == 1 ? c : i == 0 ? mark[len] | bits : 0x80 | (bits & 0x3f));
        }
        pvi_utf16 u = { .big = true };
        size_t used, made, k = 0;
        for (size_t i = 0; i < n; i++) {
            PVT_TRUE(pvi_utf16_text(&u, in + i, 1, &used, got + k, 4, &made) && used == 1);
            k += made;
        }
        PVT_TRUE(k == len && memcmp(got, want, len) == 0 && u.have == 0);
        PVT_IS(pvi_character((const unsigned char *)want) > 0, c >= 0x20 && (c < 0x7f || c >= 0xa0));
    }
    pvi_utf16 u;
    PVT_TRUE(pvi_utf16_begins((const uint8_t *)"\xff\xfe"
                                               "a",
                              3, &u) &&
             !u.big);
    PVT_TRUE(!pvi_utf16_begins((const uint8_t *)"\xff\xfe\0\0", 4, &u) &&
             !pvi_utf16_begins((const uint8_t *)"\xff", 1, &u));
    static const uint8_t halves[][4] = { { 0xdc, 0, 0, 'a' }, { 0xd8, 0, 0, 'a' }, { 0xd8, 0, 0xd8, 0 } };
    for (int i = 0; i < 3; i++) {
        size_t used, made;
        u = (pvi_utf16) { .big = true };
        PVT_TRUE(!pvi_utf16_text(&u, halves[i], 4, &used, got, 8, &made));
    }
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(numbers), cmocka_unit_test(characters),
                                      cmocka_unit_test_setup_teardown(dialects, setup, teardown),
                                      cmocka_unit_test_setup_teardown(refusals, setup, teardown),
                                      cmocka_unit_test_setup_teardown(wide_files, setup, teardown) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
