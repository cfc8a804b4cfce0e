/* opt_pgd.c - DP-PGD: noisy proximal (projected) gradient descent.
 *
 * Solves    min_{w in C}  (1/n) sum_i f(w; z_i) + r(w)
 * Iterates  g_t = ask(v_{t-1})                         clipped, summed, noised
 *           w_t = prox_{gamma r, C}(v_{t-1} - gamma g_t)                              (1)
 *           v_t = w_t + beta (w_t - w_{t-1})         beta = momentum, 0 in the paper    (2)
 * Returns   by default the average of the last half of w_1..w_T; `random` is what the theorem bounds
 *
 * Names     gamma: step   T: steps   beta: momentum   v: the point the gradient is taken at
 * Privacy   every v_t is a function of g_1..g_t only, so the run costs T repetitions of one
 *           gradient query and nothing more (post-processing); so do all output rules.
 * Defaults  gamma = 1/L (the paper's 1/(2L) with calibration=paper): the largest step for which (1) decreases a
 *           smooth convex objective without noise; shorter if 50 steps of it let noise outweigh the fit.
 *           beta from .9 to .98 (0 in the paper): ill-conditioned tables need many steps, and a step costs time.
 *           T from 50 to 1000, so that optimisation and noise balance (defaults.c).
 * Cost      one query and O(d) per step; 4d doubles of state.
 * Reference DP-PGD for non-convex non-smooth composite losses; variance 2 G^2 T / (n^2 rho) as
 *           re-derived from zCDP (the printed 2 L^2 T / (n^2 rho^2) has two slips). */
#include "opt/opt.h"

typedef struct cfg {
    pvi_loop_cfg loop;
    double step, momentum;
    int64_t calibration;
} cfg;

typedef struct state {
    pvi_loop loop;
    double *g, *v, *prev;
} state;

static const pv_param params[] = { PVI_LOOP_ROWS(PVI_OUT_AVERAGE),
                                   { "step", PV_F64, offsetof(cfg, step), PV_AUTO, 1e-12, 1e12, false,
                                     "gamma, step size; auto: at most 1/L", NULL },
                                   { "momentum", PV_F64, offsetof(cfg, momentum), PV_AUTO, 0, 0.9999, false,
                                     "beta, weight of the previous move; auto: .9 to .98", NULL },
                                   PVI_CALIBRATION_ROW(cfg, "paper: noise, step 1/(2L), T and no momentum as there"),
                                   { 0 } };

static pv_status resolve(void *c_, const pv_problem *p)
{
    static const pvi_pace_rule rule = { .factor = 1.0, .momentum = 0.9, .heavier = true, .least = 50, .most = 1000 };
    cfg *c = c_;
    if (c->calibration == PVI_BY_PAPER) {
        if (isnan(c->momentum)) c->momentum = 0.0;
        if (c->loop.steps == PV_AUTO_I64) c->loop.steps = pvi_paper_pgd_steps(p);
        return isnan(c->step) ? pvi_default_step(p, 0.5, &c->step) : PV_OK;
    }
    pvi_pace pace = { c->step, c->momentum, c->loop.steps };
    const pv_status s = pvi_default_pace(p, &rule, &pace);
    c->step = pace.step;
    c->momentum = pace.momentum;
    c->loop.steps = pace.steps;
    return s;
}

static pv_status noise(const void *c_, const pv_problem *p, double *z)
{
    static const char theorem[] = "Theorem 2 of DP-PGD";
    const cfg *c = c_;
    if (c->calibration != PVI_BY_PAPER) return PV_OK;
    const pv_status s = pvi_paper_full(p, theorem, false, c->loop.steps, z);
    return s == PV_OK ? pvi_paper_step(p, theorem, c->step, 0.5 / pvi_smoothness(p), c->momentum) : s;
}

static const pv_state arrays[] = { PVI_LOOP_ARRAY, { offsetof(state, g), PV_VECTOR }, { offsetof(state, v), PV_VECTOR }, { offsetof(state, prev), PV_VECTOR }, { 0, 0 } };

static pv_status step(void *s_, const void *c_, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    state *s = s_;
    const cfg *c = c_;

    pvi_loop_begin(&s->loop, p, t, o, w);
    for (int64_t j = 0; t == 1 && j < p->d; j++) s->v[j] = s->prev[j] = w[j];
    const pv_status st = pv_ask_once(o, s->v, s->g); /* g_t; the only data access */
    if (st != PV_OK) return st;
    pv_reg_grad(p, s->v, s->g);

    for (int64_t j = 0; j < p->d; j++) w[j] = s->v[j] - c->step * s->g[j];
    pv_prox(p, c->step, w);              /* (1) */
    for (int64_t j = 0; j < p->d; j++) { /* (2) */
        s->v[j] = w[j] + c->momentum * (w[j] - s->prev[j]);
        s->prev[j] = w[j];
    }
    return pvi_loop_end(&s->loop, p, t, w);
}

const pv_optimizer_ops pv_optimizer_pgd = {
    .head = { .abi = PV_PLUGIN_ABI,
              .name = "pgd",
              .summary = "noisy proximal gradient descent, full batch by default",
              .reference = "DP-PGD; Nesterov 1983 for the momentum",
              .cfg_size = sizeof(cfg),
              .state_size = sizeof(state),
              .params = params },
    .auto_for = PV_ANY_MODEL,
    .needs = PV_PROX,
    .ask = { { &pvi_query_gradient, &pv_mechanism_gaussian, &pvi_full, NULL } },
    .resolve = resolve,
    .plan = pvi_loop_plan,
    .state = arrays,
    .init = pvi_loop_start,
    .step = step,
    .steps = pvi_loop_steps,
    .noise = noise,
};
