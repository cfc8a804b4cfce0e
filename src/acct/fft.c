/* fft.c - real discrete Fourier transform of N = 2^k numbers, X_j = sum_m x_m e^{-2 pi i j m/N}, j = 0 .. N/2.
 *
 *   (1) z_m = x_2m + i x_{2m+1}, m < M = N/2, and Z its complex transform
 *   (2) Z_j by four transforms of n/4 points, z_{4m+q} -> T_q, and with w = e^{-2 pi i/n}, t_q = w^{jq} T_q(j),
 *       Z_{j + l n/4} = t_0 + (-i)^l t_1 + (-1)^l t_2 + i^l t_3;  eight points by two transforms of four
 *   (3) E_j = (Z_j + conj Z_{M-j})/2, O_j = (Z_j - conj Z_{M-j})/2i, t = e^{-2 pi i j/N} O_j:
 *       X_j = E_j + t, X_{M-j} = conj(E_j - t)
 *
 * Error, u = 2^-53, in the 2-norm and relative to it, to first order in u (which a factor 2 more than covers).  A
 * root is off by 3 u: its angle, at most pi/4, by 2 roundings, its sine and cosine by one unit in the last place
 * each.  A complex product is off by 5^(1/2) u (Brent, Percival, Zimmermann 2007), a sum by u.  All steps of (2) are
 * orthogonal up to a factor, so their errors add up: 5^(1/2) + 3 + 2 < 7.25 for each factor 4, 6.25 for a factor 2,
 * and 1 + 5^(1/2) + 3 + 1 < 7.25 for (3).  Together
 *   (4) |computed - true|_2 <= (3.625 log2 N + 7) u |X|_2 < 8 u log2 N |X|_2, N >= 8, where |X|_2 = N^(1/2) |x|_2.
 *
 * No state is kept and nothing is allocated: the caller brings the room, so threads and forks are free to do as they
 * like.  Quarters are transformed one after the other down to a few points, so most of the work stays in the cache;
 * numbers lie four real parts, four imaginary parts and so on, so that four of (2) are done at once with few streams
 * through memory. */
#include "pld.h"

#define PI 3.14159265358979323846

typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

int64_t pvi_fft_room(int64_t n)
{
    return n + n / 4 + 2;
}

/* e^{-2 pi i k/n}, 0 <= k < n, from the first eighth of the circle at w. */
static void root(int64_t n, const double *w, int64_t k, double *re, double *im)
{
    const int64_t quarter = k / (n / 4), in = k % (n / 4);
    const bool far = in > n / 8;
    const double *at = w + 2 * (far ? n / 4 - in : in);
    const double c = at[far], s = at[!far];
    *re = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
    *im = quarter == 0 ? -s : quarter == 1 ? -c : quarter == 2 ? s : c;
}

/* First the cosines and sines of the first eighth of the circle, then for n = N/2, N/8, ... the powers of (2). */
void pvi_fft_roots(int64_t N, double *w)
{
    double *to = w + N / 4 + 2;
    for (int64_t k = 0; k <= N / 8; k++) {
        const double x = 2.0 * PI * ((double)k / (double)N);
        w[2 * k] = cos(x);
        w[2 * k + 1] = sin(x);
    }
    for (int64_t n = N / 2; n > 8; n /= 4)
        for (int64_t j = 0; j < n / 4; j += 4)
            for (int q = 1; q < 4; q++, to += 8)
                for (int l = 0; l < 4; l++) root(N, w, (j + l) * q * (N / n), &to[l], &to[4 + l]);
}

/* Four points, `step` pairs apart. */
static void points4(const double *x, int64_t step, double *z)
{
    const double *y = x + 2 * step, *u = y + 2 * step, *v = u + 2 * step;
    const double ar = x[0] + u[0], ai = x[1] + u[1], br = x[0] - u[0], bi = x[1] - u[1];
    const double cr = y[0] + v[0], ci = y[1] + v[1], dr = y[0] - v[0], di = y[1] - v[1];
    z[0] = ar + cr, z[1] = br + di, z[2] = ar - cr, z[3] = br - di;
    z[4] = ai + ci, z[5] = bi - dr, z[6] = ai - ci, z[7] = bi + dr;
}

static void points8(const double *x, int64_t step, double *z)
{
    static const double h = 0.70710678118654752440; /* roots 1, (1-i) h, -i, (-1-i) h */
    points4(x, 2 * step, z);
    points4(x + 2 * step, 2 * step, z + 8);
    const double *r = z + 8, *s = z + 12;
    const four c = { r[0], h * (r[1] + s[1]), s[2], h * (s[3] - r[3]) };
    const four d = { s[0], h * (s[1] - r[1]), -r[2], -h * (r[3] + s[3]) };
    four *a = (four *)z;
    a[2] = a[0] - c, a[3] = a[1] - d;
    a[0] += c, a[1] += d;
}

/* (2): four transforms of n points become one of 4 n. */
static void join(int64_t n, const double *w, double *z)
{
    four *a = (four *)z, *b = a + n / 2, *c = b + n / 2, *d = c + n / 2;
    const four *p = (const four *)w;
    for (int64_t j = 0; j < n / 2; j += 2, p += 6) {
        const four xr = b[j] * p[0] - b[j + 1] * p[1], xi = b[j] * p[1] + b[j + 1] * p[0];
        const four yr = c[j] * p[2] - c[j + 1] * p[3], yi = c[j] * p[3] + c[j + 1] * p[2];
        const four vr = d[j] * p[4] - d[j + 1] * p[5], vi = d[j] * p[5] + d[j + 1] * p[4];
        const four er = a[j] + yr, ei = a[j + 1] + yi, fr = a[j] - yr, fi = a[j + 1] - yi;
        const four gr = xr + vr, gi = xi + vi, hr = xr - vr, hi = xi - vi;
        a[j] = er + gr, a[j + 1] = ei + gi;
        b[j] = fr + hi, b[j + 1] = fi - hr;
        c[j] = er - gr, c[j + 1] = ei - gi;
        d[j] = fr - hi, d[j + 1] = fi + hr;
    }
}

static void transform(int64_t n, const double *w, const double *x, int64_t step, double *z)
{
    const int64_t m = n / 4;
    if (n == 4) {
        points4(x, step, z);
    } else if (n == 8) {
        points8(x, step, z);
    } else {
        for (int q = 0; q < 4; q++) transform(m, w + 6 * m, x + 2 * q * step, 4 * step, z + 2 * q * m);
        join(m, w, z);
    }
}

void pvi_fft_real(int64_t N, const double *w, double *z, double *x)
{
    const int64_t M = N / 2;
    transform(M, w + N / 4 + 2, x, 1, z);
    for (int64_t k = 0; k <= M / 2; k++) { /* (3) */
        const int64_t j = (M - k) % M;
        const double *p = z + k / 4 * 8 + k % 4, *q = z + j / 4 * 8 + j % 4;
        const double er = 0.5 * (p[0] + q[0]), ei = 0.5 * (p[4] - q[4]);
        const double gr = 0.5 * (p[4] + q[4]), gi = 0.5 * (q[0] - p[0]);
        double c, s;
        root(N, w, k, &c, &s);
        const double tr = c * gr - s * gi, ti = c * gi + s * gr;
        x[2 * k] = er + tr, x[2 * k + 1] = ei + ti;
        x[2 * (M - k)] = er - tr, x[2 * (M - k) + 1] = ti - ei;
    }
}
