/* reader_csv.c - tables: one record per line, columns as the schema declares them.
 *
 * Fields may be quoted as in RFC 4180: "" inside stands for one quote, separators and line ends are
 * text.  Blanks around an unquoted field do not count.  What a field becomes:
 *
 *   number     (v - min) / (max - min) - center, after the column's `outside` policy
 *   category   1 at the value's feature
 *   missing    zero: nothing is stored;  middle: as if v were half way;  error: the file is refused
 *
 * Each depends on the field and the declaration alone.  Without a schema every column is a number taken
 * as it is and the last one is the label; that is allowed only when the labels are declared. */
#include <float.h>

#include "decimal.h"
#include "reader.h"

enum { SCRATCH = 1024 }; /* longest text a declared word can have, and padding */

typedef struct state {
    struct pv_load *job;
    const pvi_schema *sc;
    double center;
    int64_t columns, outside; /* columns in the file: without the label if it has none */
    int64_t skipped;          /* lines taken before the table */
    bool headed;              /* so is the header */
} state;

/* One record under way. */
typedef struct cursor {
    const state *s;
    pvi_chunk *c;
    const char *p;
    bool open; /* a quoted field goes on behind the chunk */
    pvi_label_memo memo;
    char scratch[SCRATCH];
} cursor;

/* ---- fields ----------------------------------------------------------------------------------------- */
static inline bool is_blank(const state *s, char c)
{
    return (c == ' ' || c == '\t') && c != s->sc->separator;
}

static inline bool ends_field(const state *s, const char *p)
{
    return *p == s->sc->separator || *p == '\n' || (*p == '\r' && p[1] == '\n');
}

static inline const char *skip_blanks(const state *s, const char *p)
{
    while (is_blank(s, *p)) p++;
    return p;
}

/* p stands on the opening quote.  Text without escapes is returned in place, other text in scratch. */
static bool quoted_field(cursor *k, pvi_span *out)
{
    const char *open = k->p, *p = open + 1, *from = p;
    size_t n = 0;
    bool escaped = false;
    for (;;) {
        const char *q = memchr(p, '"', (size_t)(k->c->end - p));
        if (!q) {
            k->open = !k->c->last;
            if (k->c->last) pvi_chunk_fail(k->c, open, "a quoted field is never closed");
            return false;
        }
        const bool two = q[1] == '"' && q + 1 < k->c->end;
        const size_t part = (size_t)(q - p) + two;
        if (two || escaped) { /* text too long for any declared word is cut: it cannot match one */
            const size_t room = SCRATCH - 64 - n, fit = part < room ? part : room;
            memcpy(k->scratch + n, p, fit);
            n += fit;
        }
        escaped |= two;
        p = q + 1 + two;
        if (!two) break;
    }
    *out = escaped ? (pvi_span) { k->scratch, n } : (pvi_span) { from, (size_t)(p - 1 - from) };
    if (escaped) memset(k->scratch + n, 0, 16);
    for (const char *s = open; s < p; s++) k->c->lines += *s == '\n';
    k->p = skip_blanks(k->s, p);
    if (ends_field(k->s, k->p)) return true;
    pvi_chunk_fail(k->c, k->p, "text follows a closing quote");
    return false;
}

/* The field at k->p without blanks or quotes; k->p ends on the separator or line end. */
static bool field(cursor *k, pvi_span *out)
{
    const char *p = k->p = skip_blanks(k->s, k->p);
    if (*p == '"') return quoted_field(k, out);
    const char sep = k->s->sc->separator;
    while (*p != sep && *p != '\n') p++;
    if (*p == '\n' && p > k->p && p[-1] == '\r') p--;
    const char *end = p;
    while (end > k->p && is_blank(k->s, end[-1])) end--;
    *out = (pvi_span) { k->p, (size_t)(end - k->p) };
    k->p = p;
    return true;
}

/* ---- values -------------------------------------------------------------------------------------------- */
typedef enum outcome { FAILED, MISSING, GOT } outcome;

