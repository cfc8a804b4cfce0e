/* cost.c - what a plan costs, before anything is run: JSON out. */
#include "opt/bounds.h"
#include "run/run.h"

static pv_status cost_json(pvi_job *j, char **json)
{
    pvi_str b = { .ctx = j->ctx };
    pvi_jw w = { .out = &b, .indent = 2 };
    const pvi_release *r = &j->release[0];
    pv_noise noise = r->noise;
    pvi_jw_open(&w, NULL, '{');
    const char *why = pvi_job_why_not(j);
    pvi_jw_bool(&w, "private", !why);
    if (why) {
        pvi_jw_str(&w, "warning", "NOT PRIVATE");
        pvi_jw_str(&w, "why", why);
    }
    const pvi_claim claim = { j->cost.epsilon,     j->prob.delta, (double)j->dom.n, j->prob.relation, 1,
                              j->dom.unit_rows > 0 };
    pvi_strength_write(&w, !why ? &claim : NULL);
    pvi_jw_str(&w, "model", j->model.named->name);
    pvi_jw_str(&w, "optimizer", j->opt->head.name);
    const bool stage = j->release[PVI_STAGE].asked;
    pvi_units_write(&w, j->dom.n, j->dom.unit_rows, !(pvi_stage_counts(j) && j->cap_open));
    if (stage) pvi_jw_f64(&w, j->knots.share > 0.0 ? "knots_share" : "person_rows_share", j->stage_share);
    pvi_jw_i64(&w, "parameters", j->prob.d);
    pvi_jw_i64(&w, "steps", j->opt->steps(j->opt_cfg));
    pvi_jw_f64(&w, "batch", j->prob.batch);
    for (int k = 0; k < j->releases; k++)
        if (j->release[k].asked && j->release[k].q.ops->own_batch)
            pvi_jw_f64(&w, "batch_hessian", j->release[k].batch);
    pvi_jw_f64(&w, "clip_norm", r->q.bound.absent);
    const double outlook = pvi_job_outlook(j);
    if (!isnan(outlook)) pvi_jw_f64(&w, "signal_to_noise", outlook);
    if (j->private_run) {
        pvi_jw_f64(&w, "epsilon", j->cost.epsilon);
        pvi_jw_f64(&w, "epsilon_lower", j->cost.epsilon_lower);
        pvi_jw_f64(&w, "delta", j->prob.delta);
        pvi_jw_str(&w, "relation", j->prob.relation == PV_REL_REPLACE ? "replace" : "zero-out");
        pvi_jw_f64(&w, "epsilon_replace", j->cost_replace.epsilon);
        pvi_jw_str(&w, "accountant", j->cost.accountant);
        noise.multiplier = pvi_first_multiplier(j->events, j->noise_multiplier);
        noise.scale *= noise.multiplier / j->noise_multiplier;
        pvi_jw_f64(&w, "noise_multiplier", noise.multiplier);
        pvi_jw_f64(&w, "sensitivity", r->noise.sensitivity);
        pvi_jw_f64(&w, r->kind->mech->shown, r->kind->mech->shown_value(&noise));
        if (r->kind->mech->entry)
            pvi_jw_f64(&w, "noise_per_weight", r->kind->mech->entry(&noise) / r->batch * r->q.unit);
        pvi_event_write(j->events, &w, "events");
        if (!j->dom.unit_rows)
            pvi_people_write(j->ctx, &w, j->accountant, j->prob.relation, j->events, j->prob.delta, j->draws, false);
        pvi_bounds_write(j->opt, j->opt_cfg, &j->prob, &w);
    }
    char *settings;
    pv_status s = pvi_settings_write(j->plan, j, false, &settings);
    if (s == PV_OK) {
        pvi_jw_raw(&w, "settings", settings);
        pvi_free(j->ctx, settings);
    }
    pvi_jw_close(&w, '}');
    pvi_str_puts(&b, "\n");
    if (s != PV_OK) {
        pvi_str_free(&b);
        return s;
    }
    return pvi_str_take(&b, json);
}

/* A number of rows that nobody declared is counted, and public, as it is for a run; the rows decide nothing else. */
static pv_status open_job(pv_plan *plan, pv_data *from, pvi_job **out)
{
    pvi_matrix *m = NULL;
    const bool count =
        from || (plan->s.data.path && plan->s.data.rows == PV_AUTO_I64 && plan->s.data.persons == PV_AUTO_I64);
    pv_status s = count ? pvi_plan_data(plan, from, &m) : PV_OK;
    if (s == PV_OK) s = pvi_job_create(plan, m, out);
    pvi_matrix_free(m);
    if (s != PV_OK) return s;
    s = pvi_measures_check(*out); /* what a run would refuse, its plan does */
    if (s == PV_OK) s = pvi_start_fill(*out, NULL);
    if (s == PV_OK) return PV_OK;
    pvi_job_free(*out);
    *out = NULL;
    return s;
}

pv_status pv_plan_cost(pv_plan *plan, char **json)
{
    if (json) *json = NULL;
    PVI_CALL(plan, PVI_PLAN);
    PVI_NEEDS(plan->ctx, json);
    pvi_job *j;
    pv_status s = open_job(plan, NULL, &j);
    if (s != PV_OK) return pvi_done(plan->ctx, s);
    s = cost_json(j, json);
    pvi_job_free(j);
    return pvi_done(plan->ctx, s);
}

pv_status pv_plan_cost_on(pv_plan *plan, pv_data *data, pv_cost *out)
{
    if (out) *out = (pv_cost) { .epsilon = INFINITY, .epsilon_replace = INFINITY, .delta = 1.0 };
    PVI_CALL(plan, PVI_PLAN);
    PVI_NEEDS(plan->ctx, out);
    if (data && !pvi_alive(data, PVI_DATA, __func__)) return PV_E_ARG;
    pvi_job *j;
    const pv_status s = open_job(plan, data, &j);
    if (s == PV_OK) pvi_job_cost(j, out);
    if (s == PV_OK) pvi_job_free(j);
    return pvi_done(plan->ctx, s);
}

pv_status pv_plan_epsilon(pv_plan *plan, double delta, double *eps_ub)
{
    if (eps_ub) *eps_ub = INFINITY;
    PVI_CALL(plan, PVI_PLAN);
    PVI_NEEDS(plan->ctx, eps_ub);
    if (!(delta > 0.0 && delta < 1.0))
        return pvi_fail(plan->ctx, PV_E_ARG, "pv_plan_epsilon: delta = %g is not between 0 and 1", delta);
    pvi_job *j;
    pvi_cost cost;
    pv_status s = open_job(plan, NULL, &j);
    if (s != PV_OK) return pvi_done(plan->ctx, s);
    if (!j->private_run) s = pvi_fail(plan->ctx, PV_E_PARAM, "privacy=off has no epsilon");
    else s = pvi_account(plan->ctx, j->accountant, j->prob.relation, j->events, delta * (1.0 - 0x1p-10), &cost);
    if (s == PV_OK && cost.epsilon <= PVI_DRAWS_LIMIT && !(pvi_draws_need(j, cost.epsilon) <= delta * 0x1p-10))
        s = pvi_fail(plan->ctx, PV_E_UNSUPPORTED, "delta = %g is too small for draws of finite accuracy at this size",
                     delta);
    if (s == PV_OK) *eps_ub = cost.epsilon;
    pvi_job_free(j);
    return pvi_done(plan->ctx, s);
}
