/* release.c - kinds of release, and how much noise one needs.
 *
 * A release is a query, noised by a mechanism, on the units of a sampler.  Sums are released as S~ + noise, S~ the
 * sum computed in floating point.
 *   (1) E = rounding(m) + grid_error(spacing, length): how far the computed sum of one group of at most m units can
 *       be from the exact one (the query's file; grid.c)
 *   (2) Delta = bound + k E, the bound of the relation (sensitivity.c).  Groups are fixed by the place of a unit, and
 *       group sums are added as integers, so that neighbours differ in one group sum only; each of its two computed
 *       values is within E of its exact one: k = 2.
 *       Poisson sampling under replace is accounted for as two zero-out steps (the group bound), so its noise is
 *       scaled to the zero-out Delta.
 *       A fixed-size sample under replace is compared with samples that hold another unit instead, of another group:
 *       there two group sums change, and k = 4.  Units rounded one by one have no groups: k = 2, E the grid's error
 *       of one.
 *   (3) sigma = z Delta, z calibrated so that the planned events cost at most (epsilon, delta) (plan/budget.c).
 * Under contract M3 a unit that contributes zero leaves its group's sum bit-identical, so leaving it out of a Poisson
 * sample and zeroing it out give the same sum: what the accountant assumes.
 * Several events spent on one release of every unit:
 *   (4) k releases of the same sum with noise sigma have the same privacy curve as one with noise sigma / sqrt(k),
 *       their average, which is what the Gaussian accountants see in k repetitions.
 * A stage is one release of every unit before the optimiser's, with a noise multiplier of its own:
 *   (5) the events are a sequence, stage first, and what follows may depend on what it released (adaptive
 *       composition).  Where the optimiser's releases are accounted for by the group bound, two zero-out steps of the
 *       whole sequence, its multiplier is of the zero-out Delta as theirs. */
#include "query/query.h"

const pvi_query_ops *const pvi_queries[] = {
#define PVI_QUERY(name) &pvi_query_##name,
#include "query/query.def"
#undef PVI_QUERY
    NULL,
};

static const pvi_sampler_ops *const sampled[] = { &pvi_full, &pvi_poisson, &pvi_fixed, &pvi_cyclic, NULL };
/* Not in parts taken in turn: two kinds of release a step would each see some of the parts only. */
static const pvi_sampler_ops *const independent[] = { &pvi_full, &pvi_poisson, &pvi_fixed, NULL };
static const pvi_sampler_ops *const everyone[] = { &pvi_full, NULL };
static const pvi_sampler_ops *const one[] = { &pvi_one, NULL };
const char pvi_kind_person_rows[] = "rows of a person", pvi_kind_column_values[] = "values of columns";
const pvi_release_kind pvi_release_kinds[] = {
    { "gradient", &pvi_query_gradient, &pv_mechanism_gaussian, sampled, true, NULL,
      "query_gradient.c, release.c (2), mech_gaussian.c (1)", false },
    { "end of descent", &pvi_query_descent, &pv_mechanism_gaussian, everyone, true,
      "looks at every row in each pass: leave the sampler out", "query_descent.c, release.c (2), mech_gaussian.c (1)",
      false },
    { "gradient and Hessian", &pvi_query_hessian, &pv_mechanism_gaussian, sampled, false, NULL,
      "query_hessian.c, release.c (2), (4), mech_gaussian.c (1)", false },
    { "second moments", &pvi_query_moments, &pv_mechanism_gaussian, sampled, false, NULL,
      "query_moments.c, release.c (2), (4), mech_gaussian.c (1)", false },
    { "selection", &pvi_query_gradient, &pv_mechanism_select, everyone, false,
      "looks at every row for each choice: leave the sampler out", "query_gradient.c, mech_select.c (5)", false },
    { "gradient of one row", &pvi_query_gradient, &pv_mechanism_ball, one, false,
      "draws one row per step: leave sampler and sampler.batch out", "query_gradient.c, mech_ball.c (4)", false },
    { "Hessian", &pvi_query_curvature, &pv_mechanism_gaussian, independent, false,
      "draws two independent samples a step: sampler=poisson or sampler=fixed would do",
      "query_curvature.c, release.c (2), mech_gaussian.c (1)", false },
    { pvi_kind_person_rows, &pvi_query_histogram, &pv_mechanism_gaussian, everyone, false,
      "counts every person once: leave the sampler out", "query_histogram.c, release.c (2), (5), mech_gaussian.c (1)",
      true },
    { pvi_kind_column_values, &pvi_query_histogram, &pv_mechanism_gaussian, everyone, false,
      "counts every unit once: leave the sampler out", "column_values.c, query_histogram.c, release.c (2), (5)",
      true },
    { "scores by class", &pvi_query_scores, &pv_mechanism_gaussian, everyone, false,
      "counts every unit once: leave the sampler out", "query_scores.c, release.c (2), mech_gaussian.c (1)", false },
    { 0 },
};

