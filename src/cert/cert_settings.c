/* cert_settings.c - do the settings in a certificate describe the run that its other fields describe?
 *
 * A checksum shows that a certificate was not changed by accident; whoever writes one on purpose can compute it.
 * What no one can do is make contradicting fields agree, so everything that is said twice is compared: one row of the
 * table below for every pair of a field and a setting.  A setting that is auto says nothing, nor did one that version
 * 2 left out (from version 3 on none is: cert_run.c), except
 *   (1)  the optimizer's proof is for one mechanism; ball noise has one for replace only
 *   (2)  sampler=auto is the sampler that the optimizer draws by itself; `full batch` exactly if the batch is all
 *        rows
 *   (3)  one noise multiplier for all releases, unless optimizer.noise or optimizer.noise_within names a schedule;
 *        of gradients and Hessians on samples of |S| and |T| rows, with calibration=paper, one standard deviation on
 *        their means: multipliers as |S| to |T|
 * and a start from a file must be called public among the assumptions.
 * What follows from a setting by a plug-in's formula is asked of the plug-in, configured by the settings
 * (cert_run.c):
 *   (4)  clip_norm is what the optimizer's query finds for clip_norm_gradient and the weight of Hessians.  It looks
 *        for it on a grid of floats, whose last digits depend on the processor: equal up to 1e-5
 *        An optimizer that releases the end of a descent has a proof for the recorded loss, penalty and step
 *   (5)  where noise has a schedule, the events are those that the optimizer plans
 *   (6)  the constants of a bound under further assumptions are those of the model and the penalty
 *   (7)  a list of numbers for layers has as many as the network has layers with weights; clipping norms of layers
 *        have the gradient's bound for their root of squares, or more where `clip` is below it
 *   (8)  persons were counted by their rows if data.person_rows_share says so, values if data.knots_share does,
 *        with noise by that share of the budget (plan/budget.c (4); equal up to 1e-5).  There are as many counts of
 *        persons as rows could be; where data.person_rows is auto, rows_per_person is what they say
 *        (query/person_rows.c (2))
 * Rows compare nothing that a version does not have; `since` is the first that does. */
#include "cert.h"

static bool near(double x, double y)
{
    return fabs(x - y) <= 1e-12 * fabs(y);
}

static const pv_optimizer_ops *optimizer_of(const pvi_cert *c)
{
    return (const pv_optimizer_ops *)(const void *)pv_find(PV_KIND_optimizer, c->optimizer);
}

static bool is_text(const pvi_json *said, const char *text)
{
    return said && said->type == PVI_JSTR && strcmp(said->text, text) == 0;
}

static bool same_text(const pvi_json *said, const char *text)
{
    return !said || is_text(said, text);
}

/* A setting that should be a number and is text agrees with nothing. */
static bool same_number(const pvi_json *said, double x)
{
    return !said || (said->type == PVI_JNUM && near(x, said->num));
}

static bool at_most(double x, const pvi_json *said)
{
    return !said || (said->type == PVI_JNUM && x <= said->num);
}

/* NAN: not said. */
static double number(const pvi_json *settings, const char *key)
{
    const pvi_json *v = pvi_json_get(settings, key);
    return v && v->type == PVI_JNUM ? v->num : NAN;
}

/* A number, or several with commas between them; n = 0: it is neither. */
static pv_numbers numbers(const pvi_json *said)
{
    pv_numbers out = { .n = 0 };
    if (said && said->type == PVI_JNUM) out = (pv_numbers) { .n = 1, .v = { said->num } };
    for (const char *p = said && said->type == PVI_JSTR ? said->text : NULL; p; p++) {
        const size_t len = strcspn(p, ",");
        if (out.n == PV_LIST_MOST || !pvi_parse_f64(p, len, &out.v[out.n++])) return (pv_numbers) { .n = 0 };
        p += len;
        if (!*p) break;
    }
    return out;
}

/* ---- one function for each row ------------------------------------------------------------------------- */

#define ROW(name) static bool name(const pvi_json *settings, const pvi_json *said, const pvi_cert *c)
#define SIMPLE(name, test)                                                                                           \
    ROW(name)                                                                                                        \
    {                                                                                                                \
        (void)settings, (void)said, (void)c;                                                                         \
        return test;                                                                                                 \
    }

