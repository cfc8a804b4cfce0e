/* opt_fw_l1.c - DP-FW-L1: Frank-Wolfe with a privately chosen vertex.
 *
 * Solves    min_{w in C}  (1/n) sum_i f(w; z_i),   C the hull of finitely many vertices v_1..v_K
 * Iterates  k_t = ask(w_{t-1})      about argmin_k <v_k, grad F(w_{t-1})>               (1)
 *           w_t = (1 - gamma_t) w_{t-1} + gamma_t v_{k_t},    gamma_t = 2/(t + 2)                 (2)
 * Returns   w_T by default
 *
 * Names     T: steps   gamma: step, a constant when given, or by its schedule (schedule.c)
 * Privacy   (1) is the exponential mechanism with score -<v_k, sum of clipped gradients>.  One row moves
 *           every score by at most max_k ||v_k|| C (twice that under replace): with ||v_k||_1 where rows are
 *           bounded in their largest value, with ||v_k||_2 where they are bounded in length.  A selection with
 *           parameter eps_0 has bounded range eps_0, hence costs eps_0^2/8 in zCDP, far less than advanced
 *           composition of eps_0-DP steps.  (2) is post-processing.  Noise may change by schedule.c.
 * Start     the member of C nearest to 0, or some vertex: chosen without looking at rows.
 * Defaults  a selection finds the best of K vertices up to about 2 Delta ln(K) / eps_0, eps_0 = mu sqrt(8/T)/2 or so,
 *           and (2) needs T of about 1/accuracy: T = (mu n / (ln K))^{2/3}, within 10 .. 1000     (3)
 * Cost      one pass over the non-zeros and O(d + K) per step.
 * Reference Talwar, Thakurta, Zhang 2015; bounded range: Dong, Durfee, Rogers 2020. */
#include "opt/bounds.h"
#include "opt/opt.h"

typedef struct cfg {
    pvi_loop_cfg loop;
    double step;
    int64_t calibration;
} cfg;

typedef struct state {
    pvi_loop loop;
    double *v;
} state;

static const pv_param params[] = { PVI_LOOP_ROWS(PVI_OUT_LAST),
                                   { "step", PV_F64, offsetof(cfg, step), PV_AUTO, 1e-12, 1, false,
                                     "gamma, step towards the vertex; auto: 2/(t + 2), or 1 with a schedule", NULL },
                                   PVI_SCHEDULE_ROW("auto", false),
                                   PVI_NOISE_ROWS,
                                   PVI_CALIBRATION_ROW(cfg,
                                                       "paper: noise by advanced composition, gamma and T as there"),
                                   { 0 } };

static pv_status resolve_steps(cfg *c, const pv_problem *p)
{
    if (!(p->reg->props & PV_ZERO))
        return pvi_fail(p->ctx, PV_E_UNSUPPORTED,
                        "optimizer=fw-l1 has no step for reg=%s: use reg=%s, the set keeps w small",
                        p->reg->head.name, pv_names_with(PV_KIND_reg, PV_ZERO).text);
    if (c->calibration == PVI_BY_PAPER && c->loop.steps == PV_AUTO_I64) c->loop.steps = pvi_paper_choices(p);
    if (c->calibration == PVI_BY_PAPER && isnan(c->step)) c->step = fmin(pvi_paper_gamma(p, c->loop.steps), 1.0);
    if (c->loop.steps != PV_AUTO_I64) return PV_OK;
    const double K = (double)p->set->atoms(p->set_st, p->set_cfg, p->d);
    const double T = isfinite(p->mu) ? pow(p->mu * (double)p->n / log(fmax(K, 2.0)), 2.0 / 3.0) : 1000.0; /* (3) */
    c->loop.steps = (int64_t)ceil(fmin(fmax(T, 10.0), 1000.0));
    pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.steps = %lld: more selections would each be too noisy",
            (long long)c->loop.steps);
    return PV_OK;
}

static pv_status resolve(void *c_, const pv_problem *p)
{
    cfg *c = c_;
    const pv_status s = resolve_steps(c, p);
    return s == PV_OK ? pvi_schedule_check(&c->loop.sched, p, c->loop.steps) : s;
}

static pv_status noise(const void *c_, const pv_problem *p, double *z)
{
    static const char theorem[] = "Theorem 6 of DP-FW-L1";
    const cfg *c = c_;
    if (c->calibration != PVI_BY_PAPER) return PV_OK;
    pv_status s = pvi_paper_equal_noise(p, theorem, &c->loop.sched);
    if (s == PV_OK) s = pvi_paper_equal_steps(p, theorem, &c->loop.sched);
    return s == PV_OK ? pvi_paper_selection(p, c->loop.steps, z) : s;
}

static const pv_state arrays[] = { PVI_LOOP_ARRAY, { offsetof(state, v), PV_VECTOR }, { 0, 0 } };

static pv_status step(void *s_, const void *c_, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    state *s = s_;
    const cfg *c = c_;
    const double gamma = pvi_loop_gamma(&s->loop, &c->loop, c->step, t);
    double k;

    pvi_loop_begin(&s->loop, p, t, o, w);
    const pv_status st = pvi_loop_ask(&s->loop, t, o, w, &k); /* (1), the only data access */
    if (st != PV_OK) return st;
    p->set->atom(p->set_st, p->set_cfg, (int64_t)k, s->v, p->d);
    for (int64_t j = 0; j < p->d; j++) w[j] += gamma * (s->v[j] - w[j]); /* (2) */
    return pvi_loop_end(&s->loop, p, t, w);
}

const pv_optimizer_ops pv_optimizer_fw_l1 = {
    .head = { .name = "fw-l1",
              .summary = "Frank-Wolfe, vertex by the exponential mechanism",
              .reference = "Wang, Xu 2019, Algorithm 4 (DP-FW-L1); Talwar-Thakurta-Zhang 2015",
              .cfg_size = sizeof(cfg),
              .state_size = sizeof(state),
              .params = params },
    .needs = PV_LMO | PV_COMPACT,
    .ask = { { &pvi_query_gradient, &pv_mechanism_select, &pvi_full, NULL } },
    .resolve = resolve,
    .plan = pvi_loop_plan,
    .state = arrays,
    .init = pvi_loop_start,
    .step = step,
    .steps = pvi_loop_steps,
    .noise = noise,
    .bounds = pvi_bounds_vertices,
};
