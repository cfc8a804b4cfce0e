/* bench_pld.c - milliseconds for a certified epsilon, beside dp_accounting's PLD in the same run.
 *
 * The question: noise multiplier 1.1, Poisson rate 256/60000, 14063 steps, delta 1e-5 (60 epochs, batches of 256 out
 * of 60000); and the noise multiplier for epsilon 1.  The peer is started with $PRIVET_PYTHON (default python3) if it
 * has dp_accounting; otherwise its time as recorded elsewhere on other hardware is shown, marked so.
 *
 * Then the whole documented range, Gaussian, Laplace and selection under zero-out, by the best accountant: the
 * slowest question, and the one that takes most memory (aim: 2 s of processor time, 1 GB).
 *
 *   bench_pld [rounds] [peer script] */
#include "acct/acct.h"

#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct timing {
    double least, median;
} timing;

typedef void (*work)(pv_ctx *ctx, const pv_event *ev, pvi_cost *c, double *z);

static void account(pv_ctx *ctx, const pv_event *ev, pvi_cost *c, double *z)
{
    *z = 1.1;
    if (pvi_account(ctx, "pld", PV_REL_ZERO_OUT, ev, 1e-5, c) != PV_OK) abort();
}

static void calibrate(pv_ctx *ctx, const pv_event *ev, pvi_cost *c, double *z)
{
    if (pvi_calibrate(ctx, "pld", PV_REL_ZERO_OUT, ev, 1.0, 1e-5, z, c) != PV_OK) abort();
    *z *= 1.1;
}

static timing run(work f, int rounds, pv_ctx *ctx, const pv_event *ev, pvi_cost *c, double *z)
{
    double t[1000];
    for (int i = 0; i < rounds; i++) {
        const double start = seconds();
        f(ctx, ev, c, z);
        t[i] = seconds() - start;
    }
    qsort(t, (size_t)rounds, sizeof *t, compare);
    return (timing) { t[0], t[rounds / 2] };
}

/* Times of the peer: account, calibrate; false: recorded ones. */
static bool peer(const char *script, double out[2], double value[2])
{
    char line[256], name[64];
    const char *python = getenv("PRIVET_PYTHON");
    snprintf(line, sizeof line, "%s %s 2>/dev/null", python ? python : "python3", script);
    FILE *f = popen(line, "r");
    int n = 0;
    for (double t, v; f && n < 2 && fgets(line, sizeof line, f);)
        if (sscanf(line, "%63s %lf %lf", name, &t, &v) == 3) out[n] = t, value[n++] = v;
    if (f) pclose(f);
    return n == 2;
}

/* ---- the whole range ---------------------------------------------------------------------------------------- */

typedef struct meter {
    size_t live, peak;
} meter;

static void *get(void *self, size_t n)
{
    meter *m = self;
    size_t *p = malloc(n + 64);
    if (!p) return NULL;
    *p = n;
    m->live += n;
    m->peak = m->live > m->peak ? m->live : m->peak;
    return p + 8;
}

