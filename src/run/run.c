/* run.c - load, plan, loop, certify.
 *
 * The order is the guarantee: the event tree and its cost exist before the first query; the meter
 * stops a run that asks for more; a certificate is written only when everything planned was spent. */
#include "run/run.h"

/* ---- certificate ------------------------------------------------------------------------------------ */

static const char *arena_take(pv_arena *a, pv_ctx *ctx, char *text) /* moves a heap string to the arena */
{
    const char *t = text ? pvi_arena_strdup(a, text, strlen(text)) : NULL;
    pvi_free(ctx, text);
    return t;
}

enum { MAX_ASSUMPTIONS = 13 + PVI_RELEASES };

static void list_assumptions(pvi_cert *c, const pvi_job *j, const char *sources, const char **lines)
{
    int64_t n = 0;
    const bool persons = j->dom.unit_rows;
    lines[n++] =
        persons
            ? "The number of persons, the number of columns, the declared bounds, categories and labels are public."
            : "The number of rows, the number of columns, the declared bounds, categories and labels are public.";
    if (j->features_measured)
        lines[n++] = "The number of columns was read from the file and is treated as public; declare data.features "
                     "to avoid it.";
    if (sources) lines[n++] = sources;
    if (j->plan->s.data.measured == PVI_MEASURED_CLASSES) lines[n++] = pvi_cert_found_classes;
    lines[n++] = persons
                     ? pvi_cert_person_rows(j->dom.unit_combine == PV_UNIT_SUM, j->dom.unit_weight == PV_UNIT_ROWS)
                     : "Each person contributes one row; a person with k rows is protected as a group of k.";
    lines[n++] = "Noise comes from stream ciphers (ChaCha20, AES-256) keyed by the operating system; that nobody can "
                 "tell them from random bits is a computational assumption.";
    const pvi_release *r = &j->release[0];
    if (j->private_run && j->draws == 0.0) lines[n++] = pvi_cert_ideal_draws;
    if (r->kind->mech->caveat) lines[n++] = r->kind->mech->caveat;
    for (int k = 0; k < j->releases; k++)
        if (j->release[k].asked && j->release[k].q.ops->caveat) lines[n++] = j->release[k].q.ops->caveat;
    if (r->sampler->caveat) lines[n++] = r->sampler->caveat;
    if (j->start_digest[0] && !j->opt->released) lines[n++] = pvi_cert_public_start;
    if (!isnan(j->plan->s.holdout_share)) lines[n++] = pvi_cert_part;
    if (j->plan->s.diagnostics) lines[n++] = pvi_cert_diagnostics;
    if (j->plan->s.holdout) lines[n++] = pvi_cert_holdout;
    c->assumptions = lines;
    c->n_assumptions = n;
}

static const char *why_not_private(const pvi_job *j, const pv_rng *rng)
{
    if (!j->private_run) return "trained with privacy=off: no noise was added";
    if (pvi_job_exposes(j)) return "measures of the training rows were shown while it was trained";
    if (pvi_rng_is_test(rng)) return "trained with a test seed: the noise can be reproduced and removed";
    if (j->plan->s.data.measured == PVI_MEASURED_BOUNDS) return "bounds or categories were taken from the rows";
    return NULL;
}

/* With its settings when it was named; the one that won when `best` was asked for.  Outlives the plan. */
static const char *accountant_used(pv_arena *a, const pvi_job *j, const pvi_cost *cost)
{
    const char *name = j->accountant;
    return strcmp(name, "best") == 0 ? cost->accountant : pvi_arena_strdup(a, name, strlen(name));
}

/* The part of the certificate that says what it cost. */
static pv_status fill_cost(pv_result *r, const pvi_job *j)
{
    pvi_cert *c = &r->cert;
    const bool replace = j->prob.relation == PV_REL_REPLACE;

    c->relation = j->prob.relation;
    c->events = j->private_run ? pvi_event_scale(r->arena, j->events, 1.0)
                               : pv_ev_leaf(r->arena, PV_EV_NONPRIVATE, 0.0, 0.0); /* no noise, no event */
    if (!c->events) return pvi_nomem(r->ctx);
    c->epsilon = c->epsilon_replace = INFINITY;
    c->delta = 1.0;
    c->accountant = "none";
    if (!j->private_run) return PV_OK;
    c->epsilon = pvi_cert_claim(j->cost.epsilon, j->prob.epsilon);
    c->delta = j->prob.delta;
    c->delta_draws = j->draws;
    r->draws_epsilon = pvi_draws_covered(j);
    c->accountant = accountant_used(r->arena, j, &j->cost);
    c->replace_is_group_bound = replace ? j->cost.group_bound : j->cost_replace.group_bound;
    c->epsilon_replace = replace ? c->epsilon : fmax(c->epsilon, pvi_cert_claim(j->cost_replace.epsilon, INFINITY));
    if (replace) return c->accountant ? PV_OK : pvi_nomem(r->ctx);
    c->accountant_replace = accountant_used(r->arena, j, &j->cost_replace);
    c->events_replace = pvi_event_scale(r->arena, j->events_replace, 1.0);
    return c->accountant && c->accountant_replace && c->events_replace ? PV_OK : pvi_nomem(r->ctx);
}

