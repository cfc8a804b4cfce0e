/* acct_gaussian.c - exact accounting of Gaussians without sampling.
 *
 *   (1) adaptive composition   mu^2 = sum_i n_i / z_i^2          Dong, Roth, Su 2022, Cor. 3.3
 *   (2) curve                  delta(eps) of one Gaussian of parameter mu, see gdp.c
 *
 * Both relations: z is the standard deviation divided by the sensitivity under the relation in
 * use.  The bound is attained by gradients that differ by exactly the sensitivity, so it is exact
 * and the lower bound is the same number rounded the other way.
 * Refuses   everything that is not an unsampled Gaussian.
 * Rounding  mu^2 is kept as an interval; every operation widens it by its own rounding. */
#include "acct.h"

extern const pv_accountant_ops pv_accountant_gaussian;

typedef struct state {
    double lo, hi; /* mu^2 */
} state;

static pv_status add(void *user, const pvi_term *t)
{
    state *s = user;
    if (t->kind != PV_EV_GAUSSIAN || t->sampler != PV_EV_NONE) return PV_E_UNSUPPORTED;
    const double x = (double)t->count / (t->a * t->a); /* two roundings */
    s->lo = pvi_down(s->lo + pvi_down(x, 2), 1);
    s->hi = pv_up(s->hi + pv_up(x, 2), 1); /* (1) */
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

static pv_status epsilon_ub(const void *st, const void *cfg, double delta, double *eps)
{
    const state *s = st;
    (void)cfg;
    if (!(delta >= 0 && delta < 1)) return PV_E_ARG;
    *eps = pvi_gdp_epsilon_ub(pv_up(sqrt(s->hi), 1), delta); /* (2) */
    return PV_OK;
}

static pv_status epsilon_lb(const void *st, const void *cfg, double delta, double *eps)
{
    const state *s = st;
    (void)cfg;
    if (!(delta >= 0 && delta < 1)) return PV_E_ARG;
    *eps = pvi_gdp_epsilon_lb(pvi_down(sqrt(s->lo), 1), delta);
    return PV_OK;
}

static pv_status delta_ub(const void *st, const void *cfg, double eps, double *delta)
{
    const state *s = st;
    (void)cfg;
    if (!(eps >= 0)) return PV_E_ARG;
    *delta = pvi_gdp_delta_ub(pv_up(sqrt(s->hi), 1), eps);
    return PV_OK;
}

pv_status pvi_gaussian_mu(pv_ctx *ctx, pv_relation rel, double epsilon, double delta, double *mu)
{
    const pv_event one = { .kind = PV_EV_GAUSSIAN, .a = 1.0 };
    pvi_cost cost;
    double z;
    const pv_status s = pvi_calibrate(ctx, pv_accountant_gaussian.head.name, rel, &one, epsilon, delta, &z, &cost);
    if (s == PV_OK) *mu = 1.0 / z;
    return s;
}

const pv_accountant_ops pv_accountant_gaussian = {
    .head = { .name = "gaussian",
              .summary = "exact curve of unsampled Gaussians",
              .reference = "Balle-Wang 2018, Thm 8; Dong-Roth-Su 2022, Cor. 3.3",
              .state_size = sizeof(state),
              .params = pv_no_params },
    .supports = supports,
    .compose = compose,
    .epsilon_ub = epsilon_ub,
    .delta_ub = delta_ub,
    .epsilon_lb = epsilon_lb,
};
