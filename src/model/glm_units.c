/* glm_units.c - gradient sums of generalised linear models for units of several rows.  Names as in glm.c and units.c.
 *
 * Blocks of rows go through dot products and phi' as in glm.c, whatever units they belong to.  Then
 *   dense  the v = sum of a_r z_r of the block's units (units.c (1)) lie side by side in the cache, as rows would,
 *          each with its factor: g += f v by the kernel that adds rows.  A unit of one row has z itself for v and
 *          its clipped a for f: the same products as in glm.c
 *   CSR    unit after unit, in time proportional to the non-zeros: v has room for p numbers, all 0 between units;
 *          those at the unit's indices are read afterwards, into a list of the ones that are not 0, and are 0 again
 * A row's coefficient a is bounded as in glm.c (1) to (4) with 2^60 for clip: units.c (1). */
#include "glm_block.h"
#include "net_run.h"
#include "units.h"

enum { UNIT_ROWS = PVI_UNIT_BLOCK }; /* of a block, at most */

typedef struct unit_block {            /* behind the block in a thread's scratch */
    _Alignas(64) float own[UNIT_ROWS]; /* coefficients clipped to C, for units of one row */
    int64_t room[2 * UNIT_ROWS];       /* numbers of picked rows: a block, and what comes next */
    int64_t n;                         /* dense: units whose v is there, or CSR: entries of the list */
    int64_t size[UNIT_ROWS];           /* rows of each in the block */
    int64_t rows[UNIT_ROWS];           /* of each in all */
    float f[UNIT_ROWS];
    double square[UNIT_ROWS];
    const float *at[UNIT_ROWS]; /* where their v are */
    bool more;                  /* the first has a part already */
    _Alignas(64) float v[];     /* dense: room for some v; CSR: one, then the list of its entries and their columns */
} unit_block;

typedef struct task {
    const pvi_glm_state *s;
    const pv_rows *units;
    double clip;
    float *g;
    const pvi_grid_to *grid;
    glm_block *b;
    unit_block *u;
} task;

static int64_t room_for(int64_t p) /* v of a dense block */
{
    const int64_t fit = GLM_CACHE / (int64_t)sizeof(float) / block_pad(p);
    return fit < 1 ? 1 : fit > UNIT_ROWS ? UNIT_ROWS : fit;
}

size_t pvi_glm_units_scratch(int64_t p)
{
    const int64_t v = room_for(p);
    const int64_t dense = v * block_pad(p), sparse = 3 * block_pad(p + 1); /* a list has room for one more */
    return sizeof(unit_block) + sizeof(float) * (size_t)(dense > sparse ? dense : sparse);
}

/* ---- dense -------------------------------------------------------------------------------------------------- */

/* The factors of whole units, but of those that are rows, whose are there. */
static void set_factors(const task *t, int64_t whole)
{
    const int64_t p = t->units->p;
    const double limit = pvi_unit_limit(p, t->clip);
    unit_block *u = t->u;
    double cut[UNIT_ROWS];
    for (int64_t i = 0; i < whole; i++) {
        const float *const v = u->v + i * block_pad(p);
        const double q = u->square[i];
        u->at[i] = v;
        u->square[i] = q * (1.0 + 0x1p-20); /* units.c (6) */
        if (!(q >= 0x1p-80 && q <= 0x1p80)) u->square[i] = pvi_unit_squares(v, p);
        if (t->s->max_norm) u->square[i] = pvi_unit_largest(v, p);
    }
    for (int64_t i = 0; i < whole; i++) cut[i] = limit / sqrt(u->square[i]);
    for (int64_t i = 0; i < whole; i++) {
        const float f = pvi_unit_cut(u->square[i], cut[i], t->units, u->rows[i]);
        u->f[i] = pvi_unit_is_row(t->units, u->rows[i]) ? u->f[i] : f;
    }
}

/* g += f v of the units in the room but a last one that goes on in the next block. */
static void flush(const task *t, int64_t from, bool open)
{
    const pv_rows *all = t->units;
    const int64_t p = all->p, ld = block_pad(p);
    unit_block *u = t->u;
    const int64_t whole = u->n - open;
    const pvi_unit_rows r = { t->b->row, t->b->n, from, u->n, u->size, u->more };
    t->s->kernel->form(&r, pvi_stored(all), all->bias, t->b->c, t->b->ahead, u->v, ld, u->square);
    set_factors(t, whole);
    t->s->kernel->add(u->at, whole, p, 0.0f, u->f, 0, t->g);
    if (open && whole > 0) memcpy(u->v, u->v + whole * ld, sizeof *u->v * (size_t)p);
    u->more = open;
    u->n = 0;
}

static void add_dense(const task *t, pvi_walk *at)
{
    glm_block *b = t->b;
    unit_block *u = t->u;
    const int64_t room = room_for(t->units->p);
    bool open = false;
    int64_t from = 0;
    for (int64_t i = 0; i < b->n;) {
        const pvi_part part = pvi_walk_part(at, t->units, b->n - i);
        u->size[u->n] = part.n;
        u->rows[u->n] = part.size;
        const bool row = pvi_unit_is_row(t->units, part.size);
        u->f[u->n] = u->own[i];
        b->c[i] = row ? 1.0f : b->c[i];
        open = !part.last;
        i += part.n;
        if (++u->n < room && i < b->n) continue;
        flush(t, from, open);
        from = i;
    }
}

/* ---- CSR ---------------------------------------------------------------------------------------------------- */

