/* plan.c - from settings to a checked job: which plug-ins, how much noise, at what cost.
 *
 * No row is looked at here.  n and d come from the loaded matrix's shape or from data.rows and
 * data.features; everything else is declared. */
#include "opt/opt.h"
#include "plan/job.h"

/* ---- plug-ins by name --------------------------------------------------------------------------- */

typedef struct choices {
    const char *names[128];
    int64_t n;
    char all[1024]; /* with commas */
} choices;

static void add_choices(pv_kind kind, choices *c)
{
    const pv_plugin *h;
    for (int64_t i = 0; c->n < 128 && (h = pv_nth(kind, i)); i++) {
        if (kind == PV_KIND_model && strcmp(h->name, "glm") == 0) continue; /* goes by the name of its link */
        c->names[c->n++] = h->name;
        const size_t used = strlen(c->all);
        snprintf(c->all + used, sizeof c->all - used, "%s%s", used ? ", " : "", h->name);
    }
}

static pv_status find_plugin(pv_ctx *ctx, pv_kind kind, const char *key, const char *name, const pv_plugin **out)
{
    choices c = { .n = 0 };
    const bool model = kind == PV_KIND_link; /* model= names a link or a model of its own */
    const char *const what = model ? "model" : pv_kind_name(kind);
    *out = pv_find(kind, name);
    if (*out) return PV_OK;
    add_choices(kind, &c);
    if (model) add_choices(PV_KIND_model, &c);
    const char *near = pvi_nearest(name, c.names, c.n);
    if (near) return pvi_fail(ctx, PV_E_PARAM, "%s=%s: no such %s, did you mean %s?", key, name, what, near);
    return pvi_fail(ctx, PV_E_PARAM, "%s=%s: no such %s, there is %s", key, name, what, c.all);
}

/* model=cnn:conv16x3,... is short for model=cnn model.layers=conv16x3,... */
static pv_status set_layers(pv_plan *plan, pv_arena *a, const pvi_model_choice *m, const char *layers)
{
    if (!pvi_param_find(m->named->params, "layers"))
        return pvi_fail(plan->ctx, PV_E_PARAM, "model=%s: %s takes no layers, mlp and cnn do", plan->s.model,
                        m->named->name);
    return pvi_param_set(plan->ctx, a, "model.", m->named->params, m->named_cfg, "layers", layers);
}

bool pvi_model_is_auto(const pv_plan *plan)
{
    return strcmp(plan->s.model, "auto") == 0;
}

/* The model an optimiser is made for, where none was named or just a network. */
static const char *trained_instead(const pv_plan *plan, const char *name)
{
    const pv_optimizer_ops *o = (const pv_optimizer_ops *)(const void *)pv_find(PV_KIND_optimizer, plan->s.optimizer);
    return o && o->model && (pvi_model_is_auto(plan) || strcmp(name, "mlp") == 0) ? o->model : name;
}

/* Labels decide, and they are declared. */
static const char *auto_model(int64_t classes)
{
    return classes == 0 ? "squared" : classes > 2 ? "softmax" : "logistic";
}

