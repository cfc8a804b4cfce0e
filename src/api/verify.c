/* verify.c - `privet verify`: does the certificate, or the certificate inside a model file, hold?
 *
 * For a model file the checksum over the whole file, weights included, is checked on the way, and the
 * model must be the one the certificate speaks of: same loss, rows, columns and settings, and from version 3 on
 * the weights and the header whose digests it holds (model_file.c).  What that shows and what it does not is part of
 * the report (statement.c). */
#include "cert/cert.h"
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

static pv_status read_from_model(pv_ctx *ctx, pv_arena *a, const char *path, pvi_cert *c)
{
    pvi_model_file m;
    pv_status s = pvi_model_read(ctx, a, path, &m);
    if (s == PV_OK) s = pvi_cert_parse(ctx, a, path, m.certificate, strlen(m.certificate), c);
    if (s != PV_OK) return s;
    if (!c->model || strcmp(c->model, m.model) != 0 || c->rows != m.domain.n || c->features != m.domain.p ||
        c->weights != m.d || !c->settings || strcmp(c->settings, m.settings) != 0)
        return pvi_fail(ctx, PV_E_VERIFY, "%s: does not hold: the certificate is of another model", path);
    return PV_OK;
}

static pv_status report(pv_ctx *ctx, const pvi_cert *c, const pvi_recomputed *got, bool is_model, char **json)
{
    pvi_str out = { .ctx = ctx }, words = { .ctx = ctx };
    pvi_jw w = { .out = &out, .indent = 2 };
    pvi_cert newest = *c;
    newest.version = PVI_CERT_VERSION;

    pvi_cert_statement(c, &words);
    pvi_jw_open(&w, NULL, '{');
    pvi_jw_bool(&w, "verified", true);
    pvi_jw_str(&w, "file", is_model ? "model" : "certificate");
    pvi_jw_i64(&w, "version", c->version);
    pvi_strength_write(&w, &(pvi_claim) { c->epsilon, c->delta, (double)c->rows, c->relation, 1 });
    pvi_jw_f64(&w, "epsilon", c->epsilon);
    pvi_jw_f64(&w, "delta", c->delta);
    pvi_jw_str(&w, "relation", c->relation == PV_REL_REPLACE ? "replace" : "zero-out");
    pvi_jw_str(&w, "accountant", c->accountant);
    pvi_jw_f64(&w, "epsilon_recomputed", got->epsilon);
    pvi_jw_f64(&w, "epsilon_replace", c->epsilon_replace);
    pvi_jw_f64(&w, "epsilon_replace_recomputed", got->epsilon_replace);
    pvi_jw_bool(&w, "replace_is_group_bound", c->replace_is_group_bound);
    pvi_jw_str(&w, "statement", words.s);
    pvi_jw_open(&w, "assumptions", '[');
    for (int64_t i = 0; i < c->n_assumptions; i++) pvi_jw_str(&w, NULL, c->assumptions[i]);
    pvi_jw_close(&w, ']');
    pvi_cert_not_covered(&newest, &w, "not_covered"); /* version 2's own sentence on other runs is not true */
    pvi_cert_shown(c, is_model, &w, "shown");
    pvi_cert_taken_on_trust(c, is_model, &w, "on_trust");
    pvi_jw_close(&w, '}');
    out.failed |= words.failed;
    pvi_str_free(&words);
    return pvi_str_take(&out, json);
}

pv_status pv_verify(pv_ctx *ctx, const char *path, char **json)
{
    if (json) *json = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, path);
    pvi_recomputed got;
    pvi_cert c;
    bool is_model = false;

    pv_arena *a = pvi_arena_create(ctx);
    if (!a) return pvi_nomem(ctx);
    pv_status s = peek(ctx, path, &is_model);
    if (s == PV_OK) s = is_model ? read_from_model(ctx, a, path, &c) : read_certificate(ctx, a, path, &c);
    if (s == PV_OK) s = pvi_cert_recompute(ctx, path, &c, &got);
    if (s == PV_OK && json) s = report(ctx, &c, &got, is_model, json);
    if (s == PV_E_FORMAT) s = PV_E_VERIFY; /* what cannot be read does not hold; the message says where */
    pvi_arena_free(a);
    return pvi_done(ctx, s);
}
