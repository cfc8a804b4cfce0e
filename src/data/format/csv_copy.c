/* csv_copy.c - records of a table as they are written, for programs that hand columns on.
 *
 * The text has been parsed: every quote is closed, and fields stand where csv_field.c found them. */
#include "csv.h"

/* Behind the field at p; *to is where its text ends, blanks left out. */
static const char *behind_field(const char *p, const char *end, char separator, const char **to)
{
    const char *q = p;
    if (p < end && *p == '"') {
        for (q = p + 1; q < end && (*q != '"' || (q + 1 < end && q[1] == '"')); q++) q += *q == '"';
        if (q < end) q++;
    }
    while (q < end && *q != separator && *q != '\n') q++;
    const char *last = q;
    if (last > p && last < end && *last == '\n' && last[-1] == '\r') last--;
    while (last > p && (last[-1] == ' ' || last[-1] == '\t') && last[-1] != separator) last--;
    *to = last;
    return q;
}

static bool blank(char c, char separator)
{
    return (c == ' ' || c == '\t' || c == '\r') && c != separator;
}

const char *pvi_csv_next(const char *p, const char *end, const pvi_dialect *d, pvi_span *field, int64_t room,
                         int64_t *n, pvi_span *record)
{
    const char separator = d->separator, *mark = NULL, *cut = NULL;
    for (const char *q = p; q < end; p = ++q) { /* lines without a record */
        while (q < end && blank(*q, separator)) q++;
        if (q < end && *q != '\n') break;
    }
    *n = 0;
    if (p >= end) return NULL;
    const char *from = p, *to = p;
    for (;; p++) {
        while (p < end && blank(*p, separator)) p++;
        const char *next = behind_field(p, end, separator, &to);
        if (*n < room) field[*n] = (pvi_span) { p, (size_t)(to - p) };
        (*n)++;
        cut = d->trailing && next == p ? mark : NULL; /* the separator that ends a record */
        mark = p = next;
        if (p >= end || *p != separator) break;
    }
    const char *last = cut ? cut : p;
    *n -= cut != NULL;
    if (last > from && last[-1] == '\r') last--;
    *record = (pvi_span) { from, (size_t)(last - from) };
    return p < end ? p + 1 : p;
}

bool pvi_csv_named(const pvi_span *f, const char *name, size_t len)
{
    if (f->len < 2 || *f->s != '"') return f->len == len && memcmp(f->s, name, len) == 0;
    size_t k = 0;
    for (size_t i = 1; i + 1 < f->len; i++, k++) {
        if (k >= len || f->s[i] != name[k]) return false;
        i += f->s[i] == '"';
    }
    return k == len;
}