static outcome complain(cursor *k, const char *at, const char *fmt, const pvi_column *col, const pvi_span *f)
{
    char part[48];
    pvi_chunk_fail(k->c, at, fmt, col->name, pvi_excerpt(f->s, f->len, part));
    return FAILED;
}

static int64_t outside_policy(const cursor *k, const pvi_column *col)
{
    return col->outside >= 0 ? col->outside : k->s->outside;
}

static outcome missing(cursor *k, const char *at, const pvi_column *col, const pvi_span *f)
{
    if (col->missing != PVI_MISSING_ERROR) return MISSING;
    if (col->raw)
        return complain(k, at,
                        "%scolumns without a schema must be numbers, found '%s'; a schema can declare "
                        "text, a header and missing values",
                        col, f);
    return complain(k, at, "column \"%s\" has no value ('%s'); \"missing\": \"zero\" in the schema would allow it",
                    col, f);
}

static outcome not_finite(cursor *k, const char *at, const pvi_column *col, const pvi_span *f)
{
    double x;
    if (f->len >= 512) return complain(k, at, "column \"%s\": a number of more than 500 characters: %s", col, f);
    if (!pvi_parse_f64(f->s, f->len, &x)) {
        if (col->raw) return missing(k, at, col, f);
        return complain(k, at, "column \"%s\": '%s' is not a number", col, f);
    }
    if (isfinite(x)) return complain(k, at, "column \"%s\": %s is too large for a 32-bit float", col, f);
    return complain(k, at, "column \"%s\": '%s' is not a finite number", col, f);
}

/* v inside the bounds, by the column's policy. */
static outcome within(cursor *k, const char *at, const pvi_column *col, const pvi_span *f, double *v)
{
    if (col->raw || (*v >= col->lo && *v <= col->hi)) return GOT;
    switch (outside_policy(k, col)) {
    case PVI_OUTSIDE_CLAMP: *v = *v < col->lo ? col->lo : col->hi; return GOT;
    case PVI_OUTSIDE_MISSING: return missing(k, at, col, f);
    default: break;
    }
    char lo[32], hi[32], part[48];
    pvi_f64_text(col->lo, lo);
    pvi_f64_text(col->hi, hi);
    pvi_chunk_fail(k->c, at, "column \"%s\": %s is outside the declared %s .. %s; data.outside=clamp would clamp it",
                   col->name, pvi_excerpt(f->s, f->len, part), lo, hi);
    return FAILED;
}

static outcome slow_number(cursor *k, const pvi_column *col, double *v)
{
    pvi_span f;
    const char *at = k->p = skip_blanks(k->s, k->p);
    if (!field(k, &f)) return FAILED;
    if (pvi_words_find(&k->s->sc->missing, f.s, f.len) >= 0) return missing(k, at, col, &f);
    if (!pvi_number(f.s, f.len, v) || !isfinite(*v) || (col->raw && fabs(*v) > FLT_MAX))
        return not_finite(k, at, col, &f);
    return within(k, at, col, &f, v);
}

static inline bool put(pvi_segment *g, uint32_t *n, int32_t index, double x)
{
    const float v = (float)x;
    g->idx[*n] = index;
    g->val[*n] = v;
    *n += v != 0.0f;
    return true;
}

static bool number(cursor *k, const pvi_column *col, uint32_t *n)
{
    const state *s = k->s;
    double v = 0;
    const char *p = skip_blanks(s, k->p), *end = pvi_decimal(p, &v);
    outcome got = GOT;
    const double lo = col->raw ? -FLT_MAX : col->lo, hi = col->raw ? FLT_MAX : col->hi;
    if (end && ends_field(s, end) && v >= lo && v <= hi && !s->sc->numeric_missing) k->p = end;
    else got = slow_number(k, col, &v);
    if (got == FAILED) return false;
    if (got == MISSING && col->missing == PVI_MISSING_ZERO) return true;
    if (got == MISSING) v = col->lo + 0.5 * (col->hi - col->lo);
    if (!col->raw) v = (v - col->lo) / (col->hi - col->lo);
    return put(&k->c->seg, n, col->first, v - s->center);
}

