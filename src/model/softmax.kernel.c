/* softmax.kernel.c - logits, coefficients and gradient sums for k classes; the mathematics is in softmax.c.
 *
 * logits        a tile of 4 rows by T classes shares the loads of both; lane sums are reduced together.
 * coefficients  vectors run over rows, so maxima and sums over classes need no shuffles.
 * add           a tile of T classes by a strip of columns stays in registers while the rows go by, one after
 *               the other (M3).
 * add_units     the same with a unit's sum in registers beside what g has. */
#include "model/model.h"
#include "model/simd.h"

#include <float.h>

enum { ROWS = 4, TILE = PVI_W == 16 ? 5 : 2, STRIP = 4, UNIT_STRIP = 2, Z = PVI_SOFT_ROWS };

/* The sums over the lanes of a[row][class] to z; t is a constant where this is inlined. */
PVI_INLINE void reduce_tile(vf a[ROWS][TILE], int t, int64_t rows, float *z)
{
    enum { K = W / 4 }; /* rows per folded vector */
    for (int h = 0; h < ROWS; h += K) {
        vf f[TILE];
        for (int c = 0; c < t; c++) {
            vf b[K];
            for (int g = 0; g < K; g++) b[g] = a[h + g][c];
            f[c] = vfold_quads(b);
        }
        for (int c = 0; c < t; c += 4) {
            const vf zero = vset(0.0f);
            float s[W];
            vstore(s, vsum_quads(f[c], c + 1 < t ? f[c + 1] : zero, c + 2 < t ? f[c + 2] : zero,
                                 c + 3 < t ? f[c + 3] : zero));
            for (int g = 0; g < K && h + g < rows; g++)
                for (int e = 0; e < 4 && c + e < t; e++) z[(c + e) * Z + h + g] = s[4 * g + e];
        }
    }
}

PVI_INLINE void logits_tile(const float *const *row, int64_t rows, tail end, int t, const float *w, int64_t ldw,
                            float *z)
{
    vf a[ROWS][TILE];
    int64_t j = 0;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < t; c++) a[r][c] = vset(0.0f);
    for (; j < end.at + end.lanes; j += W) {
        vf x[ROWS];
        if (j < end.at)
            for (int r = 0; r < ROWS; r++) x[r] = vload(row[r] + j);
        else
            for (int r = 0; r < ROWS; r++) x[r] = vload_rest(row[r] + j, end.have, end.rest);
        for (int c = 0; c < t; c++) {
            const vf wc = vload(w + c * ldw + j);
            for (int r = 0; r < ROWS; r++) a[r][c] = vfma(x[r], wc, a[r][c]);
        }
    }
    reduce_tile(a, t, rows, z);
}

static void logits(const float *const *row, int64_t n, int64_t q, float bias, int64_t k, const float *w, int64_t ldw,
                   float *z)
{
    const tail end = tail_of(q, bias);
    for (int64_t i = 0; i < n; i += ROWS) {
        const int64_t rows = n - i < ROWS ? n - i : ROWS;
        const float *r[ROWS];
        for (int64_t e = 0; e < ROWS; e++) r[e] = row[e < rows ? i + e : n - 1];
        for (int64_t e = i + ROWS; e < n && e < i + 2 * ROWS; e++) fetch(row[e], 0, q, LINE);
        for (int64_t c = 0; c < k; c += TILE) {
            float *const zc = z + c * Z + i;
            switch (k - c) {
            case 1: logits_tile(r, rows, end, 1, w + c * ldw, ldw, zc); break;
#if PVI_W == 16
            case 2: logits_tile(r, rows, end, 2, w + c * ldw, ldw, zc); break;
            case 3: logits_tile(r, rows, end, 3, w + c * ldw, ldw, zc); break;
            case 4: logits_tile(r, rows, end, 4, w + c * ldw, ldw, zc); break;
#endif
            default: logits_tile(r, rows, end, TILE, w + c * ldw, ldw, zc); break;
            }
        }
    }
}

