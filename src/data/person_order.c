/* person_order.c - rows of a person side by side, persons and rows in the order of persons.c (2) and (3).
 *
 * An id keeps its leading 88 bits and has the number of its row in the last 40: sorting takes 16 bytes a row.  Rows
 * move in place and mostly within what a cache holds:
 *   spread  ids, and dense rows with them, to buckets by the leading bits of the ids, which are uniform: whatever
 *           stands where a bucket goes on is swapped to where its own does
 *   sort    the ids of each bucket, by their further bits
 *   order   the rows of each person, by their tags
 *   settle  the rows of each bucket to where their ids are, cycle by cycle
 *   cap     what stays of each person to the front
 * CSR rows have different lengths: they stay until their whole order is known, then go to arrays of their own. */
#include "data.h"

#include <stdlib.h>

enum {
    ROW_BITS = 40,
    BUCKET = 1 << 14,      /* rows of a bucket, about, and */
    MOST_BUCKET_BITS = 10, /* buckets at most: each has a place where it goes on, which a cache should keep */
    SMALL = 4096,          /* rows of a person that any thread puts in order */
    FEW = 32,              /* ids that are sorted by insertion */
    DIGITS = 1 << 8
};
static const uint64_t row_mask = ((uint64_t)1 << ROW_BITS) - 1;

typedef struct entry { /* a row while those of its person are put in order */
    pvi_id tag, other;
    int64_t row;
} entry;

struct pvi_person_order {
    pvi_matrix *m;
    const uint8_t *key;
    pvi_id *e;
    int64_t n, persons, buckets;
    int bits;       /* the leading ones that tell the bucket */
    int64_t *begin; /* of each bucket in e, and the end */
    int64_t *first; /* its first person, and how many there are */
    entry *room;    /* SMALL of every thread */
    char *aside;    /* a row of every thread */
};

static int64_t row_of(pvi_id e)
{
    return (int64_t)(e.lo & row_mask);
}

static void set_row(pvi_id *e, int64_t row)
{
    e->lo = (e->lo & ~row_mask) | (uint64_t)row;
}

pvi_id pvi_person_of(pvi_id e)
{
    return (pvi_id) { e.hi, e.lo & ~row_mask };
}

static bool same_person(pvi_id a, pvi_id b)
{
    return a.hi == b.hi && a.lo >> ROW_BITS == b.lo >> ROW_BITS;
}

static int compare(pvi_id a, pvi_id b)
{
    return a.hi != b.hi ? (a.hi < b.hi ? -1 : 1) : a.lo != b.lo ? (a.lo < b.lo ? -1 : 1) : 0;
}

static int by_id(const void *x, const void *y)
{
    return compare(*(const pvi_id *)x, *(const pvi_id *)y);
}

static int by_tag(const void *x, const void *y)
{
    return compare(((const entry *)x)->tag, ((const entry *)y)->tag);
}

/* ---- ids ------------------------------------------------------------------------------------------------------ */

/* The next `width` bits of an id below its first `bits`. */
static int digit(pvi_id e, int bits, int width)
{
    return (int)(e.hi << bits >> (64 - width));
}

static bool digits_agree(const pvi_id *e, int64_t n, int bits, int width)
{
    const int first = digit(e[0], bits, width);
    for (int64_t i = 1; i < n; i++)
        if (digit(e[i], bits, width) != first) return false;
    return true;
}

static void sort_few(pvi_id *e, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const pvi_id here = e[i];
        int64_t j = i;
        for (; j > 0 && compare(here, e[j - 1]) < 0; j--) e[j] = e[j - 1];
        e[j] = here;
    }
}

/* n ids whose first `bits` bits are the same.  Ids are uniform, so that few share more bits than they must; the rows
 * of one person share all of them, which is no reason to go deeper. */
static void sort_ids(pvi_id *e, int64_t n, int bits)
{
    int64_t at[DIGITS], end[DIGITS], sum = 0;
    int width = 1;
    while (1 << width < DIGITS && n >> width > FEW / 2) width++;
    for (; n > FEW && bits + width <= 64 && digits_agree(e, n, bits, width); bits += width) {
    }
    if (n <= FEW || bits + width > 64) {
        if (n <= FEW) sort_few(e, n);
        else qsort(e, (size_t)n, sizeof *e, by_id);
        return;
    }
    const int digits = 1 << width;
    memset(at, 0, sizeof *at * (size_t)digits);
    for (int64_t i = 0; i < n; i++) at[digit(e[i], bits, width)]++;
    for (int d = 0; d < digits; d++) {
        const int64_t count = at[d];
        at[d] = sum;
        end[d] = sum += count;
    }
    for (int d = 0; d < digits; d++)
        while (at[d] < end[d]) {
            const int64_t i = at[d], to = at[digit(e[i], bits, width)]++;
            const pvi_id here = e[i];
            e[i] = e[to];
            e[to] = here;
        }
    for (int d = 0; d < digits; d++) {
        const int64_t from = d ? end[d - 1] : 0;
        sort_ids(e + from, end[d] - from, bits + width);
    }
}

