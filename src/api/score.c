/* score.c - a model at work: from a file or a result, settings of new data, scores (predict.c makes use of them).
 *
 * New data is read with the settings the model was trained with (bounds, row norm, bias, schema);
 * pv_model_set changes those that describe the new file only. */
#include "api/scored.h"

/* Those of the file, or what labels are called where none were declared. */
static pv_status name_classes(pv_model *m)
{
    const int64_t k = m->file.domain.classes;
    m->class_name = pv_arena_get(m->arena, sizeof *m->class_name * (size_t)(k + 1));
    if (!m->class_name) return pvi_nomem(m->ctx);
    for (int64_t i = 0; i < k; i++) {
        char text[24];
        snprintf(text, sizeof text, "%lld", (long long)(k == 2 ? 2 * i - 1 : i));
        m->class_name[i] =
            m->file.class_names ? m->file.class_names[i] : pvi_arena_strdup(m->arena, text, strlen(text));
        if (!m->class_name[i]) return pvi_nomem(m->ctx);
    }
    return PV_OK;
}

/* Readers, curves and exports go by the schema, and all of them index weights: it must make as many features. */
static pv_status check_schema(pv_model *m, const char *name)
{
    const pvi_data_cfg *cfg = &m->plan->s.data;
    int64_t features;
    if (!m->file.schema) return PV_OK;
    pv_arena *a = pvi_arena_create(m->ctx);
    if (!a) return pvi_nomem(m->ctx);
    pv_status s = pvi_trained_features(m->ctx, a, cfg, m->file.schema, &features);
    if (s == PV_OK && features + (cfg->bias != 0.0) != m->file.domain.p)
        s = pvi_fail(m->ctx, PV_E_FORMAT, "%s: its schema makes %lld features, and its weights are for %lld", name,
                     (long long)features, (long long)m->file.domain.p - (cfg->bias != 0.0));
    pvi_arena_free(a);
    return s;
}

/* Settings, model and weights of m->file, made ready; `name` starts messages. */
static pv_status open_model(pv_model *m, const char *name)
{
    pv_status s = pvi_cert_parse(m->ctx, m->arena, name, m->file.certificate, strlen(m->file.certificate), &m->cert);
    if (s != PV_OK) return s;
    if (pvi_cert_evaluation(&m->cert))
        return pvi_fail(m->ctx, PV_E_FORMAT, "%s: its certificate is of an evaluation, not of training", name);
    if ((s = pv_plan_create(m->ctx, &m->plan)) != PV_OK) return s;
    if ((s = pv_plan_load(m->plan, m->file.settings, strlen(m->file.settings), name)) != PV_OK) return s;
    m->plan->s.data.schema = m->file.schema; /* the text itself */
    const char *labels = m->plan->s.data.labels;
    if (labels && !strchr(labels, ',')) m->plan->s.data.labels = NULL; /* the file of other rows' labels, no list */
    if ((s = pvi_model_choose(m->plan, m->file.domain.classes, m->arena, &m->choice)) != PV_OK) return s;
    const pv_model_ops *ops = m->choice.ops;
    if (ops->open && (s = ops->open(m->choice.cfg, &m->file.domain, m->ctx)) != PV_OK) return s;
    if (m->file.d != ops->dim(m->choice.cfg, &m->file.domain))
        return pvi_fail(m->ctx, PV_E_FORMAT, "%s: %lld weights do not fit model=%s with %lld columns", name,
                        (long long)m->file.d, m->file.model, (long long)m->file.domain.p);
    if ((s = check_schema(m, name)) != PV_OK) return s;
    if ((s = name_classes(m)) != PV_OK) return s;
    m->st = pv_arena_get(m->arena, ops->head.state_size);
    if (!m->st) return pvi_nomem(m->ctx);
    return ops->begin(m->st, m->choice.cfg, &m->file.domain, m->file.w, 0, m->arena);
}

/* Fills m->file, with everything in the model's own arena. */
typedef pv_status (*source_fn)(pv_model *m, const void *from);

static pv_status make_model(pv_ctx *ctx, source_fn fill, const void *from, const char *name, pv_model **out)
{
    pv_model *m = pvi_handle_open(ctx, PVI_MODEL, sizeof *m);
    if (!m) return PV_E_NOMEM;
    m->arena = pvi_arena_create(ctx);
    pv_status s = m->arena ? fill(m, from) : pvi_nomem(ctx);
    if (s == PV_OK) s = open_model(m, name);
    if (s == PV_OK) *out = m;
    else pv_model_free(m);
    return pvi_done(ctx, s);
}

