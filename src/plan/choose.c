/* choose.c - which plug-ins the settings name: model, penalty, set, optimiser, mechanism. */
#include "plan/job.h"

/* ---- plug-ins by name --------------------------------------------------------------------------- */

typedef struct choices {
    const char *names[128];
    int64_t n;
    char all[1024]; /* with commas */
} choices;

static const pv_model_ops *model_of(const pv_plugin *h)
{
    return (const pv_model_ops *)(const void *)h;
}

static void add_choices(pv_kind kind, choices *c)
{
    const pv_plugin *h;
    for (int64_t i = 0; c->n < 128 && (h = pv_nth(kind, i)); i++) {
        if (kind == PV_KIND_model && model_of(h)->props & PV_OF_LOSSES) continue;
        c->names[c->n++] = h->name;
        const size_t used = strlen(c->all);
        snprintf(c->all + used, sizeof c->all - used, "%s%s", used ? ", " : "", h->name);
    }
}

static pv_status find_plugin(pv_ctx *ctx, pv_kind kind, const char *key, const char *name, const pv_plugin **out)
{
    choices c = { .n = 0 };
    const bool model = kind == PV_KIND_loss; /* model= names a loss or a model of its own */
    const char *const what = model ? "model" : pv_kind_name(kind);
    *out = pv_find(kind, name);
    if (*out) return PV_OK;
    add_choices(kind, &c);
    if (model) add_choices(PV_KIND_model, &c);
    const char *near = pvi_nearest(name, c.names, c.n);
    if (near) return pvi_fail(ctx, PV_E_PARAM, "%s=%s: no such %s, did you mean %s?", key, name, what, near);
    return pvi_fail(ctx, PV_E_PARAM, "%s=%s: no such %s, there is %s", key, name, what, c.all);
}

static bool has_layers(const pv_plugin *h, uint32_t of)
{
    (void)of;
    return pvi_param_find(h->params, "layers") != NULL;
}

/* model=cnn:conv16x3,... is short for model=cnn model.layers=conv16x3,... */
static pv_status set_layers(pv_plan *plan, pv_arena *a, const pvi_model_choice *m, const char *layers)
{
    if (!pvi_param_find(m->named->params, "layers"))
        return pvi_fail(plan->ctx, PV_E_PARAM, "model=%s: %s takes no layers; with layers there is %s", plan->s.model,
                        m->named->name, pv_names_where(PV_KIND_model, has_layers, 0).text);
    return pvi_param_set(plan->ctx, a, "model.", m->named->params, m->named_cfg, "layers", layers);
}

bool pvi_model_is_auto(const pv_plan *plan)
{
    return strcmp(plan->s.model, "auto") == 0;
}

/* The first loss or model with these properties; NULL: none. */
static const pv_plugin *model_with(uint32_t props)
{
    const pv_plugin *h;
    for (int64_t i = 0; (h = pv_nth(PV_KIND_loss, i)); i++)
        if ((((const pv_loss_ops *)(const void *)h)->props & props) == props) return h;
    for (int64_t i = 0; (h = pv_nth(PV_KIND_model, i)); i++)
        if ((model_of(h)->props & props) == props) return h;
    return NULL;
}

/* An optimiser that needs blocks trains a network that has them, where none was named or just a dense one. */
static const char *trained_instead(const pv_plan *plan, const char *name)
{
    const pv_optimizer_ops *o = (const pv_optimizer_ops *)(const void *)pv_find(PV_KIND_optimizer, plan->s.optimizer);
    const pv_plugin *named = pv_find(PV_KIND_model, name), *blocks = model_with(PV_BLOCKS);
    if (!o || !(o->needs & PV_BLOCKS) || !blocks) return name;
    return pvi_model_is_auto(plan) || (named && model_of(named)->props & PV_DENSE) ? blocks->name : name;
}

/* Is there a row for each of the model's settings that were given? */
static bool takes_settings(const pv_plan *plan, const pv_plugin *h)
{
    for (const pvi_pair *p = plan->pairs; p; p = p->next)
        if (strncmp(p->key, "model.", 6) == 0 && !pvi_param_find(h->params, p->key + 6)) return false;
    return true;
}

/* Labels decide, and they are declared; among losses for the same labels, the settings given. */
static const char *auto_model(const pv_plan *plan, int64_t classes)
{
    const uint32_t props = classes == 0 ? PV_FOR_NUMBERS : classes > 2 ? PV_FOR_MANY : PV_FOR_TWO;
    const pv_plugin *h, *first = model_with(props);
    for (int64_t i = 0; (h = pv_nth(PV_KIND_loss, i)); i++)
        if (((const pv_loss_ops *)(const void *)h)->props & props && takes_settings(plan, h)) return h->name;
    return first ? first->name : "auto";
}

