/* glm.kernel.c - dot products, clipping and gradient sums for blocks of rows; the bounds are in glm.c.
 *
 * dots   a tile of W rows shares the loads of w; their lane sums are reduced together.  A missing row of the
 *        last tile is a repetition of the last row, so every row is computed by the same operations.
 * add    a strip of columns stays in registers while the rows go by, one after the other (M3).
 * gain   row.c (1).
 * clip   (2)-(4) of glm.c.
 * form   as add, into a sum of its own for every unit, with its squares (units.c (6)): lanes of all units first, then
 *        the sums over the lanes of W units at a time.
 * The bias is a lane of the last vector of a row, merged in as it is loaded. */
#include "model/model.h"
#include "model/simd.h"

#include <float.h>

enum { STRIP = 8 };

/* Lane sums of the products of `count` rows with w, count / (W/4) folded vectors; rows q, q+4, ... of the tile
 * share a vector, so that the sums come out in order. */
PVI_INLINE void tile_part(const float *const *row, int q, tail end, const float *w, vf *out)
{
    enum { K = W / 4 }; /* rows per folded vector */
    vf a[2][K];
    int64_t j = 0;
    for (int k = 0; k < K; k++) a[0][k] = a[1][k] = vset(0.0f);
    for (; j < end.at; j += W) {
        const vf wj = vload(w + j);
        for (int k = 0; k < K; k++) {
            a[0][k] = vfma(vload(row[4 * k + q] + j), wj, a[0][k]);
            a[1][k] = vfma(vload(row[4 * k + q + 1] + j), wj, a[1][k]);
        }
    }
    if (end.lanes > 0) {
        const vf wj = vload(w + j);
        for (int k = 0; k < K; k++) {
            a[0][k] = vfma(vload_rest(row[4 * k + q] + j, end.have, end.rest), wj, a[0][k]);
            a[1][k] = vfma(vload_rest(row[4 * k + q + 1] + j, end.have, end.rest), wj, a[1][k]);
        }
    }
    out[0] = vfold_quads(a[0]);
    out[1] = vfold_quads(a[1]);
}

static vf dots_tile(const float *const *row, tail end, const float *w)
{
    vf f[4];
    tile_part(row, 0, end, w, f);
    tile_part(row, 2, end, w, f + 2);
    return vsum_quads(f[0], f[1], f[2], f[3]);
}

/* Lines of the next block while rows from .. to of this one are used, columns j .. j + width of 2p: dots() fetches
 * the first p of them, that is half of each row, add() the others. */
PVI_INLINE void fetch_next(const float *const *row, int64_t n, int64_t from, int64_t to, int64_t j, int64_t width,
                           int64_t ahead)
{
    const int64_t first = ((j >> 1) + LINE - 1) / LINE * LINE, last = (j + width + 1) >> 1;
    if (ahead > 0) fetch(row[0] + ahead + (j * n >> 1), from * width >> 1, to * width >> 1, LINE);
    for (int64_t i = from; i < to && i < -ahead; i++) fetch(row[n + i], first, last, LINE);
}

static void dots(const float *const *row, int64_t n, int64_t q, float bias, const float *w, int64_t ahead, float *m)
{
    const tail end = tail_of(q, bias);
    int64_t i = 0;
    for (; i + W <= n; i += W) {
        fetch_next(row, n, i, i + W, 0, q, ahead);
        vstore(m + i, dots_tile(row + i, end, w));
    }
    if (i == n) return;
    const float *last[W];
    for (int64_t k = 0; k < W; k++) last[k] = row[i + k < n ? i + k : n - 1];
    vstore_n(m + i, dots_tile(last, end, w), n - i);
}

/* Columns of nv vectors, the last with `lanes` lanes, `have` of them in memory; nv is a constant where this is
 * inlined. */
PVI_INLINE void add_strip(const float *const *row, int64_t n, const float *c, int64_t q, int64_t j, int nv,
                          int64_t lanes, int64_t have, vf rest, int64_t ahead, float *g)
{
    const int64_t width = (nv - 1) * W + lanes;
    vf s[STRIP];
    for (int v = 0; v < nv - 1; v++) s[v] = vload(g + v * W);
    s[nv - 1] = vload_n(g + (nv - 1) * W, lanes);
    for (int64_t i = 0; i < n; i++) {
        const float *const x = row[i] + j;
        const vf ci = vset(c[i]);
        fetch_next(row, n, i, i + 1, q + j, width, ahead);
        for (int v = 0; v < nv - 1; v++) s[v] = vfma(ci, vload(x + v * W), s[v]);
        s[nv - 1] = vfma(ci, vload_rest(x + (nv - 1) * W, have, rest), s[nv - 1]);
    }
    for (int v = 0; v < nv - 1; v++) vstore(g + v * W, s[v]);
    vstore_n(g + (nv - 1) * W, s[nv - 1], lanes);
}