SIMPLE(privacy, same_text(said, c->is_private ? "on" : "off"))
SIMPLE(model, same_text(said, c->model))
SIMPLE(optimizer, same_text(said, c->optimizer))
SIMPLE(mechanism, same_text(said, c->mechanism))
SIMPLE(relation, same_text(said, c->relation == PV_REL_REPLACE ? "replace" : "zero-out"))
SIMPLE(delta, !said || (said->type == PVI_JNUM && said->num == c->delta))
SIMPLE(epsilon, at_most(c->epsilon, said))
SIMPLE(noise_multiplier, same_number(said, c->noise_multiplier))
SIMPLE(rows, same_number(said, (double)c->rows))
SIMPLE(row_norm, same_number(said, c->row_norm))
SIMPLE(features_measured, !said || !c->features_measured)
SIMPLE(measured, !is_text(said, "bounds") && is_text(said, "classes") == pvi_cert_assumes(c, pvi_cert_found_classes))
SIMPLE(clip_norm, optimizer_of(c)->ask[0].query->parts ||
                      at_most(c->clip_norm * (1.0 - 1e-12), said)) /* else of the gradient alone */
SIMPLE(accountant, is_text(said, "best") || same_text(said, c->accountant))
SIMPLE(accountant_replace, is_text(said, "best") || !c->accountant_replace || same_text(said, c->accountant_replace))
SIMPLE(largest_value, !is_text(said, "max") || pvi_cert_evaluation(c) || optimizer_of(c)->ask[0].mech->norm != PV_L2)
SIMPLE(at_least_steps, !said || (said->type == PVI_JNUM && (double)c->queries >= said->num))
SIMPLE(last_alone, !c->conditional || same_text(said, "last"))
SIMPLE(no_momentum, !c->conditional || !said || (said->type == PVI_JNUM && said->num == 0.0))

/* Columns of the file and the constant one; features of transformed images are others, curves make more of them. */
static bool columns(const pvi_json *settings, const pvi_cert *c, double declared)
{
    const double bias = number(settings, "data.bias");
    const pvi_json *transform = pvi_json_get(settings, "data.transform");
    const pvi_json *curves = pvi_json_get(settings, "data.curves"), *image = pvi_json_get(settings, "data.image");
    const double all = declared + (bias == 0.0 ? 0.0 : 1.0);
    if (transform && !is_text(transform, "none")) return true;
    if (curves && !is_text(curves, "off") && !(image && image->type == PVI_JSTR)) return (double)c->features >= all;
    return (double)c->features == all;
}

ROW(curves) /* data/curves.c */
{
    double k;
    (void)settings, (void)c;
    if (!said || is_text(said, "auto") || is_text(said, "off")) return true;
    return said->type == PVI_JSTR && pvi_parse_f64(said->text, strlen(said->text), &k) && k >= 2.0 && k == floor(k);
}

ROW(features)
{
    return !said || (said->type == PVI_JNUM && columns(settings, c, said->num));
}

ROW(image)
{
    double size = 1.0;
    if (!said) return true;
    if (said->type != PVI_JSTR) return false;
    for (const char *p = said->text;; p++) { /* HEIGHTxWIDTH, perhaps xCHANNELS */
        double side;
        const size_t n = strcspn(p, "x");
        if (!pvi_parse_f64(p, n, &side)) return false;
        size *= side;
        p += n;
        if (!*p) return columns(settings, c, size);
    }
}

/* As many weights as columns for a loss of one number, a multiple of them for several classes. */
ROW(weights)
{
    (void)settings, (void)said;
    if (pv_find(PV_KIND_loss, c->model)) return c->weights == c->features;
    const pv_model_ops *m = (const pv_model_ops *)(const void *)pv_find(PV_KIND_model, c->model);
    return !m || !(m->props & PV_LINEAR) || c->weights % c->features == 0;
}

/* (2) */
ROW(sampler)
{
    const pvi_sampler_ops *drawn = pvi_sampler_named(c->sampler);
    const char *named = said && said->type == PVI_JSTR ? said->text : optimizer_of(c)->ask[0].sampler->setting;
    (void)settings;
    if (!drawn || (said && said->type != PVI_JSTR)) return false;
    if (drawn->whole) return c->batch == (double)c->rows;
    return c->batch < (double)c->rows && strcmp(drawn->setting, named) == 0;
}

ROW(batch)
{
    const pvi_sampler_ops *drawn = pvi_sampler_named(c->sampler);
    const double n = (double)c->rows;
    (void)settings;
    if (!said) return true;
    if (said->type != PVI_JNUM || !drawn) return false;
    if (drawn->whole) return said->num >= n - 0.5;
    return near(c->batch, drawn->batch ? drawn->batch(said->num, n) : said->num);
}

/* The kind that has samples of its own; NULL: none has. */
static const pvi_cert_kind *own_samples(const pvi_cert *c)
{
    for (int64_t i = 0; i < c->n_kinds; i++)
        if (c->kinds[i].batch > 0.0 && &c->kinds[i] != pvi_cert_stage(c)) return &c->kinds[i];
    return NULL;
}

