/* test_scale.c - the words for epsilon and delta: limits, order, the worse of both, and the guess they stand for.
 *
 * The guess by a formula that shares nothing with scale.c: of the two errors a, b allowed by
 *   1 - a <= e^epsilon b + delta,  1 - b <= e^epsilon a + delta
 * the smallest sum is searched on a grid of a. */
#include "acct/acct.h"
#include "ctxtest.h"

static pvi_strength judge(double epsilon, double delta, double rows)
{
    return pvi_strength_of(&(pvi_claim) { epsilon, delta, rows, PV_REL_ZERO_OUT, 1, false });
}

static void limits(void **state)
{
    (void)state;
    const struct {
        double epsilon, delta, rows;
        const char *word, *colour;
    } t[] = {
        { 0, 1e-9, 1000, "strong", "green" },
        { 1, 1e-6, 20000, "strong", "green" },
        { nextafter(1, 2), 1e-6, 20000, "moderate", "amber" },
        { 3, 1e-6, 20000, "moderate", "amber" },
        { nextafter(3, 4), 1e-6, 20000, "weak", "amber" },
        { 10, 1e-6, 20000, "weak", "amber" },
        { nextafter(10, 11), 1e-6, 20000, "next to none", "red" },
        { 100, 1e-6, 20000, "next to none", "red" },
        { INFINITY, 1e-6, 20000, "next to none", "red" },
        { NAN, 1e-6, 20000, "next to none", "red" },
        { 1, 1e-4, 1000, "strong", "green" }, /* a tenth of 1/n exactly */
        { 1, 1.01e-4, 1000, "weak", "amber" },
        { 1, 0.99e-3, 1000, "weak", "amber" },
        { 1, 1e-3, 1000, "next to none", "red" },   /* 1/n itself */
        { 1, 1.0 / 49, 49, "next to none", "red" }, /* whose product with n is below 1 in doubles */
        { 0.1, 0.1, 200, "next to none", "red" },
        { 1, NAN, 200, "next to none", "red" },
        { 1, 0.1, 1, "next to none", "red" }, /* fewer rows: as for 100, too */
        { 1, 0.01, 10, "next to none", "red" },
        { 1, 0.0005, 10, "strong", "green" },
        { 1, 1e-5, 0, "strong", "green" }, /* rows unknown: as for the smallest table, 100 rows */
        { 1, 2e-3, 0, "weak", "amber" },
        { 1, 0.01, 0, "next to none", "red" },
        { 1, 0, 0, "strong", "green" },
        { 2, 2e-3, 0, "weak", "amber" }, /* the worse of both */
        { 20, 1e-4, 5000, "next to none", "red" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        const pvi_strength s = judge(t[i].epsilon, t[i].delta, t[i].rows);
        if (strcmp(s.word, t[i].word) != 0 || strcmp(s.colour, t[i].colour) != 0)
            fail_msg("epsilon %g, delta %g, %g rows: %s (%s), wanted %s (%s)", t[i].epsilon, t[i].delta, t[i].rows,
                     s.word, s.colour, t[i].word, t[i].colour);
    }
}

/* More epsilon, more delta, more rows: never a better word; and both together are the worse of each alone. */
static void order(void **state)
{
    (void)state;
    enum { N = 40 };
    int colour = 0;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            const double e = 0.01 * pow(1.3, i), d = 1e-9 * pow(1.7, k), n = 500;
            const pvi_strength s = judge(e, d, n);
            const int by_e = judge(e, 0, n).level, by_d = judge(0, d, n).level;
            assert_int_equal(s.level, by_e > by_d ? by_e : by_d);
            assert_true(judge(e * 1.3, d, n).level >= s.level && judge(e, d * 1.7, n).level >= s.level);
            assert_true(judge(e, d, 2 * n).level >= s.level);
            assert_true(judge(e * 1.3, d, n).right >= s.right && judge(e, d * 1.7, n).right >= s.right);
            assert_int_equal(strcmp(s.colour, "green") == 0, s.level == 0);
            assert_int_equal(strcmp(s.colour, "red") == 0, s.level == 3);
            colour |= 1 << s.level;
        }
    assert_int_equal(colour, 15); /* every word was met */
}

static double best_guess(double epsilon, double delta)
{
    double least = 2.0;
    for (int i = 0; i <= 200000; i++) {
        const double a = i / 200000.0;
        const double b = fmax(0.0, fmax((1 - a - delta) * exp(-epsilon), 1 - delta - exp(epsilon) * a));
        least = fmin(least, a + b);
    }
    return 1.0 - least / 2.0;
}

static void guesses(void **state)
{
    (void)state;
    const double eps[] = { 0, 0.1, 1, 3, 5, 10 }, deltas[] = { 0, 1e-6, 0.1, 0.9 };
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 4; k++) {
            const double right = judge(eps[i], deltas[k], 100).right, want = best_guess(eps[i], deltas[k]);
            assert_true(right >= (exp(eps[i]) + deltas[k]) / (1 + exp(eps[i])) * (1 - 1e-15));
            if (!(fabs(right - want) < 2e-5))
                fail_msg("epsilon %g, delta %g: %g, wanted %g", eps[i], deltas[k], right, want);
        }
    assert_true(judge(800, 0, 100).right == 1.0 && judge(INFINITY, 0, 100).right == 1.0 &&
                judge(0, 1, 100).right == 1.0);
}

static void says(const char *want, pvi_claim c, void (*say)(const pvi_claim *, pvi_str *))
{
    pvi_str text = { .ctx = ctx };
    say(&c, &text);
    if (!text.s || strcmp(text.s, want) != 0) fail_msg("got\n  %s\nwanted\n  %s", text.s ? text.s : "", want);
    pvi_str_free(&text);
}