static void csr_logits(const pv_rows *rows, const int64_t *r, int64_t n, int64_t k, const float *wt, int64_t ldt,
                       float *z)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c += W) {
            vf s = rows->bias != 0.0f ? rows->bias * vload(wt + (rows->p - 1) * ldt + c) : vset(0.0f);
            float t[W];
            for (int64_t e = rows->ptr[r[i]]; e < rows->ptr[r[i] + 1]; e++)
                s = vfma(vset(rows->val[e]), vload(wt + rows->idx[e] * ldt + c), s);
            vstore(t, s);
            for (int64_t q = 0; q < W && c + q < k; q++) z[(c + q) * Z + i] = t[q];
        }
}

/* p - e_y in place of the logits (2); returns the squared norm, NaN for an unusable row. */
PVI_INLINE vf residual(int64_t k, vf y, float *z)
{
    vf top = vload(z), sum = vset(0.0f), others = sum, square = sum;
    vi known = { 0 };
    for (int64_t c = 1; c < k; c++) top = vmax(top, vload(z + c * Z));
    for (int64_t c = 0; c < k; c++) {
        const vf e = vexp_neg(vload(z + c * Z) - top);
        const vi own = y == (float)c;
        known |= own;
        sum += e;
        others += vsel(own, vset(0.0f), e);
        vstore(z + c * Z, e);
    }
    const vf inverse = 1.0f / sum;
    for (int64_t c = 0; c < k; c++) {
        const vf q = vsel(y == (float)c, -others, vload(z + c * Z)) * inverse;
        square = vfma(q, q, square);
        vstore(z + c * Z, q);
    }
    return vsel(known, square, vset(__builtin_nanf("")));
}

static int gain(const pv_rows *rows, int64_t n, int64_t k, const float *norm, float *s, float *z)
{
    vi odd = { 0 };
    if (vplain(rows->bound, rows->unit, n, norm)) return PVI_GAIN_ONE;
    for (int64_t i = 0; i < n; i += W) {
        const vf r = vload(norm + i), si = vgain(r, rows->bound, rows->unit);
        vstore(s + i, si);
        odd |= vodd(r);
        for (int64_t c = 0; c < k; c++) vstore(z + c * Z + i, si * vload(z + c * Z + i));
    }
    return vany(odd) ? PVI_GAIN_ODD : PVI_GAIN_SOME;
}

static int64_t coefficients(float clip, int64_t n, int64_t k, const float *y, const float *norm, const float *s,
                            float *z)
{
    const float shrunk = clip * (1.0f - (float)(k + 16) * 0x1p-24f); /* (3) */
    vi bad = { 0 };
    for (int64_t i = 0; i < n; i += W) {
        const vf r = vload(norm + i), square = residual(k, vload(y + i), z + i);
        const vf most = shrunk / vsqrt(square + 0x1p-120f) / r, si = s ? vload(s + i) : vset(1.0f);
        const vi good = (square <= 4.0f) & (r >= 0.0f) & (r <= FLT_MAX);
        const vf f = vsel(si <= most, si, vsel(most >= FLT_MIN, most, vset(0.0f)));
        for (int64_t c = 0; c < k; c++) {
            const vf q = vload(z + c * Z + i) * f;
            vstore(z + c * Z + i, vsel(good & (vabs(q) >= FLT_MIN), q, vset(0.0f)));
        }
        bad += ~good;
    }
    int64_t count = 0;
    for (int v = 0; v < W; v++) count -= bad[v];
    return count;
}