static bool category(cursor *k, const pvi_column *col, uint32_t *n)
{
    pvi_span f;
    const char *at = k->p = skip_blanks(k->s, k->p);
    if (!field(k, &f)) return false;
    const int32_t code = pvi_words_find(&col->words, f.s, f.len);
    if (code >= 0) return put(&k->c->seg, n, col->first + code, 1.0);
    if (pvi_words_find(&k->s->sc->missing, f.s, f.len) >= 0 || outside_policy(k, col) == PVI_OUTSIDE_MISSING)
        return missing(k, at, col, &f) != FAILED;
    complain(k, at,
             "column \"%s\": '%s' is not one of its declared values; data.outside=missing would treat it as missing",
             col, &f);
    return false;
}

static bool label(cursor *k, float *y)
{
    pvi_span f;
    const char *at = k->p = skip_blanks(k->s, k->p);
    if (!field(k, &f)) return false;
    if (pvi_label_memo_value(&k->s->job->label, &k->memo, f.s, f.len, y, k->c->why, sizeof k->c->why)) return true;
    k->c->bad = at;
    return false;
}

/* ---- records ------------------------------------------------------------------------------------------- */
static bool wrong_count(cursor *k, int64_t column)
{
    const state *s = k->s;
    if (column < s->columns) {
        pvi_chunk_fail(k->c, k->p, "the record has %lld columns, %lld are declared", (long long)column,
                       (long long)s->columns);
    } else {
        pvi_chunk_fail(k->c, k->p, "the record has more than the %lld columns declared", (long long)s->columns);
    }
    return false;
}

static bool one_field(cursor *k, const pvi_column *col, uint32_t *n, float *y)
{
    pvi_span f;
    switch (col->type) {
    case PVI_COL_NUMBER: return number(k, col, n);
    case PVI_COL_CATEGORY: return category(k, col, n);
    case PVI_COL_LABEL: return label(k, y);
    default: return field(k, &f);
    }
}

/* One record into the segment; false: error or open. */
static bool record(cursor *k, uint32_t *n)
{
    const state *s = k->s;
    pvi_segment *g = &k->c->seg;
    float y = 0;
    int64_t seen = 0;
    for (int64_t i = 0; i < s->sc->count; i++) {
        if (i == s->sc->label && !s->job->labelled) continue;
        if (!one_field(k, &s->sc->column[i], n, &y)) return false;
        if (++seen == s->columns) break;
        if (*k->p != s->sc->separator) return wrong_count(k, seen);
        k->p++;
    }
    if (*k->p == s->sc->separator) return wrong_count(k, seen);
    k->p += *k->p == '\r';
    k->p++;
    k->c->lines++;
    g->y[g->rows] = y;
    g->end[g->rows++] = *n;
    return true;
}

static bool blank_line(const state *s, const char **p)
{
    const char *q = skip_blanks(s, *p);
    if (*q == '\r' && q[1] == '\n') q++;
    if (*q != '\n') return false;
    *p = q + 1;
    return true;
}

static void parse(const void *st, pvi_chunk *c)
{
    cursor k = { .s = st, .c = c, .p = c->begin };
    uint32_t n = 0;
    c->seg.max_index = k.s->sc->features;
    while (k.p < c->end) {
        c->stop = k.p;
        if (blank_line(k.s, &k.p)) {
            c->lines++;
            continue;
        }
        const int64_t lines = c->lines;
        if (!record(&k, &n)) {
            c->lines = lines;
            return;
        }
    }
    c->stop = c->end;
}

/* ---- before the rows ------------------------------------------------------------------------------------ */
/* Fields of the record at p; 0: it goes on behind the chunk. */
static int64_t count_fields(cursor *k)
{
    pvi_span f;
    for (int64_t n = 1;; n++) {
        if (!field(k, &f)) return 0;
        if (*k->p != k->s->sc->separator) return n;
        k->p++;
    }
}