int64_t pvi_ids_common(const pvi_id *a, int64_t n, const pvi_id *b, int64_t m)
{
    int64_t both = 0;
    for (int64_t i = 0, j = 0; i < n && j < m;) {
        const int c = compare(a[i], b[j]);
        both += c == 0;
        i += c <= 0;
        j += c >= 0;
    }
    return both;
}

int64_t pvi_ids_sort(pvi_id *id, int64_t n)
{
    int64_t kept = 0;
    sort_ids(id, n, 0);
    for (int64_t i = 0; i < n; i++)
        if (kept == 0 || compare(id[kept - 1], id[i]) != 0) id[kept++] = id[i];
    return kept;
}

/* ---- spread and sort ------------------------------------------------------------------------------------------ */

static int64_t bucket_of(const pvi_person_order *o, pvi_id e)
{
    return o->bits ? (int64_t)(e.hi >> (64 - o->bits)) : 0;
}

static void number_rows(pvi_person_order *o)
{
    for (int64_t i = 0; i < o->n; i++) set_row(&o->e[i], i);
}

/* at: room for the number of buckets. */
static void spread(pvi_person_order *o, int64_t *at)
{
    const pvi_mover rows = pvi_matrix_mover(o->m, o->aside);
    int64_t sum = 0;
    if (!rows.moves) number_rows(o);
    for (int64_t i = 0; i < o->n; i++) o->begin[bucket_of(o, o->e[i])]++;
    for (int64_t b = 0; b <= o->buckets; b++) {
        const int64_t n = o->begin[b];
        o->begin[b] = sum;
        if (b < o->buckets) at[b] = sum;
        sum += n;
    }
    for (int64_t b = 0; b < o->buckets; b++)
        while (at[b] < o->begin[b + 1]) {
            const int64_t i = at[b], to = at[bucket_of(o, o->e[i])]++;
            if (i == to) continue;
            const pvi_id here = o->e[i];
            o->e[i] = o->e[to];
            o->e[to] = here;
            pvi_move_swap(&rows, i, to);
        }
    if (rows.moves) number_rows(o);
}

static void sort_bucket(void *arg, int64_t b, int thread)
{
    pvi_person_order *o = arg;
    const int64_t from = o->begin[b], to = o->begin[b + 1];
    int64_t persons = 0;
    (void)thread;
    sort_ids(o->e + from, to - from, o->bits);
    for (int64_t i = from; i < to; i++) persons += i == from || !same_person(o->e[i], o->e[i - 1]);
    o->first[b + 1] = persons;
}

pv_status pvi_persons_find(pvi_matrix *m, const uint8_t *key, pvi_id *e, pvi_person_order **out)
{
    pv_ctx *ctx = m->ctx;
    pvi_person_order *o = *out = pvi_alloc(ctx, sizeof *o);
    if (!o) return pvi_nomem(ctx);
    *o = (pvi_person_order) { .m = m, .key = key, .e = e, .n = m->stored };
    PVI_REQUIRE(o->n <= (int64_t)row_mask);
    while (o->bits < MOST_BUCKET_BITS && (o->n >> o->bits) > BUCKET) o->bits++;
    o->buckets = (int64_t)1 << o->bits;
    const size_t some = sizeof(int64_t) * (size_t)(o->buckets + 1), threads = (size_t)pvi_threads(ctx);
    o->begin = pvi_alloc(ctx, some);
    o->first = pvi_alloc(ctx, some);
    o->room = pvi_raw(ctx, sizeof *o->room * SMALL * threads);
    o->aside = pvi_raw(ctx, pvi_matrix_line(m) * threads + 1);
    int64_t *at = pvi_raw(ctx, some);
    if (!o->begin || !o->first || !o->room || !o->aside || !at) {
        pvi_free(ctx, at);
        return pvi_nomem(ctx);
    }
    spread(o, at);
    pvi_free(ctx, at);
    pvi_parallel(ctx, o->buckets, sort_bucket, o);
    for (int64_t b = 0; b < o->buckets; b++) o->first[b + 1] += o->first[b];
    o->persons = o->first[o->buckets];
    return PV_OK;
}

int64_t pvi_persons_count(const pvi_person_order *o)
{
    return o->persons;
}

