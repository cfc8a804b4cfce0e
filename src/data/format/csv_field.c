/* csv_field.c - one field at a time: quotes, values, and what is wrong.
 *
 * Fields may be quoted as in RFC 4180: "" inside stands for one quote, separators and line ends are
 * text.  Blanks around an unquoted field do not count.  What a field becomes, encode.c says. */
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
            const size_t room = PVI_TEXT_ROOM - 64 - n, fit = part < room ? part : room;
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

static pvi_encoder encoder(pvi_cursor *k)
{
    return (pvi_encoder) { k->s->sc, k->s->outside, k->c->why };
}

/* Where a field is refused, and what may be behind it. */
static bool refused(pvi_cursor *k, const char *at, const pvi_column *col, const pvi_span *f, pvi_outcome how)
{
    char *why = k->c->why;
    const size_t n = strlen(why);
    k->c->bad = at;
    if (how == PVI_UNFIT) snprintf(why + n, sizeof k->c->why - n, "%s", field_hint(k, col, f));
    return false;
}

bool pvi_csv_number(pvi_cursor *k, const pvi_column *col, uint32_t *n)
{
    const pvi_csv *s = k->s;
    double v = 0;
    const char *p = pvi_csv_skip(s, k->p), *end = pvi_decimal(p, &v);
    if (end && ends_field(s, end) && v >= col->lo && v <= col->hi && !s->sc->numeric_missing) {
        k->p = end;
    } else {
        pvi_span f;
        const pvi_encoder e = encoder(k);
        const char *at = k->p = p;
        if (!pvi_csv_field(k, &f)) return false;
        const pvi_outcome how = pvi_encode_text(&e, col, &f, &v);
        if (how < PVI_ABSENT) return refused(k, at, col, &f, how);
        if (how == PVI_ABSENT && !pvi_encode_absent(col, &v)) return true;
    }
    pvi_csv_put(&k->c->seg, n, col->first, pvi_encode_feature(col, v, s->center));
    return true;
}

bool pvi_csv_category(pvi_cursor *k, const pvi_column *col, uint32_t *n)
{
    pvi_span f;
    int32_t code;
    const pvi_encoder e = encoder(k);
    const char *at = k->p = pvi_csv_skip(k->s, k->p);
    if (!pvi_csv_field(k, &f)) return false;
    const pvi_outcome how = pvi_encode_word(&e, col, &f, false, &code);
    if (how < PVI_ABSENT) return refused(k, at, col, &f, how);
    if (how == PVI_TAKEN) pvi_csv_put(&k->c->seg, n, col->first + code, 1.0);
    return true;
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
