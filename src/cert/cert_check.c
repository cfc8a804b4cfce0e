/* cert_check.c - does a certificate hold?  Its fields against each other, then its epsilons against
 * its events.  Nothing but the certificate is needed: no data, no model.
 *
 *   (1)  noise_stddev = noise_multiplier * sensitivity
 *   (2)  sensitivity and replace_change follow from clip_norm and clip_norm_gradient by the planner's own formula
 *        (query/sensitivity.c); version 2 had clip_norm alone, and replace_change was 2 clip_norm
 *   (3)  every noisy leaf of the events has the mechanism's kind and a noise multiplier from noise_multiplier, the
 *        lowest, to noise_multiplier_max, the highest; stands under the recorded sampler at the rate batch / rows,
 *        and there are `queries` of them; the multiplier of a selection is 1 / its epsilon
 *   (4)  under replace one row changes a sum by up to replace_change, so that each leaf of the replace
 *        events, which are otherwise the same releases, has at most the share s of its multiplier,
 *        s noise_multiplier = noise_stddev / (replace_change + rounding_allowance); the group bound counts zero-out
 *        steps, so there s = 1
 *   (5)  the recorded accountant, run again, gives at most the claimed epsilon: no tolerance
 *   (6)  epsilon_replace >= epsilon: a replaced row is a row left out and another put in
 *   (7)  the settings describe this run (cert_settings.c), and a run can have them (cert_run.c)
 *   (8)  `releases` counts every release once, by kinds that the optimizer asks for; a bound under further
 *        assumptions is below epsilon
 *   (9)  what follows from the mechanism and from delta_draws stands among the assumptions
 *   (10) rounding_allowance is at least twice the error of rounding as many numbers as there are weights to the grid
 *
 * (1) to (4) hold up to the rounding of the few operations that made the numbers. */
#include "cert.h"

static const double rounding = 1e-12; /* relative; a handful of operations lose under 1e-15 */

static pv_status refuse(pv_ctx *ctx, const char *name, const char *why)
{
    return pvi_fail(ctx, PV_E_VERIFY, "%s: does not hold: %s", name, why);
}

static bool near(double x, double y)
{
    return fabs(x - y) <= rounding * fabs(y);
}

static bool positive(double x)
{
    return x > 0.0 && isfinite(x);
}

static bool power_of_two(double x)
{
    int e;
    return positive(x) && frexp(x, &e) == 0.5;
}

/* ---- events ----------------------------------------------------------------------------------------- */

typedef struct tally {
    int64_t leaves;
    double lowest, highest;          /* multiplier of the noisy leaves */
    pv_ev_kind kind, sampler, above; /* what a leaf must be, what must stand above it, what does */
    bool other_kind, other_sampler;
    double rate; /* of the samples: batch / rows */
} tally;

static void add_leaves(int64_t times, tally *t)
{
    t->leaves = times > INT64_MAX - t->leaves ? INT64_MAX : t->leaves + times;
}

static double multiplier(const pv_event *leaf)
{
    return leaf->kind == PV_EV_SELECT ? 1.0 / leaf->a : leaf->a;
}

static void count_leaf(const pv_event *ev, int64_t times, tally *t)
{
    if (ev->kind != t->kind) t->other_kind = true;
    if (t->above != t->sampler) t->other_sampler = true;
    const double z = multiplier(ev);
    if (z < t->lowest) t->lowest = z;
    if (z > t->highest) t->highest = z;
    add_leaves(times, t);
}

/* As the meter counts: what one sample feeds is one release; `none` releases nothing. */
static void count(const pv_event *ev, int64_t times, tally *t)
{
    const int64_t before = t->leaves;
    const pv_ev_kind above = t->above;
    if (times == 0) return;
    switch (ev->kind) {
    case PV_EV_NONE: return;
    case PV_EV_REPEAT: count(ev->sub, ev->n > INT64_MAX / times ? INT64_MAX : ev->n * times, t); return;
    case PV_EV_SEQ:
        for (const pv_event *e = ev->sub; e; e = e->next) count(e, times, t);
        return;
    case PV_EV_POISSON:
    case PV_EV_FIXED:
    case PV_EV_CYCLIC:
        t->above = above == PV_EV_NONE ? ev->kind : PV_EV_NONPRIVATE; /* a sample of a sample fits no sampler */
        count(ev->sub, 1, t);
        t->above = above;
        if (t->leaves == before) t->other_kind = true; /* a sample of nothing would count as a release for free */
        if (t->rate > 0.0 && !near(ev->kind == PV_EV_CYCLIC ? 1.0 / (double)ev->n : ev->a, t->rate))
            t->other_sampler = true;
        t->leaves = before;
        add_leaves(times, t);
        return;
    default: count_leaf(ev, times, t);
    }
}

