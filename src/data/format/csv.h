/* csv.h - between the table reader, its kernel and the fields the kernel does not take. */
#ifndef PVI_CSV_H
#define PVI_CSV_H
#include "core/isa.h"
#include "data/encode.h"

typedef struct pvi_csv {
    struct pv_load *job;
    const pvi_schema *sc; /* its columns in the order of the file */
    double center;
    int64_t columns; /* in the file: without the label if it has none */
    pvi_outside outside;
    int64_t skipped; /* lines taken before the table                          */
    bool headed;     /* the header is behind us, or there is none             */
    bool shuffled;   /* features do not come in their order                   */
} pvi_csv;

typedef struct pvi_cursor { /* one chunk under way */
    const pvi_csv *s;
    pvi_chunk *c;
    const char *p;
    pvi_label_memo memo;
    char scratch[PVI_TEXT_ROOM];
} pvi_cursor;

typedef void pvi_csv_parse_fn(const void *st, pvi_chunk *c);
extern pvi_csv_parse_fn *const pvi_csv_parse_isa[PVI_ISA_COUNT];

/* Each takes the field at k->p and leaves k->p on the separator or line end behind it; false: error, or the
 * field goes on behind the chunk (then chunk.bad is NULL). */
bool pvi_csv_field(pvi_cursor *k, pvi_span *out); /* without blanks or quotes */
bool pvi_csv_number(pvi_cursor *k, const pvi_column *col, uint32_t *n);
bool pvi_csv_category(pvi_cursor *k, const pvi_column *col, uint32_t *n);
bool pvi_csv_label(pvi_cursor *k, float *y);
bool pvi_csv_person(pvi_cursor *k);
void pvi_csv_sort(pvi_segment *g, uint32_t from, uint32_t to); /* entries of a row, by their index */
/* The header at c->stop, of so many fields: the schema for this file.  Not headed afterwards: c->bad says why. */
pv_status pvi_csv_header(pvi_csv *s, pvi_chunk *c, int64_t fields);
/* What a text with another separator in it most often means, to end a message; "": it has none. */
const char *pvi_csv_hint(const pvi_csv *s, const char *text, size_t len);
bool pvi_csv_count(pvi_cursor *k, int64_t column); /* the record has the wrong number of columns: false */
bool pvi_csv_trailing(pvi_cursor *k);              /* a declared separator at the end: k->p is behind it */
bool pvi_csv_noted(pvi_cursor *k, int64_t i);      /* field i is refused, and only noted: the record goes on */
bool pvi_csv_passed(pvi_cursor *k);                /* the same of a record: k->p is behind it                */
bool pvi_csv_blank_line(const pvi_csv *s, const char **p); /* skips it */

static inline bool pvi_csv_blank(const pvi_csv *s, char c)
{
    return (c == ' ' || c == '\t') && c != s->sc->separator;
}

static inline const char *pvi_csv_skip(const pvi_csv *s, const char *p)
{
    while (pvi_csv_blank(s, *p)) p++;
    return p;
}

static inline void pvi_csv_put(pvi_segment *g, uint32_t *n, int32_t index, double x)
{
    const float v = (float)x;
    g->idx[*n] = index;
    g->val[*n] = v;
    *n += v != 0.0f; /* zeros are not stored */
}
#endif
