/* noise.c - how much noise a planned run needs, and what it costs.
 *
 * Sums are released as  S~ + sigma N,  S~ the sum computed in floating point.
 *   (1) C = min(clip, G): bound on one row's gradient, G the loss's own bound
 *   (2) E = C rounding(m, d) + grid_error(spacing, d): how far the computed sum of one group of at
 *       most m rows can be from the exact one (contract M2, grid.c)
 *   (3) zero-out  Delta = C + 2 E        replace  Delta = 2 C + 2 E
 *       Groups are fixed by the position of a row, and group sums are added as integers, so two
 *       neighbouring tables differ in one group sum only; that sum moves by C (2 C), and each of
 *       the two computed values is within E of its exact one.
 *       Poisson sampling under replace is accounted for as two zero-out steps (the group bound), so
 *       its noise is scaled to the zero-out Delta.
 *       A fixed-size sample under replace is compared with samples that hold another row instead, of another group:
 *       there two group sums change, and the allowance is 4 E.
 *   (4) sigma = z Delta, z calibrated so that the planned events cost at most (epsilon, delta)
 * Rows in CSR storage are rounded to the grid one by one (no group sums): E is the grid's error of one row.
 * Selections, by contrast, release no sum:
 *   (5) a score <v_k, S> moves by at most A Delta, A the largest ||v_k|| (||v_k||_1 where rows are bounded in their
 *       largest value), plus the rounding of scores (of the inner product, and to the selection's grid); Gumbel noise
 *       of scale 2 (A Delta)/eps_0 picks the vertex.
 * Ball noise covers one uniform row per query:
 *   (6) radius R = z Delta; two balls at distance Delta share all but delta_1 of their volume (opt_prgd.c), and z is
 *       the smallest with 1 - (1 - delta_1/n)^T <= delta.
 * Gradient and Hessian in one release (pv_query_hess): a row adds v = (g, s svec(H)), ||g|| <= C, ||v|| <= B
 * (glm_joint.c).
 *   (8) zero-out moves the sum by B, replacing a row by the change R of acct/sensitivity.c (2), which is below 2 B
 *       where every H is positive semidefinite.  svec lists the lower triangle, entries off the diagonal times sqrt 2, so that its length is the
 *       Frobenius norm; blocks off the diagonal of a matrix of symmetric blocks count once more, times another sqrt
 *       2.  Factors are floats not above the true ones.  Diagonals pass one float multiplication more: u m B.
 *       k events spent on one release: k releases of the same sum with noise sigma have the same privacy curve as one
 *       with noise sigma / sqrt(k), their average, which is what the Gaussian accountants see in k repetitions.
 * Second moments (pv_query_moment) are released like a joint release and with its noise: a row adds a positive
 * semidefinite s c x x' of norm at most B'.
 *   (9) zero-out moves the sum by B', so B' = B; replacing a row by sqrt 2 B' and rounding with its k E of (3), so
 *       B' = (Delta - k grid_error)/(sqrt 2 + k rounding) there.  B' <= sqrt 2 B: sums still fit the grid, whose
 *       own limit is 2^62.
 * Rows turned by a released matrix (pv_turn_rows) are clipped like any rows; each depends on one row of the table.
 * The accountant assumes ideal draws; ours are within tau in total variation over the whole run (mech/):
 *   (7) delta = delta_account + (1 + e^epsilon) tau; a fixed share of delta is set aside for the second term.
 * Where laws are close by ratio as well, P' <= e^kappa P + tau and P <= e^kappa P' + tau (pvi_close), e^epsilon multiplies
 * the far smaller tau of rare outcomes only.  For neighbours D, D' and p = P'_D'(S),
 *       P'_D(S) <= e^kappa (e^epsilon (e^kappa p + tau) + delta_account) + tau,
 * and P'_D(S) <= 1: where e^epsilon p >= 1 there is nothing to show, elsewhere e^{2 kappa} e^epsilon p exceeds
 * e^epsilon p by at most e^{2 kappa} - 1.  So, with e^kappa delta_account <= delta_account + 2 kappa for kappa <= 1,
 *   (10) delta = delta_account + 5 kappa + (1 + e^{epsilon + kappa}) tau.
 * Noise and sampler each take the smaller of (7) and (10), since kappas and taus add up.
 * Under contract M3 a row that contributes zero leaves its group's sum bit-identical, so leaving a
 * row out of a Poisson sample and zeroing it out give the same sum: what the accountant assumes. */
#include "plan/job.h"