/* The model file but for the certificate. */
static pv_status fill_file(pv_result *r, const pvi_job *j, const pvi_matrix *m)
{
    const char **names = NULL;
    char *settings;
    const pv_status s = pvi_settings_write(j->plan, j, false, &settings);
    if (s != PV_OK) return s;
    if (m->class_names) {
        names = pv_arena_get(r->arena, sizeof *names * (size_t)m->domain.classes);
        for (int64_t i = 0; names && i < m->domain.classes; i++)
            names[i] = pvi_arena_strdup(r->arena, m->class_names[i], strlen(m->class_names[i]));
    }
    r->file.model = j->model.named->name;
    r->file.settings = arena_take(r->arena, r->ctx, settings);
    r->file.schema = m->schema_json ? pvi_arena_strdup(r->arena, m->schema_json, strlen(m->schema_json)) : NULL;
    r->file.class_names = names;
    r->file.domain = m->domain;
    r->file.domain.unit_rows = r->stage.rows.cap;
    const bool lost = !r->file.settings || (m->schema_json && !r->file.schema) || (m->class_names && !names);
    return lost ? pvi_nomem(r->ctx) : PV_OK;
}

/* Which data and which model: digests, under a salt that is drawn when all noise was. */
static pv_status fill_digests(pv_result *r, const pvi_matrix *m, pv_rng *rng)
{
    typedef char hex[65];
    uint8_t salt[PVI_HASH_SIZE];
    hex *out = pv_arena_get(r->arena, 4 * sizeof *out);
    if (!out) return pvi_nomem(r->ctx);
    pvi_rng_bytes(rng, salt, sizeof salt);
    pvi_hex(salt, sizeof salt, out[0]);
    pvi_salted_digest(out[0], m->digest, out[1]);
    r->file.is_private = r->cert.is_private;
    r->cert.data_salt = out[0];
    r->cert.data_digest = out[1];
    r->cert.header_digest = out[2];
    r->cert.weights_digest = out[3];
    return pvi_model_digests(r->ctx, &r->file, out[2], out[3]);
}

/* Of release k; one with samples of its own, or of a stage, says what the fields say of the first. */
static pvi_cert_kind kind_of(const pv_result *of, const pvi_job *j, const pv_oracle *o, int k)
{
    const pvi_release *r = &j->release[k];
    const double z = j->private_run ? pvi_event_noise_of(j->events, k) : j->noise_multiplier;
    pvi_cert_kind kind = { .kind = r->kind->name, .count = pvi_oracle_count(o, k) };
    if (r->q.ops->counts) kind.counts = of->released, kind.n_counts = r->q.values;
    if (!r->q.ops->own_batch && !r->kind->stage) return kind;
    if (r->kind->stage) kind.counts = of->stage.count, kind.n_counts = of->stage.n;
    kind.batch = r->batch;
    kind.clip_norm = r->q.bound.absent;
    kind.replace_change = r->q.bound.other;
    kind.rounding_allowance = r->allowance;
    kind.sensitivity = r->noise.sensitivity;
    kind.noise_multiplier = z;
    kind.noise_stddev = j->private_run ? pv_up(z * r->noise.sensitivity, 2) : 0.0;
    kind.grid_spacing = r->noise.spacing;
    return kind;
}

/* In the order of the table of kinds. */
static void fill_kinds(pv_result *r, const pvi_job *j, const pv_oracle *o)
{
    pvi_cert *c = &r->cert;
    for (const pvi_release_kind *kind = pvi_release_kinds; kind->name; kind++)
        for (int k = 0; k < j->releases; k++)
            if (j->release[k].kind == kind && pvi_oracle_count(o, k) > 0)
                c->kinds[c->n_kinds++] = kind_of(r, j, o, k);
}