static void curvature(int64_t n, int64_t k, float *z, float *a)
{
    for (int64_t i = 0; i < n; i += W) {
        vf top = vload(z + i), sum = vset(0.0f), mean = sum;
        for (int64_t c = 1; c < k; c++) top = vmax(top, vload(z + c * Z + i));
        for (int64_t c = 0; c < k; c++) {
            const vf e = vexp_neg(vload(z + c * Z + i) - top);
            sum += e;
            mean = vfma(e, vload(a + c * Z + i), mean);
            vstore(z + c * Z + i, e);
        }
        mean = mean / sum;
        for (int64_t c = 0; c < k; c++)
            vstore(a + c * Z + i, vload(z + c * Z + i) / sum * (vload(a + c * Z + i) - mean)); /* (4) */
    }
}

/* t classes by nv vectors of columns, the last with `lanes` lanes, `have` of them in memory; t and nv are constants
 * where inlined. */
PVI_INLINE void add_tile(const float *const *row, int64_t n, int64_t j, int t, int nv, int64_t lanes, int64_t have,
                         vf rest, const float *z, float *g, int64_t ldg)
{
    vf a[TILE][STRIP];
    for (int c = 0; c < t; c++) {
        for (int v = 0; v < nv - 1; v++) a[c][v] = vload(g + c * ldg + v * W);
        a[c][nv - 1] = vload_n(g + c * ldg + (nv - 1) * W, lanes);
    }
    for (int64_t i = 0; i < n; i++) {
        vf x[STRIP];
        for (int v = 0; v < nv - 1; v++) x[v] = vload(row[i] + j + v * W);
        x[nv - 1] = vload_rest(row[i] + j + (nv - 1) * W, have, rest);
        for (int c = 0; c < t; c++) {
            const vf q = vset(z[c * Z + i]);
            for (int v = 0; v < nv; v++) a[c][v] = vfma(q, x[v], a[c][v]);
        }
    }
    for (int c = 0; c < t; c++) {
        for (int v = 0; v < nv - 1; v++) vstore(g + c * ldg + v * W, a[c][v]);
        vstore_n(g + c * ldg + (nv - 1) * W, a[c][nv - 1], lanes);
    }
}

/* The classes of one strip of columns. */
PVI_INLINE void add_strip(const float *const *row, int64_t n, int64_t j, int nv, int64_t lanes, int64_t have, vf rest,
                          int64_t k, const float *z, float *g, int64_t p)
{
    int64_t c = 0;
    for (; c + TILE <= k; c += TILE) add_tile(row, n, j, TILE, nv, lanes, have, rest, z + c * Z, g + c * p + j, p);
    for (; c < k; c++) add_tile(row, n, j, 1, nv, lanes, have, rest, z + c * Z, g + c * p + j, p);
}

static void add(const float *const *row, int64_t n, int64_t q, float bias, int64_t k, const float *z, float *g)
{
    const int64_t p = q + (bias != 0.0f);
    int64_t j = 0;
    for (; j + STRIP * W <= q; j += STRIP * W) add_strip(row, n, j, STRIP, W, W, vset(0.0f), k, z, g, p);
    const int64_t nv = (p - j + W - 1) / W, lanes = p - j - (nv - 1) * W, have = q - j - (nv - 1) * W;
    const vf rest = have < W ? vlane(bias, have) : vset(0.0f);
    switch (nv) {
    case 0: break;
    case 1: add_strip(row, n, j, 1, lanes, have, rest, k, z, g, p); break;
    case 2: add_strip(row, n, j, 2, lanes, have, rest, k, z, g, p); break;
    case 3: add_strip(row, n, j, 3, lanes, have, rest, k, z, g, p); break;
    default: add_strip(row, n, j, 4, lanes, have, rest, k, z, g, p); break;
    }
}