pv_status pvi_model_choose(pv_plan *plan, int64_t classes, pv_arena *a, pvi_model_choice *out)
{
    const char *colon = strchr(plan->s.model, ':'),
               *name = pvi_model_is_auto(plan) ? auto_model(classes) : plan->s.model;
    pv_status s;

    memset(out, 0, sizeof *out);
    if (colon && !(name = pvi_arena_strdup(a, plan->s.model, (size_t)(colon - plan->s.model))))
        return pvi_nomem(plan->ctx);
    name = trained_instead(plan, name);
    const pv_plugin *link = pv_find(PV_KIND_link, name), *model = pv_find(PV_KIND_model, name);
    if (model && strcmp(name, "glm") == 0)
        return pvi_fail(plan->ctx, PV_E_PARAM, "model=glm: name the loss instead, for example model=logistic");
    if (!link && !model && (s = find_plugin(plan->ctx, PV_KIND_link, "model", name, &link)) != PV_OK) return s;
    out->named = link ? link : model;
    if ((s = pvi_plugin_cfg(plan, a, "model.", out->named, &out->named_cfg)) != PV_OK) return s;
    if (colon && (s = set_layers(plan, a, out, colon + 1)) != PV_OK) return s;
    if (!link) {
        out->ops = (const pv_model_ops *)model;
        out->cfg = out->named_cfg;
        return PV_OK;
    }
    pvi_glm_cfg *g = pv_arena_get(a, sizeof *g);
    if (!g) return pvi_nomem(plan->ctx);
    out->link = g->link = (const pv_link_ops *)link;
    g->link_cfg = out->named_cfg;
    out->ops = (const pv_model_ops *)pv_find(PV_KIND_model, "glm");
    out->cfg = g;
    return out->ops ? PV_OK : pvi_fail(plan->ctx, PV_E_INTERNAL, "no glm model registered");
}

static uint32_t model_props(const pvi_model_choice *m)
{
    return m->link ? m->link->props : m->ops->props;
}

pvi_expect pvi_model_expect(const pvi_model_choice *m)
{
    pvi_expect e = { .classes = 0, .y_lo = -INFINITY, .y_hi = INFINITY };
    if (model_props(m) & PV_CLASSIFY) e.classes = m->link ? 2 : -1;
    if (model_props(m) & PV_ANY_LABEL) e.classes = -1;
    e.pixels = (model_props(m) & PV_PIXELS) != 0;
    return e;
}

pvi_expect pvi_auto_expect(const pv_plan *plan)
{
    const bool real = !isnan(plan->s.data.y_min) || !isnan(plan->s.data.y_max);
    return (pvi_expect) { .classes = real ? 0 : -1, .y_lo = -INFINITY, .y_hi = INFINITY };
}

/* How many classes the declaration has, for model=auto; 0: numbers. */
static pv_status declared_classes(pvi_job *j, const pvi_matrix *m, int64_t *classes)
{
    const pvi_data_cfg *c = &j->plan->s.data;
    pvi_expect labels = pvi_auto_expect(j->plan);
    int64_t features;
    pv_status s = PV_OK;
    *classes = m ? m->domain.classes : labels.classes;
    if (m || !pvi_model_is_auto(j->plan)) return PV_OK;
    if (labels.classes != 0 && (s = pvi_schema_shape(j->ctx, c, &features, &labels)) == PV_OK)
        *classes = labels.classes;
    return s;
}

static pv_status choose_model(pvi_job *j, const pvi_matrix *m)
{
    int64_t classes;
    pv_status s = declared_classes(j, m, &classes);
    if (s == PV_OK) s = pvi_model_choose(j->plan, classes, j->arena, &j->model);
    if (s != PV_OK || !pvi_model_is_auto(j->plan)) return s;
    if (classes == 0) pvi_log(j->ctx, PV_LOG_NOTE, "model = %s: the label is a number", j->model.named->name);
    else
        pvi_log(j->ctx, PV_LOG_NOTE, "model = %s: the label has %lld classes", j->model.named->name,
                (long long)(classes < 0 ? 2 : classes));
    return PV_OK;
}

