/* cert_settings.c - do the settings in a certificate describe the run that its other fields describe?
 *
 * A checksum shows that a certificate was not changed by accident; whoever writes one on purpose can compute it.
 * What no one can do is make contradicting fields agree, so everything that is said twice is compared:
 *   (1)  the optimizer's proof is for one mechanism; ball noise has one for replace only
 *   (2)  model, optimizer, mechanism, relation, delta: as recorded
 *   (3)  sampler and sampler.batch: as recorded; `full batch` exactly if the batch is all rows
 *   (4)  optimizer.steps: no fewer releases than steps
 *   (5)  budget.noise_multiplier as recorded, budget.epsilon and clip not below what is claimed
 *   (6)  one noise multiplier for all releases, unless optimizer.noise names a schedule
 * A setting that is absent or auto says nothing. */
#include "out.h"

static bool near(double x, double y)
{
    return fabs(x - y) <= 1e-12 * fabs(y);
}

static bool agrees(const pvi_json *settings, const char *key, const char *value)
{
    const pvi_json *v = pvi_json_get(settings, key);
    return !v || (v->type == PVI_JSTR && (strcmp(v->text, value) == 0 || strcmp(v->text, "auto") == 0));
}

/* NAN: not said. */
static double number(const pvi_json *settings, const char *key)
{
    const pvi_json *v = pvi_json_get(settings, key);
    return v && v->type == PVI_JNUM ? v->num : NAN;
}

/* (1) */
static bool own_mechanism(const pvi_cert *c, const pv_optimizer_ops *opt)
{
    const char *own = opt->ball ? "ball" : opt->selects ? "select" : "gaussian";
    return strcmp(c->mechanism, own) == 0 && (!opt->ball || c->relation == PV_REL_REPLACE);
}

/* (2) */
static bool same_names(const pvi_json *v, const pvi_cert *c)
{
    const double delta = number(v, "budget.delta");
    return agrees(v, "model", c->model) && agrees(v, "optimizer", c->optimizer) &&
           agrees(v, "mechanism", c->mechanism) && agrees(v, "privacy", "on") &&
           agrees(v, "budget.relation", c->relation == PV_REL_REPLACE ? "replace" : "zero-out") &&
           (isnan(delta) || delta == c->delta);
}

/* (3): what the optimizer draws by itself when the setting is auto. */
static const char *wanted_sampler(const pvi_json *v, const pv_optimizer_ops *opt)
{
    const pvi_json *s = pvi_json_get(v, "sampler");
    const char *named = s && s->type == PVI_JSTR ? s->text : "auto";
    if (strcmp(named, "auto") == 0) return opt->ball ? "fixed size" : opt->stochastic ? "poisson" : "full batch";
    return strcmp(named, "fixed") == 0 ? "fixed size" : strcmp(named, "full") == 0 ? "full batch" : named;
}

static bool same_batches(const pvi_json *v, const pvi_cert *c, const pv_optimizer_ops *opt)
{
    const double n = (double)c->rows;
    double batch = number(v, "sampler.batch");
    if (strcmp(c->sampler, "full batch") == 0) return c->batch == n && (isnan(batch) || batch >= n - 0.5);
    if (strcmp(c->sampler, wanted_sampler(v, opt)) != 0 || !(c->batch < n)) return false;
    if (isnan(batch)) return true;
    if (strcmp(c->sampler, "fixed size") == 0) batch = floor(batch);
    if (strcmp(c->sampler, "cyclic") == 0) batch = n / fmin(fmax(1.0, rint(n / batch)), n);
    return near(c->batch, batch);
}

/* (4), (5); NaN compares as not said.  The clip of a joint release is that of its gradient alone. */
static bool same_numbers(const pvi_json *v, const pvi_cert *c, const pv_optimizer_ops *opt)
{
    const double z = number(v, "budget.noise_multiplier"), clip = number(v, "clip");
    return !((double)c->queries < number(v, "optimizer.steps")) && (isnan(z) || near(c->noise_multiplier, z)) &&
           !(c->epsilon > number(v, "budget.epsilon")) && (opt->joint || !(c->clip_norm > clip * (1.0 + 1e-12)));
}

/* (6) */
static bool same_noise(const pvi_json *v, const pvi_cert *c)
{
    const pvi_json *s = pvi_json_get(v, "optimizer.noise");
    const bool schedule = s && s->type == PVI_JSTR && strcmp(s->text, "constant") != 0;
    return schedule || c->noise_multiplier_max == 0.0 || near(c->noise_multiplier_max, c->noise_multiplier);
}

static const char *contradiction(const pvi_json *v, const pvi_cert *c)
{
    const pv_optimizer_ops *opt = (const pv_optimizer_ops *)(const void *)pv_find(PV_KIND_optimizer, c->optimizer);
    if (!opt) return "unknown optimizer";
    if (!own_mechanism(c, opt)) return "the optimizer has no proof for this mechanism under this relation";
    if (!same_names(v, c)) return "the settings are not those of the rest";
    if (!same_batches(v, c, opt)) return "the settings speak of other batches";
    if (!same_noise(v, c)) return "the noise changes from release to release, and no setting says so";
    return same_numbers(v, c, opt) ? NULL : "the settings speak of other steps, noise, clip or budget";
}

pv_status pvi_cert_check_settings(pv_ctx *ctx, const char *name, const pvi_cert *c)
{
    pvi_json *v;
    pv_arena *a = pvi_arena_create(ctx);
    if (!a) return pvi_nomem(ctx);
    pv_status s = pvi_json_parse(ctx, a, name, c->settings, strlen(c->settings), &v);
    const char *why = s == PV_OK ? contradiction(v, c) : NULL;
    if (why) s = pvi_fail(ctx, PV_E_VERIFY, "%s: does not hold: %s", name, why);
    pvi_arena_free(a);
    return s;
}