static void add(const float *const *row, int64_t n, int64_t q, float bias, const float *c, int64_t ahead, float *g)
{
    const int64_t p = q + (bias != 0.0f);
    for (int64_t j = 0; j < p; j += STRIP * W) {
        const int64_t left = p - j < STRIP * W ? p - j : STRIP * W, nv = (left + W - 1) / W;
        const int64_t lanes = left - (nv - 1) * W, have = j + left > q ? lanes - 1 : lanes;
        const vf rest = j + left > q ? vlane(bias, have) : vset(0.0f);
        switch (nv) {
        case 1: add_strip(row, n, c, q, j, 1, lanes, have, rest, ahead, g + j); break;
        case 2: add_strip(row, n, c, q, j, 2, lanes, have, rest, ahead, g + j); break;
        case 3: add_strip(row, n, c, q, j, 3, lanes, have, rest, ahead, g + j); break;
        case 4: add_strip(row, n, c, q, j, 4, lanes, have, rest, ahead, g + j); break;
        case 5: add_strip(row, n, c, q, j, 5, lanes, have, rest, ahead, g + j); break;
        case 6: add_strip(row, n, c, q, j, 6, lanes, have, rest, ahead, g + j); break;
        case 7: add_strip(row, n, c, q, j, 7, lanes, have, rest, ahead, g + j); break;
        default: add_strip(row, n, c, q, j, 8, lanes, have, rest, ahead, g + j); break;
        }
    }
}

/* sum[u] += the lanes of part[u], for n units, in tiles of W. */
static void add_lanes(const vf *part, int64_t n, double *sum)
{
    enum { K = W / 4 };
    for (int64_t u = 0; u < n; u += W) {
        float out[W];
        vf f[4];
        for (int q = 0; q < 4; q++) {
            vf a[K];
            for (int k = 0; k < K; k++) a[k] = part[u + 4 * k + q < n ? u + 4 * k + q : n - 1];
            f[q] = vfold_quads(a);
        }
        vstore(out, vsum_quads(f[0], f[1], f[2], f[3]));
        for (int64_t k = 0; k < W && u + k < n; k++) sum[u + k] += (double)out[k];
    }
}

/* As fetch_next() for row i of a strip of nv vectors, without a branch that depends on i where the next block follows
 * this one: a unit's few rows leave little to predict by. */
PVI_INLINE void fetch_for(const pvi_unit_rows *r, int64_t i, int64_t j, int64_t width, int nv, int64_t ahead)
{
    const float *const half = r->row[0] + ahead + (j * r->n >> 1) + (i * width >> 1);
    if (ahead <= 0) fetch_next(r->row, r->n, i, i + 1, j, width, ahead);
    else fetch(half, 0, nv * W / 2, LINE);
}

/* A strip of the sums of all units. */
PVI_INLINE void form_strip(const pvi_unit_rows *r, int64_t q, const float *c, int64_t j, int nv, int64_t lanes,
                           int64_t have, vf rest, int64_t ahead, float *v, int64_t ldv, double *square)
{
    const int64_t width = (nv - 1) * W + lanes;
    vf part[PVI_UNIT_BLOCK];
    int64_t i = r->first;
    for (int64_t u = 0; u < r->units; u++, v += ldv) {
        const int64_t end = i + r->size[u];
        vf s[STRIP];
        for (int k = 0; k < nv; k++) s[k] = u == 0 && r->more ? vload(v + k * W) : vset(0.0f);
        for (; i < end; i++) {
            const float *const x = r->row[i] + j;
            const vf ci = vset(c[i]);
            fetch_for(r, i, q + j, width, nv, ahead);
            for (int k = 0; k < nv - 1; k++) s[k] = vfma(ci, vload(x + k * W), s[k]);
            s[nv - 1] = vfma(ci, vload_rest(x + (nv - 1) * W, have, rest), s[nv - 1]);
        }
        for (int k = 0; k < nv; k++) vstore(v + k * W, s[k]);
        vf squares = s[0] * s[0];
        for (int k = 1; k < nv; k++) squares = vfma(s[k], s[k], squares);
        part[u] = squares;
    }
    add_lanes(part, r->units, square);
}

