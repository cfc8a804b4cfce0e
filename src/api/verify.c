/* verify.c - `privet verify`: does the certificate, or the certificate inside a model file, hold?
 *
 * For a model file the checksum over the whole file, weights included, is checked on the way, and the
 * model must be the one the certificate speaks of: same loss, rows, columns and settings, and from version 3 on
 * the weights and the header whose digests it holds (model_file.c).  What that shows and what it does not is part of
 * the report (statement.c). */
#include "cert/cert.h"
#include "eval/eval.h"
#include "export/model_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIMIT = 1 << 24 }; /* bytes of a certificate */

/* By content, not by name.  A pipe does not block here and is refused by whoever reads it. */
static pv_status peek(pv_ctx *ctx, const char *path, bool *is_model)
{
    char start[8];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return pvi_fail(ctx, PV_E_IO, "%s: %s", path, strerror(errno));
    struct stat st;
    const ssize_t n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, start, sizeof start) : -1;
    *is_model = n > 0 && pvi_is_model_file(start, (size_t)n);
    close(fd);
    if (!*is_model && (n == 0 || (n > 0 && !strchr("{ \t\r\n", start[0]))))
        return pvi_fail(ctx, PV_E_VERIFY, "%s: neither a privet model nor a certificate", path);
    return PV_OK;
}

static pv_status read_certificate(pv_ctx *ctx, pv_arena *a, const char *path, pvi_cert *c)
{
    char *text;
    size_t len;
    pv_status s = pvi_file_read(ctx, path, LIMIT, &text, &len);
    if (s == PV_OK) s = pvi_cert_parse(ctx, a, path, text, len, c);
    pvi_free(ctx, text);
    return s;
}

static pv_status check_model(pv_ctx *ctx, pv_arena *a, const char *path, const pvi_model_file *m, pvi_cert *c)
{
    const pv_status s = pvi_cert_parse(ctx, a, path, m->certificate, strlen(m->certificate), c);
    if (s != PV_OK) return s;
    if (!c->model || strcmp(c->model, m->model) != 0 || c->rows != m->domain.n ||
        c->unit_rows != m->domain.unit_rows || c->features != m->domain.p || c->weights != m->d || !c->settings ||
        strcmp(c->settings, m->settings) != 0)
        return pvi_fail(ctx, PV_E_VERIFY, "%s: does not hold: the certificate is of another model", path);
    if (pvi_cert_evaluation(c)) /* true of counts, and says nothing of how the weights were found */
        return pvi_fail(ctx, PV_E_VERIFY, "%s: does not hold: the certificate is of an evaluation, not of training",
                        path);
    return PV_OK;
}

static pv_status read_from_model(pv_ctx *ctx, pv_arena *a, const char *path, pvi_cert *c)
{
    pvi_model_file m;
    const pv_status s = pvi_model_read(ctx, a, path, &m);
    return s == PV_OK ? check_model(ctx, a, path, &m, c) : s;
}

static pv_status read_bytes(pv_ctx *ctx, pv_arena *a, const char *name, const void *bytes, size_t size, bool is_model,
                            pvi_cert *c)
{
    pvi_model_file m;
    if (!is_model && size > LIMIT) return pvi_fail(ctx, PV_E_VERIFY, "%s: too long for a certificate", name);
    if (!is_model) return pvi_cert_parse(ctx, a, name, bytes, size, c);
    const pv_status s = pvi_model_of_bytes(ctx, a, name, bytes, size, &m);
    return s == PV_OK ? check_model(ctx, a, name, &m, c) : s;
}

/* What the counts of a stage say of the number of rows. */
static void write_counted(pvi_jw *w, const pvi_cert *c)
{
    const pvi_cert_kind *k = pvi_cert_stage_of(c, pvi_kind_person_rows);
    if (!k) return;
    const pvi_rows_found f = pvi_person_rows_total(k->counts, k->n_counts, c->rows, c->unit_rows, k->noise_stddev);
    pvi_rows_found_write(w, &f);
}

/* Figures of an evaluation, made again of the counts. */
static pv_status write_evaluation(pv_ctx *ctx, const pvi_cert *c, pvi_jw *w)
{
    const pvi_cert_kind *k = pvi_cert_evaluation(c);
    if (!k) return PV_OK;
    const pvi_noisy noisy = { k->counts, k->n_counts, c->rows, c->noise_stddev };
    pvi_jw_open(w, "evaluation", '{');
    pvi_jw_str(w, "weights_digest", c->weights_digest);
    const pv_status s = pvi_noisy_figures(ctx, &noisy, NULL, w);
    pvi_jw_close(w, '}');
    return s;
}