static bool likely_counts(const pvi_cert_kind *stage, const pvi_cert *c)
{
    for (int64_t k = 0; k < stage->n_counts; k++) /* noise of 64 standard deviations is as good as never drawn */
        if (fabs((double)stage->counts[k]) > (double)c->rows + 64.0 * stage->noise_stddev + 1.0) return false;
    return true;
}

/* (8) */
ROW(person_rows)
{
    const pvi_cert_kind *stage = pvi_cert_stage_of(c, pvi_kind_person_rows);
    const double most = said ? (double)c->unit_rows : number(settings, "data.person_rows_most");
    if (said && !same_number(said, (double)c->unit_rows)) return false;
    if (!stage) return said != NULL;
    return likely_counts(stage, c) && (double)stage->n_counts == most &&
           (said || c->unit_rows == pvi_person_rows_cap(stage->counts, stage->n_counts, c->rows));
}

/* The noise of a stage is that of its share of the budget. */
static bool noise_by_share(const pvi_cert_kind *stage, const pvi_cert *c, const pvi_json *settings,
                           const pvi_json *said)
{
    const double epsilon = number(settings, "budget.epsilon");
    double mu;
    pv_ctx *ctx;
    if (!said || said->type != PVI_JNUM || !(said->num > 0.0)) return !stage;
    if (!stage || pv_ctx_create(NULL, &ctx) != PV_OK) return false;
    const pv_status s = pvi_gaussian_mu(ctx, c->relation, epsilon, c->delta, &mu);
    pv_ctx_free(ctx);
    return s == PV_OK && fabs(stage->noise_multiplier * sqrt(said->num) * mu - 1.0) <= 1e-5;
}

/* (8) */
ROW(person_rows_share)
{
    return noise_by_share(pvi_cert_stage_of(c, pvi_kind_person_rows), c, settings, said);
}

/* (8) */
ROW(knots_share)
{
    const pvi_cert_kind *stage = pvi_cert_stage_of(c, pvi_kind_column_values);
    return (!stage || likely_counts(stage, c)) && noise_by_share(stage, c, settings, said);
}

static bool by_the_paper(const pvi_json *settings)
{
    return is_text(pvi_json_get(settings, "optimizer.calibration"), "paper");
}

static bool changes(const pvi_json *rule)
{
    return rule && rule->type == PVI_JSTR && strcmp(rule->text, "constant") != 0 && strcmp(rule->text, "auto") != 0;
}

/* (3) */
ROW(noise)
{
    const bool schedule = changes(said) || changes(pvi_json_get(settings, "optimizer.noise_within"));
    const pvi_cert_kind *own = own_samples(c);
    const double ratio = own && by_the_paper(settings) ? own->batch / c->batch : 1.0;
    if (own && !near(own->noise_multiplier, c->noise_multiplier * fmax(ratio, 1.0))) return false;
    return schedule || c->noise_multiplier_max == 0.0 ||
           near(c->noise_multiplier_max, c->noise_multiplier * fmax(ratio, 1.0 / ratio));
}

/* Without a size of their own they are as large as the others; Theorem 18 has sizes that no other field says. */
ROW(batch_hessian)
{
    const pvi_sampler_ops *drawn = pvi_sampler_named(c->sampler);
    const pvi_cert_kind *own = own_samples(c);
    const double n = (double)c->rows;
    if (!own) return !said;
    if (!said)
        return (by_the_paper(settings) && !isnan(number(settings, "optimizer.alpha"))) || near(own->batch, c->batch);
    if (said->type != PVI_JNUM || !drawn) return false;
    return near(own->batch, drawn->batch ? drawn->batch(said->num, n) : said->num);
}

/* Of the releases that the optimizer asks for by number k; 0: none. */
static double count_of(const pvi_cert *c, int k)
{
    const pv_ask_row *ask = &optimizer_of(c)->ask[k];
    const pvi_release_kind *kind = ask->query ? pvi_kind_of(ask) : NULL;
    for (int64_t i = 0; kind && i < c->n_kinds; i++)
        if (strcmp(c->kinds[i].kind, kind->name) == 0) return (double)c->kinds[i].count;
    return 0.0;
}

enum { MOST_STEPS = 1000000 }; /* of releases with Hessians; more are only bounded */

/* A step is one release; with Hessians, one of one event or more, and second moments come first (acct/spread.c). */
ROW(steps)
{
    const double made = count_of(c, 0), growth = number(settings, "optimizer.growth");
    if (!said) return true;
    if (said->type != PVI_JNUM) return false;
    if (!(said->num >= 1.0)) return false;
    const pvi_cert_kind *own = own_samples(c);
    if (own && (double)own->count != made) return false; /* one for every gradient */
    if (!optimizer_of(c)->ask[0].query->parts) return made == said->num;
    if (isnan(growth) || said->num > MOST_STEPS) return made >= said->num;
    if (!(growth >= 1.0 && growth <= 1e4)) return false;
    return made == (double)pvi_spread_total(growth, (int64_t)said->num);
}

