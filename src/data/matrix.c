/* matrix.c - rows appended in file order: the matrix while it grows.
 *
 * Where the rows end up is known only once the file has been read, so room is made for the number of
 * rows that the fraction of the file read so far suggests, and a little more.  Pages that are never
 * written cost nothing.  When the guess was too low, the array moves: piece by piece, giving the old
 * pages back behind it, so that there are never two copies.
 *
 * Without a declared number of features p is the largest index so far.  When it grows, dense rows are
 * spread in place, and past PVI_DENSE_FEATURES they become sparse.  The final layout and content depend
 * on the file alone, not on where the chunks were cut.
 *
 * Rows are stored as they came, neither scaled nor with a column for the bias; a bound on the norm of each, bias
 * included, stands beside them (row_norm.c).  What the model sees of a row follows from both (row.c).
 *
 * Images for a model that takes bytes stay bytes, a quarter of the memory: the values are the same.  Images may be
 * transformed row by row on the way in (scatter.c); the rows are then dense. */
#include "knots.h"
#include "reader.h"

#include <sys/mman.h>
#include <unistd.h>

enum { ALIGN = 64, PIECE = 4 << 20, HUGE_FROM = 8 << 20 };

typedef struct array {
    void *raw; /* owned */
    char *at;  /* first aligned byte */
    size_t cap;
} array;

enum { X, PTR, IDX, VAL, Y, NORM, ARRAYS, IDS = ARRAYS, ALL }; /* ids are of the load, not of the matrix */

struct pvi_builder {
    pv_ctx *ctx;
    const pvi_data_cfg *cfg;
    const char *name;
    const struct pv_load *job;
    int64_t said;       /* features, as the first file said them */
    bool labelled;      /* it has labels                         */
    const float *apart; /* labels that come apart; NULL: those of the segments */
    int64_t aparts;
    const float *borrowed; /* rows that stay where they are; NULL: X holds them */
    int64_t borrowed_ld;
    pvi_row_norm row_norm;
    int64_t features, rows, entries; /* entries: CSR */
    bool measured, dense;
    bool stays;  /* dense, whatever the number of features */
    bool pixels; /* X holds bytes; dense as well */
    float level[256];
    array a[ALL];
    pvi_segment *const *seg; /* during an append */
    pvi_features *map;       /* owned; NULL: features are what the file says */
};

void *pvi_raw(pv_ctx *ctx, size_t size)
{
    return size > PTRDIFF_MAX ? NULL : ctx->alloc.get(ctx->alloc.self, size ? size : 1);
}

/* ---- arrays ------------------------------------------------------------------------------------ */
static void give_back(char *from, char *to)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t lo = ((uintptr_t)from + page - 1) & ~(page - 1), hi = (uintptr_t)to & ~(page - 1);
    if (hi > lo) madvise((void *)lo, hi - lo, MADV_DONTNEED); /* a hint: failing costs memory only */
}

static void move(char *to, char *from, size_t used)
{
    for (size_t done = 0; done < used; done += PIECE) {
        const size_t n = used - done < PIECE ? used - done : PIECE;
        memcpy(to + done, from + done, n);
        if (used > PIECE) give_back(from + done, from + done + n);
    }
}

static bool get_array(pv_ctx *ctx, size_t cap, array *out)
{
    if (cap > PTRDIFF_MAX - ALIGN) return false;
    void *raw = pvi_raw(ctx, cap + ALIGN);
    if (!raw) return false;
    *out = (array) { raw, (char *)(((uintptr_t)raw + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1)), cap };
#ifdef MADV_HUGEPAGE
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), lo = ((uintptr_t)out->at + page - 1) & ~(page - 1);
    if (cap >= HUGE_FROM) madvise((void *)lo, ((uintptr_t)out->at + cap - lo) & ~(page - 1), MADV_HUGEPAGE);
#endif
    return true;
}