/* What one release with noise z costs, as its mechanism's leaf says it. */
static double leaf_value(const pvi_job *j, double z)
{
    switch (j->mech->event) {
    case PV_EV_SELECT: return pv_up(1.0 / z, 1);
    case PV_EV_BALL: return pvi_ball_delta(1.0, z, (double)j->prob.d);
    default: return z;
    }
}

void pvi_noise_write(const pv_mechanism_ops *mech, double noise_multiplier, double noise_scale, pvi_jw *w)
{
    switch (mech->event) {
    case PV_EV_SELECT: pvi_jw_f64(w, "selection_epsilon", pv_up(1.0 / noise_multiplier, 1)); break;
    case PV_EV_BALL: pvi_jw_f64(w, "noise_radius", noise_scale); break;
    case PV_EV_GAUSSIAN: pvi_jw_f64(w, "noise_stddev", noise_scale); break;
    default: pvi_jw_f64(w, "noise_scale", noise_scale); break;
    }
}

static const pv_event *query_event(pvi_job *j, double noise_multiplier)
{
    const pv_event *leaf = pv_ev_leaf(j->arena, j->mech->event, leaf_value(j, noise_multiplier), 0.0);
    if (!leaf || j->sampler == PVI_FULL_BATCH) return leaf;
    if (j->sampler == PVI_CYCLIC) return pv_ev_cyclic(j->arena, (int64_t)rint(1.0 / j->rate), leaf);
    return pv_ev_sampled(j->arena, j->sampler == PVI_POISSON ? PV_EV_POISSON : PV_EV_FIXED, j->rate, leaf);
}

static pv_status plan_events(pvi_job *j, double noise_multiplier, const pv_event **total)
{
    const pv_event *one = query_event(j, noise_multiplier);
    if (!one) return pvi_nomem(j->ctx);
    *(j->opt->selects ? &j->prob.atom_event : j->opt->joint ? &j->prob.joint_event : &j->prob.grad_event) = one;
    const pv_status s = j->opt->plan(j->opt_cfg, &j->prob, j->arena, total);
    return s == PV_E_NOMEM ? pvi_nomem(j->ctx) : s;
}

/* (6): T uniform single-row steps cost 1 - (1 - delta_1/n)^T. */
static double ball_multiplier(const pvi_job *j)
{
    const double T = (double)j->opt->steps(j->opt_cfg), n = (double)j->dom.n;
    const double delta_1 = -n * expm1(log1p(-(j->prob.delta - j->draws)) / T) * (1.0 - 1e-9);
    return pvi_ball_radius(1.0, fmin(delta_1, 1.0 - 1e-9), (double)j->prob.d);
}

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

static pv_status set_noise(pvi_job *j)
{
    const pvi_settings *s = &j->plan->s;
    const pv_event *unit;
    pvi_cost cost;
    double z;
    pv_status st = own_noise(j, &z);

    if (st != PV_OK) return st;
    if (isnan(z)) z = s->noise_multiplier;
    if (isnan(z) && j->opt->ball) {
        z = ball_multiplier(j);
    } else if (isnan(z)) {
        if ((st = plan_events(j, 1.0, &unit)) != PV_OK) return st;
        st = pvi_calibrate(j->ctx, j->accountant, j->prob.relation, unit, j->prob.epsilon,
                           pvi_down(j->prob.delta - j->draws, 1), &z, &cost);
        if (st != PV_OK) return st;
    }
    j->noise_multiplier = j->prob.noise_multiplier = z;
    return plan_events(j, z, &j->events);
}

static bool group_bound(const pvi_job *j)
{
    return j->sampler == PVI_POISSON;
}

int64_t pvi_most_rows(const pvi_job *j)
{
    if (j->opt->joint) return PVI_JOINT_GROUP;
    return j->sampler == PVI_FULL_BATCH ? PVI_FULL_GROUP : PVI_SAMPLED_GROUP;
}

/* (8) */
static const double root2 = 1.4142135623730950; /* just below */

float pvi_joint_factor(const pv_joint *j, bool diagonal_block)
{
    if (j->plain) return pvi_float_down(j->scale);
    return pvi_float_down(j->scale * root2 * (diagonal_block ? 1.0 : root2));
}

float pvi_joint_diagonal(const pv_joint *j)
{
    return j->plain ? 1.0f : 0x1.6a09e6p-1f; /* below 1 / sqrt 2 */
}

static void set_radius(pvi_job *j)
{
    const bool joint = j->opt->joint;
    j->radius = joint ? j->joint.clip : j->prob.G;
    j->replace_change = pvi_replace_change(j->radius, j->prob.G, joint && j->joint.convex && !j->joint.plain); /* (8) */
}

static double joint_rounding(const pvi_job *j)
{
    const int64_t m = pvi_most_rows(j);
    return j->model.ops->hess->rounding(j->model.cfg, m, j->prob.d) + 0x1p-23 * (double)m;
}

