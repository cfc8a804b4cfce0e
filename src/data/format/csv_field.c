/* csv_field.c - one field at a time: quotes, missing values, policies, and what is wrong.
 *
 * Fields may be quoted as in RFC 4180: "" inside stands for one quote, separators and line ends are
 * text.  Blanks around an unquoted field do not count.  What a field becomes:
 *
 *   number     (v - min) / (max - min) - center, after the column's `outside` policy
 *   category   1 at the value's feature
 *   missing    zero: nothing is stored;  middle: as if v were half way;  error: the file is refused
 *
 * Each depends on the field and the declaration alone, so a row's encoding tells nothing about others. */
#include "csv.h"

static inline bool ends_field(const pvi_csv *s, const char *p)
{
    return *p == s->sc->separator || *p == '\n' || (*p == '\r' && p[1] == '\n');
}

/* p stands on the opening quote.  Text without escapes is returned in place, other text in scratch. */
static bool quoted_field(pvi_cursor *k, pvi_span *out)
{
    const char *open = k->p, *p = open + 1, *from = p;
    size_t n = 0;
    bool escaped = false;
    for (;;) {
        const char *q = memchr(p, '"', (size_t)(k->c->end - p));
        if (!q) {
            if (k->c->last) pvi_chunk_fail(k->c, open, "a quoted field is never closed");
            k->p = k->c->end;
            return false;
        }
        const bool two = q[1] == '"' && q + 1 < k->c->end;
        const size_t part = (size_t)(q - p) + two;
        if (two || escaped) { /* text too long for any declared word is cut: it cannot match one */
            const size_t room = PVI_CSV_SCRATCH - 64 - n, fit = part < room ? part : room;
            memcpy(k->scratch + n, p, fit);
            n += fit;
        }
        escaped |= two;
        p = q + 1 + two;
        if (!two) break;
    }
    *out = escaped ? (pvi_span) { k->scratch, n } : (pvi_span) { from, (size_t)(p - 1 - from) };
    if (escaped) memset(k->scratch + n, 0, 16);
    int64_t lines = 0;
    for (const char *s = open; s < p; s++) lines += *s == '\n';
    k->c->lines += lines;
    k->p = pvi_csv_skip(k->s, p);
    if (ends_field(k->s, k->p)) return true;
    if (lines == 0) pvi_chunk_fail(k->c, k->p, "text follows a closing quote");
    else /* most often the quote that was forgotten is the one that closes this field */
        pvi_chunk_fail(k->c, open, "this quote is closed %lld line%s on, and text follows there: is one missing?",
                       (long long)lines, lines == 1 ? "" : "s");
    return false;
}

/* The field at k->p without blanks or quotes; k->p ends on the separator or line end. */
bool pvi_csv_field(pvi_cursor *k, pvi_span *out)
{
    const char *p = k->p = pvi_csv_skip(k->s, k->p);
    if (*p == '"') return quoted_field(k, out);
    const char sep = k->s->sc->separator;
    while (*p != sep && *p != '\n') p++;
    if (*p == '\n' && p > k->p && p[-1] == '\r') p--;
    const char *end = p;
    while (end > k->p && pvi_csv_blank(k->s, end[-1])) end--;
    *out = (pvi_span) { k->p, (size_t)(end - k->p) };
    k->p = p;
    return true;
}

/* ---- values ---------------------------------------------------------------------------------------------- */
typedef enum outcome { FAILED, MISSING, GOT } outcome;

const char *pvi_csv_hint(const pvi_csv *s, const char *text, size_t len)
{
    static const struct {
        char separator;
        const char *hint;
    } kinds[] = { { ';', "; \"separator\": \";\" in the schema reads semicolons" },
                  { '\t', "; \"separator\": \"\\t\" in the schema reads tabs" },
                  { ',', "; \"separator\": \",\" in the schema reads commas" } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].separator != s->sc->separator && memchr(text, kinds[i].separator, len)) return kinds[i].hint;
    return "";
}

