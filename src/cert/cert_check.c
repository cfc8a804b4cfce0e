/* cert_check.c - does a certificate hold?  Its fields against each other, then its epsilons against
 * its events.  Nothing but the certificate is needed: no data, no model.
 *
 *   (1)  noise_stddev = noise_multiplier * sensitivity
 *   (2)  sensitivity and replace_change follow from clip_norm and clip_norm_gradient by the planner's own formula
 *        (query/sensitivity.c); version 2 had clip_norm alone, and replace_change was 2 clip_norm
 *   (3)  every noisy leaf of the events has the mechanism's kind and a noise multiplier from noise_multiplier, the
 *        lowest, to noise_multiplier_max, the highest; stands under the recorded sampler at the rate batch / rows,
 *        and there are `queries` of them; the multiplier of a selection is 1 / its epsilon.  A kind of release on
 *        samples of its own has its own batch and multiplier in `releases`: at each rate there are as many as that
 *        counts
 *   (4)  under replace one row changes a sum by up to replace_change, so that each leaf of the replace
 *        events, which are otherwise the same releases, has at most the share s of its multiplier,
 *        s noise_multiplier = noise_stddev / (replace_change + rounding_allowance), the smallest s of all kinds of
 *        release; the group bound counts zero-out steps, so there s = 1
 *   (5)  the recorded accountant, run again, gives at most the claimed epsilon: no tolerance
 *   (6)  epsilon_replace >= epsilon: a replaced row is a row left out and another put in
 *   (7)  the settings describe this run (cert_settings.c), and a run can have them (cert_run.c)
 *   (8)  `releases` counts every release once, by kinds that the optimizer asks for; a bound under further
 *        assumptions is below epsilon
 *   (9)  what follows from the mechanism, from delta_draws and from optimizer.start stands among the assumptions
 *   (10) rounding_allowance is at least twice the error of rounding as many numbers as there are weights, or counts
 *        of an evaluation, to the grid
 *   (11) where the unit is a person, version 4: model and kinds of release have proofs for units of several rows,
 *        and settings do not say otherwise
 *   (12) a stage, one release of every unit before the optimiser's, stands first in the events, with the multiplier
 *        that `releases` says of it; (3) is about what follows.  A count of persons by their rows has clip_norm 1,
 *        one of the values of H columns sqrt(H)
 *   (13) an evaluation is one release of counts, as many as query_scores.c has for some number of classes, each of
 *        which noise may have made; its clip_norm is the bound of query_scores.c (1), whatever the model
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

/* ---- the stage before the optimiser ---------------------------------------------------------------------- */

static bool is_stage(const pvi_cert_kind *k)
{
    const pvi_release_kind *kind = pvi_kind_named(k->kind);
    return kind && kind->stage;
}

/* On samples of its own. */
static bool is_own(const pvi_cert_kind *k)
{
    return k->batch > 0.0 && !is_stage(k);
}

const pvi_cert_kind *pvi_cert_stage(const pvi_cert *c)
{
    for (int64_t i = 0; i < c->n_kinds; i++)
        if (is_stage(&c->kinds[i])) return &c->kinds[i];
    return NULL;
}

const pvi_cert_kind *pvi_cert_stage_of(const pvi_cert *c, const char *kind)
{
    const pvi_cert_kind *k = pvi_cert_stage(c);
    return k && strcmp(k->kind, kind) == 0 ? k : NULL;
}

const pvi_cert_kind *pvi_cert_evaluation(const pvi_cert *c)
{
    const pvi_release_kind *kind = c->n_kinds == 1 && c->kinds[0].kind ? pvi_kind_named(c->kinds[0].kind) : NULL;
    return kind && kind->query->counts && !kind->stage ? &c->kinds[0] : NULL;
}

int64_t pvi_cert_asked(const pvi_cert *c)
{
    const pvi_cert_kind *stage = pvi_cert_stage(c);
    return c->queries - (stage ? stage->count : 0);
}

/* (12): a sequence of two; NULL: it is not. */
const pv_event *pvi_cert_steps(const pvi_cert *c, const pv_event *events)
{
    if (!pvi_cert_stage(c)) return events;
    if (events->kind != PV_EV_SEQ || !events->sub || events->sub->kind != PV_EV_GAUSSIAN) return NULL;
    const pv_event *steps = events->sub->next;
    return steps && !steps->next ? steps : NULL;
}

