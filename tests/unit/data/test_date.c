/* test_date.c - dates as days since 1970-01-01: text and counts against the C library's calendar, and as columns. */
#include <time.h>

#include "memorytest.h"

static dt t;

static int setup(void **state)
{
    (void)state;
    dt_open(&t);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    dt_close(&t);
    return 0;
}

/* Every day of 400 years, and a time on each. */
static void calendar(void **state)
{
    (void)state;
    for (int64_t day = -100000; day < 100000; day++) {
        const time_t second = (time_t)day * 86400 + (day * 7919 % 86400 + 86400) % 86400;
        struct tm tm;
        char text[64], made[64];
        double days;
        gmtime_r(&second, &tm);
        strftime(text, sizeof text, "%Y-%m-%d", &tm);
        PVT_TRUE(pvi_date_parse(text, strlen(text), &days));
        PVT_TRUE(days == (double)day);
        pvi_date_text(day, made);
        assert_string_equal(made, text);
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
        PVT_TRUE(pvi_date_parse(text, strlen(text), &days));
        PVT_NEAR(days, (double)second / 86400.0, 1e-10);
        PVT_TRUE(days == pvi_date_number(second, 86400));
        PVT_TRUE(days == pvi_date_number((int64_t)second * 1000000, 86400000000));
        pvi_time_text(second, 86400, false, made);
        assert_string_equal(made, text);
    }
}

static void spellings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double days;
    } good[] = { { "1970-01-01", 0 },
                 { "1970-01-02T12:00", 1.5 },
                 { "1970-01-02 12:00:00Z", 1.5 },
                 { "1970-01-02 13:30:00+01:30", 1.5 },
                 { "1970-01-02 11:00:00-0100", 1.5 },
                 { "1970-01-02 00:30:00+01", 1.0 - 0.5 / 24 },
                 { "1970-01-01 23:30:00-01", 1.0 + 0.5 / 24 },
                 { "1970-01-01 00:00:43.2", 0.0005 },
                 { "1970-01-01 00:00:00.000000001", 1e-9 / 86400 },
                 { "2000-02-29", 11016 },
                 { "0000-03-01", -719468 } };
    static const char *const bad[] = { "",
                                       "1970-1-1",
                                       "1970-01-00",
                                       "1970-13-01",
                                       "2001-02-29",
                                       "1900-02-29",
                                       "1970-01-01 ",
                                       "1970-01-01 24:00",
                                       "1970-01-01x12:00",
                                       "1970-01-01 12:60",
                                       "1970-01-01 12:00:60",
                                       "1970-01-01 12:00:00.",
                                       "1970-01-01 12:00:00+1",
                                       "1970-01-01 12:00:00+24:00",
                                       "1970-01-01 12",
                                       "1970-01-01 12:00:00.0000000001",
                                       "01.02.1970",
                                       "19700101",
                                       "-1970-01-01" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double days;
        PVT_CHECK(pvi_date_parse(good[i].text, strlen(good[i].text), &days) && fabs(days - good[i].days) < 1e-12,
                  "%s", good[i].text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double days;
        PVT_CHECK(!pvi_date_parse(bad[i], strlen(bad[i]), &days), "%s", bad[i]);
    }
    char text[64];
    pvi_time_text(-1, 86400000, true, text);
    assert_string_equal(text, "1969-12-31 23:59:59.999Z");
    pvi_time_text(1, 86400000000000, false, text);
    assert_string_equal(text, "1970-01-01 00:00:00.000000001");
    pvi_date_text(-719529, text);
    assert_string_equal(text, "-0001-12-31");
}

#define SCHEMA(type, lo, hi)                                                                                         \
    "{\"columns\": [{\"name\": \"d\", \"type\": \"" type "\", \"min\": " lo ", \"max\": " hi                         \
    ", \"missing\": \"zero\"}, {\"name\": \"y\", \"type\": \"label\", \"values\": [\"0\", \"1\"]}]}"

/* A column of dates: (days - min) / (max - min), whether bounds and fields are dates or days. */
static void columns(void **state)
{
    (void)state;
    static const char table[] = "d,y\n2000-01-01,0\n\"2000-01-06 12:00\",1\n10962,0\n,1\n";
    static const char *const schema[] = { SCHEMA("date", "\"2000-01-01\"", "\"2000-01-11\""),
                                          SCHEMA("date", "10957", "10967"), SCHEMA("number", "10957", "10967") };
    static const float want[] = { 0.0f, 0.55f, 0.5f, 0.0f };
    t.cfg.bias = 0;
    for (int k = 0; k < 3; k++) {
        t.cfg.schema = schema[k];
        pvi_matrix *m = dt_load(&t, table);
        for (int i = 0; i < 4; i++) PVT_NEAR(dt_at(m, i, 0), want[i], 1e-7);
        const bool date = strstr(m->schema_json, "\"type\":\"date\"") || strstr(m->schema_json, "\"type\": \"date\"");
        PVT_IS(date, k < 2);
        PVT_IS(strstr(m->schema_json, "2000-01-11") != NULL, k < 2);
        t.cfg.schema = m->schema_json; /* as a model keeps it */
        pvi_matrix *again = dt_load(&t, table);
        assert_string_equal(again->schema_json, m->schema_json);
        dt_same(m, again);
        pvi_matrix_free(m), pvi_matrix_free(again);
    }
}

static void refusals(void **state)
{
    (void)state;
    t.cfg.schema = SCHEMA("date", "\"2000-01-01\"", "\"2000-01-11\"");
    dt_fails(
        &t, "d,y\n2000-01-12,0\n", PV_E_FORMAT,
        ":2:1: column \"d\": 2000-01-12 is outside the declared 2000-01-01 .. 2000-01-11; data.outside=clamp would "
        "clamp it");
    dt_fails(&t, "d,y\n12.1.2000,0\n", PV_E_FORMAT,
             ":2:1: column \"d\": '12.1.2000' is not a date as 2024-01-31; "
             "data.outside_text=missing would treat it as missing");
    t.cfg.schema = SCHEMA("date", "\"2000-01-01\"", "\"today\"");
    dt_fails(&t, "d,y\n1,0\n", PV_E_FORMAT,
             "schema:1:72: column \"d\": \"max\" must be a date, as in \"2024-01-31\"");
    t.cfg.schema = SCHEMA("number", "\"2000-01-01\"", "1");
    dt_fails(&t, "d,y\n1,0\n", PV_E_FORMAT,
             "schema:1:53: column \"d\": \"min\" must be a number, written without quotes");
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(calendar), cmocka_unit_test(spellings),
                                      cmocka_unit_test_setup_teardown(columns, setup, teardown),
                                      cmocka_unit_test_setup_teardown(refusals, setup, teardown) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