static pv_status fill_certificate(pv_result *r, const pvi_job *j, const pvi_matrix *m, const pv_oracle *o,
                                  pv_rng *rng)
{
    const char **own = pv_arena_get(r->arena, sizeof *own * MAX_ASSUMPTIONS);
    const pvi_release *first = &j->release[0];

    if (!own) return pvi_nomem(r->ctx);
    r->cert = (pvi_cert) {
        .version = j->dom.unit_rows ? PVI_CERT_PERSONS : PVI_CERT_VERSION,
        .unit = j->dom.unit_rows ? "person" : NULL,
        .unit_rows = r->stage.rows.cap,
        .why_not = why_not_private(j, rng),
        .model = j->model.named->name,
        .optimizer = j->opt->head.name,
        .mechanism = first->kind->mech->head.name,
        .sampler = first->sampler->name,
        .rows = j->dom.n,
        .features = j->dom.p,
        .weights = j->prob.d,
        .features_measured = j->features_measured,
        .clip_norm = first->q.bound.absent,
        .clip_gradient = first->q.ops->counts ? first->q.bound.absent : j->prob.C,
        .replace_change = first->q.bound.other,
        .sensitivity = first->noise.sensitivity,
        .noise_multiplier = j->noise_multiplier,
        .noise_multiplier_max = fmax(j->noise_multiplier, pvi_event_noise_max(j->steps)),
        .noise_stddev = j->private_run ? pv_up(j->noise_multiplier * first->noise.sensitivity, 2) : 0.0,
        .grid_spacing = first->noise.spacing,
        .row_norm = j->dom.row_norm,
        .rounding_allowance = first->allowance,
        .batch = j->prob.batch,
        .queries = pvi_oracle_queries(o),
        .settings = r->file.settings,
    };
    r->mech = first->kind->mech;
    r->cert.is_private = r->cert.why_not == NULL;
    fill_kinds(r, j, o);
    const char *sources;
    pv_status s = pvi_sources_say(r->ctx, r->arena, m->schema_json, &sources);
    if (s != PV_OK) return s;
    list_assumptions(&r->cert, j, sources, own);
    s = fill_digests(r, m, rng);
    if (s == PV_OK) s = fill_cost(r, j);
    if (s == PV_OK && r->cert.is_private && j->opt->conditional && !r->measures) /* which show more than the last */
        s = j->opt->conditional(j->opt_cfg, &j->prob, r->cert.events, r->cert.epsilon, r->arena,
                                &r->cert.conditional);
    if (s != PV_OK || !r->cert.is_private) return s;
    return pvi_cert_verify(r->ctx, "certificate", &r->cert); /* none leaves that does not hold */
}

/* What the certificate claims, and the rest as planned. */
static void fill_typed_cost(pv_result *r, const pvi_job *j)
{
    pvi_job_cost(j, &r->cost);
    r->cost.is_private = r->cert.is_private;
    r->cost.epsilon = r->cert.epsilon;
    r->cost.epsilon_replace = r->cert.epsilon_replace;
}

static pv_status write_certificate(pv_result *r)
{
    char *text;
    const pv_status s = pvi_cert_write(r->ctx, &r->cert, &text);
    if (s != PV_OK) return s;
    r->certificate = r->file.certificate = arena_take(r->arena, r->ctx, text);
    return r->certificate ? PV_OK : pvi_nomem(r->ctx);
}

/* ---- loop --------------------------------------------------------------------------------------------- */

enum { CURVE = 20 };

/* Upper bounds of the epsilon spent after k/CURVE of the planned releases, for the progress display. */
static void spent_curve(const pvi_job *j, double curve[CURVE + 1])
{
    const pv_event *e = j->events; /* with a stage they are a sequence, and all of it is shown as spent */
    pvi_cost c;
    for (int k = 0; k <= CURVE; k++) curve[k] = j->private_run ? j->cost.epsilon : -1.0;
    if (!j->private_run || !j->ctx->progress || e->kind != PV_EV_REPEAT) return;
    for (int k = 1; k < CURVE; k++) {
        pv_event part = *e;
        part.n = (e->n * k + CURVE - 1) / CURVE;
        if (pvi_account(j->ctx, j->accountant, j->prob.relation, &part, j->prob.delta - j->draws, &c) == PV_OK)
            curve[k] = c.epsilon;
    }
    curve[0] = 0.0;
}

