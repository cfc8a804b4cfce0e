/* acct_rdp.c - Renyi differential privacy, at the order that is best for the question asked.
 *
 * K(m) = m D_{1+m} of the whole run is the sum of its terms' K, times their counts (Mironov 2017,
 * Prop. 1).  Each term, with alpha = 1 + m:
 *   (1) Gaussian                          m alpha/(2 z^2)                           Prop. 7
 *   (2) Laplace, eps = 1/scale            ln(1 + (alpha e2(m eps) + m e2(-alpha eps))/(alpha + m)),
 *                                         e2(x) = e^x - 1 - x: Prop. 6 without its cancellation
 *   (3) pure eps                          ln(1 + 2 sinh^2(m eps/2) + sinh(m eps) tanh(eps/2)):
 *                                         randomised response, of which every eps-DP pair is a
 *                                         post-processing (Kairouz, Oh, Viswanath 2015, Thm 2.5)
 *   (4) selection, eps-bounded range      min(m alpha eps^2/8, -alpha ln w + ln((w0 - c)/(m (1 - w0)))),
 *                                         w0 = e^-eps, c = e^{-alpha eps}, w = alpha (w0 - c)/(m (1 - c)):
 *                                         the log-ratio lies in [t - eps, t], the worst law has two
 *                                         points, and w = e^-t is the worst t
 *   (5) Poisson-sampled Gaussian          zero-out: renyi_poisson.c
 *   (6) Gaussian on a fixed-size sample   replace: renyi_replace.c
 *   (7) pure eps on a sample of rate q    (3) with ln(1 + q (e^eps - 1)): Balle, Barthe, Gaboardi 2018,
 *                                         Thm 8 (Poisson, zero-out), Thm 9 (fixed size, replace)
 * Refuses   the other pairs of sampler and relation, (eps, delta > 0), balls.
 * Orders    found by pvi_minimize: any order is valid, none is exposed.
 * Memory    TERMS different terms.  Beyond that, parameters are snapped to a geometric grid on the
 *           safe side (less noise, higher rate) just wide enough for half of them to coincide, so
 *           memory is bounded whatever the schedule.
 * Time      the terms of the sums behind (5) and (6) are counted.  Once WORK of them were spent on one question,
 *           Gaussians cost what they cost without sampling, (1), which is never less. */
#include "acct.h"

enum { TERMS = 256 };
#define WORK 4e7 /* about two seconds */

typedef struct item {
    pv_ev_kind kind; /* GAUSSIAN, LAPLACE, SELECT or EPS_DELTA (pure) */
    bool fixed;      /* a fixed-size sample under replace, else Poisson or none */
    double a, rate, count;
} item;
typedef struct state {
    int n;
    double width; /* 0: items are exact; else of the grid they were snapped to */
    item items[TERMS];
    struct state *self; /* for counting work in answers to questions, which leave the rest alone */
    double work;
} state;

/* ---- one term ------------------------------------------------------------------------------------ */

static double smaller(double x, double y)
{
    return x < y ? x : y;
}

static double e2(double x)
{
    if (fabs(x) > 0.5) return expm1(x) - x;
    double term = 0.5 * x * x, sum = term;
    for (int k = 3; PVI_ITERATE(SERIES, k) && fabs(term) > 0x1p-56 * sum; k++) sum += term *= x / k;
    return sum;
}

static double pure(double eps, double m)
{
    const double x = m * eps, sh = sinh(0.5 * x);
    if (x > 600) return pv_up(x, 1) - pvi_down(log1p(exp(-eps)), 2); /* (3) without its vanishing part */
    return pv_up(log1p(2.0 * sh * sh + sinh(x) * tanh(0.5 * eps)), 16);
}

static double laplace(double eps, double m)
{
    const double alpha = 1.0 + m, x = m * eps;
    if (x > 600) return pv_up(x, 1) - pvi_down(log1p(m / alpha), 2); /* likewise; e^-600 is below an ulp of x */
    return pv_up(log1p((alpha * e2(x) + m * e2(-alpha * eps)) / (alpha + m)), 16); /* (2) */
}