/* Settings of a set that is not there. */
static pv_status refuse_orphans(const pv_plan *plan)
{
    for (const pvi_pair *p = plan->pairs; p; p = p->next)
        if (strncmp(p->key, "set.", 4) == 0)
            return pvi_fail(plan->ctx, PV_E_PARAM,
                            "%s: there is no set; add set=l2ball, or another of `privet list set`", p->key);
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

static pv_status open_set(pvi_job *j)
{
    if (!j->prob.set) return PV_OK;
    void *st = pv_arena_get(j->arena, j->prob.set->head.state_size);
    if (!st) return pvi_nomem(j->ctx);
    j->prob.set_st = st;
    return j->prob.set->open ? j->prob.set->open(st, j->prob.set_cfg, j->prob.d, j->ctx, j->arena) : PV_OK;
}

static pv_status choose_optimizer(pvi_job *j)
{
    const pv_plugin *head;
    const char *named = j->plan->s.optimizer;
    if (strcmp(named, "auto") == 0)
        named = j->model.ops->props & PV_BLOCKS ? "sbcd" : j->model.ops->start ? "sgd" : "pgd";
    pv_status s = find_plugin(j->ctx, PV_KIND_optimizer, "optimizer", named, &head);
    if (s != PV_OK) return s;
    j->opt = (const pv_optimizer_ops *)head;
    return pvi_plugin_cfg(j->plan, j->arena, "optimizer.", head, &j->opt_cfg);
}

/* An optimiser's proof is for one mechanism. */
static pv_status choose_mechanism(pvi_job *j)
{
    const char *need = j->opt->ball ? "ball" : j->opt->selects ? "select" : "gaussian", *named = j->plan->s.mechanism;
    const pv_plugin *head;
    pv_status s =
        find_plugin(j->ctx, PV_KIND_mechanism, "mechanism", strcmp(named, "auto") == 0 ? need : named, &head);
    if (s != PV_OK) return s;
    if (strcmp(head->name, need) != 0)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED, "mechanism=%s: the proof of optimizer=%s is for mechanism=%s",
                        named, j->opt->head.name, need);
    j->mech = (const pv_mechanism_ops *)head;
    return PV_OK;
}

/* ---- the shape of the problem ------------------------------------------------------------------------ */

static pv_status shape_from_settings(pvi_job *j)
{
    const pvi_data_cfg *c = &j->plan->s.data;
    pvi_expect labels = pvi_model_expect(&j->model);
    int64_t features = c->features;

    if (c->schema || (c->labels && strchr(c->labels, ','))) { /* without a comma it names a file of labels */
        const pv_status s = pvi_schema_shape(j->ctx, c, &features, &labels);
        if (s != PV_OK) return s;
    } else if (labels.classes == 0) {
        labels.y_lo = isnan(c->y_min) ? labels.y_lo : c->y_min;
        labels.y_hi = isnan(c->y_max) ? labels.y_hi : c->y_max;
        if (!(labels.y_lo < labels.y_hi))
            return pvi_fail(j->ctx, PV_E_PARAM,
                            "data.y_min=%g data.y_max=%g: the lower bound must be below the upper", labels.y_lo,
                            labels.y_hi);
    } else if (labels.classes < 0 && !pvi_model_is_auto(j->plan)) {
        pvi_log(j->ctx, PV_LOG_NOTE, "two classes are assumed; data.labels=a,b,c or a schema declares more");
    }
    pvi_shape image;
    const pv_status bad = pvi_image_parse(j->ctx, c->image, &image);
    if (bad != PV_OK) return bad;
    if (c->transform) {
        const pv_status s = pvi_scatter_shape(j->ctx, c, image, &image);
        if (s != PV_OK) return s;
        features = PV_AUTO_I64; /* those of the file; the model's follow from the image */
    }
    if (image.height && features == PV_AUTO_I64) features = image.height * image.width * image.channels;
    if (c->rows == PV_AUTO_I64)
        return pvi_fail(j->ctx, PV_E_PARAM, "how many rows are there? name the data, or say --rows N");
    if (features == PV_AUTO_I64)
        return pvi_fail(j->ctx, PV_E_PARAM,
                        "with --rows planning reads no data: say how many features there are (--features P), "
                        "or give the schema (--schema FILE)");
    j->dom = (pv_domain) { .n = c->rows,
                           .p = features + (c->bias != 0.0),
                           .row_norm = c->row_norm,
                           .max_norm = c->norm == PVI_NORM_MAX,
                           .classes = labels.classes < 0 ? 2 : labels.classes,
                           .y_lo = labels.y_lo,
                           .y_hi = labels.y_hi,
                           .height = image.height,
                           .width = image.width,
                           .channels = image.channels };
    return PV_OK;
}

