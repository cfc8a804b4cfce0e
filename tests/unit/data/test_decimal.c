/* test_decimal.c - decimal text to double against the C library's strtod. */
#include "data/decimal.h"
#include "pvtest.h"

/* Same value as strtod for a token, and stops where the token ends. */
static void check(const char *token)
{
    char buf[128] = { 0 };
    double x = 0;
    snprintf(buf, sizeof buf, "%s ,", token);
    const char *end = pvi_decimal(buf, &x);
    const double want = strtod(token, NULL);
    if (!end) return;
    PVT_CHECK(end == buf + strlen(token), "%s: stopped at \"%s\"", token, end);
    PVT_CHECK(x == want && signbit(x) == signbit(want), "%s: got %.17g, want %.17g", token, x, want);
}

static void taken(const char *token) /* by the fast way, not only by the fallback */
{
    char buf[128] = { 0 };
    double x;
    snprintf(buf, sizeof buf, "%s ", token);
    PVT_CHECK(pvi_decimal(buf, &x) != NULL, "%s", token);
    check(token);
}

static void known_numbers(void **state)
{
    (void)state;
    static const char *const all[] = { "0",
                                       "-0",
                                       "+1",
                                       "1.",
                                       ".5",
                                       "-.5",
                                       "0.1",
                                       "12345678",
                                       "123456789",
                                       "1e22",
                                       "1e23",
                                       "1e-22",
                                       "9007199254740993",
                                       "9007199254740992",
                                       "9223372036854775807",
                                       "0.30000000000000004",
                                       "1E5",
                                       "1e+5",
                                       "1.5e-45",
                                       "3.4028235e38",
                                       "0.000001",
                                       "1234567890123456789" };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) taken(all[i]);
}

static void refused(void **state)
{
    (void)state;
    static const char *const all[] = { "",
                                       "-",
                                       ".",
                                       "+.",
                                       "e5",
                                       "nan",
                                       "inf",
                                       "x",
                                       "--1",
                                       "1e",
                                       "1e+",
                                       "12345678901234567890",
                                       "1e99999999999",
                                       "1e400",
                                       "\"1" };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char buf[128] = { 0 };
        double x;
        snprintf(buf, sizeof buf, "%s ", all[i]);
        PVT_CHECK(pvi_decimal(buf, &x) == NULL, "%s", all[i]);
    }
}

static void random_digits(void **state)
{
    (void)state;
    uint64_t s = 7;
    char t[64];
    for (int i = 0; i < 300000; i++) {
        const uint64_t u = pvt_u64(&s) >> (pvt_u64(&s) % 64);
        const int q = (int)(pvt_u64(&s) % 141) - 70;
        snprintf(t, sizeof t, "%s%llue%d", i & 1 ? "-" : "", (unsigned long long)u, q);
        check(t);
        snprintf(t, sizeof t, "%llu.%0*llu", (unsigned long long)(u % 10000), (int)(1 + u % 12),
                 (unsigned long long)(u >> 40));
        check(t);
    }
}

static void doubles_come_back(void **state)
{
    (void)state;
    uint64_t s = 8;
    char t[64];
    for (int i = 0; i < 300000; i++) {
        const double x = ldexp(pvt_uniform(&s) - 0.5, (int)(pvt_u64(&s) % 200) - 100);
        snprintf(t, sizeof t, "%.*g", (int)(1 + pvt_u64(&s) % 18), x);
        check(t);
    }
}

/* m and its neighbours at exact ties of 53-bit rounding, m = (2k+1) 2^e. */
static void ties(void **state)
{
    (void)state;
    uint64_t s = 9;
    char t[64];
    for (int i = 0; i < 200000; i++) {
        const int e = (int)(pvt_u64(&s) % 10);
        const uint64_t k = ((pvt_u64(&s) >> 10) | (uint64_t)1 << 53 | 1) << e;
        for (int d = -1; d <= 1; d++) {
            snprintf(t, sizeof t, "%llu", (unsigned long long)(k + (uint64_t)d));
            check(t);
            snprintf(t, sizeof t, "%llue-1",
                     (unsigned long long)(k + (uint64_t)d)); /* 5 tenths more often than chance */
            check(t);
        }
    }
}

static void whole_tokens(void **state)
{
    (void)state;
    double x;
    char buf[64] = "1.5x ,";
    PVT_TRUE(!pvi_number(buf, 4, &x));
    PVT_TRUE(pvi_number(buf, 3, &x) && x == 1.5);
    strcpy(buf, "123456789012345678901234567890 ,");
    PVT_TRUE(pvi_number(buf, 30, &x) && x == strtod("123456789012345678901234567890", NULL));
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(known_numbers),     cmocka_unit_test(refused), cmocka_unit_test(random_digits),
        cmocka_unit_test(doubles_come_back), cmocka_unit_test(ties),    cmocka_unit_test(whole_tokens),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
