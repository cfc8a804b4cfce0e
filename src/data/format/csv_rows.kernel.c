/* csv_rows.kernel.c - records of one chunk into a segment; compiled once per instruction set. */
#include "csv.h"
#include "data/decimal_scan.h"

/* Takes columns i, i + 1, ... < last as long as they are plain numbers inside their bounds, one right behind the
 * other.  Returns the first column not taken; k->p then stands on the separator or line end behind the one before. */
PVI_SCAN_LOOP int64_t usual_numbers(pvi_cursor *k, int64_t i, int64_t last, uint32_t *n)
{
    const pvi_column *col = k->s->sc->column;
    const pvi_segment *g = &k->c->seg;
    const double center = k->s->center;
    const char *p = k->p, separator = k->s->sc->separator;
    size_t at = 0;
    uint32_t e = *n;

    for (uint64_t m = other_mask(p); i < last && col[i].type == PVI_COL_NUMBER;) {
        uint64_t rest = m, digits;
        size_t end;
        double x;
        if (!scan_number(p, &rest, at, &end, &digits, &x) && !scan_long(p, &rest, at, &end, &x)) {
            if (at == 0) break; /* not usual, or longer than a window */
            p += at;            /* the window may have ended too early: look again from here */
            at = 0;
            m = other_mask(p);
            continue;
        }
        const char next = p[end];
        if ((next != separator) & (next != '\n')) break;
        if (!(x >= col[i].lo && x <= col[i].hi)) break;
        const float v = (float)pvi_encode_feature(&col[i], x, center);
        g->idx[e] = col[i].first;
        g->val[e] = v;
        e += v != 0.0f;
        i++;
        k->p = p + end;
        if (next == '\n') break;
        at = end + 1;
        m = rest & (rest - 1);
    }
    *n = e;
    return i;
}

/* Length of an unquoted field: up to the separator or line end. */
PVI_SCAN_INLINE size_t field_length(const char *p, char separator)
{
#ifdef __AVX2__
    const __m256i a = _mm256_set1_epi8(separator), b = _mm256_set1_epi8('\n');
    for (size_t n = 0;; n += 32) {
        const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(p + n));
        const uint32_t m =
            (uint32_t)_mm256_movemask_epi8(_mm256_or_si256(_mm256_cmpeq_epi8(v, a), _mm256_cmpeq_epi8(v, b)));
        if (m) return n + (size_t)__builtin_ctz(m);
    }
#else
    size_t n = 0;
    while (p[n] != separator && p[n] != '\n') n++;
    return n;
#endif
}

/* A word as declared, without quotes or blanks behind it; false: look closer. */
PVI_SCAN_INLINE bool usual_category(pvi_cursor *k, const pvi_column *col, uint32_t *n)
{
    if (*k->p == '"') return false;
    const size_t len = field_length(k->p, k->s->sc->separator);
    const int32_t code = pvi_dictionary_find(&col->words, k->p, len);
    if (code < 0) return false;
    pvi_csv_put(&k->c->seg, n, col->first + code, 1.0);
    k->p += len;
    return true;
}

PVI_SCAN_INLINE bool one_field(pvi_cursor *k, const pvi_column *col, uint32_t *n, float *y)
{
    pvi_span f;
    k->p = pvi_csv_skip(k->s, k->p);
    switch (col->type) {
    case PVI_COL_NUMBER: return pvi_csv_number(k, col, n);
    case PVI_COL_CATEGORY: return usual_category(k, col, n) || pvi_csv_category(k, col, n);
    case PVI_COL_LABEL: return pvi_csv_label(k, y);
    case PVI_COL_PERSON: return pvi_csv_person(k);
    default: return pvi_csv_field(k, &f);
    }
}

/* One record into the segment; false: error, or it goes on behind the chunk. */
PVI_SCAN_INLINE bool record(pvi_cursor *k, uint32_t *n)
{
    const pvi_csv *s = k->s;
    const pvi_schema *sc = s->sc;
    pvi_segment *g = &k->c->seg;
    const bool plain = !(sc->numeric_missing | sc->respelt);
    const uint32_t first = *n;
    float y = 0;
    int64_t seen = 0;
    for (int64_t i = 0; i < sc->count;) {
        if (i == sc->label && !s->job->labelled) {
            i++;
            continue;
        }
        k->p = pvi_csv_skip(s, k->p);
        const int64_t to = plain && sc->column[i].type == PVI_COL_NUMBER ? usual_numbers(k, i, sc->count, n) : i;
        if (to == i && !one_field(k, &sc->column[i], n, &y) && !pvi_csv_noted(k, i)) return false;
        seen += to == i ? 1 : to - i;
        i = to == i ? i + 1 : to;
        if (seen == s->columns) break;
        if (*k->p != sc->separator) return pvi_csv_count(k, seen);
        k->p++;
    }
    if (*k->p == sc->separator && !pvi_csv_trailing(k)) return pvi_csv_count(k, seen);
    k->p += (*k->p == '\r') + 1;
    k->c->lines++;
    if (s->shuffled) pvi_csv_sort(g, first, *n);
    g->y[g->rows] = y;
    g->end[g->rows++] = *n;
    return true;
}

pvi_csv_parse_fn PVI_ISA_NAME(pvi_csv_parse);
PVI_SCAN void PVI_ISA_NAME(pvi_csv_parse)(const void *st, pvi_chunk *c)
{
    pvi_cursor k = { .s = st, .c = c, .p = c->begin };
    uint32_t n = 0;
    c->seg.max_index = k.s->sc->features;
    while (k.p < c->end) {
        c->stop = k.p;
        const int64_t lines = c->lines, listed = c->listed;
        if (pvi_csv_blank_line(k.s, &k.p)) {
            c->lines++;
        } else if (!record(&k, &n) && !pvi_csv_passed(&k)) {
            c->lines = lines;
            c->listed = listed;
            if (c->bad) pvi_chunk_stopped(c, c->stop, k.p);
            return;
        }
        if (pvi_chunk_longer(c, c->stop, k.p)) return;
    }
    c->stop = c->end;
}