static void put(void *self, void *p)
{
    size_t *q = (size_t *)p - 8;
    ((meter *)self)->live -= *q;
    free(q);
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct extreme {
    double value;
    char what[160];
} extreme;

static void keep(extreme *x, double value, const char *what)
{
    if (!(value > x->value)) return;
    x->value = value;
    snprintf(x->what, sizeof x->what, "%s", what);
}

typedef struct question {
    pv_ev_kind kind;
    double a, rate, steps, delta;
} question;

static void ask(pv_ctx *ctx, meter *m, const question *q, extreme *slow, extreme *large)
{
    pv_arena *a = pvi_arena_create(ctx);
    char what[160];
    pvi_cost c;
    const pv_event *e = pv_ev_leaf(a, q->kind, q->a, 0);
    if (q->rate < 1) e = pv_ev_sampled(a, PV_EV_POISSON, q->rate, e);
    e = pv_ev_repeat(a, (int64_t)q->steps, e);
    m->peak = m->live;
    const double start = processor_seconds();
    if (pvi_account(ctx, "best", PV_REL_ZERO_OUT, e, q->delta, &c) != PV_OK) abort();
    const double t = processor_seconds() - start;
    snprintf(what, sizeof what, "%s %g, rate %g, %g steps, delta %g: [%g, %g] by %s", pvi_event_name(q->kind), q->a,
             q->rate, q->steps, q->delta, c.epsilon_lower, c.epsilon, c.accountant);
    keep(slow, t, what);
    keep(large, (double)m->peak, what);
    pvi_arena_free(a);
}

static int sweep(void)
{
    enum { EACH = 6 * 6 * 5 * 3, ALL = 3 * EACH };
    static const pv_ev_kind kinds[] = { PV_EV_GAUSSIAN, PV_EV_LAPLACE, PV_EV_SELECT };
    static const double noise[] = { 0.05, 0.3, 1, 10, 100, 1e4 }, rates[] = { 1e-7, 1e-5, 1e-3, 0.03, 0.5, 1 },
                        steps[] = { 1, 30, 1e3, 1e6, 1e9 }, deltas[] = { 1e-3, 1e-10, 1e-30 };
    extreme slow = { 0 }, large = { 0 };
    meter m = { 0 };
    const pv_alloc alloc = { get, put, &m };
    pv_ctx *ctx;
    if (pv_ctx_create(&alloc, &ctx) != PV_OK) return 1;
    for (int i = 0; i < ALL; i++) {
        const pv_ev_kind kind = kinds[i / EACH];
        const double a = kind == PV_EV_SELECT ? 1.0 / noise[i % 6] : noise[i % 6];
        const question q = { kind, a, rates[i / 6 % 6], steps[i / 36 % 5], deltas[i / 180 % 3] };
        ask(ctx, &m, &q, &slow, &large);
    }
    printf("slowest of %d questions over the whole range: %.3f s, %s\n", ALL, slow.value, slow.what);
    printf("largest: %.0f MB, %s\n", 1e-6 * large.value, large.what);
    pv_ctx_free(ctx);
    return 0;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 200;
    double theirs[2] = { 0.57, 1.6 }, value[2] = { 2.38178, 2.02521 }, z;
    pv_ctx *ctx;
    pvi_cost c;
    if (rounds < 1 || rounds > 1000 || pv_ctx_create(NULL, &ctx) != PV_OK) return 1;
    pv_arena *a = pvi_arena_create(ctx);
    const pv_event *step = pv_ev_sampled(a, PV_EV_POISSON, 256.0 / 60000, pv_ev_leaf(a, PV_EV_GAUSSIAN, 1.1, 0));
    const pv_event *ev = pv_ev_repeat(a, 14063, step);
    const bool live = peer(argc > 2 ? argv[2] : "bench/peers/pld_peer.py", theirs, value);
    printf("dp_accounting PLD (%s): epsilon %.6f in %.1f ms; calibrated to %.6f in %.1f ms\n",
           live ? "this run" : "recorded", value[0], 1e3 * theirs[0], value[1], 1e3 * theirs[1]);
    timing t = run(account, rounds, ctx, ev, &c, &z);
    printf("epsilon in [%.6f, %.6f], certified gap %.3f %%: %.3f ms (median %.3f), %.0f x faster\n", c.epsilon_lower,
           c.epsilon, 100 * (c.epsilon - c.epsilon_lower) / c.epsilon, 1e3 * t.least, 1e3 * t.median,
           theirs[0] / t.least);
    t = run(calibrate, rounds / 10 + 1, ctx, ev, &c, &z);
    printf("noise multiplier %.6f for epsilon %.6f: %.3f ms (median %.3f), %.0f x faster\n", z, c.epsilon,
           1e3 * t.least, 1e3 * t.median, theirs[1] / t.least);
    pvi_arena_free(a);
    pv_ctx_free(ctx);
    return sweep();
}