static double spent(const double curve[CURVE + 1], double fraction)
{
    const int k = (int)ceil(fraction * CURVE);
    return curve[k < 0 ? 0 : k > CURVE ? CURVE : k];
}

pv_status pvi_optimizer_state(const pvi_job *j, pv_arena *a, void **out)
{
    const int64_t d = j->prob.d;
    char *st = *out = pv_arena_get(a, j->opt->head.state_size);
    if (!st) return pvi_nomem(j->ctx);
    for (const pv_state *s = j->opt->state; s && s->shape; s++) {
        double *x = pv_arena_f64(a, s->shape == PV_SQUARE ? d * d : d);
        if (!x) return pvi_nomem(j->ctx);
        memcpy(st + s->offset, &x, sizeof x);
    }
    const pv_status s = j->opt->init ? j->opt->init(st, j->opt_cfg, &j->prob, a) : PV_OK;
    return s == PV_E_NOMEM ? pvi_nomem(j->ctx) : s;
}

/* Counts that were released, as whole numbers: what the certificate holds is what figures are made of. */
static pv_status keep_counts(pv_result *r, const pvi_job *j, const double *share)
{
    const int64_t n = j->release[0].q.values;
    int64_t *count = pv_arena_get(r->arena, sizeof *count * (size_t)n);
    if (!count) return pvi_nomem(r->ctx);
    for (int64_t k = 0; k < n; k++) count[k] = llrint(share[k] * (double)j->dom.n);
    r->released = count;
    return PV_OK;
}

static pv_status loop(pv_result *r, const pvi_job *j, const pvi_origins *of, pv_oracle *o, double *w)
{
    const int64_t T = j->opt->steps(j->opt_cfg);
    double curve[CURVE + 1];
    void *st;
    pv_status s = pvi_optimizer_state(j, r->arena, &st);

    if (s != PV_OK) return s;
    spent_curve(j, curve);
    for (int64_t t = 1; s == PV_OK; t++) {
        if (!pvi_progress(r->ctx, "training", (double)(t - 1), (double)T, spent(curve, pvi_oracle_fraction(o))))
            return pvi_fail(r->ctx, PV_E_CANCELLED,
                            "stopped after %lld of %lld steps: no model was written, and the budget of "
                            "the whole run counts as spent",
                            (long long)(t - 1), (long long)T);
        s = j->opt->step(st, j->opt_cfg, &j->prob, t, o, w);
        r->steps = t;
        if (s == PV_OK && r->measures) s = pvi_measures_at(r->measures, t, T, w);
    }
    if (s != PV_DONE) return s;
    if (j->opt->released && (s = keep_counts(r, j, j->opt->released(st))) != PV_OK) return s;
    pvi_progress(r->ctx, "training", (double)T, (double)T, curve[CURVE]);
    for (int64_t k = 0; k < j->prob.d; k++)
        if (!isfinite(w[k])) return pvi_fail(r->ctx, PV_E_NUMERIC, "training diverged: the step size is too large");
    if (!j->opt->released && (s = pvi_monotone(of, r->arena, r->ctx, w)) != PV_OK) return s;
    return r->measures ? pvi_measures_end(r->measures, r->steps, w) : PV_OK;
}

static pv_status run_job(pv_result *r, const pvi_job *j, pvi_matrix *m, pv_rng *rng, pvi_tap tap, void *tap_user)
{
    const bool late = m->late != NULL;
    pv_oracle *o = NULL;
    pvi_origins of;
    double *w = pv_arena_f64(r->arena, j->prob.d);
    pv_status s = w ? PV_OK : pvi_nomem(r->ctx);

    if (s == PV_OK) s = pvi_monotone_open(j, m, r->arena, &of);
    if (s == PV_OK) s = pvi_oracle_create(j, m, rng, tap, tap_user, &o);
    if (s == PV_OK) s = late ? pvi_measures_check(j) : pvi_measures_create(j, m, r->arena, &r->measures);
    if (s == PV_OK) s = pvi_stage_run(j, o, m, r->arena, &r->stage);
    if (s == PV_OK && late) s = pvi_measures_create(j, m, r->arena, &r->measures); /* of rows as they are now */
    if (s == PV_OK) s = loop(r, j, &of, o, w);
    if (s == PV_OK && !pvi_oracle_spent_all(o))
        s = pvi_fail(r->ctx, PV_E_PLAN, "optimizer=%s made fewer releases than it planned", j->opt->head.name);
    r->file.w = w;
    r->file.d = j->prob.d;
    if (s == PV_OK && of.n > 0) s = pvi_noise_at_most(j, r->arena, &r->file.noise);
    if (s == PV_OK) s = fill_file(r, j, m);
    if (s == PV_OK) s = fill_certificate(r, j, m, o, rng);
    if (s == PV_OK) fill_typed_cost(r, j);
    if (s == PV_OK) s = write_certificate(r);
    pvi_measures_close(r->measures);
    pvi_oracle_free(o);
    return s;
}