static bool name_matches(cursor *k, int64_t i)
{
    pvi_span f;
    char part[48];
    const pvi_column *col = &k->s->sc->column[i];
    const char *at = k->p = skip_blanks(k->s, k->p);
    if (!field(k, &f)) return false;
    if (f.len == strlen(col->name) && memcmp(f.s, col->name, f.len) == 0) return true;
    pvi_chunk_fail(k->c, at, "the header says \"%s\" where the schema has \"%s\" (column %lld)",
                   pvi_excerpt(f.s, f.len, part), col->name, (long long)i + 1);
    return false;
}

/* The header against the schema; a table to be scored may lack the label. */
static bool header(cursor *k)
{
    const state *s = k->s;
    int64_t seen = 0;
    for (int64_t i = 0; i < s->sc->count; i++) {
        if (i == s->sc->label && !s->job->labelled) continue;
        if (!name_matches(k, i)) return false;
        if (++seen == s->columns) break;
        if (*k->p != s->sc->separator) return wrong_count(k, seen);
        k->p++;
    }
    if (*k->p == s->sc->separator) return wrong_count(k, seen);
    k->p += (*k->p == '\r') + 1;
    k->c->lines++;
    return true;
}

/* Lines that may precede the first record. */
static bool skip_lines(state *s, pvi_chunk *c)
{
    const int64_t skip = s->sc->skip;
    for (; s->skipped < skip; s->skipped++, c->lines++) {
        const char *end = memchr(c->stop, '\n', (size_t)(c->end - c->stop));
        if (!end) return false;
        c->stop = end + 1;
    }
    for (const char *p = c->stop; p < c->end && blank_line(s, &p); c->stop = p) c->lines++;
    return c->stop < c->end;
}

static pv_status no_schema(state *s, pvi_chunk *c, int64_t fields)
{
    struct pv_load *job = s->job;
    pvi_schema *sc;
    const int64_t model = job->expect->features, declared = model > 0 ? model : job->cfg->features;
    const bool unlabelled = job->expect->labels_optional && declared > 0 && fields == declared;
    if (fields < 2 && !unlabelled)
        return pvi_chunk_fail(c, c->stop, "one column only: features and a label are needed"), PV_OK;
    if (declared > 0 && !unlabelled && fields != declared + 1)
        return pvi_chunk_fail(c, c->stop, "%lld columns, but %lld features and a label are declared",
                              (long long)fields, (long long)declared),
               PV_OK;
    pv_status st = pvi_schema_plain(job->ctx, job->arena, fields + unlabelled, &sc);
    if (st != PV_OK) return st;
    s->sc = sc;
    job->labelled = !unlabelled;
    job->counted = declared <= 0;
    s->columns = fields;
    return pvi_build_begin(job, sc->features);
}

static pv_status start(void *st, struct pv_load *job, pvi_chunk *c)
{
    static const pvi_schema plain = { .separator = ',' };
    state *s = st;
    const bool declared = s->sc != NULL;
    if (!declared) s->sc = &plain;
    c->lines = 0;
    if (!skip_lines(s, c)) return PV_OK;
    cursor k = { .s = s, .c = c, .p = c->stop };
    pvi_chunk probe = *c; /* counting must not count lines or fail for good */
    k.c = &probe;
    const int64_t fields = count_fields(&k);
    if (fields == 0) {
        if (probe.bad) *c = probe;
        if (!declared) s->sc = NULL;
        return PV_OK;
    }
    if (!declared) return no_schema(s, c, fields);
    if (!s->headed) {
        job->labelled = s->sc->label >= 0 && !(job->expect->labels_optional && fields == s->sc->count - 1);
        s->columns = s->sc->count - (s->sc->label >= 0 && !job->labelled);
        if (s->sc->header) {
            k = (cursor) { .s = s, .c = c, .p = c->stop };
            if (!header(&k)) return PV_OK;
            c->stop = k.p;
        }
        s->headed = true;
    }
    return pvi_build_begin(job, s->sc->features);
}