static double selection(double eps, double m)
{
    const double alpha = 1.0 + m, square = pv_up(0.125 * m * alpha * eps * eps, 3), linear = pv_up(m * eps, 1);
    const double plain = smaller(square, linear);
    if (eps < 0.1 || eps > 300 || m * eps > 600) return plain; /* the exact form would cancel or underflow */
    const double gap = exp(-eps) * -expm1(-m * eps);           /* w0 - c */
    const double ln_w = log(alpha * gap / (m * -expm1(-alpha * eps)));
    const double a = -alpha * ln_w, b = log(gap / (m * -expm1(-eps)));
    const double K = a + b + 0x1p-49 * (fabs(a) + fabs(b) + alpha + 4.0); /* (4) */
    return smaller(K, plain);
}

static double term_work(const item *t, double m)
{
    if (t->kind != PV_EV_GAUSSIAN || !(t->rate < 1)) return 1.0;
    return t->fixed ? pvi_renyi_replace_work(m) : pvi_renyi_poisson_work(t->a);
}

static double term_K(const item *t, double m, bool sample)
{
    if (t->kind == PV_EV_GAUSSIAN && t->rate < 1 && sample)
        return t->fixed ? pvi_renyi_replace(t->a, t->rate, m) : pvi_renyi_poisson(t->a, t->rate, m);
    switch (t->kind) {
    case PV_EV_GAUSSIAN: return pv_up(m * (1.0 + m) / (2.0 * t->a * t->a), 4); /* (1) */
    case PV_EV_LAPLACE: return laplace(pvi_div_up(1.0, t->a), m);
    case PV_EV_SELECT: return selection(t->a, m);
    default: return pure(t->a, m);
    }
}

/* ---- the list ------------------------------------------------------------------------------------- */

/* The pure epsilon of a term; sampled ones by (7). */
static double pure_epsilon(const pvi_term *t)
{
    const double eps = t->kind == PV_EV_LAPLACE ? pvi_div_up(1.0, t->a) : t->a;
    if (t->sampler == PV_EV_NONE) return eps;
    return smaller(pv_up(log1p(t->rate * expm1(eps)), 4), eps); /* the latter when expm1 overflows */
}

/* More noise is a smaller epsilon, or a larger multiplier; a higher rate is worse. */
static item coarse(item t, double width)
{
    t.a = pvi_snap(t.a, width, t.kind == PV_EV_EPS_DELTA || t.kind == PV_EV_SELECT);
    if (t.rate < 1) t.rate = pvi_snap(t.rate, width, true);
    if (t.rate >= 1) t.rate = 1.0, t.fixed = false; /* every row in every sample: no sampling */
    return t;
}

static bool join(state *s, const item *t)
{
    for (int i = 0; i < s->n; i++) {
        item *x = &s->items[i];
        if (x->kind != t->kind || x->fixed != t->fixed || x->a != t->a || x->rate != t->rate) continue;
        x->count = pv_up(x->count + t->count, 1);
        return true;
    }
    return false;
}

/* Snaps all items to ever wider grids until half the room is free. */
static void compact(state *s)
{
    while (s->n > TERMS / 2) {
        const int n = s->n;
        s->width = s->width > 0 ? 2.0 * s->width : 0x1p-20;
        s->n = 0;
        for (int i = 0; i < n; i++) {
            const item t = coarse(s->items[i], s->width);
            if (!join(s, &t)) s->items[s->n++] = t;
        }
    }
}

static pv_status put(state *s, item t)
{
    if (s->width > 0) t = coarse(t, s->width);
    if (join(s, &t)) return PV_OK;
    if (s->n == TERMS) {
        compact(s);
        return put(s, t);
    }
    s->items[s->n++] = t;
    return PV_OK;
}

typedef struct adding {
    state *s;
    pv_relation rel;
} adding;