/* The same releases but for the noise multiplier. */
static bool same_releases(const pv_event *x, const pv_event *y)
{
    if (x->kind != y->kind || x->n != y->n) return false;
    switch (x->kind) {
    case PV_EV_CYCLIC:
    case PV_EV_REPEAT: return same_releases(x->sub, y->sub);
    case PV_EV_POISSON:
    case PV_EV_FIXED: return x->a == y->a && same_releases(x->sub, y->sub);
    case PV_EV_SEQ:
        for (x = x->sub, y = y->sub; x && y; x = x->next, y = y->next)
            if (!same_releases(x, y)) return false;
        return !x && !y;
    default: return true;
    }
}

/* Of the same releases: no leaf of y has more than `share` of the multiplier x has there. */
static bool noise_within(const pv_event *x, const pv_event *y, double share)
{
    switch (x->kind) {
    case PV_EV_CYCLIC:
    case PV_EV_REPEAT:
    case PV_EV_POISSON:
    case PV_EV_FIXED: return noise_within(x->sub, y->sub, share);
    case PV_EV_SEQ:
        for (x = x->sub, y = y->sub; x; x = x->next, y = y->next)
            if (!noise_within(x, y, share)) return false;
        return true;
    case PV_EV_NONE: return true;
    default: return multiplier(y) <= multiplier(x) * share * (1.0 + 2.0 * rounding);
    }
}

/* Of the noisiest release; a certificate that was not written yet may leave it out. */
static double noise_max(const pvi_cert *c)
{
    return c->noise_multiplier_max > 0.0 ? c->noise_multiplier_max : c->noise_multiplier;
}

/* (3): the leaf of a ball is its delta, which must not be below that of the recorded radius. */
static pv_status check_leaves(pv_ctx *ctx, const char *name, const pvi_cert *c, const tally *t)
{
    const double z = c->noise_multiplier;
    if (t->leaves == 0) return PV_OK;
    if (t->kind == PV_EV_BALL && t->lowest >= pv_ball_delta(1.0, z, (double)c->weights) * (1.0 - 1e-9)) return PV_OK;
    if (t->kind != PV_EV_BALL && near(t->lowest, z) && near(t->highest, noise_max(c))) return PV_OK;
    return refuse(ctx, name, "noise_multiplier is not the one of the events");
}

static pv_status check_events(pv_ctx *ctx, const char *name, const pvi_cert *c)
{
    const pvi_sampler_ops *sampler = pvi_sampler_named(c->sampler);
    const pv_mechanism_ops *mech = (const pv_mechanism_ops *)(const void *)pv_find(PV_KIND_mechanism, c->mechanism);
    if (!mech) return pvi_fail(ctx, PV_E_VERIFY, "%s: does not hold: unknown mechanism %s", name, c->mechanism);
    if (!sampler) return refuse(ctx, name, "unknown sampler");
    tally t = { .lowest = INFINITY,
                .highest = -INFINITY,
                .kind = mech->event,
                .sampler = sampler->event,
                .rate = c->batch / (double)c->rows };
    count(c->events, 1, &t);
    if (t.other_kind) return refuse(ctx, name, "the events hold a release that the recorded mechanism does not make");
    if (t.other_sampler)
        return refuse(ctx, name, "the events hold a release under another sampler than the recorded one");
    if (t.leaves != c->queries) /* (3) */
        return pvi_fail(ctx, PV_E_VERIFY, "%s: does not hold: queries is %lld, but the events hold %lld", name,
                        (long long)c->queries, (long long)t.leaves);
    return check_leaves(ctx, name, c, &t);
}

