/* split.kernel.c - the inner loops of the split network; what they compute is said in split.h and split.c.
 *
 * product   6 rows by two vectors of outputs stay in registers while the inputs go by; weights come in panels of that
 *           width, one after the other, so that a panel stays in the nearest cache for all rows.
 * outer     6 rows of the result by two vectors stay in registers while the examples go by.
 * eliminate Cholesky's factor by blocks of 6 rows: what the rows above take away is one outer().
 * Every number of product(), outer() and lift() is one sequence of operations in a fixed order, so it does not depend
 * on its place or on what is beside it. */
#include "model/split.h"
#include "model/simd.h"

enum { TILE = PVI_SPLIT_TILE, WIDE = 2, PANEL = WIDE * W };

PVI_INLINE int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Calls with 1 to TILE, a constant each time. */
#define EACH_TILE(n, CALL)                                                                                           \
    switch (n) {                                                                                                     \
    case 1: CALL(1); break;                                                                                          \
    case 2: CALL(2); break;                                                                                          \
    case 3: CALL(3); break;                                                                                          \
    case 4: CALL(4); break;                                                                                          \
    case 5: CALL(5); break;                                                                                          \
    default: CALL(TILE); break;                                                                                      \
    }

/* How many of the n rows from `at` on the next tile takes: as equal as they come. */
PVI_INLINE int64_t next_tile(int64_t n, int64_t at)
{
    const int64_t left = n - at, tiles = (left + TILE - 1) / TILE;
    return (left + tiles - 1) / tiles;
}

/* ---- products ---------------------------------------------------------------------------------------------- */

static void pack(int64_t len, int64_t ld, const float *w, int64_t ldw, float *panels)
{
    for (int64_t j = 0; j < ld; j += PANEL) {
        const int64_t n = smaller(PANEL, ld - j);
        for (int64_t k = 0; k < len; k++, panels += n)
            for (int64_t c = 0; c < n; c += W) vstore(panels + c, vload(w + k * ldw + j + c));
    }
}

/* rows and nv are constants where this is inlined. */
PVI_INLINE void product_tile(int rows, int nv, int64_t len, const float *x, int64_t ldx, const float *panel,
                             const float *bias, float *out, int64_t ldo)
{
    vf a[TILE][WIDE];
    const float *row[TILE];
    for (int r = 0; r < rows; r++) {
        row[r] = x + r * ldx;
        for (int v = 0; v < nv; v++) a[r][v] = bias ? vload(bias + v * W) : vset(0.0f);
    }
    for (int64_t k = 0; k < len; k++, panel += nv * W) {
        vf b[WIDE];
        for (int v = 0; v < nv; v++) b[v] = vload(panel + v * W);
        for (int r = 0; r < rows; r++) {
            const vf c = vset(row[r][k]);
            for (int v = 0; v < nv; v++) a[r][v] = vfma(c, b[v], a[r][v]);
        }
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < nv; v++) vstore(out + r * ldo + v * W, a[r][v]);
}

PVI_INLINE void product_panel(int64_t rows, int nv, int64_t len, const float *x, int64_t ldx, const float *panel,
                              const float *bias, float *out, int64_t ldo)
{
    for (int64_t r = 0, n; r < rows; r += n) {
        n = next_tile(rows, r);
#define CALL(R) product_tile(R, nv, len, x + r * ldx, ldx, panel, bias, out + r * ldo, ldo)
        EACH_TILE(n, CALL)
#undef CALL
    }
}

static void product(int64_t rows, int64_t len, const float *x, int64_t ldx, const float *panels, int64_t ld,
                    const float *bias, float *out)
{
    for (int64_t j = 0; j < ld; j += PANEL, panels += PANEL * len) {
        const float *const b = bias ? bias + j : NULL;
        if (ld - j >= PANEL) product_panel(rows, WIDE, len, x, ldx, panels, b, out + j, ld);
        else product_panel(rows, 1, len, x, ldx, panels, b, out + j, ld);
    }
}