static bool stands_for_nothing(const pvi_span *f)
{
    static const char *const words[] = { "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?", "-" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (f->len == strlen(words[i]) && memcmp(f->s, words[i], f->len) == 0) return true;
    return false;
}

/* What most often is behind a field that does not fit: a header taken for a row, another separator. */
static const char *field_hint(const pvi_cursor *k, const pvi_column *col, const pvi_span *f)
{
    const char *comma = memchr(f->s, ',', f->len);
    if (!k->s->sc->header && *col->name && f->len == strlen(col->name) && memcmp(f->s, col->name, f->len) == 0)
        return "; \"header\": true in the schema would take this line for the header";
    if (comma && col->type == PVI_COL_NUMBER && !memchr(comma + 1, ',', (size_t)(f->s + f->len - comma - 1)))
        return "; numbers need a decimal point, not a comma";
    return pvi_csv_hint(k->s, f->s, f->len);
}

static outcome complain(pvi_cursor *k, const char *at, const char *fmt, const pvi_column *col, const pvi_span *f)
{
    char part[48], *why = k->c->why;
    pvi_chunk_fail(k->c, at, fmt, col->name, pvi_excerpt(f->s, f->len, part));
    snprintf(why + strlen(why), sizeof k->c->why - strlen(why), "%s", field_hint(k, col, f));
    return FAILED;
}

static int64_t outside_policy(const pvi_cursor *k, const pvi_column *col)
{
    return col->outside >= 0 ? col->outside : k->s->outside;
}

static outcome missing(pvi_cursor *k, const char *at, const pvi_column *col, const pvi_span *f)
{
    if (col->missing != PVI_MISSING_ERROR) return MISSING;
    if (col->raw)
        return complain(k, at,
                        "%scolumns without a schema must be numbers, found '%s'; a schema can declare "
                        "text, a header and missing values",
                        col, f);
    return complain(
        k, at, "column \"%s\" has no value ('%s'); \"missing\": \"middle\" or \"zero\" in the schema would allow it",
        col, f);
}

static outcome not_finite(pvi_cursor *k, const char *at, const pvi_column *col, const pvi_span *f)
{
    double x;
    if (f->len >= 512) return complain(k, at, "column \"%s\": a number of more than 511 characters: %s", col, f);
    const bool number = pvi_parse_f64(f->s, f->len, &x);
    if (!col->raw && stands_for_nothing(f))
        return complain(
            k, at,
            "column \"%s\": '%s' is not a number; \"missing\": [\"NA\"] beside \"columns\" names words that "
            "stand for no value",
            col, f);
    if (!number) {
        if (col->raw) return missing(k, at, col, f);
        return complain(k, at, "column \"%s\": '%s' is not a number", col, f);
    }
    if (isfinite(x)) return complain(k, at, "column \"%s\": %s is too large for a 32-bit float", col, f);
    return complain(k, at, "column \"%s\": '%s' is not a finite number", col, f);
}

/* v inside the bounds, by the column's policy. */
static outcome within(pvi_cursor *k, const char *at, const pvi_column *col, const pvi_span *f, double *v)
{
    if (*v >= col->lo && *v <= col->hi) return GOT;
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

static outcome slow_number(pvi_cursor *k, const pvi_column *col, double *v)
{
    pvi_span f;
    const char *at = k->p = pvi_csv_skip(k->s, k->p);
    if (!pvi_csv_field(k, &f)) return FAILED;
    if (pvi_dictionary_find(&k->s->sc->missing, f.s, f.len) >= 0) return missing(k, at, col, &f);
    if (!pvi_number(f.s, f.len, v) || !isfinite(*v) || (col->raw && fabs(*v) > col->hi))
        return not_finite(k, at, col, &f);
    return within(k, at, col, &f, v);
}

bool pvi_csv_number(pvi_cursor *k, const pvi_column *col, uint32_t *n)
{
    const pvi_csv *s = k->s;
    double v = 0;
    const char *p = pvi_csv_skip(s, k->p), *end = pvi_decimal(p, &v);
    outcome got = GOT;
    if (end && ends_field(s, end) && v >= col->lo && v <= col->hi && !s->sc->numeric_missing) k->p = end;
    else got = slow_number(k, col, &v);
    if (got == FAILED) return false;
    if (got == MISSING && col->missing == PVI_MISSING_ZERO) return true;
    if (got == MISSING) v = col->lo + 0.5 * col->range;
    pvi_csv_put(&k->c->seg, n, col->first, (v - col->from) / col->range - s->center);
    return true;
}

bool pvi_csv_category(pvi_cursor *k, const pvi_column *col, uint32_t *n)
{
    pvi_span f;
    const char *at = k->p = pvi_csv_skip(k->s, k->p);
    if (!pvi_csv_field(k, &f)) return false;
    const int32_t code = pvi_dictionary_find(&col->words, f.s, f.len);
    if (code >= 0) {
        pvi_csv_put(&k->c->seg, n, col->first + code, 1.0);
        return true;
    }
    if (pvi_dictionary_find(&k->s->sc->missing, f.s, f.len) >= 0 || outside_policy(k, col) == PVI_OUTSIDE_MISSING)
        return missing(k, at, col, &f) != FAILED;
    complain(k, at,
             "column \"%s\": '%s' is not one of its declared values; data.outside=missing would treat it as missing",
             col, &f);
    return false;
}

bool pvi_csv_label(pvi_cursor *k, float *y)
{
    pvi_span f;
    const char *at = k->p = pvi_csv_skip(k->s, k->p);
    if (!pvi_csv_field(k, &f)) return false;
    if (pvi_label_recall(&k->s->job->label, &k->memo, f.s, f.len, y, k->c->why, sizeof k->c->why)) return true;
    k->c->bad = at;
    return false;
}

/* ---- records ------------------------------------------------------------------------------------------- */
bool pvi_csv_count(pvi_cursor *k, int64_t column)
{
    const pvi_csv *s = k->s;
    if (column < s->columns) {
        const char *record = k->c->stop; /* where it begins */
        pvi_chunk_fail(k->c, k->p, "the record has %lld columns, %lld are declared%s", (long long)column,
                       (long long)s->columns, pvi_csv_hint(s, record, (size_t)(k->p - record)));
    } else {
        pvi_chunk_fail(k->c, k->p, "the record has more than the %lld columns declared", (long long)s->columns);
    }
    return false;
}

bool pvi_csv_blank_line(const pvi_csv *s, const char **p)
{
    const char *q = pvi_csv_skip(s, *p);
    if (*q == '\r' && q[1] == '\n') q++;
    if (*q != '\n') return false;
    *p = q + 1;
    return true;
}
