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
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char mark = kinds[i].separator;
        const bool in_numbers = mark == s->sc->decimal || mark == s->sc->thousands;
        if (mark != s->sc->separator && !in_numbers && memchr(text, mark, len)) return kinds[i].hint;
    }
    return "";
}

/* 12,345 or 1,234,567.8, in which a comma may be either. */
static bool in_thousands(const pvi_span *f)
{
    size_t i = *f->s == '-' || *f->s == '+', digits = 0;
    bool comma = false;
    for (; i < f->len && (f->s[i] == ',' || (f->s[i] >= '0' && f->s[i] <= '9')); i++) {
        if (f->s[i] != ',') {
            digits++;
            continue;
        }
        if (digits == 0 || digits > 3 || (comma && digits != 3)) return false;
        comma = true;
        digits = 0;
    }
    return comma && digits == 3 && (i == f->len || f->s[i] == '.');
}

/* What most often is behind a field that does not fit: a header taken for a row, another separator. */
static const char *field_hint(const pvi_cursor *k, const pvi_column *col, const pvi_span *f)
{
    const char *comma = memchr(f->s, ',', f->len);
    if (!k->s->sc->header && *col->name && f->len == strlen(col->name) && memcmp(f->s, col->name, f->len) == 0)
        return "; \"header\": true in the schema would take this line for the header";
    if (comma && col->type == PVI_COL_NUMBER && in_thousands(f))
        return "; \"thousands\": \",\" beside \"columns\" reads it as 12345, \"decimal\": \",\" as 12.345";
    if (comma && col->type == PVI_COL_NUMBER && !memchr(comma + 1, ',', (size_t)(f->s + f->len - comma - 1)))
        return "; \"decimal\": \",\" beside \"columns\" reads decimal commas";
    const char *other = pvi_csv_hint(k->s, f->s, f->len);
    double x;
    if (*other || col->raw || (k->c->what != PVI_NO_NUMBER && k->c->what != PVI_NO_DATE)) return other;
    if (f->len < 512 && k->s->sc->respelt && col->type == PVI_COL_NUMBER && pvi_parse_f64(f->s, f->len, &x))
        return "; \"decimal\" or \"thousands\" in the schema says otherwise";
    if (f->len >= 512 || pvi_parse_f64(f->s, f->len, &x)) return "";
    return col->missing != PVI_MISSING_ERROR
               ? "; data.outside_text=missing would treat it as missing"
               : "; \"text\": \"missing\" and \"missing\": \"middle\" of the column would treat it as missing";
}

static pvi_encoder encoder(pvi_cursor *k)
{
    return (pvi_encoder) { k->s->sc, k->s->outside, k->c->why, &k->c->what, false };
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
    if (end && ends_field(s, end) && v >= col->lo && v <= col->hi && !(s->sc->numeric_missing | s->sc->respelt)) {
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
    const pvi_label_rule *r = &k->s->job->label;
    if (pvi_label_recall(r, &k->memo, f.s, f.len, y, k->c->why, sizeof k->c->why)) return true;
    double x;
    k->c->bad = at;
    k->c->what = r->classes > 0 ? PVI_UNDECLARED : pvi_number(f.s, f.len, &x) ? PVI_OUTSIDE : PVI_NO_NUMBER;
    return false;
}

/* Blanks that one spelling of an id may have and another not: at an end, or two side by side. */
static bool is_spaced(pvi_span f)
{
    bool last = true, found = false;
    for (size_t i = 0; i < f.len; i++) {
        const bool blank = f.s[i] == ' ' || f.s[i] == '\t';
        found |= blank && last;
        last = blank;
    }
    return f.len > 0 && (found || last);
}

/* Who owns the row, where that is asked for. */
bool pvi_csv_person(pvi_cursor *k)
{
    pvi_span f;
    pvi_segment *g = &k->c->seg;
    const struct pv_load *job = k->s->job;
    const char *at = k->p = pvi_csv_skip(k->s, k->p);
    if (!pvi_csv_field(k, &f)) return false;
    if (!job->by_person) return true;
    if (pvi_dictionary_find(&k->s->sc->missing, f.s, f.len) >= 0) f.len = 0;
    if (job->expect->problems) k->c->spaced += is_spaced(f);
    if (pvi_person_id(job, f.s, f.len, &g->person[g->rows], k->c->why, sizeof k->c->why)) return true;
    k->c->bad = at;
    k->c->what = PVI_NO_ID;
    return false;
}

/* ---- records ------------------------------------------------------------------------------------------- */

/* Is there nothing but a line end behind the separator at k->p? */
static bool ends_here(const pvi_cursor *k)
{
    const char *p = pvi_csv_skip(k->s, k->p + 1);
    return *p == '\n' || (*p == '\r' && p[1] == '\n');
}

bool pvi_csv_trailing(pvi_cursor *k)
{
    if (!k->s->sc->trailing || !ends_here(k)) return false;
    k->p = pvi_csv_skip(k->s, k->p + 1);
    return true;
}

bool pvi_csv_count(pvi_cursor *k, int64_t column)
{
    const pvi_csv *s = k->s;
    if (column < s->columns) {
        const char *record = k->c->stop; /* where it begins */
        const bool own = s->job->schema && s->columns != s->job->schema->count && s->sc->header;
        pvi_chunk_fail(k->c, k->p,
                       own ? "the record has %lld columns, the header %lld%s"
                           : "the record has %lld columns, %lld are declared%s",
                       (long long)column, (long long)s->columns, pvi_csv_hint(s, record, (size_t)(k->p - record)));
    } else {
        pvi_chunk_fail(k->c, k->p, "the record has more than the %lld columns declared%s", (long long)s->columns,
                       ends_here(k) ? "; \"trailing\": true beside \"columns\" takes a separator at the end" : "");
    }
    k->c->what = PVI_COUNT;
    return false;
}

/* The fields behind one that is wrong are where they would be otherwise. */
bool pvi_csv_noted(pvi_cursor *k, int64_t i)
{
    return k->c->bad && k->c->what < PVI_COUNT && pvi_chunk_note(k->c, i + 1);
}

/* What follows a record that cannot be taken apart begins behind the line end, wherever that stands. */
bool pvi_csv_passed(pvi_cursor *k)
{
    if (!pvi_chunk_note(k->c, 0)) return false;
    const char *end = k->p < k->c->end ? memchr(k->p, '\n', (size_t)(k->c->end - k->p)) : NULL;
    k->c->lines += end != NULL;
    k->p = end ? end + 1 : k->c->end;
    return true;
}

/* By shell sort: files with their columns in another order are rare, and may be wide. */
void pvi_csv_sort(pvi_segment *g, uint32_t from, uint32_t to)
{
    int32_t *const idx = g->idx + from;
    float *const val = g->val + from;
    const int64_t n = (int64_t)to - from;
    int64_t gap = 1;
    while (gap < n / 3) gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (int64_t i = gap; i < n; i++) {
            const int32_t k = idx[i];
            const float v = val[i];
            int64_t j = i;
            for (; j >= gap && idx[j - gap] > k; j -= gap) idx[j] = idx[j - gap], val[j] = val[j - gap];
            idx[j] = k;
            val[j] = v;
        }
}

bool pvi_csv_blank_line(const pvi_csv *s, const char **p)
{
    const char *q = pvi_csv_skip(s, *p);
    if (*q == '\r' && q[1] == '\n') q++;
    if (*q != '\n') return false;
    *p = q + 1;
    return true;
}
