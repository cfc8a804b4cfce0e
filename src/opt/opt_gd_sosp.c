/* opt_gd_sosp.c - DP-GD with a private choice of an iterate that looks second-order stationary: the baseline of `tr`.
 *
 * Iterates  (g_t, H_t) = pv_query_hess(w_{t-1}),   w_t = w_{t-1} - eta (g_t + r')                            (1)
 * Returns   the w_{t-1} with the smallest noisy gradient among those whose noisy Hessian has no eigenvalue below
 *           -max(sqrt(rho ||g_t||), noise), or among all if there is none                                    (2)
 *
 * Privacy   Wang, Chen, Xu 2019 spend half of the budget on T noisy gradients and half on testing the iterates.  Here
 *           the gradient of the step is also the one that is tested, and the Hessian comes in the same release: T
 *           joint Gaussian events; (2) is post-processing.
 * Defaults  eta = 1/L, T = 50.
 * Cost      one pass with a rank-k update and one eigendecomposition per step; 3 d^2 doubles.
 * Reference D. Wang, C. Chen, J. Xu, Differentially private empirical risk minimization with non-convex loss
 *           functions, ICML 2019, Algorithm 2; here as the DP-GD of Wang, Xu 2020. */
#include "opt/second.h"

typedef struct cfg {
    pvi_second_cfg second;
    double step;
} cfg;

typedef struct state {
    pvi_second s;
    double *best;
    double lowest;  /* gradient norm of the best so far */
    bool certified; /* it has passed the test of (2) */
} state;

static const pv_param params[] = { PVI_STEPS_ROW,
                                   { "step", PV_F64, offsetof(cfg, step), PV_AUTO, 1e-12, 1e12, false,
                                     "eta, step size; auto: 1/L", NULL },
                                   PVI_JOINT_ROWS,
                                   { 0 } };

static pv_status resolve(void *c_, const pv_problem *p)
{
    cfg *c = c_;
    pvi_second_cfg *s = &c->second;
    if (isnan(s->weight)) s->weight = s->calibration == PVI_SECOND_PAPER ? 1.0 : 0.7;
    if (isnan(s->growth)) s->growth = 1.0;
    if (s->loop.steps == PV_AUTO_I64) s->loop.steps = 50;
    return isnan(c->step) ? pvi_default_step(p, 1.0, &c->step) : PV_OK;
}

static pv_status init(void *s_, const void *c, const pv_problem *p, pv_arena *a)
{
    state *s = s_;
    s->lowest = INFINITY;
    s->best = pv_arena_f64(a, p->d);
    return s->best ? pvi_second_init(&s->s, c, p, a) : PV_E_NOMEM;
}

/* The penalty is public: its derivatives are added exactly, after noise was taken off the loss's where it can be. */
static pv_status add_penalty(state *s, const pv_problem *p, const double *w)
{
    const int64_t d = p->d;
    double *curved = s->s.h;
    pv_status st = PV_OK;
    if (p->joint->convex && d <= PVI_DENSE_TRUST && (st = pvi_second_eigen(&s->s, p)) != PV_OK) return st;
    memset(curved, 0, (size_t)d * sizeof *curved);
    p->reg->grad(p->reg_cfg, w, s->s.g, d);
    p->reg->curv(p->reg_cfg, w, curved, d);
    for (int64_t i = 0; i < d; i++) s->s.H[i * d + i] += curved[i];
    return PV_OK;
}

/* (2) for the point the last release was made at. */
static pv_status consider(state *s, const pv_problem *p, const double *w, int64_t units)
{
    const int64_t d = p->d;
    pvi_trust *t = &s->s.trust;
    memcpy(t->A, s->s.H, (size_t)(d * d) * sizeof *t->A);
    const pv_status st = pvi_eigen(d, t->A, t->value, t->work);
    if (st != PV_OK) return pvi_fail(p->ctx, st, "the noisy Hessian has no eigendecomposition");
    const double norm = pvi_norm2(s->s.g, d), rho = pvi_second_rho(p);
    const double noise = pvi_second_spread(d, pvi_second_entry(p, units));
    const bool passed = t->value[0] >= -fmax(isfinite(rho) ? sqrt(rho * norm) : 0.0, noise);
    if (passed < s->certified || (passed == s->certified && norm >= s->lowest)) return PV_OK;
    s->certified = passed;
    s->lowest = norm;
    memcpy(s->best, w, (size_t)d * sizeof *w);
    return PV_OK;
}

static pv_status step(void *s_, const void *c_, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    state *s = s_;
    const cfg *c = c_;
    const int64_t units = pvi_second_units(&c->second, t);

    pvi_loop_begin(&s->s.loop, p, t, o, w);
    pv_status st = pvi_second_query(&s->s, o, w, units);
    if (st == PV_OK) st = add_penalty(s, p, w);
    if (st == PV_OK) st = consider(s, p, w, units);
    if (st != PV_OK) return st;
    for (int64_t j = 0; j < p->d; j++) w[j] -= c->step * s->s.g[j]; /* (1) */
    if (t < c->second.loop.steps) return PV_OK;
    memcpy(w, s->best, (size_t)p->d * sizeof *w);
    return PV_DONE;
}

const pv_optimizer_ops pv_optimizer_gd_sosp = {
    .head = { .abi = PV_PLUGIN_ABI,
              .name = "gd-sosp",
              .summary = "noisy gradient descent that returns the iterate that looks second-order stationary",
              .reference = "Wang, Chen, Xu 2019 (DP-GD)",
              .cfg_size = sizeof(cfg),
              .state_size = sizeof(state),
              .params = params },
    .needs = PV_SMOOTH | PV_HESSIAN,
    .resolve = resolve,
    .plan = pvi_second_plan,
    .init = init,
    .step = step,
    .steps = pvi_loop_steps,
    .joint = pvi_second_joint,
    .warn = pvi_second_warn,
};