/* (9); k: 2 or 4 of (3). */
static void set_moment(pvi_job *j, double k)
{
    const double rest = j->sensitivity_replace - k * pvi_grid_error(j->spacing, j->release_d);
    j->joint.moment = j->radius;
    if (j->prob.relation == PV_REL_REPLACE && !group_bound(j))
        j->joint.moment = pvi_down(rest / pv_up(sqrt(2.0) + k * joint_rounding(j), 4), 4);
}

static double sum_error(const pvi_job *j)
{
    const int64_t m = pvi_most_rows(j);
    if (j->opt->joint) return j->radius * joint_rounding(j);
    return j->sparse ? 0.0 : j->radius * j->model.ops->rounding(j->model.cfg, m, j->prob.d);
}

/* T draws walk about R sqrt(T) far, T gradients T C at most. */
static void warn_of_ball(const pvi_job *j)
{
    const double T = (double)j->opt->steps(j->opt_cfg), drift = j->noise_scale * sqrt(T), reach = j->radius * T;
    if (drift > reach)
        pvi_log(j->ctx, PV_LOG_WARN,
                "over %.0f steps noise moves the weights %.2g times as far as gradients could: the result will be "
                "noise; ball noise wants many more rows, fewer steps or a larger delta",
                T, drift / reach);
}

/* (2), (3), (4).  The grid is chosen for the noise without the allowance, then the allowance for the
 * grid enlarges the noise: the spacing stays at least as fine as intended. */
static pv_status set_sensitivity(pvi_job *j)
{
    const double z = j->private_run ? j->noise_multiplier : 1.0;
    const bool replace = j->prob.relation == PV_REL_REPLACE;

    set_radius(j);
    const double C = j->radius;
    j->spacing = pvi_grid_spacing(C, j->dom.n, z * C * (replace ? 2.0 : 1.0), j->release_d);
    if (!(j->spacing > 0.0))
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "no fixed-point grid holds sums of %lld rows with clip %g under noise %g",
                        (long long)j->dom.n, C, z * C);
    j->rounding = pv_up(sum_error(j) + pvi_grid_error(j->spacing, j->release_d), 4);
    const bool two_groups = j->sampler == PVI_FIXED_SIZE && !j->opt->ball && (!j->sparse || j->opt->joint);
    const double k = two_groups ? 4.0 : 2.0;
    j->allowance = k * j->rounding;
    const double zero_out = pvi_sensitivity(PV_REL_ZERO_OUT, false, C, j->replace_change, j->allowance);
    j->sensitivity_replace = pvi_sensitivity(PV_REL_REPLACE, false, C, j->replace_change, j->allowance);
    j->row_change = replace ? j->sensitivity_replace : zero_out;
    j->sensitivity = j->prob.sensitivity = replace && !group_bound(j) ? j->sensitivity_replace : zero_out;
    j->noise_scale = j->private_run ? pv_up(z * j->sensitivity, 2) : 0.0;
    if (j->opt->joint) set_moment(j, k);
    const double units = j->noise_scale / j->spacing; /* what the exact draws are made for */
    const double loudest = units * fmax(1.0, pvi_event_noise_max(j->events) / z); /* of a schedule */
    if (j->private_run && !j->opt->selects && !(units >= 0x1p-4 && loudest <= 0x1p40))
        return pvi_fail(
            j->ctx, PV_E_UNSUPPORTED,
            "noise %g does not fit the grid of sums of %lld rows with clip %g: less noise or fewer steps would",
            j->noise_scale, (long long)j->dom.n, C);
    if (j->private_run && j->opt->ball) warn_of_ball(j);
    if (j->private_run && j->opt->warn) j->opt->warn(j->opt_cfg, &j->prob);
    return PV_OK;
}

/* (5).  Rounding scores to the selection's own grid moves the difference of two by at most one step of it. */
static pv_status set_selection(pvi_job *j)
{
    const pv_problem *p = &j->prob;
    if (!j->opt->selects) return PV_OK;
    const double A = (j->dom.max_norm ? p->set->radius1 : p->set->radius)(p->set_st, p->set_cfg, p->d);
    const double product = 2.0 * ((double)p->d / 8.0 + 12.0) * 0x1p-53 * (double)j->dom.n * A * p->G;
    const double most = pv_up(2.0 * A * j->sensitivity, 2); /* twice as much as needed: its grid is no finer */
    j->score_change = pv_up(A * j->sensitivity + product + pvi_select_grid(2.0 * j->noise_multiplier * most), 4);
    if (!(j->score_change <= most))
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "scores of %lld rows and %lld columns cannot be computed accurately enough",
                        (long long)j->dom.n, (long long)p->d);
    j->select_scale = pv_up(2.0 * j->noise_multiplier * j->score_change, 2);
    if (!((double)j->dom.n * A * p->G < 0x1p21 * j->select_scale))
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "scores of %lld rows are too large for this little noise: lower epsilon",
                        (long long)j->dom.n);
    return PV_OK;
}

