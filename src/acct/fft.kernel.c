/* fft.kernel.c - the arithmetic of fft.c, four numbers at a time.
 *
 * Quarters are transformed one after the other down to 16 or 32 points, so most of the work stays in the cache.
 * Numbers lie four real parts, four imaginary parts and so on, so that four of (2) are done at once with few streams
 * through memory.  Where vectors of four are one register, the end of the recursion and (3) move numbers within them;
 * elsewhere that would take longer than one number after the other.  Both are the same operations. */
#include "core/isa.h"
#include "pld.h"

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
typedef double two __attribute__((vector_size(16), aligned(8), may_alias));
typedef struct complex4 {
    four re, im;
} complex4;
#ifdef __AVX__
enum { WIDE = 1 };
#else
enum { WIDE = 0 };
#endif

/* ---- the last points --------------------------------------------------------------------------------------- */

/* Four points, `step` pairs apart. */
PVI_INLINE void points4(const double *x, int64_t step, double *z)
{
    const double *y = x + 2 * step, *u = y + 2 * step, *v = u + 2 * step;
    const double ar = x[0] + u[0], ai = x[1] + u[1], br = x[0] - u[0], bi = x[1] - u[1];
    const double cr = y[0] + v[0], ci = y[1] + v[1], dr = y[0] - v[0], di = y[1] - v[1];
    z[0] = ar + cr, z[1] = br + di, z[2] = ar - cr, z[3] = br - di;
    z[4] = ai + ci, z[5] = bi - dr, z[6] = ai - ci, z[7] = bi + dr;
}

static const double h = 0.70710678118654752440; /* roots 1, (1-i) h, -i, (-1-i) h */

PVI_INLINE void points8(const double *x, int64_t step, double *z)
{
    points4(x, 2 * step, z);
    points4(x + 2 * step, 2 * step, z + 8);
    const double *r = z + 8, *s = z + 12;
    const four c = { r[0], h * (r[1] + s[1]), s[2], h * (s[3] - r[3]) };
    const four d = { s[0], h * (s[1] - r[1]), -r[2], -h * (r[3] + s[3]) };
    four *a = (four *)z;
    a[2] = a[0] - c, a[3] = a[1] - d;
    a[0] += c, a[1] += d;
}

/* Four numbers, `step` pairs apart. */
PVI_INLINE complex4 gather(const double *x, int64_t step)
{
    const two a = *(const two *)x, b = *(const two *)(x + 2 * step), c = *(const two *)(x + 4 * step),
              d = *(const two *)(x + 6 * step);
    const four ac = __builtin_shufflevector(a, c, 0, 1, 2, 3), bd = __builtin_shufflevector(b, d, 0, 1, 2, 3);
    return (complex4) { __builtin_shufflevector(ac, bd, 0, 4, 2, 6), __builtin_shufflevector(ac, bd, 1, 5, 3, 7) };
}

/* points4() of four transforms, whose points are x[0], x[1], ...: out[j] holds number j of each. */
PVI_INLINE void points4_each(const complex4 *x, complex4 *out)
{
    const four ar = x[0].re + x[2].re, ai = x[0].im + x[2].im, br = x[0].re - x[2].re, bi = x[0].im - x[2].im;
    const four cr = x[1].re + x[3].re, ci = x[1].im + x[3].im, dr = x[1].re - x[3].re, di = x[1].im - x[3].im;
    out[0] = (complex4) { ar + cr, ai + ci };
    out[1] = (complex4) { br + di, bi - dr };
    out[2] = (complex4) { ar - cr, ai - ci };
    out[3] = (complex4) { br - di, bi + dr };
}

PVI_INLINE void transpose(four *a, four *b, four *c, four *d)
{
    const four e = __builtin_shufflevector(*a, *b, 0, 4, 2, 6), f = __builtin_shufflevector(*a, *b, 1, 5, 3, 7);
    const four g = __builtin_shufflevector(*c, *d, 0, 4, 2, 6), i = __builtin_shufflevector(*c, *d, 1, 5, 3, 7);
    *a = __builtin_shufflevector(e, g, 0, 1, 4, 5);
    *b = __builtin_shufflevector(f, i, 0, 1, 4, 5);
    *c = __builtin_shufflevector(e, g, 2, 3, 6, 7);
    *d = __builtin_shufflevector(f, i, 2, 3, 6, 7);
}

