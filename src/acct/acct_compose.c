/* acct_compose.c - composition theorems for (eps, delta) events and pure ones.
 *
 * Terms (eps_i, delta_i), n_i times each; T = sum n_i eps_i, N = sum n_i over eps_i > 0,
 *   U = sum n_i eps_i tanh(eps_i/2),  V = sum n_i eps_i^2,  keep = prod (1 - delta_i)^{n_i}.
 * With a free d >= 0, delta = 1 - keep (1 - d) and
 *   (1) basic      eps = T                                         d = 0
 *   (2) advanced   eps = U + sqrt(2 V ln(1/d)),  or with ln(e + sqrt(V)/d) in place of ln(1/d)
 *                                                   Kairouz, Oh, Viswanath 2015, Thm 3.5
 *   (3) optimal    d = the exact curve of N releases of max_i eps_i (binomial.c); when all eps_i are
 *                  equal nothing better is possible (ibid., Thm 3.3)
 * `method` picks the strongest theorem allowed; the smallest of those allowed is reported.
 *   (4) sampled    (ln(1 + q (e^eps - 1)), q delta): Poisson under zero-out, fixed size under
 *                  replace (Balle, Barthe, Gaboardi 2018, Thm 8, 9); other pairs are refused
 * Laplace and selection are pure: 1/scale, and their epsilon.  Refuses Gaussians. */
#include "acct.h"

enum { OPTIMAL, ADVANCED, BASIC };
typedef struct cfg {
    int64_t method;
} cfg;
typedef struct state {
    double T, U, V, N, largest; /* rounded up   */
    double log_keep;            /* rounded down */
} state;

static const pv_param params[] = {
    { "method", PV_ENUM, offsetof(cfg, method), OPTIMAL, 0, 0, true, "strongest composition theorem to use",
      "optimal|advanced|basic" },
    { 0 },
};

static double smaller(double x, double y)
{
    return x < y ? x : y;
}

/* ---- terms ------------------------------------------------------------------------------------------ */

static pv_status pair_of(const pvi_term *t, pv_relation rel, double *eps, double *delta)
{
    *delta = 0.0;
    switch (t->kind) {
    case PV_EV_LAPLACE: *eps = pvi_div_up(1.0, t->a); break;
    case PV_EV_SELECT: *eps = t->a; break;
    case PV_EV_EPS_DELTA: *eps = t->a, *delta = t->b; break;
    case PV_EV_BALL: *eps = 0.0, *delta = t->a; break;
    default: return PV_E_UNSUPPORTED;
    }
    if (!pvi_amplified(t, rel)) return PV_E_UNSUPPORTED;
    if (t->sampler == PV_EV_NONE) return PV_OK;
    *eps = smaller(*eps, pv_up(log1p(t->rate * expm1(*eps)), 4)); /* (4); the first when expm1 overflows */
    *delta = pv_up(t->rate * *delta, 1);
    return PV_OK;
}

typedef struct adding {
    state *s;
    pv_relation rel;
} adding;

static pv_status add(void *user, const pvi_term *t)
{
    const adding *w = user;
    state *s = w->s;
    double eps, delta;
    const double n = (double)t->count;
    const pv_status ok = pair_of(t, w->rel, &eps, &delta);
    if (ok != PV_OK) return ok;
    s->log_keep = pvi_down(s->log_keep + pvi_down(n * pvi_down(log1p(-delta), 2), 1), 1);
    if (!(eps > 0)) return PV_OK;
    s->T = pvi_add_up(s->T, pvi_mul_up(n, eps));
    s->U = pv_up(s->U + pv_up(n * eps * tanh(0.5 * eps), 4), 1);
    s->V = pv_up(s->V + pv_up(n * eps * eps, 2), 1);
    s->N += n;
    if (eps > s->largest) s->largest = eps;
    return PV_OK;
}

static pv_status supports(const void *c_, pv_relation rel, const pv_event *ev)
{
    state trial = { 0 };
    (void)c_;
    return pvi_event_each(ev, add, &(adding) { &trial, rel });
}

static pv_status compose(void *st, const void *c_, pv_relation rel, const pv_event *ev)
{
    state *s = st, trial = *s;
    (void)c_;
    const pv_status ok = pvi_event_each(ev, add, &(adding) { &trial, rel });
    if (ok == PV_OK) *s = trial;
    return ok;
}

/* ---- questions ---------------------------------------------------------------------------------------- */

static double advanced_epsilon(const state *s, double d) /* (2) */
{
    if (!(d > 0)) return INFINITY;
    const double L = pv_up(smaller(-log(d), log(2.718281828459046 + pv_up(sqrt(s->V), 1) / d)), 4);
    return pv_up(s->U + pv_up(sqrt(pv_up(2.0 * s->V * L, 2)), 1), 1);
}

static double advanced_delta(const state *s, double eps)
{
    const double gap = pvi_down(eps - s->U, 1);
    return gap > 0 ? smaller(pv_up(exp(-pvi_down(gap * (gap / (2.0 * s->V)), 3)), 2) + 0x1p-1074, 1.0) : 1.0;
}

/* (3) by bisection on certified values, between 0 and `hi`, which is good already. */
static double optimal_epsilon(const state *s, double d, double hi)
{
    double lo = 0.0;
    if (pvi_pure_delta(s->largest, s->N, 0.0) <= d) return 0.0;
    for (int i = 0; PVI_ITERATE(COMPOSE_CLOSE, i) && hi - lo > 1e-11 * hi; i++) {
        const double mid = 0.5 * (lo + hi);
        if (pvi_pure_delta(s->largest, s->N, mid) <= d) hi = mid;
        else lo = mid;
    }
    return hi;
}

static pv_status epsilon_ub(const void *st, const void *c_, double delta, double *eps)
{
    const state *s = st;
    const int64_t method = ((const cfg *)c_)->method;
    if (!(delta >= 0 && delta < 1)) return PV_E_ARG;
    const double lost = pv_up(-expm1(s->log_keep), 2), d = pvi_down((delta - lost) / exp(s->log_keep), 4);
    if (delta < lost) return *eps = INFINITY, PV_OK;
    *eps = s->T; /* (1) */
    if (method != BASIC) *eps = smaller(*eps, advanced_epsilon(s, d));
    if (method == OPTIMAL && d > 0) *eps = optimal_epsilon(s, d, *eps);
    return PV_OK;
}

static pv_status delta_ub(const void *st, const void *c_, double eps, double *delta)
{
    const state *s = st;
    const int64_t method = ((const cfg *)c_)->method;
    double d = eps >= s->T ? 0.0 : 1.0;
    if (!(eps >= 0)) return PV_E_ARG;
    if (d > 0 && method != BASIC) d = advanced_delta(s, eps);
    if (d > 0 && method == OPTIMAL) d = smaller(d, pvi_pure_delta(s->largest, s->N, eps));
    *delta = smaller(pv_up(pv_up(-expm1(s->log_keep), 2) + d * pv_up(exp(s->log_keep), 2), 2), 1.0);
    return PV_OK;
}

const pv_accountant_ops pv_accountant_compose = {
    .head = { .name = "compose",
              .summary = "basic, advanced and optimal composition of (epsilon, delta)",
              .reference = "Kairouz-Oh-Viswanath 2015, Thm 3.3, 3.5; Balle-Barthe-Gaboardi 2018, Thm 8, 9",
              .cfg_size = sizeof(cfg),
              .state_size = sizeof(state),
              .params = params },
    .supports = supports,
    .compose = compose,
    .epsilon_ub = epsilon_ub,
    .delta_ub = delta_ub,
};
