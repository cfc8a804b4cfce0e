/* opt_pgd.c - DP-PGD: noisy proximal (projected) gradient descent.
 *
 * Solves    min_{w in C}  (1/n) sum_i f(w; z_i) + r(w)
 * Iterates  g_t = ask(v_{t-1})                         clipped, summed, noised
 *           w_t = prox_{gamma r, C}(v_{t-1} - gamma g_t)                              (1)
 *           v_t = w_t + beta (w_t - w_{t-1})         beta = momentum, 0 in the paper    (2)
 *           with share > 0 in the coordinates of precondition.c, where the curvature is at most L/q^2 and
 *           steps are q^2 times as long, q its typical length                           (3)
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
#include "acct/acct.h"
#include "opt/precondition.h"

typedef struct cfg {
    pvi_loop_cfg loop;
    double step, momentum, share;
    int64_t calibration;
} cfg;
enum { STEPS, MOMENTS }; /* numbers of the asks */

typedef struct state {
    pvi_loop loop;
    double *g, *v, *prev;
    double *at, *w; /* with coordinates of its own: the iterate in them, and the weights of v */
    double step;
    pvi_precondition pre;
} state;

static const pv_param params[] = {
    PVI_LOOP_ROWS(PVI_OUT_AVERAGE),
    { "step", PV_F64, offsetof(cfg, step), PV_AUTO, 1e-12, 1e12, false, "gamma, step size; auto: at most 1/L", NULL },
    { "momentum", PV_F64, offsetof(cfg, momentum), PV_AUTO, 0, 0.9999, false,
      "beta, weight of the previous move; auto: .9 to .98", NULL },
    { "share", PV_F64, offsetof(cfg, share), PV_AUTO, 0, 0.9, true,
      "of the budget, for second moments of the rows that precondition the steps; auto: 0", NULL },
    PVI_CALIBRATION_ROW(cfg, "paper: noise, step 1/(2L), T and no momentum as there"),
    { 0 }
};

static bool learns(const void *c_)
{
    return ((const cfg *)c_)->share > 0.0;
}

static int64_t moment_events(const cfg *c)
{
    return pvi_spread_first(c->share, c->loop.steps);
}

static pv_status resolve_share(cfg *c, const pv_problem *p)
{
    if (isnan(c->share)) c->share = 0.0;
    if (c->share == 0.0) return PV_OK;
    if (c->calibration == PVI_BY_PAPER || p->set || !p->reg->grad || !pvi_precondition_fits(p))
        return pvi_fail(
            p->ctx, PV_E_UNSUPPORTED,
            "optimizer.share needs a loss of one number, at most 512 weights, a smooth penalty and no set: "
            "leave it out");
    return PV_OK;
}

