/* calibrate.c - the smallest noise whose certified cost meets a target.
 *
 * cost(s) = epsilon of the events with all noise multiplied by s, at delta.  It falls as s rises.
 * Roughly cost ~ s^-1 for small costs and s^-2 for large ones, so ln cost against ln s is close to
 * a line: a bracket is found by following that line, then shrunk by the Illinois variant of false
 * position, a few evaluations.  Only an s whose cost was evaluated and is at most the target is
 * ever returned, so neither monotonicity nor convergence is trusted.
 * The search starts where the central limit puts it: sampled with rate q, a Gaussian of multiplier z counts about
 * (1) mu^2 = q^2 (e^(1/z^2) - 1), and n of them n times that (Bu, Dong, Long, Su 2020). */
#include "acct.h"

#define TOLERANCE 5e-7 /* relative, on s; half of what is promised */
#define U_MAX     92.0 /* ln s: noise times or over 10^40; no range is wider */

typedef struct search {
    pv_ctx *ctx;
    const char *accountant;
    pv_relation rel;
    const pv_event *before, *ev; /* before: NULL, or events whose noise stays as it is */
    double epsilon, delta;
    double least, most; /* ln s: all noise stays within its range */
} search;

static bool scalable(const pv_event *e)
{
    if (e->kind == PV_EV_GAUSSIAN || e->kind == PV_EV_LAPLACE || e->kind == PV_EV_SELECT) return true;
    if (e->kind == PV_EV_REPEAT && e->n == 0) return false;
    for (const pv_event *p = e->sub; p; p = e->kind == PV_EV_SEQ ? p->next : NULL)
        if (scalable(p)) return true;
    return false;
}

/* Noise in its range for ln s in [least, most]; a selection's epsilon is divided by s. */
static void reach(search *q, const pv_event *e)
{
    const bool selects = e->kind == PV_EV_SELECT;
    if (e->kind == PV_EV_GAUSSIAN || e->kind == PV_EV_LAPLACE || selects) {
        const pvi_range *r = &pvi_ranges[selects                    ? PVI_RANGE_SELECT
                                         : e->kind == PV_EV_LAPLACE ? PVI_RANGE_SCALE
                                                                    : PVI_RANGE_NOISE];
        const double inside = 1e-9, lo = log(selects ? e->a / r->most : r->least / e->a) + inside;
        q->least = fmax(q->least, lo);
        q->most = fmin(q->most, log(selects ? e->a / r->least : r->most / e->a) - inside);
    }
    for (const pv_event *p = e->sub; p; p = e->kind == PV_EV_SEQ ? p->next : NULL) reach(q, p);
}

static pv_status cost_at(const search *q, double s, pvi_cost *c)
{
    pv_arena *a = pvi_arena_create(q->ctx);
    const pv_event *both[2] = { q->before, a ? pvi_event_scale(a, q->ev, s) : NULL };
    const pv_event *ev = both[0] && both[1] ? pv_ev_seq(a, 2, both) : both[1];
    const pv_status ok = ev ? pvi_account(q->ctx, q->accountant, q->rel, ev, q->delta, c) : pvi_nomem(q->ctx);
    pvi_arena_free(a);
    return ok;
}

/* ln(cost/target), kept finite: a cost of 0 or infinity still says on which side s lies. */
static double excess(const search *q, const pvi_cost *c)
{
    const double x = log(c->epsilon / q->epsilon);
    return x > 50 ? 50 : x < -50 ? -50 : x;
}

typedef struct bracket {
    double lo, hi;   /* ln s: too little noise, enough noise */
    double flo, fhi; /* excess there: > 0, <= 0              */
    pvi_cost cost;   /* at hi                                */
    double s;        /* exactly the s evaluated at hi        */
} bracket;

typedef struct limit {
    double s, mu2;
    bool known; /* nothing but Gaussians so far */
    bool group; /* accounted for as two zero-out steps (account.c (1)) */
} limit;

static pv_status add_limit(void *user, const pvi_term *t)
{
    limit *l = user;
    const double z = t->a * l->s;
    l->known &= t->kind == PV_EV_GAUSSIAN;
    l->group |= t->sampler == PV_EV_POISSON;
    l->mu2 +=
        (double)t->count * t->rate * t->rate * (t->rate < 1.0 ? expm1(fmin(1.0 / (z * z), 500.0)) : 1.0 / (z * z));
    return PV_OK;
}

