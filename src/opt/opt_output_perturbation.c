/* opt_output_perturbation.c - output perturbation: gradient descent in the closed, then noise on the weights, once.
 *
 * Solves    min (1/n) sum_i f(w; z_i) + r(w),  f convex and smooth,  r(w) = a ||w||_1 + (lambda/2) ||w||^2
 * Iterates  w_t = prox_{eta r}(w_{t-1} - eta grad), t = 1..T, of which only the last leaves: query_descent.c (1)
 * Returns   w_T + noise of standard deviation z D_T in every weight, D_T what one row moves w_T by at most
 *           (query_descent.c (6)): C/(n lambda) for a long descent, T eta C/n without lambda
 *
 * Names     T: passes   eta: step   C: clip   z: noise multiplier
 * Privacy   one Gaussian release, whatever T.
 * Defaults  eta = 1.9/L, just below 2/L, up to which the proof holds.
 *           With lambda, T is such that w_T is within D_T/10 of the minimiser from wherever it started:
 *             (1 + eta lambda)^-T C/lambda <= C/(10 n lambda)                                                    (1)
 *           Without, T eta is where optimisation and noise balance (defaults.c (6)).  20,000 passes at most.
 * Cost      T passes over the rows in double.
 * Reference Chaudhuri, Monteleoni, Sarwate 2011, Algorithm 1, with the Gaussian noise of Kifer, Smith, Thakurta 2012;
 *           Zhang, Zheng, Mou, Wang 2017 for a descent that is cut short. */
#include "opt/opt.h"

typedef struct cfg {
    int64_t passes;
    double step;
} cfg;

enum { MOST_PASSES = 20000 };

static const pv_param params[] = {
    { "passes", PV_I64, offsetof(cfg, passes), PV_AUTO, 1, 1e7, true,
      "T, gradient steps before the release; auto: to the minimum, if the penalty is strongly convex", NULL },
    { "step", PV_F64, offsetof(cfg, step), PV_AUTO, 1e-12, 1e12, true, "eta, at most 2/L; auto: 1.9/L", NULL },
    { 0 }
};

static int64_t default_passes(const cfg *c, const pv_problem *p)
{
    const double lambda = pvi_penalty_strong(p);
    const double T = lambda > 0.0 ? log(10.0 * (double)p->n) / log1p(c->step * lambda) /* (1) */
                                  : pvi_descent_horizon(p, p->C) / c->step;
    const int64_t passes = (int64_t)ceil(fmin(fmax(T, 1.0), MOST_PASSES));
    pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.passes = %lld: %s", (long long)passes,
            passes == MOST_PASSES ? "more would take long"
            : lambda > 0.0        ? "then the minimum is near enough"
                                  : "with more, noise outweighs what a pass gains");
    return passes;
}

static pv_status resolve(void *c_, const pv_problem *p)
{
    cfg *c = c_;
    const pv_status s = isnan(c->step) ? pvi_default_step(p, 1.9, &c->step) : PV_OK;
    if (s == PV_OK && c->passes == PV_AUTO_I64) c->passes = default_passes(c, p);
    return s;
}

static void descend(const void *c_, pv_descent *d)
{
    const cfg *c = c_;
    *d = (pv_descent) { c->passes, c->step };
}

static pv_status plan(const void *c_, const pv_problem *p, pv_arena *a, const pv_event **total)
{
    (void)c_;
    *total = pv_ev_repeat(a, 1, p->planned[0].event);
    return *total ? PV_OK : PV_E_NOMEM;
}

static pv_status step(void *s_, const void *c_, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    (void)s_, (void)c_, (void)p, (void)t;
    const pv_status s = pv_ask_once(o, w, w);
    return s == PV_OK ? PV_DONE : s;
}

static int64_t steps(const void *c_)
{
    (void)c_;
    return 1;
}

const pv_optimizer_ops pv_optimizer_output_perturbation = {
    .head = { .name = "output-perturbation",
              .summary = "gradient descent without noise, then noise on the weights: the classic baseline",
              .reference = "Chaudhuri-Monteleoni-Sarwate 2011; Zhang et al. 2017",
              .cfg_size = sizeof(cfg),
              .params = params },
    .needs = PV_PROX | PV_CONVEX,
    .ask = { { &pvi_query_descent, &pv_mechanism_gaussian, &pvi_full, NULL } },
    .resolve = resolve,
    .descend = descend,
    .plan = plan,
    .step = step,
    .steps = steps,
};
