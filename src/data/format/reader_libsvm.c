/* reader_libsvm.c - one row per line:  label index:value index:value ...  # comment
 *
 * Indices count from 1 and ascend; absent ones are zero.  Blank lines and comments are skipped, CRLF is
 * fine.  Lines are taken apart in svm_rows.kernel.c; what it finds unusual comes back here and is either
 * understood or refused with the reason. */
#include <float.h>

#include "svm.h"

static const char *token_end(const char *p)
{
    while (!pvi_svm_ends(*p)) p++;
    return p;
}

/* ---- one index:value ------------------------------------------------------------------------------ */
static const char *bad_value(pvi_chunk *c, const char *s, size_t len)
{
    char part[48];
    double x;
    pvi_excerpt(s, len, part);
    if (len == 0) pvi_chunk_fail(c, s, "a value is missing after ':'");
    else if (len >= 512) pvi_chunk_fail(c, s, "a number of %zu characters is too long", len);
    else if (!pvi_parse_f64(s, len, &x)) pvi_chunk_fail(c, s, "'%s' is not a number", part);
    else if (isfinite(x)) pvi_chunk_fail(c, s, "%s is too large for a 32-bit float", part);
    else pvi_chunk_fail(c, s, "'%s' is not a finite number", part);
    return NULL;
}

const char *pvi_svm_pair(pvi_chunk *c, const char *p, int64_t *index, float *value)
{
    const char *end = token_end(p), *colon = memchr(p, ':', (size_t)(end - p));
    char part[48];
    double x;
    pvi_excerpt(p, (size_t)(end - p), part);
    if (!colon) return pvi_chunk_fail(c, p, "index:value is needed, found '%s'", part), NULL;
    if (colon - p == 3 && memcmp(p, "qid", 3) == 0)
        return pvi_chunk_fail(c, p, "ranking data (qid) is not supported; remove the qid entries"), NULL;
    const char *d = p;
    uint64_t i = 0;
    for (; d < colon && *d >= '0' && *d <= '9'; d++) i = i < UINT64_MAX / 16 ? i * 10 + (uint64_t)(*d - '0') : i;
    if (d != colon || d == p) return pvi_chunk_fail(c, p, "'%s' is not index:value", part), NULL;
    if (i > INT32_MAX)
        return pvi_chunk_fail(c, p, "feature index %.*s is above 2147483647", colon - p > 24 ? 24 : (int)(colon - p),
                              p),
               NULL;
    if (!pvi_number(colon + 1, (size_t)(end - colon - 1), &x) || !(fabs(x) <= FLT_MAX))
        return bad_value(c, colon + 1, (size_t)(end - colon - 1));
    *index = (int64_t)i;
    *value = (float)x;
    return end;
}

bool pvi_svm_order(pvi_chunk *c, const char *p, int64_t index, int64_t before)
{
    if (index == 0) pvi_chunk_fail(c, p, "feature index 0: indices start at 1");
    else if (index == before) pvi_chunk_fail(c, p, "feature index %lld occurs twice in one row", (long long)index);
    else
        pvi_chunk_fail(c, p, "feature index %lld after %lld: indices must ascend", (long long)index,
                       (long long)before);
    return false;
}

bool pvi_svm_above(const pvi_svm *s, pvi_chunk *c, const char *p, int64_t index)
{
    if (s->drop) return true;
    pvi_chunk_fail(c, p,
                   s->scoring ? "feature index %lld, but the model has %lld features; data.outside=missing drops it"
                              : "feature index %lld is above data.features=%lld; data.outside=missing drops it",
                   (long long)index, (long long)s->limit);
    return false;
}

/* ---- lines ------------------------------------------------------------------------------------------- */
const char *pvi_svm_label(const pvi_svm *s, pvi_chunk *c, pvi_label_memo *memo, const char *p, float *y)
{
    const char *end = token_end(p);
    if (memchr(p, ':', (size_t)(end - p)))
        return pvi_chunk_fail(c, p, "the label is missing: a line starts with it, then index:value pairs"), NULL;
    if (pvi_label_recall(s->label, memo, p, (size_t)(end - p), y, c->why, sizeof c->why)) return end;
    c->bad = p;
    c->what = PVI_NO_LABEL;
    return NULL;
}

