/* acct_tv.c - total variation: (0, delta) events.
 *
 *   (1) one release      delta of a ball event; of an (0, delta) event
 *   (2) sampled, rate q  q delta: the two outputs are (1-q) A + q B and (1-q) A + q B', whose
 *                        difference is q (B - B') for every sampler and both relations
 *   (3) composition      1 - prod_i (1 - delta_i)^{n_i}: maximal couplings agree step by step with
 *                        probability at least 1 - delta_i; two uniform balls attain it
 *   (4) curve            delta(eps) = delta for every eps: where supports differ no eps helps
 * Honesty  this is exposure with probability delta, not indistinguishability: see the page of this
 *          accountant.  Refuses everything that is not (0, delta). */
#include "acct.h"

typedef struct state {
    double log_keep; /* sum of n ln(1 - delta), rounded down; <= 0 */
} state;

static pv_status add(void *user, const pvi_term *t)
{
    state *s = user;
    const bool pair = t->kind == PV_EV_EPS_DELTA && t->a == 0;
    if (t->kind != PV_EV_BALL && !pair) return PV_E_UNSUPPORTED;
    if (t->sampler != PV_EV_NONE && t->sampler != PV_EV_POISSON && t->sampler != PV_EV_FIXED) return PV_E_UNSUPPORTED;
    const double whole = pair ? t->b : t->a, delta = t->sampler != PV_EV_NONE ? pv_up(t->rate * whole, 1) : whole;
    s->log_keep = pvi_down(s->log_keep + pvi_down((double)t->count * pvi_down(log1p(-delta), 2), 1), 1);
    return PV_OK;
}

static pv_status supports(const void *cfg, pv_relation rel, const pv_event *ev)
{
    state trial = { 0 };
    (void)cfg, (void)rel;
    return pvi_event_each(ev, add, &trial);
}

static pv_status compose(void *st, const void *cfg, pv_relation rel, const pv_event *ev)
{
    state *s = st, trial = *s;
    (void)cfg, (void)rel;
    const pv_status ok = pvi_event_each(ev, add, &trial);
    if (ok == PV_OK) *s = trial;
    return ok;
}

static double total(const state *s)
{
    const double delta = pv_up(-expm1(s->log_keep), 2); /* (3) */
    return delta < 1.0 ? delta : 1.0;
}

static pv_status epsilon_ub(const void *st, const void *cfg, double delta, double *eps)
{
    (void)cfg;
    if (!(delta >= 0 && delta < 1)) return PV_E_ARG;
    *eps = total(st) <= delta ? 0.0 : INFINITY;
    return PV_OK;
}

static pv_status delta_ub(const void *st, const void *cfg, double eps, double *delta)
{
    (void)cfg;
    if (!(eps >= 0)) return PV_E_ARG;
    *delta = total(st); /* (4) */
    return PV_OK;
}

const pv_accountant_ops pv_accountant_tv = {
    .head = { .name = "tv",
              .summary = "total variation, (0, delta)",
              .reference = "maximal coupling; incomplete beta function for balls, DLMF 8.17",
              .state_size = sizeof(state),
              .params = pv_no_params },
    .supports = supports,
    .compose = compose,
    .epsilon_ub = epsilon_ub,
    .delta_ub = delta_ub,
};