/* At least `need` bytes, preferably `wish`, keeping the first `used`. */
static pv_status reserve(pvi_builder *b, int which, size_t used, size_t need, size_t wish)
{
    array *a = &b->a[which], fresh;
    if (need <= a->cap && a->raw) return PV_OK;
    if (wish < need) wish = need;
    if (!get_array(b->ctx, wish, &fresh) && !get_array(b->ctx, need, &fresh)) return pvi_nomem(b->ctx);
    if (used) move(fresh.at, a->at, used);
    pvi_free(b->ctx, a->raw);
    *a = fresh;
    return PV_OK;
}

static float *f32(const pvi_builder *b, int which)
{
    return (float *)(void *)b->a[which].at;
}

static int64_t *ptr_of(const pvi_builder *b)
{
    return (int64_t *)(void *)b->a[PTR].at;
}

static int32_t *idx_of(const pvi_builder *b)
{
    return (int32_t *)(void *)b->a[IDX].at;
}

static size_t bytes(double count, size_t size)
{
    const double n = count * (double)size;
    return n < 0x1p62 ? (size_t)n : (size_t)PTRDIFF_MAX;
}

static size_t row_bytes(const pvi_builder *b)
{
    return b->pixels ? (size_t)b->features : (size_t)b->features * sizeof(float);
}

/* With a column for the bias, which rows in other coordinates have: pages that are not written cost nothing. */
static size_t row_room(const pvi_builder *b, int64_t features)
{
    return b->pixels ? (size_t)features : ((size_t)features + (b->row_norm.bias != 0.0f)) * sizeof(float);
}

/* Room for `rows` and `entries` in all, guessing the rest of the file from `fraction`. */
static pv_status reserve_all(pvi_builder *b, int64_t rows, int64_t entries, double fraction)
{
    const size_t size = row_bytes(b), room = row_room(b, b->features);
    double more = fraction > 0 && fraction < 1 ? 1.1 / fraction : 1.0;
    if (b->cfg->rows > 0 && (double)rows * more > (double)b->cfg->rows) more = (double)b->cfg->rows / (double)rows;
    const double grow =
        fraction > 0 ? 1.5 : 4.0; /* nothing is known of what follows: fewer moves, of pages not written */
    const double known = b->apart ? (double)b->aparts : 0.0;
    const double r = fmax(fmax((double)rows * more, grow * (double)b->rows), known),
                 e = fmax((double)entries * more, grow * (double)b->entries);
    pv_status s = reserve(b, Y, bytes((double)b->rows, 4), bytes((double)rows, 4), bytes(r, 4));
    if (s == PV_OK) s = reserve(b, NORM, bytes((double)b->rows, 4), bytes((double)rows, 4), bytes(r, 4));
    if (s == PV_OK && b->job->id_column)
        s = reserve(b, IDS, bytes((double)b->rows, sizeof(pvi_id)), bytes((double)rows, sizeof(pvi_id)),
                    bytes(r, sizeof(pvi_id)));
    if (s != PV_OK) return s;
    if (b->borrowed) return PV_OK;
    if (b->dense) return reserve(b, X, bytes((double)b->rows, size), bytes((double)rows, room), bytes(r, room));
    if (!b->a[PTR].raw) {
        if ((s = reserve(b, PTR, 0, 8, 8)) != PV_OK) return s;
        ptr_of(b)[0] = 0;
    }
    s = reserve(b, PTR, bytes((double)b->rows + 1, 8), bytes((double)rows + 1, 8), bytes(r + 1, 8));
    if (s == PV_OK) s = reserve(b, IDX, bytes((double)b->entries, 4), bytes((double)entries, 4), bytes(e, 4));
    if (s == PV_OK) s = reserve(b, VAL, bytes((double)b->entries, 4), bytes((double)entries, 4), bytes(e, 4));
    return s;
}

