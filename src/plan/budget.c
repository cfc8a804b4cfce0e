/* budget.c - what the planned releases cost, and how much noise makes them cost no more than the budget.
 *
 * The noise multiplier z of all releases is one number, calibrated so that the event tree, whose leaves name their
 * release, costs at most (epsilon, delta); release.c makes noise of it.
 * The accountant assumes ideal draws; ours are within tau in total variation over the whole run (mech/):
 *   (1) delta = delta_account + (1 + e^epsilon) tau; a fixed share of delta is set aside for the second term.
 * Where laws are close by ratio as well, P' <= e^kappa P + tau and P <= e^kappa P' + tau (pvi_close), e^epsilon
 * multiplies the far smaller tau of rare outcomes only.  For neighbours D, D' and p = P'_D'(S),
 *       P'_D(S) <= e^kappa (e^epsilon (e^kappa p + tau) + delta_account) + tau,
 * and P'_D(S) <= 1: where e^epsilon p >= 1 there is nothing to show, elsewhere e^{2 kappa} e^epsilon p exceeds
 * e^epsilon p by at most e^{2 kappa} - 1.  So, with e^kappa delta_account <= delta_account + 2 kappa for kappa <= 1,
 *   (2) delta = delta_account + 5 kappa + (1 + e^{epsilon + kappa}) tau.
 * Noise and sampler of each release take the smaller of (1) and (2), since kappas and taus add up.
 * A stage before the optimiser has a multiplier of its own, which is settled first:
 *   (4) 1/(sqrt(s) mu), s its share and mu the parameter of a Gaussian that costs the whole budget.  Of releases of
 *       every unit, mu^2 of which add up, that is the share s exactly; z is calibrated for what follows it.
 * Under replace the same releases have the share sensitivity / sensitivity_replace of their multiplier:
 *   (3) the smallest share of all releases is taken for every one of them. */
#include "plan/job.h"

enum { FEW_ROWS = 100 }; /* fewer are warned of */

static const double least_delta =
    1e-12; /* chosen without being asked: below it draws have no share for their accuracy */

static void set_delta(pvi_job *j)
{
    const double asked = j->plan->s.delta, own = pow(10.0, floor(-log10(10.0 * (double)j->dom.n)));
    j->prob.delta = isnan(asked) ? fmax(own, least_delta) : asked;
    if (!isnan(asked)) return;
    pvi_log(j->ctx, PV_LOG_NOTE, "delta = %g: %s", j->prob.delta,
            own < least_delta ? "the least that is chosen for tables of any size"
                              : "the power of ten at most 1/(10 n)");
}

