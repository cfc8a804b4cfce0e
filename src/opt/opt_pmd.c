/* opt_pmd.c - DP-PMD: noisy proximal mirror descent.
 *
 * Solves    min_{w in C}  (1/n) sum_i f(w; z_i) + r(w)
 * Iterates  g_t = ask(w_{t-1})                                       clipped, summed, noised
 *           w_t = argmin_{x in C} gamma_t (<g_t, x> + r(x)) + D(x, w_{t-1})                              (1)
 *           D the Bregman divergence of the mirror map: Euclidean, entropy on the simplex, or
 *           1/2 ||.||_q^2 with q = 1 + 1/ln d on the l1 ball (mirror.c)
 * Returns   by default the average of the last half of the iterates; `random` is what the theorem bounds
 *
 * Names     gamma: step, gamma_t by its schedule (schedule.c), constant in the paper   T: steps   D: divergence
 * Privacy   (1) acts on released values only: T gradient queries, with the noise of schedule.c.
 * Defaults  the map made for the set; gamma = m/L, m the map's modulus of strong convexity in a norm not below l2's,
 *           for which a step decreases a smooth objective without noise; T from 20 to 1000, so that optimisation and
 *           noise balance (defaults.c).  calibration=paper: m/(2L ||C||^2) and T by Theorem 5 (paper.c (8)).
 * Cost      one query and one mirror step, O(d) or O(d log d), per iteration.
 * Reference DP-PMD for non-convex non-smooth losses; Beck, Teboulle 2003 for the maps. */
#include "opt/bounds.h"
#include "opt/opt.h"

typedef struct cfg {
    pvi_loop_cfg loop;
    double step;
    int64_t calibration;
    const char *mirror;
    const pv_mirror_ops *map; /* resolved */
} cfg;

typedef struct state {
    pvi_loop loop;
    double *g;
} state;

static const pv_param params[] = {
    PVI_LOOP_ROWS(PVI_OUT_AVERAGE),
    { "step", PV_F64, offsetof(cfg, step), PV_AUTO, 1e-12, 1e12, false, "gamma, step size; auto: at most 1/L", NULL },
    PVI_SCHEDULE_ROW("constant", false),
    PVI_WARMUP_ROW(0, false),
    PVI_NOISE_ROWS,
    { "mirror", PV_STR, offsetof(cfg, mirror), 0, 0, 0, false, "mirror map; auto: the one made for the set", "auto" },
    PVI_CALIBRATION_ROW(cfg, "paper: noise, step 1/(2L ||C||^2) and T as there"),
    { 0 }
};

static pv_status choose_map(cfg *c, const pv_problem *p)
{
    c->map = strcmp(c->mirror, "auto") == 0 ? pvi_mirror_default(p->set)
                                            : (const pv_mirror_ops *)(const void *)pv_find(PV_KIND_mirror, c->mirror);
    if (!c->map)
        return pvi_fail(p->ctx, PV_E_PARAM,
                        "optimizer.mirror=%s: no such mirror map, `privet list mirror` shows them", c->mirror);
    return c->map->check(p->ctx, p->reg, p->set);
}

static pv_status resolve_steps(cfg *c, const pv_problem *p)
{
    if (c->calibration == PVI_BY_PAPER) {
        if (c->loop.steps == PV_AUTO_I64) c->loop.steps = pvi_paper_pmd_steps(p);
        return isnan(c->step) ? pvi_default_step(p, pvi_paper_pmd_factor(p, c->map->modulus(p)), &c->step) : PV_OK;
    }
    const pvi_step_rule rule = { .factor = c->map->modulus(p), .least = 20, .most = 1000 };
    pvi_step_choice choice = { c->step, 0.0, c->loop.steps };
    const pv_status s = pvi_default_steps(p, &rule, &choice);
    c->step = choice.step;
    c->loop.steps = choice.steps;
    return s;
}

static pv_status resolve(void *c_, const pv_problem *p)
{
    cfg *c = c_;
    pv_status s = choose_map(c, p);
    if (s == PV_OK) s = resolve_steps(c, p);
    return s == PV_OK ? pvi_schedule_check(&c->loop.sched, p, c->loop.steps) : s;
}

static pv_status noise(const void *c_, const pv_problem *p, double *z)
{
    static const char theorem[] = "Theorem 5 of DP-PMD";
    const cfg *c = c_;
    if (c->calibration != PVI_BY_PAPER) return PV_OK;
    pv_status s = pvi_paper_full(p, theorem, true, c->loop.steps, z);
    if (s == PV_OK) s = pvi_paper_equal_noise(p, theorem, &c->loop.sched);
    if (s == PV_OK) s = pvi_paper_equal_steps(p, theorem, &c->loop.sched);
    const double most = pvi_paper_pmd_factor(p, c->map->modulus(p)) / pvi_smoothness(p);
    return s == PV_OK ? pvi_paper_step(p, theorem, c->step, most, 0.0) : s;
}

static const pv_state arrays[] = { PVI_LOOP_ARRAY, { offsetof(state, g), PV_VECTOR }, { 0, 0 } };

static pv_status step(void *s_, const void *c_, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    state *s = s_;
    const cfg *c = c_;

    pvi_loop_begin(&s->loop, p, t, o, w);
    const pv_status st = pvi_loop_ask(&s->loop, t, o, w, s->g); /* g_t; the only data access */
    if (st != PV_OK) return st;
    pv_reg_grad(p, w, s->g);
    c->map->step(p, pvi_loop_eta(&s->loop, c->step, t), s->g, w); /* (1) */
    return pvi_loop_end(&s->loop, p, t, w);
}

const pv_optimizer_ops pv_optimizer_pmd = {
    .head = { .name = "pmd",
              .summary = "noisy proximal mirror descent",
              .reference = "Wang, Xu 2019, Algorithm 3 (DP-PMD); Beck-Teboulle 2003",
              .cfg_size = sizeof(cfg),
              .state_size = sizeof(state),
              .params = params },
    .needs = 0,
    .ask = { { &pvi_query_gradient, &pv_mechanism_gaussian, &pvi_full, NULL } },
    .resolve = resolve,
    .plan = pvi_loop_plan,
    .state = arrays,
    .init = pvi_loop_start,
    .step = step,
    .steps = pvi_loop_steps,
    .noise = noise,
    .bounds = pvi_bounds_mirror,
};