/* ---- a larger number of features -------------------------------------------------------------------- */
static pv_status spread(pvi_builder *b, int64_t features)
{
    const size_t old = (size_t)b->features, new = (size_t)features, room = row_room(b, features);
    pv_status s =
        reserve(b, X, (size_t)b->rows * old * 4, (size_t)b->rows * room, bytes(1.2 * (double)b->rows, room));
    if (s != PV_OK) return s;
    float *x = f32(b, X);
    for (size_t r = (size_t)b->rows; r-- > 0;) { /* from the end: no row is overwritten before it has moved */
        memmove(x + r * new, x + r * old, old * 4);
        memset(x + r * new + old, 0, (new - old) * 4);
    }
    return PV_OK;
}

static pv_status to_sparse(pvi_builder *b)
{
    const int64_t ld = b->features;
    const float *x = f32(b, X);
    int64_t e = 0;
    for (int64_t i = 0; i < b->rows * ld; i++) e += x[i] != 0.0f;
    b->dense = false;
    const int64_t rows = b->rows;
    b->rows = 0;
    pv_status s = reserve_all(b, rows, e, 1.0); /* y and norm are large enough already */
    b->rows = rows;
    if (s != PV_OK) return s;
    e = 0;
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t j = 0; j < ld; j++)
            if (x[r * ld + j] != 0.0f) {
                idx_of(b)[e] = (int32_t)j;
                f32(b, VAL)[e++] = x[r * ld + j];
            }
        ptr_of(b)[r + 1] = e;
    }
    b->entries = e;
    pvi_free(b->ctx, b->a[X].raw);
    b->a[X] = (array) { 0 };
    return PV_OK;
}

static pv_status widen(pvi_builder *b, int64_t features)
{
    pv_status s = PV_OK;
    if (b->dense && !b->stays && features > PVI_DENSE_FEATURES) {
        if (b->rows > 0) s = to_sparse(b);
        b->dense = false;
    } else if (b->dense && b->rows > 0) {
        s = spread(b, features);
    }
    b->features = features;
    return s;
}

/* ---- appending ---------------------------------------------------------------------------------------- */
static void place_dense_row(const pvi_segment *g, int64_t from, int64_t to, float *x, int64_t ld)
{
    if (to - from == ld) { /* a value for every feature, in order */
        memcpy(x, g->val + from, (size_t)ld * sizeof *x);
        return;
    }
    memset(x, 0, (size_t)ld * sizeof *x);
    for (int64_t j = from; j < to; j++) x[g->idx[j]] = g->val[j];
}

/* Norms do not depend on whether zeros are stored (row_norm.c).  The stored rows, a few at a time while they are in
 * the cache, give them faster than the values in the text, unless most are zeros. */
static void place_dense(const pvi_builder *b, const pvi_segment *g)
{
    enum { BLOCK = 64, MANY = 8 };
    const int64_t ld = b->features;
    float *x = f32(b, X) + g->row_at * ld, *norm = f32(b, NORM) + g->row_at;
    for (int64_t i = 0, from = 0, first = 0; i < g->rows; first = from) {
        const int64_t start = i, stop = g->rows - i < BLOCK ? g->rows : i + BLOCK;
        for (; i < stop; from = g->end[i++]) place_dense_row(g, from, g->end[i], x + i * ld, ld);
        if ((from - first) * MANY >= (stop - start) * ld) {
            pvi_row_bounds(&b->row_norm, x + start * ld, stop - start, ld, ld, norm + start);
            continue;
        }
        for (int64_t k = start, at = first; k < stop; at = g->end[k++])
            norm[k] = pvi_row_bound(&b->row_norm, g->idx + at, g->val + at, g->end[k] - at);
    }
}

/* A zero has no sign, as where zeros are left out. */
static void place_rows(const pvi_builder *b, const pvi_segment *g)
{
    const int64_t p = b->features;
    float *x = b->borrowed ? NULL : f32(b, X) + g->row_at * p;
    pvi_row_bounds(&b->row_norm, g->row, g->rows, g->row_ld, p, f32(b, NORM) + g->row_at);
    for (int64_t i = 0; x && i < g->rows; i++)
        for (int64_t j = 0; j < p; j++) x[i * p + j] = g->row[i * g->row_ld + j] + 0.0f;
}