ROW(growth)
{
    (void)said;
    return !optimizer_of(c)->ask[0].query->parts || steps(settings, pvi_json_get(settings, "optimizer.steps"), c);
}

ROW(share)
{
    const double made = count_of(c, 0), moments = count_of(c, 1);
    (void)settings;
    if (!said) return moments == 0.0;
    if (said->type != PVI_JNUM || !(said->num >= 0.0 && said->num <= 0.9)) return false; /* as may be set */
    return made <= 0x1p53 && moments == (double)pvi_spread_first(said->num, (int64_t)made);
}

/* ---- the bound under further assumptions: its constants are those of the settings ------------------------- */

/* "step": 0.1 of the text {..., "step":0.1, ...} that pvi_hidden_sbcd_write makes; NAN: not there. */
static double constant(const pvi_cert *c, const char *name)
{
    char key[32];
    double x;
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = c->conditional ? strstr(c->conditional, key) : NULL;
    if (!at) return NAN;
    at += strlen(key);
    at += strspn(at, " ");
    return pvi_parse_f64(at, strcspn(at, ",}"), &x) ? x : NAN;
}

ROW(step)
{
    const bool sum = is_text(pvi_json_get(settings, "optimizer.gradient"), "sum");
    if (!c->conditional || !said) return true;
    return said->type == PVI_JNUM && near(constant(c, "step"), said->num * (sum ? c->batch : 1.0));
}

/* The penalty's own settings, as they stand in the certificate; NULL: they cannot be read. */
static void *reg_cfg(const pv_reg_ops *reg, const pvi_json *settings, pv_arena *a)
{
    void *cfg = pv_arena_get(a, reg->head.cfg_size + 1);
    if (!cfg) return NULL;
    pvi_param_defaults(reg->head.params, cfg);
    for (const pv_param *r = reg->head.params; r->key; r++) {
        char key[64];
        snprintf(key, sizeof key, "reg.%s", r->key);
        const double x = number(settings, key);
        if (r->type == PV_F64 && !isnan(x)) memcpy((char *)cfg + r->offset, &x, sizeof x);
    }
    return cfg;
}

/* Of the penalty, over the layers. */
static double least_factor(const pvi_json *settings)
{
    const pv_numbers all = numbers(pvi_json_get(settings, "reg.layers"));
    double least = all.n ? all.v[0] : 1.0;
    for (int64_t i = 1; i < all.n; i++) least = fmin(least, all.v[i]);
    return least;
}

/* Strong convexity of the penalty; none without one. */
ROW(shrinkage)
{
    const pvi_json *named = pvi_json_get(settings, "reg");
    const pv_reg_ops *reg =
        named && named->type == PVI_JSTR ? (const pv_reg_ops *)(const void *)pv_find(PV_KIND_reg, named->text) : NULL;
    const double s = constant(c, "shrinkage");
    if (!c->conditional) return true;
    if (!reg || (said && said->type != PVI_JNUM)) return s == 0.0;
    pv_ctx *ctx;
    if (pv_ctx_create(NULL, &ctx) != PV_OK) return false;
    pv_arena *a = pvi_arena_create(ctx);
    const void *cfg = a ? reg_cfg(reg, settings, a) : NULL;
    const double strong = cfg && reg->prox && reg->strong ? reg->strong(cfg) * least_factor(settings) : 0.0;
    const bool agrees = cfg && (strong == 0.0 ? s == 0.0 : near(s, strong));
    pvi_arena_free(a);
    pv_ctx_free(ctx);
    return agrees;
}

/* ---- where it started ------------------------------------------------------------------------------------------ */

/* Weights of a file stand there by their digest, and are public by declaration only (run/start.c). */
ROW(start)
{
    static const char file[] = "file:", random[] = "random:";
    const size_t nf = sizeof file - 1, nr = sizeof random - 1;
    double scale;
    (void)settings;
    if (pvi_cert_evaluation(c) && !(said && said->type == PVI_JSTR && c->weights_digest &&
                                    strcmp(said->text + (strlen(said->text) < nf ? 0 : nf), c->weights_digest) == 0))
        return false; /* what was evaluated is what came out */
    if (!said || is_text(said, "zero")) return true;
    if (said->type != PVI_JSTR) return false;
    if (strncmp(said->text, random, nr) == 0)
        return pvi_parse_f64(said->text + nr, strlen(said->text + nr), &scale) && scale > 0.0 && isfinite(scale);
    return strncmp(said->text, file, nf) == 0 && strlen(said->text) == nf + 64 &&
           strspn(said->text + nf, "0123456789abcdef") == 64 &&
           pvi_cert_assumes(c, pvi_cert_evaluation(c) ? pvi_scores_caveat : pvi_cert_public_start);
}