static pv_status check_stage(pv_ctx *ctx, const char *name, const pvi_cert *c)
{
    const pvi_cert_kind *k = pvi_cert_stage(c);
    if (!k) return PV_OK;
    const bool persons = strcmp(k->kind, pvi_kind_person_rows) == 0;
    const double norm = persons ? 1.0 : sqrt((double)pvi_column_values_columns(k->n_counts)); /* of a unit */
    if (persons && c->version < PVI_CERT_PERSONS)
        return refuse(ctx, name, "persons are counted, and unit says there are none");
    if (k->count != 1 || !pvi_cert_steps(c, c->events) || !near(c->events->sub->a, k->noise_multiplier))
        return refuse(ctx, name, "the events do not begin with the counts that releases says");
    if (strcmp(c->mechanism, pv_mechanism_gaussian.head.name) != 0)
        return refuse(ctx, name, "units are counted beside a mechanism that no proof covers");
    if (k->batch != (double)c->rows || !(norm > 0.0) || !(k->clip_norm >= norm) || !near(k->clip_norm, norm))
        return refuse(ctx, name, "a histogram is of all units, and of each once");
    return PV_OK;
}

/* (13) */
static pv_status check_evaluation(pv_ctx *ctx, const char *name, const pvi_cert *c)
{
    const pvi_cert_kind *k = pvi_cert_evaluation(c);
    if (!k) return PV_OK;
    const int64_t classes = pvi_score_found(k->n_counts).classes;
    if (k->count != 1 || classes == 0 || (pv_find(PV_KIND_loss, c->model) && classes != 2))
        return refuse(ctx, name, "an evaluation is one release of counts, and these are not as many as it has");
    if (!(c->clip_norm >= sqrt(2.0)) || !near(c->clip_norm, sqrt(2.0)))
        return refuse(ctx, name, "each unit counts once in each of the two tables of an evaluation");
    for (int64_t i = 0; i < k->n_counts; i++) /* noise of 64 standard deviations is as good as never drawn */
        if (!(fabs((double)k->counts[i]) <= (double)c->rows + 64.0 * c->noise_stddev + 1.0))
            return refuse(ctx, name, "a count of the evaluation is further from any true one than noise makes it");
    return PV_OK;
}

/* ---- events ----------------------------------------------------------------------------------------- */

typedef struct samples { /* of one size */
    double rate;         /* batch / rows */
    int64_t wanted, found;
    double lowest, highest; /* multiplier of the noisy leaves */
} samples;

typedef struct tally {
    int64_t leaves;
    double lowest, highest;          /* of all of them */
    pv_ev_kind kind, sampler, above; /* what a leaf must be, what must stand above it, what does */
    bool other_kind, other_sampler;
    samples of[PVI_CERT_KINDS + 1]; /* the first of `batch`; one of every other size */
    int sizes, now;
} tally;

static void add_to(int64_t *sum, int64_t times)
{
    *sum = times > INT64_MAX - *sum ? INT64_MAX : *sum + times;
}

/* The samples of this rate; -1: there are none. */
static int of_rate(const tally *t, double rate)
{
    for (int i = 0; i < t->sizes; i++)
        if (near(rate, t->of[i].rate)) return i;
    return -1;
}

static void expect(tally *t, double rate, int64_t count)
{
    int i = of_rate(t, rate);
    if (i < 0) t->of[i = t->sizes++] = (samples) { .rate = rate, .lowest = INFINITY, .highest = -INFINITY };
    add_to(&t->of[i].wanted, count);
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
    samples *s = &t->of[t->now];
    t->lowest = fmin(t->lowest, z);
    t->highest = fmax(t->highest, z);
    s->lowest = fmin(s->lowest, z);
    s->highest = fmax(s->highest, z);
    add_to(&t->leaves, times);
    if (t->above == PV_EV_NONE) add_to(&s->found, times);
}