static size_t row_bytes(const void *st)
{
    const state *s = st;
    return (size_t)s->columns; /* separators and a line end */
}

/* ---- the declaration ---------------------------------------------------------------------------------------- */
static pv_status declared_label(struct pv_load *job)
{
    const pvi_schema *sc = job->schema;
    if (job->cfg->labels && *job->cfg->labels)
        return pvi_fail(job->ctx, PV_E_PARAM,
                        "data.labels and data.schema both declare labels; the schema's \"values\" are enough");
    if (job->cfg->features > 0 && job->cfg->features != sc->features)
        return pvi_fail(job->ctx, PV_E_PARAM, "data.features=%lld, but the schema makes %lld",
                        (long long)job->cfg->features, (long long)sc->features);
    if (job->expect->features > 0 && job->expect->features != sc->features)
        return pvi_fail(job->ctx, PV_E_PARAM, "the schema makes %lld features, but the model has %lld",
                        (long long)sc->features, (long long)job->expect->features);
    if (sc->label < 0) {
        job->label.classes = job->expect->classes < 0 ? 0 : job->expect->classes;
        if (job->expect->labels_optional) return PV_OK;
        return pvi_fail(job->ctx, PV_E_PARAM, "the schema declares no column of type label");
    }
    const pvi_column *c = &sc->column[sc->label];
    const int64_t outside = c->outside >= 0 ? c->outside : job->cfg->outside;
    job->label = (pvi_label_rule) {
        .classes = c->words.codes, .lo = c->lo, .hi = c->hi, .words = c->words, .clamp = outside == PVI_OUTSIDE_CLAMP
    };
    return PV_OK;
}

static pv_status undeclared_label(struct pv_load *job)
{
    const bool labels = job->cfg->labels && *job->cfg->labels;
    if (!labels && job->expect->classes != 0)
        return pvi_fail(job->ctx, PV_E_PARAM,
                        "%s: a table needs data.schema=FILE, as in {\"columns\": [{\"name\": \"age\", \"type\": "
                        "\"number\", \"min\": 0, "
                        "\"max\": 99}, {\"name\": \"ill\", \"type\": \"label\", \"values\": [\"no\", \"yes\"]}]}; "
                        "without one, all "
                        "columns must be numbers, the label last, and data.labels=no,yes declared",
                        job->cfg->path);
    return pvi_label_declare(job, &job->label);
}

static pv_status read_file(const void *cfg, struct pv_load *job)
{
    static const pvi_text_ops ops = { start, parse, row_bytes, 1 };
    state s = { .job = job, .sc = job->schema, .center = job->cfg->center, .outside = job->cfg->outside };
    (void)cfg;
    pv_status st = job->schema ? declared_label(job) : undeclared_label(job);
    if (st == PV_OK && !(job->schema && job->schema->label < 0)) st = pvi_label_check(job, &job->label);
    return st == PV_OK ? pvi_text_run(job, &ops, &s) : st;
}

static bool ends_with_csv(const char *path)
{
    const char *dot = strstr(path, ".csv");
    return dot && (dot[4] == '\0' || dot[4] == '.');
}

static int probe(const char *path, const uint8_t *magic, size_t n)
{
    const uint8_t *end = memchr(magic, '\n', n);
    const size_t len = end ? (size_t)(end - magic) : n;
    for (size_t i = 0; i < len; i++)
        if (magic[i] < 0x20 && magic[i] != '\t' && magic[i] != '\r') return 0;
    return ends_with_csv(path) ? 80 : memchr(magic, ',', len) ? 60 : 0;
}

const pv_reader_ops pv_reader_csv = {
    .head = { .abi = PV_PLUGIN_ABI,
              .name = "csv",
              .summary = "tables with declared columns: numbers, categories, a label",
              .reference = "RFC 4180",
              .params = pv_no_params },
    .probe = probe,
    .read = read_file,
};
