/* loop.c - the releases of a run, and which iterate it returns.
 *
 * Step t makes w_t of w_{t-1}, w_0 the start.
 *   average  mean of the last half of w_1..w_T      last    w_T
 *   average-all  mean of w_1..w_T                   ema     e_t = decay e_{t-1} + (1 - decay) w_t, divided by
 *   random   w_k, k uniform on 0..T-1                       1 - decay^t, decay = 1 - 10/T (at least 0.5)
 * random is the x_R of Wang, Xu 2019, R uniform on 1..T, with x_1 = w_0: k does not depend on rows, so it costs
 * nothing.
 * Keeping the iterate with the lowest loss would look at the data again and is not offered.
 * Length of steps and noise of releases: schedule.c. */
#include "opt/opt.h"

pv_status pvi_loop_plan(const void *cfg, const pv_problem *p, pv_arena *a, const pv_event **total)
{
    const pvi_loop_cfg *c = cfg;
    pvi_schedule s;
    const pv_status st = pvi_schedule_open(&s, &c->sched, p, c->steps, a);
    return st == PV_OK ? pvi_schedule_events(&s, p->planned[0].event, a, total) : st;
}

int64_t pvi_loop_steps(const void *cfg)
{
    return ((const pvi_loop_cfg *)cfg)->steps;
}

pv_status pvi_loop_init(pvi_loop *l, const pvi_loop_cfg *c, const pv_problem *p, pv_arena *a)
{
    l->rule = c->output;
    l->steps = c->steps;
    l->decay = fmax(0.5, 1.0 - 10.0 / (double)c->steps);
    return pvi_schedule_open(&l->sched, &c->sched, p, c->steps, a);
}

pv_status pvi_loop_start(void *state, const void *cfg, const pv_problem *p, pv_arena *a)
{
    return pvi_loop_init(state, cfg, p, a);
}

void pvi_loop_begin(pvi_loop *l, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    if (t > 1) return;
    if (l->rule == PVI_OUT_RANDOM) l->pick = pv_random_below(o, l->steps);
    pvi_set_start(p, w);
    pvi_loop_keep_start(l, p, w);
}

void pvi_loop_keep_start(pvi_loop *l, const pv_problem *p, const double *w)
{
    if (l->rule == PVI_OUT_RANDOM && l->pick == 0) memcpy(l->w, w, (size_t)p->d * sizeof *w);
}

pv_status pvi_loop_ask(const pvi_loop *l, int64_t t, pv_oracle *o, const double *at, double *out)
{
    const pv_spend once = { 1, pvi_schedule_factor(&l->sched, t) };
    return pv_ask(o, 0, at, once, out);
}

double pvi_loop_gamma(const pvi_loop *l, const pvi_loop_cfg *c, double step, int64_t t)
{
    if (strcmp(c->sched.steps, "auto") == 0) return isnan(step) ? 2.0 / ((double)t + 2.0) : step;
    return pvi_schedule_eta(&l->sched, isnan(step) ? 1.0 : step, t);
}

/* Share of w_t in what is returned. */
static double weight(pvi_loop *l, int64_t t)
{
    switch (l->rule) {
    case PVI_OUT_LAST: return t == l->steps;
    case PVI_OUT_RANDOM: return t == l->pick;
    case PVI_OUT_ALL: return 1.0 / (double)t;
    case PVI_OUT_EMA: return (1.0 - l->decay) / (1.0 - pow(l->decay, (double)t));
    default: return t > l->steps / 2 ? 1.0 / (double)++l->kept : 0.0;
    }
}

pv_status pvi_loop_end(pvi_loop *l, const pv_problem *p, int64_t t, double *w)
{
    const double a = weight(l, t);
    for (int64_t j = 0; a > 0.0 && j < p->d; j++) l->w[j] += a * (w[j] - l->w[j]);
    if (t < l->steps) return PV_OK;
    memcpy(w, l->w, (size_t)p->d * sizeof *w);
    return PV_DONE;
}