/* `name` as model= would give it: MODEL or MODEL:LAYERS. */
static pv_status choose_named(pv_plan *plan, const char *name, pv_arena *a, pvi_model_choice *out)
{
    const char *const colon = strchr(name, ':');
    pv_status s;

    memset(out, 0, sizeof *out);
    if (colon && !(name = pvi_arena_strdup(a, name, (size_t)(colon - name)))) return pvi_nomem(plan->ctx);
    name = trained_instead(plan, name);
    const pv_plugin *loss = pv_find(PV_KIND_loss, name), *model = pv_find(PV_KIND_model, name);
    if (model && model_of(model)->props & PV_OF_LOSSES)
        return pvi_fail(plan->ctx, PV_E_PARAM, "model=%s: name the loss instead, for example model=%s", name,
                        auto_model(plan, 2));
    if (!loss && !model && (s = find_plugin(plan->ctx, PV_KIND_loss, "model", name, &loss)) != PV_OK) return s;
    out->named = loss ? loss : model;
    if ((s = pvi_plugin_cfg(plan, a, "model.", out->named, &out->named_cfg)) != PV_OK) return s;
    if (colon && (s = set_layers(plan, a, out, colon + 1)) != PV_OK) return s;
    if (!loss) {
        out->ops = (const pv_model_ops *)model;
        out->cfg = out->named_cfg;
        return PV_OK;
    }
    pvi_glm_cfg *g = pv_arena_get(a, sizeof *g);
    if (!g) return pvi_nomem(plan->ctx);
    out->loss = g->loss = (const pv_loss_ops *)loss;
    g->loss_cfg = out->named_cfg;
    const pv_plugin *by_losses = model_with(PV_OF_LOSSES);
    out->ops = by_losses ? model_of(by_losses) : NULL;
    out->cfg = g;
    return out->ops ? PV_OK : pvi_fail(plan->ctx, PV_E_INTERNAL, "no model takes losses");
}

pv_status pvi_model_choose(pv_plan *plan, int64_t classes, pv_arena *a, pvi_model_choice *out)
{
    return choose_named(plan, pvi_model_is_auto(plan) ? auto_model(plan, classes) : plan->s.model, a, out);
}

uint32_t pvi_model_props(const pvi_model_choice *m)
{
    return m->loss ? m->loss->props : m->ops->props;
}

pvi_expect pvi_model_expect(const pvi_model_choice *m)
{
    pvi_expect e = { .classes = 0, .y_lo = -INFINITY, .y_hi = INFINITY };
    if (pvi_model_props(m) & PV_CLASSIFY) e.classes = m->loss ? 2 : -1;
    if (pvi_model_props(m) & PV_ANY_LABEL) e.classes = -1;
    e.pixels = (pvi_model_props(m) & PV_PIXELS) != 0;
    return e;
}

pvi_expect pvi_auto_expect(const pv_plan *plan)
{
    const bool real = !isnan(plan->s.data.y_min) || !isnan(plan->s.data.y_max);
    return (pvi_expect) { .classes = real ? 0 : -1, .y_lo = -INFINITY, .y_hi = INFINITY };
}

void pvi_plan_curves(const pv_plan *plan, pvi_expect *e)
{
    const char *named = plan->s.model;
    const pv_plugin *model = pv_find(PV_KIND_model, named);
    const pv_optimizer_ops *optimizer =
        (const pv_optimizer_ops *)(const void *)pv_find(PV_KIND_optimizer, plan->s.optimizer);
    const bool network =
        (model && model_of(model)->props & PV_NETWORK) || strchr(named, ':') || trained_instead(plan, named) != named;
    e->curves = network ? PVI_CURVES_NONE : PVI_CURVES_FIT;
    e->curves_asked = optimizer && optimizer->needs & PV_HESSIAN; /* whose cost is that of weights squared */
    e->whole = optimizer && optimizer->ask[0].query->evaluate;
    e->small_clip = pvi_auto_formulas(plan);
    const bool by_rows = plan->s.unit_weight == PV_UNIT_ROWS || plan->s.data.person_rows_share > 0.0;
    e->may_pay = e->small_clip && !by_rows && isnan(plan->s.noise_multiplier) && isnan(plan->s.holdout_share);
    e->epsilon = plan->s.privacy == PVI_PRIVACY_ON ? plan->s.epsilon : INFINITY;
}

