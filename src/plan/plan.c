/* plan.c - from settings to a checked job: the order in which it is made.  No row is looked at here. */
#include "plan/job.h"
#include "reg/reg.h"

static const struct missing {
    uint32_t what;
    const char *words;
    pv_kind kind; /* whose plug-ins have it, and what may stand in for it there; COUNT: not said */
    uint32_t with;
} missing_words[] = {
    { PV_SMOOTH, "a smooth loss", PV_KIND_COUNT, 0 },
    { PV_CONVEX, "a convex loss", PV_KIND_COUNT, 0 },
    { PV_COMPACT, "a bounded constraint set", PV_KIND_set, PV_COMPACT },
    { PV_LMO, "a constraint set with a linear oracle", PV_KIND_set, PV_LMO },
    { PV_HESSIAN, "a loss with a Hessian", PV_KIND_COUNT, 0 },
    { PV_BLOCKS, "a network of dense layers and relu", PV_KIND_model, PV_DENSE },
    { ~0u, "something this loss, penalty or set does not have", PV_KIND_COUNT, 0 },
};

static pv_status fail_missing(const pvi_job *j, uint32_t missing)
{
    const struct missing *m = missing_words;
    while (!(m->what & missing)) m++;
    const bool named = m->kind != PV_KIND_COUNT;
    return pvi_fail(j->ctx, PV_E_UNSUPPORTED, "optimizer=%s needs %s%s%s%s%s", j->opt->head.name, m->words,
                    named ? ": " : "", named ? pv_kind_name(m->kind) : "", named ? "=" : "",
                    named ? pv_names_with(m->kind, m->with).text : "");
}

static pv_status no_units(const pvi_job *j)
{
    char list[256] = "";
    const pv_model_ops *m;
    for (int64_t i = 0; (m = (const pv_model_ops *)(const void *)pv_nth(PV_KIND_model, i)); i++) {
        const size_t n = strlen(list);
        if (m->props & PV_UNITS)
            snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "",
                     m->props & PV_OF_LOSSES ? "every loss" : m->head.name);
    }
    return pvi_fail(j->ctx, PV_E_UNSUPPORTED, "model=%s does not take persons of several rows: %s%s",
                    j->model.named->name, *list ? "these do: " : "no model does yet", list);
}

/* Some model that takes units of several rows has what the optimiser needs. */
static bool model_for_units(uint32_t needs)
{
    const pv_model_ops *m;
    for (int64_t i = 0; (m = (const pv_model_ops *)(const void *)pv_nth(PV_KIND_model, i)); i++)
        if (m->props & PV_UNITS && !(needs & PV_BLOCKS & ~m->props)) return true;
    return false;
}

static bool takes_units(const pv_optimizer_ops *opt)
{
    for (int k = 0; k < PV_MOST_ASKS && opt->ask[k].query; k++) {
        const pvi_release_kind *kind = pvi_kind_of(&opt->ask[k]);
        if (!kind || !pvi_kind_takes_units(kind)) return false;
    }
    return model_for_units(opt->needs);
}

static pv_status no_proof_for_units(const pvi_job *j)
{
    char list[256] = "";
    const pv_plugin *h;
    for (int64_t i = 0; (h = pv_nth(PV_KIND_optimizer, i)); i++) {
        const size_t n = strlen(list);
        if (takes_units((const pv_optimizer_ops *)(const void *)h))
            snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", h->name);
    }
    return pvi_fail(j->ctx, PV_E_UNSUPPORTED, "optimizer=%s has no proof for persons of several rows; these have: %s",
                    j->opt->head.name, list);
}

/* Persons who own several rows. */
static pv_status check_units(const pvi_job *j)
{
    if (!j->dom.unit_rows && (j->plan->s.unit_combine != PV_UNIT_MEAN || j->plan->s.unit_weight != PV_UNIT_ONE))
        return pvi_fail(j->ctx, PV_E_PARAM,
                        "unit.combine and unit.weight are for rows that persons own: a column of \"type\": "
                        "\"person\", data.person or data.person_file says whose they are");
    if (!j->dom.unit_rows) return PV_OK;
    if (!(j->model.ops->props & PV_UNITS)) return no_units(j);
    if (!takes_units(j->opt)) return no_proof_for_units(j);
    if (j->opt->needs & PV_HESSIAN && j->model.ops->hess && !(j->model.ops->hess->props & PV_UNITS))
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "optimizer=%s needs second derivatives, which model=%s has of rows, not of persons: use "
                        "optimizer=%s",
                        j->opt->head.name, j->model.named->name, pvi_plain_optimizer(j)->head.name);
    if (j->plan->s.diagnostics)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "run.diagnostics measures rows, and counts them: where persons own them, leave it out");
    return PV_OK;
}

