/* opt_evaluation.c - one release at the weights that a model has: how its scores go with the labels of other rows.
 *
 * Asks      once, for the counts of query_scores.c, at the start
 * Returns   the start
 * Privacy   one Gaussian release of every unit, of sensitivity sqrt 2 (2 under replace): query_scores.c (1), (2)
 * `privet eval --epsilon` plans with it (api/evaluate.c); it trains nothing, so that no list of choices has it. */
#include "opt/opt.h"

typedef struct state {
    double *share; /* the answer: noisy counts over the units */
} state;

static pv_status resolve(void *cfg, const pv_problem *p)
{
    (void)cfg, (void)p;
    return PV_OK;
}

static pv_status plan(const void *cfg, const pv_problem *p, pv_arena *a, const pv_event **total)
{
    (void)cfg;
    *total = pv_ev_repeat(a, 1, p->planned[0].event);
    return *total ? PV_OK : PV_E_NOMEM;
}

static pv_status init(void *s_, const void *cfg, const pv_problem *p, pv_arena *a)
{
    state *s = s_;
    (void)cfg;
    s->share = pv_arena_f64(a, pvi_score_planned(p->outputs == 1 ? 2 : p->outputs, (double)p->n, p->mu).cells);
    return s->share ? PV_OK : PV_E_NOMEM;
}

static pv_status step(void *s_, const void *cfg, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    state *s = s_;
    (void)cfg, (void)t;
    for (int64_t k = 0; k < p->d; k++) w[k] = p->start ? p->start[k] : 0.0;
    const pv_status st = pv_ask_once(o, w, s->share);
    return st == PV_OK ? PV_DONE : st;
}

static const double *released(const void *s_)
{
    return ((const state *)s_)->share;
}

static int64_t steps(const void *cfg)
{
    (void)cfg;
    return 1;
}

const pv_optimizer_ops pv_optimizer_evaluation = {
    .head = { .name = "evaluation",
              .summary = "counts of scores by class at the weights it starts from",
              .reference = "query_scores.c",
              .state_size = sizeof(state),
              .params = pv_no_params },
    .ask = { { &pvi_query_scores, &pv_mechanism_gaussian, &pvi_full, NULL } },
    .resolve = resolve,
    .plan = plan,
    .init = init,
    .step = step,
    .released = released,
    .steps = steps,
};