static pv_status from_file(pv_model *m, const void *path)
{
    return pvi_model_read(m->ctx, m->arena, path, &m->file);
}

pv_status pv_model_load(pv_ctx *ctx, const char *path, pv_model **out)
{
    if (out) *out = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, path);
    PVI_NEEDS(ctx, out);
    return make_model(ctx, from_file, path, path, out);
}

typedef struct held { /* a model file in memory */
    const void *bytes;
    size_t size;
    const char *name;
} held;

static pv_status from_bytes(pv_model *m, const void *from)
{
    const held *h = from;
    return pvi_model_of_bytes(m->ctx, m->arena, h->name, h->bytes, h->size, &m->file);
}

pv_status pv_model_of_bytes(pv_ctx *ctx, const void *bytes, size_t size, const char *name, pv_model **out)
{
    if (out) *out = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, bytes);
    PVI_NEEDS(ctx, name);
    PVI_NEEDS(ctx, out);
    return make_model(ctx, from_bytes, &(held) { bytes, size, name }, name, out);
}

pv_status pv_model_to_bytes(const pv_model *m, char **bytes, size_t *size)
{
    if (bytes) *bytes = NULL;
    if (size) *size = 0;
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, bytes);
    PVI_NEEDS(m->ctx, size);
    pvi_str b = { .ctx = m->ctx };
    const pv_status s = pvi_model_to_bytes(m->ctx, &m->file, &b);
    if (s == PV_OK) {
        *size = b.len;
        return pvi_done(m->ctx, pvi_str_take(&b, bytes));
    }
    pvi_str_free(&b);
    return pvi_done(m->ctx, s);
}

static pv_status from_result(pv_model *m, const void *result)
{
    return pvi_model_copy(m->ctx, m->arena, result, &m->file);
}

pv_status pv_result_model(const pv_result *r, pv_model **out)
{
    if (out) *out = NULL;
    PVI_CALL(r, PVI_RESULT);
    PVI_NEEDS(r->ctx, out);
    return make_model(r->ctx, from_result, &r->file, "model", out);
}

void pv_model_free(pv_model *m)
{
    if (!pvi_alive(m, PVI_MODEL, __func__)) return;
    pv_plan_free(m->plan);
    pvi_arena_free(m->arena);
    pvi_handle_close(m);
}

pv_status pv_model_certificate(const pv_model *m, const char **json)
{
    if (json) *json = NULL;
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, json);
    *json = m->file.certificate;
    return PV_OK;
}

pv_status pv_model_schema(const pv_model *m, const char **json)
{
    if (json) *json = NULL;
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, json);
    *json = m->file.schema;
    return PV_OK;
}

pv_status pv_model_settings(const pv_model *m, const char **json)
{
    if (json) *json = NULL;
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, json);
    *json = m->file.settings;
    return PV_OK;
}

pv_status pv_model_weights(const pv_model *m, double *w, int64_t cap, int64_t *d)
{
    if (d) *d = 0;
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, d);
    if (cap > 0 && !w) return pvi_fail(m->ctx, PV_E_ARG, "pv_model_weights: w is NULL");
    *d = m->file.d;
    for (int64_t k = 0; k < cap && k < m->file.d; k++) w[k] = m->file.w[k];
    return PV_OK;
}

pv_status pv_model_describe(const pv_model *m, pv_model_info *out)
{
    if (out) memset(out, 0, sizeof *out);
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, out);
    const pv_domain *dom = &m->file.domain;
    *out = (pv_model_info) { .classes = dom->classes,
                             .outputs = m->choice.ops->outputs(m->choice.cfg, dom),
                             .features = dom->p - (m->plan->s.data.bias != 0.0),
                             .weights = m->file.d,
                             .is_private = m->cert.is_private };
    return PV_OK;
}

pv_status pv_model_class(const pv_model *m, int64_t k, const char **name)
{
    if (name) *name = NULL;
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, name);
    if (k < 0 || k >= m->file.domain.classes)
        return pvi_fail(m->ctx, PV_E_ARG, "class %lld: the model has %lld", (long long)k,
                        (long long)m->file.domain.classes);
    *name = m->class_name[k];
    return PV_OK;
}

