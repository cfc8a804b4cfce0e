/* settings.c - every setting is one key=value.
 *
 * Keys that belong to no plug-in are rows of the table below (and data.* of pvi_data_params); they
 * are checked when set.  Keys of a plug-in (optimizer.steps) are kept as text until it is known
 * which plug-in is meant, so that order does not matter. */
#include "plan/job.h"

#include "cert/cert.h"
#include "data/encode.h"

#include <time.h>

#define ROW(key, type, field, def, lo, hi, cert, help, text)                                                         \
    {                                                                                                                \
        key, type, offsetof(pvi_settings, field), def, lo, hi, cert, help, text                                      \
    }
const pv_param pvi_settings_params[] = {
    ROW("model", PV_STR, model, 0, 0, 0, true,
        "loss or model to train; auto: the one for the declared label (a number, two classes, more)", "auto"),
    ROW("reg", PV_STR, reg, 0, 0, 0, false, "penalty r(w) added to the average loss", "none"),
    ROW("reg.layers", PV_LIST, reg_layers, 1, 0, 1e12, false,
        "factor of the penalty, or one for each layer of a network: r_d = factor_d r", NULL),
    ROW("set", PV_STR, set, 0, 0, 0, false, "constraint set for the weights", "none"),
    ROW("optimizer", PV_STR, optimizer, 0, 0, 0, true,
        "algorithm; auto: by the model, rows, weights and epsilon, and a note says which", "auto"),
    ROW("optimizer.start", PV_STR, start, 0, 0, 0, true,
        "weights to start from: zero, random:SCALE, FILE.pvt or, declared public, FILE.npy; auto: the model's own",
        "auto"),
    ROW("mechanism", PV_STR, mechanism, 0, 0, 0, true,
        "noise added to what is released; auto: the one the optimiser has a proof for", "auto"),
    ROW("accountant", PV_STR, accountant, 0, 0, 0, true, "computes the cost; best takes the smallest bound", "best"),
    ROW("privacy", PV_ENUM, privacy, 0, 0, 0, true, "off trains without noise and marks all output NOT PRIVATE",
        "on|off"),
    ROW("budget.epsilon", PV_F64, epsilon, 1.0, 1e-9, PVI_EPSILON_MOST, true, "epsilon, the privacy budget", NULL),
    ROW("budget.delta", PV_F64, delta, PV_AUTO, 2 * PVI_DELTA_LEAST, PVI_DELTA_MOST, true,
        "delta, the failure probability; auto: the power of ten at most 1/(10 n)", NULL),
    ROW("budget.relation", PV_ENUM, relation, 0, 0, 0, true, "neighbours: one row zeroed out, or one row replaced",
        "zero-out|replace"),
    ROW("budget.noise_multiplier", PV_F64, noise_multiplier, PV_AUTO, 1e-3, 1e9, true,
        "noise / sensitivity; auto: the smallest that meets the budget", NULL),
    ROW("clip", PV_F64, clip, PV_AUTO, 1e-12, 1e12, true,
        "C, bound on one row's gradient; auto: the loss's own bound, or a half or quarter of it where noise weighs",
        NULL),
    ROW("unit.combine", PV_ENUM, unit_combine, 0, 0, 0, true,
        "what is clipped of a person with several rows: the mean of the gradients of their rows, or the sum",
        "mean|sum"),
    ROW("unit.weight", PV_ENUM, unit_weight, 0, 0, 0, true,
        "what a person counts: one, or their rows out of data.person_rows; averages are over persons, or persons "
        "times that",
        "one|rows"),
    ROW("sampler", PV_ENUM, sampler, 0, 0, 0, true,
        "which rows enter a query; auto: the optimiser's own; with optimizer=auto samples where tables are large",
        PVI_SAMPLER_CHOICES),
    ROW("sampler.batch", PV_F64, batch, PV_AUTO, 1, 1e15, true,
        "expected rows per query; auto: all rows, or n/20 within 512 .. 16384, n/10 for Hessians", NULL),
    ROW("sampler.batch_hessian", PV_F64, batch_hessian, PV_AUTO, 1, 1e15, true,
        "expected rows per query of a Hessian that has a sample of its own; auto: as sampler.batch", NULL),
    ROW("issuer.name", PV_STR, issuer, 0, 0, 0, false,
        "who answers for the run, repeated in the certificate: a person, an office", NULL),
    ROW("issuer.contact", PV_STR, contact, 0, 0, 0, false, "whom to ask about it", NULL),
    ROW("issuer.date", PV_STR, date, 0, 0, 0, false,
        "day of the run, as 2026-01-31; today: that of the clock, in UTC", NULL),
    ROW("issuer.data", PV_STR, data_name, 0, 0, 0, false, "what the data are called; no path", NULL),
    ROW("run.threads", PV_I64, threads, 0, 0, 256, false, "threads; 0: one per core", NULL),
    ROW("run.seed", PV_I64, seed, PV_AUTO, 0, 9e15, false, "test source of randomness: the result is NOT PRIVATE",
        NULL),
    ROW("run.diagnostics", PV_BOOL, diagnostics, 0, 0, 1, false,
        "also report un-noised quantities, marked not private", NULL),
    ROW("run.holdout", PV_STR, holdout, 0, 0, 0, false,
        "labelled rows to measure on along the way; NOT PRIVATE for the people in them", NULL),
    ROW("run.holdout_share", PV_F64, holdout_share, PV_AUTO, 0.001, 0.9, false,
        "share of the rows, or persons, drawn to be left out of training, for a private evaluation; auto: none",
        NULL),
    ROW("run.apart", PV_STR, apart, 0, 0, 0, false,
        "rows that the model will be tested on: a run is refused if one of its persons is among them", NULL),
    ROW("run.measure", PV_STR, measure, 0, 0, 0, false,
        "what run.diagnostics and run.holdout measure: any of loss,gradient,accuracy,curvature, or all",
        "loss,gradient,accuracy"),
    ROW("run.every", PV_I64, every, PV_AUTO, 1, 1e12, false, "steps from one measure to the next; auto: T/20", NULL),
    ROW("run.least", PV_I64, least, 1, 1, 1e15, false,
        "rows, or persons, below which a private run is refused; privet train: 20 unless it is set", NULL),
    ROW("run.copy", PV_I64, copy, 96, 0, 1e9, false,
        "MiB for a copy, where rows are borrowed or sparse and the optimiser sees them in other coordinates; where "
        "it "
        "would be larger, each pass makes them anew: slower, the same bits",
        NULL),
    ROW("run.log", PV_STR, log, 0, 0, 0, false,
        "file for measures as they are made, a line of JSON each; of training rows it makes the run NOT PRIVATE",
        NULL),
    { 0 }
};

