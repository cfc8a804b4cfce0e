/* opt_prgd.c - PrGD: gradient descent on one random row at a time, perturbed inside a ball.
 *
 * Solves    min_{w in C}  (1/n) sum_i f(w; z_i) + r(w)
 * Iterates  i uniform on 1..n,  u uniform in the volume of the ball of radius R
 *           g_t = clip(grad f(w_{t-1}; z_i)) + u                   one metered query
 *           w_t = prox_{eta_t r, C}(w_{t-1} - eta_t g_t)                                         (1)
 * Returns   w_T by default
 *
 * Names     eta: step, eta_t by its schedule (schedule.c)   T: steps   d: weights
 *           D: largest distance of two rows' gradients, 2 clip and rounding
 * Privacy   two balls of radius R whose centres are D apart overlap but for a share
 *             delta_1 = I_{(D/2R)^2}(1/2, (d+1)/2)                                               (2)
 *           of their volume: total variation, hence (0, delta_1).  The row is drawn uniformly, so a step costs
 *           delta_1 / n, and T of them 1 - (1 - delta_1/n)^T (the paper adds up: T delta_1 / n).  R is the smallest
 *           radius that meets the budget's delta; epsilon is 0.
 * Honesty   (0, delta) is a mismatch of supports: with probability up to delta a row is exposed outright.  At d = 100
 *           a shift of 0.1 R already gives delta_1 = 0.38.  The certificate says so.
 * Defaults  eta = 1/L; T = n, one row per step and n of them, within 100 .. 100000.
 * Cost      one row and O(d) per step.
 * Reference perturbed gradient descent with unit-ball noise; (2) by Li 2011, hyperspherical caps. */
#include "opt/opt.h"

typedef struct cfg {
    pvi_loop_cfg loop;
    double step;
    int64_t calibration;
} cfg;

typedef struct state {
    pvi_loop loop;
    double *g;
} state;

static const pv_param params[] = { PVI_LOOP_ROWS(PVI_OUT_LAST),
                                   { "step", PV_F64, offsetof(cfg, step), PV_AUTO, 1e-12, 1e12, false,
                                     "eta, step size; auto: 1/L", NULL },
                                   PVI_SCHEDULE_ROW("constant", false),
                                   PVI_WARMUP_ROW(0, false),
                                   PVI_CALIBRATION_ROW(cfg, "paper: noise from the unit ball"),
                                   { 0 } };

static pv_status resolve(void *c_, const pv_problem *p)
{
    cfg *c = c_;
    if (c->loop.steps == PV_AUTO_I64) c->loop.steps = p->n < 100 ? 100 : p->n > 100000 ? 100000 : p->n;
    const pv_status s = isnan(c->step) ? pvi_default_step(p, 1.0, &c->step) : PV_OK;
    return s == PV_OK ? pvi_schedule_check(&c->loop.sched, p, c->loop.steps) : s;
}

static pv_status noise(const void *c_, const pv_problem *p, double *z)
{
    const cfg *c = c_;
    return c->calibration == PVI_BY_PAPER ? pvi_paper_ball(p, c->loop.steps, z) : PV_OK;
}

static const pv_state arrays[] = { PVI_LOOP_ARRAY, { offsetof(state, g), PV_VECTOR }, { 0, 0 } };

static pv_status step(void *s_, const void *c_, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    state *s = s_;
    const cfg *c = c_;

    pvi_loop_begin(&s->loop, p, t, o, w);
    const pv_status st = pv_ask_once(o, w, s->g); /* g_t; the only data access */
    if (st != PV_OK) return st;
    pv_reg_grad(p, w, s->g);
    const double eta = pvi_loop_eta(&s->loop, c->step, t);
    for (int64_t j = 0; j < p->d; j++) w[j] -= eta * s->g[j];
    pv_prox(p, eta, w); /* (1) */
    return pvi_loop_end(&s->loop, p, t, w);
}

const pv_optimizer_ops pv_optimizer_prgd = {
    .head = { .name = "prgd",
              .summary = "one row at a time, perturbed inside a ball: (0, delta)",
              .reference = "Tholeti, Kalyani, Algorithm 1 (PrGD); Li 2011",
              .cfg_size = sizeof(cfg),
              .state_size = sizeof(state),
              .params = params },
    .needs = PV_PROX,
    .ask = { { &pvi_query_gradient, &pv_mechanism_ball, &pvi_one, NULL } },
    .resolve = resolve,
    .plan = pvi_loop_plan,
    .state = arrays,
    .init = pvi_loop_start,
    .step = step,
    .steps = pvi_loop_steps,
    .noise = noise,
};
