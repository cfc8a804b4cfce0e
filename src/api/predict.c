/* predict.c - what a model makes of rows: lines of CSV, numbers in the caller's buffers, measures of quality.
 *
 *   (1) a margin m (one score, two classes)   p = (1 - q, q), q = 1/(1 + e^-m); label 1 where m > log(t/(1 - t)),
 *       that is q > t, t = predict.threshold
 *   (2) a score z_k per class                 p_k = e^(z_k - max z) / sum; label: the first of the largest */
#include "data/dictionary.h"
#include "eval/eval.h"
#include "api/scored.h"

/* Chances of all classes from the scores of a row; returns the most likely one. */
static int64_t chances(const float *score, int64_t outputs, double cut, double *p)
{
    if (outputs == 1) { /* (1) */
        p[1] = 1.0 / (1.0 + exp(-(double)score[0]));
        p[0] = 1.0 / (1.0 + exp((double)score[0]));
        return (double)score[0] > cut;
    }
    int64_t best = 0; /* (2) */
    double total = 0.0;
    for (int64_t k = 1; k < outputs; k++)
        if (score[k] > score[best]) best = k;
    for (int64_t k = 0; k < outputs; k++) total += p[k] = exp((double)score[k] - score[best]);
    for (int64_t k = 0; k < outputs; k++) p[k] /= total;
    return best;
}

/* ---- lines of CSV ------------------------------------------------------------------------------------------
 * Rows are scored and written as they are read, a round of text at a time, so that memory does not grow with them.
 * Columns of the table that are kept are copied as they are written there, in front of the scores. */
typedef struct lines {
    pv_model *m;
    const char *keep; /* NULL: nothing; "*": all of the record; or names with commas */
    pv_write_fn write;
    void *user;
    pvi_str b;
    pvi_dialect dialect; /* of the table; separator 0: no header was seen */
    bool begun;
    int64_t outputs, kept, fields; /* fields: as many as the last that is kept */
    int64_t *place;                /* of the kept ones, owned                   */
    pvi_span *field;               /* owned                                     */
    double *p;                     /* room for the chances of a row, owned      */
    char *first;                   /* all of the record: the first file's header, owned */
    size_t first_len;
} lines;

