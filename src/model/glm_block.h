/* glm_block.h - a block of rows on its way through the GLM kernels, shared by glm.c and glm_hess.c. */
#ifndef PVI_GLM_BLOCK_H
#define PVI_GLM_BLOCK_H
#include "model.h"

enum { GLM_PAD = 16, GLM_CACHE = 32 * 1024 };

typedef struct glm_block { /* one thread's scratch */
    _Alignas(64) float m[PVI_GLM_ROWS], c[PVI_GLM_ROWS], y[PVI_GLM_ROWS], norm[PVI_GLM_ROWS], s[PVI_GLM_ROWS];
    int64_t r[PVI_GLM_ROWS];            /* stored row numbers, unless dense and consecutive from first on */
    const float *row[2 * PVI_GLM_ROWS]; /* dense: where they start; picked: then those of the next block */
    int64_t first, n, padded;           /* rows; rounded up to 16 */
    int64_t ahead;                      /* for the kernels (model.h) */
} glm_block;

enum { HESS_ROWS = PVI_SHOWN_ROWS };

typedef struct hess_block { /* with second derivatives */
    glm_block b;
    pvi_shown seen;                                           /* its rows as the model sees them */
    double traces;                                            /* sum of |c2| norm^2 of the rows since it was 0 */
    _Alignas(64) float c2[PVI_GLM_ROWS], norm2[PVI_GLM_ROWS]; /* coefficients of x x'; squared norms, rounded up */
    float *z;                                                 /* transformed rows, padded to 16: in t */
    _Alignas(64) float t[];                                   /* c_i x_i, rows padded to 16; z; then room for seen */
} hess_block;

static inline int64_t block_pad(int64_t n)
{
    return (n + GLM_PAD - 1) / GLM_PAD * GLM_PAD;
}

/* Picked rows lie anywhere: where the next ones start, their labels and norms are known early enough to
 * fetch them, a block ahead. */
static inline void block_fetch(const pv_rows *rows, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++) {
        __builtin_prefetch(rows->y + rows->pick[i]);
        __builtin_prefetch(rows->norm + rows->pick[i]);
    }
}

static inline void block_pick(glm_block *b, const pv_rows *rows)
{
    const int64_t *const pick = rows->pick + b->first, left = rows->n + rows->next - b->first;
    const int64_t known = left < 2 * b->n ? left : 2 * b->n;
    memcpy(b->r, pick, sizeof *b->r * (size_t)b->n);
    block_fetch(rows, b->first + (b->first > 0 ? b->n : 0), b->first + known);
    for (int64_t i = 0; rows->x && i < known; i++) b->row[i] = rows->x + pick[i] * rows->ld;
    b->ahead = b->n - known;
}

static inline void block_run(glm_block *b, const pv_rows *rows)
{
    for (int64_t i = 0; i < b->n; i++)
        if (rows->x) b->row[i] = rows->x + (b->first + i) * rows->ld;
        else b->r[i] = b->first + i;
    b->ahead = b->n * rows->ld;
}

/* Rows of a block: at most `limit`, and no more than stay in the cache. */
static inline int64_t block_most(const pv_rows *rows, int64_t limit)
{
    const int64_t fit = rows->x ? GLM_CACHE / (int64_t)sizeof(float) / rows->p / GLM_PAD * GLM_PAD : limit;
    return fit < GLM_PAD ? GLM_PAD : fit > limit ? limit : fit;
}

/* Rows first .. of the view into the block. */
static inline void block_fill(glm_block *b, const pv_rows *rows, int64_t first, int64_t limit)
{
    const int64_t most = block_most(rows, limit);

    b->n = rows->n - first < most ? rows->n - first : most;
    b->padded = (b->n + GLM_PAD - 1) / GLM_PAD * GLM_PAD;
    b->first = first;
    if (rows->pick) block_pick(b, rows);
    else block_run(b, rows);
}

/* out[i] = from[r_i], then harmless zeros up to the padded length. */
static inline void block_gather(const glm_block *b, const pv_rows *rows, const float *from, float *out)
{
    if (rows->pick)
        for (int64_t i = 0; i < b->n; i++) out[i] = from[b->r[i]];
    else memcpy(out, from + b->first, sizeof *out * (size_t)b->n);
    for (int64_t i = b->n; i < b->padded; i++) out[i] = 0.0f;
}

/* <(v, b), w> of the block's rows; the padding holds zeros. */
static inline void block_dots(const pvi_glm_kernel *kernel, glm_block *b, const pv_rows *rows, const float *w)
{
    if (rows->x) kernel->dots(b->row, b->n, pvi_stored(rows), rows->bias, w, b->ahead, b->m);
    else kernel->csr_dots(rows, b->r, b->n, w, b->m);
    for (int64_t i = b->n; i < b->padded; i++) b->m[i] = 0.0f;
}

/* m = <w, x> with x = s (v, b); norm as well.  Returns s of the rows, NULL: 1. */
static inline const float *block_products(const pvi_glm_state *st, glm_block *b, const pv_rows *rows)
{
    block_dots(st->kernel, b, rows, st->w);
    block_gather(b, rows, rows->norm, b->norm);
    for (int64_t i = b->n; i < b->padded; i++) b->norm[i] = pvi_pad_norm(rows);
    const int found = st->kernel->gain(rows, b->padded, b->norm, b->s, b->m);
    for (int64_t i = 0; found == PVI_GAIN_ODD && i < b->n; i++) /* row.c (4) */
        if (pvi_is_odd(b->norm[i])) {
            const int64_t r = rows->pick ? b->r[i] : b->first + i;
            b->m[i] = (float)(pvi_far_gain(rows, r, b->norm[i]) * pvi_row_dot(rows, r, st->w));
        }
    return found == PVI_GAIN_ONE ? NULL : b->s;
}

static inline void block_margins(const pvi_glm_cfg *cfg, glm_block *b)
{
    if (cfg->loss->props & PV_MARGIN)
        for (int64_t i = 0; i < b->padded; i++) b->m[i] *= b->y[i];
    else
        for (int64_t i = 0; i < b->padded; i++) b->m[i] -= b->y[i];
}

/* Times what each row's class counts; y of the block is there. */
static inline void block_weigh(const pvi_glm_cfg *c, const glm_block *b, float *v)
{
    double a[2];
    if (!c->loss->weights) return;
    c->loss->weights(c->loss_cfg, a);
    const float lower = (float)a[0], upper = (float)a[1];
    for (int64_t i = 0; i < b->padded; i++) v[i] *= b->y[i] > 0.0f ? upper : lower;
}

/* The clipped coefficients of the block's rows. */
static inline void block_coefs(const pvi_glm_state *s, const pvi_glm_cfg *c, const pvi_clip *k, glm_block *b,
                               const pv_rows *rows, int64_t *n_bad)
{
    const float *gain = block_products(s, b, rows);
    block_gather(b, rows, rows->y, b->y);
    block_margins(c, b);
    c->loss->eval(c->loss_cfg, b->padded, b->m, NULL, b->c, NULL);
    block_weigh(c, b, b->c);
    *n_bad += s->kernel->clip(k, b->padded, b->m, b->norm, c->loss->props & PV_MARGIN ? b->y : NULL, gain, b->c);
}
#endif