const pvi_release_kind *pvi_kind_of(const pv_ask_row *ask)
{
    for (const pvi_release_kind *k = pvi_release_kinds; k->name; k++)
        if (!k->stage && k->query == ask->query && k->mech == ask->mech) return k; /* no optimiser asks for a stage */
    return NULL;
}

const pvi_release_kind *pvi_kind_named(const char *name)
{
    for (const pvi_release_kind *k = pvi_release_kinds; k->name; k++)
        if (strcmp(k->name, name) == 0) return k;
    return NULL;
}

bool pvi_kind_is_second(const pvi_release_kind *kind)
{
    return kind->query->parts || kind->query->own_batch || kind->query->transforms;
}

/* A selection goes by what one unit adds, in the norm that its rows are bounded in (units.c (5)); the ball has a
 * proof of its own, about one row. */
bool pvi_kind_takes_units(const pvi_release_kind *k)
{
    return k->query->units && (k->mech == &pv_mechanism_gaussian || k->mech == &pv_mechanism_select);
}

bool pvi_kind_takes(const pvi_release_kind *k, const pvi_sampler_ops *s)
{
    for (int i = 0; k->samplers[i]; i++)
        if (k->samplers[i] == s) return true;
    return false;
}

bool pvi_kind_has_sizes(const pvi_release_kind *k)
{
    for (int i = 0; k->samplers[i]; i++)
        if (!k->samplers[i]->whole && k->samplers[i] != &pvi_one) return true;
    return false;
}

static double default_batch(const pvi_query_ops *q, double n)
{
    return fmin(n, fmin(fmax(ceil(n / q->batch_share), 512.0), q->batch_most));
}

void pvi_release_sample(pvi_release *r, double wanted, double n)
{
    const pvi_query_ops *q = r->q.ops;
    r->batch = isnan(wanted) ? default_batch(q, n) : wanted;
    if (r->sampler->batch) r->batch = r->sampler->batch(r->batch, n);
    if (r->batch == n && pvi_kind_takes(r->kind, &pvi_full))
        r->sampler = &pvi_full; /* every unit, whatever the sampler */
    r->rate = r->batch / n;
    r->group_bound = r->sampler->group_bound;
    r->most = r->sampler->whole ? q->full : q->sampled;
    /* A group of a sample spans enough places for `mean` units on average; more than `most` in one group then has a
     * probability below 1e-35, and the oracle splits even that. */
    r->group = r->sampler->consecutive ? r->most
               : r->rate < 0.5         ? (int64_t)floor((double)q->mean / r->rate)
                                       : q->full;
}

static void set_sensitivity(pvi_release *r)
{
    const double k = r->q.per_unit ? 2.0 : 2.0 * r->sampler->groups;                                         /* (2) */
    r->error = pv_up(r->q.ops->rounding(&r->q, r->most) + pvi_grid_error(r->noise.spacing, r->q.length), 4); /* (1) */
    r->allowance = k * r->error;
    r->sensitivity[PV_REL_ZERO_OUT] = pvi_sensitivity(&r->q.bound, PV_REL_ZERO_OUT, false, r->allowance);
    r->sensitivity[PV_REL_REPLACE] = pvi_sensitivity(&r->q.bound, PV_REL_REPLACE, false, r->allowance);
}

/* The grid is chosen for the noise without the allowance, then the allowance for the grid enlarges the noise: the
 * spacing stays at least as fine as intended. */
pv_status pvi_release_noise(pvi_release *r, pv_relation relation, double z, double max_ratio, bool private_run,
                            pv_ctx *ctx)
{
    const double B = r->q.bound.absent;
    pv_noise *n = &r->noise;
    *n = (pv_noise) { .multiplier = z,
                      .length = r->q.length,
                      .units = r->q.dom->n,
                      .bound = B,
                      .max_ratio = max_ratio,
                      .max_norm = r->q.dom->max_norm,
                      .problem = r->q.prob };
    n->spacing = pvi_grid_spacing(B, r->q.dom->n, z * B * (relation == PV_REL_REPLACE ? 2.0 : 1.0), r->q.length);
    if (!(n->spacing > 0.0))
        return pvi_fail(ctx, PV_E_UNSUPPORTED,
                        "no fixed-point grid holds sums of %lld %ss with clip %g under noise %g",
                        (long long)r->q.dom->n, pvi_unit_word(r->q.dom), B, z * B);
    set_sensitivity(r);
    n->change = r->sensitivity[relation];
    n->sensitivity = r->sensitivity[r->group_bound ? PV_REL_ZERO_OUT : relation];
    n->off = !private_run;
    return private_run ? r->kind->mech->plan(n, ctx) : PV_OK; /* (3) */
}