void pvi_persons_free(pvi_person_order *o)
{
    if (!o) return;
    pv_ctx *ctx = o->m->ctx;
    pvi_free(ctx, o->begin);
    pvi_free(ctx, o->first);
    pvi_free(ctx, o->room);
    pvi_free(ctx, o->aside);
    pvi_free(ctx, o);
}

/* ---- order, settle and cap --------------------------------------------------------------------------------- */

/* (3) of persons.c: t of a row is the hash of this, which has hashes of its values. */
typedef struct tagged {
    pvi_id part[2];
    uint64_t label;
} tagged;

static uint64_t label_bits(const pvi_matrix *m, int64_t r)
{
    uint32_t label;
    memcpy(&label, &m->y[r], sizeof label);
    return label;
}

static pvi_id csr_tag(const pvi_person_order *o, int64_t r)
{
    const pvi_matrix *m = o->m;
    const int64_t from = m->ptr[r], n = m->ptr[r + 1] - from;
    const tagged all = { { pvi_id_hash(o->key, m->idx + from, (size_t)n * sizeof *m->idx),
                           pvi_id_hash(o->key, m->val + from, (size_t)n * sizeof *m->val) },
                         label_bits(m, r) };
    return pvi_id_hash(o->key, &all, sizeof all);
}

/* Tags of up to PVI_HASH_LANES dense rows at once; the last row stands for those that are missing. */
static void dense_tags(const pvi_person_order *o, entry *e, int64_t n)
{
    pvi_short_hashes_fn *const hashes = pvi_short_hashes_isa[pvi_isa()];
    const pvi_matrix *m = o->m;
    const uint8_t *const x = m->byte ? m->byte : (const uint8_t *)(const void *)m->x;
    const size_t line = pvi_matrix_line(m);
    const uint8_t *at[PVI_HASH_LANES];
    pvi_id out[PVI_HASH_LANES];
    tagged all[PVI_HASH_LANES];
    for (int64_t l = 0; l < PVI_HASH_LANES; l++) at[l] = x + (size_t)e[l < n ? l : n - 1].row * line;
    hashes(o->key, at, line, (uint8_t *)out);
    for (int64_t l = 0; l < PVI_HASH_LANES; l++) {
        all[l] = (tagged) { { out[l], { 0, 0 } }, label_bits(m, e[l < n ? l : n - 1].row) };
        at[l] = (const uint8_t *)(const void *)&all[l];
    }
    hashes(o->key, at, sizeof *all, (uint8_t *)out);
    for (int64_t l = 0; l < PVI_HASH_LANES && l < n; l++) e[l].tag = out[l];
}

static void tag_rows(const pvi_person_order *o, entry *e, int64_t n)
{
    if (o->m->ptr)
        for (int64_t i = 0; i < n; i++) e[i].tag = csr_tag(o, e[i].row);
    else
        for (int64_t i = 0; i < n; i += PVI_HASH_LANES) dense_tags(o, e + i, n - i);
}

static void sort_tags(entry *e, int64_t n)
{
    if (n > FEW) {
        qsort(e, (size_t)n, sizeof *e, by_tag);
        return;
    }
    for (int64_t i = 1; i < n; i++) {
        const entry here = e[i];
        int64_t j = i;
        for (; j > 0 && compare(here.tag, e[j - 1].tag) < 0; j--) e[j] = e[j - 1];
        e[j] = here;
    }
}

/* (3) of persons.c for n rows of one person. */
static void order_rows(const pvi_person_order *o, entry *e, int64_t n)
{
    tag_rows(o, e, n);
    sort_tags(e, n);
    bool equal = false;
    for (int64_t i = 1, j = 0; i < n; i++) {
        const bool same = compare(e[i].tag, e[i - 1 - j].tag) == 0; /* with the first of its kind */
        j = same ? j + 1 : 0;
        if (j == 0) continue;
        equal = true;
        const struct {
            pvi_id t;
            int64_t j;
        } which = { e[i - j].tag, j };
        e[i].other = pvi_id_hash(o->key, &which, sizeof which);
        e[i].row = -1 - e[i].row;
    }
    for (int64_t i = 0; i < n && equal; i++)
        if (e[i].row < 0) e[i].tag = e[i].other, e[i].row = -1 - e[i].row;
    if (equal) sort_tags(e, n);
}

static void order_person(const pvi_person_order *o, int64_t u, entry *room)
{
    const int64_t from = o->m->start[u], n = o->m->start[u + 1] - from;
    if (n < 2) return;
    for (int64_t i = 0; i < n; i++) room[i].row = row_of(o->e[from + i]);
    order_rows(o, room, n);
    for (int64_t i = 0; i < n; i++) set_row(&o->e[from + i], room[i].row);
}

