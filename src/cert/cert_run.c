/* cert_run.c - the run that the settings of a certificate describe: are they settings that a run can have, and what
 * do its plug-ins say of them?
 *
 * From version 3 on a certificate lists every setting of its run but those that belong to one machine
 * (plan/settings.c).
 *   (1) each is a row of a table: the general ones below, data.*, and those of the model, penalty, set and optimizer
 *       that the list itself names; there is no other
 *   (2) its value has the type of the row, and lies in the range or among the choices that can be set.  What a
 *       plug-in resolved by itself (auto) may lie outside: a step of 0.1/G has no bound.  Where the range is above 0,
 *       so is it.
 *   (3) no row is left out.  A row that a table gets after certificates without it were written belongs into `later`.
 *   (4) what enters the guarantee and can be resolved was: of a plug-in it is not auto.
 * Constants are asked of the plug-ins, configured by these settings, as the planner asks them:
 *   (5) the domain is what fields and settings say of it.  How many classes there are is said by data.labels, if it
 *       lists them, else found: the model has as many weights for one number of classes only.
 *       The shape of images is said by data.image.  Without it a file may have brought its own, which no field
 *       records: it is found in the same way, among all shapes with as many values. */
#include "acct/range.h"
#include "cert.h"

typedef struct general { /* the keys that belong to no plug-in */
    const char *model, *reg, *set, *optimizer, *start, *mechanism, *accountant;
    const char *issuer, *contact, *date, *data_name;
    int64_t privacy, relation, sampler, unit_combine, unit_weight;
    double epsilon, delta, noise_multiplier, clip, batch, batch_hessian;
    pv_numbers reg_layers;
} general;

#define ROW(key, type, field, def, lo, hi, choices)                                                                  \
    {                                                                                                                \
        key, type, offsetof(general, field), def, lo, hi, true, "see privet list", choices                           \
    }
const pv_param pvi_cert_general[] = { /* as in plan/settings.c, which cert cannot see: a test compares them */
                                      ROW("model", PV_STR, model, 0, 0, 0, "auto"),
                                      ROW("reg", PV_STR, reg, 0, 0, 0, "none"),
                                      ROW("reg.layers", PV_LIST, reg_layers, 1, 0, 1e12, NULL),
                                      ROW("set", PV_STR, set, 0, 0, 0, "none"),
                                      ROW("optimizer", PV_STR, optimizer, 0, 0, 0, "auto"),
                                      ROW("optimizer.start", PV_STR, start, 0, 0, 0, "auto"),
                                      ROW("mechanism", PV_STR, mechanism, 0, 0, 0, "auto"),
                                      ROW("accountant", PV_STR, accountant, 0, 0, 0, "best"),
                                      ROW("privacy", PV_ENUM, privacy, 0, 0, 0, "on|off"),
                                      ROW("budget.epsilon", PV_F64, epsilon, 1.0, 1e-9, PVI_EPSILON_MOST, NULL),
                                      ROW("budget.delta", PV_F64, delta, PV_AUTO, 2 * PVI_DELTA_LEAST, PVI_DELTA_MOST,
                                          NULL),
                                      ROW("budget.relation", PV_ENUM, relation, 0, 0, 0, "zero-out|replace"),
                                      ROW("budget.noise_multiplier", PV_F64, noise_multiplier, PV_AUTO, 1e-3, 1e9,
                                          NULL),
                                      ROW("clip", PV_F64, clip, PV_AUTO, 1e-12, 1e12, NULL),
                                      ROW("unit.combine", PV_ENUM, unit_combine, 0, 0, 0, "mean|sum"),
                                      ROW("unit.weight", PV_ENUM, unit_weight, 0, 0, 0, "one|rows"),
                                      ROW("sampler", PV_ENUM, sampler, 0, 0, 0, PVI_SAMPLER_CHOICES),
                                      ROW("sampler.batch", PV_F64, batch, PV_AUTO, 1, 1e15, NULL),
                                      ROW("sampler.batch_hessian", PV_F64, batch_hessian, PV_AUTO, 1, 1e15, NULL),
                                      ROW("issuer.name", PV_STR, issuer, 0, 0, 0, NULL),
                                      ROW("issuer.contact", PV_STR, contact, 0, 0, 0, NULL),
                                      ROW("issuer.date", PV_STR, date, 0, 0, 0, NULL),
                                      ROW("issuer.data", PV_STR, data_name, 0, 0, 0, NULL),
                                      { 0 }
};

