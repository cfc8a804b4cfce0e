/* glm.kernel.c - dot products, clipping and gradient sums for blocks of rows; the bounds are in glm.c.
 *
 * dots   eight rows at a time share the loads of w; their lane sums are reduced together.  A missing row of
 *        the last eight is a repetition of the last row, so every row is computed by the same operations.
 * add    a strip of columns stays in registers while the rows go by, one after the other (M3).
 * clip   (2)-(4) of glm.c. */
#include "model/model.h"
#include "model/simd.h"

#include <float.h>

enum { ROWS = 8, STRIP = 8 };

static void dots8(const float *const *row, int64_t p, const float *w, float *m)
{
    const float *const r0 = row[0], *const r1 = row[1], *const r2 = row[2], *const r3 = row[3];
    const float *const r4 = row[4], *const r5 = row[5], *const r6 = row[6], *const r7 = row[7];
    vf a0 = { 0 }, a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
    int64_t j = 0;
#define PVI_STEP(load)                                                                                               \
    do {                                                                                                             \
        const vf wj = vload(w + j);                                                                                  \
        a0 = vfma(load(r0 + j), wj, a0);                                                                             \
        a1 = vfma(load(r1 + j), wj, a1);                                                                             \
        a2 = vfma(load(r2 + j), wj, a2);                                                                             \
        a3 = vfma(load(r3 + j), wj, a3);                                                                             \
        a4 = vfma(load(r4 + j), wj, a4);                                                                             \
        a5 = vfma(load(r5 + j), wj, a5);                                                                             \
        a6 = vfma(load(r6 + j), wj, a6);                                                                             \
        a7 = vfma(load(r7 + j), wj, a7);                                                                             \
    } while (0)
#define PVI_LOAD_TAIL(x) vload_n(x, p - j)
    for (; j + W <= p; j += W) PVI_STEP(vload);
    if (j < p) PVI_STEP(PVI_LOAD_TAIL);
#undef PVI_LOAD_TAIL
#undef PVI_STEP
    *(v4_any *)m = vsum4(a0, a1, a2, a3);
    *(v4_any *)(m + 4) = vsum4(a4, a5, a6, a7);
}

static void dots(const float *const *row, int64_t n, int64_t p, const float *w, float *m)
{
    int64_t i = 0;
    for (; i + ROWS <= n; i += ROWS) dots8(row + i, p, w, m + i);
    if (i == n) return;
    const float *last[ROWS];
    float out[ROWS];
    for (int64_t k = 0; k < ROWS; k++) last[k] = row[i + k < n ? i + k : n - 1];
    dots8(last, p, w, out);
    for (int64_t k = 0; i + k < n; k++) m[i + k] = out[k];
}

/* Columns of nv vectors, the last with `lanes` lanes; nv is a constant where this is inlined. */
PVI_INLINE void add_strip(const float *const *row, int64_t n, const float *c, int64_t j, int nv, int64_t lanes,
                          float *g)
{
    vf s[STRIP];
    for (int v = 0; v < nv - 1; v++) s[v] = vload(g + v * W);
    s[nv - 1] = vload_n(g + (nv - 1) * W, lanes);
    for (int64_t i = 0; i < n; i++) {
        const float *const x = row[i] + j;
        const vf ci = vset(c[i]);
        for (int v = 0; v < nv - 1; v++) s[v] = vfma(ci, vload(x + v * W), s[v]);
        s[nv - 1] = vfma(ci, vload_n(x + (nv - 1) * W, lanes), s[nv - 1]);
    }
    for (int v = 0; v < nv - 1; v++) vstore(g + v * W, s[v]);
    vstore_n(g + (nv - 1) * W, s[nv - 1], lanes);
}

static void add(const float *const *row, int64_t n, int64_t p, const float *c, float *g)
{
    for (int64_t j = 0; j < p; j += STRIP * W) {
        const int64_t left = p - j < STRIP * W ? p - j : STRIP * W, nv = (left + W - 1) / W;
        const int64_t lanes = left - (nv - 1) * W;
        switch (nv) {
        case 1: add_strip(row, n, c, j, 1, lanes, g + j); break;
        case 2: add_strip(row, n, c, j, 2, lanes, g + j); break;
        case 3: add_strip(row, n, c, j, 3, lanes, g + j); break;
        case 4: add_strip(row, n, c, j, 4, lanes, g + j); break;
        case 5: add_strip(row, n, c, j, 5, lanes, g + j); break;
        case 6: add_strip(row, n, c, j, 6, lanes, g + j); break;
        case 7: add_strip(row, n, c, j, 7, lanes, g + j); break;
        default: add_strip(row, n, c, j, 8, lanes, g + j); break;
        }
    }
}

static void csr_dots(const pv_rows *rows, const int64_t *r, int64_t n, const float *w, float *m)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t end = rows->ptr[r[i] + 1];
        int64_t k = rows->ptr[r[i]];
        float s[4] = { 0 };
        for (; k + 4 <= end; k += 4)
            for (int l = 0; l < 4; l++) s[l] += rows->val[k + l] * w[rows->idx[k + l]];
        for (; k < end; k++) s[0] += rows->val[k] * w[rows->idx[k]];
        m[i] = (s[0] + s[1]) + (s[2] + s[3]);
    }
}

static void csr_add(const pv_rows *rows, const int64_t *r, int64_t n, const float *c, float *g)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = rows->ptr[r[i]]; k < rows->ptr[r[i] + 1]; k++) g[rows->idx[k]] += c[i] * rows->val[k];
}

static int64_t clip(const pvi_clip *k, int64_t n, const float *m, const float *norm, const float *y, float *c)
{
    vi bad = { 0 };
    for (int64_t i = 0; i < n; i += W) {
        const vf r = vload(norm + i), mi = vload(m + i);
        const vf ci = y ? vload(c + i) * vload(y + i) : vload(c + i);
        vf top = (k->clip / r) * 0x1.fffff8p-1f; /* (3): 1 - 2^-22 */
        top = vsel(top >= FLT_MIN, top, vset(0.0f));
        top = vsel(r <= k->free, vset(k->top), top); /* (2) */
        const vf size = vabs(ci), cut = vcopysign(vsel(size <= top, size, top), ci);
        const vi good = (size <= FLT_MAX) & (mi == mi) & (r >= 0.0f); /* (4) */
        vstore(c + i, vsel(good, cut, vset(0.0f)));
        bad += ~good;
    }
    int64_t count = 0;
    for (int v = 0; v < W; v++) count -= bad[v];
    return count;
}

extern const pvi_glm_kernel PVI_NAME(pvi_glm_kernel);
const pvi_glm_kernel
    PVI_NAME(pvi_glm_kernel) = { .dots = dots, .add = add, .csr_dots = csr_dots, .csr_add = csr_add, .clip = clip };