PVI_INLINE void outer_tile(int taps, int nv, int64_t lanes, int64_t rows, const float *x, int64_t ldx, const float *b,
                           int64_t ldb, bool add, float *g, int64_t ldg)
{
    vf a[TILE][WIDE];
    for (int k = 0; k < taps; k++)
        for (int v = 0; v < nv; v++) {
            const float *const from = g + k * ldg + v * W;
            a[k][v] = !add ? vset(0.0f) : v < nv - 1 || lanes == W ? vload(from) : vload_n(from, lanes);
        }
    for (int64_t t = 0; t < rows; t++, x += ldx, b += ldb) {
        vf y[WIDE];
        for (int v = 0; v < nv; v++) y[v] = vload(b + v * W);
        for (int k = 0; k < taps; k++) {
            const vf z = vset(x[k]);
            for (int v = 0; v < nv; v++) a[k][v] = vfma(z, y[v], a[k][v]);
        }
    }
    for (int k = 0; k < taps; k++)
        for (int v = 0; v < nv; v++) {
            float *const to = g + k * ldg + v * W;
            if (v < nv - 1 || lanes == W) vstore(to, a[k][v]);
            else vstore_n(to, a[k][v], lanes);
        }
}

static void outer(int64_t rows, const float *x, int64_t ldx, const float *b, int64_t ldb, int64_t taps, int64_t n,
                  bool add, float *g, int64_t ldg)
{
    for (int64_t j = 0; j < n; j += PANEL) {
        const int64_t left = n - j, lanes = left >= PANEL || left % W == 0 ? W : left % W;
        for (int64_t k = 0, m; k < taps; k += m) {
            m = next_tile(taps, k);
#define WIDE_CALL(K) outer_tile(K, WIDE, lanes, rows, x + k, ldx, b + j, ldb, add, g + k * ldg + j, ldg)
#define SLIM_CALL(K) outer_tile(K, 1, lanes, rows, x + k, ldx, b + j, ldb, add, g + k * ldg + j, ldg)
            if (left > W) EACH_TILE(m, WIDE_CALL)
            else EACH_TILE(m, SLIM_CALL)
        }
    }
}

/* ---- one factor per layer ------------------------------------------------------------------------------------ */

static void gram(int64_t rows, const float *x, int64_t ldx, int64_t m, float *a, int64_t lda)
{
    for (int64_t k = 0, n; k < m; k += n) {
        const int64_t from = k / W * W; /* the upper triangle, and what the first vector has of the lower */
        n = next_tile(m, k);
        outer(rows, x + k, ldx, x + from, ldx, n, m - from, false, a + k * lda + from, lda);
    }
}

/* row -= s other, of n numbers, a multiple of W. */
PVI_INLINE void subtract(int64_t n, float s, const float *other, float *row)
{
    const vf c = vset(-s);
    for (int64_t j = 0; j < n; j += W) vstore(row + j, vfma(c, vload(other + j), vload(row + j)));
}

PVI_INLINE void times(int64_t n, float s, float *row)
{
    const vf c = vset(s);
    for (int64_t j = 0; j < n; j += W) vstore(row + j, c * vload(row + j));
}

static bool eliminate(int64_t m, int64_t width, float least, float *a, int64_t lda, float *room)
{
    for (int64_t i = 0, n; i < m; i += n) {
        const int64_t from = i / W * W, rest = width - from;
        n = next_tile(m, i);
        outer(i, a + i, lda, a + from, lda, n, rest, false, room, lda);
        for (int64_t r = i; r < i + n; r++) {
            float *const row = a + r * lda;
            subtract(rest, 1.0f, room + (r - i) * lda, row + from);
            for (int64_t q = i; q < r; q++) subtract(rest, a[q * lda + r], a + q * lda + from, row + from);
            if (!(row[r] < 1e30f)) return false;
            times(rest, 1.0f / sqrtf(row[r] > least ? row[r] : least), row + from);
        }
    }
    return true;
}

static void substitute(int64_t m, const float *u, int64_t ldu, int64_t width, float *z, int64_t ldz, float *room)
{
    float *const transposed = room + TILE * ldz; /* columns of u below the block */
    for (int64_t last = m, n; last > 0; last -= n) {
        n = next_tile(last, 0);
        const int64_t i = last - n;
        for (int64_t k = last; k < m; k++)
            for (int64_t r = 0; r < n; r++) transposed[(k - last) * TILE + r] = u[(i + r) * ldu + k];
        outer(m - last, transposed, TILE, z + last * ldz, ldz, n, width, false, room, ldz);
        for (int64_t r = last - 1; r >= i; r--) {
            float *const row = z + r * ldz;
            subtract(width, 1.0f, room + (r - i) * ldz, row);
            for (int64_t q = r + 1; q < last; q++) subtract(width, u[r * ldu + q], z + q * ldz, row);
            times(width, 1.0f / u[r * ldu + r], row);
        }
    }
}