/* ln s by (1); 0 where it says nothing. */
static double central_limit(const search *q)
{
    limit l = { .s = 1.0, .known = true };
    double mu, lo = -U_MAX, hi = U_MAX;
    if (q->ev->kind == PV_EV_GAUSSIAN || pvi_event_each(q->ev, add_limit, &l) != PV_OK || !l.known) return 0.0;
    limit before = { .s = 1.0, .known = true };
    if (q->before && (pvi_event_each(q->before, add_limit, &before) != PV_OK || !before.known)) return 0.0;
    const bool group = l.group && q->rel == PV_REL_REPLACE;
    const double e = group ? 0.5 * q->epsilon : q->epsilon, d = group ? q->delta / (1.0 + exp(e)) : q->delta;
    if (!(d > 0.0) || pvi_gaussian_mu(q->ctx, q->rel, e, d, &mu) != PV_OK) return 0.0;
    for (int i = 0; PVI_ITERATE(CALIBRATE_START, i) && hi - lo > 1e-6; i++) {
        l = (limit) { .s = exp(0.5 * (lo + hi)), .mu2 = before.mu2 };
        pvi_event_each(q->ev, add_limit, &l);
        *(l.mu2 > mu * mu ? &lo : &hi) = 0.5 * (lo + hi);
    }
    return hi;
}

/* Doubles the stride in ln s each time; starts with the stride the power law suggests. */
static pv_status find_bracket(const search *q, bracket *b)
{
    double u = fmin(fmax(central_limit(q), q->least), q->most), stride = 0.0;
    bool above = false, below = false;
    for (int i = 0; PVI_ITERATE(CALIBRATE_FIND, i); i++) {
        pvi_cost c;
        const double s = exp(u);
        const pv_status ok = cost_at(q, s, &c);
        if (ok != PV_OK) return ok;
        const double f = excess(q, &c);
        if (f > 0) b->lo = u, b->flo = f, above = true;
        else b->hi = u, b->fhi = f, b->cost = c, b->s = s, below = true;
        if (above && below) return PV_OK;
        if (f > 0 ? u >= q->most : u <= q->least) break;
        stride = stride == 0 ? 1.1 * fabs(f) + 1e-5 : 2 * stride;
        u = fmin(fmax(u + (f > 0 ? stride : -stride), q->least), q->most);
    }
    if (below) { /* even next to no noise is enough */
        b->lo = b->hi;
        return PV_OK;
    }
    return pvi_fail(q->ctx, PV_E_BUDGET, "no amount of noise reaches epsilon %g at delta %g for these events",
                    q->epsilon, q->delta);
}

/* False position with halved values (Illinois).  Each guess is moved a little past itself, to the side
 * that is still open: from the safe side to find how little is too little, and the other way round, so
 * that both ends close in; and never onto an end, where the cost is known. */
static pv_status shrink(const search *q, bracket *b)
{
    int safe = -1; /* the last guess: -1 none, 0 too little noise, 1 enough */
    for (int i = 1; PVI_ITERATE(CALIBRATE_CLOSE, i) && b->hi - b->lo > TOLERANCE; i++) {
        const double edge = 0.4 * TOLERANCE, guess = (b->lo * b->fhi - b->hi * b->flo) / (b->fhi - b->flo);
        double u = fmin(fmax(guess + (safe == 1 ? -edge : edge), b->lo + edge), b->hi - edge);
        if (i % 6 == 0) u = 0.5 * (b->lo + b->hi); /* when it stalls */
        pvi_cost c;
        const double s = exp(u);
        const pv_status ok = cost_at(q, s, &c);
        if (ok != PV_OK) return ok;
        const double f = excess(q, &c);
        if (f > 0) {
            b->lo = u, b->flo = f;
            if (safe == 0) b->fhi *= 0.5;
        } else {
            b->hi = u, b->fhi = f, b->cost = c, b->s = s;
            if (safe == 1) b->flo *= 0.5;
        }
        safe = f <= 0;
    }
    return PV_OK;
}

pv_status pvi_calibrate(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *ev, double epsilon,
                        double delta, double *s, pvi_cost *cost)
{
    return pvi_calibrate_after(ctx, accountant, rel, NULL, ev, epsilon, delta, s, cost);
}

pv_status pvi_calibrate_after(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *before,
                              const pv_event *ev, double epsilon, double delta, double *s, pvi_cost *cost)
{
    search q = { ctx, accountant, rel, before, ev, epsilon, delta, -U_MAX, U_MAX };
    bracket b = { 0 };
    *s = NAN;
    *cost = (pvi_cost) { 0 };
    if (!(epsilon > 0)) return pvi_fail(ctx, PV_E_ARG, "epsilon %g is not positive", epsilon);
    if (!pvi_in_range(PVI_RANGE_EPSILON, epsilon)) /* 0, which an account may ask about, was refused above */
        return pvi_fail(ctx, PV_E_ARG, "epsilon %.10g is not in [%g, %.12g]", epsilon,
                        pvi_ranges[PVI_RANGE_EPSILON].least, pvi_ranges[PVI_RANGE_EPSILON].most);
    pv_status ok = pvi_event_check(ctx, ev);
    if (ok != PV_OK) return ok;
    if (!scalable(ev)) return pvi_fail(ctx, PV_E_ARG, "these events have no noise to calibrate");
    reach(&q, ev);
    if (!(q.least < q.most)) return pvi_fail(ctx, PV_E_ARG, "these events are too far apart to be scaled together");
    if ((ok = find_bracket(&q, &b)) != PV_OK || (ok = shrink(&q, &b)) != PV_OK) return ok;
    *s = b.s;
    *cost = b.cost;
    return PV_OK;
}