static pv_status add(void *user, const pvi_term *t)
{
    adding *w = user;
    item i = { .kind = t->kind, .a = t->a, .rate = 1.0, .count = (double)t->count };
    if (!pvi_amplified(t, w->rel)) return PV_E_UNSUPPORTED;
    switch (t->kind) {
    case PV_EV_GAUSSIAN:
        i.rate = t->rate;
        i.fixed = t->sampler == PV_EV_FIXED; /* (5), (6) */
        return put(w->s, i);
    case PV_EV_EPS_DELTA:
        if (t->b > 0) return PV_E_UNSUPPORTED;
        if (t->a == 0) return PV_OK;
        break;
    case PV_EV_LAPLACE:
    case PV_EV_SELECT: break;
    default: return PV_E_UNSUPPORTED;
    }
    if (t->sampler != PV_EV_NONE || t->kind == PV_EV_EPS_DELTA) {
        i.kind = PV_EV_EPS_DELTA;
        i.a = pure_epsilon(t); /* (7) */
    }
    return put(w->s, i);
}

static pv_status supports(const void *cfg, pv_relation rel, const pv_event *ev)
{
    state trial = { 0 };
    (void)cfg;
    return pvi_event_each(ev, add, &(adding) { &trial, rel });
}

static pv_status compose(void *st, const void *cfg, pv_relation rel, const pv_event *ev)
{
    state *s = st, trial = *s;
    (void)cfg;
    const pv_status ok = pvi_event_each(ev, add, &(adding) { &trial, rel });
    if (ok != PV_OK) return ok;
    *s = trial;
    s->self = s;
    return PV_OK;
}

/* ---- questions ---------------------------------------------------------------------------------------- */

static double total_rdp(const void *user, double m)
{
    const state *s = user;
    double K = 0.0, work = 0.0;
    if (s->n == 0) return 0.0; /* nothing composed */
    for (int i = 0; i < s->n; i++) work += term_work(&s->items[i], m);
    const bool sample = s->self->work + work <= WORK;
    if (sample) s->self->work += work;
    for (int i = 0; i < s->n; i++) K = pv_up(K + pv_up(s->items[i].count * term_K(&s->items[i], m, sample), 1), 1);
    return pv_up(K / m, 1);
}

/* rho such that m D = rho m (1 + m), roughly and without sampling: where to start looking. */
static double scale(const state *s)
{
    double rho = 0.0;
    for (int i = 0; i < s->n; i++) {
        const item *t = &s->items[i];
        const bool epsilon = t->kind == PV_EV_SELECT || t->kind == PV_EV_EPS_DELTA;
        rho += 0.5 * t->count * (epsilon ? t->a * t->a : 1.0 / (t->a * t->a));
    }
    return rho;
}

static pv_status epsilon_ub(const void *st, const void *cfg, double delta, double *eps)
{
    (void)cfg;
    if (!(delta >= 0 && delta < 1)) return PV_E_ARG;
    *eps = pvi_rdp_epsilon(total_rdp, st, delta, sqrt(-log(delta) / scale(st)));
    return PV_OK;
}

static pv_status delta_ub(const void *st, const void *cfg, double eps, double *delta)
{
    const double rho = scale(st);
    (void)cfg;
    if (!(eps >= 0)) return PV_E_ARG;
    *delta = pvi_rdp_delta(total_rdp, st, eps, eps > rho ? 0.5 * (eps - rho) / rho : 1.0);
    return PV_OK;
}

const pv_accountant_ops pv_accountant_rdp = {
    .head = { .name = "rdp",
              .summary = "Renyi differential privacy, samplers included",
              .reference = "Mironov 2017; Mironov-Talwar-Zhang 2019; Wang-Balle-Kasiviswanathan 2019",
              .state_size = sizeof(state),
              .params = pv_no_params },
    .supports = supports,
    .compose = compose,
    .epsilon_ub = epsilon_ub,
    .delta_ub = delta_ub,
};