/* From the same number of four transforms to four numbers of the same one. */
PVI_INLINE void transpose_each(complex4 *t)
{
    transpose(&t[0].re, &t[1].re, &t[2].re, &t[3].re);
    transpose(&t[0].im, &t[1].im, &t[2].im, &t[3].im);
}

/* ---- (2) ----------------------------------------------------------------------------------------------------- */

PVI_INLINE complex4 times(complex4 a, const four *p)
{
    return (complex4) { a.re * p[0] - a.im * p[1], a.re * p[1] + a.im * p[0] };
}

/* Four numbers of each of four transforms, with their powers at p, become sixteen of one, `apart` vectors apart. */
PVI_INLINE void combine(const complex4 t[4], const four *p, int64_t apart, four *z)
{
    const complex4 a = t[0], x = times(t[1], p), y = times(t[2], p + 2), v = times(t[3], p + 4);
    const four er = a.re + y.re, ei = a.im + y.im, fr = a.re - y.re, fi = a.im - y.im;
    const four gr = x.re + v.re, gi = x.im + v.im, hr = x.re - v.re, hi = x.im - v.im;
    z[0] = er + gr, z[1] = ei + gi;
    z[apart] = fr + hi, z[apart + 1] = fi - hr;
    z[2 * apart] = er - gr, z[2 * apart + 1] = ei - gi;
    z[3 * apart] = fr - hi, z[3 * apart + 1] = fi + hr;
}

static void points16(const double *w, const double *x, int64_t step, double *z)
{
    complex4 in[4], t[4];
    for (int m = 0; m < 4; m++) in[m] = gather(x + 8 * m * step, step);
    points4_each(in, t);
    transpose_each(t);
    combine(t, (const four *)w, 2, (four *)z);
}

static void points32(const double *w, const double *x, int64_t step, double *z)
{
    complex4 in[4], low[4], high[4];
    for (int m = 0; m < 4; m++) in[m] = gather(x + 16 * m * step, step);
    points4_each(in, low);
    for (int m = 0; m < 4; m++) in[m] = gather(x + 16 * m * step + 8 * step, step);
    points4_each(in, high);
    const four r1 = high[1].re, s1 = high[1].im, r2 = high[2].re, r3 = high[3].re, s3 = high[3].im;
    high[1] = (complex4) { h * (r1 + s1), h * (s1 - r1) };
    high[2] = (complex4) { high[2].im, -r2 };
    high[3] = (complex4) { h * (s3 - r3), -h * (r3 + s3) };
    for (int j = 0; j < 4; j++) {
        const complex4 a = low[j], c = high[j];
        low[j] = (complex4) { a.re + c.re, a.im + c.im };
        high[j] = (complex4) { a.re - c.re, a.im - c.im };
    }
    transpose_each(low);
    transpose_each(high);
    combine(low, (const four *)w, 4, (four *)z);
    combine(high, (const four *)w + 6, 4, (four *)z + 2);
}

/* Four transforms of n points become one of 4 n. */
PVI_INLINE void join(int64_t n, const double *w, double *z)
{
    const four *p = (const four *)w;
    for (four *a = (four *)z, *end = a + n / 2; a < end; a += 2, p += 6) {
        complex4 t[4];
        for (int q = 0; q < 4; q++) t[q] = (complex4) { a[q * (n / 2)], a[q * (n / 2) + 1] };
        combine(t, p, n / 2, a);
    }
}

static void transform(int64_t n, const double *w, const double *x, int64_t step, double *z)
{
    const int64_t m = n / 4;
    if (n == 4) {
        points4(x, step, z);
    } else if (n == 8) {
        points8(x, step, z);
    } else if (WIDE && n == 16) {
        points16(w, x, step, z);
    } else if (WIDE && n == 32) {
        points32(w, x, step, z);
    } else {
        for (int q = 0; q < 4; q++) transform(m, w + 6 * m, x + 2 * q * step, 4 * step, z + 2 * q * m);
        join(m, w, z);
    }
}