pv_status pvi_job_budget(pvi_job *j)
{
    pvi_settings *s = &j->plan->s;
    j->prob.epsilon = j->prob.delta = INFINITY;
    j->prob.mu = INFINITY;
    if (!j->private_run) return PV_OK;
    if (j->dom.n < s->least)
        return pvi_fail(j->ctx, PV_E_BUDGET,
                        "%lld %s%s too few: the noise that hides one of them hides all that they share; "
                        "run.least=%lld would go on",
                        (long long)j->dom.n, pvi_unit_word(&j->dom), j->dom.n == 1 ? " is" : "s are",
                        (long long)j->dom.n);
    j->prob.epsilon = s->epsilon;
    set_delta(j);
    if (j->dom.n < FEW_ROWS)
        pvi_log(j->ctx, PV_LOG_WARN,
                "%lld %s%s: below %d, noise that hides one of them hides what they share as well%s; expect no useful "
                "model",
                (long long)j->dom.n, pvi_unit_word(&j->dom), j->dom.n == 1 ? "" : "s", FEW_ROWS,
                isnan(s->delta) ? ", and such a delta is no rare failure of the guarantee" : "");
    pvi_strength_log(j->ctx, &(pvi_claim) { s->epsilon, j->prob.delta, (double)j->dom.n, j->prob.relation, 1,
                                            j->dom.unit_rows > 0 });
    return pvi_gaussian_mu(j->ctx, j->prob.relation, s->epsilon, j->prob.delta, &j->prob.mu);
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

/* One release of row k with noise multiplier z; its leaf names the row. */
static const pv_event *event_of(pvi_job *j, int k, double z)
{
    const pvi_release *r = &j->release[k];
    const pv_mechanism_ops *mech = r->kind->mech;
    pv_event *leaf = pv_arena_get(j->arena, sizeof *leaf);
    if (!leaf) return NULL;
    *leaf = (pv_event) { .kind = mech->event, .a = mech->leaf(z, (double)r->q.length), .release = k };
    return pvi_sampler_event(r->sampler, r->rate, leaf, j->arena);
}

/* The optimiser's. */
static pv_status plan_events(pvi_job *j, double z, const pv_event **total)
{
    for (int k = 0; k < PV_MOST_ASKS && k < j->releases; k++) {
        pvi_release *r = &j->release[k];
        if (!r->asked) continue;
        if (!(j->planned[k].event = r->event = event_of(j, k, z))) return pvi_nomem(j->ctx);
        j->planned[k].change = pvi_sensitivity(&r->q.bound, j->prob.relation, r->sampler->group_bound, 0.0);
    }
    const pv_status s = j->opt->plan(j->opt_cfg, &j->prob, j->arena, total);
    return s == PV_E_NOMEM ? pvi_nomem(j->ctx) : s;
}

/* The events of the run. */
static pv_status join_events(pvi_job *j)
{
    const pvi_release *stage = &j->release[PVI_STAGE];
    const pv_event *const both[] = { stage->event, j->steps };
    j->events = stage->asked ? pv_ev_seq(j->arena, 2, both) : j->steps;
    return j->events ? PV_OK : pvi_nomem(j->ctx);
}

/* (4) */
static pv_status plan_stage(pvi_job *j)
{
    pvi_release *r = &j->release[PVI_STAGE];
    if (!r->asked) return PV_OK;
    j->stage_multiplier = j->private_run ? 1.0 / (sqrt(j->stage_share) * j->prob.mu) : 1.0;
    j->planned[PVI_STAGE].event = r->event = event_of(j, PVI_STAGE, j->stage_multiplier);
    return r->event ? PV_OK : pvi_nomem(j->ctx);
}

/* ---- noise ----------------------------------------------------------------------------------------------------- */

/* What the optimiser's own formula asks for; NAN: nothing. */
static pv_status own_noise(pvi_job *j, double *z)
{
    const pv_event *unit;
    *z = NAN;
    if (!j->opt->noise) return PV_OK;
    pv_status s = plan_events(j, 1.0, &unit);
    if (s == PV_OK) s = j->opt->noise(j->opt_cfg, &j->prob, z);
    if (s != PV_OK || isnan(*z)) return s;
    if (!isnan(j->plan->s.noise_multiplier))
        return pvi_fail(j->ctx, PV_E_PARAM,
                        "budget.noise_multiplier and optimizer.calibration both set the noise: leave one out");
    pvi_log(j->ctx, PV_LOG_NOTE,
            "noise multiplier %.6g by the paper's formula; the epsilon certified is the accountant's for it", *z);
    return PV_OK;
}

static pv_status set_multiplier(pvi_job *j)
{
    const pvi_settings *s = &j->plan->s;
    const pv_mechanism_ops *mech = j->release[0].kind->mech;
    const double delta = pvi_down(j->prob.delta - j->draws, 1);
    const pv_event *unit;
    pvi_cost cost;
    double z;
    pv_status st = own_noise(j, &z);

    if (st != PV_OK) return st;
    if (isnan(z)) z = s->noise_multiplier;
    if (isnan(z) && mech->own_multiplier) {
        z = mech->own_multiplier((double)j->opt->steps(j->opt_cfg), (double)j->dom.n, (double)j->prob.d,
                                 j->prob.delta - j->draws);
    } else if (isnan(z)) {
        if ((st = plan_events(j, 1.0, &unit)) != PV_OK) return st;
        st = pvi_calibrate_after(j->ctx, j->accountant, j->prob.relation, j->release[PVI_STAGE].event, unit,
                                 j->prob.epsilon, delta, &z, &cost);
        if (st != PV_OK) return st;
    }
    j->noise_multiplier = j->prob.noise_multiplier = z;
    return plan_events(j, z, &j->steps);
}

/* Noise of every release, and what the optimiser may know of it. */
static pv_status set_noise(pvi_job *j)
{
    const double z = j->private_run ? j->noise_multiplier : 1.0;
    const double max_ratio = fmax(1.0, pvi_event_noise_max(j->steps) / z); /* of a schedule */
    const double T = (double)j->opt->steps(j->opt_cfg);
    for (int k = 0; k < j->releases; k++) {
        pvi_release *r = &j->release[k];
        if (!r->asked) continue;
        const bool stage = k == PVI_STAGE;
        const double own = stage ? j->stage_multiplier : z;
        const pv_status s =
            pvi_release_noise(r, j->prob.relation, own, stage ? 1.0 : max_ratio, j->private_run, j->ctx);
        if (s != PV_OK) return s;
        if (j->private_run) j->planned[k].stddev = own * r->noise.sensitivity / r->batch * r->q.unit;
        if (j->private_run && r->kind->mech->warn) r->kind->mech->warn(&r->noise, T, j->ctx);
    }
    j->prob.sensitivity = j->release[0].noise.sensitivity;
    if (j->private_run && j->opt->warn) j->opt->warn(j->opt_cfg, &j->prob);
    return PV_OK;
}

/* ---- accuracy of the draws ------------------------------------------------------------------------------------- */

/* The smaller of (1) and (2).  kappa <= 2e-4 wherever the sum fits its share of delta. */
static double need_of(pvi_close ratio, double distance, double epsilon)
{
    const double far = 1.0 + exp(epsilon) * 1.001;
    return fmin(far * distance, 5.0 * ratio.kappa + far * ratio.tau);
}

/* Of release k; a step may spend several events, each with draws of its own. */
static double release_need(const pvi_job *j, int k, double epsilon)
{
    const pvi_release *r = &j->release[k];
    const pv_mechanism_ops *mech = r->kind->mech;
    const double planned = pvi_event_releases_of(j->events, k);
    const double T = k == 0 ? fmax((double)j->opt->steps(j->opt_cfg), planned) : planned;
    pvi_close sample = pvi_sample_close(r->sampler, r->rate, j->dom.n);
    sample.kappa *= T;
    sample.tau *= T;
    return need_of(mech->close(&r->noise, T), mech->distance(&r->noise, T), epsilon) +
           need_of(sample, T * pvi_sample_tv(r->sampler, r->rate, j->dom.n), epsilon);
}

double pvi_draws_need(const pvi_job *j, double epsilon)
{
    double need = 0.0;
    for (int k = 0; k < j->releases; k++)
        if (j->release[k].asked) need += release_need(j, k, epsilon);
    return need * (1.0 + 1e-9);
}

double pvi_draws_covered(const pvi_job *j)
{
    return pvi_draws_need(j, PVI_DRAWS_LIMIT) <= j->draws ? PVI_DRAWS_LIMIT : j->cost.epsilon;
}

static pv_status check_draws(const pvi_job *j)
{
    const double need = pvi_draws_need(j, j->cost.epsilon);
    if (j->draws == 0.0 || need <= j->draws) return PV_OK;
    return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                    "delta = %g is too small for draws of finite accuracy at this size: raise it above %.2g",
                    j->prob.delta, 1024.0 * need);
}