static void place_pixels(const pvi_builder *b, const pvi_segment *g)
{
    uint8_t *x = (uint8_t *)b->a[X].at + g->row_at * b->features;
    float *norm = f32(b, NORM) + g->row_at;
    for (int64_t i = 0, from = 0; i < g->rows; from = g->end[i++]) {
        norm[i] = pvi_row_bound(&b->row_norm, g->idx + from, g->val + from, g->end[i] - from);
        memcpy(x + i * b->features, g->byte + i * g->stride, (size_t)b->features);
    }
}

static void place_sparse(const pvi_builder *b, const pvi_segment *g)
{
    float *norm = f32(b, NORM) + g->row_at, *val = f32(b, VAL);
    int32_t *idx = idx_of(b);
    int64_t *ptr = ptr_of(b) + g->row_at + 1, from = 0, e = g->entry_at;
    for (int64_t i = 0; i < g->rows; i++) {
        const int64_t to = g->end[i];
        norm[i] = pvi_row_bound(&b->row_norm, g->idx + from, g->val + from, to - from);
        memcpy(idx + e, g->idx + from, (size_t)(to - from) * sizeof *idx);
        memcpy(val + e, g->val + from, (size_t)(to - from) * sizeof *val);
        ptr[i] = e += to - from;
        from = to;
    }
}

pvi_id *pvi_build_ids(const pvi_builder *b)
{
    return b->job->id_column ? (pvi_id *)(void *)b->a[IDS].at : NULL;
}

static void place_ids(const pvi_builder *b, const pvi_segment *g)
{
    if (g->person) memcpy(pvi_build_ids(b) + g->row_at, g->person, (size_t)g->rows * sizeof *g->person);
}

static const float *labels_of(const pvi_builder *b, const pvi_segment *g)
{
    return b->apart ? b->apart + g->row_at : g->y;
}

/* A block of rows whose features are computed: in their final place, then the norm. */
static void place_features(void *arg, int64_t k, int thread)
{
    const pvi_builder *b = arg;
    const int64_t ld = b->features;
    pvi_segment *const *g = b->seg;
    for (int64_t blocks; (blocks = pvi_features_blocks((*g)->rows)) <= k; g++) k -= blocks;
    const int64_t first = k * PVI_FEATURE_ROWS, left = (*g)->rows - first,
                  rows = left < PVI_FEATURE_ROWS ? left : PVI_FEATURE_ROWS;
    float *x = f32(b, X) + ((*g)->row_at + first) * ld, *norm = f32(b, NORM) + (*g)->row_at + first;
    memcpy(f32(b, Y) + (*g)->row_at + first, labels_of(b, *g) + first, (size_t)rows * sizeof *(*g)->y);
    pvi_features_rows(b->map, *g, first, rows, x, ld, thread);
    pvi_row_bounds(&b->row_norm, x, rows, ld, ld, norm);
}

static void place(void *arg, int64_t k, int thread)
{
    const pvi_builder *b = arg;
    const pvi_segment *g = b->seg[k];
    (void)thread;
    memcpy(f32(b, Y) + g->row_at, labels_of(b, g), (size_t)g->rows * sizeof *g->y);
    if (b->pixels) place_pixels(b, g);
    else if (g->row) place_rows(b, g);
    else if (b->dense) place_dense(b, g);
    else place_sparse(b, g);
}

static pv_status labels_and_rows(const pvi_builder *b, const char *than)
{
    return pvi_fail(b->ctx, PV_E_FORMAT, "%s: %s rows than the %lld labels that were given", b->name, than,
                    (long long)b->aparts);
}

bool pvi_build_takes_rows(const pvi_builder *b)
{
    return b->dense && !b->pixels && !b->map && !b->measured;
}

