/* test_histogram.c - histograms of units of several rows: what a person adds, whoever is added, left out or replaced,
 * and what the histogram of rows per person says.
 *
 * Persons are made to break a bound: all rows in one bin, every row in another, more rows than bins, one row, values
 * that fall nowhere.  What is added is compared in whole multiples of the grid, so that nothing is lost in rounding.
 * Rows that are units are in test_queries.c, whole runs on neighbouring tables in test_replay_persons.c. */
#include "arenatest.h"
#include "query/query.h"

enum { PERSONS = 60, MOST = 37, H = 5, B = 8 };

typedef struct fixture {
    int64_t start[PERSONS + 1];
    float y[PERSONS * MOST];
    pv_domain dom;
    pv_problem prob;
    pvi_query q;
    double spacing;
    int64_t sum[H * B];
} fixture;

/* Of a person: all alike, each another, none, a mix. */
static int64_t bin_of(const pvi_bins *b, const pv_rows *units, int64_t u, int64_t r, int64_t h)
{
    const int64_t who = units->pick ? units->pick[u] : u;
    switch (who % 4) {
    case 0: return (who / 4 + h) % b->bins;
    case 1: return (r + h) % b->bins;
    case 2: return r % 3 ? (who + r * h) % b->bins : -1;
    default: return h == 0 ? -1 : (who + h) % b->bins;
    }
}

static void make(fixture *f, bool shared, double noise)
{
    memset(f, 0, sizeof *f);
    for (int64_t u = 0; u < PERSONS; u++) f->start[u + 1] = f->start[u] + 1 + u * 7 % MOST;
    f->dom = (pv_domain) { .n = PERSONS, .p = 1, .row_norm = 1, .unit_rows = MOST };
    f->q = (pvi_query) { .ops = &pvi_query_histogram, .prob = &f->prob, .dom = &f->dom };
    f->q.bins = (pvi_bins) { .histograms = H, .bins = B, .shared = shared, .place = bin_of };
    PVT_OK(f->q.ops->open(&f->q, ctx));
    f->spacing = pvi_grid_spacing(f->q.bound.absent, PERSONS, noise, f->q.length);
    PVT_TRUE(f->spacing > 0.0);
}

static pv_rows units_of(const fixture *f, const int64_t *pick, int64_t n)
{
    return (pv_rows) { .n = n, .p = 1, .y = f->y, .start = f->start, .pick = pick, .unit_rows = MOST };
}

static void add(fixture *f, const int64_t *pick, int64_t n, double *v)
{
    const pv_rows u = units_of(f, pick, n);
    pvi_lane lane = { .sum = f->sum };
    memset(f->sum, 0, sizeof f->sum);
    f->q.ops->add(&f->q, NULL, &u, f->spacing, &lane);
    for (int64_t k = 0; k < f->q.length; k++) v[k] = (double)f->sum[k] * f->spacing;
}

static double norm(const double *x, const double *y, int64_t n, double most)
{
    double s = 0, one = 0;
    for (int64_t k = 0; k < n; k++) s += (x[k] - y[k]) * (x[k] - y[k]), one += fabs(x[k] - y[k]);
    PVT_CHECK(one <= most, "l1 norm %g, at most %g", one, most);
    return sqrt(s);
}

/* (1) and (2) with no tolerance: a person left out, and another in the place of one. */
static void a_person_counts_once(void **state)
{
    (void)state;
    static fixture f;
    static double v[PERSONS][H * B], none[H * B];
    for (int shared = 0; shared < 2; shared++)
        for (double noise = 1e-3; noise < 1e10; noise *= 31) {
            double most[2] = { 0 };
            make(&f, shared, noise);
            for (int64_t u = 0; u < PERSONS; u++) {
                add(&f, &u, 1, v[u]);
                const double size = norm(v[u], none, H * B, H);
                PVT_CHECK(size <= f.q.bound.absent, "person %lld adds %.17g", (long long)u, size);
                most[0] = fmax(most[0], size / f.q.bound.absent);
            }
            for (int64_t u = 0; u < PERSONS; u++)
                for (int64_t k = 0; k < u; k++) {
                    const double moved = norm(v[u], v[k], H * B, 2 * H);
                    PVT_CHECK(moved <= f.q.bound.other, "%lld for %lld moves it by %.17g", (long long)u, (long long)k,
                              moved);
                    most[1] = fmax(most[1], moved / f.q.bound.other);
                }
            if (noise < 1e3) PVT_TRUE(most[0] > 0.9999 && most[1] > 0.9999); /* or it could not see one */
        }
}

