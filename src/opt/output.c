/* output.c - which iterate a run returns, how its steps shrink, and how many there are by default.
 *
 *   average  mean of the last half of w_1..w_T      last    w_T
 *   random   w_k, k uniform on 1..T                 ema     e_t = decay e_{t-1} + (1 - decay) w_t, divided by
 *                                                           1 - decay^t, decay = 1 - 10/T (at least 0.5)
 * Keeping the iterate with the lowest loss would look at the data again and is not offered. */
#include "opt/opt.h"

pv_status pvi_output_init(pvi_output *o, int64_t rule, int64_t steps, int64_t d, pv_arena *a)
{
    o->rule = rule;
    o->steps = steps;
    o->decay = fmax(0.5, 1.0 - 10.0 / (double)steps);
    o->w = pv_arena_f64(a, d);
    return o->w ? PV_OK : PV_E_NOMEM;
}

void pvi_output_start(pvi_output *o, pv_oracle *oracle)
{
    if (o->rule == PVI_OUT_RANDOM) o->pick = 1 + pv_random_below(oracle, o->steps);
}

void pvi_output_keep(pvi_output *o, int64_t t, const double *w, int64_t d)
{
    double weight;
    switch (o->rule) {
    case PVI_OUT_LAST: weight = t == o->steps; break;
    case PVI_OUT_RANDOM: weight = t == o->pick; break;
    case PVI_OUT_EMA: weight = (1.0 - o->decay) / (1.0 - pow(o->decay, (double)t)); break;
    default: weight = t > o->steps / 2 ? 1.0 / (double)++o->kept : 0.0; break;
    }
    if (weight == 0.0) return;
    for (int64_t j = 0; j < d; j++) o->w[j] += weight * (w[j] - o->w[j]);
}

void pvi_output_take(const pvi_output *o, double *w, int64_t d)
{
    memcpy(w, o->w, (size_t)d * sizeof *w);
}

double pvi_schedule(int64_t kind, int64_t t, int64_t T)
{
    const double x = (double)(t - 1) / (double)T;
    switch (kind) {
    case 1: return 1.0 / (double)t;
    case 2: return 0.5 * (1.0 + cos(3.141592653589793 * x));
    case 3: return x < 0.5 ? 1.0 : x < 0.75 ? 0.1 : 0.01;
    default: return 1.0;
    }
}

double pvi_smoothness(const pv_problem *p)
{
    return p->L + (p->reg->prox || !p->reg->smooth ? 0.0 : p->reg->smooth(p->reg_cfg));
}

int64_t pvi_default_steps(const pv_problem *p, double eta, double beta, double N, int64_t lo, int64_t hi)
{
    if (!isfinite(p->mu)) return 2000; /* privacy off: steps are free */
    const double T = 16.0 * (1.0 - beta) * N * p->mu / (eta * p->G * sqrt((double)p->d));
    const int64_t steps = (int64_t)ceil(fmin(fmax(T, (double)lo), (double)hi));
    pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.steps = %lld: more would let the noise carry the weights too far",
            (long long)steps);
    return steps;
}

pv_status pvi_default_step(const pv_problem *p, double factor, double *eta)
{
    const double L = pvi_smoothness(p);
    if (!isfinite(L) || !(L > 0.0))
        return pvi_fail(p->ctx, PV_E_PARAM,
                        "this loss has no smoothness constant to take a step from: set optimizer.step");
    *eta = factor / L;
    pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.step = %g: %g/L with smoothness L = %g", *eta, factor, L);
    return PV_OK;
}