static pv_status check_labels(pvi_job *j)
{
    const bool classify = model_props(&j->model) & PV_CLASSIFY;
    if (model_props(&j->model) & PV_ANY_LABEL) return PV_OK;
    if (classify && j->dom.classes == 0)
        return pvi_fail(j->ctx, PV_E_PARAM,
                        "model=%s needs classes as labels, and the labels are numbers: "
                        "use model=squared, or declare the classes",
                        j->model.named->name);
    if (!classify && j->dom.classes != 0)
        return pvi_fail(j->ctx, PV_E_PARAM,
                        "model=%s needs numbers as labels, and the labels are classes: use model=logistic",
                        j->model.named->name);
    if (j->model.link && classify && j->dom.classes != 2)
        return pvi_fail(j->ctx, PV_E_PARAM,
                        "model=%s separates two classes, the data declares %lld: use model=softmax",
                        j->model.named->name, (long long)j->dom.classes);
    return PV_OK;
}

/* The number of weights, what they start from and which tensors they form. */
static pv_status open_model(pvi_job *j)
{
    const pv_model_ops *m = j->model.ops;
    const pv_status s = m->open ? m->open(j->model.cfg, &j->dom, j->ctx) : PV_OK;
    if (s != PV_OK) return s;
    j->prob.d = m->dim(j->model.cfg, &j->dom);
    if (m->start) {
        double *w = pv_arena_f64(j->arena, j->prob.d);
        if (!w) return pvi_nomem(j->ctx);
        m->start(j->model.cfg, &j->dom, w);
        j->prob.start = w;
    }
    if (m->tensors) {
        j->prob.tensors = m->tensors(j->model.cfg, &j->dom, NULL);
        int64_t *sizes = pv_arena_get(j->arena, sizeof *sizes * (size_t)j->prob.tensors);
        if (!sizes) return pvi_nomem(j->ctx);
        m->tensors(j->model.cfg, &j->dom, sizes);
        j->prob.tensor = sizes;
    }
    return PV_OK;
}

/* A theorem is about the loss as it is, and about the constants it names. */
static bool by_the_paper(const pvi_job *j)
{
    for (const pvi_pair *p = j->plan->pairs; p; p = p->next)
        if (strcmp(p->key, "optimizer.calibration") == 0) return strcmp(p->value, "paper") == 0;
    return false;
}

static double default_clip(const pvi_job *j)
{
    const bool may_cut = model_props(&j->model) & PV_CLASSIFY && !j->opt->ball && !j->opt->selects &&
                         !j->opt->joint && !by_the_paper(j);
    return may_cut ? pvi_default_clip(&j->prob) : j->prob.bound;
}

static pv_status set_clip(pvi_job *j)
{
    double G, L, clip = j->plan->s.clip;
    j->model.ops->constants(j->model.cfg, &j->dom, &G, &L);
    j->prob.bound = G;
    j->prob.L = L;
    if (isnan(clip) && isfinite(G)) clip = default_clip(j);
    if (isnan(clip) && j->model.ops->clip > 0.0) clip = j->model.ops->clip;
    if (isnan(clip) && !j->private_run) clip = 1e6; /* only the grid needs some bound */
    if (isnan(clip)) { /* a loss without a bound of its own: the gradient at w = 0 is at most |y| R */
        const double y = fmax(fabs(j->dom.y_lo), fabs(j->dom.y_hi));
        if (!isfinite(y) || !(y > 0.0))
            return pvi_fail(j->ctx, PV_E_PARAM,
                            "model=%s has no gradient bound of its own: set clip=C, "
                            "or declare bounds for the label (data.y_min, data.y_max, or a schema)",
                            j->model.named->name);
        clip = y * j->dom.row_norm;
        pvi_log(j->ctx, PV_LOG_NOTE, "clip = %g: the largest gradient at the start, from the label's declared bounds",
                clip);
    }
    if (!(clip >= PVI_CLIP_MIN && clip <= PVI_CLIP_MAX))
        return pvi_fail(j->ctx, PV_E_PARAM, "clip = %g: gradients are clipped between 1e-18 and 1e18", clip);
    j->prob.G = fmin(clip, G);
    return PV_OK;
}