/* ---- asked of the plug-ins ------------------------------------------------------------------------------------- */

typedef struct question {
    pv_ctx *ctx;
    pv_arena *a;
    pvi_cert_run run;
    const pvi_json *settings, *said; /* said: of the row */
    const pvi_cert *c;
} question;

/* With a context of its own: plug-ins have notes for whoever plans, not for whoever verifies. */
static bool ask(const pvi_json *settings, const pvi_json *said, const pvi_cert *c, bool (*agrees)(question *q))
{
    question q = { .settings = settings, .said = said, .c = c };
    if (pv_ctx_create(NULL, &q.ctx) != PV_OK) return false;
    q.a = pvi_arena_create(q.ctx);
    const bool good = q.a && pvi_cert_run_read(q.ctx, q.a, settings, &q.run) == PV_OK && agrees(&q);
    pvi_arena_free(q.a);
    pv_ctx_free(q.ctx);
    return good;
}

static bool fits(question *q)
{
    return pvi_cert_domain(q->ctx, q->a, &q->run, q->c) != PVI_MISFIT;
}

/* Where the word auto would be a name as any other. */
static bool has(const pvi_json *settings, const char *key)
{
    return pvi_json_get(settings, key) != NULL;
}

ROW(layers)
{
    return (!said && !has(settings, "model.layers")) || ask(settings, said, c, fits);
}

/* The loss's own bound of a gradient, of as many rows as add up to a unit's, or what was set where that is less. */
static bool clipped(question *q)
{
    const double set = number(q->settings, "clip"), C = q->c->clip_gradient;
    double G, L;
    if (!(C >= PVI_CLIP_MIN && C <= PVI_CLIP_MAX)) return false;
    if (pvi_cert_domain(q->ctx, q->a, &q->run, q->c) != PVI_FITS) return isnan(set) || C <= set * (1.0 + 1e-12);
    q->run.model->constants(q->run.model_cfg, &q->run.dom, &G, &L);
    G *= pvi_unit_longest(&q->run.dom);
    return isnan(set) ? C <= G * (1.0 + 1e-12) : near(C, fmin(set, G));
}

ROW(clip_gradient)
{
    return pvi_cert_evaluation(c) || ask(settings, said, c, clipped);
}

/* (7) */
ROW(clips)
{
    const pv_numbers all = numbers(said);
    const double set = number(settings, "clip");
    double sum = 0.0;
    if (!said || is_text(said, "equal") || pvi_cert_evaluation(c)) return true;
    for (int64_t i = 0; i < all.n; i++) sum += all.v[i] * all.v[i];
    return all.n && near(c->clip_gradient, isnan(set) ? sqrt(sum) : fmin(set, sqrt(sum)));
}

/* (7) */
static bool layered(question *q)
{
    const pv_numbers all = numbers(q->said);
    const pvi_fit fit = pvi_cert_domain(q->ctx, q->a, &q->run, q->c);
    if (fit != PVI_FITS) return fit == PVI_UNKNOWN_FIT;
    const pv_model_ops *m = q->run.model;
    return all.n == 1 || (m->tensors && all.n == m->tensors(q->run.model_cfg, &q->run.dom, NULL) / 2);
}

ROW(per_layer)
{
    return !said || said->type == PVI_JNUM || ask(settings, said, c, layered);
}

enum { MOST_WEIGHTS = 1 << 20 }; /* of Hessians; no plan holds as many */

/* (4) */
static bool weighed(question *q)
{
    const pv_model_ops *m = q->run.model;
    const pv_optimizer_ops *opt = q->run.opt;
    pv_joint joint = { .grad = q->c->clip_gradient };
    const double C = joint.grad;
    const pv_problem prob = { .ctx = q->ctx, .d = q->c->weights, .n = q->c->rows, .C = C, .joint = &joint };
    if (!opt->ask[0].query->parts || !opt->weigh) return true;
    if (!m->hess || prob.d > MOST_WEIGHTS || !(C >= PVI_CLIP_MIN && C <= PVI_CLIP_MAX)) return false;
    if (pvi_cert_domain(q->ctx, q->a, &q->run, q->c) != PVI_FITS) return false;
    m->hess->bounds(q->run.model_cfg, &q->run.dom, &joint);
    if (!(joint.hess >= 0x1p-40 && joint.hess <= 0x1p40)) return false;
    opt->weigh(q->run.opt_cfg, &prob, &joint);
    if (!(joint.scale >= 0x1p-200 && joint.scale <= 0x1p200)) return false;
    pvi_query query = { .ops = opt->ask[0].query,
                        .prob = &prob,
                        .dom = &q->run.dom,
                        .model = m,
                        .cfg = q->run.model_cfg,
                        .joint = joint };
    return query.ops->open(&query, q->ctx) == PV_OK &&
           fabs(query.bound.absent - q->c->clip_norm) <= 1e-5 * q->c->clip_norm;
}