static pv_status resolve(void *c_, const pv_problem *p)
{
    static const pvi_step_rule rule = {
        .factor = 1.0, .momentum = 0.9, .adapt_momentum = true, .least = 50, .most = 1000
    };
    cfg *c = c_;
    const pv_status bad = resolve_share(c, p);
    if (bad != PV_OK) return bad;
    if (c->calibration == PVI_BY_PAPER) {
        if (isnan(c->momentum)) c->momentum = 0.0;
        if (c->loop.steps == PV_AUTO_I64) c->loop.steps = pvi_paper_pgd_steps(p);
        return isnan(c->step) ? pvi_default_step(p, 0.5, &c->step) : PV_OK;
    }
    pvi_step_choice choice = { c->step, c->momentum, c->loop.steps };
    const pv_status s = pvi_default_steps(p, &rule, &choice);
    c->step = choice.step;
    c->momentum = choice.momentum;
    c->loop.steps = choice.steps;
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

static pv_status plan(const void *c_, const pv_problem *p, pv_arena *a, const pv_event **total)
{
    const cfg *c = c_;
    const pv_status st = pvi_loop_plan(c_, p, a, total);
    if (st != PV_OK || !learns(c)) return st;
    const pv_event *both[2] = { pv_ev_repeat(a, moment_events(c), p->planned[MOMENTS].event), *total };
    *total = pv_ev_seq(a, 2, both);
    return *total ? PV_OK : PV_E_NOMEM;
}

#define ARRAY(name)                                                                                                  \
    {                                                                                                                \
        offsetof(state, name), PV_VECTOR                                                                             \
    }
static const pv_state arrays[] = { PVI_LOOP_ARRAY, ARRAY(g), ARRAY(v), ARRAY(prev), ARRAY(at), ARRAY(w), { 0, 0 } };

static pv_status init(void *s_, const void *c_, const pv_problem *p, pv_arena *a)
{
    state *s = s_;
    const cfg *c = c_;
    pvi_loop_init(&s->loop, &c->loop);
    return pvi_precondition_init(&s->pre, learns(c), p, a);
}

static pv_status begin(state *s, const cfg *c, const pv_problem *p, pv_oracle *o, const double *w)
{
    const pvi_precondition_cost cost = { MOMENTS, learns(c) ? moment_events(c) : 0,
                                         p->planned[STEPS].stddev / sqrt((double)c->loop.steps) };
    const pv_status st = pvi_precondition_learn(&s->pre, &cost, p, o, w, s->at);
    const double q = s->pre.A ? s->pre.unit * p->joint->row_norm : 1.0;
    s->step = c->step * q * q; /* (3) */
    for (int64_t j = 0; j < p->d; j++) s->v[j] = s->prev[j] = s->at[j];
    return st;
}

/* Penalty and constraint of the step from v to x. */
static void finish(state *s, const pv_problem *p, double *x)
{
    if (!s->pre.A) pv_prox(p, s->step, x); /* (1) */
}

static void add_penalty(state *s, const pv_problem *p)
{
    if (!s->pre.A) {
        pv_reg_grad(p, s->v, s->g);
        return;
    }
    pvi_precondition_weights(&s->pre, p->d, s->v, s->w);
    pvi_precondition_gradient(&s->pre, p, s->w, 1.0, s->g);
}

static pv_status step(void *s_, const void *c_, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    state *s = s_;
    const cfg *c = c_;
    double *x = s->at;
    pv_status st = PV_OK;

    pvi_loop_begin(&s->loop, p, t, o, w);
    if (t == 1 && (st = begin(s, c, p, o, w)) != PV_OK) return st;
    if ((st = pv_ask_once(o, s->v, s->g)) != PV_OK) return st; /* g_t; the only data access */
    add_penalty(s, p);

    for (int64_t j = 0; j < p->d; j++) x[j] = s->v[j] - s->step * s->g[j];
    finish(s, p, x);
    for (int64_t j = 0; j < p->d; j++) { /* (2) */
        s->v[j] = x[j] + c->momentum * (x[j] - s->prev[j]);
        s->prev[j] = x[j];
    }
    memcpy(s->w, x, (size_t)p->d * sizeof *x);
    st = pvi_loop_end(&s->loop, p, t, s->w);
    pvi_precondition_weights(&s->pre, p->d, s->w, w);
    return st;
}

const pv_optimizer_ops pv_optimizer_pgd = {
    .head = { .name = "pgd",
              .summary = "noisy proximal gradient descent, full batch by default",
              .reference = "DP-PGD; Nesterov 1983 for the momentum",
              .cfg_size = sizeof(cfg),
              .state_size = sizeof(state),
              .params = params },
    .auto_for = PV_ANY_MODEL,
    .needs = PV_PROX,
    .ask = { { &pvi_query_gradient, &pv_mechanism_gaussian, &pvi_full, NULL },
             PVI_PRECONDITION_ASK(&pvi_full, learns) },
    .resolve = resolve,
    .plan = plan,
    .state = arrays,
    .init = init,
    .step = step,
    .steps = pvi_loop_steps,
    .noise = noise,
};
