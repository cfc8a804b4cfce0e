/* test_acct_loops.c - how often do the loops of src/acct iterate, at the corners of what is answered?
 *
 * This program holds src/acct once more, built with PVI_COUNT_LOOPS (tests/CMakeLists.txt).  Questions are made of
 * the ends of every range in range.h and a few values between them.  A loop that ends by comparing doubles must end
 * before its cap, and every such loop must have been in use, so that the counts mean something.
 * PRIVET_LOOPS=N asks N questions and prints the counts and the slowest question. */
#include "arenatest.h"

#include <time.h>

#include "acct/acct.h"

static int64_t most[PVI_N_LOOPS];

bool pvi_count_iteration(pvi_loop_id id, int64_t cap, int64_t i);
bool pvi_count_iteration(pvi_loop_id id, int64_t cap, int64_t i)
{
    if (i + 1 > most[id]) most[id] = i + 1; /* the last check of a loop says no */
    return i < cap;
}

static const struct {
    const char *name;
    int64_t cap;
    bool stops;
} loops[] = {
#define ROW(id, cap, stops) { #id, cap, stops },
    PVI_LOOPS(ROW)
};

/* ---- questions ---------------------------------------------------------------------------------------- */

static uint64_t random_state;

static int pick(int n)
{
    return (int)(pvt_u64(&random_state) % (uint64_t)n);
}

/* An end of the range, or a value between, evenly in ln. */
static double value(pvi_range_id id)
{
    const pvi_range *r = &pvi_ranges[id];
    const int k = pick(12);
    if (k == 0) return r->least;
    if (k == 1) return r->most;
    if (k < 4) return fmin(fmax(pow(10.0, pick(7) - 4), r->least), r->most);
    return fmin(r->least * pow(r->most / r->least, k / 12.0), r->most);
}

static const pv_event *leaf(void)
{
    switch (pick(8)) {
    case 0: return pv_ev_leaf(arena, PV_EV_LAPLACE, value(PVI_RANGE_SCALE), 0);
    case 1: return pv_ev_leaf(arena, PV_EV_SELECT, value(PVI_RANGE_SELECT), 0);
    case 2: return pv_ev_leaf(arena, PV_EV_BALL, value(PVI_RANGE_DELTA0), 0);
    case 3: return pv_ev_leaf(arena, PV_EV_EPS_DELTA, value(PVI_RANGE_EPS0), pick(2) ? value(PVI_RANGE_DELTA0) : 0);
    default: return pv_ev_leaf(arena, PV_EV_GAUSSIAN, pick(3) ? exp(0.1 * pick(140) - 7) : value(PVI_RANGE_NOISE), 0);
    }
}

static const pv_event *release(void)
{
    const pv_event *e = leaf();
    const int64_t times[] = { 1, 1, 2, 17, 1000, 1000000, (int64_t)1 << 40, (int64_t)1 << 52 };
    if (pick(2)) e = pv_ev_sampled(arena, pick(4) ? PV_EV_POISSON : PV_EV_FIXED, value(PVI_RANGE_RATE), e);
    return pv_ev_repeat(arena, times[pick(8)], e);
}

static const pv_event *question(void)
{
    const pv_event *part[40];
    const int n = pick(4) ? 1 : 1 + pick(40);
    for (int i = 0; i < n; i++) part[i] = release();
    return n == 1 ? part[0] : pv_ev_seq(arena, n, part);
}

static void ask(const char *accountant, pv_relation rel, const pv_event *ev)
{
    pvi_cost c;
    double d;
    const double delta = pick(3) ? value(PVI_RANGE_DELTA) : 1e-6;
    switch (pick(8)) {
    case 0: (void)pvi_account_delta(ctx, accountant, rel, ev, value(PVI_RANGE_EPSILON), &d, NULL); break;
    case 1: (void)pvi_account_rows(ctx, accountant, rel, ev, delta, 2 + pick(3), &c); break;
    case 2: (void)pvi_calibrate(ctx, accountant, rel, ev, value(PVI_RANGE_EPSILON), delta, &d, &c); break;
    default: (void)pvi_account(ctx, accountant, rel, ev, delta, &c);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What these questions seldom lead to: balls of noise, curves drawn by Gaussians, groups of sampled rows. */
static void ask_apart(void)
{
    const double d[] = { 1, 2, 1e3, 1e8 }, delta = value(PVI_RANGE_DELTA);
    double eps[9], at[9];
    PVT_TRUE(pv_ball_radius(1.0, delta, d[pick(4)]) >= 0.5);
    for (int i = 0; i < 9; i++) eps[i] = i, at[i] = pvi_gdp_delta_ub(pow(10.0, pick(9) - 6), i);
    PVT_TRUE(pvi_mu_fit(&(pvi_curve) { 9, eps, at }) >= 0);
    if (pick(50)) return;
    pvi_cost c;
    const pv_event *g = pv_ev_leaf(arena, PV_EV_GAUSSIAN, 1.0 + pick(3), 0);
    PVT_OK(pvi_account_rows(ctx, "rdp", PV_REL_ZERO_OUT, pv_ev_sampled(arena, PV_EV_POISSON, 1e-3, g), 1e-6, 2, &c));
}

static void loops_end_before_their_caps(void **state)
{
    static const char *const accountants[] = { "best", "best", "gaussian", "pld", "rdp", "zcdp", "compose", "tv" };
    const char *wanted = getenv("PRIVET_LOOPS");
    const int n = wanted ? atoi(wanted) : 600;
    double slowest = 0;
    char *worst = NULL;
    (void)state;
    for (int i = 0; i < n; i++) {
        random_state = (uint64_t)i;
        const pv_event *ev = question();
        const double start = seconds();
        ask(accountants[pick(8)], pick(3) ? PV_REL_ZERO_OUT : PV_REL_REPLACE, ev);
        ask_apart();
        const double took = seconds() - start;
        if (wanted && took > slowest) {
            pvi_str b = { .ctx = ctx };
            pvi_jw w = { .out = &b };
            pvi_event_write(ev, &w, NULL);
            free(worst);
            worst = strdup(b.s);
            pvi_str_free(&b);
            slowest = took;
        }
        pvi_arena_free(arena);
        arena = pvi_arena_create(ctx);
    }
    if (worst) printf("slowest: %.2f s, %s\n", slowest, worst);
    free(worst);
    for (int i = 0; wanted && i < PVI_N_LOOPS; i++)
        printf("%-16s %8lld of %8lld\n", loops[i].name, (long long)most[i], (long long)loops[i].cap);
    for (int i = 0; i < PVI_N_LOOPS; i++) {
        PVT_CHECK(most[i] > 0, "%s was never in use", loops[i].name);
        PVT_CHECK(most[i] <= loops[i].cap || loops[i].stops, "%s was cut short", loops[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(loops_end_before_their_caps) };
    return cmocka_run_group_tests(all, setup, teardown);
}