/* (4): the query refuses what its proof does not cover.  Bounds of labels, which are not recorded, are taken as 0. */
static bool descends(question *q)
{
    const pv_optimizer_ops *opt = q->run.opt;
    double G, L;
    if (!opt->descend) return true;
    if (pvi_cert_domain(q->ctx, q->a, &q->run, q->c) != PVI_FITS) return false;
    q->run.model->constants(q->run.model_cfg, &q->run.dom, &G, &L);
    pv_domain dom = q->run.dom;
    dom.y_lo = dom.y_hi = 0.0;
    const pv_problem prob = { .ctx = q->ctx,
                              .d = q->c->weights,
                              .n = q->c->rows,
                              .C = q->c->clip_gradient,
                              .L = L,
                              .reg = q->run.reg,
                              .reg_cfg = q->run.reg_cfg };
    pvi_query query = {
        .ops = opt->ask[0].query, .prob = &prob, .dom = &dom, .model = q->run.model, .cfg = q->run.model_cfg
    };
    opt->descend(q->run.opt_cfg, &query.descent);
    const pvi_json *start = pvi_json_get(q->settings, "optimizer.start");
    if (start && !is_text(start, "auto") && !is_text(start, "zero")) return false;
    return is_text(pvi_json_get(q->settings, "set"), "none") && query.ops->open(&query, q->ctx) == PV_OK &&
           near(query.bound.absent, q->c->clip_norm);
}

ROW(descent)
{
    return !said || ask(settings, said, c, descends);
}

ROW(weight)
{
    return !said || ask(settings, said, c, weighed);
}

/* Number of the ask that has samples of its own; -1: none has. */
static int own_ask(const pv_optimizer_ops *opt)
{
    for (int k = 0; k < PV_MOST_ASKS && opt->ask[k].query; k++)
        if (opt->ask[k].query->own_batch) return k;
    return -1;
}

/* (4), of Hessians alone; such an optimizer releases some, no other does. */
static bool bounded(question *q)
{
    const pv_model_ops *m = q->run.model;
    const pv_optimizer_ops *opt = q->run.opt;
    const int k = own_ask(opt);
    const pvi_cert_kind *own = own_samples(q->c);
    pv_joint joint = { .grad = q->c->clip_gradient };
    const pv_problem prob = { .ctx = q->ctx, .d = q->c->weights, .n = q->c->rows, .C = joint.grad, .joint = &joint };
    if (k < 0) return !own;
    if (!own || !m->hess || !opt->weigh || prob.d > MOST_WEIGHTS) return false;
    if (pvi_cert_domain(q->ctx, q->a, &q->run, q->c) != PVI_FITS) return false;
    m->hess->bounds(q->run.model_cfg, &q->run.dom, &joint);
    if (!(joint.hess >= 0x1p-40 && joint.hess <= 0x1p40)) return false;
    opt->weigh(q->run.opt_cfg, &prob, &joint);
    pvi_query query = { .ops = opt->ask[k].query,
                        .prob = &prob,
                        .dom = &q->run.dom,
                        .model = m,
                        .cfg = q->run.model_cfg,
                        .joint = joint };
    return query.ops->open(&query, q->ctx) == PV_OK && near(own->clip_norm, query.bound.absent);
}

ROW(own_bound)
{
    return ask(settings, said, c, bounded);
}

/* Passes over the rows. */
ROW(epochs)
{
    const double passes = rint((double)c->rows / c->batch);
    (void)settings;
    if (!said) return true;
    if (said->type != PVI_JNUM || !(passes <= 0x1p53) || pvi_cert_asked(c) < 1) return false;
    return said->num == (double)((pvi_cert_asked(c) - 1) / (int64_t)fmax(1.0, passes) + 1);
}

/* The same tree, up to rounding. */
static bool same_events(const pv_event *x, const pv_event *y)
{
    if (x->kind != y->kind || x->n != y->n || fabs(x->a - y->a) > 1e-9 * fabs(y->a)) return false;
    const pv_event *i = x->sub, *k = y->sub;
    for (; i && k && x->kind == PV_EV_SEQ; i = i->next, k = k->next)
        if (!same_events(i, k)) return false;
    return !i == !k && (!i || same_events(i, k));
}

