/* score.c - a model file at work: load, predict, evaluate.
 *
 * New data is read with the settings the model was trained with (bounds, row norm, bias, schema);
 * pv_model_set changes those that describe the new file only. */
#include "eval/eval.h"
#include "api/scored.h"

static pv_status open_model(pv_model *m, const char *path)
{
    pv_status s;
    if ((s = pvi_model_read(m->ctx, m->arena, path, &m->file)) != PV_OK) return s;
    s = pvi_cert_parse(m->ctx, m->arena, path, m->file.certificate, strlen(m->file.certificate), &m->cert);
    if (s != PV_OK) return s;
    if ((s = pv_plan_create(m->ctx, &m->plan)) != PV_OK) return s;
    if ((s = pv_plan_load(m->plan, m->file.settings, strlen(m->file.settings), path)) != PV_OK) return s;
    m->plan->s.data.schema = m->file.schema; /* the text itself */
    const char *labels = m->plan->s.data.labels;
    if (labels && !strchr(labels, ',')) m->plan->s.data.labels = NULL; /* the file of other rows' labels, no list */
    if ((s = pvi_model_choose(m->plan, m->file.domain.classes, m->arena, &m->choice)) != PV_OK) return s;
    const pv_model_ops *ops = m->choice.ops;
    if (ops->open && (s = ops->open(m->choice.cfg, &m->file.domain, m->ctx)) != PV_OK) return s;
    if (m->file.d != ops->dim(m->choice.cfg, &m->file.domain))
        return pvi_fail(m->ctx, PV_E_FORMAT, "%s: %lld weights do not fit model=%s with %lld columns", path,
                        (long long)m->file.d, m->file.model, (long long)m->file.domain.p);
    m->st = pv_arena_get(m->arena, ops->head.state_size);
    if (!m->st) return pvi_nomem(m->ctx);
    return ops->begin(m->st, m->choice.cfg, &m->file.domain, m->file.w, 0, m->arena);
}

pv_status pv_model_load(pv_ctx *ctx, const char *path, pv_model **out)
{
    if (out) *out = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, path);
    PVI_NEEDS(ctx, out);
    pv_model *m = pvi_handle_open(ctx, PVI_MODEL, sizeof *m);
    if (!m) return PV_E_NOMEM;
    m->arena = pvi_arena_create(ctx);
    const pv_status s = m->arena ? open_model(m, path) : pvi_nomem(ctx);
    if (s == PV_OK) *out = m;
    else pv_model_free(m);
    return pvi_done(ctx, s);
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

pv_status pv_model_set(pv_model *m, const char *key, const char *value)
{
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, key);
    PVI_NEEDS(m->ctx, value);
    if (strncmp(key, "data.", 5) != 0 && strcmp(key, "run.threads") != 0)
        return pvi_fail(m->ctx, PV_E_PARAM, "%s: a trained model takes settings of the new data only (data.*)", key);
    /* How rows are read may differ from file to file; what is made of them belongs to the weights. */
    static const char *const fixed[] = { "data.center",         "data.row_norm",      "data.norm",
                                         "data.bias",           "data.transform",     "data.scatter_scales",
                                         "data.scatter_angles", "data.scatter_groups" };
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
    char *scratch;
    size_t scratch_size;
} scoring;

static void score_chunk(void *arg, int64_t task, int thread)
{
    const scoring *s = arg;
    const int64_t n = s->x->domain.n, first = task * s->chunk;
    const pv_rows rows = pvi_matrix_rows(s->x, first, first + s->chunk < n ? s->chunk : n - first);
    s->m->choice.ops->predict(s->m->st, s->m->choice.cfg, &rows, s->score + first * s->outputs,
                              s->scratch + (size_t)thread * s->scratch_size);
}

static pv_status load_and_score(pv_model *m, const char *data, bool labels_optional, pvi_matrix **x, float **score,
                                int64_t *outputs)
{
    pvi_expect expect = pvi_model_expect(&m->choice);
    pvi_data_cfg cfg = m->plan->s.data;
    scoring job = { .m = m, .chunk = 128 };
    const pv_domain *dom = &m->file.domain;

    *score = NULL;
    *x = NULL;
    pv_status s = pvi_set_threads(m->ctx, (int)m->plan->s.threads);
    if (s != PV_OK) return s;
    cfg.path = data;
    cfg.rows = PV_AUTO_I64; /* n of the training data says nothing about the new file */
    if (expect.classes < 0) expect.classes = dom->classes;
    expect.features = dom->p - (cfg.bias != 0.0);
    expect.y_lo = dom->y_lo;
    expect.y_hi = dom->y_hi;
    expect.labels_optional = labels_optional;
    if ((s = pvi_data_load(m->ctx, &cfg, &expect, x)) != PV_OK) return s;
    job.x = *x;
    job.outputs = *outputs = m->choice.ops->outputs(m->choice.cfg, dom);
    job.scratch_size = (m->choice.ops->scratch(m->choice.cfg, dom, job.chunk) + 63) & ~(size_t)63;
    pv_arena *a = pvi_arena_create(m->ctx);
    if (a) job.scratch = pv_arena_get(a, job.scratch_size * (size_t)pvi_threads(m->ctx));
    *score = pvi_alloc(m->ctx, sizeof(float) * (size_t)((*x)->domain.n * job.outputs));
    job.score = *score;
    if (job.scratch && *score) pvi_parallel(m->ctx, ((*x)->domain.n + job.chunk - 1) / job.chunk, score_chunk, &job);
    else s = pvi_nomem(m->ctx);
    pvi_arena_free(a);
    return s;
}