static pv_status check_replace(pv_ctx *ctx, const char *name, const pvi_cert *c)
{
    if (c->relation == PV_REL_REPLACE) return PV_OK; /* the headline, already checked */
    if (!c->events_replace || !c->accountant_replace)
        return refuse(ctx, name, "the events or the accountant under replace are missing");
    if (!(c->epsilon_replace >= c->epsilon)) /* (6) */
        return refuse(ctx, name, "epsilon_replace is below epsilon, but replacing a row costs at least as much");
    if (!same_releases(c->events, c->events_replace))
        return refuse(ctx, name, "events and events_replace are not the same releases");
    const double most = c->replace_is_group_bound ? c->noise_multiplier
                                                  : c->noise_stddev / (c->replace_change + c->rounding_allowance);
    if (!noise_within(c->events, c->events_replace, most / c->noise_multiplier)) /* (4) */
        return refuse(ctx, name, "the replace events claim more noise than there is against the change of a row");
    return PV_OK;
}

/* ---- plain fields --------------------------------------------------------------------------------------- */

static const pv_optimizer_ops *optimizer_of(const pvi_cert *c)
{
    return (const pv_optimizer_ops *)(const void *)pv_find(PV_KIND_optimizer, c->optimizer);
}

/* (2): is every Hessian positive semidefinite?  The planner asks the model the same. */
static bool semidefinite(const pvi_cert *c, const pvi_json *settings)
{
    const pv_loss_ops *loss = (const pv_loss_ops *)(const void *)pv_find(PV_KIND_loss, c->model);
    const pv_model_ops *model = (const pv_model_ops *)(const void *)pv_find(PV_KIND_model, c->model);
    const pvi_json *by = pvi_json_get(settings, "optimizer.calibration");
    if (by && by->type == PVI_JSTR && strcmp(by->text, "paper") == 0) return false;
    return (loss ? loss->props : model ? model->props : 0) & PV_CONVEX;
}

/* (2) */
static pv_status check_sensitivity(pv_ctx *ctx, const char *name, const pvi_cert *c)
{
    pvi_json *settings;
    const pv_optimizer_ops *opt = optimizer_of(c);
    if (!opt) return refuse(ctx, name, "unknown optimizer");
    pv_arena *a = pvi_arena_create(ctx);
    if (!a) return pvi_nomem(ctx);
    pv_status s = pvi_json_parse(ctx, a, name, c->settings, strlen(c->settings), &settings);
    const pvi_query_ops *query = opt->ask[0].query;
    const pvi_bound bound = { c->clip_norm, c->replace_change };
    const double C = c->clip_gradient;
    const double change = s == PV_OK ? query->other(c->clip_norm, C, semidefinite(c, settings)) : NAN;
    const double sensitivity = pvi_sensitivity(&bound, c->relation, c->replace_is_group_bound, c->rounding_allowance);
    if (s == PV_OK && c->version >= 3 && !(C > 0.0 && C <= c->clip_norm))
        s = refuse(ctx, name, "clip_norm_gradient is not between 0 and clip_norm");
    if (s == PV_OK && c->version >= 3 && !query->parts && !near(C, c->clip_norm))
        s = refuse(ctx, name, "clip_norm_gradient is not clip_norm, although nothing but gradients is released");
    if (s == PV_OK && c->version >= 3 && !near(c->replace_change, change))
        s = refuse(ctx, name, "replace_change does not follow from clip_norm and clip_norm_gradient");
    if (s == PV_OK && !near(c->sensitivity, sensitivity))
        s = refuse(ctx, name, "sensitivity does not follow from clip_norm and rounding_allowance");
    pvi_arena_free(a);
    return s;
}