pv_status pv_plan_create(pv_ctx *ctx, pv_plan **out)
{
    if (out) *out = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, out);
    pv_plan *p = pvi_handle_open(ctx, PVI_PLAN, sizeof *p);
    if (!p) return PV_E_NOMEM;
    p->arena = pvi_arena_create(ctx);
    if (!p->arena) {
        pvi_handle_close(p);
        return pvi_nomem(ctx);
    }
    pvi_param_defaults(pvi_settings_params, &p->s);
    pvi_param_defaults(pvi_data_params, &p->s.data);
    *out = p;
    return PV_OK;
}

void pv_plan_free(pv_plan *plan)
{
    if (!pvi_alive(plan, PVI_PLAN, __func__)) return;
    pvi_arena_free(plan->arena);
    pvi_handle_close(plan);
}

/* The plug-in kinds that have settings, by the prefix of their keys. */
static const char *const prefixes[PV_KIND_COUNT] = {
    [PV_KIND_loss] = "model.",  [PV_KIND_model] = "model.",         [PV_KIND_reg] = "reg.",
    [PV_KIND_set] = "set.",     [PV_KIND_optimizer] = "optimizer.", [PV_KIND_accountant] = "accountant.",
    [PV_KIND_reader] = "data.",
};
enum { MAX_KEYS = 512, KEY_SIZE = 64 };

const char *pvi_key_prefix(pv_kind kind)
{
    return prefixes[kind] ? prefixes[kind] : "";
}

typedef struct key_list {
    int64_t n;
    const char *keys[MAX_KEYS];
    char text[MAX_KEYS][KEY_SIZE];
} key_list;

static void add_keys(key_list *l, const char *prefix, const pv_param *rows)
{
    for (const pv_param *r = rows; r->key && l->n < MAX_KEYS; r++, l->n++) {
        snprintf(l->text[l->n], KEY_SIZE, "%s%s", prefix, r->key);
        l->keys[l->n] = l->text[l->n];
    }
}