pv_status pvi_plan_rng(const pv_plan *plan, pv_rng **out)
{
    if (plan->s.seed == PV_AUTO_I64) return pvi_rng_create(plan->ctx, out);
    pvi_log(plan->ctx, PV_LOG_WARN, "run.seed is set: the noise is reproducible, the result is NOT PRIVATE");
    return pvi_rng_create_test(plan->ctx, (uint64_t)plan->s.seed, out);
}

pv_status pvi_run_matrix(pv_plan *plan, pvi_matrix *m, pvi_tap tap, void *tap_user, pv_result **out)
{
    pvi_job *job = NULL;
    pv_rng *rng = NULL;
    pv_status s;

    *out = NULL;
    pv_result *r = pvi_handle_open(plan->ctx, PVI_RESULT, sizeof *r);
    if (!r) return PV_E_NOMEM;
    r->arena = pvi_arena_create(plan->ctx);
    s = r->arena ? PV_OK : pvi_nomem(plan->ctx);
    if (s == PV_OK) s = pvi_plan_rng(plan, &rng);
    if (s == PV_OK) s = pvi_job_create(plan, m, &job);
    if (s == PV_OK) s = pvi_start_fill(job, rng);
    if (s == PV_OK) s = run_job(r, job, m, rng, tap, tap_user);
    pvi_job_free(job);
    pvi_rng_free(rng);
    if (s != PV_OK) {
        pv_result_free(r);
        return s;
    }
    *out = r;
    return PV_OK;
}

pv_status pvi_plan_data(pv_plan *plan, pv_data *from, pvi_matrix **out)
{
    pvi_expect expect;
    *out = NULL;
    pv_status s = pvi_set_threads(plan->ctx, (int)plan->s.threads);
    if (s == PV_OK) s = pvi_plan_expect(plan, &expect);
    return s == PV_OK ? pvi_data_load(plan->ctx, &plan->s.data, &expect, from, out) : s;
}

static void say_measured(const pv_plan *plan)
{
    if (plan->s.data.measured == PVI_MEASURED_BOUNDS)
        pvi_log(plan->ctx, PV_LOG_WARN, "bounds were taken from the rows: the result is NOT PRIVATE");
    if (plan->s.data.measured == PVI_MEASURED_CLASSES)
        pvi_log(plan->ctx, PV_LOG_NOTE, "the classes were taken from the rows and are treated as public");
}

static pv_status run_on(pv_plan *plan, pv_data *from, pv_result **out)
{
    pvi_matrix *m, train, held;
    const bool split = !isnan(plan->s.holdout_share);
    pv_status s = pvi_plan_data(plan, from, &m);
    if (s == PV_OK) say_measured(plan);
    if (s == PV_OK && split) s = pvi_hold_out(plan, m, &train, &held);
    if (s == PV_OK && !plan->s.diagnostics && !split) pvi_matrix_offer(m);
    if (s == PV_OK) s = pvi_run_matrix(plan, split ? &train : m, NULL, NULL, out);
    if (s != PV_OK || !split) {
        pvi_matrix_free(m);
        return s;
    }
    (*out)->whole = m;
    (*out)->held = held;
    (*out)->held_share = plan->s.holdout_share;
    return PV_OK;
}

pv_status pv_plan_run(pv_plan *plan, pv_result **out)
{
    if (out) *out = NULL;
    PVI_CALL(plan, PVI_PLAN);
    PVI_NEEDS(plan->ctx, out);
    if (!plan->s.data.path) return pvi_fail(plan->ctx, PV_E_PARAM, "no data: set data.path");
    return pvi_done(plan->ctx, run_on(plan, NULL, out));
}

pv_status pv_plan_run_on(pv_plan *plan, pv_data *data, pv_result **out)
{
    if (out) *out = NULL;
    PVI_CALL(plan, PVI_PLAN);
    PVI_TAKES(plan->ctx, data, PVI_DATA);
    PVI_NEEDS(plan->ctx, out);
    return pvi_done(plan->ctx, run_on(plan, data, out));
}

