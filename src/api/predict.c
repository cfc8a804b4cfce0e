/* predict.c - what a model makes of rows: lines of CSV, numbers in the caller's buffers, measures of quality.
 *
 *   (1) a margin m (one score, two classes)   p = (1 - q, q), q = 1/(1 + e^-m); label 1 where m > 0
 *   (2) a score z_k per class                 p_k = e^(z_k - max z) / sum; label: the first of the largest */
#include "eval/eval.h"
#include "api/scored.h"

/* Chances of all classes from the scores of a row; returns the most likely one. */
static int64_t chances(const float *score, int64_t outputs, double *p)
{
    if (outputs == 1) { /* (1) */
        p[1] = 1.0 / (1.0 + exp(-(double)score[0]));
        p[0] = 1.0 / (1.0 + exp((double)score[0]));
        return score[0] > 0.0f;
    }
    int64_t best = 0; /* (2) */
    double total = 0.0;
    for (int64_t k = 1; k < outputs; k++)
        if (score[k] > score[best]) best = k;
    for (int64_t k = 0; k < outputs; k++) total += p[k] = exp((double)score[k] - score[best]);
    for (int64_t k = 0; k < outputs; k++) p[k] /= total;
    return best;
}

/* ---- lines of CSV ------------------------------------------------------------------------------------------ */

/* A field: quoted where it must be. */
static void put_field(pvi_str *b, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        pvi_str_puts(b, s);
        return;
    }
    pvi_str_puts(b, "\"");
    for (; *s; s++) {
        if (*s == '"') pvi_str_puts(b, "\"");
        pvi_str_add(b, s, 1);
    }
    pvi_str_puts(b, "\"");
}

static void put_number(pvi_str *b, double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", x); /* a float, exactly */
    pvi_str_puts(b, text);
}

static void put_header(pvi_str *b, const pv_model *m, int64_t outputs)
{
    const bool margin = m->file.domain.classes > 0 && outputs == 1;
    pvi_str_puts(b, margin ? "prediction,margin,probability" : "prediction");
    for (int64_t k = 0; outputs > 1 && k < outputs; k++) {
        char name[256];
        snprintf(name, sizeof name, "p(%s)", m->class_name[k]);
        pvi_str_puts(b, ",");
        put_field(b, name);
    }
    pvi_str_puts(b, "\n");
}

/* p: room for the chances of a row. */
static void put_row(pvi_str *b, const pv_model *m, const float *score, int64_t outputs, double *p)
{
    if (m->file.domain.classes == 0) {
        put_number(b, score[0]);
    } else {
        put_field(b, m->class_name[chances(score, outputs, p)]);
        for (int64_t k = 0; k < (outputs == 1 ? 2 : outputs); k++) { /* a margin, then the chance of its class */
            pvi_str_puts(b, ",");
            put_number(b, outputs == 1 && k == 0 ? (double)score[0] : p[k]);
        }
    }
    pvi_str_puts(b, "\n");
}

enum { PIECE = 1 << 16 }; /* bytes handed over at a time, about */

static pv_status hand_over(pv_ctx *ctx, pvi_str *b, pv_write_fn write, void *user)
{
    if (b->failed) return pvi_nomem(ctx);
    const bool more = b->len == 0 || write(user, b->s, b->len);
    pvi_after_host(ctx);
    b->len = 0;
    return more ? PV_OK : pvi_fail(ctx, PV_E_CANCELLED, "scores: the callback that takes them stopped");
}

static pv_status put_scores(const pv_model *m, const pvi_scores *x, pv_write_fn write, void *user)
{
    const int64_t classes = m->file.domain.classes, n = x->x->domain.n;
    pvi_str b = { .ctx = m->ctx };
    double *p = pvi_alloc(m->ctx, sizeof *p * (size_t)(classes + 1));
    pv_status s = p ? PV_OK : pvi_nomem(m->ctx);
    if (s == PV_OK) put_header(&b, m, x->outputs);
    for (int64_t i = 0; s == PV_OK && i < n; i++) {
        put_row(&b, m, x->score + i * x->outputs, x->outputs, p);
        if (b.len >= PIECE) s = hand_over(m->ctx, &b, write, user);
    }
    if (s == PV_OK) s = hand_over(m->ctx, &b, write, user);
    pvi_free(m->ctx, p);
    pvi_str_free(&b);
    return s;
}

static bool to_file(void *f, const char *text, size_t size)
{
    return fwrite(text, 1, size, f) == size || true; /* the stream keeps the error, and the commit reports it */
}

pv_status pv_model_predict(pv_model *m, const char *data, const char *out_csv)
{
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, data);
    PVI_NEEDS(m->ctx, out_csv);
    pvi_scores x;
    pvi_atomic out;
    pv_status s = pvi_score(m, NULL, data, true, NULL, &x);
    if (s == PV_OK && (s = pvi_atomic_open(m->ctx, out_csv, &out)) == PV_OK) {
        s = put_scores(m, &x, to_file, out.f);
        if (s == PV_OK) s = pvi_atomic_commit(&out);
        else pvi_atomic_abandon(&out);
    }
    pvi_scores_free(m->ctx, &x);
    return pvi_done(m->ctx, s);
}

