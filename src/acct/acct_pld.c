/* acct_pld.c - privacy loss distributions: certified upper and lower epsilon, tight for every event with a known
 * dominating pair.
 *
 *   pld_pair.c     the pairs: Gaussian, Laplace, selection, (eps, delta), ball; sampled with probability q,
 *                  both directions of zero-out
 *   pld_mass.c     one step on a lattice, from above (connect the dots) and, with pld_below.c, from below
 *   pld_compose.c  composition: tilted, by a few Fourier coefficients or an FFT, all errors bounded
 *   pld_plan.c     tilt, cells, lattice, window: how tight and how fast, never whether it is true
 *   pld_bracket.c  delta(eps) inverted
 *
 * Relation  without sampling an event's parameter refers to the relation in use.  Poisson sampling: zero-out
 *           only (the pairs of pld_pair.c (5), (6) are those of adding and removing a row).
 * Refuses   fixed-size samples, events of unknown kind, more than 2^53 releases that are not plain Gaussians,
 *           and more different terms than a grid of ratio e can merge.
 * Errors    discretisation, truncation, wrapping and rounding all go to the safe side; each file derives its own.
 * Memory    Gaussians without sampling are one term, whatever their number.  Beyond TERMS different terms,
 *           parameters are snapped to a geometric grid on the safe side just wide enough for half of them to
 *           coincide.  A grid's width is twice that of the one before, so the widths used so far add up to less
 *           than 2 w, w the last, and a parameter has moved by a factor of e^{2w} at most: (1) slack = e^{2w} - 1.
 *           Lower bounds use that end.
 * Reference Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022; Zhu, Dong, Wang 2022, Thm 10, 11. */
#include "acct.h"
#include "pld.h"

enum { TERMS = 256 };
#define WIDTH_MAX       1.0
#define PRECISION_LEAST 1e-5               /* a claim is rounded up in its sixth digit */
#define COUNT_MAX       ((int64_t)1 << 53) /* counts must be exact as doubles */

typedef struct cfg {
    double precision;
} cfg;

static const pv_param params[] = {
    { "precision", PV_F64, offsetof(cfg, precision), PVI_PLD_TOLERANCE, PRECISION_LEAST, 0.01, true,
      "wanted gap between upper and lower bound, relative to epsilon", NULL },
    { 0 },
};

typedef struct state {
    pv_ctx *ctx; /* borrowed */
    int n;
    int64_t count;       /* of all terms, COUNT_MAX at most, so that joining them cannot overflow */
    double width;        /* 0: terms are exact; else of the grid they were snapped to */
    double mu_lo, mu_hi; /* mu^2 = sum n/z^2 of the Gaussians without sampling       */
    pvi_pld_term term[TERMS];
    struct state *self; /* for what answers to questions keep: the last one, as upper and lower bound come together */
    double delta, ub, lb;
    double work;         /* of all answers so far */
    double at, delta_at; /* delta_at bounds delta from epsilon `at` on; 0: no answer yet */
} state;

/* ---- the list -------------------------------------------------------------------------------------------- */

static pvi_pld_term coarse(pvi_pld_term t, double width)
{
    const bool noise = t.kind == PV_EV_GAUSSIAN || t.kind == PV_EV_LAPLACE;
    t.a = pvi_snap(t.a, width, !noise);
    t.b = pvi_pld_min(pvi_snap(t.b, width, true), 1.0);
    if (t.kind == PV_EV_BALL) t.a = pvi_pld_min(t.a, 1.0);
    if (t.rate < 1.0) t.rate = pvi_pld_min(pvi_snap(t.rate, width, true), 1.0 - 0x1p-53); /* stays a sampled event */
    t.slack = expm1(2.0 * width) * (1.0 + 1e-6) + 0x1p-36; /* (1), and roundings of every grid */
    return t;
}

static bool join(state *s, const pvi_pld_term *t)
{
    for (int i = 0; i < s->n; i++) {
        pvi_pld_term *x = &s->term[i];
        if (x->kind != t->kind || x->a != t->a || x->b != t->b || x->rate != t->rate) continue;
        x->count += t->count;
        return true;
    }
    return false;
}