static pv_status check_numbers(pv_ctx *ctx, const char *name, const pvi_cert *c)
{
    if (!(c->delta > 0.0 && c->delta < 1.0)) return refuse(ctx, name, "delta is not between 0 and 1");
    if (!(c->epsilon >= 0.0 && isfinite(c->epsilon))) return refuse(ctx, name, "epsilon is not a finite number >= 0");
    if (c->delta_draws != pvi_draws_share(c->epsilon, c->delta))
        return refuse(ctx, name, "delta_draws is not the share of delta set aside for the draws");
    if (c->rows < 1 || c->features < 1 || c->weights < 1 || c->queries < 0)
        return refuse(ctx, name, "rows, features, weights or queries out of range");
    if (!positive(c->row_norm) || !positive(c->clip_norm) || !positive(c->sensitivity) ||
        !positive(c->noise_multiplier) || !positive(c->noise_stddev))
        return refuse(ctx, name, "row_norm, clip_norm, sensitivity and noise must be finite and above 0");
    if (!(noise_max(c) >= c->noise_multiplier && isfinite(noise_max(c))))
        return refuse(ctx, name, "noise_multiplier_max is below noise_multiplier, or not finite");
    if (!(c->batch >= 1.0 && c->batch <= (double)c->rows))
        return refuse(ctx, name, "batch is not between 1 and the number of rows");
    if (!(c->rounding_allowance >= 0.0)) return refuse(ctx, name, "rounding_allowance is below 0");
    if (!near(c->noise_stddev, c->noise_multiplier * c->sensitivity)) /* (1) */
        return refuse(ctx, name, "noise_stddev is not noise_multiplier times sensitivity");
    if (!power_of_two(c->grid_spacing)) return refuse(ctx, name, "grid_spacing is not a power of two");
    if (!(c->rounding_allowance >= 2.0 * pvi_grid_error(c->grid_spacing, c->weights) * (1.0 - 1e-9))) /* (10) */
        return refuse(ctx, name, "rounding_allowance does not pay for the rounding to grid_spacing");
    return check_sensitivity(ctx, name, c);
}

/* (8) */
static bool asks_for(const pv_optimizer_ops *opt, const char *kind)
{
    for (int k = 0; k < PV_MOST_ASKS && opt->ask[k].query; k++)
        if (strcmp(pvi_kind_of(&opt->ask[k])->name, kind) == 0) return true;
    return false;
}

static pv_status check_kinds(pv_ctx *ctx, const char *name, const pvi_cert *c)
{
    const pv_optimizer_ops *opt = optimizer_of(c);
    int64_t left = c->queries;
    if (c->version < 3) return PV_OK;
    if (!opt) return refuse(ctx, name, "unknown optimizer");
    for (int64_t i = 0; i < c->n_kinds; i++) {
        if (!asks_for(opt, c->kinds[i].kind))
            return refuse(ctx, name, "releases names a kind that the optimizer does not ask for");
        left = c->kinds[i].count > left ? -1 : left - c->kinds[i].count;
        if (left < 0) break;
    }
    return left == 0 ? PV_OK : refuse(ctx, name, "releases does not count as many as queries");
}

