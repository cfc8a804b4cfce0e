/* test_extremes.c - costs over the whole documented range: noise 0.05 .. 10^4, rates 10^-7 .. 1, 1 .. 10^9 steps,
 * delta 10^-3 .. 10^-30, both relations.
 *
 * Every answer is a number, lower <= upper, finite unless no bound can be, and not below what an adversary is known
 * to get, from formulas in long double that share nothing with the accountants:
 *   (1) one step.  With G = 1 + (e^eps - 1)/q, delta(eps) >= q (P0(l > ln G) - G Q0(l > ln G)); more steps cost more.
 *       Selection: two candidates, randomised response with half its epsilon.
 *   (2) Gaussian, T steps: the sum S of the outputs is N(0, T z^2) without the row and N(K, T z^2) with it, K
 *       binomial; P(K >= floor(T q)) >= 1/4 for q >= 1/T (Greenberg, Mohri 2014), so for every t
 *       delta(eps) >= P(K >= k) P(S > t | K = k) - e^eps Q(S > t).
 *   (3) Ball: 1 - (1 - q d)^T, exactly, at every eps.
 * Work is counted, in memory asked for, and never timed. */
#include "acct/acct.h"
#include "pvtest.h"

typedef struct meter {
    size_t live, peak, asked;
} meter;

static void *get(void *self, size_t n)
{
    meter *m = self;
    size_t *p = malloc(n + 64);
    if (!p) return NULL;
    *p = n;
    m->live += n, m->asked += n;
    if (m->live > m->peak) m->peak = m->live;
    return p + 8;
}

static void put(void *self, void *p)
{
    size_t *q = (size_t *)p - 8;
    ((meter *)self)->live -= *q;
    free(q);
}

static long double tail(long double x)
{
    return 0.5L * erfcl(x * 0.707106781186547524400844362104849L);
}

typedef struct leaf {
    pv_ev_kind kind;
    double a, q, steps, delta;
} leaf;

/* (1); 0: nothing is known. */
static long double one_step(const leaf *x, long double eps)
{
    const long double G = 1 + expm1l(eps) / x->q, t = logl(G), a = x->a;
    long double P, Q;
    if (!(G < INFINITY)) return 0;
    if (x->kind == PV_EV_GAUSSIAN) {
        P = tail(a * t - 0.5L / a), Q = tail(a * t + 0.5L / a);
    } else if (x->kind == PV_EV_LAPLACE) {
        if (t >= 1 / a) return 0;
        P = 1 - 0.5L * expl((t - 1 / a) / 2), Q = 0.5L * expl(-(t + 1 / a) / 2);
    } else {
        if (t >= a / 2) return 0;
        P = 1 / (1 + expl(-a / 2)), Q = 1 / (1 + expl(a / 2));
    }
    return x->q * ((P - G * Q) - 1e-17L * P);
}

/* (2) */
static long double by_the_sum(const leaf *x, long double eps)
{
    const long double T = x->steps, s = x->a * sqrtl(T), mean = floorl(T * x->q * (1 + 1e-15L));
    const long double k = x->q == 1 ? T : mean < 1 ? 1 : mean;
    const long double sure = x->q == 1 ? 1 : mean < 1 ? -expm1l(T * log1pl(-(long double)x->q)) : 0.25L;
    long double most = 0;
    if (!(eps < 1e4)) return 0;
    for (int i = 0; i < 400; i++) {
        const long double t = 0.25L * i, d = sure * tail(t - k / s) - expl(eps) * tail(t);
        if (d > most) most = d;
    }
    return most * (1 - 1e-12L);
}

/* (3) */
static void check_ball(const leaf *x, const pvi_cost *c)
{
    const long double tv = -expm1l(x->steps * log1pl(-(long double)x->q * x->a));
    if (tv < x->delta * (1 - 1e-9L)) PVT_CHECK(c->epsilon == 0, "%g", c->epsilon);
    if (tv > x->delta) PVT_CHECK(c->epsilon == INFINITY, "%g", c->epsilon);
}

static meter memory;
static pv_ctx *ctx;
static size_t most_peak, most_asked;

