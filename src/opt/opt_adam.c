/* opt_adam.c - DP-Adam, and DP-LSAdam when smoothing > 0.
 *
 * Solves    min_{w in C}  (1/n) sum_i f(w; z_i) + r(w)
 * Iterates  g_t = A_sigma^{-1} ask(w_{t-1})          Poisson batch, clipped, summed, noised, smoothed
 *           m_t = beta1 m_{t-1} + (1 - beta1) g_t              v_t = beta2 v_{t-1} + (1 - beta2) g_t^2     (1)
 *           m^ = m_t / (1 - beta1^t)                           v^ = v_t / (1 - beta2^t)                    (2)
 *           w_t = prox_{eta_t r, C}(w_{t-1} - eta_t m^ / (sqrt(v^) + tiny))                                (3)
 * Returns   by default the average of the last half of the iterates
 *
 * Names     eta_t: step, by its schedule (schedule.c)   T: steps   sigma: smoothing   tiny: 1e-8
 * Privacy   everything after the query acts on released values only (post-processing): T sampled gradient
 *           queries, with the noise of schedule.c.
 * Note      r enters by its prox in the metric of w, not in Adam's: (3) is Adam with a proximal step, as
 *           decoupled weight decay is, and not the minimiser of a rescaled problem.
 * Defaults  T = 500.  Where noise outweighs the gradient, sqrt(v^) is its deviation s sqrt(T), so (3) is a gradient
 *           step of length eta/(s sqrt(T)); T of them cover the horizon H of defaults.c with
 *             eta = H s / sqrt(T), at most 0.05                                                            (4)
 * Cost      one query and O(d) per step; 4d doubles of state.
 * Reference Kingma, Ba 2015; DP-LSAdam: Adam on the smoothed noisy gradient. */
#include "opt/opt.h"
#include "opt/smooth.h"

enum { STEPS = 500 };
static const double LONGEST = 0.05;

typedef struct cfg {
    pvi_loop_cfg loop;
    double step, beta1, beta2;
    int64_t calibration;
    pvi_smoothing_cfg smoothing;
} cfg;

typedef struct state {
    pvi_loop loop;
    double *g, *m, *v;
    pvi_smoothing smoothing;
} state;

static const pv_param params[] = {
    PVI_LOOP_ROWS(PVI_OUT_AVERAGE),
    { "step", PV_F64, offsetof(cfg, step), PV_AUTO, 1e-12, 1e12, false, "eta, step size; auto: at most 0.05", NULL },
    { "beta1", PV_F64, offsetof(cfg, beta1), 0.9, 0, 0.9999, false, "memory of the mean", NULL },
    { "beta2", PV_F64, offsetof(cfg, beta2), 0.999, 0, 0.999999, false, "memory of the mean square", NULL },
    PVI_SMOOTHING_ROWS(cfg),
    PVI_SCHEDULE_ROW("constant", false),
    PVI_WARMUP_ROW(0, false),
    PVI_DROP_ROW,
    PVI_NOISE_ROWS,
    PVI_CALIBRATION_ROW(cfg, "paper: noise by Theorem 2 of DP-LSSGD, where it holds"),
    { 0 }
};

static pv_status resolve(void *c_, const pv_problem *p)
{
    cfg *c = c_;
    pv_status s = pvi_smoothing_check(&c->smoothing, p);
    if (s != PV_OK) return s;
    if (c->loop.steps == PV_AUTO_I64) {
        c->loop.steps = STEPS;
        pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.steps = %d: the step size is chosen for it", STEPS);
    }
    if ((s = pvi_schedule_check(&c->loop.sched, p, c->loop.steps)) != PV_OK || !isnan(c->step)) return s;
    c->step = fmin(LONGEST, pvi_horizon(p, p->C) * pvi_run_noise(p, p->C) /
                                sqrt((double)c->loop.steps)); /* (4); NAN without noise */
    pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.step = %.3g: %s", c->step,
            c->step < LONGEST ? "with longer ones, noise outweighs what a step gains" : "the usual one");
    return PV_OK;
}

static pv_status noise(const void *c_, const pv_problem *p, double *z)
{
    const cfg *c = c_;
    if (c->calibration != PVI_BY_PAPER) return PV_OK;
    const pv_status s = pvi_paper_equal_noise(p, "Theorem 2 of DP-LSSGD", &c->loop.sched);
    return s == PV_OK ? pvi_paper_batches(p, c->loop.steps, z) : s;
}

static const pv_state arrays[] = { PVI_LOOP_ARRAY,
                                   { offsetof(state, g), PV_VECTOR },
                                   { offsetof(state, m), PV_VECTOR },
                                   { offsetof(state, v), PV_VECTOR },
                                   { 0, 0 } };

static pv_status init(void *s_, const void *c_, const pv_problem *p, pv_arena *a)
{
    state *s = s_;
    const cfg *c = c_;
    const pv_status st = pvi_loop_init(&s->loop, &c->loop, p, a);
    return st == PV_OK ? pvi_smoothing_open(&s->smoothing, &c->smoothing, p, a) : st;
}

static void move(const state *s, const cfg *c, int64_t t, double eta, double *w, int64_t d)
{
    const double fix1 = 1.0 / (1.0 - pow(c->beta1, (double)t)),
                 fix2 = 1.0 / (1.0 - pow(c->beta2, (double)t)); /* (2) */
    for (int64_t j = 0; j < d; j++) {
        s->m[j] = c->beta1 * s->m[j] + (1.0 - c->beta1) * s->g[j]; /* (1) */
        s->v[j] = c->beta2 * s->v[j] + (1.0 - c->beta2) * s->g[j] * s->g[j];
        w[j] -= eta * fix1 * s->m[j] / (sqrt(fix2 * s->v[j]) + 1e-8); /* (3) */
    }
}

static pv_status step(void *s_, const void *c_, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    state *s = s_;
    const cfg *c = c_;
    const double eta = pvi_loop_eta(&s->loop, c->step, t);

    pvi_loop_begin(&s->loop, p, t, o, w);
    const pv_status st = pvi_loop_ask(&s->loop, t, o, w, s->g); /* the only data access */
    if (st != PV_OK) return st;
    pv_reg_grad(p, w, s->g);
    pvi_smoothing_apply(&s->smoothing, p, s->g);
    move(s, c, t, eta, w, p->d);
    pv_prox(p, eta, w);
    return pvi_loop_end(&s->loop, p, t, w);
}

const pv_optimizer_ops pv_optimizer_adam = {
    .head = { .name = "adam",
              .summary = "DP-Adam; with smoothing > 0, DP-LSAdam",
              .reference = "Kingma-Ba 2015; B. Wang et al. (DP-LSAdam)",
              .cfg_size = sizeof(cfg),
              .state_size = sizeof(state),
              .params = params },
    .needs = PV_PROX,
    .ask = { { &pvi_query_gradient, &pv_mechanism_gaussian, &pvi_poisson, NULL } },
    .resolve = resolve,
    .plan = pvi_loop_plan,
    .state = arrays,
    .init = init,
    .step = step,
    .steps = pvi_loop_steps,
    .noise = noise,
};