static int64_t rows_of(const pvi_person_order *o, int64_t u)
{
    return o->m->start[u + 1] - o->m->start[u];
}

static void order_small(void *arg, int64_t b, int thread)
{
    const pvi_person_order *o = arg;
    for (int64_t u = o->first[b]; u < o->first[b + 1]; u++)
        if (rows_of(o, u) <= SMALL) order_person(o, u, o->room + (int64_t)SMALL * thread);
}

/* Persons with more rows, one at a time. */
static pv_status order_large(const pvi_person_order *o)
{
    pv_status s = PV_OK;
    for (int64_t u = 0; u < o->persons && s == PV_OK; u++) {
        if (rows_of(o, u) <= SMALL) continue;
        entry *room = pvi_raw(o->m->ctx, sizeof *room * (size_t)rows_of(o, u));
        if (room) order_person(o, u, room);
        else s = pvi_nomem(o->m->ctx);
        pvi_free(o->m->ctx, room);
    }
    return s;
}

static void settle_bucket(void *arg, int64_t b, int thread)
{
    pvi_person_order *o = arg;
    const pvi_mover rows = pvi_matrix_mover(o->m, o->aside + pvi_matrix_line(o->m) * (size_t)thread);
    for (int64_t i = o->begin[b]; i < o->begin[b + 1]; i++) {
        int64_t to = i;
        if (row_of(o->e[i]) == i) continue;
        const pvi_kept kept = pvi_move_keep(&rows, i);
        for (int64_t from; (from = row_of(o->e[to])) != i; to = from) {
            pvi_move_row(&rows, to, from);
            set_row(&o->e[to], to);
        }
        pvi_move_back(&rows, to, kept);
        set_row(&o->e[to], to);
    }
}

/* (4) of persons.c.  order: the rows in order, in the place of e, from its front on; NULL: they are in order. */
static int64_t cap(const pvi_person_order *o, int64_t K, int64_t *order)
{
    const pvi_mover rows = pvi_matrix_mover(o->m, o->aside);
    int64_t kept = 0, *const start = o->m->start;
    for (int64_t u = 0, from = 0; u < o->persons; u++) {
        const int64_t to = start[u + 1], most = to - from < K ? to - from : K;
        start[u] = kept;
        for (int64_t i = from; i < from + most; i++, kept++) {
            if (i == kept) continue;
            if (!order) {
                pvi_move_row(&rows, kept, i);
                continue;
            }
            const int64_t r = order[i];
            order[i] = order[kept];
            order[kept] = r;
        }
        from = to;
    }
    start[o->persons] = kept;
    return kept;
}

static void find_starts(const pvi_person_order *o)
{
    int64_t u = 0;
    for (int64_t i = 0; i < o->n; i++)
        if (i == 0 || !same_person(o->e[i], o->e[i - 1])) o->m->start[u++] = i;
    o->m->start[u] = o->n;
}

/* One id of each person, in order. */
static pv_status keep_ids(const pvi_person_order *o)
{
    pvi_matrix *m = o->m;
    m->owner = pvi_raw(m->ctx, sizeof *m->owner * (size_t)o->persons);
    if (!m->owner) return pvi_nomem(m->ctx);
    for (int64_t u = 0; u < o->persons; u++) m->owner[u] = pvi_person_of(o->e[m->start[u]]);
    memcpy(m->owner_key, o->key, sizeof m->owner_key);
    return PV_OK;
}

static pv_status put_in_order(pvi_person_order *o, int64_t K)
{
    pvi_matrix *m = o->m;
    pvi_parallel(m->ctx, o->buckets, order_small, o);
    pv_status s = order_large(o);
    if (s != PV_OK) return s;
    if (!m->ptr) {
        pvi_parallel(m->ctx, o->buckets, settle_bucket, o);
        m->stored = cap(o, K, NULL);
        return PV_OK;
    }
    int64_t *const order = (int64_t *)(void *)o->e;
    for (int64_t i = 0; i < o->n; i++) order[i] = row_of(o->e[i]);
    return pvi_matrix_order(m, order, cap(o, K, order));
}

pv_status pvi_persons_place(pvi_person_order *o, int64_t K, bool ids)
{
    pvi_matrix *m = o->m;
    m->start = pvi_raw(m->ctx, sizeof *m->start * (size_t)(o->persons + 1));
    if (!m->start) return pvi_nomem(m->ctx);
    find_starts(o);
    pv_status s = ids ? keep_ids(o) : PV_OK;
    if (s == PV_OK) s = put_in_order(o, K);
    if (s != PV_OK) return s; /* m->start goes with m */
    m->domain.n = o->persons;
    m->domain.unit_rows = K;
    return PV_OK;
}