static pv_status account(const pvi_job *j, pv_relation relation, const pv_event *events, pvi_cost *cost)
{
    return pvi_account(j->ctx, j->accountant, relation, events, pvi_down(j->prob.delta - j->draws, 1), cost);
}

/* (3); 1 where the group bound counts zero-out steps. */
static double replace_share(const pvi_job *j)
{
    double share = 1.0;
    for (int k = 0; k < j->releases; k++) {
        const pvi_release *r = &j->release[k];
        if (!r->asked || r->group_bound) continue;
        share = fmin(share, pvi_down(r->noise.sensitivity / r->sensitivity[PV_REL_REPLACE], 2));
    }
    return share;
}

/* Noise set by hand, or a budget next to the limit of pvi_draws_share: only now it is known on which side the cost
 * is.  Where it is above the limit with a share and at most there without one, it is claimed to be just above,
 * without a share. */
static pv_status other_share(pvi_job *j, double share)
{
    const pvi_cost before = j->cost;
    j->draws = share;
    const pv_status s = account(j, j->prob.relation, j->events, &j->cost);
    const double claim = s == PV_OK ? pvi_cert_claim(j->cost.epsilon, j->prob.epsilon) : NAN;
    if (s != PV_OK || pvi_draws_share(claim, j->prob.delta) == share) return s;
    if (share > 0.0) j->cost = before;
    j->draws = 0.0;
    j->cost.epsilon = fmax(j->cost.epsilon, nextafter(PVI_DRAWS_LIMIT, INFINITY));
    return PV_OK;
}