/* Tables that differ in one whole person: sums are what their persons add, in any groups. */
static void sums_add_up(void **state)
{
    (void)state;
    static fixture f;
    static double all[H * B], left[H * B], one[H * B];
    make(&f, true, 1.0);
    add(&f, NULL, PERSONS, all);
    for (int64_t u = 0; u < PERSONS; u++) {
        int64_t pick[PERSONS], n = 0;
        for (int64_t i = 0; i < PERSONS; i++)
            if (i != u) pick[n++] = i;
        add(&f, pick, n, left);
        add(&f, &u, 1, one);
        for (int64_t k = 0; k < H * B; k++) PVT_TRUE(all[k] - left[k] == one[k]);
    }
}

/* ---- rows per person --------------------------------------------------------------------------------- */

static void rows_are_found(void **state)
{
    (void)state;
    const int64_t exact[10] = { 500, 190, 110, 80, 60, 20, 20, 10, 5, 5 };
    int64_t less[10];
    PVT_IS(pvi_person_rows_cap(exact, 10, 1000), 3);      /* 310 have more than two */
    for (int k = 0; k < 10; k++) less[k] = exact[k] - 17; /* all counts are off alike: n says by how much */
    PVT_IS(pvi_person_rows_cap(less, 10, 1000), 3);
    const pvi_rows_found f = pvi_person_rows_total(exact, 10, 1000, 6, 0.0),
                         g = pvi_person_rows_total(less, 10, 1000, 6, 9.0);
    PVT_NEAR(f.rows, 500 + 380 + 330 + 320 + 300 + 360, 1e-9);
    PVT_NEAR(g.rows, f.rows, 1e-9);
    PVT_TRUE(g.error > f.error);
    PVT_IS(pvi_person_rows_cap((const int64_t[]) { 3 }, 1, 3), 1);
    PVT_IS(pvi_person_rows_cap((const int64_t[]) { 0, 0, 0, -5 }, 4, 100), 3);
}

/* The standard error that is claimed, measured. */
static void the_error_is_what_is_said(void **state)
{
    (void)state;
    enum { TIMES = 4000, BINS = 64 };
    const double stddev = 16.7;
    uint64_t seed = 11;
    double sum = 0, squares = 0, claimed = 0, truth = 0;
    for (int t = 0; t < TIMES; t++) {
        int64_t count[BINS], n = 0;
        for (int k = 0; k < BINS; k++) n += k < 12 ? 4000 >> k : 0;
        for (int k = 0; k < BINS; k++)
            count[k] = llrint((double)(k < 12 ? 4000 >> k : 0) + stddev * pvt_normal(&seed));
        const pvi_rows_found f = pvi_person_rows_total(count, BINS, n, 8, stddev);
        truth = 0;
        for (int k = 0; k < BINS; k++) truth += (double)(k < 12 ? 4000 >> k : 0) * fmin(k + 1, 8);
        sum += f.rows - truth;
        squares += (f.rows - truth) * (f.rows - truth);
        claimed = f.error;
    }
    PVT_CHECK(fabs(sum / TIMES) < 4 * claimed / sqrt(TIMES), "off by %g on average", sum / TIMES);
    PVT_REL(sqrt(squares / TIMES), claimed, 0.05);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest all[] = { CASE(a_person_counts_once), CASE(sums_add_up), CASE(rows_are_found),
                                      CASE(the_error_is_what_is_said) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
