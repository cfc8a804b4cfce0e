/* softmax_units.c - gradient sums of multi-class logistic regression for units of several rows.  Names as in
 * softmax.c and units.c.
 *
 * The gradient of a unit is the k x p matrix V = sum over its rows of c_r (v, b)', c_r the coefficients of softmax.c
 * (3) with 2^60 for clip.  It is formed as floats, row after row (units.c (1)); f and g += f V follow.
 *   dense  units of few rows: f from inner products of rows and of coefficients (gram.c), then V in registers, a tile
 *          at a time for all such units of a block.  Rows have norms in [2^-40, 2^40] there, and inner products of
 *          coefficients are made in double.  Other units: V in memory, k p numbers
 *   CSR    only columns that a row of the unit has: the list of them, V as k rows of as many numbers
 * Rows of units that have one are clipped to C by softmax.c (3) and added as there.  Units are added in order. */
#include "gram.h"
#include "net_run.h"
#include "softmax_block.h"
#include "units.h"

typedef struct unit_room { /* behind the block in a thread's scratch */
    float *own;            /* coefficients clipped to C, laid out like z */
    float *V;
    int32_t *column, *place; /* CSR: the unit's columns; where a column is in the list */
    int64_t columns;
    int64_t pick[PVI_SOFT_ROWS];
    int64_t from, rows, n; /* units that wait to be added: first row in the block, rows, how many */
    int64_t size[PVI_SOFT_ROWS];
    float f[PVI_SOFT_ROWS];
    bool alone[PVI_SOFT_ROWS];
} unit_room;

typedef struct task {
    const pvi_softmax_state *s;
    const pv_rows *units;
    double clip;
    float *g;
    soft_block *b;
    unit_room *u;
} task;

static int64_t room_floats(int64_t p, int64_t k)
{
    return PVI_SOFT_ROWS * k + soft_pad(k * p) + 2 * soft_pad(p);
}

size_t pvi_softmax_units_scratch(int64_t p, int64_t k)
{
    return sizeof(float) * (size_t)room_floats(p, k);
}

static unit_room open_room(const pvi_softmax_state *s, soft_block *b)
{
    unit_room u = { .own = b->z + s->k * PVI_SOFT_ROWS };
    u.V = u.own + s->k * PVI_SOFT_ROWS;
    u.column = (int32_t *)(void *)(u.V + soft_pad(s->k * s->p));
    u.place = u.column + soft_pad(s->p);
    return u;
}

/* ---- CSR ---------------------------------------------------------------------------------------------------- */

/* The columns of the unit's rows, in the order of their first entries; the bias is the last. */
static void list_columns(const task *t, const pvi_part *part)
{
    const pv_rows *all = t->units;
    unit_room *u = t->u;
    const int64_t from = all->ptr[part->start], to = all->ptr[part->start + part->size];
    int64_t n = 0;
    for (int64_t e = from; e < to; e++) u->place[all->idx[e]] = -1;
    u->place[all->p - 1] = -1;
    for (int64_t e = from; e < to + (all->bias != 0.0f); e++) {
        const int64_t j = e < to ? all->idx[e] : all->p - 1;
        if (u->place[j] >= 0) continue;
        u->place[j] = (int32_t)n;
        u->column[n++] = (int32_t)j;
    }
    u->columns = n;
}

static void add_sparse(const task *t, const pv_rows *rows, int64_t i, int64_t n)
{
    const unit_room *u = t->u;
    for (int64_t r = i; r < i + n; r++)
        for (int64_t c = 0; c < t->s->k; c++) {
            const float q = t->b->z[c * PVI_SOFT_ROWS + r];
            float *const v = u->V + c * u->columns;
            for (int64_t e = rows->ptr[t->b->r[r]]; e < rows->ptr[t->b->r[r] + 1]; e++)
                v[u->place[rows->idx[e]]] += q * rows->val[e];
            if (rows->bias != 0.0f) v[u->place[rows->p - 1]] += q * rows->bias;
        }
}

/* ---- both ----------------------------------------------------------------------------------------------------- */

static void finish(const task *t, const pvi_part *part)
{
    const pvi_net_kernel *kernel = pvi_net_kernel_isa[pvi_isa()];
    const int64_t d = t->s->k * t->s->p, n = t->units->x ? d : t->s->k * t->u->columns;
    const float *V = t->u->V;
    const double square = t->s->max_norm ? pvi_unit_largest(V, n) : kernel->squares(V, n);
    const float f = pvi_unit_factor(square, d, t->clip, t->units, part->size);
    if (f == 0.0f) return;
    if (t->units->x) kernel->axpy(f, V, d, t->g);
    else
        for (int64_t c = 0; c < t->s->k; c++, V += t->u->columns)
            for (int64_t e = 0; e < t->u->columns; e++) t->g[c * t->s->p + t->u->column[e]] += f * V[e];
}

static void add_part(const task *t, const pv_rows *rows, const pvi_part *part, int64_t i)
{
    const soft_block *b = t->b;
    if (part->first) {
        if (!rows->x) list_columns(t, part);
        memset(t->u->V, 0, sizeof(float) * (size_t)(t->s->k * (rows->x ? t->s->p : t->u->columns)));
    }
    if (rows->x) t->s->kernel->add(b->row + i, part->n, pvi_stored(rows), rows->bias, t->s->k, b->z + i, t->u->V);
    else add_sparse(t, rows, i, part->n);
    if (part->last) finish(t, part);
}

