/* second_order.c - releases of gradient and Hessian, joint or apart, and what is made of them without looking at rows
 * again.
 *
 * A release at w with u events gives  g~ = g + N(0, a^2 I),  H~ = H + E / s,  a = sigma/(n sqrt u),  E symmetric with
 * variance a^2 on the diagonal and a^2/2 beside it (query_hessian.c (1)).
 *
 * Spreading the budget.  The plan holds U events of equal noise; step t spends u_t of them on one release,
 * (1) u_t = round(q^((t-1)/(T-1))), q = growth.  Early steps only have to come closer, the last decide the result.
 *     What a step asks may depend on all earlier releases (adaptive composition); the number and the noise of the
 *     events do not, so no filter theorem is needed.  The same holds for
 * (2) stopping early: a run that decides, from released values, to stop at step t spends what is left on one last
 *     release at its last point, with noise sigma/sqrt(what is left).
 *
 * Post-processing, free of cost:
 * (3) The Hessian of an average of convex losses has eigenvalues in [0, L]: those of H~ are moved there.
 * (4) The penalty is public: r'(w) and diag r''(w) are added exactly.
 * (5) ||E/s|| is about (2 d)^(1/2) a / s; `damping` times that is added to the diagonal, since curvature below it is
 *     not distinguishable from noise.
 * (6) Second moments of the rows, where they are asked for (precondition.c), come before the first step and spend
 *     `share` of all events.
 * Apart (opt_str2.c): a step is one release of the gradient and one of the Hessian, each on a sample of its own; with
 * several events, as many pairs of them, averaged.
 * (7) H~ = H + E, E with the noise of the release of H.  calibration=paper has the same noise on means of |S| and of
 *     |T| rows, so that the multipliers of the sums are as |S| to |T|; the smaller one is planned. */
#include "opt/second_order.h"
#include "acct/acct.h"

int64_t pvi_second_units(const pvi_second_cfg *c, int64_t t)
{
    return pvi_spread_units(c->growth, c->loop.steps, t); /* (1) */
}

int64_t pvi_second_total(const pvi_second_cfg *c)
{
    return pvi_spread_total(c->growth, c->loop.steps);
}

int64_t pvi_second_moment_units(const pvi_second_cfg *c)
{
    return pvi_spread_first(c->share, pvi_second_total(c)); /* (6) */
}

bool pvi_second_learns(const void *cfg)
{
    return ((const pvi_second_cfg *)cfg)->share > 0.0;
}

void pvi_second_weigh(const void *cfg, const pv_problem *p, pv_joint *j)
{
    const pvi_second_cfg *c = cfg;
    j->plain = c->calibration == PVI_SECOND_PAPER;
    j->scale = c->weight * p->joint->grad / p->joint->hess;
    if (j->plain) j->scale /= sqrt((double)p->d);
}

static bool apart(const pv_problem *p)
{
    return p->planned[PVI_SECOND_HESSIAN].event != NULL;
}

/* (7): noise of this ask over the planned one. */
static double times(const pvi_second_cfg *c, const pv_problem *p, int ask)
{
    const double rows = p->planned[ask].batch;
    if (!apart(p) || c->calibration != PVI_SECOND_PAPER) return 1.0;
    return rows / fmin(p->planned[PVI_SECOND_STEPS].batch, p->planned[PVI_SECOND_HESSIAN].batch);
}

static const pv_event *one_step(const pvi_second_cfg *c, const pv_problem *p, pv_arena *a)
{
    static const int asks[2] = { PVI_SECOND_STEPS, PVI_SECOND_HESSIAN };
    const pv_event *both[2];
    if (!apart(p)) return p->planned[PVI_SECOND_STEPS].event;
    for (int i = 0; i < 2; i++)
        if (!(both[i] = pvi_event_scale(a, p->planned[asks[i]].event, times(c, p, asks[i])))) return NULL;
    return pv_ev_seq(a, 2, both);
}

pv_status pvi_second_plan(const void *cfg, const pv_problem *p, pv_arena *a, const pv_event **total)
{
    const pvi_second_cfg *c = cfg;
    const int64_t first = pvi_second_moment_units(cfg);
    const pv_event *steps = NULL;
    if (!pvi_schedule_equal_noise(&c->loop.sched))
        return pvi_loop_plan(cfg, p, a, total); /* growth is 1, no moments */
    steps = pv_ev_repeat(a, pvi_second_total(cfg), one_step(cfg, p, a));
    *total = steps;
    if (steps && first > 0) {
        const pv_event *both[2] = { pv_ev_repeat(a, first, p->planned[PVI_SECOND_MOMENTS].event), steps };
        *total = pv_ev_seq(a, 2, both);
    }
    return *total ? PV_OK : PV_E_NOMEM;
}