/* What stands under the sampler ev: one release. */
static void count(const pv_event *ev, int64_t times, tally *t);
static void count_sampled(const pv_event *ev, int64_t times, tally *t)
{
    const int64_t before = t->leaves;
    const pv_ev_kind above = t->above;
    const int now = t->now, size = of_rate(t, ev->kind == PV_EV_CYCLIC ? 1.0 / (double)ev->n : ev->a);
    if (size < 0) t->other_sampler = true;
    t->now = size < 0 ? 0 : size;
    t->above = above == PV_EV_NONE ? ev->kind : PV_EV_NONPRIVATE; /* a sample of a sample fits no sampler */
    count(ev->sub, 1, t);
    if (t->leaves == before) t->other_kind = true; /* a sample of nothing would count as a release for free */
    add_to(&t->of[t->now].found, times);
    t->above = above;
    t->now = now;
    t->leaves = before;
    add_to(&t->leaves, times);
}

/* As the meter counts: what one sample feeds is one release; `none` releases nothing. */
static void count(const pv_event *ev, int64_t times, tally *t)
{
    if (times == 0) return;
    switch (ev->kind) {
    case PV_EV_NONE: return;
    case PV_EV_REPEAT: count(ev->sub, ev->n > INT64_MAX / times ? INT64_MAX : ev->n * times, t); return;
    case PV_EV_SEQ:
        for (const pv_event *e = ev->sub; e; e = e->next) count(e, times, t);
        return;
    case PV_EV_POISSON:
    case PV_EV_FIXED:
    case PV_EV_CYCLIC: count_sampled(ev, times, t); return;
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

/* (3): as many at each rate, and with such noise, as `releases` says of kinds on samples of their own. */
static pv_status check_rates(pv_ctx *ctx, const char *name, const pvi_cert *c, const tally *t)
{
    bool own = false;
    for (int64_t i = 0; i < c->n_kinds; i++) {
        const pvi_cert_kind *k = &c->kinds[i];
        if (!is_own(k)) continue;
        own = true;
        const samples *s = &t->of[of_rate(t, k->batch / (double)c->rows)];
        if (!near(s->lowest, k->noise_multiplier) || !near(s->highest, k->noise_multiplier))
            return refuse(ctx, name, "noise_multiplier of a kind of releases is not the one of its events");
    }
    for (int i = 0; i < t->sizes && own; i++)
        if (!near(t->of[i].lowest, t->of[i].highest)) /* beside samples of their own, noise does not change by step */
            return refuse(ctx, name, "the events hold releases of one size with different noise");
    for (int i = 0; i < t->sizes; i++)
        if (t->of[i].found != t->of[i].wanted)
            return refuse(ctx, name, "the events hold another number of samples of a size than releases says");
    return PV_OK;
}

static void expect_samples(const pvi_cert *c, tally *t)
{
    int64_t others = pvi_cert_asked(c);
    for (int64_t i = 0; i < c->n_kinds; i++)
        if (is_own(&c->kinds[i])) others -= c->kinds[i].count; /* at most queries in all: (8) */
    expect(t, c->batch / (double)c->rows, others);
    for (int64_t i = 0; i < c->n_kinds; i++)
        if (is_own(&c->kinds[i])) expect(t, c->kinds[i].batch / (double)c->rows, c->kinds[i].count);
}

static pv_status check_events(pv_ctx *ctx, const char *name, const pvi_cert *c)
{
    const pvi_sampler_ops *sampler = pvi_sampler_named(c->sampler);
    const pv_mechanism_ops *mech = (const pv_mechanism_ops *)(const void *)pv_find(PV_KIND_mechanism, c->mechanism);
    if (!mech) return pvi_fail(ctx, PV_E_VERIFY, "%s: does not hold: unknown mechanism %s", name, c->mechanism);
    if (!sampler) return refuse(ctx, name, "unknown sampler");
    tally t = { .lowest = INFINITY, .highest = -INFINITY, .kind = mech->event, .sampler = sampler->event };
    expect_samples(c, &t);
    count(pvi_cert_steps(c, c->events), 1, &t); /* (12) */
    if (t.other_kind) return refuse(ctx, name, "the events hold a release that the recorded mechanism does not make");
    if (t.other_sampler)
        return refuse(ctx, name, "the events hold a release under another sampler than the recorded one");
    if (t.leaves != pvi_cert_asked(c)) /* (3) */
        return pvi_fail(ctx, PV_E_VERIFY, "%s: does not hold: queries is %lld, but the events hold %lld", name,
                        (long long)c->queries, (long long)(t.leaves + c->queries - pvi_cert_asked(c)));
    const pv_status s = check_leaves(ctx, name, c, &t);
    return s == PV_OK ? check_rates(ctx, name, c, &t) : s;
}

/* (4): the smallest share of all kinds. */
static double replace_share(const pvi_cert *c)
{
    double share = c->noise_stddev / (c->replace_change + c->rounding_allowance) / c->noise_multiplier;
    if (c->replace_is_group_bound) return 1.0;
    for (int64_t i = 0; i < c->n_kinds; i++) {
        const pvi_cert_kind *k = &c->kinds[i];
        if (k->batch > 0.0)
            share = fmin(share, k->noise_stddev / (k->replace_change + k->rounding_allowance) / k->noise_multiplier);
    }
    return share;
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
    if (!noise_within(c->events, c->events_replace, replace_share(c))) /* (4) */
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

/* (1), (2), (10) of a kind on samples of its own. */
static pv_status check_own(pv_ctx *ctx, const char *name, const pvi_cert *c, const pvi_cert_kind *k,
                           bool semidefinite)
{
    const pvi_release_kind *kind = pvi_kind_named(k->kind);
    const pvi_bound bound = { k->clip_norm, k->replace_change };
    if (!kind || !(kind->query->own_batch || kind->stage))
        return refuse(ctx, name, "a kind of releases has no samples of its own");
    if (!(k->batch >= 1.0 && k->batch <= (double)c->rows) ||
        (!kind->stage && (k->batch == (double)c->rows) != (c->batch == (double)c->rows)))
        return refuse(ctx, name,
                      "batch of a kind of releases is not between 1 and the number of rows, or all of them");
    if (!positive(k->clip_norm) || !positive(k->noise_multiplier) || !positive(k->sensitivity))
        return refuse(ctx, name, "clip_norm and noise of a kind of releases must be above 0");
    if (!near(k->noise_stddev, k->noise_multiplier * k->sensitivity))
        return refuse(ctx, name, "noise_stddev of a kind of releases is not noise_multiplier times sensitivity");
    if (!power_of_two(k->grid_spacing) ||
        !(k->rounding_allowance >=
          2.0 * pvi_grid_error(k->grid_spacing, kind->stage ? k->n_counts : c->weights) * (1.0 - 1e-9)))
        return refuse(ctx, name, "rounding_allowance of a kind of releases does not pay for its grid_spacing");
    if (!near(k->replace_change, kind->query->other(k->clip_norm, c->clip_gradient, semidefinite)))
        return refuse(ctx, name, "replace_change of a kind of releases does not follow from its clip_norm");
    if (!near(k->sensitivity, pvi_sensitivity(&bound, c->relation, c->replace_is_group_bound, k->rounding_allowance)))
        return refuse(ctx, name, "sensitivity of a kind of releases does not follow from its clip_norm");
    return PV_OK;
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
    for (int64_t i = 0; s == PV_OK && i < c->n_kinds; i++)
        if (c->kinds[i].batch > 0.0) s = check_own(ctx, name, c, &c->kinds[i], semidefinite(c, settings));
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
    const pvi_cert_kind *counts = pvi_cert_evaluation(c);
    const int64_t numbers = counts ? counts->n_counts : c->weights;
    if (!(c->rounding_allowance >= 2.0 * pvi_grid_error(c->grid_spacing, numbers) * (1.0 - 1e-9))) /* (10) */
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
        if (!is_stage(&c->kinds[i]) && !asks_for(opt, c->kinds[i].kind))
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

static bool is_set(const pvi_json *settings, const char *key)
{
    const pvi_json *v = pvi_json_get(settings, key);
    return v && v->type != PVI_JNULL && !(v->type == PVI_JSTR && strcmp(v->text, "auto") == 0);
}

static bool is_word(const pvi_json *settings, const char *key, const char *word)
{
    const pvi_json *v = pvi_json_get(settings, key);
    return v && v->type == PVI_JSTR && strcmp(v->text, word) == 0;
}

/* (11): settings of the other unit are not set, and the assumptions say what those of this one mean. */
static pv_status check_unit_settings(pv_ctx *ctx, const char *name, const pvi_cert *c)
{
    static const char *const of_persons[] = { "data.person", "data.person_rows", "data.person_rows_share",
                                              "data.persons", NULL },
                             *const of_rows[] = { "data.rows", NULL };
    pvi_json *v;
    pv_arena *a = pvi_arena_create(ctx);
    if (!a) return pvi_nomem(ctx);
    pv_status s = pvi_json_parse(ctx, a, name, c->settings, strlen(c->settings), &v);
    const char *const *key = c->version < PVI_CERT_PERSONS ? of_persons : of_rows;
    for (; s == PV_OK && *key; key++)
        if (is_set(v, *key)) s = refuse(ctx, name, "settings say whose rows these are, and unit says otherwise");
    const bool sum = s == PV_OK && is_word(v, "unit.combine", "sum"),
               by_rows = s == PV_OK && is_word(v, "unit.weight", "rows");
    if (s == PV_OK && c->version < PVI_CERT_PERSONS && (sum || by_rows))
        s = refuse(ctx, name, "settings say what persons count, and unit says that there are none");
    if (s == PV_OK && c->version >= PVI_CERT_PERSONS && !pvi_cert_assumes(c, pvi_cert_person_rows(sum, by_rows)))
        s = refuse(ctx, name,
                   "the assumptions leave out how rows of a person above the cap were left out, or what is clipped "
                   "of the others");
    pvi_arena_free(a);
    return s;
}

/* (11) */
static pv_status check_unit(pv_ctx *ctx, const char *name, const pvi_cert *c)
{
    const pv_optimizer_ops *opt = optimizer_of(c);
    const pv_status s = check_unit_settings(ctx, name, c);
    if (s != PV_OK || c->version < PVI_CERT_PERSONS) return s;
    if (!c->unit || strcmp(c->unit, "person") != 0 || c->unit_rows < 1)
        return refuse(ctx, name, "unit is not person, or rows_per_person is below 1");
    const pv_model_ops *model = pvi_cert_model_of(c->model);
    if (!model || !(model->props & PV_UNITS))
        return refuse(ctx, name, "model names one that has no proof for persons of several rows");
    for (int64_t i = 0; opt && i < c->n_kinds; i++) {
        const pvi_release_kind *kind = pvi_kind_named(c->kinds[i].kind);
        if (!kind || !pvi_kind_takes_units(kind) ||
            (pvi_kind_is_second(kind) && !(model->hess && model->hess->props & PV_UNITS)))
            return refuse(ctx, name, "releases names a kind that has no proof for persons of several rows");
    }
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

/* A numerical accountant chooses its lattice by numbers that the last bits of another machine's libm move, and its
 * bounds move by up to their precision (acct_pld.c), 1e-2 of epsilon at most; all of them are bounds.  Where one
 * misses the claim by no more than twice that, one ten times as close as the closest that can be had decides. */
static double tighter(pv_ctx *ctx, const pvi_cert *c, bool replace, double epsilon)
{
    const double claimed = replace ? c->epsilon_replace : c->epsilon;
    double eps;
    if (epsilon > claimed * (1.0 + 2e-2)) return epsilon;
    const pv_status s =
        pvi_pld_within(ctx, replace ? PV_REL_REPLACE : c->relation, replace ? c->events_replace : c->events,
                       pvi_down(c->delta - c->delta_draws, 1), 1e-6, &eps);
    return s == PV_OK && eps < epsilon ? eps : epsilon;
}

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
    if (cost.epsilon > claimed && !cost.group_bound) *epsilon = tighter(ctx, c, replace, cost.epsilon);
    if (*epsilon <= claimed) return PV_OK; /* (5) */
    pvi_f64_text(*epsilon, got);
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
    if (s == PV_OK) s = check_unit(ctx, name, c);
    if (s == PV_OK) s = check_kinds(ctx, name, c);
    if (s == PV_OK) s = check_stage(ctx, name, c);
    if (s == PV_OK) s = check_evaluation(ctx, name, c);
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
