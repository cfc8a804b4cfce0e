/* glm_hess.kernel.c - packed symmetric sums of t x' for blocks of rows; the bounds are in glm_hess.c.
 *
 * A tile of 4 matrix rows by up to B vectors of columns stays in registers while the data rows go by, one
 * after the other; of 8 rows where there are few columns, so that enough sums are under way to hide the latency of
 * an addition.  Vectors come from t, whose rows end in zeros, numbers from x.  Of 16 registers 12 hold sums, 3 a
 * row of t and one a number; with 32 there is room for more.  Tiles on the diagonal compute a few entries above it
 * and do not store them. */
#include "model/model.h"
#include "model/simd.h"

enum { A = 4, B = PVI_W == 16 ? 4 : 3, TALL = 8, FEW = PVI_W == 16 ? 2 : 1 };

/* How many of the W columns from b on belong to matrix row a of the lower triangle. */
PVI_INLINE int64_t span(int64_t a, int64_t b)
{
    return a + 1 - b < 0 ? 0 : a + 1 - b > W ? W : a + 1 - b;
}

/* Matrix rows a .. a+na-1 (below p), nv vectors of columns from b on; both are constants where this is inlined. */
PVI_INLINE void tile(const float *const *row, int64_t n, int64_t p, const float *t, int64_t ldt, int64_t a, int64_t b,
                     int na, int nv, float *h)
{
    int64_t at[TALL]; /* beyond the last row: computed from it and not stored */
    vf s[TALL][B];
    for (int i = 0; i < na; i++) at[i] = a + i < p ? a + i : p - 1;
    for (int i = 0; i < na; i++)
        for (int v = 0; v < nv; v++) {
            const int64_t k = a + i < p ? span(a + i, b + v * W) : 0;
            const float *const from = h + (a + i) * (a + i + 1) / 2 + b + v * W;
            s[i][v] = k == W ? vload(from) : k > 0 ? vload_n(from, k) : vset(0.0f);
        }
    for (int64_t r = 0; r < n; r++) {
        vf y[B];
        for (int v = 0; v < nv; v++) y[v] = vload(t + r * ldt + b + v * W);
        for (int i = 0; i < na; i++) {
            const vf x = vset(row[r][at[i]]);
            for (int v = 0; v < nv; v++) s[i][v] = vfma(x, y[v], s[i][v]);
        }
    }
    for (int i = 0; i < na; i++)
        for (int v = 0; v < nv; v++) {
            const int64_t k = a + i < p ? span(a + i, b + v * W) : 0;
            float *const to = h + (a + i) * (a + i + 1) / 2 + b + v * W;
            if (k == W) vstore(to, s[i][v]); /* masked stores are slow on some machines */
            else if (k > 0) vstore_n(to, s[i][v], k);
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
        for (int64_t b = 0, left = (end + W - 1) / W, nv; left > 0; b += nv * W, left -= nv) {
            nv = left == B + 1 ? (left + 1) / 2 : left < B ? left : B; /* no tile too thin to hide latencies */
            switch (nv) {
            case 1: tile(row, n, p, t, ldt, a, b, A, 1, h); break;
            case 2: tile(row, n, p, t, ldt, a, b, A, 2, h); break;
            case 3: tile(row, n, p, t, ldt, a, b, A, 3, h); break;
            default: tile(row, n, p, t, ldt, a, b, A, B, h); break;
            }
        }
    }
}

static void scale(const float *const *row, int64_t n, int64_t q, float bias, const float *c, float *t, int64_t ldt)
{
    const tail end = tail_of(q, bias);
    for (int64_t i = 0; i < n; i++) {
        const vf ci = vset(c[i]);
        int64_t j = 0;
        for (; j < end.at; j += W) vstore(t + i * ldt + j, ci * vload(row[i] + j));
        if (end.lanes > 0) vstore(t + i * ldt + j, ci * vload_rest(row[i] + j, end.have, end.rest));
    }
}

/* ---- rows times a symmetric matrix ----------------------------------------------------------------------- */
/* z_i = sum of x_ij M_j, j ascending: na data rows by nv vectors of z stay in registers while the rows of M go by.
 * M_j and z_i end in zeros. */