double pvi_second_noise(const pvi_second_cfg *c, const pv_problem *p, int64_t units)
{
    return times(c, p, PVI_SECOND_STEPS) * p->planned[PVI_SECOND_STEPS].stddev / sqrt((double)units);
}

double pvi_second_entry(const pvi_second_cfg *c, const pv_problem *p, int64_t units)
{
    if (!apart(p)) return pvi_second_noise(c, p, units) / (p->joint->scale * sqrt(2.0));
    return times(c, p, PVI_SECOND_HESSIAN) * p->planned[PVI_SECOND_HESSIAN].stddev /
           sqrt(2.0 * (double)units); /* (7) */
}

void pvi_second_warn(const void *cfg, const pv_problem *p)
{
    const pvi_second_cfg *c = cfg;
    const double noise = pvi_second_noise_norm(p->d, pvi_second_entry(c, p, pvi_second_units(c, c->loop.steps)));
    if (noise < p->L) return;
    pvi_log(p->ctx, PV_LOG_WARN,
            "signal to noise of the Hessian is %.2g: its noise is about %.3g, and no curvature of this loss is above "
            "%.3g; "
            "a first-order method would do better",
            p->L / noise, noise, p->L);
}

pv_status pvi_second_init(pvi_second *s, const pvi_second_cfg *c, const pv_problem *p, pv_arena *a)
{
    s->left = pvi_second_total(c);
    s->g = pv_arena_f64(a, p->d + p->d * p->d);
    s->trust.krylov = c->krylov;
    if (!s->g || pvi_trust_open(&s->trust, p->d, a) != PV_OK) return PV_E_NOMEM;
    s->H = s->g + p->d;
    s->times[0] = times(c, p, PVI_SECOND_STEPS);
    s->times[1] = times(c, p, PVI_SECOND_HESSIAN);
    const pv_status st = pvi_loop_init(&s->loop, &c->loop, p, a);
    if (st != PV_OK || !apart(p)) return st;
    s->one = pv_arena_f64(a, p->d * p->d);
    return s->one ? PV_OK : PV_E_NOMEM;
}

double pvi_second_rho(const pv_problem *p)
{
    return p->joint->rho + (p->reg->third ? p->reg->third(p->reg_cfg) : 0.0);
}

pv_status pvi_second_eigen(pvi_second *s, const pv_problem *p)
{
    memcpy(s->trust.A, s->H, (size_t)(p->d * p->d) * sizeof *s->H);
    const pv_status st = pvi_eigen(p->d, s->trust.A, s->trust.value, s->trust.work);
    if (st != PV_OK) return pvi_fail(p->ctx, st, "the noisy Hessian has no eigendecomposition");
    if (!p->joint->convex) return PV_OK;
    double *e = s->trust.work; /* (3) */
    for (int64_t k = 0; k < p->d; k++) e[k] = fmin(fmax(s->trust.value[k], 0.0), p->L);
    pvi_from_eigen(p->d, s->trust.A, e, s->H);
    return PV_OK;
}

/* mean += (answer - mean)/number, the answer one event of this ask. */
static pv_status ask_once(pvi_second *s, pv_oracle *o, int ask, const double *w, int64_t number, double *mean,
                          int64_t size)
{
    const pv_spend how = { 1, s->times[ask == PVI_SECOND_HESSIAN] };
    const pv_status st = pv_ask(o, ask, w, how, number == 1 ? mean : s->one);
    for (int64_t i = 0; st == PV_OK && number > 1 && i < size; i++) mean[i] += (s->one[i] - mean[i]) / (double)number;
    return st;
}

static pv_status ask_apart(pvi_second *s, pv_oracle *o, const double *w, int64_t units)
{
    const int64_t d = s->H - s->g;
    pv_status st = PV_OK;
    for (int64_t k = 1; st == PV_OK && k <= units; k++) {
        st = ask_once(s, o, PVI_SECOND_STEPS, w, k, s->g, d);
        if (st == PV_OK) st = ask_once(s, o, PVI_SECOND_HESSIAN, w, k, s->H, d * d);
    }
    return st;
}

pv_status pvi_second_query(pvi_second *s, pv_oracle *o, const double *w, int64_t units, double louder)
{
    const pv_status st =
        s->one ? ask_apart(s, o, w, units) : pv_ask(o, PVI_SECOND_STEPS, w, (pv_spend) { units, louder }, s->g);
    if (st == PV_OK) s->left -= units;
    return st;
}