/* What is predicted of two classes, a function of scores: predict.threshold=t, the chance above which it is the
 * second one, or predict.cost=a,b, what a false alarm and a miss cost: with chance q the second one costs (1 - q) a,
 * the first one q b, so t = a/(a + b). */
static pv_status set_cut(pv_model *m, const char *key, const char *value)
{
    const char *comma = strchr(value, ',');
    const bool cost = strcmp(key, "predict.cost") == 0;
    double a = 0.0, b = 0.0;
    const bool read = cost ? comma && pvi_parse_f64(value, (size_t)(comma - value), &a) &&
                                 pvi_parse_f64(comma + 1, strlen(comma + 1), &b)
                           : pvi_parse_f64(value, strlen(value), &a);
    if (m->file.domain.classes != 2)
        return pvi_fail(m->ctx, PV_E_PARAM, "%s: is for models of two classes, and this one has %lld", key,
                        (long long)m->file.domain.classes);
    if (!cost) b = 1.0 - a;
    if (!read || !(a >= 1e-9 && a <= 1e9) || !(b >= 1e-9 && b <= 1e9))
        return pvi_fail(m->ctx, PV_E_PARAM,
                        cost ? "%s=%s: two costs from 1e-9 to 1e9 are needed, of a false alarm and of a miss"
                             : "%s=%s: a chance between 0 and 1 is needed",
                        key, value);
    m->cut = log(a / b);
    return PV_OK;
}

pv_status pv_model_set(pv_model *m, const char *key, const char *value)
{
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, key);
    PVI_NEEDS(m->ctx, value);
    if (strcmp(key, "predict.threshold") == 0 || strcmp(key, "predict.cost") == 0) return set_cut(m, key, value);
    if (strncmp(key, "data.", 5) != 0 && strcmp(key, "run.threads") != 0)
        return pvi_fail(m->ctx, PV_E_PARAM, "%s: a trained model takes settings of the new data only (data.*)", key);
    /* How rows are read may differ from file to file; what is made of them belongs to the weights. */
    static const char *const fixed[] = { "data.center", "data.row_norm",       "data.norm",
                                         "data.bias",   "data.transform",      "data.scatter_scales",
                                         "data.curves", "data.scatter_angles", "data.scatter_groups" };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (strcmp(key, fixed[i]) == 0)
            return pvi_fail(m->ctx, PV_E_PARAM, "%s: the model keeps the one it was trained with; leave it out", key);
    return pv_plan_set(m->plan, key, value);
}

/* ---- scores ------------------------------------------------------------------------------------------ */

typedef struct scoring {
    const pv_model *m;
    const pvi_matrix *x;
    int64_t outputs, chunk;
    float *score;
    char *scratch; /* of every thread: the model's, then room for rows that are shown */
    size_t scratch_size, model_size;
} scoring;

static void score_chunk(void *arg, int64_t task, int thread)
{
    const scoring *s = arg;
    const int64_t n = s->x->domain.n, first = task * s->chunk;
    char *scratch = s->scratch + (size_t)thread * s->scratch_size;
    pv_rows rows = pvi_matrix_rows(s->x, first, first + s->chunk < n ? s->chunk : n - first);
    pvi_matrix_show(s->x, &rows, scratch + s->model_size);
    s->m->choice.ops->predict(s->m->st, s->m->choice.cfg, &rows, s->score + first * s->outputs, scratch);
}

/* key: of ids; NULL: none are kept.  Rows with labels and without a key fall together into units, as in training.
 * elsewhere: not the rows that the settings given with the model are about. */
static pv_status load(pv_model *m, pv_data *from, const char *path, bool labels_optional, bool elsewhere,
                      const uint8_t *key, int64_t seed, const pvi_piece *piece, pvi_matrix **x)
{
    pvi_expect expect = pvi_model_expect(&m->choice);
    pvi_data_cfg cfg = m->plan->s.data;
    const pv_domain *dom = &m->file.domain;
    if (elsewhere) pvi_data_elsewhere(&cfg, path);
    cfg.path = path;
    cfg.rows = PV_AUTO_I64; /* n of the training data says nothing about the new rows */
    if (expect.classes < 0) expect.classes = dom->classes;
    expect.features = dom->p - (cfg.bias != 0.0);
    expect.y_lo = dom->y_lo;
    expect.y_hi = dom->y_hi;
    expect.curves = PVI_CURVES_DECLARED;
    expect.trained = m->file.schema;
    expect.labels_optional = expect.undigested = labels_optional; /* predictions need neither */
    expect.owner_key = key;
    expect.persons = !labels_optional && !key;
    expect.seed = seed;
    expect.piece = piece;
    return pvi_data_load(m->ctx, &cfg, &expect, from, x);
}

