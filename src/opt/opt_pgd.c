/* opt_pgd.c - DP-PGD: noisy proximal (projected) gradient descent.
 *
 * Solves    min_{w in C}  (1/n) sum_i f(w; z_i) + r(w)
 * Iterates  g_t = ask(v_{t-1})                         clipped, summed, noised
 *           w_t = prox_{gamma_t r, C}(v_{t-1} - gamma_t g_t)                          (1)
 *           v_t = w_t + beta (w_t - w_{t-1})         beta = momentum, 0 in the paper    (2)
 *           with share > 0 in the coordinates of precondition.c, where the curvature is at most L/q^2 and
 *           steps are q^2 times as long, q its typical length                           (3)
 * Returns   by default the average of the last half of w_1..w_T; `random` is what the theorem bounds
 *
 * Names     gamma: step, gamma_t by its schedule (schedule.c), constant in the paper   T: steps   beta: momentum
 *           v: the point the gradient is taken at
 * Privacy   every v_t is a function of g_1..g_t only, so the run costs T gradient queries, with the noise of
 *           schedule.c, and nothing more (post-processing); so do all output rules.
 * Defaults  gamma = 1/L (the paper's 1/(2L) with calibration=paper): the largest step for which (1) decreases a
 *           smooth convex objective without noise; shorter if 50 steps of it let noise outweigh the fit.
 *           beta from .9 to .98 (0 in the paper): ill-conditioned tables need many steps, and a step costs time.
 *           T from 50 to 1000, so that optimisation and noise balance (defaults.c).
 * Samples   with optimizer=auto, where a run is long.  T steps on Poisson samples of rate q cost what T steps on all
 *           rows do as long as the multiplier z = q sqrt(T)/mu is not small: the noise is larger by the root of
 *           z^2 (e^{1/z^2} - 1), 1.03 at z = 3.  Sampling gives the averaged iterates 1/P of the variance that they
 *           have anyway, because the rows are a sample themselves, P = q T the passes over the table (Polyak,
 *           Juditsky 1992).  So P = max(20, 3 mu sqrt(T)) passes lose little:
 *             q = P/T  if P <= T/4 and n T columns >= 2^32, about a second; else 1                               (4)
 *           Tables so large that P passes take more than 2^33 products have as many as these allow, at least 5 and
 *           mu sqrt(T), where z = 1 and the noise 1.31 times as large: it is far below the spread of the rows there.
 *           Under replace no proof amplifies: 1.
 * Shrink    with optimizer=auto and logistic regression.  Clipping rows of length R at C = c R makes the loss a line
 *           where a row is badly wrong: at its minimum rows of a class with probability q > 1/2 have margins m with
 *           q sigma(-m) = (1 - q) c instead of q sigma(-m) = (1 - q) sigma(m), if sigma(m) > c: for q = 0.8 the
 *           logarithm of q/(1 - q) is m times 0.71 for c = 1/2 and 0.51 for c = 1/4, for other q not much else.  And
 *           noise makes weights longer, by the root of 1 + 1/r^2, r the signal to noise of defaults.c (7).  So the
 *           result is taken times
 *             f(c) r/(1 + r^2)^(1/2),  f(1) = 1, f(1/2) = 0.72, f(1/4) = 0.5                                    (5)
 *           All weights alike: neither the order of rows nor the predicted classes change, only how sure they are.
 *           A function of released values and public ones.
 * Cost      one query and O(d) per step; 4d doubles of state.
 * Reference DP-PGD for non-convex non-smooth composite losses; variance 2 G^2 T / (n^2 rho) as
 *           re-derived from zCDP (the printed 2 L^2 T / (n^2 rho^2) has two slips). */
#include "acct/acct.h"
#include "opt/bounds.h"
#include "opt/precondition.h"

