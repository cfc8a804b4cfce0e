/* scatter.kernel.c - scattering coefficients of 16 images at a time; the mathematics is in scatter.c.
 *
 * Every number is a vector of 16 lanes, one per image, and lanes never meet: a coefficient depends on its own image
 * alone, whatever the others are.  Operations are added and multiplied one by one (no fused multiply-add, no
 * reordering), so every instruction set gives the same bits.
 *
 * Only forward Fourier transforms are needed.  The modulus is all that is taken of an inverse transform, and
 *   |F^-1 z| = |F conj(z)| / n;                                                                        (1)
 * the 1/n is part of the stored filters.  Subsampling by 2^k in space is adding 2^k x 2^k blocks in frequency.
 *
 * Fourier  Stockham's autosort: with l points done and m = n / (l r) left, for j < l, k < m, q < r
 *   y[(q l + j) m + k] = sum_p exp(-2 pi i p (q l + j) / (l r)) x[(j r + p) m + k].                       (2)
 * Low pass  phi is a product of two Gaussians: two short sums, one per side, at the points that are kept. */
#include <math.h>
#include <stdbool.h>

#include "scatter.h"

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed to inlined functions only */

enum { LANES = PVI_SCATTER_LANES };
typedef float vec __attribute__((vector_size(4 * LANES)));
typedef struct cvec {
    vec re, im;
} cvec;

/* ---- butterflies -------------------------------------------------------------------------------------- */

PVI_INLINE cvec cmul(cvec a, const float *w) /* a (w[0] + i w[1]) */
{
    return (cvec) { a.re * w[0] - a.im * w[1], a.re * w[1] + a.im * w[0] };
}

PVI_INLINE cvec plus(cvec a, cvec b)
{
    return (cvec) { a.re + b.re, a.im + b.im };
}

PVI_INLINE cvec minus(cvec a, cvec b)
{
    return (cvec) { a.re - b.re, a.im - b.im };
}

PVI_INLINE cvec minus_i(cvec a) /* -i a */
{
    return (cvec) { a.im, -a.re };
}

PVI_INLINE void dft2(cvec *y, ptrdiff_t s, cvec a, cvec b)
{
    y[0] = plus(a, b);
    y[s] = minus(a, b);
}

PVI_INLINE void dft3(cvec *y, ptrdiff_t s, cvec a, cvec b, cvec c)
{
    const cvec t = plus(b, c), d = minus_i(minus(b, c));
    const cvec u = { a.re - 0.5f * t.re, a.im - 0.5f * t.im };
    const cvec v = { 0.86602540378443864676f * d.re, 0.86602540378443864676f * d.im };
    y[0] = plus(a, t);
    y[s] = plus(u, v);
    y[2 * s] = minus(u, v);
}

PVI_INLINE void dft4(cvec *y, ptrdiff_t s, cvec a, cvec b, cvec c, cvec d)
{
    const cvec p = plus(a, c), q = minus(a, c), r = plus(b, d), t = minus_i(minus(b, d));
    y[0] = plus(p, r);
    y[s] = plus(q, t);
    y[2 * s] = minus(p, r);
    y[3 * s] = minus(q, t);
}

/* sum_p w^(p f) x[p], w = exp(-2 pi i / r), any r; the roots are those of n points, r divides n. */
PVI_INLINE cvec dft_any(const pvi_dft *t, int r, int f, const cvec *x)
{
    cvec sum = x[0];
    for (int p = 1; p < r; p++) sum = plus(sum, cmul(x[p], t->root + 2 * (p * f % r) * (t->n / r)));
    return sum;
}

/* ---- one stage (2), x and y with their own strides ------------------------------------------------------ */