/* Snaps all terms to ever wider grids until half the room is free. */
static pv_status compact(state *s)
{
    while (s->n > TERMS / 2) {
        const int n = s->n;
        s->width = s->width > 0 ? 2.0 * s->width : 0x1p-20;
        if (s->width > WIDTH_MAX) return PV_E_UNSUPPORTED;
        s->n = 0;
        for (int i = 0; i < n; i++) {
            const pvi_pld_term t = coarse(s->term[i], s->width);
            if (!join(s, &t)) s->term[s->n++] = t;
        }
    }
    return PV_OK;
}

static pv_status put(state *s, pvi_pld_term t)
{
    if (t.count > COUNT_MAX - s->count) return PV_E_UNSUPPORTED;
    const pv_status ok = s->n == TERMS ? compact(s) : PV_OK;
    if (ok != PV_OK) return ok;
    if (s->width > 0) t = coarse(t, s->width);
    if (!join(s, &t)) s->term[s->n++] = t;
    s->count += t.count;
    return PV_OK;
}

typedef struct adding {
    state *s;
    pv_relation rel;
} adding;

static pv_status add(void *user, const pvi_term *t)
{
    const adding *w = user;
    pvi_pld_term p = { .kind = t->kind, .a = t->a, .rate = t->rate, .slack = 0x1p-44, .count = t->count };
    if (!pvi_amplified(t, w->rel) || t->sampler == PV_EV_FIXED) return PV_E_UNSUPPORTED;
    switch (t->kind) {
    case PV_EV_GAUSSIAN:
        if (t->rate < 1.0) break;
        const double x = (double)t->count / (t->a * t->a); /* two roundings */
        w->s->mu_lo = pvi_down(w->s->mu_lo + pvi_down(x, 2), 1);
        w->s->mu_hi = pv_up(w->s->mu_hi + pv_up(x, 2), 1);
        return PV_OK;
    case PV_EV_EPS_DELTA: p.b = t->b; break;
    case PV_EV_LAPLACE:
    case PV_EV_SELECT:
    case PV_EV_BALL: break;
    default: return PV_E_UNSUPPORTED;
    }
    const double e0 = t->kind == PV_EV_LAPLACE ? 1.0 / t->a : t->kind == PV_EV_GAUSSIAN ? 0.0 : t->a;
    if (t->rate < 1.0 && e0 > 500.0) return PV_E_UNSUPPORTED; /* e^e0 leaves the range; sampling hides nothing */
    return p.a > 0 || p.b > 0 ? put(w->s, p) : PV_OK;
}

static pv_status supports(const void *cfg_, pv_relation rel, const pv_event *ev)
{
    state trial = { 0 };
    (void)cfg_;
    return pvi_event_each(ev, add, &(adding) { &trial, rel });
}

static void open(void *st, pv_ctx *ctx)
{
    ((state *)st)->ctx = ctx;
}

static pv_status compose(void *st, const void *cfg_, pv_relation rel, const pv_event *ev)
{
    state *s = st, trial = *s;
    (void)cfg_;
    const pv_status ok = pvi_event_each(ev, add, &(adding) { &trial, rel });
    if (ok != PV_OK) return ok;
    *s = trial;
    s->self = s;
    s->delta = s->delta_at = 0; /* no answer yet */
    return PV_OK;
}

/* ---- questions ---------------------------------------------------------------------------------------------- */

/* All terms; the Gaussians without sampling as one, whose multiplier is known to within its slack. */
static int64_t gather(const state *s, pvi_pld_term *t)
{
    int64_t n = s->n;
    memcpy(t, s->term, (size_t)n * sizeof *t);
    if (s->mu_hi > 0) {
        const double z = pvi_down(1.0 / pv_up(sqrt(s->mu_hi), 1), 1);
        t[n++] = (pvi_pld_term) { PV_EV_GAUSSIAN, z, 0, 1.0, s->mu_hi / s->mu_lo - 1.0 + 0x1p-44, 1 };
    }
    return n;
}

/* Largest loss of one step: an answer for delta = 0, or INFINITY. */
static double pure(const pvi_pld_term *t, bool low)
{
    pvi_pld_pair x;
    if (t->kind == PV_EV_GAUSSIAN) return INFINITY;
    double most = 0;
    for (int add = 0; add < 2; add++) {
        double lo, hi;
        pvi_pld_pair_init(&x, t, add, low, 0x1p-60);
        pvi_pld_pair_range(&x, 0.5, &lo, &hi);
        if (x.top > 0) return INFINITY;
        most = pvi_pld_max(most, hi);
    }
    return most * (low ? 1.0 - 0x1p-40 : 1.0 + 0x1p-40);
}