/* A field: quoted where it must be. */
static void put_field(lines *l, const char *s)
{
    const char special[] = { l->dialect.separator ? l->dialect.separator : ',', '"', '\r', '\n', '\0' };
    pvi_str *b = &l->b;
    if (!strpbrk(s, special)) {
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

static void put_separator(lines *l)
{
    pvi_str_add(&l->b, l->dialect.separator ? &l->dialect.separator : ",", 1);
}

static void put_number(lines *l, double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", x); /* a float, exactly */
    pvi_str_puts(&l->b, text);
}

static void put_header(lines *l)
{
    const pv_model *m = l->m;
    const int64_t classes = m->file.domain.classes;
    pvi_str_puts(&l->b, "prediction");
    if (classes > 0 && l->outputs == 1) {
        put_separator(l);
        pvi_str_puts(&l->b, "margin");
    }
    for (int64_t k = 0; k < classes; k++) {
        char name[256];
        snprintf(name, sizeof name, "p(%s)", m->class_name[k]);
        put_separator(l);
        put_field(l, name);
    }
    pvi_str_puts(&l->b, "\n");
}

static void put_row(lines *l, const float *score)
{
    const int64_t classes = l->m->file.domain.classes;
    if (classes == 0) {
        put_number(l, score[0]);
    } else {
        put_field(l, l->m->class_name[chances(score, l->outputs, l->m->cut, l->p)]);
        if (l->outputs == 1) {
            put_separator(l);
            put_number(l, score[0]);
        }
        for (int64_t k = 0; k < classes; k++) {
            put_separator(l);
            put_number(l, l->p[k]);
        }
    }
    pvi_str_puts(&l->b, "\n");
}

enum { PIECE = 1 << 16 }; /* bytes handed over at a time, about */

static pv_status hand_over(lines *l)
{
    pv_ctx *ctx = l->m->ctx;
    pvi_str *b = &l->b;
    if (b->failed) return pvi_nomem(ctx);
    const bool more = b->len == 0 || l->write(l->user, b->s, b->len);
    pvi_after_host(ctx);
    b->len = 0;
    return more ? PV_OK : pvi_fail(ctx, PV_E_CANCELLED, "scores: the callback that takes them stopped");
}

/* What is kept of a record, each with a separator behind it; returns what follows the record. */
static const char *put_kept(lines *l, const char *p, const char *end)
{
    pvi_span record;
    int64_t n;
    const char *next = pvi_csv_next(p, end, &l->dialect, l->field, l->fields, &n, &record);
    if (!next) return NULL;
    if (strcmp(l->keep, "*") == 0) {
        pvi_str_add(&l->b, record.s, record.len);
        put_separator(l);
    }
    for (int64_t i = 0; i < l->kept; i++) {
        if (l->place[i] < n) pvi_str_add(&l->b, l->field[l->place[i]].s, l->field[l->place[i]].len);
        put_separator(l);
    }
    return next;
}

/* Where the columns to keep are in the header. */
static pv_status find_kept(lines *l, const char *text, size_t len)
{
    pv_ctx *ctx = l->m->ctx;
    pvi_span record, *all = NULL;
    int64_t n, k = 0, fields;
    if (!pvi_csv_next(text, text + len, &l->dialect, NULL, 0, &fields, &record)) return PV_OK;
    all = pvi_alloc(ctx, sizeof *all * (size_t)fields);
    if (!all) return pvi_nomem(ctx);
    pvi_csv_next(text, text + len, &l->dialect, all, fields, &n, &record);
    pv_status s = PV_OK;
    l->fields = 0;
    for (const char *name = l->keep; s == PV_OK; k++) {
        const size_t size = strcspn(name, ",");
        int64_t at = 0;
        while (at < n && !pvi_csv_named(&all[at], name, size)) at++;
        if (at == n) s = pvi_fail(ctx, PV_E_PARAM, "the header has no column \"%.*s\" to keep", (int)size, name);
        l->place[k] = at;
        if (at >= l->fields) l->fields = at + 1;
        if (!name[size]) break;
        name += size + 1;
    }
    pvi_free(ctx, all);
    if (s != PV_OK) return s;
    pvi_free(ctx, l->field);
    l->field = pvi_alloc(ctx, sizeof *l->field * (size_t)l->fields);
    return l->field ? PV_OK : pvi_nomem(ctx);
}

static pv_status take_header(void *user, const char *text, size_t len, const pvi_dialect *d)
{
    lines *l = user;
    if (!l->keep) return PV_OK;
    l->dialect = *d;
    const bool whole = strcmp(l->keep, "*") == 0;
    if (whole && l->begun && (len != l->first_len || memcmp(text, l->first, len) != 0))
        return pvi_fail(
            l->m->ctx, PV_E_FORMAT,
            "the files have different headers: --keep COLUMN,.. finds columns by name, --append does not");
    if (whole && !l->begun && !(l->first = pvi_alloc(l->m->ctx, len + 1))) return pvi_nomem(l->m->ctx);
    if (whole && !l->begun) memcpy(l->first, text, l->first_len = len);
    const pv_status s = whole ? PV_OK : find_kept(l, text, len);
    if (s != PV_OK || l->begun) return s;
    l->begun = true;
    put_kept(l, text, text + len);
    put_header(l);
    return PV_OK;
}

static pv_status take_rows(void *user, pvi_matrix *x, const char *text, size_t len)
{
    lines *l = user;
    const char *p = text, *end = text ? text + len : NULL;
    float *score = NULL;
    if (l->keep && !l->begun)
        return pvi_fail(l->m->ctx, PV_E_PARAM, "columns can be kept of a table with a schema and a header");
    pv_status s = pvi_score_matrix(l->m, x, &score);
    if (s == PV_OK && !l->begun) put_header(l);
    l->begun = true;
    for (int64_t i = 0; s == PV_OK && i < x->domain.n; i++) {
        if (l->keep && p) p = put_kept(l, p, end);
        PVI_REQUIRE(!l->keep || p); /* as many records as rows */
        put_row(l, score + i * l->outputs);
        if (l->b.len >= PIECE) s = hand_over(l);
    }
    if (s == PV_OK) s = hand_over(l);
    pvi_free(l->m->ctx, score);
    return s;
}

static pv_status write_lines(pv_model *m, pv_data *from, const char *path, const char *keep, pv_write_fn write,
                             void *user)
{
    pv_ctx *ctx = m->ctx;
    lines l = { .m = m, .keep = keep, .write = write, .user = user, .b = { .ctx = ctx } };
    const pvi_piece piece = { take_header, take_rows, &l };
    l.outputs = m->choice.ops->outputs(m->choice.cfg, &m->file.domain);
    if (keep && strcmp(keep, "*") != 0) {
        for (const char *c = keep; c; c = strchr(c, ','), c = c ? c + 1 : NULL) l.kept++;
        l.place = pvi_alloc(ctx, sizeof *l.place * (size_t)l.kept);
    }
    l.p = pvi_alloc(ctx, sizeof *l.p * (size_t)(m->file.domain.classes + 1));
    pv_status s = l.p && (!l.kept || l.place) ? PV_OK : pvi_nomem(ctx);
    if (s == PV_OK) s = pvi_score_pieces(m, from, path, &piece);
    pvi_free(ctx, l.p);
    pvi_free(ctx, l.place);
    pvi_free(ctx, l.field);
    pvi_free(ctx, l.first);
    pvi_str_free(&l.b);
    return s;
}

static bool to_file(void *file, const char *text, size_t size)
{
    pvi_atomic_put(file, text, size);
    return true;
}

static pv_status write_file(pv_model *m, const char *data, const char *keep, const char *out_csv)
{
    pvi_atomic out;
    pv_status s = pvi_atomic_open(m->ctx, out_csv, &out);
    if (s != PV_OK) return s;
    s = write_lines(m, NULL, data, keep, to_file, &out);
    if (s == PV_OK) return pvi_atomic_commit(&out);
    pvi_atomic_abandon(&out);
    return s;
}

pv_status pv_model_predict(pv_model *m, const char *data, const char *out_csv)
{
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, data);
    PVI_NEEDS(m->ctx, out_csv);
    return pvi_done(m->ctx, write_file(m, data, NULL, out_csv));
}

pv_status pv_model_predict_keeping(pv_model *m, const char *data, const char *keep, const char *out_csv,
                                   pv_write_fn write, void *user)
{
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, data);
    if (!out_csv) PVI_NEEDS(m->ctx, write);
    return pvi_done(m->ctx,
                    out_csv ? write_file(m, data, keep, out_csv) : write_lines(m, NULL, data, keep, write, user));
}