PVI_INLINE void stage(const pvi_dft *t, int which, int l, const cvec *x, ptrdiff_t sx, cvec *y, ptrdiff_t sy, cvec *v)
{
    const int r = t->radix[which], m = t->n / (l * r);
    const ptrdiff_t in = m * sx, out = (ptrdiff_t)l * m * sy;
    for (int j = 0; j < l; j++) {
        const float *w = t->twiddle[which] + (ptrdiff_t)2 * j * r;
        for (int k = 0; k < m; k++) {
            const cvec *a = x + (j * r * m + k) * sx;
            cvec *b = y + (j * m + k) * sy;
            if (r == 4) {
                dft4(b, out, a[0], cmul(a[in], w + 2), cmul(a[2 * in], w + 4), cmul(a[3 * in], w + 6));
            } else if (r == 3) {
                dft3(b, out, a[0], cmul(a[in], w + 2), cmul(a[2 * in], w + 4));
            } else if (r == 2) {
                dft2(b, out, a[0], cmul(a[in], w + 2));
            } else {
                for (int p = 0; p < r; p++) v[p] = cmul(a[p * in], w + 2 * p);
                for (int q = 0; q < r; q++) b[q * out] = dft_any(t, r, q, v);
            }
        }
    }
}

/* In place, n points `stride` apart.  room: three times PVI_SCATTER_SIDE; 96 KiB are too much for a small stack. */
static void dft(const pvi_dft *t, cvec *x, ptrdiff_t stride, cvec *room)
{
    cvec *const buf[2] = { room, room + PVI_SCATTER_SIDE };
    const cvec *from = x;
    ptrdiff_t from_stride = stride;
    if (t->stages == 1) {
        for (int i = 0; i < t->n; i++) buf[1][i] = x[i * stride];
        from = buf[1];
        from_stride = 1;
    }
    for (int s = 0, l = 1; s < t->stages; l *= t->radix[s++]) {
        const bool last = s + 1 == t->stages;
        cvec *to = last ? x : buf[s & 1];
        stage(t, s, l, from, from_stride, to, last ? stride : 1, room + 2 * PVI_SCATTER_SIDE);
        from = to;
        from_stride = 1;
    }
}

static void dft_plane(const pvi_bank *b, int res, cvec *x, cvec *room)
{
    const int rows = b->rows[res], columns = b->columns[res];
    for (int y = 0; y < rows; y++) dft(&b->dft_columns[res], x + (ptrdiff_t)y * columns, 1, room);
    for (int c = 0; c < columns; c++) dft(&b->dft_rows[res], x + c, columns, room);
}

/* ---- the steps of a path ----------------------------------------------------------------------------------- */

/* conj(psi x), blocks added down from resolution `from` to `to`. */
static void filter(const pvi_bank *b, const float *psi, const cvec *x, int from, int to, cvec *out)
{
    const int rows = b->rows[to], columns = b->columns[to], wide = b->columns[from], blocks = 1 << (to - from);
    for (int y = 0; y < rows; y++)
        for (int c = 0; c < columns; c++) {
            cvec sum = { 0 };
            for (int v = 0; v < blocks; v++)
                for (int h = 0; h < blocks; h++) {
                    const ptrdiff_t at = (ptrdiff_t)(y + v * rows) * wide + c + h * columns;
                    sum.re += x[at].re * psi[at];
                    sum.im -= x[at].im * psi[at];
                }
            out[(ptrdiff_t)y * columns + c] = sum;
        }
}

static void modulus(const cvec *x, ptrdiff_t n, vec *out)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const vec square = x[i].re * x[i].re + x[i].im * x[i].im;
        for (int k = 0; k < LANES; k++) out[i][k] = sqrtf(square[k]);
    }
}

/* Along a side with points `stride` apart. */
PVI_INLINE void weigh(const pvi_lowpass *l, int o, const vec *x, ptrdiff_t stride, vec *out)
{
    const float *w = l->weight + (ptrdiff_t)o * l->taps;
    const int *at = l->at + (ptrdiff_t)o * l->taps;
    vec even = { 0 }, odd = { 0 };
    for (int k = 0; k < l->taps; k += 2) {
        even += x[at[k] * stride] * w[k];
        odd += x[at[k + 1] * stride] * w[k + 1];
    }
    *out = even + odd;
}