static void add_kind(key_list *l, pv_kind kind)
{
    const pv_plugin *head;
    for (int64_t i = 0; prefixes[kind] && (head = pv_nth(kind, i)); i++) add_keys(l, prefixes[kind], head->params);
}

/* epsilon is short for budget.epsilon. */
static const char *key_ending(const key_list *l, const char *word)
{
    for (int64_t i = 0; i < l->n; i++) {
        const char *dot = strrchr(l->keys[i], '.');
        if (dot && strcmp(dot + 1, word) == 0) return l->keys[i];
    }
    return NULL;
}

static pv_status unknown_key(pv_ctx *ctx, const char *key)
{
    static const char hint[] = "`privet list` shows every setting";
    key_list *l = pvi_alloc(ctx, sizeof *l);
    if (!l) return pvi_nomem(ctx);
    add_keys(l, "", pvi_settings_params);
    add_keys(l, "data.", pvi_data_params);
    for (int k = 0; k < PV_KIND_COUNT; k++) add_kind(l, (pv_kind)k);
    const char *near = key_ending(l, key);
    if (!near) near = pvi_nearest(key, l->keys, l->n);
    const pv_status s = near ? pvi_fail(ctx, PV_E_PARAM, "unknown setting %s: did you mean %s? (%s)", key, near, hint)
                             : pvi_fail(ctx, PV_E_PARAM, "unknown setting %s: %s", key, hint);
    pvi_free(ctx, l);
    return s;
}

static bool known_to_some_plugin(const char *key)
{
    const pv_plugin *head;
    for (int k = 0; k < PV_KIND_COUNT; k++) {
        const size_t n = strlen(pvi_key_prefix((pv_kind)k));
        if (n == 0 || strncmp(key, prefixes[k], n) != 0) continue;
        for (int64_t i = 0; (head = pv_nth((pv_kind)k, i)); i++)
            if (pvi_param_find(head->params, key + n)) return true;
    }
    return false;
}

static pv_status keep_pair(pv_plan *plan, const char *key, const char *value)
{
    const char *copy = pvi_arena_strdup(plan->arena, value, strlen(value));
    pvi_pair **tail = &plan->pairs;

    if (!copy) return pvi_nomem(plan->ctx);
    for (; *tail; tail = &(*tail)->next)
        if (strcmp((*tail)->key, key) == 0) break;
    if (!*tail) {
        pvi_pair *p = pv_arena_get(plan->arena, sizeof *p);
        if (p) p->key = pvi_arena_strdup(plan->arena, key, strlen(key));
        if (!p || !p->key) return pvi_nomem(plan->ctx);
        *tail = p;
    }
    (*tail)->value = copy;
    return PV_OK;
}

/* Other words for the same settings: the field's, and names that settings had. */
static const struct {
    const char *word, *key;
} aliases[] = {
    { "adjacency", "budget.relation" },
    { "clipping_norm", "clip" },
    { "clip_norm", "clip" },
    { "max_grad_norm", "clip" },
    { "noise_multiplier", "budget.noise_multiplier" },
    { "batch_size", "sampler.batch" },
    { "learning_rate", "optimizer.step" },
    { "optimizer.learning_rate", "optimizer.step" },
    { "optimizer.step_size", "optimizer.step" },
    { "optimizer.precondition", "optimizer.share" },
    { "model.augmentation_multiplicity", "model.augment" },
};

static const char *key_of(const char *word)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(word, aliases[i].word) == 0) return aliases[i].key;
    return word;
}

static pv_status set_value(pv_plan *plan, const char *key, const char *value)
{
    char today[32];
    if (strcmp(key, "issuer.date") == 0 && strcmp(value, "today") == 0)
        pvi_date_text((int64_t)(time(NULL) / 86400), today), value = today;
    const char *need = pvi_issuer_needs(key, value);
    if (need) return pvi_fail(plan->ctx, PV_E_PARAM, "%s=%.40s: %s is needed", key, value, need);
    if (pvi_param_find(pvi_settings_params, key))
        return pvi_param_set(plan->ctx, plan->arena, "", pvi_settings_params, &plan->s, key, value);
    if (strncmp(key, "data.", 5) == 0 && pvi_param_find(pvi_data_params, key + 5))
        return pvi_param_set(plan->ctx, plan->arena, "data.", pvi_data_params, &plan->s.data, key + 5, value);
    if (known_to_some_plugin(key)) return keep_pair(plan, key, value);
    return unknown_key(plan->ctx, key);
}