/* The smaller of (7) and (10).  kappa <= 2e-4 wherever the sum fits its share of delta. */
static double need_of(pvi_close ratio, double distance, double epsilon)
{
    const double far = 1.0 + exp(epsilon) * 1.001;
    return fmin(far * distance, 5.0 * ratio.kappa + far * ratio.tau);
}

static double noise_need(const pvi_job *j, double T, double epsilon)
{
    const pvi_close none = { INFINITY, 1.0 };
    const double d = (double)j->release_d, s = j->noise_scale / j->spacing;
    if (j->opt->selects) {
        const int64_t atoms = j->prob.set->atoms(j->prob.set_st, j->prob.set_cfg, j->prob.d);
        return need_of(none, T * pvi_select_tv(atoms), epsilon);
    }
    if (j->opt->ball) return need_of(none, T * pvi_ball_tv(j->prob.d), epsilon);
    /* events spent together make one release with less noise, by the root of their number at most */
    const double most = s * fmax(1.0, pvi_event_noise_max(j->events) / j->noise_multiplier);
    return need_of(pvi_normal_close(s / sqrt(T), most, 0.5 * T * (d + 1.0)), T * d * pvi_normal_tv_per_draw(), epsilon);
}

double pvi_draws_need(const pvi_job *j, double epsilon)
{
    /* a step may spend several events, each with draws of its own */
    const double T = fmax((double)j->opt->steps(j->opt_cfg), pvi_event_releases(j->events));
    pvi_close sampler = pvi_sample_close(j->sampler, j->rate, j->dom.n);
    sampler.kappa *= T;
    sampler.tau *= T;
    const double rows = need_of(sampler, T * pvi_sample_tv(j->sampler, j->rate, j->dom.n), epsilon);
    return (noise_need(j, T, epsilon) + rows) * (1.0 + 1e-9);
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

static pv_status set_cost(pvi_job *j)
{
    pv_status s = account(j, j->prob.relation, j->events, &j->cost);
    const double share =
        s == PV_OK ? pvi_draws_share(pvi_cert_claim(j->cost.epsilon, j->prob.epsilon), j->prob.delta) : 0.0;
    if (s == PV_OK && share != j->draws) { /* noise set by hand: only now it is known which side of (7) it is on */
        j->draws = share;
        s = account(j, j->prob.relation, j->events, &j->cost);
    }
    if (s == PV_OK) s = check_draws(j);
    if (s != PV_OK) return s;
    if (j->cost.epsilon > j->prob.epsilon)
        return pvi_fail(j->ctx, PV_E_BUDGET,
                        "the plan costs epsilon = %g, more than the budget %g: more noise, fewer steps or a "
                        "larger budget.epsilon would do",
                        j->cost.epsilon, j->prob.epsilon);
    /* The same releases measured by the larger sensitivity of `replace`, or counted twice. */
    const double factor = group_bound(j) ? 1.0 : pvi_down(j->sensitivity / j->sensitivity_replace, 2);
    j->events_replace = pvi_event_scale(j->arena, j->events, factor);
    if (!j->events_replace) return pvi_nomem(j->ctx);
    if (j->prob.relation == PV_REL_REPLACE && factor == 1.0) j->cost_replace = j->cost; /* the same question */
    else s = account(j, PV_REL_REPLACE, j->events_replace, &j->cost_replace);
    /* (7) at the larger epsilon: where the share does not cover it, nothing is claimed for replace. */
    if (j->draws > 0.0 && !(pvi_draws_need(j, j->cost_replace.epsilon) <= j->draws))
        j->cost_replace.epsilon = INFINITY;
    return s;
}

pv_status pvi_job_noise(pvi_job *j)
{
    if (j->private_run)
        j->draws = pvi_draws_share(isnan(j->plan->s.noise_multiplier) && !j->opt->ball ? j->prob.epsilon : 0.0,
                                   j->prob.delta);
    pv_status s = j->private_run ? set_noise(j) : plan_events(j, 1.0, &j->events);
    if (s == PV_OK) s = set_sensitivity(j);
    if (s == PV_OK && j->private_run) s = set_selection(j);
    if (s == PV_OK && j->private_run) s = set_cost(j);
    return s;
}