pv_status pvi_build_append(pvi_builder *b, pvi_segment *const *seg, int64_t n, double fraction)
{
    int64_t rows = b->rows, entries = b->entries, widest = 0;
    fraction = pvi_fraction(b->job, fraction);
    for (int64_t i = 0; i < n; i++) {
        seg[i]->row_at = rows;
        seg[i]->entry_at = entries;
        rows += seg[i]->rows;
        entries += seg[i]->rows && !seg[i]->row ? seg[i]->end[seg[i]->rows - 1] : 0;
        if (seg[i]->max_index > widest) widest = seg[i]->max_index;
    }
    if (b->cfg->rows > 0 && rows > b->cfg->rows)
        return pvi_fail(b->ctx, PV_E_FORMAT, "%s: more rows than the declared data.rows=%lld", b->name,
                        (long long)b->cfg->rows);
    if (b->apart && rows > b->aparts) return labels_and_rows(b, "more");
    pv_status s = PV_OK;
    if (b->measured && widest > b->features) {
        const int64_t before = b->entries;
        if ((s = widen(b, widest)) != PV_OK) return s;
        for (int64_t i = 0; i < n; i++) seg[i]->entry_at += b->entries - before; /* dense rows that became sparse */
        entries += b->entries - before;
    }
    if (rows == b->rows) return PV_OK;
    if ((s = reserve_all(b, rows, entries, fraction)) != PV_OK) return s;
    b->seg = seg;
    for (int64_t i = 0; i < n; i++) place_ids(b, seg[i]);
    if (b->map) {
        int64_t blocks = 0;
        if ((s = pvi_features_check(b->map, widest)) != PV_OK) return s;
        for (int64_t i = 0; i < n; i++) blocks += pvi_features_blocks(seg[i]->rows);
        pvi_parallel(b->ctx, blocks, place_features, b);
        if (!pvi_progress(b->ctx, "scattering", fraction, 1.0, -1.0))
            return pvi_fail(b->ctx, PV_E_CANCELLED, PVI_STOPPED_READING, b->name);
    } else {
        pvi_parallel(b->ctx, n, place, b);
    }
    b->rows = rows;
    b->entries = b->dense ? 0 : entries;
    return PV_OK;
}

/* ---- beginning and end ------------------------------------------------------------------------------------ */
/* A further file: as wide as those before it, and with labels if they have some. */
static pv_status goes_on(const struct pv_load *job, int64_t features)
{
    const pvi_builder *b = job->out;
    if (features != b->said)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: %lld features, but the files before have %lld", job->name,
                        (long long)features, (long long)b->said);
    if (job->labelled != b->labelled)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: %s labels, but the files before have %s", job->name,
                        job->labelled ? "has" : "has no", job->labelled ? "none" : "some");
    return PV_OK;
}

pv_status pvi_build_begin(struct pv_load *job, int64_t features)
{
    job->begun = true;
    if (job->out) return goes_on(job, features);
    pvi_builder *b = pvi_alloc(job->ctx, sizeof *b);
    if (!b) return pvi_nomem(job->ctx);
    b->ctx = job->ctx;
    b->cfg = job->cfg;
    b->name = job->whole;
    b->job = job;
    b->said = features;
    b->labelled = job->labelled;
    b->row_norm = pvi_row_norm_of(job->cfg);
    b->measured = features < 0;
    b->features = features < 0 ? 0 : features;
    b->stays = b->cfg->layout == PVI_LAYOUT_DENSE || job->dense || (job->image.height && !b->measured);
    b->dense = b->cfg->layout != PVI_LAYOUT_SPARSE && (b->stays || b->features <= PVI_DENSE_FEATURES);
    b->pixels = b->dense && job->level && job->expect->pixels && job->image.height && !b->measured &&
                b->cfg->layout == PVI_LAYOUT_AUTO && job->cfg->transform == PVI_TRANSFORM_NONE;
    if (b->pixels) memcpy(b->level, job->level, sizeof b->level);
    job->out = b;
    const pv_status s = pvi_labels_apart(job);
    if (s != PV_OK) return s;
    b->apart = job->apart;
    b->aparts = job->aparts;
    if (job->cfg->transform == PVI_TRANSFORM_NONE) return PV_OK;
    b->dense = true;
    b->measured = false;
    return pvi_features_open(job, features, &b->map, &b->features);
}