/* The closed list of samplers; the choice decides the event (query_event). */
static pv_status pick_sampler(pvi_job *j)
{
    static const pvi_sampler kinds[] = { PVI_FULL_BATCH, PVI_FULL_BATCH, PVI_POISSON, PVI_FIXED_SIZE, PVI_CYCLIC };
    const pvi_settings *s = &j->plan->s;

    j->sampler = s->sampler == 0 && j->opt->stochastic ? PVI_POISSON : kinds[s->sampler];
    if (j->opt->ball && s->sampler == 0 && isnan(s->batch)) return j->sampler = PVI_FIXED_SIZE, PV_OK;
    if (j->opt->ball)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "optimizer=%s draws one row per step: leave sampler and sampler.batch out",
                        j->opt->head.name);
    if (j->opt->selects && j->sampler != PVI_FULL_BATCH)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "optimizer=%s looks at every row for each choice: leave the sampler out", j->opt->head.name);
    if (j->sampler == PVI_FULL_BATCH && !isnan(s->batch))
        return pvi_fail(j->ctx, PV_E_PARAM, "sampler.batch needs a sampler that draws batches: add sampler=poisson");
    return PV_OK;
}

/* A Hessian is worth a larger sample: its release has d^2/2 coordinates, and few of them are made. */
static double default_batch(const pvi_job *j)
{
    const double n = (double)j->dom.n, share = j->opt->joint ? 10.0 : 20.0, most = j->opt->joint ? n : 16384.0;
    return fmin(n, fmin(fmax(ceil(n / share), 512.0), most));
}

static pv_status set_sampler(pvi_job *j)
{
    const double n = (double)j->dom.n;
    double batch = j->plan->s.batch;

    const pv_status s = pick_sampler(j);
    if (s != PV_OK) return s;
    if (j->opt->ball) batch = 1.0;
    if (isnan(batch)) batch = j->sampler == PVI_FULL_BATCH ? n : default_batch(j);
    if (batch > n)
        return pvi_fail(j->ctx, PV_E_PARAM, "sampler.batch=%g is more than the %lld rows there are", batch,
                        (long long)j->dom.n);
    if (j->sampler == PVI_FIXED_SIZE) batch = floor(batch);
    if (j->sampler == PVI_CYCLIC)
        batch = n / fmin(fmax(1.0, rint(n / batch)), n); /* parts of equal size, or nearly */
    if (batch == n) j->sampler = PVI_FULL_BATCH;         /* every row, whatever the sampler */
    j->rate = batch / n;
    j->prob.batch = batch;
    j->group_rows = j->opt->joint ? PVI_JOINT_GROUP : PVI_FULL_GROUP;
    /* A group of a sample spans enough positions for 32 (96) sampled rows on average; more than pvi_most_rows
     * rows in one group then has a probability below 1e-35, and the oracle splits even that. */
    if (j->sampler == PVI_CYCLIC && !j->opt->joint) j->group_rows = PVI_SAMPLED_GROUP; /* consecutive: never more */
    if (j->sampler != PVI_CYCLIC && j->rate < 0.5)
        j->group_rows = (int64_t)floor((j->opt->joint ? 96.0 : 32.0) / j->rate);
    return PV_OK;
}

/* ---- joint releases ------------------------------------------------------------------------------------ */

enum { MAX_DENSE = 4096 }; /* weights of a Hessian that is held whole */

static int64_t triangle(int64_t n)
{
    return n * (n + 1) / 2;
}