static const char *const later[] = { "optimizer.drop",
                                     "optimizer.shrink",
                                     "optimizer.share",
                                     "optimizer.start",
                                     "optimizer.noise",
                                     "optimizer.schedule",
                                     "optimizer.smoothing_order",
                                     "optimizer.noise_within",
                                     "optimizer.warmup",
                                     "model.clips",
                                     "reg.layers",
                                     "sampler.batch_hessian",
                                     "optimizer.krylov",
                                     "data.measured",
                                     "data.person",
                                     "data.person_rows",
                                     "data.person_rows_most",
                                     "data.person_rows_share",
                                     "data.persons",
                                     "unit.combine",
                                     "unit.weight",
                                     "data.curves",
                                     "data.knots_share",
                                     "data.outside_numbers",
                                     "data.outside_categories",
                                     "data.outside_text",
                                     "issuer.name",
                                     "issuer.contact",
                                     "issuer.date",
                                     "issuer.data",
                                     NULL }; /* (3) */

bool pvi_cert_is_local(const char *key)
{
    return strcmp(key, "data.path") == 0 || strcmp(key, "data.schema") == 0 || strcmp(key, "data.key_path") == 0 ||
           strcmp(key, "data.person_file") == 0 || strcmp(key, "data.trained_on") == 0 ||
           strncmp(key, "data.max_", 9) == 0 || strcmp(key, "set.vertices") == 0 || strncmp(key, "run.", 4) == 0;
}

/* ---- tables ------------------------------------------------------------------------------------------------- */

enum { GENERAL, DATA, MODEL, REG, SET, OPTIMIZER, TABLES, KEY_SIZE = 128 };

typedef struct table {
    const char *prefix;
    const pv_param *rows; /* NULL: the run has no such plug-in */
    void *cfg;
} table;

typedef struct reading {
    pv_ctx *ctx;
    pv_arena *a;
    const pvi_json *settings;
    general general;
    table tables[TABLES];
} reading;

static pv_status refuse(pv_ctx *ctx, const char *key, const char *why)
{
    return pvi_fail(ctx, PV_E_PARAM, "the setting %s %s", key, why);
}

/* (2): the type; what is written as text is none of the numbers but auto and inf. */
static bool fits_type(const pv_param *r, const pvi_json *v)
{
    switch (r->type) {
    case PV_F64:
        return v->type == PVI_JNUM || (v->type == PVI_JSTR && (!strcmp(v->text, "auto") || !strcmp(v->text, "inf")));
    case PV_I64: return v->type == PVI_JNUM || (v->type == PVI_JSTR && !strcmp(v->text, "auto"));
    case PV_BOOL: return v->type == PVI_JBOOL;
    case PV_LIST: return v->type == PVI_JNUM || v->type == PVI_JSTR;
    case PV_ENUM: return v->type == PVI_JSTR;
    case PV_STR:
        return v->type == PVI_JSTR || (v->type == PVI_JNULL && !r->choices); /* not set, and not by default */
    }
    return false;
}

/* The row of its own, as wide as what a plug-in may have resolved. */
static pv_param widened(const pv_param *r, bool of_plugin)
{
    pv_param w = *r;
    if (of_plugin && isnan(r->def) && r->type != PV_LIST && r->lo > 0.0)
        w.lo = r->type == PV_I64 ? 1.0 : 0x1p-1074, w.hi = INFINITY;
    if (w.hi > 0x1p62 && r->type == PV_I64) w.hi = 0x1p62;
    return w;
}