pv_status pv_model_predict_to(pv_model *m, pv_data *data, pv_write_fn write, void *user)
{
    PVI_CALL(m, PVI_MODEL);
    PVI_TAKES(m->ctx, data, PVI_DATA);
    PVI_NEEDS(m->ctx, write);
    return pvi_done(m->ctx, write_lines(m, data, NULL, NULL, write, user));
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
        const int64_t best = chances(x->score + i * x->outputs, x->outputs, m->cut, to);
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

bool pvi_is_training_data(const pvi_cert *c, const pvi_matrix *x)
{
    char salted[65];
    if (!c->data_digest) return false;
    if (c->version < 3) return strcmp(x->digest, c->data_digest) == 0;
    if (!c->data_salt) return false;
    pvi_salted_digest(c->data_salt, x->digest, salted);
    return strcmp(salted, c->data_digest) == 0;
}

/* data.trained_on: how many persons of these rows are among those of that file; -1: not asked for.  Nothing of a
 * person is kept after training that could tell: no id and no hash of one is in the model, so the file itself is read
 * again, ids of both under one key that is drawn for it. */
static pv_status count_trained(pv_model *m, const pvi_scores *x, int64_t *both)
{
    const char *path = m->plan->s.data.trained_on;
    pvi_matrix *t = NULL;
    *both = -1;
    if (!path || !*path) return PV_OK;
    pv_status s = pvi_owners_of(m, path, x, &t);
    if (s == PV_OK && !(t->owner && x->x->owner))
        s = pvi_fail(m->ctx, PV_E_PARAM, "data.trained_on=%s: no column says whose rows %s are", path,
                     t->owner ? "these" : "those");
    if (s == PV_OK) {
        const int64_t old = pvi_ids_sort(t->owner, t->stored), now = pvi_ids_sort(x->x->owner, x->x->stored);
        *both = pvi_ids_common(x->x->owner, now, t->owner, old);
    }
    pvi_matrix_free(t);
    return s;
}

static pv_status write_persons(pv_model *m, const pv_domain *dom, const pvi_scores *x, pvi_jw *w)
{
    int64_t both;
    pv_status s = PV_OK;
    if (x->x->owner) s = pvi_metrics_by_person(m->ctx, dom, dom->n, x->score, x->x->y, m->cut, &x->x->owner->hi, w);
    if (s == PV_OK) s = count_trained(m, x, &both); /* last: it sorts the ids */
    if (s == PV_OK && both >= 0) pvi_jw_i64(w, "persons_trained_on", both);
    return s;
}

static pv_status eval_json(pv_model *m, const pvi_scores *x, char **json)
{
    pvi_str b = { .ctx = m->ctx };
    pvi_jw w = { .out = &b, .indent = 2 };
    pv_domain dom = m->file.domain;
    dom.n = x->x->domain.n;
    pvi_jw_open(&w, NULL, '{');
    pvi_jw_bool(&w, "model_is_private", m->cert.is_private);
    if (!m->cert.is_private) pvi_jw_str(&w, "warning", "NOT PRIVATE");
    pvi_jw_bool(&w, "metrics_are_private", false); /* counts over these rows, without noise */
    pvi_jw_bool(&w, "training_rows", pvi_is_training_data(&m->cert, x->x));
    pvi_jw_f64(&w, "epsilon", m->cert.epsilon);
    pvi_jw_f64(&w, "delta", m->cert.delta);
    if (m->cut != 0.0) pvi_jw_f64(&w, "threshold", 1.0 / (1.0 + exp(-m->cut)));
    pv_status s = pvi_metrics_json(m->ctx, &dom, x->x->class_names, dom.n, x->score, x->x->y, m->cut, &w);
    if (s == PV_OK) s = write_persons(m, &dom, x, &w);
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