/* (5); the events of all asks are alike. */
static bool planned(question *q)
{
    const pvi_cert *c = q->c;
    const pv_optimizer_ops *opt = q->run.opt;
    const pvi_sampler_ops *sampler = pvi_sampler_named(c->sampler);
    const pv_mechanism_ops *mech = opt->ask[0].mech;
    const double z = c->noise_multiplier;
    const pv_event leaf = { .kind = mech->event, .a = z > 0.0 ? mech->leaf(z, (double)c->weights) : z };
    const pv_event *total;
    pv_planned asks[PV_MOST_ASKS];
    if (!sampler || !epochs(q->settings, pvi_json_get(q->settings, "optimizer.epochs"), c)) return false;
    const pv_event *one = pvi_sampler_event(sampler, c->batch / (double)c->rows, &leaf, q->a);
    for (int k = 0; k < PV_MOST_ASKS; k++) {
        const bool wanted = opt->ask[k].query && (!opt->ask[k].wanted || opt->ask[k].wanted(q->run.opt_cfg));
        asks[k] = (pv_planned) { .event = wanted ? one : NULL };
    }
    const pv_problem prob = {
        .ctx = q->ctx, .d = c->weights, .n = c->rows, .batch = c->batch, .planned = asks, .sampling = sampler->event
    };
    return one && opt->plan(q->run.opt_cfg, &prob, q->a, &total) == PV_OK &&
           same_events(total, pvi_cert_steps(c, c->events));
}

ROW(schedule)
{
    if (!has(settings, "optimizer.noise") && !has(settings, "optimizer.schedule")) return true;
    return ask(settings, said, c, planned);
}

/* The bound under further assumptions is for steps of one length. */
SIMPLE(equal_steps, !c->conditional || !said || is_text(said, "constant"))
SIMPLE(no_warmup, !c->conditional || !said || (said->type == PVI_JNUM && said->num == 0.0))

/* ---- (6) ------------------------------------------------------------------------------------------------------- */

/* NAN: the model does not fit. */
static double smoothness_of(question *q)
{
    double G, L = NAN;
    if (pvi_cert_domain(q->ctx, q->a, &q->run, q->c) == PVI_FITS)
        q->run.model->constants(q->run.model_cfg, &q->run.dom, &G, &L);
    return L;
}

static bool smooth(question *q)
{
    return isfinite(smoothness_of(q)); /* not with cross-entropy: what clipping leaves of it need not be convex */
}

static bool as_smooth(question *q)
{
    return near(constant(q->c, "smoothness"), smoothness_of(q));
}

ROW(smooth_loss)
{
    return !c->conditional || ask(settings, said, c, smooth);
}

ROW(smoothness)
{
    return !c->conditional || ask(settings, said, c, as_smooth);
}

SIMPLE(conditional_epochs, !c->conditional || (said && said->type == PVI_JNUM && said->num == constant(c, "epochs")))

/* Only an optimizer that has such a bound may name one, and not with a penalty that is left to the gradient. */
ROW(has_conditional)
{
    const pv_optimizer_ops *opt = said && said->type == PVI_JSTR
                                      ? (const pv_optimizer_ops *)(const void *)pv_find(PV_KIND_optimizer, said->text)
                                      : NULL;
    (void)settings;
    return !c->conditional || (opt && opt->conditional);
}

ROW(convex_penalty)
{
    const pv_reg_ops *reg =
        said && said->type == PVI_JSTR ? (const pv_reg_ops *)(const void *)pv_find(PV_KIND_reg, said->text) : NULL;
    (void)settings;
    return !c->conditional || (reg && reg->props & PV_CONVEX && (reg->prox || !reg->grad));
}

/* ---- the table ---------------------------------------------------------------------------------------------- */