static pv_status take(reading *r, int k, const pv_param *row, const char *key, const pvi_json *v)
{
    const table *t = &r->tables[k];
    const bool of_plugin = k >= MODEL;
    const pv_param one[2] = { widened(row, of_plugin), { 0 } };
    if (!fits_type(row, v)) return refuse(r->ctx, key, "is of another type than it can be");
    if (v->type == PVI_JNULL) {
        *(const char **)(void *)((char *)t->cfg + row->offset) = NULL;
        return PV_OK;
    }
    if (v->type == PVI_JSTR && pvi_issuer_needs(key, v->text)) return refuse(r->ctx, key, "is none that can be set");
    if (of_plugin && row->certified && isnan(row->def) && v->type == PVI_JSTR && !strcmp(v->text, "auto")) /* (4) */
        return refuse(r->ctx, key, "is auto, and a run resolves it");
    const char *text = v->type == PVI_JBOOL ? (v->num != 0.0 ? "yes" : "no") : v->text;
    return pvi_param_set(r->ctx, r->a, t->prefix, one, t->cfg, row->key, text);
}

static pv_status not_later(const reading *r, const char *key)
{
    for (int i = 0; later[i]; i++)
        if (strcmp(later[i], key) == 0) return PV_OK;
    return refuse(r->ctx, key, "is missing");
}

/* (2), (3) */
static pv_status read_table(reading *r, int k)
{
    pv_status s = PV_OK;
    table *t = &r->tables[k];
    pvi_param_defaults(t->rows, t->cfg);
    for (const pv_param *row = t->rows; s == PV_OK && row->key; row++) {
        char key[KEY_SIZE];
        snprintf(key, sizeof key, "%s%s", t->prefix, row->key);
        const pvi_json *v = pvi_json_get(r->settings, key);
        if (pvi_cert_is_local(key)) continue;
        s = v ? take(r, k, row, key, v) : not_later(r, key);
    }
    return s;
}

static bool is_row(const table *t, const char *key)
{
    const size_t n = t->rows ? strlen(t->prefix) : 0;
    return t->rows && strncmp(key, t->prefix, n) == 0 && pvi_param_find(t->rows, key + n) && !pvi_cert_is_local(key);
}

/* (1) */
static pv_status no_others(const reading *r)
{
    for (const pvi_json *v = r->settings->child; v; v = v->next) {
        bool known = false;
        for (int k = 0; k < TABLES; k++) known = known || is_row(&r->tables[k], v->key);
        if (!known) return refuse(r->ctx, v->key, "is none of this run");
    }
    return PV_OK;
}

/* ---- plug-ins ------------------------------------------------------------------------------------------------- */

static pv_status read_plugin(reading *r, int k, const char *prefix, const pv_plugin *head)
{
    void *cfg = head ? pv_arena_get(r->a, head->cfg_size + 1) : NULL;
    if (!head) return pvi_fail(r->ctx, PV_E_PARAM, "the setting %.*s names none", (int)strlen(prefix) - 1, prefix);
    if (!cfg) return pvi_nomem(r->ctx);
    r->tables[k] = (table) { prefix, head->params, cfg };
    return read_table(r, k);
}

static const pv_model_ops *model_of_losses(void)
{
    const pv_model_ops *m;
    for (int64_t i = 0; (m = (const pv_model_ops *)(const void *)pv_nth(PV_KIND_model, i)); i++)
        if (m->props & PV_OF_LOSSES) return m;
    return NULL;
}

/* A loss goes by the model that takes losses. */
const pv_model_ops *pvi_cert_model_of(const char *name)
{
    if (pv_find(PV_KIND_loss, name)) return model_of_losses();
    return (const pv_model_ops *)(const void *)pv_find(PV_KIND_model, name);
}

static pv_status read_model(reading *r, pvi_cert_run *out)
{
    const pv_plugin *loss = pv_find(PV_KIND_loss, r->general.model),
                    *model = pv_find(PV_KIND_model, r->general.model);
    const pv_status s = read_plugin(r, MODEL, "model.", loss ? loss : model);
    if (s != PV_OK) return s;
    out->model = (const pv_model_ops *)(const void *)model;
    out->model_cfg = r->tables[MODEL].cfg;
    out->model_size = model ? model->cfg_size : 0;
    if (!loss) return out->model->props & PV_OF_LOSSES ? refuse(r->ctx, "model", "names no loss") : PV_OK;
    pvi_glm_cfg *g = pv_arena_get(r->a, sizeof *g);
    if (!g) return pvi_nomem(r->ctx);
    *g = (pvi_glm_cfg) { (const pv_loss_ops *)(const void *)loss, out->model_cfg };
    out->model = model_of_losses();
    out->model_cfg = g;
    out->model_size = sizeof *g;
    return out->model ? PV_OK : pvi_fail(r->ctx, PV_E_INTERNAL, "no model takes losses");
}

