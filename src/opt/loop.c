/* loop.c - which iterate a run returns, and how its steps shrink.
 *
 *   average  mean of the last half of w_1..w_T      last    w_T
 *   random   w_k, k uniform on 1..T                 ema     e_t = decay e_{t-1} + (1 - decay) w_t, divided by
 *                                                           1 - decay^t, decay = 1 - 10/T (at least 0.5)
 * Keeping the iterate with the lowest loss would look at the data again and is not offered. */
#include "opt/opt.h"

pv_status pvi_loop_plan(const void *cfg, const pv_problem *p, pv_arena *a, const pv_event **total)
{
    const pvi_loop_cfg *c = cfg;
    *total = pv_ev_repeat(a, c->steps, p->planned[0].event);
    return *total ? PV_OK : PV_E_NOMEM;
}

int64_t pvi_loop_steps(const void *cfg)
{
    return ((const pvi_loop_cfg *)cfg)->steps;
}

void pvi_loop_init(pvi_loop *l, const pvi_loop_cfg *c)
{
    l->rule = c->output;
    l->steps = c->steps;
    l->decay = fmax(0.5, 1.0 - 10.0 / (double)c->steps);
}

pv_status pvi_loop_start(void *state, const void *cfg, const pv_problem *p, pv_arena *a)
{
    (void)p, (void)a;
    pvi_loop_init(state, cfg);
    return PV_OK;
}

void pvi_loop_begin(pvi_loop *l, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    if (t > 1) return;
    if (l->rule == PVI_OUT_RANDOM) l->pick = 1 + pv_random_below(o, l->steps);
    pvi_set_start(p, w);
}

/* Share of w_t in what is returned. */
static double weight(pvi_loop *l, int64_t t)
{
    switch (l->rule) {
    case PVI_OUT_LAST: return t == l->steps;
    case PVI_OUT_RANDOM: return t == l->pick;
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

static double shape(int64_t kind, int64_t t, int64_t T)
{
    const double x = (double)(t - 1) / (double)T;
    switch (kind) {
    case 1: return 1.0 / (double)t;
    case 2: return 0.5 * (1.0 + cos(3.141592653589793 * x));
    case 3: return x < 0.5 ? 1.0 : x < 0.75 ? 0.1 : 0.01;
    default: return 1.0;
    }
}

double pvi_schedule(int64_t kind, int64_t drop, int64_t t, int64_t T)
{
    return shape(kind, t, T) * (drop > 0 && t > drop ? 0.1 : 1.0);
}
