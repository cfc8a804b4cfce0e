/* softmax_block.h - a block of rows on its way through the softmax kernels, shared by softmax.c and
 * softmax_joint.c. */
#ifndef PVI_SOFTMAX_BLOCK_H
#define PVI_SOFTMAX_BLOCK_H
#include "model.h"

enum { SOFT_PAD = 16, SOFT_CACHE = 256 * 1024 };

typedef struct soft_block { /* one thread's scratch; z follows */
    _Alignas(64) float y[PVI_SOFT_ROWS], norm[PVI_SOFT_ROWS], s[PVI_SOFT_ROWS];
    int64_t r[PVI_SOFT_ROWS];
    const float *row[PVI_SOFT_ROWS];
    int64_t n, padded;
    _Alignas(64) float z[];
} soft_block;

static inline int64_t soft_pad(int64_t n)
{
    return (n + SOFT_PAD - 1) / SOFT_PAD * SOFT_PAD;
}

/* Rows of a block, at most. */
static inline int64_t soft_most(const pv_rows *rows)
{
    const int64_t fit = SOFT_CACHE / (int64_t)sizeof(float) / rows->p / SOFT_PAD * SOFT_PAD;
    return fit < SOFT_PAD ? SOFT_PAD : fit > PVI_SOFT_ROWS ? PVI_SOFT_ROWS : fit;
}

/* Rows first .. of the view into the block. */
static inline void soft_fill(soft_block *b, const pv_rows *rows, int64_t first)
{
    const int64_t most = soft_most(rows);

    b->n = rows->n - first < most ? rows->n - first : most;
    b->padded = soft_pad(b->n);
    for (int64_t i = 0; i < b->n; i++) b->r[i] = rows->pick ? rows->pick[first + i] : first + i;
    if (rows->x)
        for (int64_t i = 0; i < b->n; i++) b->row[i] = rows->x + b->r[i] * rows->ld;
}

/* The stored norms of the block's rows. */
static inline void soft_norms(soft_block *b, const pv_rows *rows)
{
    for (int64_t i = 0; i < b->padded; i++) b->norm[i] = i < b->n ? rows->norm[b->r[i]] : pvi_pad_norm(rows);
}

/* W (v, b) of the block's rows; the padding holds harmless zeros. */
static inline void soft_dots(const pvi_softmax_state *s, const soft_block *b, const pv_rows *rows, float *z)
{
    for (int64_t c = 0; c < s->k; c++)
        for (int64_t i = b->n; i < b->padded; i++) z[c * PVI_SOFT_ROWS + i] = 0.0f;
    if (rows->x) s->kernel->logits(b->row, b->n, pvi_stored(rows), rows->bias, s->k, s->w, s->ldw, z);
    else s->kernel->csr_logits(rows, b->r, b->n, s->k, s->wt, s->ldt, z);
}

/* The block's logits, W x with x = s (v, b); norm as well.  Returns s of the rows, NULL: 1. */
static inline const float *soft_logits(const pvi_softmax_state *st, soft_block *b, const pv_rows *rows, float *z)
{
    soft_dots(st, b, rows, z);
    soft_norms(b, rows);
    const int found = st->kernel->gain(rows, b->padded, st->k, b->norm, b->s, z);
    for (int64_t i = 0; found == PVI_GAIN_ODD && i < b->n; i++)
        for (int64_t c = 0; pvi_is_odd(b->norm[i]) && c < st->k; c++) /* row.c (4) */
            z[c * PVI_SOFT_ROWS + i] =
                (float)(pvi_far_gain(rows, b->r[i], b->norm[i]) * pvi_row_dot(rows, b->r[i], st->w + c * st->ldw));
    return found == PVI_GAIN_ONE ? NULL : b->s;
}

static inline void soft_add(const pvi_softmax_state *s, const soft_block *b, const pv_rows *rows, const float *z,
                            float *g)
{
    if (rows->x) s->kernel->add(b->row, b->n, pvi_stored(rows), rows->bias, s->k, z, g);
    else s->kernel->csr_add(rows, b->r, b->n, s->k, z, g);
}

/* Class numbers; two classes are stored as -1 and +1. */
static inline void soft_labels(const pvi_softmax_state *s, soft_block *b, const pv_rows *rows)
{
    for (int64_t i = 0; i < b->n; i++) {
        const float y = rows->y[b->r[i]];
        b->y[i] = s->k == 2 ? 0.5f * (y + 1.0f) : y;
    }
    for (int64_t i = b->n; i < b->padded; i++) b->y[i] = 0.0f;
}
#endif