static pv_status check_joint(pvi_job *j)
{
    const char *opt = j->opt->head.name;
    if (!j->model.ops->hess)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "optimizer=%s needs second derivatives, which model=%s does not have", opt,
                        j->model.named->name);
    if (j->prob.d > MAX_DENSE)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "optimizer=%s holds a Hessian of %lld x %lld, and does so up to %d: use optimizer=pgd or sgd",
                        opt, (long long)j->prob.d, (long long)j->prob.d, MAX_DENSE);
    if (j->prob.set)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED, "optimizer=%s works without a constraint set: leave set=%s out",
                        opt, j->prob.set->head.name);
    if (!j->prob.reg->curv)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "optimizer=%s needs a penalty with second derivatives: reg=%s has none, reg=l2 does", opt,
                        j->prob.reg->head.name);
    return PV_OK;
}

/* What resolve may look at: every bound but those that depend on the scale. */
static pv_status open_joint(pvi_job *j)
{
    j->release_d = j->prob.d;
    if (!j->opt->joint) return PV_OK;
    const pv_status s = check_joint(j);
    if (s != PV_OK) return s;
    j->joint.grad = j->prob.G;
    j->model.ops->hess->bounds(j->model.cfg, &j->dom, &j->joint);
    if (!(j->joint.hess >= 0x1p-40 && j->joint.hess <= 0x1p40))
        return pvi_fail(j->ctx, PV_E_PARAM, "the Hessian of one row has no usable bound: %g", j->joint.hess);
    j->release_d += triangle(j->joint.blocks) * triangle(j->joint.width);
    j->prob.joint = &j->joint;
    return PV_OK;
}

static void close_joint(pvi_job *j)
{
    pv_joint *q = &j->joint;
    if (!j->opt->joint) return;
    j->opt->joint(j->opt_cfg, &j->prob, q);
    /* The paper bounds a Frobenius norm by sqrt d times a spectral one. */
    q->clip = pv_up(q->plain ? hypot(q->grad, q->scale * q->hess * sqrt((double)j->prob.d))
                             : j->model.ops->hess->norm(j->model.cfg, &j->dom, q),
                    4);
    PVI_REQUIRE(q->scale > 0.0 && q->clip >= q->grad && isfinite(q->clip));
}

enum { FEW_ROWS = 100 }; /* fewer are warned of */

static pv_status set_budget(pvi_job *j)
{
    pvi_settings *s = &j->plan->s;
    j->prob.relation = s->relation == 0 ? PV_REL_ZERO_OUT : PV_REL_REPLACE;
    j->prob.epsilon = j->prob.delta = INFINITY;
    j->prob.mu = INFINITY;
    if (!j->private_run) return PV_OK;
    j->prob.epsilon = s->epsilon;
    j->prob.delta = isnan(s->delta) ? pow(10.0, floor(-log10(10.0 * (double)j->dom.n))) : s->delta;
    if (isnan(s->delta)) pvi_log(j->ctx, PV_LOG_NOTE, "delta = %g: the power of ten below 1/(10 n)", j->prob.delta);
    if (j->dom.n < FEW_ROWS)
        pvi_log(j->ctx, PV_LOG_WARN,
                "%lld rows: below %d, noise that hides one of them hides what they share as well%s; expect no useful "
                "model",
                (long long)j->dom.n, FEW_ROWS,
                isnan(s->delta) ? ", and such a delta is no rare failure of the guarantee" : "");
    pvi_strength_log(j->ctx, &(pvi_claim) { s->epsilon, j->prob.delta, (double)j->dom.n, j->prob.relation, 1 });
    const pv_event one = { .kind = PV_EV_GAUSSIAN, .a = 1.0 };
    pvi_cost cost;
    double z;
    const pv_status st =
        pvi_calibrate(j->ctx, "gaussian", j->prob.relation, &one, s->epsilon, j->prob.delta, &z, &cost);
    if (st == PV_OK) j->prob.mu = 1.0 / z;
    return st;
}