static pvi_cost cost(const leaf *x, pv_relation rel)
{
    pv_arena *arena = pvi_arena_create(ctx);
    const pv_event *e = pv_ev_leaf(arena, x->kind, x->a, 0);
    pvi_cost c;
    if (x->q < 1) e = pv_ev_sampled(arena, PV_EV_POISSON, x->q, e);
    memory.peak = memory.live, memory.asked = 0;
    const pv_status s = pvi_account(ctx, "best", rel, pv_ev_repeat(arena, (int64_t)x->steps, e), x->delta, &c);
    PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(ctx));
    most_peak = memory.peak > most_peak ? memory.peak : most_peak;
    most_asked = memory.asked > most_asked ? memory.asked : most_asked;
    pvi_arena_free(arena);
    PVT_CHECK(c.epsilon >= c.epsilon_lower && c.epsilon_lower >= 0, "[%g, %g]", c.epsilon_lower, c.epsilon);
    return c;
}

#define AT    "kind %d, %g, rate %g, %g steps, delta %g: "
#define WHERE (int)x->kind, x->a, x->q, x->steps, x->delta

static void check(const leaf *x, pv_relation rel)
{
    const pvi_cost c = cost(x, rel);
    if (x->kind == PV_EV_BALL) {
        if (rel == PV_REL_ZERO_OUT) check_ball(x, &c);
        return;
    }
    PVT_CHECK(c.epsilon < INFINITY || c.group_bound, AT "%s says infinity", WHERE, c.accountant);
    if (c.epsilon == INFINITY) return;
    long double known = one_step(x, c.epsilon);
    if (x->kind == PV_EV_GAUSSIAN) known = fmaxl(known, by_the_sum(x, c.epsilon));
    PVT_CHECK(known <= x->delta, AT "at %g, by %s, delta is %Lg at least", WHERE, c.epsilon, c.accountant, known);
    if (x->kind == PV_EV_LAPLACE && x->q == 1)
        PVT_CHECK(c.epsilon <= x->steps / x->a * (1 + 1e-9), AT "%g is above all losses", WHERE, c.epsilon);
    if (c.epsilon_lower > 0 && x->kind == PV_EV_GAUSSIAN && x->q == 1) {
        const long double mu = sqrtl(x->steps) / x->a, e = c.epsilon_lower;
        const long double d = tail(e / mu - mu / 2) - expl(e) * tail(e / mu + mu / 2);
        if (e < 1e4) PVT_CHECK(d >= x->delta * (1 - 1e-6L), AT "lower bound %g: delta is %Lg", WHERE, (double)e, d);
    }
}

static void sweep(pv_ev_kind kind, pv_relation rel, int stride)
{
    static const double noise[] = { 0.05, 1, 30, 1e4 }, rates[] = { 1e-7, 1e-3, 0.3, 1 }, steps[] = { 1, 1e3, 1e9 },
                        deltas[] = { 1e-3, 1e-10, 1e-30 };
    for (int i = 0; i < 144; i += stride) {
        leaf x = { kind, noise[i % 4], rates[i / 4 % 4], steps[i / 16 % 3], deltas[i / 48] };
        if (kind == PV_EV_SELECT) x.a = 1 / x.a;
        if (kind == PV_EV_BALL) x.a = 1e-9 / x.a;
        check(&x, rel);
    }
}

static void gaussian(void **state)
{
    (void)state;
    sweep(PV_EV_GAUSSIAN, PV_REL_ZERO_OUT, 1);
    sweep(PV_EV_GAUSSIAN, PV_REL_REPLACE, 13);
}

static void laplace(void **state)
{
    (void)state;
    sweep(PV_EV_LAPLACE, PV_REL_ZERO_OUT, 5);
    sweep(PV_EV_LAPLACE, PV_REL_REPLACE, 29);
}

static void selection(void **state)
{
    (void)state;
    sweep(PV_EV_SELECT, PV_REL_ZERO_OUT, 5);
    sweep(PV_EV_SELECT, PV_REL_REPLACE, 29);
}

static void ball(void **state)
{
    (void)state;
    sweep(PV_EV_BALL, PV_REL_ZERO_OUT, 1);
    sweep(PV_EV_BALL, PV_REL_REPLACE, 7);
}

static int setup(void **state)
{
    const pv_alloc a = { get, put, &memory };
    (void)state;
    return pv_ctx_create(&a, &ctx) != PV_OK;
}

static int teardown(void **state)
{
    (void)state;
    pv_ctx_free(ctx);
    print_message("most memory at once %.0f MB; most asked for by one question %.0f MB\n", 1e-6 * (double)most_peak,
                  1e-6 * (double)most_asked);
    return memory.live != 0 || most_peak > 1000000000;
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(gaussian), cmocka_unit_test(laplace),
                                      cmocka_unit_test(selection), cmocka_unit_test(ball) };
    return cmocka_run_group_tests(all, setup, teardown);
}