/* To `score`, which has room for every row. */
static pv_status score_rows(const pv_model *m, const pvi_matrix *x, float *score)
{
    scoring job = { .m = m, .x = x, .score = score, .chunk = 128 };
    const pv_domain *dom = &m->file.domain;
    job.outputs = m->choice.ops->outputs(m->choice.cfg, dom);
    job.model_size = (m->choice.ops->scratch(m->choice.cfg, dom, job.chunk) + 63) & ~(size_t)63;
    job.scratch_size = job.model_size + ((pvi_matrix_room(x, job.chunk) + 63) & ~(size_t)63);
    pv_arena *a = pvi_arena_create(m->ctx);
    if (a) job.scratch = pv_arena_get(a, job.scratch_size * (size_t)pvi_threads(m->ctx));
    if (job.scratch) pvi_parallel(m->ctx, (x->domain.n + job.chunk - 1) / job.chunk, score_chunk, &job);
    pvi_arena_free(a);
    return job.scratch ? PV_OK : pvi_nomem(m->ctx);
}

pv_status pvi_score(pv_model *m, pv_data *from, const char *path, bool labels_optional, const pv_predictions *into,
                    pvi_scores *out)
{
    *out = (pvi_scores) { .outputs = m->choice.ops->outputs(m->choice.cfg, &m->file.domain) };
    pv_status s = pvi_set_threads(m->ctx, (int)m->plan->s.threads);
    if (s == PV_OK && !labels_optional) s = pvi_entropy(m->ctx, out->owner_key, sizeof out->owner_key);
    if (s == PV_OK)
        s = load(m, from, path, labels_optional, false, labels_optional ? NULL : out->owner_key, PV_AUTO_I64, NULL,
                 &out->x);
    if (s != PV_OK) return s;
    const int64_t n = out->x->domain.n;
    if (into && into->rows != n)
        return pvi_fail(m->ctx, PV_E_ARG, "buffers for %lld rows, and there are %lld", (long long)into->rows,
                        (long long)n);
    out->score = into ? into->score : NULL;
    if (!out->score) out->score = out->own = pvi_alloc(m->ctx, sizeof *out->own * (size_t)(n * out->outputs));
    return out->score ? score_rows(m, out->x, out->score) : pvi_nomem(m->ctx);
}

pv_status pvi_score_matrix(pv_model *m, pvi_matrix *x, float **score)
{
    const int64_t outputs = m->choice.ops->outputs(m->choice.cfg, &m->file.domain);
    *score = pvi_alloc(m->ctx, sizeof **score * (size_t)(x->domain.n * outputs));
    return *score ? score_rows(m, x, *score) : pvi_nomem(m->ctx);
}

pv_status pvi_score_pieces(pv_model *m, pv_data *from, const char *path, const pvi_piece *piece)
{
    pvi_matrix *x = NULL;
    pv_status s = pvi_set_threads(m->ctx, (int)m->plan->s.threads);
    if (s == PV_OK) s = load(m, from, path, true, false, NULL, PV_AUTO_I64, piece, &x);
    if (s == PV_OK && x) s = piece->take(piece->user, x, NULL, 0);
    pvi_matrix_free(x);
    return s;
}

pv_status pvi_owners_of(pv_model *m, const char *path, const pvi_scores *as, pvi_matrix **out)
{
    return load(m, NULL, path, true, true, as->owner_key, PV_AUTO_I64, NULL, out);
}

pv_status pvi_units_of_rows(pv_model *m, pv_data *from, int64_t seed, pvi_matrix **out)
{
    return load(m, from, NULL, false, false, NULL, seed, NULL, out);
}

void pvi_scores_free(pv_ctx *ctx, pvi_scores *s)
{
    pvi_free(ctx, s->own);
    pvi_matrix_free(s->x);
}
