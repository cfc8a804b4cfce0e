/* evaluate.c - how good a model is on rows about people, as a release of its own: noisy counts, certified.
 *
 * The run is planned, metered and certified as any other (run/run.c), with an optimiser that asks once and moves
 * nothing (opt_evaluation.c).  Rows are read as the model reads new ones; where a column says whose they are, each
 * person counts once.  The number of rows, or of persons, is public, as it is in training.  Figures are made of
 * what was released. */
#include "api/scored.h"
#include "eval/eval.h"

/* What describes the model and its rows is the model's; what describes the budget is the caller's. */
static pv_status make_plan(const pv_model *m, const pv_plan *budget, pv_plan **out)
{
    pv_status s = pv_plan_create(m->ctx, out);
    if (s != PV_OK) return s;
    pv_plan *p = *out;
    pvi_settings *to = &p->s;
    const pvi_settings *of = &budget->s;
    to->model = m->plan->s.model;
    to->data = m->plan->s.data;
    to->data.path = NULL;
    to->data.rows = to->data.persons = PV_AUTO_I64; /* of other rows */
    to->data.person_rows_share = NAN;
    to->data.measured = PVI_MEASURED_NOTHING;
    if (m->file.domain.unit_rows && to->data.person_rows == PV_AUTO_I64)
        to->data.person_rows = m->file.domain.unit_rows;
    to->optimizer = "evaluation";
    to->accountant = of->accountant;
    to->privacy = of->privacy;
    to->epsilon = of->epsilon;
    to->delta = of->delta;
    to->noise_multiplier = of->noise_multiplier;
    to->relation = of->relation;
    to->seed = of->seed;
    to->issuer = of->issuer, to->contact = of->contact, to->date = of->date, to->data_name = of->data_name;
    to->threads = m->plan->s.threads;
    p->given = m->file.w;
    for (const pvi_pair *k = m->plan->pairs; s == PV_OK && k; k = k->next)
        if (strncmp(k->key, "model.", 6) == 0) s = pv_plan_set(p, k->key, k->value);
    for (const pvi_pair *k = budget->pairs; s == PV_OK && k; k = k->next)
        if (strncmp(k->key, "accountant.", 11) == 0) s = pv_plan_set(p, k->key, k->value);
    return s;
}

static pv_status write_json(const pv_model *m, const pv_result *r, char **json)
{
    const pvi_cert *c = &r->cert;
    const pvi_cert_kind *k = pvi_cert_evaluation(c);
    pvi_str b = { .ctx = m->ctx };
    pvi_jw w = { .out = &b, .indent = 2 };
    pvi_jw_open(&w, NULL, '{');
    pvi_jw_bool(&w, "model_is_private", m->cert.is_private);
    pvi_jw_bool(&w, "metrics_are_private", c->is_private);
    if (!c->is_private) pvi_jw_str(&w, "warning", "NOT PRIVATE");
    if (!c->is_private) pvi_jw_str(&w, "why", c->why_not);
    const pvi_claim claim = { c->epsilon, c->delta, (double)c->rows, c->relation, 1, c->unit_rows > 0 };
    pvi_strength_write(&w, c->is_private ? &claim : NULL);
    pvi_jw_f64(&w, "epsilon", c->epsilon);
    pvi_jw_f64(&w, "delta", c->delta);
    pvi_jw_str(&w, "relation", c->relation == PV_REL_REPLACE ? "replace" : "zero-out");
    pvi_jw_f64(&w, "epsilon_replace", c->epsilon_replace);
    pvi_units_write(&w, c->rows, c->unit_rows, true);
    pvi_jw_f64(&w, "noise_stddev", c->noise_stddev);
    const pvi_noisy noisy = { k->counts, k->n_counts, c->rows, c->noise_stddev };
    const pv_status s = pvi_noisy_figures(m->ctx, &noisy, m->class_name, &w);
    pvi_jw_close(&w, '}');
    pvi_str_puts(&b, "\n");
    if (s == PV_OK) return pvi_str_take(&b, json);
    pvi_str_free(&b);
    return s;
}

static pv_status take_certificate(const pv_result *r, char **text)
{
    pvi_str b = { .ctx = r->ctx };
    pvi_str_puts(&b, r->certificate);
    return pvi_str_take(&b, text);
}

/* On the rows of `data`, or on those that the run of `of` held out. */
static pv_status evaluate(pv_model *m, pv_data *data, const pv_result *of, const pv_plan *budget, char **json,
                          char **certificate)
{
    pv_plan *plan = NULL;
    pvi_matrix *x = NULL;
    pv_result *r = NULL;
    pv_status s = make_plan(m, budget, &plan);
    if (s == PV_OK && of) plan->s.holdout_share = of->held_share;
    if (s == PV_OK && of) plan->s.data.measured = m->plan->s.data.measured; /* on all rows, these among them */
    if (s == PV_OK) s = pvi_set_threads(m->ctx, (int)m->plan->s.threads);
    if (s == PV_OK && !of) s = pvi_units_of_rows(m, data, plan->s.seed, &x);
    const bool trained = s == PV_OK && !of && pvi_is_training_data(&m->cert, x);
    if (trained) plan->s.data.measured = m->plan->s.data.measured;
    if (trained)
        pvi_log(
            m->ctx, PV_LOG_WARN,
            "these are the training rows: figures are too good, and `privet account` says what model and evaluation "
            "cost together");
    pvi_matrix held = of ? of->held : (pvi_matrix) { 0 };
    if (s == PV_OK) s = pvi_run_matrix(plan, of ? &held : x, NULL, NULL, &r);
    if (s == PV_OK) s = write_json(m, r, json);
    if (s == PV_OK && certificate) s = take_certificate(r, certificate);
    if (s != PV_OK) {
        pv_string_free(m->ctx, *json);
        *json = NULL;
    }
    if (r) pv_result_free(r);
    pvi_matrix_free(x);
    if (plan) pv_plan_free(plan);
    return s;
}

pv_status pv_model_evaluate(pv_model *m, pv_data *data, const pv_plan *budget, char **json, char **certificate)
{
    if (json) *json = NULL;
    if (certificate) *certificate = NULL;
    PVI_CALL(m, PVI_MODEL);
    PVI_TAKES(m->ctx, data, PVI_DATA);
    PVI_TAKES(m->ctx, budget, PVI_PLAN);
    PVI_NEEDS(m->ctx, json);
    if (m->cut != 0.0) /* the released table counts what is predicted by a half (query_scores.c) */
        return pvi_fail(m->ctx, PV_E_UNSUPPORTED,
                        "noisy figures are of the threshold 0.5: leave predict.threshold and predict.cost out");
    return pvi_done(m->ctx, evaluate(m, data, NULL, budget, json, certificate));
}

pv_status pv_result_evaluate(const pv_result *r, const pv_plan *budget, char **json, char **certificate)
{
    if (json) *json = NULL;
    if (certificate) *certificate = NULL;
    PVI_CALL(r, PVI_RESULT);
    PVI_TAKES(r->ctx, budget, PVI_PLAN);
    PVI_NEEDS(r->ctx, json);
    pv_model *m;
    if (!r->whole)
        return pvi_fail(r->ctx, PV_E_ARG, "no rows were held out: set run.holdout_share, or use pv_model_evaluate");
    pv_status s = pv_result_model(r, &m);
    if (s != PV_OK) return s;
    s = evaluate(m, NULL, r, budget, json, certificate);
    pv_model_free(m);
    return pvi_done(r->ctx, s);
}