pv_status pv_plan_set(pv_plan *plan, const char *key, const char *value)
{
    PVI_CALL(plan, PVI_PLAN);
    PVI_NEEDS(plan->ctx, key);
    PVI_NEEDS(plan->ctx, value);
    return pvi_done(plan->ctx, set_value(plan, key_of(key), value));
}

pv_status pv_plan_set_f64(pv_plan *plan, const char *key, double value)
{
    char text[32];
    PVI_CALL(plan, PVI_PLAN);
    PVI_NEEDS(plan->ctx, key);
    pvi_f64_text(value, text);
    return pvi_done(plan->ctx, set_value(plan, key_of(key), text));
}

pv_status pv_plan_set_i64(pv_plan *plan, const char *key, int64_t value)
{
    char text[32];
    PVI_CALL(plan, PVI_PLAN);
    PVI_NEEDS(plan->ctx, key);
    snprintf(text, sizeof text, "%lld", (long long)value);
    return pvi_done(plan->ctx, set_value(plan, key_of(key), text));
}

/* ---- JSON: the same keys, nested objects allowed -------------------------------------------------- */

static pv_status load_value(pv_plan *plan, const char *name, const char *key, const pvi_json *v);

static pv_status load_object(pv_plan *plan, const char *name, const char *key, const pvi_json *v)
{
    for (const pvi_json *c = v->child; c; c = c->next) {
        char full[256];
        if (snprintf(full, sizeof full, "%s%s%s", key, *key ? "." : "", c->key) >= (int)sizeof full)
            return pvi_fail(plan->ctx, PV_E_PARAM, "%s:%d:%d: key too long", name, c->line, c->column);
        const pv_status s = load_value(plan, name, full, c);
        if (s != PV_OK) return s;
    }
    return PV_OK;
}

static pv_status load_value(pv_plan *plan, const char *name, const char *key, const pvi_json *v)
{
    pv_status s;
    switch (v->type) {
    case PVI_JOBJ: return load_object(plan, name, key, v);
    case PVI_JNULL: return PV_OK; /* a setting written back as `not set` */
    case PVI_JARR:
        return pvi_fail(plan->ctx, PV_E_PARAM, "%s:%d:%d: %s cannot be a list", name, v->line, v->column, key);
    case PVI_JBOOL: s = pv_plan_set(plan, key, v->num != 0.0 ? "yes" : "no"); break;
    default: s = pv_plan_set(plan, key, v->text); break;
    }
    if (s != PV_E_PARAM) return s;
    char why[sizeof plan->ctx->err];
    snprintf(why, sizeof why, "%s", pv_ctx_errmsg(plan->ctx));
    return pvi_fail(plan->ctx, s, "%s:%d:%d: %s", name, v->line, v->column, why);
}

pv_status pv_plan_load(pv_plan *plan, const char *json, size_t len, const char *name)
{
    PVI_CALL(plan, PVI_PLAN);
    PVI_NEEDS(plan->ctx, json);
    PVI_NEEDS(plan->ctx, name);
    pv_arena *a = pvi_arena_create(plan->ctx);
    pvi_json *v;
    if (!a) return pvi_nomem(plan->ctx);
    pv_status s = pvi_json_parse(plan->ctx, a, name, json, len, &v);
    if (s == PV_OK && v->type != PVI_JOBJ)
        s = pvi_fail(plan->ctx, PV_E_FORMAT, "%s:1:1: settings are one JSON object {\"key\": value, ...}", name);
    if (s == PV_OK) s = load_value(plan, name, "", v);
    pvi_arena_free(a);
    return pvi_done(plan->ctx, s);
}

/* Settings that belong to one machine, not to the result. */
static bool is_local(const char *key)
{
    return strcmp(key, "data.path") == 0 || strcmp(key, "data.schema") == 0 || strcmp(key, "data.key_path") == 0 ||
           strcmp(key, "data.person_file") == 0 || strcmp(key, "data.trained_on") == 0 ||
           strncmp(key, "data.max_", 9) == 0 || strcmp(key, "set.vertices") == 0 || strncmp(key, "run.", 4) == 0;
}

static void write_rows(const pv_param *rows, const void *cfg, const char *prefix, bool with_paths, pvi_jw *w)
{
    for (const pv_param *r = rows; r->key; r++) {
        char key[128];
        snprintf(key, sizeof key, "%s%s", prefix, r->key);
        if (with_paths || !is_local(key)) pvi_param_json(r, cfg, w, key);
    }
}