static bool is_accountant(const char *text)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
    return strcmp(name, "best") == 0 || pv_find(PV_KIND_accountant, name);
}

/* Names that a table cannot have as choices. */
static pv_status check_names(const reading *r, const pvi_data_cfg *data)
{
    const general *g = &r->general;
    if (!pv_find(PV_KIND_mechanism, g->mechanism)) return refuse(r->ctx, "mechanism", "names none");
    if (!is_accountant(g->accountant)) return refuse(r->ctx, "accountant", "names none");
    if (strcmp(data->format, "auto") != 0 && !pv_find(PV_KIND_reader, data->format))
        return refuse(r->ctx, "data.format", "names no reader");
    return PV_OK;
}

pv_status pvi_cert_run_read(pv_ctx *ctx, pv_arena *a, const pvi_json *settings, pvi_cert_run *out)
{
    reading r = { .ctx = ctx, .a = a, .settings = settings };
    pvi_data_cfg *data = pv_arena_get(a, sizeof *data);
    memset(out, 0, sizeof *out);
    if (!data) return pvi_nomem(ctx);
    if (settings->type != PVI_JOBJ) return pvi_fail(ctx, PV_E_PARAM, "the settings are no object");
    r.tables[GENERAL] = (table) { "", pvi_cert_general, &r.general };
    r.tables[DATA] = (table) { "data.", pvi_data_params, data };
    pv_status s = read_table(&r, GENERAL);
    if (s == PV_OK) s = read_table(&r, DATA);
    if (s == PV_OK) s = check_names(&r, data);
    if (s == PV_OK) s = read_model(&r, out);
    if (s == PV_OK) s = read_plugin(&r, REG, "reg.", pv_find(PV_KIND_reg, r.general.reg));
    if (s == PV_OK && strcmp(r.general.set, "none") != 0)
        s = read_plugin(&r, SET, "set.", pv_find(PV_KIND_set, r.general.set));
    if (s == PV_OK) s = read_plugin(&r, OPTIMIZER, "optimizer.", pv_find(PV_KIND_optimizer, r.general.optimizer));
    if (s == PV_OK) s = no_others(&r);
    if (s != PV_OK) return s;
    out->data = data;
    out->unit_combine = (uint8_t)r.general.unit_combine;
    out->unit_weight = (uint8_t)r.general.unit_weight;
    out->reg = (const pv_reg_ops *)(const void *)pv_find(PV_KIND_reg, r.general.reg);
    out->reg_cfg = r.tables[REG].cfg;
    out->opt = (const pv_optimizer_ops *)(const void *)pv_find(PV_KIND_optimizer, r.general.optimizer);
    out->opt_cfg = r.tables[OPTIMIZER].cfg;
    return PV_OK;
}

/* ---- (5) ------------------------------------------------------------------------------------------------------- */

enum { MOST_CLASSES = 1 << 14, BYTE_CLASSES = 256, MOST_SIDE = 1 << 15, MOST_SHAPES = 2000 };
#define MOST_COLUMNS ((int64_t)1 << 31)

/* A list of labels has commas, which the name of a file of labels may have too: with what such names have, nothing is
 * told. */
static int64_t listed_classes(const char *labels)
{
    static const char *const endings[] = { "ubyte", ".npy", ".gz", ".bz2" };
    const size_t len = labels ? strlen(labels) : 0;
    int64_t n = 1;
    if (len == 0 || !strchr(labels, ',') || strchr(labels, '/')) return 0;
    for (int i = 0; i < 4; i++)
        if (len > strlen(endings[i]) && strcmp(labels + len - strlen(endings[i]), endings[i]) == 0) return 0;
    for (const char *p = labels; *p; p++) n += *p == ',';
    return n;
}