static pv_status report(pv_ctx *ctx, const pvi_cert *c, const pvi_recomputed *got, bool is_model, char **json)
{
    pvi_str out = { .ctx = ctx }, words = { .ctx = ctx };
    pvi_jw w = { .out = &out, .indent = 2 };
    pvi_cert newest = *c;
    newest.version = c->version < PVI_CERT_VERSION ? PVI_CERT_VERSION : c->version;

    pvi_cert_statement(c, &words);
    pvi_jw_open(&w, NULL, '{');
    pvi_jw_bool(&w, "verified", true);
    pvi_jw_str(&w, "file", is_model ? "model" : "certificate");
    pvi_jw_i64(&w, "version", c->version);
    if (c->unit) {
        pvi_jw_str(&w, "unit", c->unit);
        pvi_jw_i64(&w, "rows_per_person", c->unit_rows);
        write_counted(&w, c);
    }
    pvi_jw_i64(&w, c->unit ? "persons" : "rows", c->rows);
    pvi_jw_str(&w, "made_by", c->made_by);
    pvi_issuer_write(c, ctx, &w);
    pvi_jw_str(&w, "data_digest", c->data_digest);
    pvi_strength_write(&w, &(pvi_claim) { c->epsilon, c->delta, (double)c->rows, c->relation, 1, c->unit_rows > 0 });
    pvi_jw_f64(&w, "epsilon", c->epsilon);
    pvi_jw_f64(&w, "delta", c->delta);
    pvi_jw_str(&w, "relation", c->relation == PV_REL_REPLACE ? "replace" : "zero-out");
    pvi_jw_str(&w, "accountant", c->accountant);
    pvi_jw_f64(&w, "epsilon_recomputed", got->epsilon);
    pvi_jw_f64(&w, "epsilon_replace", c->epsilon_replace);
    pvi_jw_f64(&w, "epsilon_replace_recomputed", got->epsilon_replace);
    pvi_jw_bool(&w, "replace_is_group_bound", c->replace_is_group_bound);
    pvi_jw_str(&w, "statement", words.s);
    const pv_status figures = write_evaluation(ctx, c, &w);
    pvi_people_write(ctx, &w, "best", c->relation, c->events, c->delta, c->delta_draws, c->unit != NULL);
    pvi_jw_open(&w, "assumptions", '[');
    for (int64_t i = 0; i < c->n_assumptions; i++) pvi_jw_str(&w, NULL, c->assumptions[i]);
    pvi_jw_close(&w, ']');
    pvi_cert_not_covered(&newest, &w, "not_covered"); /* version 2's own sentence on other runs is not true */
    pvi_cert_shown(c, is_model, &w, "shown");
    pvi_cert_taken_on_trust(c, is_model, &w, "on_trust");
    pvi_jw_close(&w, '}');
    out.failed |= words.failed;
    pvi_str_free(&words);
    if (figures == PV_OK) return pvi_str_take(&out, json);
    pvi_str_free(&out);
    return figures;
}

/* read: how reading ended. */
static pv_status judge(pv_ctx *ctx, const char *name, pv_status read, const pvi_cert *c, bool is_model, char **json)
{
    pvi_recomputed got;
    pv_status s = read;
    if (s == PV_OK) s = pvi_cert_recompute(ctx, name, c, &got);
    if (s == PV_OK && json) s = report(ctx, c, &got, is_model, json);
    return s == PV_E_FORMAT ? PV_E_VERIFY : s; /* what cannot be read does not hold; the message says where */
}

pv_status pv_verify(pv_ctx *ctx, const char *path, char **json)
{
    if (json) *json = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, path);
    pvi_cert c;
    bool is_model = false;

    pv_arena *a = pvi_arena_create(ctx);
    if (!a) return pvi_nomem(ctx);
    pv_status s = peek(ctx, path, &is_model);
    if (s == PV_OK) s = is_model ? read_from_model(ctx, a, path, &c) : read_certificate(ctx, a, path, &c);
    s = judge(ctx, path, s, &c, is_model, json);
    pvi_arena_free(a);
    return pvi_done(ctx, s);
}

pv_status pv_verify_bytes(pv_ctx *ctx, const void *bytes, size_t size, const char *name, char **json)
{
    if (json) *json = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, bytes);
    PVI_NEEDS(ctx, name);
    pvi_cert c;
    pv_arena *a = pvi_arena_create(ctx);
    if (!a) return pvi_nomem(ctx);
    const bool is_model = size > 0 && pvi_is_model_file(bytes, size);
    const pv_status read = read_bytes(ctx, a, name, bytes, size, is_model, &c);
    const pv_status s = judge(ctx, name, read, &c, is_model, json);
    pvi_arena_free(a);
    return pvi_done(ctx, s);
}