#define COIN(what, right)                                                                                            \
    "Suppose a coin decides " what ". Whoever sees the result and knows everything else " right                      \
    "; without the result, 50 %."
static void sentences(void **state)
{
    (void)state;
    static const struct {
        double epsilon;
        const char *text;
    } t[] = { { 0.1, COIN("whether one given row is used", "guesses right at most 52.5 % of the time") },
              { 1, COIN("whether one given row is used", "guesses right at most 73.2 % of the time") },
              { 3, COIN("whether one given row is used", "guesses right at most 95.3 % of the time") },
              { 5, COIN("whether one given row is used", "guesses right at most 99.4 % of the time") },
              { 10, COIN("whether one given row is used", "guesses right at most 99.996 % of the time") },
              { 13, COIN("whether one given row is used", "guesses right at most 99.9998 % of the time") },
              { 100, COIN("whether one given row is used", "may guess right practically every time") },
              { INFINITY, COIN("whether one given row is used", "may guess right practically every time") } };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        says(t[i].text, (pvi_claim) { t[i].epsilon, 1e-6, 20000, PV_REL_ZERO_OUT, 1, false }, pvi_strength_guess);
    says(COIN("which of two given rows is used", "guesses right at most 75.8 % of the time"),
         (pvi_claim) { 1, 0.1, 20000, PV_REL_REPLACE, 1, false }, pvi_strength_guess);
    says(COIN("whether 3 given rows are used", "guesses right at most 73.2 % of the time"),
         (pvi_claim) { 1, 1e-6, 0, PV_REL_ZERO_OUT, 3, false }, pvi_strength_guess);
    says(COIN("whether 3 given rows are used or 3 others", "guesses right at most 73.2 % of the time"),
         (pvi_claim) { 1, 1e-6, 0, PV_REL_REPLACE, 3, false }, pvi_strength_guess);
    says(COIN("whether all rows of one person are used", "guesses right at most 73.2 % of the time"),
         (pvi_claim) { 1, 1e-6, 20000, PV_REL_ZERO_OUT, 1, true }, pvi_strength_guess);
    says("epsilon 1 is at most 1, and delta 1e-06 is at most a tenth of one in 20000 persons",
         (pvi_claim) { 1, 1e-6, 20000, PV_REL_ZERO_OUT, 1, true }, pvi_strength_why);
}

static void reasons(void **state)
{
    (void)state;
    static const struct {
        double epsilon, delta, rows;
        const char *text;
    } t[] = {
        { 1, 1e-6, 20000, "epsilon 1 is at most 1, and delta 1e-06 is at most a tenth of one in 20000 rows" },
        { 5, 1e-6, 20000, "epsilon 5 is above 3, but delta 1e-06 is at most a tenth of one in 20000 rows" },
        { 1.00000000001, 4e-4, 2000,
          "epsilon 1.00001 is above 1, and delta 0.0004 is more than a tenth of one in 2000 rows" },
        { 100, 0.1, 200,
          "epsilon 100 is above 10, and delta 0.1 is not below one in 200 rows: that alone would allow 20 of them to "
          "be shown outright, on average" },
        { 1, 0.1, 1, "epsilon 1 is at most 1, but delta 0.1 is not below one in 100 rows, the fewest that count" },
        { 1, 1e-5, 0, "epsilon 1 is at most 1, and delta 1e-05 is for tables of at most 10000 rows" },
        { 1, 0.2, 0, "epsilon 1 is at most 1, and delta 0.2 is too large for any table" },
        { 1, 0, 0, "epsilon 1 is at most 1, and delta 0 is small enough for any table" },
        { 1, 1e-285, 0, "epsilon 1 is at most 1, and delta 1e-285 is small enough for any table" },
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        says(t[i].text, (pvi_claim) { t[i].epsilon, t[i].delta, t[i].rows, PV_REL_ZERO_OUT, 1, false },
             pvi_strength_why);
}

static char heard[512];
static pv_level heard_level;

static void hear(void *user, pv_level level, const char *line)
{
    (void)user;
    heard_level = level;
    snprintf(heard, sizeof heard, "%s", line);
}

/* What is strong says nothing, what is next to none warns, what is between is noted. */
static void logged(void **state)
{
    (void)state;
    static const struct {
        double epsilon;
        int level;
        const char *start;
    } t[] = { { 1, 0, "" },
              { 2, PV_LOG_NOTE, "protection is moderate: epsilon 2 is above 1" },
              { 5, PV_LOG_NOTE, "protection is weak: epsilon 5 is above 3" },
              { 13, PV_LOG_WARN, "protection is next to none: epsilon 13 is above 10" } };
    pv_ctx_on_log(ctx, hear, NULL);
    for (int i = 0; i < 4; i++) {
        *heard = '\0';
        heard_level = 0;
        pvi_strength_log(ctx, &(pvi_claim) { t[i].epsilon, 1e-6, 20000, PV_REL_ZERO_OUT, 1, false });
        assert_int_equal(heard_level, t[i].level);
        assert_int_equal(strncmp(heard, t[i].start, strlen(t[i].start)), 0);
        assert_int_equal(*t[i].start == '\0', *heard == '\0');
    }
    pv_ctx_on_log(ctx, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(limits),  cmocka_unit_test(order),
                                      cmocka_unit_test(guesses), cmocka_unit_test(sentences),
                                      cmocka_unit_test(reasons), cmocka_unit_test(logged) };
    return cmocka_run_group_tests(all, setup, teardown);
}