enum { NARROW_ROWS = PVI_W == 16 ? 8 : 6, WIDE_ROWS = PVI_W == 16 ? 6 : 4 };

PVI_INLINE void times(const float *const *row, int64_t n, int64_t p, const float *M, int64_t ldm, int64_t i, int na,
                      int nv, float *z)
{
    const float *x[TALL]; /* beyond the last row: computed from it and not stored */
    vf s[TALL][B];
    for (int k = 0; k < na; k++) x[k] = row[i + k < n ? i + k : n - 1];
    for (int k = 0; k < na; k++)
        for (int v = 0; v < nv; v++) s[k][v] = vset(0.0f);
    for (int64_t j = 0; j < p; j++) {
        vf y[B];
        for (int v = 0; v < nv; v++) y[v] = vload(M + j * ldm + v * W);
        for (int k = 0; k < na; k++) {
            const vf xk = vset(x[k][j]);
            for (int v = 0; v < nv; v++) s[k][v] = vfma(xk, y[v], s[k][v]);
        }
    }
    for (int k = 0; k < na && i + k < n; k++)
        for (int v = 0; v < nv; v++) vstore(z + (i + k) * ldm + v * W, s[k][v]);
}

static void transform(const float *const *row, int64_t n, int64_t p, const float *M, int64_t ldm, float *z)
{
    for (int64_t b = 0, left = ldm / W, nv; left > 0; b += nv * W, left -= nv) {
        nv = left == B + 1 ? (left + 1) / 2 : left < B ? left : B;
        const int64_t step = nv <= 2 ? NARROW_ROWS : WIDE_ROWS;
        for (int64_t i = 0; i < n; i += step) switch (nv) {
            case 1: times(row, n, p, M + b, ldm, i, NARROW_ROWS, 1, z + b); break;
            case 2: times(row, n, p, M + b, ldm, i, NARROW_ROWS, 2, z + b); break;
            case 3: times(row, n, p, M + b, ldm, i, WIDE_ROWS, 3, z + b); break;
            default: times(row, n, p, M + b, ldm, i, WIDE_ROWS, B, z + b); break;
            }
    }
}

/* The same bits: what is not stored is 0, and 0 times a finite number adds nothing. */
static void csr_transform(const pv_rows *rows, const int64_t *r, int64_t n, const float *M, int64_t ldm, float *z)
{
    for (int64_t i = 0; i < n; i++) {
        float *const to = z + i * ldm;
        for (int64_t k = 0; k < ldm; k += W) vstore(to + k, vset(0.0f));
        for (int64_t e = rows->ptr[r[i]]; e < rows->ptr[r[i] + 1]; e++) {
            const vf x = vset(rows->val[e]);
            const float *const m = M + rows->idx[e] * ldm;
            for (int64_t k = 0; k < ldm; k += W) vstore(to + k, vfma(x, vload(m + k), vload(to + k)));
        }
    }
}

static double square(const float *z, int64_t ld)
{
    enum { H = W / 2 };
    typedef double vd __attribute__((vector_size(4 * PVI_W)));
    typedef float half __attribute__((vector_size(2 * PVI_W), aligned(4), may_alias));
    vd s[2] = { 0 };
    for (int64_t j = 0; j < ld; j += W)
        for (int k = 0; k < 2; k++) {
            const vd x = __builtin_convertvector(*(const half *)(z + j + k * H), vd);
            s[k] += x * x;
        }
    s[0] += s[1];
    for (int h = H / 2; h > 0; h /= 2) /* as a tree: short chains of additions */
        for (int l = 0; l < h; l++) s[0][l] += s[0][l + h];
    return s[0][0];
}

static void squares(const float *z, int64_t n, int64_t ld, double *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = square(z + i * ld, ld);
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

extern const pvi_hess_kernel PVI_ISA_NAME(pvi_hess_kernel);
const pvi_hess_kernel PVI_ISA_NAME(pvi_hess_kernel) = {
    .scale = scale,
    .add = add,
    .csr_add = csr_add,
    .transform = transform,
    .csr_transform = csr_transform,
    .squares = squares,
};