void pvi_build_borrow(pvi_builder *b, const float *x, int64_t ld)
{
    PVI_REQUIRE(b->dense && !b->pixels && !b->map && b->rows == 0 && ld >= b->features);
    b->borrowed = x;
    b->borrowed_ld = ld;
}

static pv_status check_counts(const pvi_builder *b)
{
    if (b->rows == 0) return pvi_fail(b->ctx, PV_E_FORMAT, "%s: no rows", b->name);
    if (b->cfg->rows > 0 && b->rows < b->cfg->rows)
        return pvi_fail(b->ctx, PV_E_FORMAT, "%s: fewer rows than the declared data.rows=%lld", b->name,
                        (long long)b->cfg->rows);
    if (b->features == 0) return pvi_fail(b->ctx, PV_E_FORMAT, "%s: no feature in any row", b->name);
    if (b->apart && b->rows < b->aparts) return labels_and_rows(b, "fewer");
    return PV_OK;
}

pv_status pvi_build_end(pvi_builder *b, pvi_matrix **out)
{
    *out = NULL;
    pv_status s = check_counts(b);
    if (s != PV_OK) return s;
    pvi_matrix *m = pvi_alloc(b->ctx, sizeof *m);
    void **block = pvi_alloc(b->ctx, ARRAYS * sizeof *block);
    if (!m || !block) {
        pvi_free(b->ctx, m);
        pvi_free(b->ctx, block);
        return pvi_nomem(b->ctx);
    }
    m->ctx = b->ctx;
    m->domain = (pv_domain) { .n = b->rows,
                              .p = b->features + (b->row_norm.bias != 0.0f),
                              .row_norm = b->cfg->row_norm,
                              .max_norm = b->row_norm.max };
    m->ld = b->borrowed ? b->borrowed_ld : b->features;
    m->borrowed = b->borrowed != NULL;
    m->room = b->dense && !b->pixels && !b->borrowed ? (int64_t)(b->a[X].cap / sizeof(float)) : 0;
    m->bias = b->row_norm.bias;
    m->unit = b->row_norm.unit;
    if (b->dense && !b->pixels) m->x = b->borrowed ? b->borrowed : f32(b, X);
    if (b->pixels) {
        m->byte = (uint8_t *)b->a[X].at;
        memcpy(m->level, b->level, sizeof m->level);
    }
    if (!b->dense) {
        m->ptr = ptr_of(b);
        m->idx = idx_of(b);
        m->val = f32(b, VAL);
    }
    m->y = f32(b, Y);
    m->norm = f32(b, NORM);
    m->features_measured = b->measured;
    for (int i = 0; i < ARRAYS; i++) block[i] = b->a[i].raw;
    memset(b->a, 0, ARRAYS * sizeof *b->a);
    m->stored = b->rows;
    m->block = block;
    *out = m;
    return PV_OK;
}

bool pvi_build_empty(const pvi_builder *b)
{
    return b->rows == 0;
}

pv_status pvi_build_again(struct pv_load *job, pvi_matrix **out)
{
    const int64_t said = job->out->said;
    pv_status s = pvi_build_end(job->out, out);
    if (s != PV_OK) return s;
    pvi_build_free(job->out);
    job->out = NULL;
    if (job->pixels.height) job->image = job->pixels; /* as the file has them, before data.transform */
    return pvi_build_begin(job, said);
}

void pvi_build_free(pvi_builder *b)
{
    if (!b) return;
    for (int i = 0; i < ALL; i++) pvi_free(b->ctx, b->a[i].raw);
    pvi_features_free(b->map);
    pvi_free(b->ctx, b);
}