static void form(const pvi_unit_rows *r, int64_t q, float bias, const float *c, int64_t ahead, float *v, int64_t ldv,
                 double *square)
{
    const int64_t p = q + (bias != 0.0f);
    for (int64_t u = 0; u < r->units; u++) square[u] = 0.0;
    for (int64_t j = 0; j < p; j += STRIP * W, v += STRIP * W) {
        const int64_t left = p - j < STRIP * W ? p - j : STRIP * W, nv = (left + W - 1) / W;
        const int64_t lanes = left - (nv - 1) * W, have = j + left > q ? lanes - 1 : lanes;
        const vf rest = j + left > q ? vlane(bias, have) : vset(0.0f);
        switch (nv) {
        case 1: form_strip(r, q, c, j, 1, lanes, have, rest, ahead, v, ldv, square); break;
        case 2: form_strip(r, q, c, j, 2, lanes, have, rest, ahead, v, ldv, square); break;
        case 3: form_strip(r, q, c, j, 3, lanes, have, rest, ahead, v, ldv, square); break;
        case 4: form_strip(r, q, c, j, 4, lanes, have, rest, ahead, v, ldv, square); break;
        case 5: form_strip(r, q, c, j, 5, lanes, have, rest, ahead, v, ldv, square); break;
        case 6: form_strip(r, q, c, j, 6, lanes, have, rest, ahead, v, ldv, square); break;
        case 7: form_strip(r, q, c, j, 7, lanes, have, rest, ahead, v, ldv, square); break;
        default: form_strip(r, q, c, j, 8, lanes, have, rest, ahead, v, ldv, square); break;
        }
    }
}

static void csr_dots(const pv_rows *rows, const int64_t *r, int64_t n, const float *w, float *m)
{
    const float start = rows->bias != 0.0f ? rows->bias * w[rows->p - 1] : 0.0f;
    for (int64_t i = 0; i < n; i++) {
        const int64_t end = rows->ptr[r[i] + 1];
        int64_t k = rows->ptr[r[i]];
        float s[4] = { start };
        for (; k + 4 <= end; k += 4)
            for (int l = 0; l < 4; l++) s[l] += rows->val[k + l] * w[rows->idx[k + l]];
        for (; k < end; k++) s[0] += rows->val[k] * w[rows->idx[k]];
        m[i] = (s[0] + s[1]) + (s[2] + s[3]);
    }
}

static void csr_add(const pv_rows *rows, const int64_t *r, int64_t n, const float *c, float *g)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = rows->ptr[r[i]]; k < rows->ptr[r[i] + 1]; k++) g[rows->idx[k]] += c[i] * rows->val[k];
        if (rows->bias != 0.0f) g[rows->p - 1] += c[i] * rows->bias;
    }
}

static int gain(const pv_rows *rows, int64_t n, const float *norm, float *s, float *m)
{
    vi odd = { 0 };
    if (vplain(rows->bound, rows->unit, n, norm)) return PVI_GAIN_ONE;
    for (int64_t i = 0; i < n; i += W) {
        const vf r = vload(norm + i), si = vgain(r, rows->bound, rows->unit);
        vstore(s + i, si);
        vstore(m + i, si * vload(m + i));
        odd |= vodd(r);
    }
    return vany(odd) ? PVI_GAIN_ODD : PVI_GAIN_SOME;
}

static int64_t clip(const pvi_clip *k, int64_t n, const float *m, const float *norm, const float *y, const float *s,
                    float *c)
{
    vi bad = { 0 };
    for (int64_t i = 0; i < n; i += W) {
        const vf r = vload(norm + i), mi = vload(m + i);
        const vf c1 = y ? vload(c + i) * vload(y + i) : vload(c + i);
        vf ci = c1;
        if (s) {
            ci = c1 * vload(s + i);
            ci = vsel(vabs(ci) <= FLT_MAX, ci, vcopysign(vset(FLT_MAX), ci)); /* (3) */
        }
        vf top = (k->clip / r) * 0x1.fffff8p-1f; /* (3): 1 - 2^-22 */
        top = vsel(top >= FLT_MIN, top, vset(0.0f));
        top = vsel(r <= k->safe, vset(k->top), top); /* (2) */
        const vf size = vabs(ci), cut = vcopysign(vsel(size <= top, size, top), ci);
        const vi good = (vabs(c1) <= FLT_MAX) & (mi == mi) & (r >= 0.0f) & (r <= FLT_MAX); /* (4) */
        vstore(c + i, vsel(good, cut, vset(0.0f)));
        bad += ~good;
    }
    int64_t count = 0;
    for (int v = 0; v < W; v++) count -= bad[v];
    return count;
}

extern const pvi_glm_kernel PVI_ISA_NAME(pvi_glm_kernel);
const pvi_glm_kernel PVI_ISA_NAME(pvi_glm_kernel) = {
    .dots = dots, .add = add, .csr_dots = csr_dots, .csr_add = csr_add, .gain = gain, .clip = clip, .form = form
};