typedef struct cfg {
    pvi_loop_cfg loop;
    double step, momentum, share, shrink;
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
    PVI_SCHEDULE_ROW("constant", false),
    PVI_WARMUP_ROW(0, false),
    PVI_NOISE_ROWS,
    { "share", PV_F64, offsetof(cfg, share), PV_AUTO, 0, 0.9, true,
      "of the budget, for second moments of the rows that precondition the steps; auto: 0", NULL },
    { "shrink", PV_F64, offsetof(cfg, shrink), 1, 0, 1, false,
      "factor of the returned weights; optimizer=auto chooses it so that probabilities are not too sure", NULL },
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

static pv_status resolve_steps(cfg *c, const pv_problem *p)
{
    if (c->calibration == PVI_BY_PAPER) {
        if (isnan(c->momentum)) c->momentum = 0.0;
        if (c->loop.steps == PV_AUTO_I64) c->loop.steps = pvi_paper_pgd_steps(p);
        return isnan(c->step) ? pvi_default_step(p, 0.5, &c->step) : PV_OK;
    }
    pvi_step_choice choice = { c->step, c->momentum, c->loop.steps };
    const pv_status s = pvi_default_steps(p, &pvi_pgd_rule, &choice);
    c->step = choice.step;
    c->momentum = choice.momentum;
    c->loop.steps = choice.steps;
    return s;
}

static pv_status resolve(void *c_, const pv_problem *p)
{
    cfg *c = c_;
    if (p->set && c->shrink != 1.0)
        return pvi_fail(p->ctx, PV_E_PARAM, "optimizer.shrink = %g would leave the set; leave it out", c->shrink);
    pv_status s = resolve_share(c, p);
    if (s == PV_OK) s = resolve_steps(c, p);
    return s == PV_OK ? pvi_schedule_check(&c->loop.sched, p, c->loop.steps) : s;
}

static pv_status noise(const void *c_, const pv_problem *p, double *z)
{
    static const char theorem[] = "Theorem 2 of DP-PGD";
    const cfg *c = c_;
    if (c->calibration != PVI_BY_PAPER) return PV_OK;
    pv_status s = pvi_paper_full(p, theorem, false, c->loop.steps, z);
    if (s == PV_OK) s = pvi_paper_equal_noise(p, theorem, &c->loop.sched);
    if (s == PV_OK) s = pvi_paper_equal_steps(p, theorem, &c->loop.sched);
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
    const pv_status st = pvi_loop_init(&s->loop, &c->loop, p, a);
    return st == PV_OK ? pvi_precondition_init(&s->pre, learns(c), p, a) : st;
}

static pv_status begin(state *s, const cfg *c, const pv_problem *p, pv_oracle *o, const double *w)
{
    const pvi_precondition_cost cost = { MOMENTS, learns(c) ? moment_events(c) : 0,
                                         p->planned[STEPS].stddev / sqrt((double)c->loop.steps) };
    const pv_status st = pvi_precondition_learn(&s->pre, &cost, p, o, w, s->at);
    const double q = s->pre.A ? s->pre.unit * p->joint->row_norm : 1.0;
    s->step = c->step * q * q; /* (3) */
    for (int64_t j = 0; j < p->d; j++) s->v[j] = s->prev[j] = s->at[j];
    pvi_loop_keep_start(&s->loop, p, s->at);
    return st;
}

/* Penalty and constraint of the step from v to x. */
static void finish(state *s, const pv_problem *p, double gamma, double *x)
{
    if (!s->pre.A) pv_prox(p, gamma, x); /* (1) */
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
    if ((st = pvi_loop_ask(&s->loop, t, o, s->v, s->g)) != PV_OK) return st; /* g_t; the only data access */
    add_penalty(s, p);

    const double gamma = pvi_loop_eta(&s->loop, s->step, t);
    for (int64_t j = 0; j < p->d; j++) x[j] = s->v[j] - gamma * s->g[j];
    finish(s, p, gamma, x);
    for (int64_t j = 0; j < p->d; j++) { /* (2) */
        s->v[j] = x[j] + c->momentum * (x[j] - s->prev[j]);
        s->prev[j] = x[j];
    }
    memcpy(s->w, x, (size_t)p->d * sizeof *x);
    st = pvi_loop_end(&s->loop, p, t, s->w);
    pvi_precondition_weights(&s->pre, p->d, s->w, w);
    for (int64_t j = 0; st == PV_DONE && j < p->d; j++) w[j] *= c->shrink; /* (5) */
    return st;
}

static void adjust(void *c_, const pv_problem *p) /* (5) */
{
    cfg *c = c_;
    const double r = pvi_signal_to_noise(p), clip = p->C / p->G;
    if (!(p->props & PV_FOR_TWO) || p->set || p->start) return;
    c->shrink = (clip < 0.4 ? 0.5 : clip < 0.7 ? 0.72 : 1.0) * r / sqrt(1.0 + r * r);
}

static double sample(const pv_problem *p, double columns) /* (4) */
{
    static const double enough = 20.0, least = 5.0, multiplier = 3.0, work = 0x1p32, most = 0x1p33;
    const double n = (double)p->n, T = (double)pvi_default_pgd_steps(p), z1 = p->mu * sqrt(T),
                 P = fmin(fmax(enough, multiplier * z1), fmax(most / (n * columns), fmax(least, z1)));
    if (p->relation == PV_REL_REPLACE || P > T / 4.0 || n * T * columns < work) return NAN;
    return ceil(P * n / T);
}

static bool motion(const void *c_, const pv_problem *p, pv_motion *out)
{
    const cfg *c = c_;
    *out = (pv_motion) { c->step, c->momentum, c->loop.steps, c->shrink };
    return c->loop.output == PVI_OUT_AVERAGE && !learns(c) && c->loop.sched.warmup == 0.0 &&
           pvi_schedule_equal_steps(&c->loop.sched) && pvi_schedule_equal_noise(&c->loop.sched) && !p->set &&
           p->props & PV_CONVEX && p->reg->props & PV_ZERO;
}

const pv_optimizer_ops pv_optimizer_pgd = {
    .head = { .name = "pgd",
              .summary = "noisy proximal gradient descent, full batch by default",
              .reference = "Wang, Xu 2019, Algorithm 1 (DP-PGD); Nesterov 1983 for the momentum",
              .cfg_size = sizeof(cfg),
              .state_size = sizeof(state),
              .params = params },
    .auto_for = PV_ANY_MODEL,
    .adjust = adjust,
    .sample = sample,
    .sampled = &pvi_poisson,
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
    .motion = motion,
    .bounds = pvi_bounds_gradient,
};