/* ---- predict -------------------------------------------------------------------------------------------- */

static const char *class_name(const pv_model *m, int64_t k, char buf[24])
{
    if (m->file.class_names) return m->file.class_names[k];
    if (m->file.domain.classes == 2) return k ? "1" : "-1";
    snprintf(buf, 24, "%lld", (long long)k);
    return buf;
}

/* A field of a CSV file: quoted where it must be. */
static void put_field(FILE *f, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        fputs(s, f);
        return;
    }
    fputc('"', f);
    for (; *s; s++) {
        if (*s == '"') fputc('"', f);
        fputc(*s, f);
    }
    fputc('"', f);
}

static void put_number(FILE *f, double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", x); /* a float, exactly */
    fputs(text, f);
}

static void put_header(FILE *f, const pv_model *m, int64_t outputs)
{
    char buf[24];
    if (m->file.domain.classes == 0) fputs("prediction", f);
    else if (outputs == 1) fputs("prediction,margin,probability", f);
    else fputs("prediction", f);
    for (int64_t k = 0; outputs > 1 && k < outputs; k++) {
        char name[256];
        snprintf(name, sizeof name, "p(%s)", class_name(m, k, buf));
        fputc(',', f);
        put_field(f, name);
    }
    fputc('\n', f);
}

static void put_row(FILE *f, const pv_model *m, const float *score, int64_t outputs)
{
    char buf[24];
    if (m->file.domain.classes == 0) {
        put_number(f, score[0]);
    } else if (outputs == 1) { /* margin of the second class; the probability is that of a logistic link */
        put_field(f, class_name(m, score[0] > 0.0f, buf));
        fputc(',', f);
        put_number(f, score[0]);
        fputc(',', f);
        put_number(f, 1.0 / (1.0 + exp(-(double)score[0])));
    } else {
        int64_t best = 0;
        double total = 0.0;
        for (int64_t k = 1; k < outputs; k++)
            if (score[k] > score[best]) best = k;
        for (int64_t k = 0; k < outputs; k++) total += exp((double)score[k] - score[best]);
        put_field(f, class_name(m, best, buf));
        for (int64_t k = 0; k < outputs; k++) {
            fputc(',', f);
            put_number(f, exp((double)score[k] - score[best]) / total);
        }
    }
    fputc('\n', f);
}

static void put_scores(FILE *f, const pv_model *m, const pvi_matrix *x, const float *score, int64_t outputs)
{
    put_header(f, m, outputs);
    for (int64_t i = 0; i < x->domain.n && !ferror(f); i++) put_row(f, m, score + i * outputs, outputs);
}

pv_status pv_model_predict(pv_model *m, const char *data, const char *out_csv)
{
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, data);
    PVI_NEEDS(m->ctx, out_csv);
    pvi_matrix *x;
    float *score;
    int64_t outputs;
    pvi_atomic out;

    pv_status s = load_and_score(m, data, true, &x, &score, &outputs);
    if (s == PV_OK) s = pvi_atomic_open(m->ctx, out_csv, &out);
    if (s == PV_OK) {
        put_scores(out.f, m, x, score, outputs);
        s = pvi_atomic_commit(&out);
    }
    pvi_free(m->ctx, score);
    pvi_matrix_free(x);
    return pvi_done(m->ctx, s);
}

/* ---- eval -------------------------------------------------------------------------------------------------- */

static bool is_training_data(const pvi_cert *c, const pvi_matrix *x)
{
    char salted[65];
    if (!c->data_digest) return false;
    if (c->version < 3) return strcmp(x->digest, c->data_digest) == 0;
    if (!c->data_salt) return false;
    pvi_salted_digest(c->data_salt, x->digest, salted);
    return strcmp(salted, c->data_digest) == 0;
}

pv_status pv_model_eval(pv_model *m, const char *data, char **json)
{
    if (json) *json = NULL;
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, data);
    PVI_NEEDS(m->ctx, json);
    pvi_matrix *x;
    float *score;
    int64_t outputs;

    pv_status s = load_and_score(m, data, false, &x, &score, &outputs);
    if (s == PV_OK) {
        pvi_str b = { .ctx = m->ctx };
        pvi_jw w = { .out = &b, .indent = 2 };
        pv_domain dom = m->file.domain;
        dom.n = x->domain.n;
        pvi_jw_open(&w, NULL, '{');
        pvi_jw_bool(&w, "model_is_private", m->cert.is_private);
        if (!m->cert.is_private) pvi_jw_str(&w, "warning", "NOT PRIVATE");
        pvi_jw_bool(&w, "metrics_are_private", false); /* counts over these rows, without noise */
        pvi_jw_bool(&w, "training_rows", is_training_data(&m->cert, x));
        pvi_jw_f64(&w, "epsilon", m->cert.epsilon);
        pvi_jw_f64(&w, "delta", m->cert.delta);
        s = pvi_metrics_json(m->ctx, &dom, x->class_names, x->domain.n, score, x->y, &w);
        pvi_jw_close(&w, '}');
        pvi_str_puts(&b, "\n");
        if (s == PV_OK) s = pvi_str_take(&b, json);
        else pvi_str_free(&b);
    }
    pvi_free(m->ctx, score);
    pvi_matrix_free(x);
    return pvi_done(m->ctx, s);
}
