/* acct_zcdp.c - zero-concentrated differential privacy.
 *
 * rho-zCDP: the Renyi divergence of every order alpha > 1 is at most rho alpha.
 *   (1) Gaussian, noise multiplier z            rho = 1/(2 z^2)            Bun, Steinke 2016, Prop. 1.6
 *   (2) pure eps (Laplace of scale 1/eps; an (eps, 0) event)
 *                                               rho = min(eps^2/2, eps)    Prop. 1.4; D_alpha <= eps
 *   (3) selection, eps-bounded range            rho = min(eps^2/8, eps)    Cesar, Rogers 2021, Lemma 3.2
 *   (4) adaptive composition                    rho = sum_i n_i rho_i      Lemma 1.7
 *   (5) conversion `optimal`                    the best order of convert.c (1), (2)
 *       conversion `paper`                      eps = rho + 2 sqrt(rho ln(1/delta)),
 *                                               delta = exp(-(eps - rho)^2/(4 rho))   Prop. 1.3
 * Refuses   samplers (zCDP is not amplified by sampling), balls, (eps, delta) with delta > 0.
 * Rounding  upwards after each operation. */
#include "acct.h"

enum { OPTIMAL, PAPER };
typedef struct cfg {
    int64_t conversion;
} cfg;
typedef struct state {
    double rho;
} state;

static const pv_param params[] = {
    { "conversion", PV_ENUM, offsetof(cfg, conversion), OPTIMAL, 0, 0, true, "how rho becomes (epsilon, delta)",
      "optimal|paper" },
    { 0 },
};

static double smaller(double x, double y)
{
    return x < y ? x : y;
}

static pv_status add(void *user, const pvi_term *t)
{
    double rho;
    if (t->sampler != PV_EV_NONE) return PV_E_UNSUPPORTED;
    switch (t->kind) {
    case PV_EV_GAUSSIAN: rho = pv_up(0.5 / (t->a * t->a), 2); break;                               /* (1) */
    case PV_EV_LAPLACE: rho = smaller(pv_up(0.5 / (t->a * t->a), 2), pv_up(1.0 / t->a, 1)); break; /* (2) */
    case PV_EV_SELECT: rho = smaller(pv_up(0.125 * t->a * t->a, 1), t->a); break;                  /* (3) */
    case PV_EV_EPS_DELTA:
        if (t->b > 0) return PV_E_UNSUPPORTED;
        rho = smaller(pv_up(0.5 * t->a * t->a, 1), t->a); /* (2) */
        break;
    default: return PV_E_UNSUPPORTED;
    }
    state *s = user;
    s->rho = pvi_add_up(s->rho, pvi_mul_up((double)t->count, rho)); /* (4) */
    return PV_OK;
}

static pv_status supports(const void *c_, pv_relation rel, const pv_event *ev)
{
    state trial = { 0 };
    (void)c_, (void)rel;
    return pvi_event_each(ev, add, &trial);
}

static pv_status compose(void *st, const void *c_, pv_relation rel, const pv_event *ev)
{
    state *s = st, trial = *s;
    (void)c_, (void)rel;
    const pv_status ok = pvi_event_each(ev, add, &trial);
    if (ok == PV_OK) *s = trial;
    return ok;
}

static double rdp(const void *user, double m)
{
    const state *s = user;
    return pv_up(s->rho * (1.0 + m), 2);
}

static double paper_epsilon(double rho, double delta)
{
    const double L = pv_up(-log(delta), 2);
    return rho > 0 ? pv_up(rho + 2.0 * pv_up(sqrt(pv_up(rho * L, 1)), 1), 1) : 0.0;
}

static double paper_delta(double rho, double eps)
{
    const double gap = pvi_down(eps - rho, 1);
    if (rho == 0) return 0.0;
    return gap > 0 ? smaller(pv_up(exp(-pvi_down(gap * (gap / (4.0 * rho)), 3)), 2) + 0x1p-1074, 1.0) : 1.0;
}

static pv_status epsilon_ub(const void *st, const void *c_, double delta, double *eps)
{
    const state *s = st;
    const cfg *c = c_;
    if (!(delta >= 0 && delta < 1)) return PV_E_ARG;
    *eps = c->conversion == PAPER ? paper_epsilon(s->rho, delta)
                                  : pvi_rdp_epsilon(rdp, s, delta, sqrt(-log(delta) / s->rho));
    return PV_OK;
}

static pv_status delta_ub(const void *st, const void *c_, double eps, double *delta)
{
    const state *s = st;
    const cfg *c = c_;
    if (!(eps >= 0)) return PV_E_ARG;
    const double start = eps > s->rho ? 0.5 * (eps - s->rho) / s->rho : 1.0;
    *delta = c->conversion == PAPER ? paper_delta(s->rho, eps) : pvi_rdp_delta(rdp, s, eps, start);
    return PV_OK;
}

const pv_accountant_ops pv_accountant_zcdp = {
    .head = { .name = "zcdp",
              .summary = "zero-concentrated differential privacy",
              .reference = "Bun-Steinke 2016; Cesar-Rogers 2021; Canonne-Kamath-Steinke 2020",
              .cfg_size = sizeof(cfg),
              .state_size = sizeof(state),
              .params = params },
    .supports = supports,
    .compose = compose,
    .epsilon_ub = epsilon_ub,
    .delta_ub = delta_ub,
};
