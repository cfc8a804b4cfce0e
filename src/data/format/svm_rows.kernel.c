/* svm_rows.kernel.c - LIBSVM lines of one chunk into a segment; compiled once per instruction set. */
#include "data/decimal_scan.h"
#include "svm.h"

typedef struct line {
    uint32_t entries; /* of the segment so far            */
    int64_t before;   /* the last index of this line      */
} line;

/* Takes pairs as long as they look usual.  Returns where it stopped: in front of a pair for the slow path, or
 * behind one that does not go on with a single blank and a digit. */
PVI_SCAN_LOOP const char *usual_pairs(const pvi_svm *s, const pvi_segment *g, const char *p, line *l)
{
    float *val = g->val;
    int32_t *idx = g->idx;
    size_t k = l->entries, at = 0;
    uint64_t before = (uint64_t)l->before;
    const uint64_t limit = (uint64_t)s->limit;

    for (uint64_t m = other_mask(p);;) {
        const size_t colon = first_bit(m);
        uint64_t rest = m & (m - 1), digits;
        double x;
        size_t end;
        bool got = colon - at - 1 <= 7 && p[colon] == ':';
        if (got && !scan_number(p, &rest, colon + 1, &end, &digits, &x)) {
            got = scan_long(p, &rest, colon + 1, &end, &x);
            digits = got && (float)x != 0.0f;
        }
        if (!got) {
            if (at == 0) break; /* not usual, or longer than a window */
            p += at;            /* the window may have ended too early: look again from here */
            at = 0;
            m = other_mask(p);
            continue;
        }
        const size_t length = colon - at;
        const uint64_t index = length <= 4 ? join4(p + at, length) : join8(p + at, length);
        if (!pvi_svm_ends(p[end]) || index <= before || index > limit) break;
        idx[k] = (int32_t)index - 1;
        val[k] = (float)x;
        k += digits != 0; /* zeros are not stored */
        before = index;
        at = end;
        if (p[end] != ' ') break;
        at++;
        m = rest & (rest - 1);
    }
    *l = (line) { (uint32_t)k, (int64_t)before };
    return p + at;
}

/* One pair that is not usual. */
static const char *other_pair(const pvi_svm *s, pvi_chunk *c, const char *p, line *l)
{
    int64_t index;
    float v;
    const char *end = pvi_svm_pair(c, p, &index, &v);
    if (!end || (index <= l->before && !pvi_svm_order(c, p, index, l->before))) return NULL;
    l->before = index;
    if (index > s->limit && !pvi_svm_above(s, c, p, index)) return NULL;
    c->seg.idx[l->entries] = (int32_t)index - 1;
    c->seg.val[l->entries] = v;
    l->entries += v != 0.0f && index <= s->limit;
    return end;
}

/* The pairs of one line; returns where '\n' or '#' stands. */
PVI_SCAN_INLINE const char *pairs(const pvi_svm *s, pvi_chunk *c, const char *p, uint32_t *n)
{
    line l = { *n, 0 };
    for (p = pvi_svm_skip(p); *p != '\n' && *p != '#'; p = pvi_svm_skip(p)) {
        const char *q = usual_pairs(s, &c->seg, p, &l);
        if (q == p && !(q = other_pair(s, c, p, &l))) return NULL;
        p = q;
    }
    const int64_t last = l.before > s->limit ? s->limit : l.before;
    if (last > c->seg.max_index) c->seg.max_index = last;
    *n = l.entries;
    return p;
}

/* A short label seen before; NULL: look closer. */
PVI_SCAN_INLINE const char *usual_label(const pvi_label_memo *memo, const char *p, float *y)
{
    size_t n = 1;
    while (n < 7 && !pvi_svm_ends(p[n])) n++;
    if (!pvi_svm_ends(p[n])) return NULL;
    const uint64_t key = pvi_label_key(p, n);
    for (int i = 0; i < PVI_MEMO; i++)
        if (memo->key[i] == key) return *y = memo->y[i], p + n;
    return NULL;
}

pvi_svm_parse_fn PVI_ISA_NAME(pvi_svm_parse);
PVI_SCAN void PVI_ISA_NAME(pvi_svm_parse)(const void *st, pvi_chunk *c)
{
    const pvi_svm *s = st;
    pvi_segment *g = &c->seg;
    pvi_label_memo memo = { 0 };
    uint32_t n = 0;

    for (const char *p = c->begin, *from = p; p < c->end; c->lines++, from = p) {
        p = pvi_svm_skip(p);
        if (*p != '\n' && *p != '#') {
            float y = 0;
            const char *q = s->labelled ? usual_label(&memo, p, &y) : p;
            if (!q) q = pvi_svm_label(s, c, &memo, p, &y);
            const uint32_t before = n;
            const char *behind = q ? pairs(s, c, q, &n) : NULL;
            if (!behind) {
                const char *at = c->bad;
                if (!pvi_chunk_note(c, 0)) {
                    pvi_chunk_stopped(c, from, at);
                    c->stop = from;
                    return;
                }
                p = at;
                n = before;
            } else {
                p = behind;
                g->y[g->rows] = y;
                g->end[g->rows++] = n;
            }
        }
        p = *p == '\n' ? p + 1 : (const char *)memchr(p, '\n', (size_t)(c->end - p)) + 1; /* comment */
        if (pvi_chunk_longer(c, from, p)) return;
    }
    c->stop = c->end;
}