/* What it asks first is bounded where each number of a row is, and the row's length is not. */
static bool takes_max_norm(const pv_plugin *h, uint32_t of)
{
    const pv_ask_row *ask = ((const pv_optimizer_ops *)(const void *)h)->ask;
    (void)of;
    return ask[0].mech->norm != PV_L2 || ask[0].query->counts;
}

static pv_status check_needs(pvi_job *j)
{
    const pv_mechanism_ops *mech = j->opt->ask[0].mech;
    const uint32_t missing = j->opt->needs & ~j->prob.props & ~(uint32_t)PV_PROX;
    const pv_words lacks = mech->lacks ? mech->lacks(&j->prob) : (pv_words) { "" };
    if (j->dom.max_norm && !takes_max_norm(&j->opt->head, 0))
        return pvi_fail(
            j->ctx, PV_E_UNSUPPORTED,
            "optimizer=%s releases gradients, whose length data.norm=max does not bound: use data.norm=clip, "
            "or optimizer=%s",
            j->opt->head.name, pv_names_where(PV_KIND_optimizer, takes_max_norm, 0).text);
    if (j->private_run && !(mech->relations & 1u << j->prob.relation))
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "optimizer=%s has a proof for replacing a row only: add --relation replace",
                        j->opt->head.name);
    if (*lacks.text)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED, "optimizer=%s needs %s", j->opt->head.name, lacks.text);
    if (missing) return fail_missing(j, missing);
    j->prob.reg_layers = &j->plan->s.reg_layers;
    const pv_status s = pvi_penalty_check(&j->prob, j->prob.reg_layers);
    return s == PV_OK && j->opt->needs & PV_PROX ? pvi_prox_check(j->ctx, j->prob.reg, j->prob.set) : s;
}

/* model=auto is by the labels, and they are declared. */
static void note_model(const pvi_job *j, int64_t classes)
{
    if (!pvi_model_is_auto(j->plan)) return;
    if (classes == 0) pvi_log(j->ctx, PV_LOG_NOTE, "model = %s: the label is a number", j->model.named->name);
    else
        pvi_log(j->ctx, PV_LOG_NOTE, "model = %s: the label has %lld classes", j->model.named->name,
                (long long)(classes < 0 ? 2 : classes));
}

static pv_status fill(pvi_job *j, const pvi_matrix *m)
{
    int64_t classes;
    pv_status s = pvi_job_classes(j, m, &classes);
    if (s == PV_OK) s = pvi_job_choose(j, classes);
    if (s == PV_OK) note_model(j, classes);
    if (s == PV_OK) s = pvi_job_shape(j, m);
    j->prob.relation = j->plan->s.relation == 0 ? PV_REL_ZERO_OUT : PV_REL_REPLACE;
    if (s == PV_OK) s = pvi_job_budget(j);
    if (s == PV_OK) s = pvi_job_choose_optimizer(j);
    if (s == PV_OK) s = check_units(j); /* first: no relation helps where no proof is */
    if (s == PV_OK) s = check_needs(j);
    if (s == PV_OK) s = pvi_job_releases(j);
    if (s == PV_OK) s = pvi_job_noise(j);
    if (s == PV_OK) pvi_outlook_log(j);
    return s;
}

pv_status pvi_job_create(pv_plan *plan, const pvi_matrix *m, pvi_job **out)
{
    *out = NULL;
    pvi_job *j = pvi_alloc(plan->ctx, sizeof *j);
    if (!j) return pvi_nomem(plan->ctx);
    j->ctx = plan->ctx;
    j->plan = plan;
    j->private_run = plan->s.privacy == PVI_PRIVACY_ON;
    j->arena = pvi_arena_create(plan->ctx);
    const pv_status s = j->arena ? fill(j, m) : pvi_nomem(plan->ctx);
    if (s != PV_OK) {
        pvi_job_free(j);
        return s;
    }
    *out = j;
    return PV_OK;
}

void pvi_job_free(pvi_job *j)
{
    if (!j) return;
    pvi_arena_free(j->arena);
    pvi_free(j->ctx, j);
}
