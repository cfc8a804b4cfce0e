/* opt_gd_sosp.c - DP-GD with a private choice of an iterate that looks second-order stationary: the baseline of `tr`.
 *
 * Iterates  (g_t, H_t) = ask(w_{t-1}),   w_t = w_{t-1} - eta_t (g_t + r')                          (1)
 * Returns   of the w_{t-1} whose noisy Hessian has no eigenvalue below -max(sqrt(rho ||g_t||), noise), or of all if
 *           there is none, the last whose gradient is within noise of the smallest                           (2)
 *
 * Smallest  g_t has noise of variance a^2 in each of d weights, so e_t = ||g_t + r'||^2 - d a^2 is on average the
 *           square of the gradient's length; its standard deviation is a (2 d a^2 + 4 length^2)^(1/2).  In (2), e_t
 *           at most two of these above the smallest e so far.  Late in a run all e_t are alike, and the plain
 *           smallest would be one picked by noise, from anywhere.                                            (3)
 * Privacy   Wang, Chen, Xu 2019 spend half of the budget on T noisy gradients and half on testing the iterates.  Here
 *           the gradient of the step is also the one that is tested, and the Hessian comes in the same release: T
 *           joint Gaussian events; (1) to (5) are post-processing or public.
 * Defaults  Sum of the lengths of all steps over that of the gradient
 *             h = 0.8 H, H the horizon of defaults.c;  with a penalty of strong convexity lambda at most       (4)
 *             ln(1 + 2 lambda f0/(s^2 d))/(2 lambda),
 *           where f0 e^(-2 lambda h), what is left of the start's f0 = G^2/(4L), falls as fast as four times the
 *           noise s^2 d h/4 of defaults.c grows.  T = h L steps within 50 .. 1000.  The second half of them shrinks
 *           towards 0, so that the noise of the last iterate does, too:
 *             eta = the lesser of h/(3T/4) and 10/L,
 *             eta_t = min(eta, max(1/L, 1.8/top eigenvalue of H_t + r'')) min(1, 2 (T - t + 1)/T)              (5)
 *           L is what the curvature could be, the eigenvalue what it is, and 2 over it the longest step that does not
 *           diverge.  The numbers 0.8, 1.8 and 10 were chosen by gaps on four problems
 *           (docs/algorithms/gd-sosp.md).  calibration=paper: T = 50, eta_t = 1/L.
 * Schedule  another one (schedule.c) than auto takes the place of the last factor of (5).  Noise by schedule.c: a in
 *           (3) is that of the step; with growth, which is a schedule of its own, there is no other.
 * Cost      one pass with a rank-k update and one eigendecomposition per step; 3 d^2 doubles.
 * Reference D. Wang, C. Chen, J. Xu, Differentially private empirical risk minimization with non-convex loss
 *           functions, ICML 2019, Algorithm 2; here as the DP-GD of Wang, Xu 2020. */
#include "opt/bounds.h"
#include "opt/second_order.h"

typedef struct cfg {
    pvi_second_cfg second;
    double step;
} cfg;

typedef struct state {
    pvi_second s;
    double *best;
    double lowest;  /* e of (3), the smallest so far */
    bool certified; /* it has passed the test of (2) */
} state;

static const pv_param params[] = {
    PVI_STEPS_ROW,
    { "step", PV_F64, offsetof(cfg, step), PV_AUTO, 1e-12, 1e12, false,
      "eta, longest step, shrinking in the second half; above 1/L only as long as the released curvature allows",
      NULL },
    PVI_SCHEDULE_ROW("auto", false),
    PVI_WARMUP_ROW(0, false),
    PVI_NOISE_ROWS,
    PVI_JOINT_ROWS,
    { 0 }
};

static double path_length(const pv_problem *p) /* (4) */
{
    const double lambda = p->reg->strong ? p->reg->strong(p->reg_cfg) : 0.0, s = pvi_run_noise(p, p->C);
    const double h = 0.8 * pvi_horizon(p, p->C), f0 = 0.25 * p->C * p->C / p->L;
    return lambda > 0.0 ? fmin(h, log1p(2.0 * lambda * f0 / (s * s * (double)p->d)) / (2.0 * lambda)) : h;
}

static pv_status resolve_steps(cfg *c, const pv_problem *p)
{
    pvi_second_cfg *s = &c->second;
    if (s->calibration == PVI_SECOND_PAPER && s->loop.steps == PV_AUTO_I64) s->loop.steps = 50;
    if (s->calibration == PVI_SECOND_PAPER && isnan(c->step)) return pvi_default_step(p, 1.0, &c->step);
    const double L = pvi_smoothness(p), h = path_length(p);
    if (!isfinite(L) || !(L > 0.0)) return isnan(c->step) ? pvi_default_step(p, 1.0, &c->step) : PV_OK;
    if (s->loop.steps == PV_AUTO_I64) {
        s->loop.steps = (int64_t)fmin(fmax(ceil(h * L), 50.0), 1000.0);
        pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.steps = %lld: %s", (long long)s->loop.steps,
                h * L > 1000.0 ? "more would do, time is the limit" : "more would gain less than their noise costs");
    }
    if (!isnan(c->step)) return PV_OK;
    c->step = fmin(h / (0.75 * (double)s->loop.steps), 10.0 / L); /* (5) */
    pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.step = %.3g, or as much less as the released curvature asks for",
            c->step);
    return PV_OK;
}