static void pure_bounds(const pvi_pld_term *t, int64_t n, double *ub, double *lb)
{
    *ub = *lb = 0;
    for (int64_t e = 0; e < n; e++) {
        *ub = pv_up(*ub + pv_up((double)t[e].count * pure(&t[e], false), 1), 1);
        *lb = pvi_down(*lb + pvi_down((double)t[e].count * pure(&t[e], true), 1), 1);
    }
}

static pv_status answer(const state *s, const cfg *c, double delta, double *ub, double *lb)
{
    pvi_pld_term t[TERMS + 1];
    const int64_t n = gather(s, t);
    if (!(delta >= 0 && delta < 1)) return PV_E_ARG;
    if (delta == 0 || !s->self) return pure_bounds(t, n, ub, lb), PV_OK; /* no self: nothing was composed */
    if (s->delta == delta) return *ub = s->ub, *lb = s->lb, PV_OK;
    const pv_status ok = pvi_pld_epsilon(s->ctx, t, n, delta, c->precision, &s->self->work, ub, lb);
    if (ok == PV_OK && !(*ub >= *lb)) return PV_E_NUMERIC; /* one of the two is wrong: neither is claimed */
    if (ok == PV_OK) s->self->delta = delta, s->self->ub = *ub, s->self->lb = *lb;
    return ok;
}

static pv_status epsilon_ub(const void *st, const void *cfg_, double delta, double *eps)
{
    double lb;
    return answer(st, cfg_, delta, eps, &lb);
}

static pv_status epsilon_lb(const void *st, const void *cfg_, double delta, double *eps)
{
    double ub;
    return answer(st, cfg_, delta, &ub, eps);
}

static pv_status delta_ub(const void *st, const void *cfg_, double eps, double *delta)
{
    const state *s = st;
    const cfg *c = cfg_;
    pvi_pld_term t[TERMS + 1];
    const int64_t n = gather(s, t);
    if (!(eps >= 0)) return PV_E_ARG;
    if (!s->self) return *delta = 0.0, PV_OK;
    /* delta never grows with eps, infinity included; so when no more work may be done, the last answer below holds */
    const pv_status ok =
        pvi_pld_delta(s->ctx, t, n, fmin(eps, PVI_EPSILON_MOST), c->precision, &s->self->work, delta);
    if (ok == PV_OK) s->self->at = eps, s->self->delta_at = *delta;
    if (ok != PV_E_NUMERIC || !(s->delta_at > 0 && eps >= s->at)) return ok;
    return *delta = s->delta_at, PV_OK;
}

/* ---- the same question, answered more tightly ----------------------------------------------------------------- */

pv_status pvi_pld_within(pv_ctx *ctx, pv_relation rel, const pv_event *ev, double delta, double tolerance,
                         double *eps)
{
    pvi_pld_term t[TERMS + 1];
    double lb;
    *eps = INFINITY;
    state *s = pvi_alloc(ctx, sizeof *s);
    if (!s) return pvi_nomem(ctx);
    open(s, ctx);
    pv_status ok = delta > 0 ? compose(s, NULL, rel, ev) : PV_E_ARG;
    if (ok == PV_OK) ok = pvi_pld_epsilon(ctx, t, gather(s, t), delta, tolerance, &s->work, eps, &lb);
    if (ok == PV_OK && !(*eps >= lb)) ok = PV_E_NUMERIC;
    if (ok != PV_OK) *eps = INFINITY;
    pvi_free(ctx, s);
    return ok;
}

const pv_accountant_ops pv_accountant_pld = {
    .head = { .name = "pld",
              .summary = "privacy loss distributions, certified from above and below",
              .reference = "Doroshenko et al. 2022, Thm 8; Zhu-Dong-Wang 2022, Thm 10, 11",
              .state_size = sizeof(state),
              .cfg_size = sizeof(cfg),
              .params = params },
    .supports = supports,
    .compose = compose,
    .epsilon_ub = epsilon_ub,
    .delta_ub = delta_ub,
    .epsilon_lb = epsilon_lb,
    .open = open,
};
