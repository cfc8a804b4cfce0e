/* opt_fw_l2.c - DP-FW-L2: Frank-Wolfe on a noisy gradient.
 *
 * Solves    min_{w in C}  (1/n) sum_i f(w; z_i)
 * Iterates  g_t = ask(w_{t-1})                    clipped, summed, noised
 *           v_t = argmin_{v in C} <v, g_t>                                                       (1)
 *           w_t = w_{t-1} + gamma_t (v_t - w_{t-1}),        gamma_t = 2/(t + 2)                  (2)
 * Returns   w_T by default; `random` is what the theorem bounds
 *
 * Names     T: steps   gamma: step, a constant when given (1/(||C|| sqrt(T)) in the theorem for non-convex losses),
 *           or by its schedule (schedule.c)
 * Privacy   (1) and (2) act on released values only: T gradient queries, with the noise of schedule.c.
 * Defaults  T from 10 to 500, where the gain of a step and the noise of its vertex balance (defaults.c).
 * Cost      one query, one linear oracle and O(d) per step.
 * Reference DP-FW-L2 for non-convex losses; Jaggi 2013 for the step. */
#include "opt/bounds.h"
#include "opt/opt.h"

typedef struct cfg {
    pvi_loop_cfg loop;
    double step;
    int64_t calibration;
} cfg;

typedef struct state {
    pvi_loop loop;
    double *g, *v;
} state;

static const pv_param params[] = { PVI_LOOP_ROWS(PVI_OUT_LAST),
                                   { "step", PV_F64, offsetof(cfg, step), PV_AUTO, 1e-12, 1, false,
                                     "gamma, step towards the vertex; auto: 2/(t + 2), or 1 with a schedule", NULL },
                                   PVI_SCHEDULE_ROW("auto", false),
                                   PVI_NOISE_ROWS,
                                   PVI_CALIBRATION_ROW(cfg, "paper: noise, gamma = 1/(||C|| sqrt(T)) and T as there"),
                                   { 0 } };

static bool is_differentiable(const pv_plugin *h, uint32_t of)
{
    const pv_reg_ops *reg = (const pv_reg_ops *)(const void *)h;
    (void)of;
    return !reg->prox || reg->grad;
}

static pv_status resolve(void *c_, const pv_problem *p)
{
    cfg *c = c_;
    if (!is_differentiable(&p->reg->head, 0))
        return pvi_fail(p->ctx, PV_E_UNSUPPORTED,
                        "optimizer=fw-l2 needs a differentiable penalty, and reg=%s is not: use reg=%s",
                        p->reg->head.name, pv_names_where(PV_KIND_reg, is_differentiable, 0).text);
    if (c->calibration == PVI_BY_PAPER && c->loop.steps == PV_AUTO_I64) c->loop.steps = pvi_paper_fw_steps(p);
    if (c->loop.steps == PV_AUTO_I64) c->loop.steps = pvi_default_fw_steps(p, 10, 500);
    if (isnan(c->step) && c->calibration == PVI_BY_PAPER) c->step = fmin(pvi_paper_fw_gamma(p, c->loop.steps), 1.0);
    return pvi_schedule_check(&c->loop.sched, p, c->loop.steps);
}

static pv_status noise(const void *c_, const pv_problem *p, double *z)
{
    static const char theorem[] = "Theorem 4 of DP-FW-L2";
    const cfg *c = c_;
    if (c->calibration != PVI_BY_PAPER) return PV_OK;
    pv_status s = pvi_paper_equal_noise(p, theorem, &c->loop.sched);
    if (s == PV_OK) s = pvi_paper_equal_steps(p, theorem, &c->loop.sched);
    return s == PV_OK ? pvi_paper_vertices(p, c->loop.steps, z) : s;
}

static const pv_state arrays[] = {
    PVI_LOOP_ARRAY, { offsetof(state, g), PV_VECTOR }, { offsetof(state, v), PV_VECTOR }, { 0, 0 }
};

static pv_status step(void *s_, const void *c_, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    state *s = s_;
    const cfg *c = c_;
    const double gamma = pvi_loop_gamma(&s->loop, &c->loop, c->step, t);

    pvi_loop_begin(&s->loop, p, t, o, w);
    const pv_status st = pvi_loop_ask(&s->loop, t, o, w, s->g); /* g_t; the only data access */
    if (st != PV_OK) return st;
    if (p->reg->grad) p->reg->grad(p->reg_cfg, w, s->g, p->d);
    p->set->lmo(p->set_st, p->set_cfg, s->g, s->v, p->d);                /* (1) */
    for (int64_t j = 0; j < p->d; j++) w[j] += gamma * (s->v[j] - w[j]); /* (2) */
    return pvi_loop_end(&s->loop, p, t, w);
}

const pv_optimizer_ops pv_optimizer_fw_l2 = {
    .head = { .name = "fw-l2",
              .summary = "Frank-Wolfe on a noisy gradient",
              .reference = "Wang, Xu 2019, Algorithm 2 (DP-FW-L2); Jaggi 2013",
              .cfg_size = sizeof(cfg),
              .state_size = sizeof(state),
              .params = params },
    .needs = PV_LMO | PV_COMPACT,
    .ask = { { &pvi_query_gradient, &pv_mechanism_gaussian, &pvi_full, NULL } },
    .resolve = resolve,
    .plan = pvi_loop_plan,
    .state = arrays,
    .init = pvi_loop_start,
    .step = step,
    .steps = pvi_loop_steps,
    .noise = noise,
    .bounds = pvi_bounds_frank_wolfe,
};