static pv_status resolve(void *c_, const pv_problem *p)
{
    static const char theorem[] = "Algorithm 2 of Wang, Chen, Xu";
    cfg *c = c_;
    pvi_second_cfg *s = &c->second;
    const bool paper = s->calibration == PVI_SECOND_PAPER;
    if (isnan(s->weight)) s->weight = paper ? 1.0 : 0.7;
    if (isnan(s->growth)) s->growth = 1.0;
    pv_status st = resolve_steps(c, p);
    if (st == PV_OK && paper) st = pvi_paper_equal_noise(p, theorem, &s->loop.sched);
    if (st == PV_OK && paper) st = pvi_paper_equal_steps(p, theorem, &s->loop.sched);
    if (st == PV_OK && s->growth != 1.0 && !pvi_schedule_equal_noise(&s->loop.sched))
        st = pvi_fail(p->ctx, PV_E_PARAM,
                      "optimizer.growth and optimizer.noise both spread the budget: leave one out");
    return st == PV_OK ? pvi_schedule_check(&s->loop.sched, p, s->loop.steps) : st;
}

static const pv_state arrays[] = { PVI_SECOND_ARRAYS, { offsetof(state, best), PV_VECTOR }, { 0, 0 } };

static pv_status init(void *s_, const void *c, const pv_problem *p, pv_arena *a)
{
    state *s = s_;
    s->lowest = INFINITY;
    return pvi_second_init(&s->s, c, p, a);
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
static pv_status consider(state *s, const pvi_second_cfg *c, const pv_problem *p, const double *w, int64_t units,
                          double louder)
{
    const int64_t d = p->d;
    pvi_trust *t = &s->s.trust;
    memcpy(t->A, s->s.H, (size_t)(d * d) * sizeof *t->A);
    const pv_status st = pvi_eigen(d, t->A, t->value, t->work);
    if (st != PV_OK) return pvi_fail(p->ctx, st, "the noisy Hessian has no eigendecomposition");
    const double norm = pvi_norm2(s->s.g, d), rho = pvi_second_rho(p);
    const double noise = pvi_second_noise_norm(d, louder * pvi_second_entry(c, p, units));
    const bool passed = t->value[0] >= -fmax(isfinite(rho) ? sqrt(rho * norm) : 0.0, noise);
    const double a = louder * pvi_second_noise(c, p, units), e = norm * norm - (double)d * a * a; /* (3) */
    if (passed < s->certified) return PV_OK;
    if (passed > s->certified) s->lowest = INFINITY;
    const double sd = a * sqrt(2.0 * (double)d * a * a + 4.0 * fmax(fmin(s->lowest, e), 0.0));
    if (!(e <= s->lowest + 2.0 * sd)) return PV_OK;
    s->certified = passed;
    s->lowest = fmin(s->lowest, e);
    memcpy(s->best, w, (size_t)d * sizeof *w);
    return PV_OK;
}

/* (5); the eigenvalues are those consider() found. */
static double step_now(const state *s, const cfg *c, const pv_problem *p, int64_t t)
{
    const double top = s->s.trust.value[p->d - 1], L = pvi_smoothness(p), T = (double)c->second.loop.steps;
    if (c->second.calibration == PVI_SECOND_PAPER) return c->step;
    const double longest = fmin(c->step, fmax(1.0 / L, 1.8 / fmax(top, 0.0))); /* 1.8/0: no limit */
    if (strcmp(c->second.loop.sched.steps, "auto") == 0)
        return longest * fmin(1.0, 2.0 * (T - (double)t + 1.0) / T) * pvi_loop_eta(&s->s.loop, 1.0, t);
    return pvi_loop_eta(&s->s.loop, longest, t);
}

static pv_status step(void *s_, const void *c_, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    state *s = s_;
    const cfg *c = c_;
    const int64_t units = pvi_second_units(&c->second, t);
    const double louder = pvi_schedule_factor(&s->s.loop.sched, t);

    pvi_loop_begin(&s->s.loop, p, t, o, w);
    pv_status st = pvi_second_query(&s->s, o, w, units, louder);
    if (st == PV_OK) st = add_penalty(s, p, w);
    if (st == PV_OK) st = consider(s, &c->second, p, w, units, louder);
    if (st != PV_OK) return st;
    const double eta = step_now(s, c, p, t);
    for (int64_t j = 0; j < p->d; j++) w[j] -= eta * s->s.g[j]; /* (1) */
    if (t < c->second.loop.steps) return PV_OK;
    memcpy(w, s->best, (size_t)p->d * sizeof *w);
    return PV_DONE;
}

const pv_optimizer_ops pv_optimizer_gd_sosp = {
    .head = { .name = "gd-sosp",
              .summary = "noisy gradient descent that returns the iterate that looks second-order stationary",
              .reference = "Wang, Chen, Xu 2019 (DP-GD)",
              .cfg_size = sizeof(cfg),
              .state_size = sizeof(state),
              .params = params },
    .needs = PV_SMOOTH | PV_HESSIAN,
    .ask = { { &pvi_query_hessian, &pv_mechanism_gaussian, &pvi_full, NULL } },
    .resolve = resolve,
    .plan = pvi_second_plan,
    .state = arrays,
    .init = init,
    .step = step,
    .steps = pvi_loop_steps,
    .weigh = pvi_second_weigh,
    .warn = pvi_second_warn,
    .bounds = pvi_bounds_sosp,
};