/* ---- (3) ----------------------------------------------------------------------------------------------------- */

/* Number k, and M - k with it; w: cosines and sines of the first eighth of the circle. */
PVI_INLINE void split_one(int64_t M, int64_t k, const double *w, const double *z, double *x)
{
    const int64_t j = (M - k) % M, at = k > M / 4 ? M / 2 - k : k;
    const double *p = z + k / 4 * 8 + k % 4, *q = z + j / 4 * 8 + j % 4;
    const double er = 0.5 * (p[0] + q[0]), ei = 0.5 * (p[4] - q[4]);
    const double gr = 0.5 * (p[4] + q[4]), gi = 0.5 * (q[0] - p[0]);
    const double c = w[2 * at + (k > M / 4)], s = -w[2 * at + (k <= M / 4)];
    const double tr = c * gr - s * gi, ti = c * gi + s * gr;
    x[2 * k] = er + tr, x[2 * k + 1] = ei + ti;
    x[2 * (M - k)] = er - tr, x[2 * (M - k) + 1] = ti - ei;
}

/* k to k + 3, k a multiple of four and not 0, with their roots; numbers M - k are in descending order. */
PVI_INLINE void split_four(int64_t M, int64_t k, complex4 root, const double *z, double *x)
{
    const four *p = (const four *)(z + 2 * k), *q = (const four *)(z + 2 * (M - k));
    const four pr = p[0], qr = __builtin_shufflevector(q[0], q[-2], 0, 7, 6, 5), c = root.re;
    const four pi = p[1], qi = __builtin_shufflevector(q[1], q[-1], 0, 7, 6, 5), s = root.im;
    const four er = 0.5 * (pr + qr), ei = 0.5 * (pi - qi), gr = 0.5 * (pi + qi), gi = 0.5 * (qr - pr);
    const four tr = c * gr - s * gi, ti = c * gi + s * gr;
    const four ar = er + tr, ai = ei + ti, br = er - tr, bi = ti - ei;
    four *to = (four *)(x + 2 * k), *back = (four *)(x + 2 * (M - k) - 6);
    to[0] = __builtin_shufflevector(ar, ai, 0, 4, 1, 5);
    to[1] = __builtin_shufflevector(ar, ai, 2, 6, 3, 7);
    back[0] = __builtin_shufflevector(br, bi, 3, 7, 2, 6);
    back[1] = __builtin_shufflevector(br, bi, 1, 5, 0, 4);
}

pvi_fft_fn PVI_ISA_NAME(pvi_fft);
void PVI_ISA_NAME(pvi_fft)(int64_t N, const double *w, double *z, double *x)
{
    const int64_t M = N / 2, eighth = M / 4;
    transform(M, w + N / 4 + 2, x, 1, z);
    for (int64_t k = 0; k < 4 && k <= M / 2; k++) split_one(M, k, w, z, x);
    for (int64_t k = 4; k < M / 2; k += 4) {
        const four *near = (const four *)(w + 2 * k), *far = (const four *)(w + M - 2 * k - 6);
        if (!WIDE || k == eighth || M < 32) {
            for (int64_t i = k; i < k + 4; i++) split_one(M, i, w, z, x);
        } else if (k < eighth) {
            const complex4 root = { __builtin_shufflevector(near[0], near[1], 0, 2, 4, 6),
                                    -__builtin_shufflevector(near[0], near[1], 1, 3, 5, 7) };
            split_four(M, k, root, z, x);
        } else {
            const complex4 root = { __builtin_shufflevector(far[0], far[1], 7, 5, 3, 1),
                                    -__builtin_shufflevector(far[0], far[1], 6, 4, 2, 0) };
            split_four(M, k, root, z, x);
        }
    }
    if (M > 4) split_one(M, M / 2, w, z, x);
}