static void put(const task *t, int64_t column, float f, float v)
{
    if (t->grid) t->grid->sum[column] += llrint((double)f * (double)v * t->grid->inverse); /* as glm.c */
    else t->g[column] += f * v;
}

static void add_row(const task *t, int64_t r, float c)
{
    const pv_rows *all = t->units;
    for (int64_t e = all->ptr[r]; e < all->ptr[r + 1]; e++) put(t, all->idx[e], c, all->val[e]);
    if (all->bias != 0.0f) put(t, all->p - 1, c, all->bias);
}

/* v = 0 as far as these units reach, by whichever way is shorter. */
static void clear(const task *t)
{
    const pv_rows *all = t->units;
    float *v = t->u->v;
    int64_t entries = 0;
    for (int64_t i = 0; i < all->n; i++) {
        const int64_t from = pvi_unit_start(all, i);
        entries += all->ptr[from + pvi_unit_size(all, i)] - all->ptr[from];
    }
    if (all->p / 16 <= entries) {
        memset(v, 0, sizeof *v * (size_t)all->p);
        return;
    }
    for (int64_t i = 0; i < all->n; i++) {
        const int64_t from = pvi_unit_start(all, i), to = from + pvi_unit_size(all, i);
        for (int64_t e = all->ptr[from]; e < all->ptr[to]; e++) v[all->idx[e]] = 0.0f;
    }
    v[all->p - 1] = 0.0f;
}

/* The unit's v is complete: the list of its entries, f, and f v. */
static void finish(const task *t, const pvi_part *part)
{
    const pv_rows *all = t->units;
    const int64_t from = all->ptr[part->start], to = all->ptr[part->start + part->size], pad = block_pad(all->p + 1);
    float *const v = t->u->v, *const value = v + pad;
    int32_t *const column = (int32_t *)(void *)(value + pad);
    int64_t n = 0;
    for (int64_t e = from; e <= to; e++) {
        const int64_t j = e < to ? all->idx[e] : all->p - 1;
        const float x = v[j];
        column[n] = (int32_t)j;
        value[n] = x;
        n += x != 0.0f;
        v[j] = 0.0f; /* an index of several rows is listed once */
    }
    const double square =
        t->s->max_norm ? pvi_unit_largest(value, n) : pvi_net_kernel_isa[pvi_isa()]->squares(value, n);
    const float f = pvi_unit_factor(square, all->p, t->clip, all, part->size);
    for (int64_t i = 0; i < n; i++) put(t, column[i], f, value[i]);
}

static void add_sparse(const task *t, const pv_rows *rows, pvi_walk *at)
{
    const glm_block *b = t->b;
    for (int64_t i = 0; i < b->n;) {
        const pvi_part part = pvi_walk_part(at, t->units, b->n - i);
        if (pvi_unit_is_row(t->units, part.size)) {
            add_row(t, part.start, t->u->own[i]);
        } else {
            t->s->kernel->csr_add(rows, b->r + i, part.n, b->c + i, t->u->v);
            if (part.last) finish(t, &part);
        }
        i += part.n;
    }
}

/* How many rows the next block has: as many as the others of these units, for each fetches as many for the next. */
static int64_t next_rows(const pv_rows *rows, int64_t left)
{
    const int64_t most = block_most(rows, UNIT_ROWS), blocks = (left + most - 1) / most;
    return block_pad((left + blocks - 1) / blocks);
}

static void add_block(const task *t, const pvi_clip *far, const pvi_clip *near, const pvi_glm_cfg *cfg,
                      const pv_rows *rows, pvi_walk *at, int64_t *n_bad)
{
    glm_block *b = t->b;
    block_coefs(t->s, cfg, far, b, rows, n_bad);
    memcpy(t->u->own, b->c, sizeof *b->c * (size_t)b->padded);
    t->s->kernel->clip(near, b->padded, b->m, b->norm, NULL, NULL, t->u->own);
    if (rows->x) add_dense(t, at);
    else add_sparse(t, rows, at);
}

void pvi_glm_units_sum(const pvi_glm_state *s, const pvi_glm_cfg *cfg, const pv_rows *units, double clip, float *g,
                       const pvi_grid_to *grid, int64_t *n_bad, void *scratch)
{
    glm_block *b = scratch;
    const task t = { s, units, clip, g, grid, b, (unit_block *)(void *)(b + 1) };
    const double far = isinf(clip) ? clip : PVI_CLIP_MAX;
    const pvi_clip k = pvi_glm_clip(s, cfg, units, clip), wide = pvi_glm_clip(s, cfg, units, far);
    const int64_t most = block_most(units, UNIT_ROWS);
    pvi_walk at = { 0, 0 };

    t.u->n = 0;
    t.u->more = false;
    if (!units->x) clear(&t);
    if (!units->pick && !units->prefix && units->n > 0) { /* consecutive units own consecutive rows */
        const pv_rows rows = pvi_rows_from(units, units->start[0], units->start[units->n] - units->start[0]);
        for (int64_t i = 0; i < rows.n; i += b->n) {
            block_fill(b, &rows, i, next_rows(&rows, rows.n - i));
            add_block(&t, &wide, &k, cfg, &rows, &at, n_bad);
        }
        return;
    }
    while (at.unit < units->n) {
        const pv_rows rows = pvi_walk_rows(&at, units, 2 * most, t.u->room);
        block_fill(b, &rows, 0, UNIT_ROWS);
        add_block(&t, &wide, &k, cfg, &rows, &at, n_bad);
    }
}
