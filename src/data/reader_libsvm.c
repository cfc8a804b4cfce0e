/* reader_libsvm.c - one row per line:  label index:value index:value ...  # comment
 *
 * Indices count from 1 and ascend; absent ones are zero.  Blank lines and comments are skipped, CRLF is
 * fine.  Common pairs take the fast path below, with one unpredictable branch per pair at most;
 * everything else goes to slow_pair(), which either understands it or says what is wrong with it. */
#include <float.h>

#include "decimal.h"
#include "reader.h"

typedef struct state {
    const pvi_label_rule *label;
    bool labelled;
    bool drop;     /* features above the limit are left out, because data.outside=missing */
    bool scoring;  /* the limit is that of a trained model */
    int64_t limit; /* largest index allowed */
} state;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool ends_token(char c)
{
    return is_blank(c) || c == '\n' || c == '#';
}

static const char *skip_blanks(const char *p)
{
    while (is_blank(*p)) p++;
    return p;
}

static const char *token_end(const char *p)
{
    while (!ends_token(*p)) p++;
    return p;
}

/* ---- one index:value ------------------------------------------------------------------------------ */
static inline const char *fast_pair(const char *p, int64_t *index, float *value)
{
    uint64_t i;
    double x;
    const int n = pvi_digits8(p, &i);
    if (n == 0 || n == 8 || p[n] != ':') return NULL;
    const char *end = pvi_decimal(p + n + 1, &x);
    if (!end || !ends_token(*end)) return NULL;
    *index = (int64_t)i;
    *value = (float)x;
    return fabsf(*value) <= FLT_MAX ? end : NULL;
}

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

static const char *slow_pair(pvi_chunk *c, const char *p, int64_t *index, float *value)
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

static bool bad_index(pvi_chunk *c, const char *p, int64_t index, int64_t before)
{
    if (index == 0) pvi_chunk_fail(c, p, "feature index 0: indices start at 1");
    else if (index == before) pvi_chunk_fail(c, p, "feature index %lld occurs twice in one row", (long long)index);
    else
        pvi_chunk_fail(c, p, "feature index %lld after %lld: indices must ascend", (long long)index,
                       (long long)before);
    return false;
}

static bool above_limit(const state *s, pvi_chunk *c, const char *p, int64_t index)
{
    if (s->drop) return true;
    pvi_chunk_fail(c, p,
                   s->scoring ? "feature index %lld, but the model has %lld features; data.outside=missing drops it"
                              : "feature index %lld is above data.features=%lld; data.outside=missing drops it",
                   (long long)index, (long long)s->limit);
    return false;
}

/* The pairs of one line into the segment from entry *n on; p ends on '\n' or '#'. */
static const char *pairs(const state *s, pvi_chunk *c, const char *p, uint32_t *n)
{
    float *val = c->seg.val;
    int32_t *idx = c->seg.idx;
    uint32_t k = *n;
    int64_t before = 0, index = 0;
    float v = 0;

    for (p = skip_blanks(p); *p != '\n' && *p != '#'; p = skip_blanks(p)) {
        const char *end = fast_pair(p, &index, &v);
        if (!end && !(end = slow_pair(c, p, &index, &v))) return NULL;
        if (index <= before && !bad_index(c, p, index, before)) return NULL;
        before = index;
        if (index > s->limit && !above_limit(s, c, p, index)) return NULL;
        idx[k] = (int32_t)index - 1;
        val[k] = v;
        k += v != 0.0f && index <= s->limit; /* zeros are not stored */
        p = end;
    }
    if (before > s->limit) before = s->limit;
    if (before > c->seg.max_index) c->seg.max_index = before;
    *n = k;
    return p;
}

/* ---- lines ------------------------------------------------------------------------------------------- */
static const char *label_of(const state *s, pvi_chunk *c, pvi_label_memo *memo, const char *p, float *y)
{
    const char *end = token_end(p);
    if (memchr(p, ':', (size_t)(end - p)))
        return pvi_chunk_fail(c, p, "the label is missing: a line starts with it, then index:value pairs"), NULL;
    if (pvi_label_memo_value(s->label, memo, p, (size_t)(end - p), y, c->why, sizeof c->why)) return end;
    c->bad = p;
    return NULL;
}

static void parse(const void *st, pvi_chunk *c)
{
    const state *s = st;
    pvi_segment *g = &c->seg;
    pvi_label_memo memo = { 0 };
    uint32_t n = 0;

    for (const char *p = c->begin; p < c->end; c->lines++) {
        p = skip_blanks(p);
        if (*p != '\n' && *p != '#') {
            float y = 0;
            if (s->labelled && !(p = label_of(s, c, &memo, p, &y))) return;
            if (!(p = pairs(s, c, p, &n))) return;
            g->y[g->rows] = y;
            g->end[g->rows++] = n;
        }
        p = *p == '\n' ? p + 1 : (const char *)memchr(p, '\n', (size_t)(c->end - p)) + 1; /* comment */
    }
    c->stop = c->end;
}

static pv_status feature_limit(const struct pv_load *job, state *s, int64_t *features)
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
    state *s = st;
    const char *p = c->begin;
    int64_t features = -1;
    while (p < c->end) {
        const char *line = skip_blanks(p);
        if (*line != '\n' && *line != '#') {
            const char *end = token_end(line);
            const bool pair = memchr(line, ':', (size_t)(end - line)) != NULL;
            s->labelled = job->labelled = !(pair && job->expect->labels_optional);
            pv_status status = feature_limit(job, s, &features);
            return status == PV_OK ? pvi_build_begin(job, features) : status;
        }
        p = (const char *)memchr(p, '\n', (size_t)(c->end - p)) + 1;
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

static pv_status read_file(const void *cfg, struct pv_load *job)
{
    static const pvi_text_ops ops = { start, parse, row_bytes, 4 /* " 1:2" */ };
    state s = { .label = &job->label };
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
    while (s < stop && (is_blank(*s) || *s == '\n' || *s == '#')) {
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
        while (s < stop && !ends_token(*s)) s++;
        while (s < stop && is_blank(*s)) s++;
    }
    return pairs_seen > 0 && others <= 1 ? 90 : 0;
}

const pv_reader_ops pv_reader_libsvm = {
    .head = { .abi = PV_PLUGIN_ABI,
              .name = "libsvm",
              .summary = "sparse text rows: label index:value ...",
              .reference = "Chang, Lin: LIBSVM, ACM TIST 2 (2011), README: data format",
              .params = pv_no_params },
    .probe = probe,
    .read = read_file,
};