/* ---- result --------------------------------------------------------------------------------------------- */

pv_status pv_result_weights(const pv_result *r, double *w, int64_t cap, int64_t *d)
{
    if (d) *d = 0;
    PVI_CALL(r, PVI_RESULT);
    PVI_NEEDS(r->ctx, d);
    if (cap > 0 && !w) return pvi_fail(r->ctx, PV_E_ARG, "pv_result_weights: w is NULL");
    *d = r->file.d;
    for (int64_t i = 0; i < cap && i < r->file.d; i++) w[i] = r->file.w[i];
    return PV_OK;
}

pv_status pv_result_certificate(const pv_result *r, const char **json)
{
    if (json) *json = NULL;
    PVI_CALL(r, PVI_RESULT);
    PVI_NEEDS(r->ctx, json);
    *json = r->certificate;
    return PV_OK;
}

pv_status pv_result_cost(const pv_result *r, pv_cost *out)
{
    if (out) *out = (pv_cost) { .epsilon = INFINITY, .epsilon_replace = INFINITY, .delta = 1.0 };
    PVI_CALL(r, PVI_RESULT);
    PVI_NEEDS(r->ctx, out);
    *out = r->cost;
    return PV_OK;
}

pv_status pv_result_save(const pv_result *r, const char *path)
{
    PVI_CALL(r, PVI_RESULT);
    PVI_NEEDS(r->ctx, path);
    return pvi_done(r->ctx, pvi_model_write(r->ctx, path, &r->file));
}

pv_status pv_result_summary(const pv_result *r, char **json)
{
    if (json) *json = NULL;
    PVI_CALL(r, PVI_RESULT);
    PVI_NEEDS(r->ctx, json);
    const pvi_cert *c = &r->cert;
    pvi_str b = { .ctx = r->ctx };
    pvi_jw w = { .out = &b, .indent = 2 };
    pvi_jw_open(&w, NULL, '{');
    pvi_jw_bool(&w, "private", c->is_private);
    if (!c->is_private) pvi_jw_str(&w, "warning", "NOT PRIVATE");
    if (!c->is_private) pvi_jw_str(&w, "why", c->why_not);
    const pvi_claim claim = { c->epsilon, c->delta, (double)c->rows, c->relation, 1, c->unit_rows > 0 };
    pvi_strength_write(&w, c->is_private ? &claim : NULL);
    pvi_jw_str(&w, "model", c->model);
    pvi_jw_str(&w, "optimizer", c->optimizer);
    pvi_units_write(&w, c->rows, c->unit_rows, true);
    pvi_row_counts_write(&r->stage.rows, &w);
    pvi_jw_i64(&w, "parameters", r->file.d);
    pvi_jw_i64(&w, "steps", r->steps);
    pvi_jw_i64(&w, "queries", c->queries);
    pvi_jw_f64(&w, "epsilon", c->epsilon);
    pvi_jw_f64(&w, "delta", c->delta);
    pvi_jw_str(&w, "relation", c->relation == PV_REL_REPLACE ? "replace" : "zero-out");
    pvi_jw_f64(&w, "epsilon_replace", c->epsilon_replace);
    pvi_jw_str(&w, "accountant", c->accountant);
    if (c->delta_draws > 0.0) pvi_jw_f64(&w, "draws_epsilon", r->draws_epsilon);
    pvi_jw_f64(&w, "clip_norm", c->clip_norm);
    const double z = pvi_first_multiplier(c->events, c->noise_multiplier);
    const double times = c->noise_multiplier > 0.0 ? z / c->noise_multiplier : 1.0;
    pvi_jw_f64(&w, "noise_multiplier", z);
    pvi_jw_f64(&w, r->mech->shown,
               r->mech->shown_value(&(pv_noise) { .multiplier = z, .scale = c->noise_stddev * times }));
    if (r->measures) pvi_measures_write(r->measures, &w);
    pvi_jw_raw(&w, "settings", c->settings);
    pvi_jw_close(&w, '}');
    pvi_str_puts(&b, "\n");
    return pvi_done(r->ctx, pvi_str_take(&b, json));
}

void pv_result_free(pv_result *r)
{
    if (!pvi_alive(r, PVI_RESULT, __func__)) return;
    pvi_matrix_free(r->whole);
    pvi_arena_free(r->arena);
    pvi_handle_close(r);
}