static pv_status feature_limit(const struct pv_load *job, pvi_svm *s, int64_t *features)
{
    const int64_t model = job->expect->features, declared = job->cfg->features;
    s->drop = job->cfg->outside == PVI_OUTSIDE_MISSING;
    s->scoring = model > 0;
    if (model > 0 && declared > 0 && declared != model)
        return pvi_fail(job->ctx, PV_E_PARAM, "data.features=%lld, but the model has %lld", (long long)declared,
                        (long long)model);
    *features = model > 0 ? model : declared > 0 ? declared : -1;
    s->limit = *features > 0 ? *features : INT32_MAX;
    return PV_OK;
}

/* Looks at the first row: does it start with a label? */
static pv_status start(void *st, struct pv_load *job, pvi_chunk *c)
{
    pvi_svm *s = st;
    const char *p = c->begin;
    int64_t features = -1;
    while (p < c->end) {
        const char *line = pvi_svm_skip(p);
        if (*line != '\n' && *line != '#') {
            const char *end = token_end(line);
            const bool pair = memchr(line, ':', (size_t)(end - line)) != NULL;
            s->labelled = job->labelled = !(pair && job->expect->labels_optional);
            pv_status status = feature_limit(job, s, &features);
            return status == PV_OK ? pvi_build_begin(job, features) : status;
        }
        p = (const char *)memchr(p, '\n', (size_t)(c->end - p)) + 1;
        if (pvi_chunk_longer(c, c->stop, p)) return PV_OK;
        c->lines++;
        c->stop = p;
    }
    return PV_OK;
}

static size_t row_bytes(const void *st)
{
    (void)st;
    return 2; /* "1\n" */
}

pvi_svm_parse_fn PVI_DECLARE_NARROW(pvi_svm_parse);
pvi_svm_parse_fn *const pvi_svm_parse_isa[PVI_ISA_COUNT] = PVI_EACH_NARROW(pvi_svm_parse);

static pv_status read_file(const void *cfg, struct pv_load *job)
{
    const pvi_text_ops ops = { start, pvi_svm_parse_isa[pvi_isa()], row_bytes, 4 /* " 1:2" */, NULL };
    pvi_svm s = { .label = &job->label };
    (void)cfg;
    if (job->cfg->center != 0.0)
        return pvi_fail(job->ctx, PV_E_PARAM,
                        "data.center is for tables: LIBSVM rows leave zeros out, and must stay sparse");
    if (job->schema) return pvi_fail(job->ctx, PV_E_PARAM, "data.schema is for tables; LIBSVM files have none");
    pv_status st = pvi_label_declare(job, &job->label);
    if (st == PV_OK) st = pvi_label_check(job, &job->label);
    return st == PV_OK ? pvi_text_run(job, &ops, &s) : st;
}

/* Are the first line's tokens index:value, but for a label? */
static int probe(const char *path, const uint8_t *magic, size_t n)
{
    const char *s = (const char *)magic, *stop = s + n;
    int pairs_seen = 0, others = 0;
    (void)path;
    while (s < stop && (pvi_svm_blank(*s) || *s == '\n' || *s == '#')) {
        if (*s == '#')
            while (s < stop && *s != '\n') s++;
        else s++;
    }
    while (s < stop && *s != '\n' && *s != '#') {
        const char *t = s;
        while (t < stop && *t >= '0' && *t <= '9') t++;
        if (t == stop) break; /* cut by the end of the sample */
        if (t > s && *t == ':') pairs_seen++;
        else others++;
        while (s < stop && !pvi_svm_ends(*s)) s++;
        while (s < stop && pvi_svm_blank(*s)) s++;
    }
    return pairs_seen > 0 && others <= 1 ? 90 : 0;
}

const pv_reader_ops pv_reader_libsvm = {
    .head = { .name = "libsvm",
              .summary = "sparse text rows: label index:value ...",
              .reference = "Chang, Lin: LIBSVM, ACM TIST 2 (2011), README: data format",
              .params = pv_no_params },
    .probe = probe,
    .read = read_file,
};