pv_status pvi_plan_expect(pv_plan *plan, pvi_expect *out)
{
    pvi_model_choice choice;
    pv_status s = PV_OK;
    *out = pvi_auto_expect(plan);
    if (!pvi_model_is_auto(plan)) {
        pv_arena *a = pvi_arena_create(plan->ctx);
        if (!a) return pvi_nomem(plan->ctx);
        s = choose_named(plan, plan->s.model, a, &choice);
        if (s == PV_OK) *out = pvi_model_expect(&choice);
        pvi_arena_free(a);
    }
    out->persons = true;
    out->keep_persons = plan->s.holdout || plan->s.apart;
    pvi_plan_curves(plan, out);
    out->seed = plan->s.seed;
    return s;
}

/* ---- penalty, set, optimiser ----------------------------------------------------------------------------------- */

/* Settings of a set that is not there. */
static pv_status refuse_orphans(const pv_plan *plan)
{
    for (const pvi_pair *p = plan->pairs; p; p = p->next)
        if (strncmp(p->key, "set.", 4) == 0)
            return pvi_fail(plan->ctx, PV_E_PARAM, "%s: there is no set; add set=%s, or another of `privet list set`",
                            p->key, pv_nth(PV_KIND_set, 0)->name);
    return PV_OK;
}

static pv_status choose_reg_and_set(pvi_job *j)
{
    pv_plan *plan = j->plan;
    const pv_plugin *head;
    void *cfg;
    pv_status s;

    if (pv_find(PV_KIND_set, plan->s.reg) && !pv_find(PV_KIND_reg, plan->s.reg))
        return pvi_fail(j->ctx, PV_E_PARAM, "reg=%s: that is a constraint set, write set=%s", plan->s.reg,
                        plan->s.reg);
    if ((s = find_plugin(j->ctx, PV_KIND_reg, "reg", plan->s.reg, &head)) != PV_OK) return s;
    if ((s = pvi_plugin_cfg(plan, j->arena, "reg.", head, &cfg)) != PV_OK) return s;
    j->prob.reg = (const pv_reg_ops *)head;
    j->prob.reg_cfg = cfg;
    if (strcmp(plan->s.set, "none") != 0) {
        if ((s = find_plugin(j->ctx, PV_KIND_set, "set", plan->s.set, &head)) != PV_OK) return s;
        if ((s = pvi_plugin_cfg(plan, j->arena, "set.", head, &cfg)) != PV_OK) return s;
        j->prob.set = (const pv_set_ops *)head;
        j->prob.set_cfg = cfg;
        return PV_OK;
    }
    return refuse_orphans(plan);
}

static pv_status choose_optimizer(pvi_job *j)
{
    const pv_plugin *head;
    const char *named = j->plan->s.optimizer;
    j->auto_batch = NAN;
    if (strcmp(named, "auto") == 0) return pvi_auto_optimizer(j);
    const pv_status s = find_plugin(j->ctx, PV_KIND_optimizer, "optimizer", named, &head);
    if (s != PV_OK) return s;
    j->opt = (const pv_optimizer_ops *)head;
    if (j->opt->released && !j->plan->given)
        return pvi_fail(j->ctx, PV_E_PARAM,
                        "optimizer=%s trains nothing: privet eval MODEL DATA --epsilon E evaluates", named);
    return pvi_plugin_cfg(j->plan, j->arena, "optimizer.", head, &j->opt_cfg);
}

/* An optimiser's proof is for one mechanism. */
static pv_status check_mechanism(const pvi_job *j)
{
    const char *need = j->opt->ask[0].mech->head.name, *named = j->plan->s.mechanism;
    const pv_plugin *head;
    if (strcmp(named, "auto") == 0 || strcmp(named, need) == 0) return PV_OK;
    const pv_status s = find_plugin(j->ctx, PV_KIND_mechanism, "mechanism", named, &head);
    return s != PV_OK
               ? s
               : pvi_fail(j->ctx, PV_E_UNSUPPORTED, "mechanism=%s: the proof of optimizer=%s is for mechanism=%s",
                          named, j->opt->head.name, need);
}

pv_status pvi_job_choose(pvi_job *j, int64_t classes)
{
    pv_status s = pvi_model_choose(j->plan, classes, j->arena, &j->model);
    if (s == PV_OK) s = choose_reg_and_set(j);
    return s == PV_OK ? pvi_plan_accountant(j->plan, j->arena, &j->accountant) : s;
}

pv_status pvi_job_choose_optimizer(pvi_job *j)
{
    const pv_status s = choose_optimizer(j);
    return s == PV_OK ? check_mechanism(j) : s;
}
