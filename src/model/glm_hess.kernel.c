/* glm_hess.kernel.c - packed symmetric sums of t x' for blocks of rows; the bounds are in glm_hess.c.
 *
 * A tile of 4 matrix rows by up to 4 vectors of columns stays in registers while the data rows go by, one
 * after the other; of 8 rows where there are few columns, so that enough sums are under way to hide the latency of
 * an addition.  Tiles on the diagonal compute a few entries above it and do not store them. */
#include "model/model.h"
#include "model/simd.h"

enum { A = 4, B = 4, TALL = 8, FEW = PVI_W == 16 ? 2 : 1 };

/* How many of the W columns from b on belong to matrix row a of the lower triangle. */
PVI_INLINE int64_t span(int64_t a, int64_t b)
{
    return a + 1 - b < 0 ? 0 : a + 1 - b > W ? W : a + 1 - b;
}

/* Matrix rows a .. a+na-1 (below p), nv vectors of columns from b on; both are constants where this is inlined. */
PVI_INLINE void tile(const float *const *row, int64_t n, int64_t p, const float *t, int64_t ldt, int64_t a, int64_t b,
                     int na, int nv, float *h)
{
    const int64_t left = p - b - (nv - 1) * W, lanes = left < W ? left : W;
    vf s[TALL][B];
    for (int i = 0; i < na; i++)
        for (int v = 0; v < nv; v++) {
            const int64_t k = a + i < p ? span(a + i, b + v * W) : 0;
            s[i][v] = k > 0 ? vload_n(h + (a + i) * (a + i + 1) / 2 + b + v * W, k) : vset(0.0f);
        }
    for (int64_t r = 0; r < n; r++) {
        vf x[B];
        for (int v = 0; v < nv - 1; v++) x[v] = vload(row[r] + b + v * W);
        x[nv - 1] = vload_n(row[r] + b + (nv - 1) * W, lanes);
        for (int i = 0; i < na; i++) {
            const vf ti = vset(t[r * ldt + a + i]);
            for (int v = 0; v < nv; v++) s[i][v] = vfma(ti, x[v], s[i][v]);
        }
    }
    for (int i = 0; i < na; i++)
        for (int v = 0; v < nv; v++) {
            const int64_t k = a + i < p ? span(a + i, b + v * W) : 0;
            if (k > 0) vstore_n(h + (a + i) * (a + i + 1) / 2 + b + v * W, s[i][v], k);
        }
}

static void add(const float *const *row, int64_t n, int64_t p, const float *t, int64_t ldt, float *h)
{
    int64_t a = 0;
    for (; a < p && a + TALL <= FEW * W; a += TALL) {
        if (a + TALL <= W) tile(row, n, p, t, ldt, a, 0, TALL, 1, h);
        else tile(row, n, p, t, ldt, a, 0, TALL, FEW, h);
    }
    for (; a < p; a += A) {
        const int64_t end = a + A < p ? a + A : p; /* columns of the longest of these matrix rows */
        for (int64_t b = 0; b < end; b += B * W) {
            switch ((end - b + W - 1) / W) {
            case 1: tile(row, n, p, t, ldt, a, b, A, 1, h); break;
            case 2: tile(row, n, p, t, ldt, a, b, A, 2, h); break;
            case 3: tile(row, n, p, t, ldt, a, b, A, 3, h); break;
            default: tile(row, n, p, t, ldt, a, b, A, 4, h); break;
            }
        }
    }
}

static void scale(const float *const *row, int64_t n, int64_t p, const float *c, float *t, int64_t ldt)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < p; j += W) {
            const int64_t lanes = p - j < W ? p - j : W;
            vstore(t + i * ldt + j, vset(c[i]) * vload_n(row[i] + j, lanes));
        }
}

static void csr_add(const pv_rows *rows, const int64_t *r, int64_t n, const float *c, float *h)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t from = rows->ptr[r[i]], to = rows->ptr[r[i] + 1];
        for (int64_t a = from; a < to; a++) {
            const int64_t ja = rows->idx[a];
            const float t = c[i] * rows->val[a];
            for (int64_t b = from; b <= a; b++) h[ja * (ja + 1) / 2 + rows->idx[b]] += t * rows->val[b];
        }
    }
}

extern const pvi_hess_kernel PVI_NAME(pvi_hess_kernel);
const pvi_hess_kernel PVI_NAME(pvi_hess_kernel) = { .scale = scale, .add = add, .csr_add = csr_add };