void pvi_matrix_free(pvi_matrix *m)
{
    if (!m) return;
    void **block = m->block;
    for (int i = 0; block && i < ARRAYS; i++) pvi_free(m->ctx, block[i]);
    pvi_free(m->ctx, block);
    for (int64_t i = 0; m->class_names && i < m->domain.classes; i++) pvi_free(m->ctx, m->class_names[i]);
    pvi_free(m->ctx, m->class_names);
    pvi_free(m->ctx, m->schema_json);
    pvi_free(m->ctx, m->start);
    pvi_free(m->ctx, m->owner);
    pvi_wipe(m->owner_key, sizeof m->owner_key);
    pvi_late_free(m->late);
    pvi_free(m->ctx, m);
}

/* ---- another order ----------------------------------------------------------------------------------------- */
/* CSR rows have different lengths: into arrays of their own. */
static pv_status order_sparse(pvi_matrix *m, const int64_t *order, int64_t keep)
{
    void **block = m->block;
    array ptr, idx = { 0 }, val = { 0 };
    int64_t entries = 0;
    for (int64_t i = 0; i < keep; i++) entries += m->ptr[order[i] + 1] - m->ptr[order[i]];
    if (!get_array(m->ctx, ((size_t)keep + 1) * 8, &ptr)) return pvi_nomem(m->ctx);
    if (!get_array(m->ctx, (size_t)entries * 4, &idx) || !get_array(m->ctx, (size_t)entries * 4, &val)) {
        pvi_free(m->ctx, ptr.raw);
        pvi_free(m->ctx, idx.raw);
        return pvi_nomem(m->ctx);
    }
    int64_t *to = (int64_t *)(void *)ptr.at, e = to[0] = 0;
    for (int64_t i = 0; i < keep; i++) {
        const int64_t from = m->ptr[order[i]], n = m->ptr[order[i] + 1] - from;
        memcpy((int32_t *)(void *)idx.at + e, m->idx + from, (size_t)n * 4);
        memcpy((float *)(void *)val.at + e, m->val + from, (size_t)n * 4);
        to[i + 1] = e += n;
    }
    pvi_free(m->ctx, block[PTR]);
    pvi_free(m->ctx, block[IDX]);
    pvi_free(m->ctx, block[VAL]);
    block[PTR] = ptr.raw;
    block[IDX] = idx.raw;
    block[VAL] = val.raw;
    m->ptr = to;
    m->idx = (int32_t *)(void *)idx.at;
    m->val = (float *)(void *)val.at;
    return PV_OK;
}

pv_status pvi_matrix_order(pvi_matrix *m, int64_t *order, int64_t keep)
{
    PVI_REQUIRE(m->ptr);
    const pv_status s = order_sparse(m, order, keep);
    if (s != PV_OK) return s;
    for (int64_t i = 0; i < m->stored; i++) { /* cycle by cycle, in place */
        const float y = m->y[i], norm = m->norm[i];
        int64_t to = i;
        for (int64_t from; (from = order[to]) != i; to = from) {
            m->y[to] = m->y[from];
            m->norm[to] = m->norm[from];
            order[to] = to;
        }
        m->y[to] = y;
        m->norm[to] = norm;
        order[to] = to;
    }
    m->stored = keep;
    return PV_OK;
}

size_t pvi_matrix_line(const pvi_matrix *m)
{
    return m->cell ? m->line : m->byte ? (size_t)m->ld : m->x ? (size_t)m->ld * sizeof *m->x : 0;
}

pvi_mover pvi_matrix_mover(const pvi_matrix *m, char *aside)
{
    uint8_t *const bytes = m->cell ? m->cell : m->byte;
    char *x = ((void **)m->block)[X] ? bytes ? (char *)bytes : (char *)(uintptr_t)m->x : NULL;
    const size_t line = pvi_matrix_line(m);
    PVI_REQUIRE(!m->borrowed && (x || !line) && (line || m->ptr)); /* whatever a row is stored as, it moves */
    return (pvi_mover) { x, line, m->y, m->norm, aside, !m->ptr };
}