static void transpose(int64_t rows, int64_t columns, const float *a, int64_t lda, float *to, int64_t ldt)
{
    enum { B = 16 };
    for (int64_t i = 0; i < rows; i += B)
        for (int64_t j = 0; j < columns; j += B)
            for (int64_t c = j; c < smaller(j + B, columns); c++)
                for (int64_t r = i; r < smaller(i + B, rows); r++) to[c * ldt + r] = a[r * lda + c];
}

static double twice(int64_t in, int64_t ld, const float *w, const float *v, float *next)
{
    double size = 0.0;
    memset(next, 0, sizeof *next * (size_t)ld);
    for (int64_t i = 0, n; i < in; i += n) {
        float u[4] = { 0 };
        const float *row[4];
        vf s[4] = { vset(0.0f), vset(0.0f), vset(0.0f), vset(0.0f) };
        n = smaller(4, in - i);
        for (int r = 0; r < 4; r++) row[r] = w + (i + smaller(r, n - 1)) * ld;
        for (int64_t j = 0; j < ld; j += W)
            for (int r = 0; r < 4; r++) s[r] = vfma(vload(row[r] + j), vload(v + j), s[r]);
        for (int r = 0; r < n; r++) {
            for (int l = 0; l < W; l++) u[r] += s[r][l];
            size += (double)u[r] * (double)u[r];
        }
        for (int64_t j = 0; j < ld; j += W) {
            vf to = vload(next + j);
            for (int r = 0; r < 4; r++) to = vfma(vset(u[r]), vload(row[r] + j), to);
            vstore(next + j, to);
        }
    }
    return size;
}

/* ---- numbers of a row ------------------------------------------------------------------------------------------ */

PVI_INLINE vf lift_vector(vf v, vf x, vf d)
{
    const vf target = x + d, t = (x - v) + d, half = 0.5f * t; /* x_new, and x_new - V */
    const vf up = vsel(v + half < 0.0f, -v, half), down = vsel(v > 0.0f, -v, vset(0.0f));
    const vf above = (t - up) * (t - up) + up * up, below = target * target + down * down;
    return vsel(above < below, up, down);
}

static void lift(int64_t n, const float *v, const float *x, float *d)
{
    int64_t j = 0;
    for (; j + W <= n; j += W) vstore(d + j, lift_vector(vload(v + j), vload(x + j), vload(d + j)));
    if (j == n) return;
    const int64_t left = n - j;
    vstore_n(d + j, lift_vector(vload_n(v + j, left), vload_n(x + j, left), vload_n(d + j, left)), left);
}

static double squares(int64_t n, const float *x)
{
    typedef double vd __attribute__((vector_size(4 * PVI_W)));
    typedef float half __attribute__((vector_size(2 * PVI_W), aligned(4), may_alias));
    enum { H = W / 2, PARTS = 16 / H };
    vd s[PARTS] = { 0 };
    for (int64_t i = 0; i < n; i += 16)
        for (int k = 0; k < 16 / H; k++) {
            const vd y = __builtin_convertvector(*(const half *)(x + i + k * H), vd);
            s[k] += y * y;
        }
    for (int k = 1; k < PARTS; k++) s[0] += s[k];
    double sum = 0.0;
    for (int l = 0; l < H; l++) sum += s[0][l];
    return sum;
}

static void scale(int64_t n, float f, float *d)
{
    for (int64_t j = 0; j < n; j += W) {
        const vf y = vload(d + j) * f;
        vstore(d + j, vsel(vabs(y) >= 0x1p-126f, y, vset(0.0f)));
    }
}

extern const pvi_split_kernel PVI_ISA_NAME(pvi_split_kernel);
const pvi_split_kernel PVI_ISA_NAME(pvi_split_kernel) = { .pack = pack,
                                                          .product = product,
                                                          .outer = outer,
                                                          .gram = gram,
                                                          .eliminate = eliminate,
                                                          .substitute = substitute,
                                                          .transpose = transpose,
                                                          .twice = twice,
                                                          .lift = lift,
                                                          .squares = squares,
                                                          .scale = scale };