static bool is_digest(const char *text)
{
    return text && strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

static pv_status check_present(pv_ctx *ctx, const char *name, const pvi_cert *c)
{
    if (c->why_not) return refuse(ctx, name, "it says private, and gives a reason why it is not");
    if (!c->events || !c->accountant) return refuse(ctx, name, "the events or the accountant are missing");
    if (!c->model || !c->optimizer || !c->mechanism || !c->sampler || !c->data_digest || !c->settings)
        return refuse(ctx, name, "model, optimizer, mechanism, sampler, data_digest or settings are missing");
    if (c->version >= 3 && !(is_digest(c->data_salt) && is_digest(c->data_digest) && is_digest(c->header_digest) &&
                             is_digest(c->weights_digest)))
        return refuse(ctx, name,
                      "data_salt, data_digest, header_digest or weights_digest is not 64 hexadecimal digits");
    return PV_OK;
}

/* (9) */
static pv_status check_assumptions(pv_ctx *ctx, const char *name, const pvi_cert *c)
{
    const pv_mechanism_ops *mech = (const pv_mechanism_ops *)(const void *)pv_find(PV_KIND_mechanism, c->mechanism);
    if (c->version < 3) return PV_OK;
    if (mech && mech->caveat && !pvi_cert_assumes(c, mech->caveat))
        return pvi_fail(ctx, PV_E_VERIFY, "%s: does not hold: the assumptions leave out: %s", name, mech->caveat);
    if (c->delta_draws == 0.0 && !pvi_cert_assumes(c, pvi_cert_ideal_draws))
        return refuse(ctx, name, "the assumptions leave out that delta does not include the accuracy of the draws");
    return PV_OK;
}

/* ---- epsilon ---------------------------------------------------------------------------------------------- */

static pv_status account(pv_ctx *ctx, const char *name, const pvi_cert *c, bool replace, double *epsilon)
{
    const char *which = replace ? c->accountant_replace : c->accountant;
    const pv_relation rel = replace ? PV_REL_REPLACE : c->relation;
    const double claimed = replace ? c->epsilon_replace : c->epsilon;
    char why[256], got[32], said[32];
    pvi_cost cost;

    const pv_status s = pvi_account(ctx, which, rel, replace ? c->events_replace : c->events,
                                    pvi_down(c->delta - c->delta_draws, 1), &cost);
    if (s == PV_E_NOMEM) return s;
    if (s != PV_OK) {
        snprintf(why, sizeof why, "%s", pv_ctx_errmsg(ctx));
        return pvi_fail(ctx, PV_E_VERIFY, "%s: does not hold: the events cannot be accounted for: %s", name, why);
    }
    if (rel == PV_REL_REPLACE && cost.group_bound != c->replace_is_group_bound)
        return refuse(ctx, name, "replace_is_group_bound does not fit the events");
    *epsilon = cost.epsilon;
    if (cost.epsilon <= claimed) return PV_OK; /* (5) */
    pvi_f64_text(cost.epsilon, got);
    pvi_f64_text(claimed, said);
    return pvi_fail(ctx, PV_E_VERIFY, "%s: does not hold: the events cost epsilon %s, more than the claimed %s (%s)",
                    name, got, said, replace ? "replace" : "headline");
}

/* Whatever it rests on, it must at least follow from it, and from version 3 on say more than what is certified. */
static pv_status check_conditional(pv_ctx *ctx, const char *name, const pvi_cert *c)
{
    char why[256];
    pvi_json *said;
    if (!c->conditional) return PV_OK;
    pv_arena *a = pvi_arena_create(ctx);
    if (!a) return pvi_nomem(ctx);
    pv_status s = pvi_hidden_sbcd_check(ctx, c->conditional, c->events, c->delta);
    if (s == PV_OK) s = pvi_json_parse(ctx, a, name, c->conditional, strlen(c->conditional), &said);
    if (s == PV_OK && c->version >= 3 && !(pvi_json_get(said, "epsilon")->num < c->epsilon))
        s = pvi_fail(ctx, PV_E_VERIFY, "the conditional epsilon is not below the certified one");
    pvi_arena_free(a);
    if (s == PV_OK || s == PV_E_NOMEM) return s;
    snprintf(why, sizeof why, "%s", pv_ctx_errmsg(ctx));
    return refuse(ctx, name, why);
}

pv_status pvi_cert_recompute(pv_ctx *ctx, const char *name, const pvi_cert *c, pvi_recomputed *out)
{
    pvi_recomputed got = { 0 };
    if (!c->is_private)
        return pvi_fail(ctx, PV_E_VERIFY, "%s: NOT PRIVATE: %s", name,
                        c->why_not ? c->why_not : "no reason recorded");
    pv_status s = check_present(ctx, name, c);
    if (s == PV_OK) s = check_numbers(ctx, name, c);
    if (s == PV_OK) s = check_assumptions(ctx, name, c);
    if (s == PV_OK) s = check_kinds(ctx, name, c);
    if (s == PV_OK) s = check_events(ctx, name, c);
    if (s == PV_OK) s = check_replace(ctx, name, c);
    if (s == PV_OK) s = pvi_cert_check_settings(ctx, name, c);
    if (s == PV_OK) s = account(ctx, name, c, false, &got.epsilon);
    if (s == PV_OK && c->relation == PV_REL_ZERO_OUT) s = account(ctx, name, c, true, &got.epsilon_replace);
    else got.epsilon_replace = got.epsilon;
    if (s == PV_OK) s = check_conditional(ctx, name, c);
    if (s == PV_OK && out) *out = got;
    return s;
}

pv_status pvi_cert_verify(pv_ctx *ctx, const char *name, const pvi_cert *c)
{
    return pvi_cert_recompute(ctx, name, c, NULL);
}