pv_status pvi_settings_write(pv_plan *plan, const pvi_job *job, bool with_paths, char **json)
{
    pvi_str b = { .ctx = plan->ctx };
    pvi_jw w = { .out = &b, .indent = with_paths ? 2 : 0 };
    pvi_jw_open(&w, NULL, '{');
    pvi_settings s = plan->s;
    if (job) s.mechanism = job->opt->ask[0].mech->head.name;
    if (job && pvi_model_is_auto(plan)) s.model = job->model.named->name;
    if (job) s.optimizer = job->opt->head.name;
    if (job && !isnan(job->auto_batch))
        s.sampler = pvi_sampler_choice(job->release[0].sampler), s.batch = job->auto_batch;
    if (job && job->prob.size > 0.0) s.clip = job->prob.C; /* by name it would be another */
    if (job && !with_paths && job->start_digest[0]) s.start = job->start_digest;
    if (job) s.accountant = job->accountant;   /* with its settings */
    if (job) s.model = job->model.named->name; /* without layers: those are model.layers */
    write_rows(pvi_settings_params, &s, "", with_paths, &w);
    if (job && job->image[0]) s.data.image = job->image;
    if (job && job->dom.unit_rows) {
        const bool chosen = job->cap_open && pvi_stage_counts(job);     /* by a release */
        s.data.person_rows = chosen ? PV_AUTO_I64 : job->dom.unit_rows; /* a schema may have it */
        s.data.person_rows_share = job->knots.share > 0.0 ? 0.0 : job->stage_share;
    }
    if (job) s.data.knots_share = job->knots.share;
    write_rows(pvi_data_params, &s.data, "data.", with_paths, &w);
    if (job) {
        write_rows(job->model.named->params, job->model.named_cfg, "model.", true, &w);
        write_rows(job->prob.reg->head.params, job->prob.reg_cfg, "reg.", true, &w);
        if (job->prob.set) write_rows(job->prob.set->head.params, job->prob.set_cfg, "set.", with_paths, &w);
        write_rows(job->opt->head.params, job->opt_cfg, "optimizer.", true, &w);
    } else {
        for (const pvi_pair *p = plan->pairs; p; p = p->next) pvi_jw_str(&w, p->key, p->value);
    }
    pvi_jw_close(&w, '}');
    if (with_paths) pvi_str_puts(&b, "\n");
    return pvi_str_take(&b, json);
}

pv_status pv_plan_dump(pv_plan *plan, char **json)
{
    if (json) *json = NULL;
    PVI_CALL(plan, PVI_PLAN);
    PVI_NEEDS(plan->ctx, json);
    return pvi_done(plan->ctx, pvi_settings_write(plan, NULL, true, json));
}

/* ---- settings of one plug-in ------------------------------------------------------------------------- */

pv_status pvi_plugin_cfg(pv_plan *plan, pv_arena *a, const char *prefix, const pv_plugin *head, void **cfg)
{
    const size_t n = strlen(prefix);
    void *c = pv_arena_get(a, head->cfg_size);
    if (!c) return pvi_nomem(plan->ctx);
    pvi_param_defaults(head->params, c);
    for (const pvi_pair *p = plan->pairs; p; p = p->next) {
        if (strncmp(p->key, prefix, n) != 0) continue;
        if (!pvi_param_find(head->params, p->key + n))
            return pvi_fail(plan->ctx, PV_E_PARAM, "%s is not a setting of %.*s=%s: `privet list` shows which it has",
                            p->key, (int)n - 1, prefix, head->name);
        const pv_status s = pvi_param_set(plan->ctx, a, prefix, head->params, c, p->key + n, p->value);
        if (s != PV_OK) return s;
    }
    *cfg = c;
    return PV_OK;
}

pv_status pvi_plan_accountant(const pv_plan *plan, pv_arena *a, const char **text)
{
    static const char prefix[] = "accountant.";
    pv_status s = PV_OK;
    *text = plan->s.accountant;
    for (const pvi_pair *p = plan->pairs; p && s == PV_OK; p = p->next)
        if (strncmp(p->key, prefix, sizeof prefix - 1) == 0)
            s = pvi_accountant_set(plan->ctx, a, p->key + sizeof prefix - 1, p->value, text);
    return s;
}
