/* opt_sgd.c - DP-SGD, and DP-LSSGD when smoothing > 0.
 *
 * Solves    min_{w in C}  (1/n) sum_i f(w; z_i) + r(w)
 * Iterates  g_t = ask(w_{t-1})                       Poisson batch, clipped, summed, noised
 *           m_t = beta m_{t-1} + A_sigma^{-1} g_t                                              (1)
 *           w_t = prox_{eta_t r, C}(w_{t-1} - eta_t m_t)                                       (2)
 *           A_sigma = I - sigma L, L the periodic one-dimensional Laplacian (smooth.c), with a sigma for each layer
 *           and neighbours by smoothing_order (smooth_layers.c)
 * Returns   by default the average of the last half of the iterates
 *
 * Names     eta_t: step, by its schedule, warm-up and drop (schedule.c (1))   T: steps
 *           beta: momentum   sigma: smoothing
 * Warm-up   where a run starts, the gradients of all rows point the same way and the clipped sum is near its bound;
 *           later it is a tenth of that or less.  A step that suits the later part would move a network's weights so
 *           far at first that many of its relu units are 0 on every row from then on (dead units).
 * Privacy   smoothing, momentum, schedule, prox and averaging act on released values only, so the run
 *           costs T sampled gradient queries, with the noise of schedule.c, and nothing more (post-processing).
 * Defaults  beta = 0.9; T from 50 to 2000 and eta at most 1/L, so that optimisation and noise balance (defaults.c):
 *           under Poisson sampling the noise multiplier for many steps is about q sqrt(T) / mu, so the noise is that
 *           of the full batch.
 * Cost      one query and O(d) per step; 3d doubles of state.
 * Reference Abadi et al. 2016 (DP-SGD); Laplacian smoothing of the noisy gradient: DP-LSSGD, Algorithm 1. */
#include "opt/bounds.h"
#include "opt/opt.h"
#include "opt/smooth.h"

typedef struct cfg {
    pvi_loop_cfg loop;
    double step, momentum;
    int64_t calibration;
    pvi_smoothing_cfg smoothing;
} cfg;

typedef struct state {
    pvi_loop loop;
    double *g, *m;
    pvi_smoothing smoothing;
} state;

static const pv_param params[] = {
    PVI_LOOP_ROWS(PVI_OUT_AVERAGE),
    { "step", PV_F64, offsetof(cfg, step), PV_AUTO, 1e-12, 1e12, false, "eta, step size; auto: at most 1/L", NULL },
    { "momentum", PV_F64, offsetof(cfg, momentum), 0.9, 0, 0.9999, false, "beta, weight of past gradients", NULL },
    PVI_SMOOTHING_ROWS(cfg),
    { "warmup", PV_F64, offsetof(pvi_loop_cfg, sched.warmup), PV_AUTO, 0, 1, false,
      "share of the steps over which eta grows to its full length; auto: 0, and 0.2 for a network", NULL },
    PVI_SCHEDULE_ROW("constant", false),
    PVI_DROP_ROW,
    PVI_NOISE_ROWS,
    PVI_CALIBRATION_ROW(cfg, "paper: noise by Theorem 2 of DP-LSSGD, where it holds"),
    { 0 }
};

static pv_status resolve(void *c_, const pv_problem *p)
{
    static const pvi_step_rule rule = { .factor = 1.0, .momentum = 0.9, .least = 50, .most = 2000 };
    cfg *c = c_;
    pvi_step_choice choice = { c->step, c->momentum, c->loop.steps };
    pv_status s = pvi_default_steps(p, &rule, &choice);
    c->step = choice.step;
    c->loop.steps = choice.steps;
    if (isnan(c->loop.sched.warmup)) c->loop.sched.warmup = p->props & PV_NETWORK && !isfinite(p->L) ? 0.2 : 0.0;
    if (s == PV_OK) s = pvi_smoothing_check(&c->smoothing, p);
    return s == PV_OK ? pvi_schedule_check(&c->loop.sched, p, c->loop.steps) : s;
}

static pv_status noise(const void *c_, const pv_problem *p, double *z)
{
    const cfg *c = c_;
    if (c->calibration != PVI_BY_PAPER) return PV_OK;
    const pv_status s = pvi_paper_equal_noise(p, "Theorem 2 of DP-LSSGD", &c->loop.sched);
    return s == PV_OK ? pvi_paper_batches(p, c->loop.steps, z) : s;
}

static const pv_state arrays[] = {
    PVI_LOOP_ARRAY, { offsetof(state, g), PV_VECTOR }, { offsetof(state, m), PV_VECTOR }, { 0, 0 }
};

static pv_status init(void *s_, const void *c_, const pv_problem *p, pv_arena *a)
{
    state *s = s_;
    const cfg *c = c_;
    const pv_status st = pvi_loop_init(&s->loop, &c->loop, p, a);
    return st == PV_OK ? pvi_smoothing_open(&s->smoothing, &c->smoothing, p, a) : st;
}

static pv_status step(void *s_, const void *c_, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    state *s = s_;
    const cfg *c = c_;
    const double eta = pvi_loop_eta(&s->loop, c->step, t);

    pvi_loop_begin(&s->loop, p, t, o, w);
    const pv_status st = pvi_loop_ask(&s->loop, t, o, w, s->g); /* g_t; the only data access */
    if (st != PV_OK) return st;
    pv_reg_grad(p, w, s->g);
    pvi_smoothing_apply(&s->smoothing, p, s->g);
    for (int64_t j = 0; j < p->d; j++) {
        s->m[j] = c->momentum * s->m[j] + s->g[j]; /* (1) */
        w[j] -= eta * s->m[j];
    }
    pv_prox(p, eta, w); /* (2) */
    return pvi_loop_end(&s->loop, p, t, w);
}

const pv_optimizer_ops pv_optimizer_sgd = {
    .head = { .name = "sgd",
              .summary = "DP-SGD; with smoothing > 0, DP-LSSGD",
              .reference = "Abadi et al. 2016; B. Wang et al., Algorithm 1 (DP-LSSGD)",
              .cfg_size = sizeof(cfg),
              .state_size = sizeof(state),
              .params = params },
    .auto_for = PV_ANY_MODEL | PV_NETWORK,
    .needs = PV_PROX,
    .ask = { { &pvi_query_gradient, &pv_mechanism_gaussian, &pvi_poisson, NULL } },
    .resolve = resolve,
    .plan = pvi_loop_plan,
    .state = arrays,
    .init = init,
    .step = step,
    .steps = pvi_loop_steps,
    .noise = noise,
    .bounds = pvi_bounds_smoothed,
};