const pvi_said_twice pvi_cert_said_twice[] = {
    { "private", "privacy", 2, privacy },
    { "model", "model", 2, model },
    { "weights", "model", 2, weights },
    { "weights", "model.layers", 3, layers },
    { "weights", "data.labels", 3, layers },
    { "optimizer", "optimizer", 2, optimizer },
    { "optimizer", "data.norm", 2, largest_value },
    { "assumptions", "optimizer.start", 3, start },
    { "mechanism", "mechanism", 2, mechanism },
    { "accountant", "accountant", 2, accountant },
    { "accountant_replace", "accountant", 2, accountant_replace },
    { "relation", "budget.relation", 2, relation },
    { "delta", "budget.delta", 2, delta },
    { "epsilon", "budget.epsilon", 2, epsilon },
    { "noise_multiplier", "budget.noise_multiplier", 2, noise_multiplier },
    { "noise_multiplier_max", "optimizer.noise", 2, noise },
    { "clip_norm", "clip", 2, clip_norm },
    { "clip_norm_gradient", "clip", 3, clip_gradient },
    { "clip_norm_gradient", "model.clips", 3, clips },
    { "weights", "optimizer.rho", 3, per_layer },
    { "weights", "optimizer.smoothing", 3, per_layer },
    { "weights", "reg.layers", 3, per_layer },
    { "clip_norm", "optimizer.weight", 3, weight },
    { "clip_norm", "optimizer.step", 3, descent },
    { "sampler", "sampler", 2, sampler },
    { "batch", "sampler.batch", 2, batch },
    { "releases", "sampler.batch_hessian", 3, batch_hessian },
    { "releases", "optimizer.calibration", 3, own_bound },
    { "rows", "data.rows", 2, rows },
    { "rows_per_person", "data.person_rows", PVI_CERT_PERSONS, person_rows },
    { "releases", "data.person_rows_share", PVI_CERT_PERSONS, person_rows_share },
    { "releases", "data.knots_share", 3, knots_share },
    { "persons", "data.persons", PVI_CERT_PERSONS, rows },
    { "row_norm", "data.row_norm", 2, row_norm },
    { "features", "data.features", 2, features },
    { "features_measured", "data.features", 2, features_measured },
    { "features", "data.image", 2, image },
    { "features", "data.curves", 3, curves },
    { "assumptions", "data.measured", 3, measured },
    { "queries", "optimizer.steps", 2, at_least_steps },
    { "releases", "optimizer.steps", 3, steps },
    { "releases", "optimizer.growth", 3, growth },
    { "releases", "optimizer.share", 3, share },
    { "queries", "optimizer.epochs", 3, epochs },
    { "events", "optimizer.noise", 3, schedule },
    { "events", "optimizer.noise_within", 3, schedule },
    { "events", "optimizer.schedule", 3, schedule },
    { "conditional", "optimizer.output", 2, last_alone },
    { "conditional", "optimizer.momentum", 2, no_momentum },
    { "conditional", "optimizer.step", 2, step },
    { "conditional", "optimizer.schedule", 3, equal_steps },
    { "conditional", "optimizer.warmup", 3, no_warmup },
    { "conditional", "reg.lambda", 2, shrinkage },
    { "conditional", "optimizer", 3, has_conditional },
    { "conditional", "optimizer.epochs", 3, conditional_epochs },
    { "conditional", "reg", 3, convex_penalty },
    { "conditional", "model.loss", 3, smooth_loss },
    { "conditional", "model.radius", 3, smoothness },
    { "conditional", "model.gamma", 3, smoothness },
    { "conditional", "model.scale", 3, smoothness },
    { NULL, NULL, 0, NULL },
};

/* What a setting says; NULL: nothing. */
static const pvi_json *said_of(const pvi_json *settings, const char *key)
{
    const pvi_json *v = pvi_json_get(settings, key);
    return !v || v->type == PVI_JNULL || is_text(v, "auto") ? NULL : v;
}

/* Are these all the settings of a run, with values that they can have? */
static pv_status can_be_set(pv_ctx *ctx, const char *name, const pvi_json *settings)
{
    char why[256];
    pvi_cert_run run;
    pv_arena *a = pvi_arena_create(ctx);
    if (!a) return pvi_nomem(ctx);
    const pv_status s = pvi_cert_run_read(ctx, a, settings, &run);
    pvi_arena_free(a);
    if (s == PV_OK || s == PV_E_NOMEM) return s;
    snprintf(why, sizeof why, "%s", pv_ctx_errmsg(ctx));
    return pvi_fail(ctx, PV_E_VERIFY, "%s: does not hold: settings: %s", name, why);
}

static pv_status compare(pv_ctx *ctx, const char *name, const pvi_json *settings, const pvi_cert *c)
{
    const pv_optimizer_ops *opt = optimizer_of(c);
    if (!opt) return pvi_fail(ctx, PV_E_VERIFY, "%s: does not hold: unknown optimizer", name);
    const pv_mechanism_ops *own = opt->ask[0].mech; /* (1) */
    if (strcmp(c->mechanism, own->head.name) != 0 || !(own->relations & 1u << c->relation))
        return pvi_fail(ctx, PV_E_VERIFY,
                        "%s: does not hold: the optimizer has no proof for this mechanism under this relation", name);
    if (c->version >= 3) {
        const pv_status s = can_be_set(ctx, name, settings);
        if (s != PV_OK) return s;
    }
    for (const pvi_said_twice *t = pvi_cert_said_twice; t->key; t++)
        if (c->version >= t->since && !t->agrees(settings, said_of(settings, t->key), c))
            return pvi_fail(ctx, PV_E_VERIFY, "%s: does not hold: %s is not what the setting %s says", name, t->field,
                            t->key);
    return PV_OK;
}

pv_status pvi_cert_check_settings(pv_ctx *ctx, const char *name, const pvi_cert *c)
{
    pvi_json *v;
    pv_arena *a = pvi_arena_create(ctx);
    if (!a) return pvi_nomem(ctx);
    pv_status s = pvi_json_parse(ctx, a, name, c->settings, strlen(c->settings), &v);
    if (s == PV_OK) s = compare(ctx, name, v, c);
    pvi_arena_free(a);
    return s;
}
