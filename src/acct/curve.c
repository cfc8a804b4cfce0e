/* curve.c - what a privacy curve delta(eps) means: tests, Gaussians, groups of rows.
 *
 *   (1) trade-off  a test with type I error alpha has type II error at least
 *                  f(alpha) = max_i max(0, 1 - delta_i - e^{eps_i} alpha, e^{-eps_i} (1 - delta_i - alpha))
 *                  Dong, Roth, Su 2022, Prop. 2.12: each point of the curve alone proves its two lines,
 *                  so a finite grid gives a valid, slightly low, bound
 *   (2) mu         Gaussian curves are ordered by mu, so the smallest one above all points is found by
 *                  bisection.  Between and beyond the points nothing is claimed: a fit.
 *   (3) k rows     k neighbouring steps in a row: (k e, sum_{j<k} e^{je} delta(e)), e free
 *                  Vadhan 2017, Lemma 2.2
 *   (4)            without samplers, k rows move a sum by at most k sensitivities: noise divided by k.
 *                  Gaussians on parts of the rows: k_i rows in part i cost sum k_i^2 <= k^2                   */
#include "acct.h"

double pvi_tradeoff(const pvi_curve *c, double alpha)
{
    double f = 0.0;
    for (int64_t i = 0; i < c->n; i++) {
        const double keep = pvi_down(1.0 - c->delta[i], 1), e = c->epsilon[i];
        const double steep = keep - pv_up(pv_up(exp(e), 2) * alpha, 1), flat = pvi_down(exp(-e), 2) * (keep - alpha);
        if (steep > f) f = steep;
        if (flat > f) f = flat;
    }
    return pvi_down(f, 2);
}

static bool dominates(double mu, const pvi_curve *c)
{
    for (int64_t i = 0; i < c->n; i++)
        if (!(pvi_gdp_delta_lb(mu, c->epsilon[i]) >= c->delta[i])) return false;
    return true;
}

double pvi_mu_fit(const pvi_curve *c)
{
    double lo = 0.0, hi = 1e-6;
    if (dominates(0.0, c)) return 0.0;
    for (int i = 0; !dominates(hi, c); i++, lo = hi, hi *= 4.0)
        if (!PVI_ITERATE(MU_RISE, i)) return INFINITY;
    for (int i = 0; PVI_ITERATE(MU_CLOSE, i) && hi - lo > 1e-12 * hi; i++) {
        const double mid = 0.5 * (lo + hi);
        if (dominates(mid, c)) hi = mid;
        else lo = mid;
    }
    return hi;
}

/* ---- k rows ------------------------------------------------------------------------------------------ */

typedef struct rows {
    pv_ctx *ctx;
    const char *accountant;
    pv_relation rel;
    const pv_event *ev;
    double delta, k;
} rows;

/* (3) at e: is the delta of k rows within the target?  false also when the accountant fails; *s says so. */
static bool holds(const rows *q, double e, pv_status *s)
{
    double d;
    *s = pvi_account_delta(q->ctx, q->accountant, q->rel, q->ev, e, &d, NULL);
    if (*s != PV_OK) return false;
    const double sum = e > 0 ? pv_up(expm1(q->k * e) / expm1(e), 6) : q->k;
    return d == 0 || pv_up(sum * d, 1) <= q->delta;
}

/* The smallest e found for which (3) was evaluated and holds. */
static pv_status generic(const rows *q, double start, double *eps)
{
    pv_status s;
    double lo = 0.0, hi = start > 0 ? start : 1e-3;
    if (holds(q, 0.0, &s) || s != PV_OK) return *eps = 0.0, s;
    for (int i = 0; !holds(q, hi, &s); i++, lo = hi, hi *= 1.5) /* from 600 on, e^{ke} nears the largest double */
        if (s != PV_OK || hi * q->k > 600 || !PVI_ITERATE(ROWS_RISE, i)) return *eps = INFINITY, s;
    for (int i = 0; PVI_ITERATE(ROWS_CLOSE, i) && hi - lo > 1e-7 * hi; i++) {
        const double mid = 0.5 * (lo + hi);
        if (holds(q, mid, &s)) hi = mid;
        else lo = mid;
    }
    *eps = pv_up(q->k * hi, 1);
    return PV_OK;
}

static pv_status scalable(void *user, const pvi_term *t)
{
    const bool leaf = t->kind == PV_EV_GAUSSIAN || t->kind == PV_EV_LAPLACE || t->kind == PV_EV_SELECT;
    *(bool *)user |= t->parts;
    return leaf && t->sampler == PV_EV_NONE && (!t->parts || t->kind == PV_EV_GAUSSIAN) ? PV_OK : PV_E_UNSUPPORTED;
}

/* (4); PV_E_UNSUPPORTED when the events are not of that kind. */
static pv_status scaled(const rows *q, pvi_cost *out)
{
    bool parts = false;
    if (pvi_event_each(q->ev, scalable, &parts) != PV_OK) return PV_E_UNSUPPORTED;
    pv_arena *a = pvi_arena_create(q->ctx);
    const pv_event *ev = a ? pvi_event_scale(a, q->ev, pvi_down(1.0 / q->k, 1)) : NULL;
    pv_status s = ev ? pvi_event_check(q->ctx, ev) : pvi_nomem(q->ctx);
    if (ev && s != PV_OK) {
        char why[PVI_RANGE_TEXT];
        snprintf(why, sizeof why, "%s", pv_ctx_errmsg(q->ctx));
        s = pvi_fail(q->ctx, s, "a group of %.0f rows is too large for these events: for all of them together, %s",
                     q->k, why);
    }
    if (s == PV_OK) s = pvi_account(q->ctx, q->accountant, q->rel, ev, q->delta, out);
    pvi_arena_free(a);
    if (parts) out->epsilon_lower = 0.0; /* a part may hold fewer than k rows */
    return s;
}

pv_status pvi_account_rows(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *ev, double delta,
                           int64_t k, pvi_cost *out)
{
    const rows q = { ctx, accountant, rel, ev, delta, (double)k };
    pv_status s = pvi_account(ctx, accountant, rel, ev, delta, out);
    if (s != PV_OK || k == 1 || (s = pvi_within(ctx, PVI_RANGE_GROUP, (double)k)) != PV_OK) return s;
    if ((s = scaled(&q, out)) != PV_E_UNSUPPORTED) return s;
    out->epsilon_lower = 0.0;
    return generic(&q, out->epsilon < INFINITY ? out->epsilon : 1.0, &out->epsilon);
}