static pv_status check_needs(pvi_job *j)
{
    const uint32_t missing = j->opt->needs & ~j->prob.props & ~(uint32_t)PV_PROX;
    if (j->dom.max_norm && !j->opt->selects)
        return pvi_fail(
            j->ctx, PV_E_UNSUPPORTED,
            "optimizer=%s releases gradients, whose length data.norm=max does not bound: use data.norm=clip, "
            "or optimizer=fw-l1",
            j->opt->head.name);
    if (j->opt->ball && j->private_run && j->plan->s.relation == 0)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "optimizer=%s has a proof for replacing a row only: add --relation replace",
                        j->opt->head.name);
    if (!missing && j->opt->selects && !j->prob.set->scores)
        return pvi_fail(
            j->ctx, PV_E_UNSUPPORTED,
            "optimizer=%s chooses among vertices, and set=%s has too many: use set=l1ball, simplex or polytope",
            j->opt->head.name, j->prob.set->head.name);
    if (!missing) return j->opt->needs & PV_PROX ? pvi_prox_check(j->ctx, j->prob.reg, j->prob.set) : PV_OK;
    const char *what = missing & PV_SMOOTH   ? "a smooth loss"
                       : missing & PV_CONVEX ? "a convex loss"
                       : missing & PV_COMPACT
                           ? j->opt->selects ? "a constraint set with vertices: set=l1ball, simplex or polytope"
                                             : "a bounded constraint set (set=l2ball, ...)"
                       : missing & PV_LMO     ? "a constraint set with a linear oracle (set=l1ball, ...)"
                       : missing & PV_HESSIAN ? "a loss with a Hessian"
                       : missing & PV_BLOCKS  ? "a network of dense layers and relu: model=mlp"
                                              : "something this loss, penalty or set does not have";
    return pvi_fail(j->ctx, PV_E_UNSUPPORTED, "optimizer=%s needs %s", j->opt->head.name, what);
}

static pv_status fill(pvi_job *j, const pvi_matrix *m)
{
    pv_status s;
    if ((s = choose_model(j, m)) != PV_OK) return s;
    if ((s = choose_reg_and_set(j)) != PV_OK || (s = choose_optimizer(j)) != PV_OK) return s;
    if ((s = choose_mechanism(j)) != PV_OK) return s;
    if ((s = pvi_plan_accountant(j->plan, j->arena, &j->accountant)) != PV_OK) return s;
    if (m) {
        j->dom = m->domain;
        j->features_measured = m->features_measured;
    } else if ((s = shape_from_settings(j)) != PV_OK) {
        return s;
    }
    if ((s = check_labels(j)) != PV_OK) return s;
    if (j->features_measured && j->dom.p > (1 << 24))
        return pvi_fail(j->ctx, PV_E_PARAM,
                        "the largest index in the file asks for %lld columns: declare data.features if that is meant",
                        (long long)j->dom.p - 1);
    j->prob.ctx = j->ctx;
    j->prob.n = j->dom.n;
    if ((s = open_model(j)) != PV_OK) return s;
    j->prob.outputs = j->model.ops->outputs(j->model.cfg, &j->dom);
    j->prob.props = model_props(&j->model);
    if (j->prob.set) j->prob.props |= j->prob.set->props & (PV_COMPACT | PV_LMO);
    j->sparse = j->model.ops->grid_sum && (m ? !m->x : pvi_data_is_sparse(&j->plan->s.data, j->dom.p));
    if ((s = open_set(j)) != PV_OK || (s = check_needs(j)) != PV_OK) return s;
    if ((s = set_budget(j)) != PV_OK || (s = set_clip(j)) != PV_OK || (s = set_sampler(j)) != PV_OK) return s;
    if ((s = open_joint(j)) != PV_OK || (s = j->opt->resolve(j->opt_cfg, &j->prob)) != PV_OK) return s;
    close_joint(j);
    return pvi_job_noise(j);
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