/* ---- other features ---------------------------------------------------------------------------------------- */
pv_status pvi_matrix_renew(pvi_matrix *m, int64_t features, size_t line, pvi_matrix *old, void **to)
{
    void **block = m->block, **kept = pvi_alloc(m->ctx, ARRAYS * sizeof *kept);
    array fresh;
    PVI_REQUIRE(!m->borrowed && !m->byte);
    if (!kept) return pvi_nomem(m->ctx);
    const double room = line ? (double)line + sizeof(float) : 0.0; /* with the bias, as row_room */
    const double size = line ? (double)m->stored * room : ((double)m->stored + 1.0) * 8.0;
    *old = *m;
    old->block = kept;
    for (int i = X; i <= VAL; i++) kept[i] = block[i], block[i] = NULL;
    m->x = NULL;
    m->ptr = NULL;
    m->idx = NULL;
    m->val = NULL;
    m->ld = features;
    m->domain.p = features + (m->bias != 0.0f);
    if (!get_array(m->ctx, bytes(size, 1), &fresh)) return pvi_nomem(m->ctx);
    block[line ? X : PTR] = fresh.raw;
    *to = fresh.at;
    m->room = line ? (int64_t)(fresh.cap / sizeof(float)) : 0;
    if (!line) (m->ptr = (int64_t *)(void *)fresh.at)[0] = 0;
    return PV_OK;
}

pv_status pvi_matrix_entries(pvi_matrix *m, int64_t entries)
{
    void **block = m->block;
    array idx, val;
    if (!get_array(m->ctx, bytes((double)entries, 4), &idx)) return pvi_nomem(m->ctx);
    block[IDX] = idx.raw;
    if (!get_array(m->ctx, bytes((double)entries, 4), &val)) return pvi_nomem(m->ctx);
    block[VAL] = val.raw;
    m->idx = (int32_t *)(void *)idx.at;
    m->val = (float *)(void *)val.at;
    return PV_OK;
}

void pvi_matrix_old_free(pvi_matrix *old)
{
    void **block = old->block;
    for (int i = X; block && i <= VAL; i++) pvi_free(old->ctx, block[i]);
    pvi_free(old->ctx, block);
}

void pvi_matrix_offer(pvi_matrix *m)
{
    if (m->late) m->late->offered = true;
    else if (m->x && m->ld <= m->domain.p && m->room / m->domain.p >= m->stored) m->spare = (float *)(uintptr_t)m->x;
}

pv_rows pvi_matrix_rows(const pvi_matrix *m, int64_t first, int64_t count)
{
    if (!m->start) return pvi_matrix_stored(m, first, count);
    pv_rows rows = pvi_matrix_stored(m, 0, count);
    rows.first = first;
    rows.start = m->start + first;
    rows.unit_rows = m->domain.unit_rows;
    return rows;
}

pv_rows pvi_matrix_stored(const pvi_matrix *m, int64_t first, int64_t count)
{
    const float near = (float)m->domain.row_norm;
    return (pv_rows) { .n = count,
                       .first = first,
                       .p = m->domain.p,
                       .x = m->x ? m->x + first * m->ld : NULL,
                       .ld = m->ld,
                       .ptr = m->ptr ? m->ptr + first : NULL,
                       .idx = m->idx,
                       .val = m->val,
                       .y = m->y + first,
                       .norm = m->norm + first,
                       .bound = (double)near > m->domain.row_norm ? nextafterf(near, 0.0f) : near,
                       .bias = m->bias,
                       .unit = m->unit,
                       .byte = m->byte ? m->byte + first * m->ld : NULL,
                       .level = m->level,
                       .unit_rows = 1,
                       .A = m->A };
}