static void low_pass(const pvi_bank *b, int res, const vec *x, vec *part, vec *out)
{
    const pvi_lowpass *down = &b->low_rows[res], *across = &b->low_columns[res];
    const int columns = b->columns[res];
    for (int o = 0; o < down->out; o++) {
        for (int c = 0; c < columns; c++) weigh(down, o, x + c, columns, &part[c]);
        for (int p = 0; p < across->out; p++) weigh(across, p, part, 1, &out[(ptrdiff_t)o * across->out + p]);
    }
}

/* The place of padded coordinate i in an image of n points, mirrored at the first and last point. */
static int mirror(int i, int n)
{
    if (i < 0) i = -i;
    return i < n ? i : 2 * (n - 1) - i;
}

static void pad(const pvi_bank *b, const vec *in, vec *out)
{
    for (int y = 0; y < b->rows[0]; y++)
        for (int x = 0; x < b->columns[0]; x++)
            out[(ptrdiff_t)y * b->columns[0] + x] =
                in[(ptrdiff_t)mirror(y - b->top, b->height) * b->width + mirror(x - b->left, b->width)];
}

static void to_complex(const vec *x, ptrdiff_t n, cvec *out)
{
    for (ptrdiff_t i = 0; i < n; i++) out[i] = (cvec) { x[i], (vec) { 0 } };
}

/* ---- all paths ------------------------------------------------------------------------------------------------ */

typedef struct work {
    const pvi_bank *b;
    cvec *image, *first, *path; /* spectra, and what becomes of them */
    vec *real, *part, *second;
    cvec *room; /* of dft */
} work;

/* |x * psi| at resolution j, where `x` is given as a spectrum at resolution `from`. */
static void wavelet(const work *w, const cvec *x, int from, int j, int angle, vec *out)
{
    const pvi_bank *b = w->b;
    filter(b, b->psi[from][j * b->angles + angle], x, from, j, w->path);
    dft_plane(b, j, w->path, w->room); /* (1) */
    modulus(w->path, (ptrdiff_t)b->rows[j] * b->columns[j], out);
}

static void second_order(const work *w, int j1, vec **next)
{
    const pvi_bank *b = w->b;
    to_complex(w->real, (ptrdiff_t)b->rows[j1] * b->columns[j1], w->first);
    dft_plane(b, j1, w->first, w->room);
    for (int j2 = j1 + 1; j2 < b->scales; j2++)
        for (int angle = 0; angle < b->angles; angle++) {
            wavelet(w, w->first, j1, j2, angle, w->second);
            low_pass(b, j2, w->second, w->part, *next);
            *next += (ptrdiff_t)b->out_rows * b->out_columns;
        }
}

static void all_paths(const work *w, const vec *in, vec *out)
{
    const pvi_bank *b = w->b;
    const ptrdiff_t points = (ptrdiff_t)b->out_rows * b->out_columns;
    vec *first = out + points, *second = first + (ptrdiff_t)b->scales * b->angles * points;
    pad(b, in, w->real);
    low_pass(b, 0, w->real, w->part, out);
    to_complex(w->real, (ptrdiff_t)b->rows[0] * b->columns[0], w->image);
    dft_plane(b, 0, w->image, w->room);
    for (int j = 0; j < b->scales; j++)
        for (int angle = 0; angle < b->angles; angle++, first += points) {
            wavelet(w, w->image, 0, j, angle, w->real);
            low_pass(b, j, w->real, w->part, first);
            if (j + 1 < b->scales) second_order(w, j, &second);
        }
}

pvi_scatter_fn PVI_ISA_NAME(pvi_scatter);
void PVI_ISA_NAME(pvi_scatter)(const pvi_bank *b, const float *in, float *out, float *scratch)
{
    const ptrdiff_t n = (ptrdiff_t)b->rows[0] * b->columns[0];
    cvec *c = (cvec *)(void *)scratch;
    vec *r = (vec *)(void *)(c + 3 * n);
    cvec *room = (cvec *)(void *)(r + 2 * n + b->columns[0]);
    const work w = { b, c, c + n, c + 2 * n, r, r + 2 * n, r + n, room };
    all_paths(&w, (const vec *)(const void *)in, (vec *)(void *)out);
}