pv_status pv_model_predict_to(pv_model *m, pv_data *data, pv_write_fn write, void *user)
{
    PVI_CALL(m, PVI_MODEL);
    PVI_TAKES(m->ctx, data, PVI_DATA);
    PVI_NEEDS(m->ctx, write);
    pvi_scores x;
    pv_status s = pvi_score(m, data, NULL, true, NULL, &x);
    if (s == PV_OK) s = put_scores(m, &x, write, user);
    pvi_scores_free(m->ctx, &x);
    return pvi_done(m->ctx, s);
}

/* ---- numbers ------------------------------------------------------------------------------------------------- */

static pv_status fill(const pv_model *m, const pvi_scores *x, const pv_predictions *out)
{
    const int64_t classes = m->file.domain.classes;
    if (!out->probability && !out->label) return PV_OK;
    double *p = pvi_alloc(m->ctx, sizeof *p * (size_t)classes);
    if (!p) return pvi_nomem(m->ctx);
    for (int64_t i = 0; i < out->rows; i++) {
        double *const to = out->probability ? out->probability + i * classes : p;
        const int64_t best = chances(x->score + i * x->outputs, x->outputs, to);
        if (out->label) out->label[i] = best;
    }
    pvi_free(m->ctx, p);
    return PV_OK;
}

pv_status pv_model_predict_on(pv_model *m, pv_data *data, const pv_predictions *out)
{
    PVI_CALL(m, PVI_MODEL);
    PVI_TAKES(m->ctx, data, PVI_DATA);
    PVI_NEEDS(m->ctx, out);
    pvi_scores x;
    if (m->file.domain.classes == 0 && (out->probability || out->label))
        return pvi_fail(m->ctx, PV_E_ARG, "the model predicts a number: it has a score, no classes");
    pv_status s = pvi_score(m, data, NULL, true, out, &x);
    if (s == PV_OK) s = fill(m, &x, out);
    pvi_scores_free(m->ctx, &x);
    return pvi_done(m->ctx, s);
}

/* ---- measures of quality --------------------------------------------------------------------------------- */

static bool is_training_data(const pvi_cert *c, const pvi_matrix *x)
{
    char salted[65];
    if (!c->data_digest) return false;
    if (c->version < 3) return strcmp(x->digest, c->data_digest) == 0;
    if (!c->data_salt) return false;
    pvi_salted_digest(c->data_salt, x->digest, salted);
    return strcmp(salted, c->data_digest) == 0;
}

static pv_status eval_json(const pv_model *m, const pvi_scores *x, char **json)
{
    pvi_str b = { .ctx = m->ctx };
    pvi_jw w = { .out = &b, .indent = 2 };
    pv_domain dom = m->file.domain;
    dom.n = x->x->domain.n;
    pvi_jw_open(&w, NULL, '{');
    pvi_jw_bool(&w, "model_is_private", m->cert.is_private);
    if (!m->cert.is_private) pvi_jw_str(&w, "warning", "NOT PRIVATE");
    pvi_jw_bool(&w, "metrics_are_private", false); /* counts over these rows, without noise */
    pvi_jw_bool(&w, "training_rows", is_training_data(&m->cert, x->x));
    pvi_jw_f64(&w, "epsilon", m->cert.epsilon);
    pvi_jw_f64(&w, "delta", m->cert.delta);
    const pv_status s = pvi_metrics_json(m->ctx, &dom, x->x->class_names, dom.n, x->score, x->x->y, &w);
    pvi_jw_close(&w, '}');
    pvi_str_puts(&b, "\n");
    if (s == PV_OK) return pvi_str_take(&b, json);
    pvi_str_free(&b);
    return s;
}

static pv_status eval(pv_model *m, pv_data *from, const char *path, char **json)
{
    pvi_scores x;
    pv_status s = pvi_score(m, from, path, false, NULL, &x);
    if (s == PV_OK) s = eval_json(m, &x, json);
    pvi_scores_free(m->ctx, &x);
    return pvi_done(m->ctx, s);
}

pv_status pv_model_eval(pv_model *m, const char *data, char **json)
{
    if (json) *json = NULL;
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, data);
    PVI_NEEDS(m->ctx, json);
    return eval(m, NULL, data, json);
}

pv_status pv_model_eval_on(pv_model *m, pv_data *data, char **json)
{
    if (json) *json = NULL;
    PVI_CALL(m, PVI_MODEL);
    PVI_TAKES(m->ctx, data, PVI_DATA);
    PVI_NEEDS(m->ctx, json);
    return eval(m, data, NULL, json);
}