/* add_tile() for units: a[..] what g has, s[..] a unit's sum. */
PVI_INLINE void units_tile(const float *const *row, const pvi_runs *runs, int64_t j, int t, int nv, int64_t lanes,
                           int64_t have, vf rest, const float *z, float *g, int64_t ldg)
{
    vf a[TILE][UNIT_STRIP];
    int64_t i = 0;
    for (int c = 0; c < t; c++) {
        for (int v = 0; v < nv - 1; v++) a[c][v] = vload(g + c * ldg + v * W);
        a[c][nv - 1] = vload_n(g + c * ldg + (nv - 1) * W, lanes);
    }
    for (int64_t u = 0; u < runs->n; u++) {
        const bool alone = runs->alone[u];
        vf s[TILE][UNIT_STRIP];
        for (int c = 0; c < t; c++)
            for (int v = 0; v < nv; v++) s[c][v] = alone ? a[c][v] : vset(0.0f);
        for (const int64_t end = i + runs->size[u]; i < end; i++) {
            vf x[UNIT_STRIP];
            for (int v = 0; v < nv - 1; v++) x[v] = vload(row[i] + j + v * W);
            x[nv - 1] = vload_rest(row[i] + j + (nv - 1) * W, have, rest);
            for (int c = 0; c < t; c++) {
                const vf q = vset(z[c * Z + i]);
                for (int v = 0; v < nv; v++) s[c][v] = vfma(q, x[v], s[c][v]);
            }
        }
        const vf f = vset(runs->f[u]);
        for (int c = 0; c < t; c++)
            for (int v = 0; v < nv; v++) a[c][v] = alone ? s[c][v] : vfma(f, s[c][v], a[c][v]);
    }
    for (int c = 0; c < t; c++) {
        for (int v = 0; v < nv - 1; v++) vstore(g + c * ldg + v * W, a[c][v]);
        vstore_n(g + c * ldg + (nv - 1) * W, a[c][nv - 1], lanes);
    }
}

PVI_INLINE void units_strip(const float *const *row, const pvi_runs *runs, int64_t j, int nv, int64_t lanes,
                            int64_t have, vf rest, int64_t k, const float *z, float *g, int64_t p)
{
    int64_t c = 0;
    for (; c + TILE <= k; c += TILE)
        units_tile(row, runs, j, TILE, nv, lanes, have, rest, z + c * Z, g + c * p + j, p);
    for (; c < k; c++) units_tile(row, runs, j, 1, nv, lanes, have, rest, z + c * Z, g + c * p + j, p);
}

static void add_units(const float *const *row, const pvi_runs *runs, int64_t q, float bias, int64_t k, const float *z,
                      float *g)
{
    const int64_t p = q + (bias != 0.0f);
    int64_t j = 0;
    for (; j + UNIT_STRIP * W <= q; j += UNIT_STRIP * W)
        units_strip(row, runs, j, UNIT_STRIP, W, W, vset(0.0f), k, z, g, p);
    const int64_t nv = (p - j + W - 1) / W, lanes = p - j - (nv - 1) * W, have = q - j - (nv - 1) * W;
    const vf rest = have < W ? vlane(bias, have) : vset(0.0f);
    if (nv == 1) units_strip(row, runs, j, 1, lanes, have, rest, k, z, g, p);
    if (nv == 2) units_strip(row, runs, j, 2, lanes, have, rest, k, z, g, p);
}

static void csr_add(const pv_rows *rows, const int64_t *r, int64_t n, int64_t k, const float *z, float *g)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < k; c++)
            for (int64_t e = rows->ptr[r[i]]; e < rows->ptr[r[i] + 1]; e++)
                g[c * rows->p + rows->idx[e]] += z[c * Z + i] * rows->val[e];
    for (int64_t i = 0; rows->bias != 0.0f && i < n; i++)
        for (int64_t c = 0; c < k; c++) g[c * rows->p + rows->p - 1] += z[c * Z + i] * rows->bias;
}

extern const pvi_softmax_kernel PVI_ISA_NAME(pvi_softmax_kernel);
const pvi_softmax_kernel PVI_ISA_NAME(pvi_softmax_kernel) = { .logits = logits,
                                                              .csr_logits = csr_logits,
                                                              .gain = gain,
                                                              .coefficients = coefficients,
                                                              .curvature = curvature,
                                                              .add = add,
                                                              .add_units = add_units,
                                                              .csr_add = csr_add };