/* The weights that the model has on this domain; -1: it does not fit.  What is opened is the copy. */
static int64_t weights_on(pv_ctx *ctx, const pvi_cert_run *run, const pv_domain *dom, void *copy)
{
    memcpy(copy, run->model_cfg, run->model_size);
    if (run->model->open && run->model->open(copy, dom, ctx) != PV_OK) return -1;
    return run->model->dim(copy, dom);
}

/* Among so many numbers of classes, 0 for a label that is a number, one has as many weights as recorded. */
static pvi_fit fit_classes(pv_ctx *ctx, pvi_cert_run *run, int64_t weights, int64_t listed, int64_t most, void *copy)
{
    pv_domain dom = run->dom;
    bool opens = false;
    for (int64_t k = listed; k <= (listed ? listed : most); k += k == 0 ? 2 : 1) {
        dom.classes = k;
        const int64_t d = weights_on(ctx, run, &dom, copy);
        if (d == weights) {
            run->dom = dom;
            memcpy(run->model_cfg, copy, run->model_size);
            return PVI_FITS;
        }
        if (d > weights) return PVI_MISFIT; /* more classes, more weights */
        opens = opens || d >= 0;
    }
    return listed || !opens ? PVI_MISFIT : PVI_UNKNOWN_FIT;
}

/* An image of so many values in some shape.  Formats that bring their own have labels of one byte. */
static pvi_fit fit_shape(pv_ctx *ctx, pvi_cert_run *run, int64_t weights, int64_t values, int64_t listed, void *copy)
{
    int shapes = 0;
    for (int64_t h = 1; h <= values && h <= MOST_SIDE; h++) {
        if (values % h) continue;
        for (int64_t w = 1; w <= values / h && w <= MOST_SIDE; w++) {
            if (values / h % w) continue;
            run->dom.height = h;
            run->dom.width = w;
            run->dom.channels = values / h / w;
            if (fit_classes(ctx, run, weights, listed, BYTE_CLASSES, copy) == PVI_FITS) return PVI_FITS;
            if (++shapes == MOST_SHAPES) return PVI_UNKNOWN_FIT;
        }
    }
    return PVI_MISFIT;
}

static pv_status shape_of(pv_ctx *ctx, const pvi_cert_run *run, pvi_shape *out)
{
    pv_status s = pvi_image_parse(ctx, run->data->image, out);
    if (s == PV_OK && out->height && run->data->transform) s = pvi_scatter_shape(ctx, run->data, *out, out);
    return s;
}

/* K, or the most that it could have been before a release chose it: what bounds were planned for (plan/stage.c). */
static int64_t planned_rows(const pvi_cert_run *run, const pvi_cert *c)
{
    return c->unit_rows && run->data->person_rows == PV_AUTO_I64 ? run->data->person_rows_most : c->unit_rows;
}

pvi_fit pvi_cert_domain(pv_ctx *ctx, pv_arena *a, pvi_cert_run *run, const pvi_cert *c)
{
    const int64_t listed = listed_classes(run->data->labels), bias = run->data->bias != 0.0;
    pvi_shape image;
    void *copy = pv_arena_get(a, run->model_size + 1);
    if (!copy || shape_of(ctx, run, &image) != PV_OK || c->features > MOST_COLUMNS) return PVI_MISFIT;
    run->dom = (pv_domain) { .n = c->rows,
                             .p = c->features,
                             .row_norm = c->row_norm,
                             .max_norm = run->data->norm == PVI_NORM_MAX,
                             .y_lo = -INFINITY,
                             .y_hi = INFINITY,
                             .height = image.height,
                             .width = image.width,
                             .channels = image.channels,
                             .unit_rows = planned_rows(run, c),
                             .unit_combine = run->unit_combine,
                             .unit_weight = run->unit_weight };
    const pvi_fit known = fit_classes(ctx, run, c->weights, listed, MOST_CLASSES, copy);
    if (known != PVI_MISFIT || image.height || !(run->model->props & PV_NETWORK)) return known;
    return fit_shape(ctx, run, c->weights, c->features - bias, listed, copy);
}