static pv_status set_cost(pvi_job *j)
{
    pv_status s = account(j, j->prob.relation, j->events, &j->cost);
    const double share =
        s == PV_OK ? pvi_draws_share(pvi_cert_claim(j->cost.epsilon, j->prob.epsilon), j->prob.delta) : 0.0;
    if (s == PV_OK && share != j->draws) s = other_share(j, share);
    if (s == PV_OK) s = check_draws(j);
    if (s != PV_OK) return s;
    if (j->cost.epsilon > j->prob.epsilon)
        return pvi_fail(j->ctx, PV_E_BUDGET,
                        "the plan costs epsilon = %g, more than the budget %g: more noise, fewer steps or a "
                        "larger budget.epsilon would do",
                        j->cost.epsilon, j->prob.epsilon);
    const double factor = replace_share(j);
    j->events_replace = pvi_event_scale(j->arena, j->events, factor);
    if (!j->events_replace) return pvi_nomem(j->ctx);
    if (j->prob.relation == PV_REL_REPLACE && factor == 1.0) j->cost_replace = j->cost; /* the same question */
    else s = account(j, PV_REL_REPLACE, j->events_replace, &j->cost_replace);
    /* (1) at the larger epsilon: where the share does not cover it, nothing is claimed for replace. */
    if (j->draws > 0.0 && !(pvi_draws_need(j, j->cost_replace.epsilon) <= j->draws))
        j->cost_replace.epsilon = INFINITY;
    return s;
}

pv_status pvi_job_noise(pvi_job *j)
{
    const bool calibrated = isnan(j->plan->s.noise_multiplier) && !j->release[0].kind->mech->own_multiplier;
    if (j->private_run) j->draws = pvi_draws_share(calibrated ? j->prob.epsilon : 0.0, j->prob.delta);
    pv_status s = plan_stage(j);
    if (s == PV_OK) s = j->private_run ? set_multiplier(j) : plan_events(j, 1.0, &j->steps);
    if (s == PV_OK) s = join_events(j);
    if (s == PV_OK) s = set_noise(j);
    if (s == PV_OK) pvi_stage_warn(j);
    return s == PV_OK && j->private_run ? set_cost(j) : s;
}

double pvi_first_multiplier(const pv_event *events, double planned)
{
    const double z = pvi_event_noise_of(events, 0);
    return isfinite(z) ? z : planned;
}

bool pvi_job_exposes(const pvi_job *j)
{
    return j->plan->s.diagnostics && j->plan->s.log;
}

const char *pvi_job_why_not(const pvi_job *j)
{
    if (!j->private_run) return "privacy=off adds no noise";
    if (pvi_job_exposes(j)) return "run.log shows measures of the training rows while it trains";
    if (j->plan->s.seed != PV_AUTO_I64) return "run.seed makes the noise reproducible";
    return j->plan->s.data.measured == PVI_MEASURED_BOUNDS ? "bounds or categories were taken from the rows" : NULL;
}

void pvi_job_cost(const pvi_job *j, pv_cost *out)
{
    const pvi_release *r = &j->release[0];
    *out = (pv_cost) { .epsilon = INFINITY,
                       .epsilon_replace = INFINITY,
                       .delta = 1.0,
                       .clip_norm = r->q.bound.absent,
                       .batch = j->prob.batch,
                       .rows = j->dom.n,
                       .weights = j->prob.d,
                       .steps = j->opt->steps(j->opt_cfg),
                       .is_private = !pvi_job_why_not(j) };
    if (!j->private_run) return;
    out->epsilon = j->cost.epsilon;
    out->epsilon_lower = j->cost.epsilon_lower;
    out->epsilon_replace = j->cost_replace.epsilon;
    out->delta = j->prob.delta;
    out->noise_multiplier = pvi_first_multiplier(j->events, j->noise_multiplier);
    out->sensitivity = r->noise.sensitivity;
}