/* ---- units that stay in registers ------------------------------------------------------------------------------ */

static void add_waiting(const task *t, const pv_rows *rows)
{
    const soft_block *b = t->b;
    unit_room *u = t->u;
    const pvi_runs runs = { u->n, u->size, u->f, u->alone };
    const float *const z = b->z + u->from;
    if (u->n == 0) return;
    if (rows->x) t->s->kernel->add_units(b->row + u->from, &runs, pvi_stored(rows), rows->bias, t->s->k, z, t->g);
    else t->s->kernel->csr_add(rows, b->r + u->from, u->rows, t->s->k, z, t->g);
    u->n = u->rows = 0;
}

static void let_wait(unit_room *u, int64_t i, int64_t size, float f, bool alone)
{
    if (u->n == 0) u->from = i;
    u->size[u->n] = size;
    u->f[u->n] = f;
    u->alone[u->n++] = alone;
    u->rows += size;
}

static double coefficient_product(const task *t, int64_t i, int64_t j)
{
    const float *const z = t->b->z;
    double sum = 0.0;
    for (int64_t c = 0; c < t->s->k; c++) sum += (double)z[c * PVI_SOFT_ROWS + i] * (double)z[c * PVI_SOFT_ROWS + j];
    return sum;
}

/* f of a unit whose rows begin at i, all of them in the block; false: its V is to be formed. */
static bool find_factor(const task *t, const pv_rows *rows, const pvi_part *part, int64_t i, float *f)
{
    const pvi_net_kernel *kernel = pvi_net_kernel_isa[pvi_isa()];
    const soft_block *b = t->b;
    const int64_t n = part->n, d = t->s->k * t->s->p;
    const double bias = (double)rows->bias * (double)rows->bias;
    double A[PVI_GRAM_ROWS * PVI_GRAM_ROWS], B[PVI_GRAM_ROWS * PVI_GRAM_ROWS], own[PVI_GRAM_ROWS];
    if (!rows->x || !part->first || !part->last || t->s->max_norm) return false;
    if (!pvi_gram_pays(n, t->s->p + t->s->k, d)) return false;
    for (int64_t r = 0; r < n; r++) {
        const float norm = b->norm[i + r];
        own[r] = (double)norm * sqrt(coefficient_product(t, i + r, i + r));
        if (!(norm >= 0x1p-40f && norm <= 0x1p40f)) return false;
    }
    for (int64_t r = 0; r < n; r++) {
        kernel->inner(b->row[i + r], b->row + i + r + 1, n - r - 1, pvi_stored(rows), A + r * n + r + 1);
        for (int64_t s = r + 1; s < n; s++) {
            A[r * n + s] += bias;
            B[r * n + s] = coefficient_product(t, i + r, i + s);
        }
    }
    const double square = pvi_gram_square(A, B, own, n);
    if (square < 0.0) return false;
    *f = pvi_unit_factor(square, d, t->clip, t->units, part->size);
    return true;
}

/* Rows that follow the block are asked for while it is worked on. */
static void fetch_next(const soft_block *b, const pv_rows *rows, int64_t i, int64_t n)
{
    enum { LINE = 16 };
    if (!rows->x || rows->pick) return;
    for (const float *x = b->row[i] + b->n * rows->ld, *end = x + n * rows->ld; x < end; x += LINE)
        __builtin_prefetch(x, 0, 2);
}

static void add_block(const task *t, const pv_rows *rows, pvi_walk *at)
{
    for (int64_t i = 0; i < t->b->n;) {
        const pvi_part part = pvi_walk_part(at, t->units, t->b->n - i);
        float f = 0.0f;
        fetch_next(t->b, rows, i, part.n);
        if (pvi_unit_is_row(t->units, part.size)) {
            for (int64_t c = 0; c < t->s->k; c++) t->b->z[c * PVI_SOFT_ROWS + i] = t->u->own[c * PVI_SOFT_ROWS + i];
            let_wait(t->u, i, 1, 0.0f, true);
        } else if (find_factor(t, rows, &part, i, &f)) {
            let_wait(t->u, i, part.n, f, false);
        } else {
            add_waiting(t, rows);
            add_part(t, rows, &part, i);
        }
        i += part.n;
    }
    add_waiting(t, rows);
}

void pvi_softmax_units_sum(const pvi_softmax_state *s, const pv_rows *units, double clip, float *g, int64_t *n_bad,
                           void *scratch)
{
    soft_block *b = scratch;
    unit_room u = open_room(s, b);
    const task t = { s, units, clip, g, b, &u };
    const float far = isinf(clip) ? INFINITY : (float)PVI_CLIP_MAX, near = pvi_float_down(clip);
    const size_t size = sizeof *b->z * PVI_SOFT_ROWS * (size_t)s->k;
    pvi_walk at = { 0, 0 };

    while (at.unit < units->n) {
        const int64_t whole = pvi_walk_whole(&at, units, soft_most(units));
        const pv_rows rows = pvi_walk_rows(&at, units, whole, u.pick);
        soft_fill(b, &rows, 0);
        const float *gain = soft_logits(s, b, &rows, b->z);
        soft_labels(s, b, &rows);
        memcpy(u.own, b->z, size);
        *n_bad += s->kernel->coefficients(far, b->padded, s->k, b->y, b->norm, gain, b->z);
        s->kernel->coefficients(near, b->padded, s->k, b->y, b->norm, gain, u.own);
        add_block(&t, &rows, &at);
    }
}
